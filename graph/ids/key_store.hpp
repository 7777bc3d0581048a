// SPDX-License-Identifier: Apache-2.0
// The keys of an id map by id. Numbers are an array. Strings are an array of places in an arena, to which new strings
// are appended. The bytes of erased strings stay until the arena is full; then the others are copied to an arena that
// is at least half empty, so that a byte is copied O(1) times, amortised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/device_array.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../types.hpp"
#include "id_map_ref.hpp"
#include "keys.hpp"

namespace wyrm::graph {

/// Strings in memory of a space, which they own.
template <class Space>
struct resident_string_list {
  exec::device_array<std::uint64_t, Space> offsets;  // one more than strings
  exec::device_array<char, Space> bytes;
  [[nodiscard]] resident_strings list() const {
    return resident_strings(offsets.data(), bytes.data(), offsets.size() - 1);
  }
  [[nodiscard]] std::vector<std::string> to_host() const {
    auto const ends = offsets.to_host();
    auto const all = bytes.to_host();
    std::vector<std::string> strings;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      auto const at = [&](std::size_t k) { return all.begin() + static_cast<std::ptrdiff_t>(ends[k]); };
      strings.emplace_back(at(i), at(i + 1));
    }
    return strings;
  }
};

namespace detail {

/// Makes an array larger by at least a half, and keeps its first `kept` elements. Throws error(out_of_memory), and
/// changes nothing.
template <class T, class Space>
void grow(Space const& space, exec::buffer<T, Space>& array, std::size_t kept, std::size_t n) {
  if (n <= array.size()) return;
  exec::buffer<T, Space> next(space, std::max(n, array.size() + array.size() / 2));
  if (kept > 0) space.copy(next.data(), array.data(), kept * sizeof(T));
  array = std::move(next);
}

struct number_keys {
  using key = std::uint64_t;
  std::uint64_t* keys;
  [[nodiscard]] WYRM_HD key at(vertex_id id) const { return keys[id]; }
  /// For check(): whether at() may be called.
  [[nodiscard]] WYRM_HD static bool is_sound(vertex_id) { return true; }
  /// Writes the k-th new key of a batch.
  WYRM_HD void write(vertex_id id, std::size_t, key k) const { keys[id] = k; }
};

struct gather_numbers {
  number_keys keys;
  vertex_id const* ids;
  std::uint64_t* to;
  WYRM_HD void operator()(std::size_t i) const { to[i] = keys.at(ids[i]); }
};

/// Both stores have the same interface; they have no common base class:
//   view        the keys by id, for kernels, which also write new keys with it after prepare()
//   reserve     room for the ids below `ids`, of which the first `kept` may have keys
//   prepare     room for the new keys of a batch: those of entries[k] for which flags[k] is 1
//   committed   the keys of the last prepare() are written
//   gather      the keys of ids that have one
// All that throw error(out_of_memory) change nothing then that can be seen.
template <class Space>
class number_store {
 public:
  using keys = number_keys;
  using resident = resident_keys;
  using host_list = std::span<std::uint64_t const>;
  using resident_list = exec::device_array<std::uint64_t, Space>;

  /// A copy of a list of the host in memory of the space.
  class upload {
   public:
    upload(Space const& space, host_list const& list) : keys_(space, list.size()), size_(list.size()) {
      if (size_ > 0) exec::copy_in(space, keys_.data(), list);
    }
    [[nodiscard]] resident list() const { return resident(keys_.data(), size_); }

   private:
    exec::buffer<std::uint64_t, Space> keys_;
    std::size_t size_;
  };

