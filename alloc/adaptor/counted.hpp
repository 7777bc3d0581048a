// SPDX-License-Identifier: Apache-2.0
// Counts the blocks and bytes of an allocator: current, peak and total numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/memory.hpp"
#include "adapted.hpp"

namespace wyrm::alloc {

/// Since the last reset. Bytes are the sizes of blocks, rounded up to the sizes of the allocator; `asked` are the
/// requested bytes of successful requests.
struct usage {
  std::uint64_t blocks;  // now
  std::uint64_t bytes;
  std::uint64_t most_blocks;  // at any time
  std::uint64_t most_bytes;
  std::uint64_t all_blocks;  // that were ever allocated
  std::uint64_t all_bytes;
  std::uint64_t asked;
  std::uint64_t refused;  // requests that got nullptr
};

namespace detail {
struct usage_ref {
  usage* state;
  [[nodiscard]] WYRM_HD bool admits(adaptor_block const&) const { return true; }
  WYRM_HD void allocated(adaptor_block const& b) const {
    if (b.p == nullptr) return (void)add(state->refused, 1);
    (void)add(state->asked, b.asked);
    (void)add(state->all_blocks, 1);
    (void)add(state->all_bytes, b.granted);
    raise(state->most_blocks, add(state->blocks, 1));
    raise(state->most_bytes, add(state->bytes, b.granted));
  }
  WYRM_HD void freed(adaptor_block const& b) const {
    exec::atomic_ref<std::uint64_t>(state->blocks).fetch_sub(1, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(state->bytes).fetch_sub(b.granted, exec::relaxed);
  }
  WYRM_HD static std::uint64_t add(std::uint64_t& counter, std::uint64_t n) {
    return exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed) + n;
  }
  WYRM_HD static void raise(std::uint64_t& most, std::uint64_t now) {
    if (now > exec::load_recent(most)) exec::atomic_ref<std::uint64_t>(most).fetch_max(now, exec::relaxed);
  }
};
template <class Space>
class usage_part {
 public:
  using ref_type = usage_ref;
  explicit usage_part(Space const& space) : space_(space), state_(space, 1) { reset(); }
  [[nodiscard]] ref_type ref() const { return ref_type{state_.data()}; }
  void reset() { exec::write(space_, state_.data(), wyrm::alloc::usage{}); }
  void report(statistics&) const {}
  [[nodiscard]] std::size_t bytes() const { return state_.bytes(); }
  [[nodiscard]] wyrm::alloc::usage state() const { return exec::read(space_, state_.data()); }

 private:
  Space space_;
  exec::buffer<wyrm::alloc::usage, Space> state_;
};
}  // namespace detail

/// An allocator that counts. Every call adds to the same few words, so calls are slower: on a GPU by several atomic
/// additions each.
template <class A>
class counted : public adapted<A, detail::usage_part> {
  using base = adapted<A, detail::usage_part>;

 public:
  counted(typename A::space_type const& space, options const& o) : base(space, o) {}
  [[nodiscard]] alloc::usage usage() const { return base::part_.state(); }
};

}  // namespace wyrm::alloc
