// SPDX-License-Identifier: Apache-2.0
// Maps from the keys of users to the ids of vertices, and back: id_map for numbers of 64 bits, string_id_map for
// strings. All operations are in bulk and run on the device. A hash table (id_map_ref.hpp) has the ids, and an array
// the keys by id (key_store.hpp). The results are the same on every space and with any number of threads.
//
// An insertion first looks up all keys of the batch. For those that are not in the map it claims slots with their
// positions in the batch, of which the first one of each key remains. A prefix sum over "is the first" numbers the new
// keys in the order of their first appearance. Then the caller gives ids for this number of keys. Whatever fails before
// the keys are written, the claimed slots are emptied again, and the map is as before. An erasure claims slots in the
// same way.
//
// Like queries (query/lookup.hpp), operations take keys or ids from the host and return results on the host, or take
// them in memory of the space and leave results there, in the order of the work of the space. docs/ids.md has examples.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/bulk.hpp"
#include "../../exec/device_array.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../types.hpp"
#include "id_kernels.hpp"
#include "id_map_ref.hpp"
#include "key_store.hpp"
#include "keys.hpp"

namespace wyrm::graph {

struct id_map_options {
  std::size_t capacity = 0;     // number of keys for which the table suffices from the begin; it grows as needed
  std::uint64_t hash_seed = 0;  // of the hash table; 0: drawn at random, so that an attacker cannot choose collisions
};

/// Returns n ids for n new keys: distinct, and none that has a key in the map. An empty one: the ids from
/// id_map::ids_end() on. It must not change the map.
using id_source = std::function<std::vector<vertex_id>(std::size_t n)>;

/// What an erasure of keys did.
struct erased_keys {
  std::vector<vertex_id> ids;  // that have no key any more, in the order of the first appearance of their keys
  std::uint64_t missing = 0;   // entries of the batch whose key was not in the map
};

/// The same in memory of a space.
template <class Space>
struct resident_erased_keys {
  exec::device_array<vertex_id, Space> ids;
  std::uint64_t missing = 0;
};

/// Not thread-safe, but several host threads may call const functions at the same time. After a move from a map, it can
/// only be assigned to or destroyed. Operations throw error(out_of_memory), and change nothing then.
template <class Space, class Store>
class basic_id_map {
 public:
  /// A list of keys in memory of the space: resident_keys, or resident_strings.
  using resident_list = typename Store::resident;
  /// A list of keys on the host: std::span<std::uint64_t const>, or packed_strings, to which a vector of strings or of
  /// string views converts.
  using host_list = typename Store::host_list;
  using ref_type = id_map_ref<typename Store::keys>;
  using ids_type = exec::device_array<vertex_id, Space>;
  using edges_type = exec::device_array<edge, Space>;

  explicit basic_id_map(Space const& space, id_map_options const& o = {})
      : space_(space),
        seed_(seed_of(o.hash_seed)),
        table_(space, slots_for(std::min(o.capacity, max_vertices))),
        marks_(space),
        store_(space),
        bulk_(space),
        status_(space, 1),
        flags_(space),
        offsets_(space),
        entries_(space),
        slots_(space),
        ids_(space) {
    typename Space::guard const current(space_);
    space_.fill(table_.data(), 0xff, table_.bytes());
  }

  /// The number of keys.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// All ids that have or had a key are below.
  [[nodiscard]] vertex_id ids_end() const { return ids_end_; }
  [[nodiscard]] Space const& space() const { return space_; }
  /// The memory of the map and its scratch: per key 16 to 32 bytes for the table; per id below ids_end() 8 bytes, or 16
  /// for strings; the bytes of strings, up to twice; and scratch for the largest batch.
  [[nodiscard]] std::size_t bytes() const {
    return table_.bytes() + marks_.bytes() + store_.bytes() + bulk_.bytes() + status_.bytes() + flags_.bytes() +
           offsets_.bytes() + entries_.bytes() + slots_.bytes() + ids_.bytes();
  }
  /// For kernels.
  [[nodiscard]] ref_type ref() const { return {table_.data(), table_.size(), seed_, store_.view(), marks()}; }

  /// The id of each key, or no_vertex. O(1) expected per key.
  [[nodiscard]] ids_type find(resident_list keys) const {
    ids_type ids(space_, keys.size);
    look_up(batch(keys), ids.data(), nullptr, nullptr, nullptr);
    return ids;
  }
  [[nodiscard]] std::vector<vertex_id> find(host_list const& keys) const {
    upload const list(space_, keys);
    return find(list.list()).to_host();
  }

