// SPDX-License-Identifier: Apache-2.0
// The ref that users pass to their kernels: a pointer to the allocator's view, which is in device memory. When the pool
// changes, the owner rewrites the view in place, so refs stay valid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../exec/config.hpp"
#include "../exec/memory.hpp"
#include "allocator.hpp"

namespace wyrm::alloc {

/// For kernels; see allocator_ref. It has the functions of its view. Valid until the owner is destroyed: also after
/// reset(), grow() and compact(), and after the owner has been moved. A call loads the parts of the view that it needs
/// from device memory. The caches of the multiprocessors may keep them, because no kernel runs while the view is
/// rewritten.
template <allocator_ref View>
class pool_ref {
 public:
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<View>();

  WYRM_HD explicit pool_ref(View const* view) : view_(view) {}

  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    return view_->allocate(t, bytes, align);
  }
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    view_->deallocate(t, p);
  }
  template <class Tile>
  requires sized_free_ref<View> WYRM_HD void deallocate(Tile const& t, void* p, std::size_t bytes) const {
    view_->deallocate(t, p, bytes);
  }
  template <class Tile>
  requires carving_ref<View>
  [[nodiscard]] WYRM_HD std::uint64_t carve(Tile const& t, std::size_t bytes, std::uint32_t count,
                                            page_array& pages) const {
    return view_->carve(t, bytes, count, pages);
  }
  [[nodiscard]] WYRM_HD void* claim(page_array const& pages, std::size_t bytes,
                                    std::uint32_t k) const requires carving_ref<View> {
    return view_->claim(pages, bytes, k);
  }
  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return malloc_from(view_, bytes, align);), (return view_->malloc(bytes, align);))
  }
  WYRM_HD void free(void* p) const { view_->free(p); }
  /// Where the view has it: see align_ref.
  template <class Tile, class... Order>
  requires requires(View const& v, Tile const& t, std::size_t bytes) { v.allocate_interleaved(t, bytes); }
  [[nodiscard]] WYRM_HD auto allocate_interleaved(Tile const& t, std::size_t bytes, Order... order) const {
    return view_->allocate_interleaved(t, bytes, order...);
  }
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const requires measuring_ref<View> {
    return view_->block_bytes(p);
  }
  /// The view, in memory of the pool's space.
  [[nodiscard]] WYRM_HD View const* view() const { return view_; }

 private:
#if WYRM_CUDACC
  // A function, so that a kernel with several calls fits the instruction cache.
  [[nodiscard]] WYRM_NOINLINE __device__ static void* malloc_from(View const* view, std::size_t bytes,
                                                                  std::size_t align) {
    return view->malloc(bytes, align);
  }
#endif

  View const* view_;
};

/// The view of a pool in device memory. Its address stays the same as long as the owner lives, also when the owner is
/// moved. The owner calls write() at the end of its construction, and makes each change that may replace memory of the
/// pool in rewrite_after().
template <class View, class Space>
class shared_view {
 public:
  explicit shared_view(Space const& space) : space_(space), view_(space, 1) {}

  void write(View const& view) { exec::write(space_, view_.data(), view); }
  /// Calls change(), and writes view() afterwards, also if change() throws: a change that fails may have replaced some
  /// tables by longer ones. No kernel may use the pool during the call.
  template <class Change, class MakeView>
  void rewrite_after(Change const& change, MakeView const& view) {
    try {
      change();
    } catch (...) {
      write(view());
      throw;
    }
    write(view());
  }

  [[nodiscard]] pool_ref<View> ref() const { return pool_ref<View>(view_.data()); }
  [[nodiscard]] std::size_t bytes() const { return view_.bytes(); }

 private:
  Space space_;
  exec::buffer<View, Space> view_;
};

}  // namespace wyrm::alloc
