// SPDX-License-Identifier: Apache-2.0
// The kernels of an id map. One thread per key: threads wait for memory nearly all of the time, and a device hides that
// by the number of threads. A kernel sees all that earlier kernels of the space have written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../types.hpp"
#include "id_map_ref.hpp"
#include "keys.hpp"

namespace wyrm::graph::detail {

/// What kernels report to the host: the first entry of each kind, or none. All bits are 1 at the begin.
struct id_status {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t invalid;   // a string that is too long, or an id without a key
  std::uint64_t absent;    // a key that is not in the map, but must be
  std::uint64_t used;      // an id for a new key that already has a key, or is no_vertex
  std::uint64_t repeated;  // an id for a new key that another new key has, too

  WYRM_HD static void record(std::uint64_t& first, std::uint64_t entry) {
    if (entry < exec::load_recent(first)) exec::atomic_ref<std::uint64_t>(first).fetch_min(entry, exec::relaxed);
  }
};

/// The id of each key, or no_vertex. `slots`, `flags` (1 for a key that is not in the map) and `status` may be nullptr.
template <class Map, class Batch>
struct look_up_keys {
  Map map;
  Batch batch;
  vertex_id* ids;
  std::uint64_t* slots;
  std::uint32_t* flags;
  id_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    auto const key = batch[i];
    typename Map::place found{0, no_vertex};
    if (is_valid(key))
      found = map.locate(key);
    else if (status != nullptr)
      id_status::record(status->invalid, i);
    ids[i] = found.id;
    if (slots != nullptr) slots[i] = found.slot;
    if (flags != nullptr) flags[i] = found.id == no_vertex ? 1 : 0;
  }
};

struct refuse_absent {
  vertex_id const* ids;
  id_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    if (ids[i] == no_vertex) id_status::record(status->absent, i);
  }
};

/// Lists the entries whose flag is 1, in their order.
struct list_flagged {
  std::uint32_t const* flags;
  std::uint64_t const* offsets;
  std::uint32_t* list;
  WYRM_HD void operator()(std::size_t i) const {
    if (flags[i] != 0) list[offsets[i]] = static_cast<std::uint32_t>(i);
  }
};

// Insertion. `entries` are the positions in the batch of keys that are not in the map; k counts these entries.

template <class Map, class Batch>
struct claim_slots {
  Map map;
  Batch batch;
  std::uint32_t const* entries;
  std::uint64_t* slots;
  WYRM_HD void operator()(std::size_t k) const { slots[k] = map.claim(batch, entries[k]); }
};

/// Undoes claim_slots. As only empty slots were claimed, and all of them become empty again, probing finds what it
/// found before.
template <class Map>
struct unclaim_slots {
  Map map;
  std::uint64_t const* slots;
  WYRM_HD void operator()(std::size_t k) const { map.word(slots[k]).store(slot_word::empty, exec::relaxed); }
};

/// Flags the first entry of each new key.
template <class Map>
struct flag_first {
  Map map;
  std::uint32_t const* entries;
  std::uint64_t const* slots;
  std::uint32_t* flags;
  WYRM_HD void operator()(std::size_t k) const {
    flags[k] = slot_word::value(map.word(slots[k]).load(exec::relaxed)) == entries[k] ? 1 : 0;
  }
};

struct check_new_ids {
  vertex_id const* ids;
  id_marks marks;
  id_status* status;
  WYRM_HD void operator()(std::size_t k) const {
    if (ids[k] == no_vertex || marks.has(ids[k])) id_status::record(status->used, k);
  }
};

/// After check_new_ids, unless that has found an error. The mark of an id tells its first owner from the others.
struct mark_new_ids {
  vertex_id const* ids;
  id_marks marks;
  id_status* status;
  WYRM_HD void operator()(std::size_t k) const {
    if (status->used != id_status::none) return;
    if (marks.set(ids[k])) id_status::record(status->repeated, k);
  }
};

/// Undoes mark_new_ids.
struct unmark_new_ids {
  vertex_id const* ids;
  id_marks marks;
  WYRM_HD void operator()(std::size_t k) const { marks.clear(ids[k]); }
};