  /// Inserts the keys that are not in the map, and returns the ids of all keys. Calls source(n) once if there are n > 0
  /// new keys; new keys get its ids in the order of their first appearance. All or nothing: on any error, also one that
  /// the source throws, the map is unchanged. (If memory runs out after the call of the source, its ids remain with the
  /// caller; that can happen only if one of them is not below size() + n.) Throws error(bad_argument) for ids that have
  /// a key, repeat, or are not as many as the new keys; for a batch of 2^32 - 1 keys or more; for a string of 2^32
  /// bytes or more. O(1) per key, expected and amortised; the source and its ids are work of the host, and O(largest
  /// id) memory.
  ids_type insert(resident_list keys, id_source const& source = {}) {
    ids_type ids(space_, keys.size);
    insert(batch(keys), ids.data(), source);
    return ids;
  }
  std::vector<vertex_id> insert(host_list const& keys, id_source const& source = {}) {
    std::vector<vertex_id> ids(keys.size());  // what may fail comes before the change
    upload const list(space_, keys);
    copy_out(insert(list.list(), source), ids);
    return ids;
  }

  /// Erases the keys that are in the map. Same guarantee, limits and cost.
  resident_erased_keys<Space> erase(resident_list keys) { return erase(batch(keys)); }
  erased_keys erase(host_list const& keys) {
    std::vector<vertex_id> ids(keys.size());
    upload const list(space_, keys);
    auto const erased = erase(list.list());
    copy_out(erased.ids, ids);
    return {std::move(ids), erased.missing};
  }

  /// The key of each id: a device_array of numbers, or a resident_string_list. O(1) per key, and per byte of a string.
  /// Throws error(bad_argument) for an id without a key, and names the first.
  [[nodiscard]] typename Store::resident_list keys(resident_vertices ids) const {
    typename Space::guard const current(space_);
    exec::buffer<detail::id_status, Space> status(space_, 1);
    space_.fill(status.data(), 0xff, status.bytes());
    exec::for_each(space_, ids.size, detail::check_ids{ids.data, marks(), status.data()});
    if (std::uint64_t const i = exec::read(space_, status.data()).invalid; i != detail::id_status::none)
      throw error(error_code::bad_argument, "keys: entry " + std::to_string(i) + " is id " +
                                                std::to_string(exec::read(space_, ids.data + i)) +
                                                ", which has no key in the map");
    return store_.gather(ids);
  }
  /// On the host: a std::vector of std::uint64_t, or of std::string.
  [[nodiscard]] auto keys(std::span<vertex_id const> ids) const {
    exec::buffer<vertex_id, Space> list(space_, ids.size());
    if (!ids.empty()) exec::copy_in(space_, list.data(), ids);
    return keys(resident_vertices(list.data(), ids.size())).to_host();
  }

  /// The edges from sources[i] to targets[i], for updates and queries of a graph: resident_edges(e.data(), e.size()).
  /// Throws error(bad_argument) for lists of different lengths, and for a key that is not in the map; it names the
  /// first.
  [[nodiscard]] edges_type find_edges(resident_list sources, resident_list targets) const {
    check_lengths("find_edges", sources.size, targets.size);
    typename Space::guard const current(space_);
    edges_type edges(space_, sources.size);
    look_up(batch(sources, targets), ends(edges), nullptr, nullptr, nullptr);
    exec::buffer<detail::id_status, Space> status(space_, 1);
    space_.fill(status.data(), 0xff, status.bytes());
    exec::for_each(space_, 2 * edges.size(), detail::refuse_absent{ends(edges), status.data()});
    if (std::uint64_t const i = exec::read(space_, status.data()).absent; i != detail::id_status::none)
      throw error(error_code::bad_argument, std::string("find_edges: the ") + (i % 2 == 0 ? "source" : "target") +
                                                " of edge " + std::to_string(i / 2) +
                                                " is not in the map; insert it, or call insert_edges");
    return edges;
  }
  [[nodiscard]] edges_type find_edges(host_list const& sources, host_list const& targets) const {
    upload const from(space_, sources);
    upload const to(space_, targets);
    return find_edges(from.list(), to.list());
  }
  /// The same; keys that are not in the map are inserted as by insert(), in the order source 0, target 0, source 1 ...
  edges_type insert_edges(resident_list sources, resident_list targets, id_source const& source = {}) {
    check_lengths("insert_edges", sources.size, targets.size);
    edges_type edges(space_, sources.size);
    insert(batch(sources, targets), ends(edges), source);
    return edges;
  }
  edges_type insert_edges(host_list const& sources, host_list const& targets, id_source const& source = {}) {
    upload const from(space_, sources);
    upload const to(space_, targets);
    return insert_edges(from.list(), to.list(), source);
  }