  explicit number_store(Space const& space) : space_(space), keys_(space) {}
  [[nodiscard]] keys view() const { return keys{keys_.data()}; }
  void reserve(std::size_t kept, std::size_t ids) { grow(space_, keys_, kept, ids); }
  template <class Bulk>
  void prepare(Bulk&, id_marks, key_batch<resident> const&, std::uint32_t const*, std::uint32_t const*, std::size_t) {}
  void committed() {}
  [[nodiscard]] resident_list gather(resident_vertices ids) const {
    resident_list list(space_, ids.size);
    exec::for_each(space_, ids.size, gather_numbers{view(), ids.data, list.data()});
    return list;
  }
  void clear() {}
  [[nodiscard]] std::size_t bytes() const { return keys_.bytes(); }

 private:
  Space space_;
  exec::buffer<std::uint64_t, Space> keys_;
};

/// The place of a string in the arena.
struct string_place {
  std::uint64_t offset;
  std::uint64_t size;
};

struct string_keys {
  using key = string_key;
  string_place* places;
  char* arena;
  std::uint64_t end;                    // of the strings in the arena
  std::uint64_t const* offsets_of_new;  // of the new keys, from `end` on

  [[nodiscard]] WYRM_HD key at(vertex_id id) const {
    string_place const p = places[id];
    return {p.size == 0 ? nullptr : arena + p.offset, p.size};
  }
  [[nodiscard]] WYRM_HD bool is_sound(vertex_id id) const {
    return places[id].size <= end && places[id].offset <= end - places[id].size;
  }
  WYRM_HD void write(vertex_id id, std::size_t k, key const& name) const {
    std::uint64_t const to = end + offsets_of_new[k];
    for (std::uint64_t i = 0; i < name.size; ++i) arena[to + i] = name.data[i];
    places[id] = {to, name.size};
  }
};

/// The sizes of the new keys; 0 for the other entries.
struct size_new_strings {
  key_batch<resident_strings> batch;
  std::uint32_t const* entries;
  std::uint32_t const* flags;
  std::uint32_t* sizes;
  WYRM_HD void operator()(std::size_t k) const {
    sizes[k] = flags[k] != 0 ? static_cast<std::uint32_t>(batch[entries[k]].size) : 0;
  }
};

/// The size of the string of each id; 0 without one.
struct size_strings {
  string_keys keys;
  id_marks marks;
  std::uint32_t* sizes;
  WYRM_HD void operator()(std::size_t id) const {
    auto const v = static_cast<vertex_id>(id);
    sizes[id] = marks.has(v) ? static_cast<std::uint32_t>(keys.places[id].size) : 0;
  }
};

/// Copies the string of each id to another arena.
struct move_strings {
  string_keys keys;
  id_marks marks;
  std::uint64_t const* offsets;
  char* to;
  WYRM_HD void operator()(std::size_t id) const {
    auto const v = static_cast<vertex_id>(id);
    if (!marks.has(v)) return;
    string_key const name = keys.at(v);
    for (std::uint64_t i = 0; i < name.size; ++i) to[offsets[id] + i] = name.data[i];
    keys.places[id].offset = offsets[id];
  }
};

struct size_listed_strings {
  string_keys keys;
  vertex_id const* ids;
  std::uint32_t* sizes;
  WYRM_HD void operator()(std::size_t i) const { sizes[i] = static_cast<std::uint32_t>(keys.places[ids[i]].size); }
};

struct gather_strings {
  string_keys keys;
  vertex_id const* ids;
  std::uint64_t const* offsets;
  char* to;
  WYRM_HD void operator()(std::size_t i) const {
    string_key const name = keys.at(ids[i]);
    for (std::uint64_t k = 0; k < name.size; ++k) to[offsets[i] + k] = name.data[k];
  }
};

template <class Space>
class string_store {
 public:
  using keys = string_keys;
  using resident = resident_strings;
  using host_list = packed_strings;
  using resident_list = resident_string_list<Space>;

  class upload {
   public:
    upload(Space const& space, host_list const& list)
        : offsets_(space, list.offsets().size()), bytes_(space, list.bytes().size()), size_(list.size()) {
      exec::copy_in(space, offsets_.data(), list.offsets());
      if (!list.bytes().empty()) exec::copy_in(space, bytes_.data(), list.bytes());
    }
    [[nodiscard]] resident list() const { return resident(offsets_.data(), bytes_.data(), size_); }