/// Gives each new key its id: ids[j] for the j-th, or base + j where `ids` is nullptr.
template <class Map, class Batch, class Keys>
struct write_new_keys {
  Map map;
  Batch batch;
  Keys keys;
  id_marks marks;
  std::uint32_t const* entries;
  std::uint64_t const* slots;
  std::uint32_t const* flags;
  std::uint64_t const* offsets;
  vertex_id const* ids;
  vertex_id base;
  WYRM_HD void operator()(std::size_t k) const {
    if (flags[k] == 0) return;
    vertex_id const id = ids != nullptr ? ids[offsets[k]] : base + static_cast<vertex_id>(offsets[k]);
    keys.write(id, k, batch[entries[k]]);
    marks.set(id);
    auto const word = map.word(slots[k]);
    std::uint64_t const position = word.load(exec::relaxed);
    word.store(slot_word::with_id(position, id), exec::relaxed);
  }
};

template <class Map>
struct read_new_ids {
  Map map;
  std::uint32_t const* entries;
  std::uint64_t const* slots;
  vertex_id* ids;
  WYRM_HD void operator()(std::size_t k) const {
    ids[entries[k]] = slot_word::value(map.word(slots[k]).load(exec::relaxed));
  }
};

// Erasure, after look_up_keys. Entries whose id is no_vertex are not in the map.

/// Replaces the id in the slot of each key by the position of its first entry, which is a smaller word.
template <class Map>
struct claim_erased {
  Map map;
  vertex_id const* ids;
  std::uint64_t const* slots;
  WYRM_HD void operator()(std::size_t i) const {
    if (ids[i] == no_vertex) return;
    auto const word = map.word(slots[i]);
    std::uint64_t const there = word.load(exec::relaxed);
    std::uint64_t const mine = slot_word::with_position(there, i);
    if (mine < there) word.fetch_min(mine, exec::relaxed);
  }
};

/// Undoes claim_erased.
template <class Map>
struct unclaim_erased {
  Map map;
  vertex_id const* ids;
  std::uint64_t const* slots;
  WYRM_HD void operator()(std::size_t i) const {
    if (ids[i] == no_vertex) return;
    auto const word = map.word(slots[i]);
    word.store(slot_word::with_id(word.load(exec::relaxed), ids[i]), exec::relaxed);
  }
};

template <class Map>
struct flag_first_erased {
  Map map;
  vertex_id const* ids;
  std::uint64_t const* slots;
  std::uint32_t* flags;
  WYRM_HD void operator()(std::size_t i) const {
    bool const is_first = ids[i] != no_vertex && slot_word::value(map.word(slots[i]).load(exec::relaxed)) == i;
    flags[i] = is_first ? 1 : 0;
  }
};

/// Empties the slots, and lists the ids.
template <class Map>
struct erase_keys {
  Map map;
  id_marks marks;
  vertex_id const* ids;
  std::uint64_t const* slots;
  std::uint32_t const* flags;
  std::uint64_t const* offsets;
  vertex_id* freed;
  WYRM_HD void operator()(std::size_t i) const {
    if (flags[i] == 0) return;
    map.word(slots[i]).store(slot_word::erased, exec::relaxed);
    marks.clear(ids[i]);
    freed[offsets[i]] = ids[i];
  }
};

// The table as a whole.

/// Writes all ids that have a key to an empty table.
template <class Map>
struct refill {
  Map map;
  WYRM_HD void operator()(std::size_t id) const {
    auto const v = static_cast<vertex_id>(id);
    if (map.has(v)) map.put(v);
  }
};

struct check_ids {
  vertex_id const* ids;
  id_marks marks;
  id_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    if (!marks.has(ids[i])) id_status::record(status->invalid, i);
  }
};

/// The numbers of slots of each kind, and of ids with a key that the table finds by this key.
struct id_census {
  std::uint64_t with_id;
  std::uint64_t with_position;
  std::uint64_t erased;
  std::uint64_t marked;
  std::uint64_t found;
};

template <class Map>
struct count_slots {
  Map map;
  id_census* census;
  WYRM_HD void operator()(std::size_t slot) const {
    std::uint64_t const word = map.word(slot).load(exec::relaxed);
    if (word == slot_word::empty) return;
    std::uint64_t& count = word == slot_word::erased ? census->erased
                           : slot_word::has_id(word) ? census->with_id
                                                     : census->with_position;
    exec::atomic_ref<std::uint64_t>(count).fetch_add(1, exec::relaxed);
  }
};

template <class Map>
struct count_ids {
  Map map;
  id_census* census;
  WYRM_HD void operator()(std::size_t id) const {
    auto const v = static_cast<vertex_id>(id);
    if (!map.has(v)) return;
    exec::atomic_ref<std::uint64_t>(census->marked).fetch_add(1, exec::relaxed);
    if (map.leads_back(v)) exec::atomic_ref<std::uint64_t>(census->found).fetch_add(1, exec::relaxed);
  }
};

}  // namespace wyrm::graph::detail