  /// Erases all keys; ids_end() is 0 then. Keeps the memory.
  void clear() {
    typename Space::guard const current(space_);
    space_.fill(table_.data(), 0xff, table_.bytes());
    if (marks_.size() > 0) space_.fill(marks_.data(), 0, marks_.bytes());
    store_.clear();
    size_ = occupied_ = 0;
    ids_end_ = 0;
  }

  /// Checks the invariants: each key is found and leads to its id, and slots, marks and size() agree. Throws
  /// error(corrupt). O(ids_end() + slots).
  void check() const {
    typename Space::guard const current(space_);
    exec::buffer<detail::id_census, Space> counts(space_, 1);
    space_.fill(counts.data(), 0, counts.bytes());
    exec::for_each(space_, table_.size(), detail::count_slots<ref_type>{ref(), counts.data()});
    exec::for_each(space_, ids_end_, detail::count_ids<ref_type>{ref(), counts.data()});
    detail::id_census const c = exec::read(space_, counts.data());
    auto const require = [](bool holds, char const* what, std::uint64_t is, std::uint64_t expected) {
      if (!holds)
        throw error(error_code::corrupt, std::string("an id map has ") + std::to_string(is) + " " + what +
                                             ", but should have " + std::to_string(expected));
    };
    require(c.with_id == size_, "slots with an id", c.with_id, size_);
    require(c.with_position == 0, "slots that are claimed", c.with_position, 0);
    require(c.with_id + c.erased == occupied_, "occupied slots", c.with_id + c.erased, occupied_);
    require(2 * occupied_ <= table_.size(), "slots", table_.size(), 2 * occupied_);
    require(c.marked == size_, "ids with a key", c.marked, size_);
    require(c.found == size_, "keys that lead to their ids", c.found, size_);
  }

 private:
  using batch = detail::key_batch<resident_list>;
  using upload = typename Store::upload;
  using keys_view = typename Store::keys;

  static detail::sip_seed seed_of(std::uint64_t seed) {
    std::random_device random;
    auto const draw = [&] { return std::uint64_t{random()} << 32 | random(); };
    if (seed != 0) return {seed, 0};
    return {draw(), draw()};
  }
  /// A power of two. Half of the slots may be occupied.
  static std::size_t slots_for(std::size_t keys) { return std::bit_ceil(std::max<std::size_t>(2 * keys, 16)); }
  static void check_lengths(char const* operation, std::size_t sources, std::size_t targets) {
    if (sources != targets)
      throw error(error_code::bad_argument, std::string(operation) + ": there are " + std::to_string(sources) +
                                                " sources, but " + std::to_string(targets) +
                                                " targets; give one for each source");
  }
  static void check_size(std::size_t n) {
    if (n >= detail::slot_word::most_keys)
      throw error(error_code::bad_argument,
                  "a batch of " + std::to_string(n) + " keys is too large (fewer than 2^32 - 1 fit); split it");
  }
  static vertex_id* ends(edges_type const& edges) {
    static_assert(sizeof(edge) == 2 * sizeof(vertex_id));
    return reinterpret_cast<vertex_id*>(edges.data());
  }

  /// `to` has at least as many elements; it gets as many.
  void copy_out(ids_type const& ids, std::vector<vertex_id>& to) const {
    to.resize(ids.size());
    if (!to.empty()) space_.copy_out(to.data(), ids.data(), ids.bytes());
  }

  [[nodiscard]] detail::id_marks marks() const { return {marks_.data(), ids_end_}; }