   private:
    exec::buffer<std::uint64_t, Space> offsets_;
    exec::buffer<char, Space> bytes_;
    std::size_t size_;
  };

  explicit string_store(Space const& space)
      : space_(space), places_(space), arena_(space), sizes_(space), offsets_(space) {}
  [[nodiscard]] keys view() const { return keys{places_.data(), arena_.data(), end_, offsets_.data()}; }
  void reserve(std::size_t kept, std::size_t ids) { grow(space_, places_, kept, ids); }

  template <class Bulk>
  void prepare(Bulk& bulk, id_marks marks, key_batch<resident> const& batch, std::uint32_t const* entries,
               std::uint32_t const* flags, std::size_t n) {
    added_ = add_up(bulk, n, size_new_strings{batch, entries, flags, sizes(n)});
    if (end_ + added_ <= arena_.size()) return;
    replace_arena(bulk, marks);
    added_ = add_up(bulk, n, size_new_strings{batch, entries, flags, sizes(n)});
  }
  void committed() { end_ += added_; }

  [[nodiscard]] resident_list gather(resident_vertices ids) const {
    typename Space::bulk bulk(space_);
    exec::buffer<std::uint32_t, Space> lengths(space_, ids.size);
    exec::device_array<std::uint64_t, Space> offsets(space_, ids.size + 1);
    exec::for_each(space_, ids.size, size_listed_strings{view(), ids.data, lengths.data()});
    bulk.inclusive_sum(lengths.data(), offsets.data(), ids.size);
    exec::device_array<char, Space> bytes(space_, exec::read(space_, offsets.data() + ids.size));
    exec::for_each(space_, ids.size, gather_strings{view(), ids.data, offsets.data(), bytes.data()});
    return {std::move(offsets), std::move(bytes)};
  }
  void clear() { end_ = 0; }
  [[nodiscard]] std::size_t bytes() const {
    return places_.bytes() + arena_.bytes() + sizes_.bytes() + offsets_.bytes();
  }

 private:
  [[nodiscard]] std::uint32_t* sizes(std::size_t n) {
    sizes_.reserve(n);
    offsets_.reserve(n + 1);
    return sizes_.data();
  }
  /// Runs a kernel that writes n sizes, and computes their offsets. Returns the sum.
  template <class Bulk, class Kernel>
  [[nodiscard]] std::uint64_t add_up(Bulk& bulk, std::size_t n, Kernel const& kernel) {
    exec::for_each(space_, n, kernel);
    bulk.inclusive_sum(sizes_.data(), offsets_.data(), n);
    return exec::read(space_, offsets_.data() + n);
  }
  /// Copies the strings of all ids to an arena that has room for as many bytes again, and for the added ones twice.
  template <class Bulk>
  void replace_arena(Bulk& bulk, id_marks marks) {
    std::uint64_t const kept =
        marks.end == 0 ? 0 : add_up(bulk, marks.end, size_strings{view(), marks, sizes(marks.end)});
    exec::buffer<char, Space> next(space_, 2 * (kept + added_));
    exec::for_each(space_, marks.end, move_strings{view(), marks, offsets_.data(), next.data()});
    arena_ = std::move(next);
    end_ = kept;
  }

  Space space_;
  exec::buffer<string_place, Space> places_;
  exec::buffer<char, Space> arena_;
  exec::buffer<std::uint32_t, Space> sizes_;    // scratch
  exec::buffer<std::uint64_t, Space> offsets_;  // scratch
  std::uint64_t end_ = 0;                       // of the strings in the arena
  std::uint64_t added_ = 0;                     // bytes of the last prepare()
};

}  // namespace detail

}  // namespace wyrm::graph
