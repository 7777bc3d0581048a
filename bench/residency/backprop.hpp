// SPDX-License-Identifier: Apache-2.0
// backprop: one training step of a layer of neurons, with the transfers of Rodinia's. Inputs and weights are read by
// the first kernel; its partial sums go to the host, which computes the errors; the weights are transferred again,
// whole, and the second kernel reads and writes them and the changes of the step before.
#pragma once

#include <algorithm>

#include "program.hpp"

namespace wyrm::bench::gdm {

namespace kernels {
/// Thread 16 b + j adds inputs 16 b to 16 b + 15, weighted for hidden unit j.
struct feed_forward {
  static constexpr unsigned hidden = 16;
  word const* inputs;
  word const* weights;  // of input i and unit j: i * hidden + j
  word* partial;
  WYRM_HD void operator()(std::size_t t) const {
    std::size_t const first = t / hidden * hidden;
    std::size_t const j = t % hidden;
    word sum = 0;
    for (std::size_t i = first; i < first + hidden; ++i) sum += inputs[i] * weights[i * hidden + j];
    partial[t] = sum;
  }
};
struct adjust_weights {
  word const* inputs;
  word const* errors;
  word* weights;
  word* changes;
  WYRM_HD void operator()(std::size_t t) const {
    constexpr unsigned hidden = feed_forward::hidden;
    word const change = 3 * errors[t % hidden] * inputs[t / hidden] + 5 * changes[t];
    weights[t] += change;
    changes[t] = change;
  }
};
}  // namespace kernels

class backprop {
 public:
  static constexpr char const* name = "backprop";
  explicit backprop(std::size_t bytes)
      : inputs_(drawn_words(1, std::max<std::size_t>(bytes / sizeof(word) / (2 * hidden + 2) / hidden, 1) * hidden)),
        weights_(drawn_words(2, inputs_.size() * hidden)),
        changes_(drawn_words(3, inputs_.size() * hidden)),
        result_(weights_.size()) {}

  template <class Space>
  void run(device_memory<Space>& memory) {
    std::size_t const n = inputs_.size();
    array const inputs = memory.make(n);
    array const weights = memory.make(n * hidden);
    array const partial = memory.make(n);
    inputs->write(inputs_);
    weights->write(weights_);
    memory.launch({{inputs, access::read}, {weights, access::read}, {partial, access::write}}, [&](Space const& space) {
      exec::for_each(space, n, kernels::feed_forward{inputs->data(), weights->data(), partial->data()});
    });
    std::vector<word> sums(n);
    partial->read(sums);
    std::vector<word> const e = errors_of(sums);
    array const errors = memory.make(hidden);
    array const changes = memory.make(n * hidden);
    errors->write(e);
    changes->write(changes_);
    weights->write(weights_);
    memory.launch({{inputs, access::read}, {errors, access::read}, {weights, access::write}, {changes, access::write}},
                  [&](Space const& space) {
                    exec::for_each(
                        space, n * hidden,
                        kernels::adjust_weights{inputs->data(), errors->data(), weights->data(), changes->data()});
                  });
    weights->read(result_);
  }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_of(result_); }

  [[nodiscard]] std::uint64_t expected() const {
    std::vector<word> sums(hidden);
    for (std::size_t i = 0; i < weights_.size(); ++i) sums[i % hidden] += inputs_[i / hidden] * weights_[i];
    std::vector<word> const e = errors_of(sums);
    std::vector<word> w = weights_;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] += 3 * inputs_[i / hidden] * e[i % hidden] + 5 * changes_[i];
    return checksum_of(w);
  }

 private:
  static constexpr unsigned hidden = kernels::feed_forward::hidden;
  [[nodiscard]] static std::vector<word> errors_of(std::vector<word> const& sums) {
    std::vector<word> e(hidden);
    for (std::size_t i = 0; i < sums.size(); ++i) e[i % hidden] += sums[i];
    for (word& x : e) x = x / 7 + 1;
    return e;
  }

  std::vector<word> inputs_;
  std::vector<word> weights_;
  std::vector<word> changes_;
  std::vector<word> result_;
};

}  // namespace wyrm::bench::gdm
