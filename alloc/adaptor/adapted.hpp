// SPDX-License-Identifier: Apache-2.0
// The common part of adaptors: an adaptor is an allocator that wraps another allocator, so adaptors can be nested. A
// `Part` defines what the adaptor does with each block on the device, and what it owns.
#pragma once

#include <cstddef>
#include <utility>

#include "../allocator.hpp"
#include "../shared_view.hpp"

namespace wyrm::alloc {

/// For kernels. Part, which is trivially copyable, has these functions, each per thread:
///  - admits(block): false if the program shall not get the block. Then it is freed, and nullptr is returned.
///  - allocated(block): the program gets the block, or nullptr.
///  - freed(block): called before the block is freed. Bad frees that the allocator cannot distinguish, which are those
///    of blocks that are free, outside of checked mode, are reported as well.
/// A block is {address, requested bytes (0 where it is freed), bytes granted}.
struct adaptor_block {
  void const* p;
  std::size_t asked;
  std::size_t granted;
};

template <measuring_ref View, class Part>
class adapted_ref {
 public:
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<View>();

  adapted_ref(View const& view, Part const& part, void const* pool) : view_(view), part_(part), pool_(pool) {}

  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    void* p = view_.allocate(t, bytes, align);
    void* refused = nullptr;
    adaptor_block b{p, bytes, p != nullptr ? view_.block_bytes(p) : 0};
    if (p != nullptr && !part_.admits(b)) {
      refused = p;
      p = nullptr;
      b = {nullptr, bytes, 0};
    }
    if (t.any(refused != nullptr)) view_.deallocate(t, refused);
    if (bytes > 0) part_.allocated(b);
    return p;
  }
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    std::size_t const granted = p != nullptr ? view_.block_bytes(p) : 0;
    if (granted > 0) part_.freed({p, 0, granted});
    view_.deallocate(t, p);
  }
  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    return malloc_together(*this, pool_, bytes, align);
  }
  WYRM_HD void free(void* p) const { free_together(*this, pool_, p); }
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const { return view_.block_bytes(p); }

 private:
  View view_;
  Part part_;
  void const* pool_;  // identifies the pool
};

/// Owner. Part<Space>: owner of the part, with ref(), reset(), report(statistics&) and bytes().
template <class A, template <class> class Part>
class adapted {
 public:
  using space_type = typename A::space_type;
  using part_type = Part<space_type>;
  using view_type = adapted_ref<typename A::view_type, typename part_type::ref_type>;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = A::name;
  static constexpr traits family = A::family;

  /// more: arguments of the part.
  template <class... More>
  adapted(space_type const& space, options const& o, More&&... more)
      : inner_(space, o), part_(space, std::forward<More>(more)...), shared_(space) {
    shared_.write(view());
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const { return {inner_.view(), part_.ref(), shared_.ref().view()}; }
  void reset() {
    inner_.reset();
    part_.reset();
  }
  void grow(std::size_t bytes) {
    shared_.rewrite_after([&] { inner_.grow(bytes); }, [&] { return view(); });
  }
  void compact() { inner_.compact(); }
  [[nodiscard]] statistics stats() const {
    statistics s = inner_.stats();
    s.overhead += part_.bytes() + shared_.bytes();
    part_.report(s);
    return s;
  }
  void check() const { inner_.check(); }

 protected:
  A inner_;
  part_type part_;
  shared_view<view_type, space_type> shared_;
};

}  // namespace wyrm::alloc