  void look_up(batch const& keys, vertex_id* ids, std::uint64_t* slots, std::uint32_t* flags,
               detail::id_status* status) const {
    typename Space::guard const current(space_);
    exec::for_each(space_, keys.size, detail::look_up_keys<ref_type, batch>{ref(), keys, ids, slots, flags, status});
  }
  /// Computes the offsets of the entries whose flag is 1, and returns their number.
  [[nodiscard]] std::size_t number(std::size_t n) {
    bulk_.inclusive_sum(flags_.data(), offsets_.data(), n);
    return exec::read(space_, offsets_.data() + n);
  }

  void insert(batch const& keys, vertex_id* ids, id_source const& source) {
    check_size(keys.size);
    if (keys.size == 0) return;
    typename Space::guard const current(space_);
    flags_.reserve(keys.size);
    offsets_.reserve(keys.size + 1);
    space_.fill(status_.data(), 0xff, status_.bytes());
    look_up(keys, ids, nullptr, flags_.data(), status_.data());
    std::size_t const absent = number(keys.size);
    if (absent == 0) return;
    if constexpr (std::is_same_v<typename resident_list::key, string_key>) refuse_long_strings();
    entries_.reserve(absent);
    slots_.reserve(absent);
    exec::for_each(space_, keys.size, detail::list_flagged{flags_.data(), offsets_.data(), entries_.data()});
    make_room(absent);
    exec::for_each(space_, absent, detail::claim_slots<ref_type, batch>{ref(), keys, entries_.data(), slots_.data()});
    std::size_t added = 0;
    new_ids with;
    try {
      exec::for_each(space_, absent,
                     detail::flag_first<ref_type>{ref(), entries_.data(), slots_.data(), flags_.data()});
      added = number(absent);
      store_.prepare(bulk_, marks(), keys, entries_.data(), flags_.data(), absent);
      with = take_ids(added, source);
    } catch (...) {
      exec::for_each(space_, absent, detail::unclaim_slots<ref_type>{ref(), slots_.data()});
      throw;
    }
    exec::for_each(space_, absent,
                   detail::write_new_keys<ref_type, batch, keys_view>{ref(), keys, store_.view(), marks(),
                                                                      entries_.data(), slots_.data(), flags_.data(),
                                                                      offsets_.data(), with.ids, ids_end_});
    exec::for_each(space_, absent, detail::read_new_ids<ref_type>{ref(), entries_.data(), slots_.data(), ids});
    store_.committed();
    size_ += added;
    occupied_ += added;
    ids_end_ = with.end;
  }

  void refuse_long_strings() const {
    std::uint64_t const i = exec::read(space_, status_.data()).invalid;
    if (i != detail::id_status::none)
      throw error(error_code::bad_argument,
                  "insert: string " + std::to_string(i) + " of the batch has 2^32 bytes or more; offsets must ascend");
  }

  /// The ids of new keys: an array, or nullptr for those from ids_end() on; and ids_end() with them.
  struct new_ids {
    vertex_id const* ids = nullptr;
    vertex_id end = 0;
  };
  /// Gets n ids, and makes room for them. The last step, which marks the ids, cannot run out of memory.
  [[nodiscard]] new_ids take_ids(std::size_t n, id_source const& source) {
    if (!source) {
      if (n > no_vertex - ids_end_)
        throw error(error_code::bad_argument, "insert: " + std::to_string(n) + " new keys need ids up to " +
                                                  std::to_string(std::uint64_t{ids_end_} + n - 1) +
                                                  ", but ids are below 2^32 - 1; give an id source that reuses ids");
      vertex_id const end = ids_end_ + static_cast<vertex_id>(n);
      reserve_ids(end);
      return {nullptr, end};
    }
    ids_.reserve(n);
    reserve_ids(std::min<std::size_t>(size_ + n, no_vertex));
    std::vector<vertex_id> const ids = source(n);
    if (ids.size() != n)
      throw error(error_code::bad_argument, "insert: the id source has returned " + std::to_string(ids.size()) +
                                                " ids for " + std::to_string(n) + " new keys");
    vertex_id largest = 0;
    for (vertex_id const id : ids) largest = std::max(largest, id);
    if (largest != no_vertex) reserve_ids(std::size_t{largest} + 1);
    exec::copy_in<vertex_id>(space_, ids_.data(), ids);
    mark(ids);
    return {ids_.data(), std::max(ids_end_, largest + 1)};
  }
  void mark(std::vector<vertex_id> const& ids) {
    std::size_t const n = ids.size();
    space_.fill(status_.data(), 0xff, status_.bytes());
    exec::for_each(space_, n, detail::check_new_ids{ids_.data(), marks(), status_.data()});
    exec::for_each(space_, n, detail::mark_new_ids{ids_.data(), marks(), status_.data()});
    detail::id_status const s = exec::read(space_, status_.data());
    if (s.used != s.none)
      throw error(error_code::bad_argument, "insert: the id source has returned id " + std::to_string(ids[s.used]) +
                                                ", which has a key in the map, or is no_vertex");
    if (s.repeated == s.none) return;
    exec::for_each(space_, n, detail::unmark_new_ids{ids_.data(), marks()});
    throw error(error_code::bad_argument,
                "insert: the id source has returned id " + std::to_string(ids[s.repeated]) + " more than once");
  }
  void reserve_ids(std::size_t ids) {
    std::size_t const kept = marks_.size();
    detail::grow(space_, marks_, kept, (ids + 31) / 32);
    if (marks_.size() > kept) space_.fill(marks_.data() + kept, 0, (marks_.size() - kept) * sizeof(std::uint32_t));
    store_.reserve(ids_end_, ids);
  }

