// SPDX-License-Identifier: Apache-2.0
// theano: a loop of 100 iterations, each of which makes an array, adds to all of its words, and does not free it. And
// the program of section 6.5, which takes all memory and rewrites it for ever.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "program.hpp"

namespace wyrm::bench::gdm {

namespace kernels {
struct add_to_words {
  word* words;
  word increment;
  WYRM_HD void operator()(std::size_t i) const { words[i] += increment; }
};
}  // namespace kernels

class leak {
 public:
  static constexpr char const* name = "theano";
  static constexpr unsigned iterations = 100;
  /// bytes: of all iterations.
  explicit leak(std::size_t bytes)
      : start_(drawn_words(1, std::max<std::size_t>(bytes / sizeof(word) / iterations, 1))) {}

  /// The seconds of each iteration. Throws error(out_of_memory) where memory is full: seconds() are those before.
  template <class Space>
  void run(device_memory<Space>& memory) {
    seconds_.clear();
    sums_.clear();
    std::vector<array> leaked;
    for (word i = 0; i < iterations; ++i) {
      auto const start = std::chrono::steady_clock::now();
      leaked.push_back(memory.make(start_.size()));
      array const& own = leaked.back();
      own->write(start_);
      memory.launch({{own, access::write}}, [&](Space const& space) {
        exec::for_each(space, start_.size(), kernels::add_to_words{own->data(), i});
      });
      memory.synchronize();
      seconds_.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::vector<word> result(start_.size());
    for (array const& one : leaked) {
      one->read(result);
      sums_.push_back(checksum_of(result));
    }
  }
  [[nodiscard]] std::vector<double> const& seconds() const { return seconds_; }
  [[nodiscard]] std::size_t array_bytes() const { return start_.size() * sizeof(word); }
  [[nodiscard]] std::uint64_t checksum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) sum += sums_[i] * (i + 1);
    return sum;
  }
  [[nodiscard]] std::uint64_t expected() const {
    std::uint64_t sum = 0;
    for (word i = 0; i < iterations; ++i) {
      std::vector<word> words = start_;
      for (word& w : words) w += i;
      sum += checksum_of(words) * (i + 1);
    }
    return sum;
  }

 private:
  std::vector<word> start_;
  std::vector<double> seconds_;
  std::vector<std::uint64_t> sums_;
};

/// Rewrites `bytes` bytes until `stop`. Calls began() after the first launch. Returns the number of launches.
template <class Space, class F>
std::size_t attack(device_memory<Space>& memory, std::size_t bytes, std::atomic<bool> const& stop, F const& began) {
  array const all = memory.make(bytes / sizeof(word));
  std::size_t launches = 0;
  while (!stop || launches == 0) {
    memory.launch({{all, access::write}}, [&](Space const& space) {
      exec::for_each(space, all->size(), kernels::add_to_words{all->data(), 1});
    });
    memory.synchronize();
    if (++launches == 1) began();
  }
  return launches;
}

}  // namespace wyrm::bench::gdm
