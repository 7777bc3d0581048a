// SPDX-License-Identifier: Apache-2.0
// Operations on the blocks of any allocator, through its ref: construction of objects, and blocks that change their
// size.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "allocator.hpp"

namespace wyrm::alloc {

namespace detail {
/// Frees a block unless the constructor of its object has returned. (Kernels have no exceptions.)
template <class Ref>
struct unused_block {
  Ref const& ref;
  void* block;
  WYRM_HD ~unused_block() {
    if (block != nullptr) ref.free(block);
  }
};
}  // namespace detail

/// Allocates a block and constructs a T in it; per thread. Returns nullptr, and calls no constructor, if there is no
/// block. If the constructor throws, the block is freed.
template <class T, allocator_ref Ref, class... Arguments>
[[nodiscard]] WYRM_HD T* make(Ref const& ref, Arguments&&... arguments) {
  static_assert(alignof(T) <= largest_alignment);
  void* const p = ref.malloc(sizeof(T), alignof(T) > alignment ? alignof(T) : alignment);
  if (p == nullptr) return nullptr;
  detail::unused_block<Ref> until_constructed{ref, p};
  T* const object = ::new (p) T(std::forward<Arguments>(arguments)...);
  until_constructed.block = nullptr;
  return object;
}

/// Destroys an object that make() returned, and frees its block; per thread. Does nothing for nullptr.
template <class T, allocator_ref Ref>
WYRM_HD void destroy(Ref const& ref, T* object) {
  if (object == nullptr) return;
  object->~T();
  ref.free(const_cast<std::remove_cv_t<T>*>(object));
}

/// Changes the size of a block; per thread. The block stays where it is if its size class has room for this many bytes;
/// else its contents are copied to a new block, and the old block is freed. Returns nullptr if there is no memory for a
/// new block: then the old one is unchanged. As with std::realloc, p may be nullptr, which allocates; 0 bytes free the
/// block. A new block has an alignment of 16. Time: O(1), or O(bytes) if the block moves.
template <measuring_ref Ref>
[[nodiscard]] WYRM_HD void* reallocate(Ref const& ref, void* p, std::size_t bytes) {
  std::size_t const before = p != nullptr ? ref.block_bytes(p) : 0;
  if (p != nullptr && bytes > 0 && bytes <= before) return p;
  void* const moved = ref.malloc(bytes);  // nullptr for 0 bytes
  if (moved == nullptr && bytes > 0) return nullptr;
  if (moved != nullptr && p != nullptr) std::memcpy(moved, p, before);
  ref.free(p);
  return moved;
}

}  // namespace wyrm::alloc