  [[nodiscard]] resident_erased_keys<Space> erase(batch const& keys) {
    check_size(keys.size);
    typename Space::guard const current(space_);
    if (keys.size == 0) return {ids_type(space_), 0};
    std::size_t const n = keys.size;
    ids_.reserve(n);
    slots_.reserve(n);
    flags_.reserve(n);
    offsets_.reserve(n + 1);
    look_up(keys, ids_.data(), slots_.data(), flags_.data(), nullptr);
    std::size_t const missing = number(n);
    if (missing == n) return {ids_type(space_), n};
    exec::for_each(space_, n, detail::claim_erased<ref_type>{ref(), ids_.data(), slots_.data()});
    ids_type freed(space_);
    try {
      exec::for_each(space_, n, detail::flag_first_erased<ref_type>{ref(), ids_.data(), slots_.data(), flags_.data()});
      freed = ids_type(space_, number(n));
    } catch (...) {
      exec::for_each(space_, n, detail::unclaim_erased<ref_type>{ref(), ids_.data(), slots_.data()});
      throw;
    }
    exec::for_each(space_, n,
                   detail::erase_keys<ref_type>{ref(), marks(), ids_.data(), slots_.data(), flags_.data(),
                                                offsets_.data(), freed.data()});
    size_ -= freed.size();
    return {std::move(freed), missing};
  }

  /// Makes room in the table for n keys. A table that has many erased slots is filled anew in place; otherwise a larger
  /// one replaces it. Either leaves room for a number of keys proportional to the table, which pays for the next time.
  void make_room(std::size_t n) {
    if (2 * (occupied_ + n) <= table_.size()) return;
    std::size_t const keys = size_ + n;
    if (keys > table_.size() / 8 * 3) {
      exec::buffer<std::uint64_t, Space> next(space_, std::max(slots_for(keys), 2 * table_.size()));
      table_ = std::move(next);
    }
    space_.fill(table_.data(), 0xff, table_.bytes());
    exec::for_each(space_, ids_end_, detail::refill<ref_type>{ref()});
    occupied_ = size_;
  }

  Space space_;
  detail::sip_seed seed_;
  exec::buffer<std::uint64_t, Space> table_;  // slots, see slot_word
  exec::buffer<std::uint32_t, Space> marks_;  // see id_marks
  Store store_;
  typename Space::bulk bulk_;
  exec::buffer<detail::id_status, Space> status_;
  exec::buffer<std::uint32_t, Space> flags_;    // scratch of a batch, as all below
  exec::buffer<std::uint64_t, Space> offsets_;  // of the entries that are flagged
  exec::buffer<std::uint32_t, Space> entries_;  // of keys that are not in the map
  exec::buffer<std::uint64_t, Space> slots_;
  exec::buffer<vertex_id, Space> ids_;
  std::size_t size_ = 0;
  std::size_t occupied_ = 0;  // slots with an id, or erased
  vertex_id ids_end_ = 0;
};

/// Keys are numbers of 64 bits; all values are allowed.
template <class Space>
using id_map = basic_id_map<Space, detail::number_store<Space>>;

/// Keys are strings of fewer than 2^32 bytes, of any value; the empty string is a key.
template <class Space>
using string_id_map = basic_id_map<Space, detail::string_store<Space>>;

}  // namespace wyrm::graph
