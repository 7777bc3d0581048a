// SPDX-License-Identifier: Apache-2.0
// The two parts of a variant of Ouroboros: queues (ring_queues.hpp, virtual_queues.hpp), and a store of freed pages
// that uses them (page_store.hpp, chunk_store.hpp). Each part has an owner on the host and a ref on the device.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "chunk_pool.hpp"
#include "class_state.hpp"
#include "queue_ends.hpp"
#include "queue_node.hpp"

namespace wyrm::alloc::detail {

/// Queues of indices, one per class, on the device. Positions are claimed by queue_ends. A page store reserves room
/// before it claims a position (reserve), and reports what it has read (finish). A chunk store adds nodes itself
/// (install), and must not wait (try_...).
template <class Q>
concept queues_ref = requires(Q const q, exec::scalar_tile const t, chunk_pool_ref const& pool, queue_ends& ends,
                              unsigned c, std::uint32_t n, std::uint32_t& node, std::uint64_t index,
                              std::uint64_t& read, unpublished_node& unpublished) {
  { q.reserve(t, pool, ends, true, c, n) } -> std::same_as<bool>;
  { Q::claim_back(ends, n) } -> std::same_as<std::uint32_t>;
  q.write(c, n, index);
  { q.read(c, n, node) } -> std::same_as<std::uint64_t>;
  { q.peek(c, n) } -> std::same_as<std::uint64_t>;
  q.finish(t, pool, c, n, n, n, n);

  { q.try_reserve(c, n) } -> std::same_as<bool>;
  { q.try_write(c, n, index) } -> std::same_as<bool>;
  { q.try_read(c, n, read, node) } -> std::same_as<bool>;
  q.finish_and_reuse(t, c, n, n, true, unpublished);
  q.try_publish(c, unpublished);
  q.reuse_emptied(c);
  q.install(t, pool, c, c, n);
  { q.entries_per_node(c) } -> std::same_as<std::uint32_t>;
  { q.max_nodes(c) } -> std::same_as<std::uint32_t>;
};

/// The freed pages of all classes, on the device. `ends_type` counts those of a class; the manager claims pages there
/// before it calls take().
template <class S>
concept store_ref = requires(S const s, exec::scalar_tile const t, chunk_pool_ref const& pool,
                             class_states<typename S::ends_type> states, unsigned c, std::uint32_t n,
                             std::uint64_t page, std::uint64_t& taken, std::uint64_t& chunks) {
  { s.take(t, pool, c, n, n, n) } -> std::same_as<std::uint64_t>;
  s.free(t, pool, states, c, page, true);
  { s.has_spilled(c) } -> std::same_as<bool>;
  { s.take_spilled(t, c, c, n, n, taken) } -> std::same_as<std::uint32_t>;
  { s.reclaim(t, pool, states) } -> std::same_as<bool>;

  { s.count_carved(chunks, c, n) } -> std::same_as<bool>;
  { s.add_chunks(t, pool, chunks, c, c, n, n) } -> std::same_as<std::uint32_t>;
  { s.nodes_lacking(chunks, c, n, true) } -> std::same_as<std::uint32_t>;
  s.add_nodes(t, pool, c, c, n, n);
};

/// The owner of queues or of a store has the name of its kind, its memory, its ref, and growth in two steps, of which
/// only the first may throw.
template <class O>
concept pool_part = requires(O owner, O const constant, std::uint32_t chunks) {
  typename O::ref_type;
  O::kind;
  { O::bytes_per_class } -> std::convertible_to<std::size_t>;
  { constant.ref() } -> std::same_as<typename O::ref_type>;
  { constant.bytes() } -> std::same_as<std::size_t>;
  owner.prepare(chunks);
};
template <class Q>
concept queues = pool_part<Q> && queues_ref<typename Q::ref_type>;
template <class S>
concept store = pool_part<S> && store_ref<typename S::ref_type>;

}  // namespace wyrm::alloc::detail
