// SPDX-License-Identifier: Apache-2.0
// A client that does random things with its regions, beside a model: an array of bytes for each region, and which of
// them are defined.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "../../../alloc/residency/manager.hpp"
#include "../../../exec/injected_failure.hpp"
#include "../../../exec/launch.hpp"

namespace wyrm::tests {

/// Changes, or only adds up, one word of each 512 bytes.
inline constexpr std::size_t stride_words = 64;
[[nodiscard]] WYRM_HD constexpr std::uint64_t mixed(std::uint64_t word, std::uint64_t key) { return word * 5 + key; }
struct mix_words {
  std::uint64_t* words;
  std::uint64_t key;
  WYRM_HD void operator()(std::size_t i) const { words[i * stride_words] = mixed(words[i * stride_words], key); }
};

template <class Space>
class random_client {
 public:
  using manager = alloc::residency::manager<Space>;

  /// most: regions at a time; blocks: the most of a region.
  random_client(manager& m, alloc::residency::client_options const& o, std::uint64_t seed, std::size_t most = 4,
                std::size_t blocks = 5)
      : manager_(m), client_(m.make_client(o)), random_(seed), most_(most), blocks_(blocks), limit_(o.limit) {}

  /// One random operation. With failures, requests for memory fail in some of them: these change nothing.
  void step(bool with_failures) {
    std::optional<exec::injected_failure> failure;
    if (with_failures && below(4) == 0) failure.emplace(below(8));
    try {
      act();
    } catch (error const& e) {
      EXPECT_TRUE(with_failures) << e.what();
      EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
      ++failures_;
    }
    EXPECT_LE(client_.counters().resident_bytes, limit_);
  }
  /// One random operation, of which calls may fail as the plan says (failing_space.hpp). Only the bytes of a write
  /// whose copy was cut off are undefined then. Returns whether the operation failed.
  template <class Calls, class Plan>
  bool step(Calls& calls, Plan const& plan) {
    bool failed = false;
    was_cut_off_ = [&calls] { return calls.has_cut_off_write(); };
    calls.arm(plan);
    try {
      act();
    } catch (error const& e) {
      EXPECT_TRUE(calls.has_failed()) << e.what();
      EXPECT_EQ(e.code(), plan.code) << e.what();
      failed = true;
      ++failures_;
    }
    calls.disarm();
    expect_counted();
    return failed;
  }
  /// What the client counts is where the blocks are.
  void expect_counted() {
    std::size_t resident = 0;
    for (object const& o : objects_)
      for (std::size_t i = 0; i < o.bytes.size(); i += manager_.block_bytes())
        resident += o.region.is_resident(i) ? manager_.block_bytes() : 0;
    EXPECT_EQ(client_.counters().resident_bytes, resident);
    EXPECT_LE(resident, limit_);
  }
  void check() {
    for (object const& o : objects_) expect_same(o, 0, o.bytes.size());
  }
  [[nodiscard]] std::size_t failures() const { return failures_; }
  [[nodiscard]] alloc::residency::client<Space>& client() { return client_; }

 private:
  struct object {
    alloc::residency::region region;
    std::vector<unsigned char> bytes;
    std::vector<char> defined;
  };
  struct range {
    std::size_t offset;
    std::size_t bytes;
  };
  [[nodiscard]] std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  /// Of any size, or of whole blocks.
  [[nodiscard]] range random_range(object const& o) {
    std::size_t const all = o.bytes.size();
    std::size_t begin = below(all);
    std::size_t end = begin + below(all - begin) + 1;
    if (below(2) == 0) {
      std::size_t const block = manager_.block_bytes();
      begin = begin / block * block;
      end = std::min((end + block - 1) / block * block, all);
    }
    return {begin, end - begin};
  }

