// SPDX-License-Identifier: Apache-2.0
// The hash table of an id map, for kernels: open addressing with linear probing, and slots of 8 bytes. A slot has the
// id of a vertex and 31 bits of the hash of its key; the key itself is in an array that the id indexes. Therefore a
// slot is claimed by one CAS whatever the type of the key is, any key is allowed, and the way back from an id to its
// key is one access. A probe reads a key only where 31 bits of the hash agree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"
#include "../types.hpp"
#include "keys.hpp"
#include "sip_hash.hpp"

namespace wyrm::graph {

namespace detail {

/// The word of a slot: the tag in bits 33 ... 63; bit 32 is 1 for the id of a vertex, and 0 for a position in the batch
/// that is being inserted or erased; bits 0 ... 31 are the id or the position. Of two positions the earlier one is the
/// smaller word, and any position is a smaller word than the id with the same tag.
struct slot_word {
  static constexpr std::uint64_t empty = ~std::uint64_t{0};                            // the tag and the id no_vertex
  static constexpr std::uint64_t erased = ~std::uint64_t{0} ^ std::uint64_t{1} << 32;  // a tag and no position
  static constexpr std::uint64_t most_keys = 0xffffffff;                               // positions are below

  /// The tag is that of a hash, or of another word.
  [[nodiscard]] WYRM_HD static std::uint64_t with_id(std::uint64_t hash, vertex_id id) {
    return (hash >> 33 << 1 | 1) << 32 | id;
  }
  [[nodiscard]] WYRM_HD static std::uint64_t with_position(std::uint64_t hash, std::size_t position) {
    return hash >> 33 << 33 | position;
  }
  [[nodiscard]] WYRM_HD static bool has_id(std::uint64_t word) { return (word >> 32 & 1) != 0; }
  [[nodiscard]] WYRM_HD static std::uint32_t value(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  [[nodiscard]] WYRM_HD static bool same_tag(std::uint64_t a, std::uint64_t b) { return a >> 33 == b >> 33; }
};

/// A bit for each id: whether it has a key.
struct id_marks {
  std::uint32_t* words;
  vertex_id end;  // ids from here on have none

  [[nodiscard]] WYRM_HD bool has(vertex_id id) const { return id < end && (words[id / 32] >> id % 32 & 1) != 0; }
  /// Returns whether the id had one. Several lanes may set and clear marks at the same time.
  WYRM_HD bool set(vertex_id id) const {
    return (exec::atomic_ref<std::uint32_t>(words[id / 32]).fetch_or(1u << id % 32, exec::relaxed) >> id % 32 & 1) != 0;
  }
  WYRM_HD void clear(vertex_id id) const {
    exec::atomic_ref<std::uint32_t>(words[id / 32]).fetch_and(~(1u << id % 32), exec::relaxed);
  }
};

}  // namespace detail

/// Reads an id map in a kernel, or on the host for a space of the host. Trivially copyable; valid until the next change
/// of the map. Keys is the array of keys by id, see key_store.hpp.
template <class Keys>
class id_map_ref {
 public:
  using key = typename Keys::key;
  struct place {
    std::uint64_t slot;
    vertex_id id;
  };

  id_map_ref(std::uint64_t* slots, std::uint64_t n, detail::sip_seed seed, Keys const& keys, detail::id_marks marks)
      : slots_(slots), mask_(n - 1), seed_(seed), keys_(keys), marks_(marks) {}

  /// The id of a key, or no_vertex. O(1) expected.
  [[nodiscard]] WYRM_HD vertex_id find(key const& k) const { return locate(k).id; }
  /// Whether an id has a key.
  [[nodiscard]] WYRM_HD bool has(vertex_id id) const { return marks_.has(id); }
  /// The key of an id that has one.
  [[nodiscard]] WYRM_HD key key_of(vertex_id id) const { return keys_.at(id); }

  // The rest is for the implementation.

  /// Whether the table leads from the key of an id back to it.
  [[nodiscard]] WYRM_HD bool leads_back(vertex_id id) const { return keys_.is_sound(id) && find(keys_.at(id)) == id; }

  // In every table at least half of the slots are empty, so that probing ends.

  /// The slot and the id of a key; the id is no_vertex if the key is not in the map. No slot may have a position.
  [[nodiscard]] WYRM_HD place locate(key const& k) const {
    std::uint64_t const hash = detail::hash_of(k, seed_);
    for (std::uint64_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      std::uint64_t const word = slots_[slot];
      if (word == detail::slot_word::empty) return {slot, no_vertex};
      if (detail::slot_word::has_id(word) && detail::slot_word::same_tag(word, hash) &&
          detail::equal(keys_.at(detail::slot_word::value(word)), k))
        return {slot, detail::slot_word::value(word)};
    }
  }

  /// Claims a slot for key i of the batch, which is not in the map, and returns the slot. All lanes with equal keys get
  /// the same slot, which then has the position of the first of these keys. Only empty slots are claimed: if an erased
  /// slot were claimed, another lane with the same key might already have claimed one behind it.
  ///
  /// Correctness: a slot changes from empty to a position once, by CAS; after that only the position changes, by
  /// fetch_min among positions of equal keys. So whether a slot is taken, and by which key, never changes back, and all
  /// lanes with equal keys, which probe the same slots in the same order, stop at the same one. Keys are not written by
  /// the kernel, so relaxed operations suffice; the next kernel sees the result. Progress: a CAS fails only if another
  /// lane has claimed the slot, and no lane waits.
  template <class Batch>
  [[nodiscard]] WYRM_HD std::uint64_t claim(Batch const& batch, std::size_t i) const {
    key const k = batch[i];
    std::uint64_t const hash = detail::hash_of(k, seed_);
    std::uint64_t const mine = detail::slot_word::with_position(hash, i);
    for (std::uint64_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      exec::atomic_ref<std::uint64_t> const word(slots_[slot]);
      std::uint64_t there = word.load(exec::relaxed);
      if (there == detail::slot_word::empty && word.compare_exchange_strong(there, mine, exec::relaxed)) return slot;
      if (there == detail::slot_word::erased || detail::slot_word::has_id(there) ||
          !detail::slot_word::same_tag(there, mine) || !detail::equal(batch[detail::slot_word::value(there)], k))
        continue;
      if (mine < there) word.fetch_min(mine, exec::relaxed);
      return slot;
    }
  }

  /// Writes an id of which the key is in no slot. Several lanes may do so at the same time, for different keys.
  WYRM_HD void put(vertex_id id) const {
    std::uint64_t const hash = detail::hash_of(keys_.at(id), seed_);
    std::uint64_t const mine = detail::slot_word::with_id(hash, id);
    for (std::uint64_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      exec::atomic_ref<std::uint64_t> const word(slots_[slot]);
      std::uint64_t there = word.load(exec::relaxed);
      if (there == detail::slot_word::empty && word.compare_exchange_strong(there, mine, exec::relaxed)) return;
    }
  }

  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> word(std::uint64_t slot) const {
    return exec::atomic_ref<std::uint64_t>(slots_[slot]);
  }

 private:
  std::uint64_t* slots_;
  std::uint64_t mask_;
  detail::sip_seed seed_;
  Keys keys_;
  detail::id_marks marks_;
};

}  // namespace wyrm::graph
