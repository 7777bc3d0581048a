// SPDX-License-Identifier: Apache-2.0
// A limit for the bytes that are in use, below the size of the pool: for several users of one GPU, or to test how a
// program behaves when memory runs out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/memory.hpp"
#include "adapted.hpp"

namespace wyrm::alloc {

namespace detail {
struct limit_state {
  std::uint64_t used;
  std::uint64_t limit;
  std::uint64_t refused;
};
struct limit_ref {
  limit_state* state;
  [[nodiscard]] WYRM_HD bool admits(adaptor_block const& b) const {
    std::uint64_t const before = used().fetch_add(b.granted, exec::relaxed);
    if (before <= state->limit && b.granted <= state->limit - before) return true;
    used().fetch_sub(b.granted, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(state->refused).fetch_add(1, exec::relaxed);
    return false;
  }
  WYRM_HD void allocated(adaptor_block const&) const {}
  WYRM_HD void freed(adaptor_block const& b) const { used().fetch_sub(b.granted, exec::relaxed); }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> used() const {
    return exec::atomic_ref<std::uint64_t>(state->used);
  }
};
template <class Space>
class limit_part {
 public:
  using ref_type = limit_ref;
  limit_part(Space const& space, std::size_t limit = ~std::size_t{0}) : space_(space), limit_(limit), state_(space, 1) {
    reset();
  }
  [[nodiscard]] ref_type ref() const { return ref_type{state_.data()}; }
  void reset() { exec::write(space_, state_.data(), limit_state{0, limit_, 0}); }
  void report(statistics& s) const { s.failures += state().refused; }
  [[nodiscard]] std::size_t bytes() const { return state_.bytes(); }
  [[nodiscard]] limit_state state() const { return exec::read(space_, state_.data()); }
  void set_limit(std::size_t bytes) {
    limit_state const now = state();
    limit_ = bytes;
    exec::write(space_, state_.data(), limit_state{now.used, limit_, now.refused});
  }

 private:
  Space space_;
  std::size_t limit_;
  exec::buffer<limit_state, Space> state_;
};
}  // namespace detail

/// An allocator whose blocks have at most `limit` bytes in all, rounded up to the sizes that the allocator has. A
/// request that would exceed the limit gets nullptr, and is counted as a failure. Requests that run at the same time
/// near the limit may be refused although one of them would fit.
template <class A>
class limited : public adapted<A, detail::limit_part> {
  using base = adapted<A, detail::limit_part>;

 public:
  limited(typename A::space_type const& space, options const& o, std::size_t limit = ~std::size_t{0})
      : base(space, o, limit) {}
  [[nodiscard]] std::size_t used() const { return base::part_.state().used; }
  [[nodiscard]] std::size_t limit() const { return base::part_.state().limit; }
  /// For kernels that are launched afterwards; blocks beyond a smaller limit stay.
  void set_limit(std::size_t bytes) { base::part_.set_limit(bytes); }
};

}  // namespace wyrm::alloc