  void act() {
    std::size_t const what = objects_.empty() ? 0 : below(16);
    if (what == 0 && objects_.size() < most_) return make();
    object& o = objects_[below(objects_.size())];
    range const r = random_range(o);
    switch (what) {
      case 1:
        std::swap(o, objects_.back());
        objects_.pop_back();
        return;
      case 2: return discard(o, r);
      case 3: (void)manager_.fetch_idle(); return;
      case 4: manager_.give_back(); return;
      case 5:
      case 6:
      case 7: return write(o, r);
      case 8:
      case 9: return expect_same(o, r.offset, r.bytes);
      case 10: return launch_on_all();
      default: return launch(o, r);
    }
  }
  void make() {
    std::size_t const bytes = manager_.block_bytes() * below(blocks_) + below(manager_.block_bytes()) / 8 * 8 + 8;
    alloc::residency::region made = client_.reserve(bytes);
    EXPECT_EQ(made.bytes(), bytes);
    objects_.push_back({std::move(made), std::vector<unsigned char>(bytes), std::vector<char>(bytes)});
  }
  void write(object& o, range r) {
    std::vector<unsigned char> bytes(r.bytes);
    auto next = static_cast<unsigned char>(random_());
    for (unsigned char& b : bytes) b = next = static_cast<unsigned char>(next * 13 + 7);
    try {
      o.region.write(r.offset, bytes.data(), r.bytes);
    } catch (error const&) {
      if (was_cut_off_()) std::fill_n(o.defined.begin() + static_cast<std::ptrdiff_t>(r.offset), r.bytes, 0);
      throw;
    }
    std::copy(bytes.begin(), bytes.end(), o.bytes.begin() + static_cast<std::ptrdiff_t>(r.offset));
    std::fill_n(o.defined.begin() + static_cast<std::ptrdiff_t>(r.offset), r.bytes, 1);
  }
  void discard(object& o, range r) {
    o.region.discard(r.offset, r.bytes);
    std::size_t const block = manager_.block_bytes();
    std::size_t const first = (r.offset + block - 1) / block * block;
    std::size_t const end =
        r.offset + r.bytes == o.bytes.size() ? o.bytes.size() : (r.offset + r.bytes) / block * block;
    for (std::size_t i = first; i < end; ++i) o.defined[i] = 0;
  }
  /// One to three ranges, of the same or of different objects; their kernels run one after the other.
  void launch(object& o, range r) {
    struct part {
      object& o;
      range r;
      std::size_t items;
      std::uint64_t key;
      alloc::residency::access access;
    };
    std::vector<part> parts;
    std::vector<alloc::residency::used_range> names;
    auto const add = [&](object& of, range words) {
      words.offset = words.offset / 8 * 8;
      words.bytes = std::max<std::size_t>(words.bytes / 8 * 8, 8);
      words.bytes = std::min(words.bytes, of.bytes.size() - words.offset);
      std::size_t const items = (words.bytes / 8 + stride_words - 1) / stride_words;
      auto const access = below(3) > 0 ? alloc::residency::access::write : alloc::residency::access::read;
      parts.push_back({of, words, items, random_(), access});
      auto const hint = static_cast<alloc::residency::use_hint>(below(3));
      names.push_back({of.region, words.offset, words.bytes, access, hint});
    };
    add(o, r);
    for (std::size_t more = below(3); more > 0; --more) {
      object& other = objects_[below(objects_.size())];
      add(other, random_range(other));
    }
    auto const kernels = [&](Space const& space) {
      for (part const& p : parts)
        if (p.access == alloc::residency::access::write)
          exec::for_each(space, p.items, mix_words{words_of(p.o, p.r), p.key});
    };
    if (names.size() == 1) client_.launch({names[0]}, kernels);
    if (names.size() == 2) client_.launch({names[0], names[1]}, kernels);
    if (names.size() == 3) client_.launch({names[0], names[1], names[2]}, kernels);
    for (part const& p : parts)
      if (p.access == alloc::residency::access::write) mix_model(p.o, p.r, p.items, p.key);
  }
  void launch_on_all() {
    std::uint64_t const key = random_();
    client_.launch([&](Space const& space) {
      for (object& o : objects_) exec::for_each(space, items_of(o), mix_words{words_of(o, {0, 0}), key});
    });
    for (object& o : objects_) mix_model(o, {0, 0}, items_of(o), key);
  }
  [[nodiscard]] static std::size_t items_of(object const& o) {
    return (o.bytes.size() / 8 + stride_words - 1) / stride_words;
  }
  [[nodiscard]] static std::uint64_t* words_of(object const& o, range r) {
    return reinterpret_cast<std::uint64_t*>(o.region.data() + r.offset);
  }
  static void mix_model(object& o, range r, std::size_t items, std::uint64_t key) {
    for (std::size_t i = 0; i < items; ++i) {
      std::size_t const at = r.offset + i * stride_words * 8;
      std::uint64_t word;
      std::memcpy(&word, o.bytes.data() + at, 8);
      word = mixed(word, key);
      std::memcpy(o.bytes.data() + at, &word, 8);
      bool const is_defined = std::count(o.defined.begin() + static_cast<std::ptrdiff_t>(at),
                                         o.defined.begin() + static_cast<std::ptrdiff_t>(at + 8), 1) == 8;
      std::fill_n(o.defined.begin() + static_cast<std::ptrdiff_t>(at), 8, is_defined);
    }
  }
  void expect_same(object const& o, std::size_t offset, std::size_t bytes) {
    std::vector<unsigned char> found(bytes);
    o.region.read(offset, found.data(), bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      if (o.defined[offset + i] && found[i] != o.bytes[offset + i]) {
        ADD_FAILURE() << "byte " << offset + i << " of " << o.bytes.size() << " is " << int{found[i]} << ", not "
                      << int{o.bytes[offset + i]};
        return;
      }
  }

  manager& manager_;
  alloc::residency::client<Space> client_;
  std::mt19937_64 random_;
  std::size_t most_;
  std::size_t blocks_;
  std::size_t limit_;
  std::vector<object> objects_;
  std::size_t failures_ = 0;
  std::function<bool()> was_cut_off_ = [] { return false; };  // whether a write that failed has changed its range
};

}  // namespace wyrm::tests
