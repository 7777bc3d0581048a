// SPDX-License-Identifier: Apache-2.0
// The check of a list-based allocator: goes through all segments from the first to the last byte of the pool, and
// through all bins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "free_lists.hpp"

namespace wyrm::alloc::detail {

/// A free segment as the host has read it.
struct free_segment {
  std::uint64_t at;
  segment_word word;
  segment_links links;
};

/// The segments of a pool, read by the host in pieces; a pool of few segments is read at few places.
template <class Space>
class list_walk {
 public:
  list_walk(Space const& space, char const* name, segments_ref const& segments, list_pool_state const& state)
      : space_(space), name_(name), segments_(segments), root_(state.root) {}

  /// Reads all segments. Throws error(corrupt) unless they are consistent, and have every byte of the pool.
  void read(std::uint32_t lists) {
    for (std::uint64_t i = 0; i < segments_.units();) {
      segment_header const h = i == 0 ? root_.first : load<segment_header>(i - 1);
      segment_word const w(h.word);
      std::string const at = "segment " + std::to_string(i) + ": ";
      ensure(h.tag == segments_ref::tag(i, root_.epoch), name_, at + "there is no header");
      ensure(w.units() >= least_units && w.units() <= segments_.units() - i, name_, at + "the size is not possible");
      ensure(w.list() < lists, name_, at + "there is no such free list");
      if (w.is_free()) {
        free_.push_back({i, w, load<segment_links>(i)});
      } else {
        used_.push_back(i * alignment);
        granted_ += segments_ref::bytes_of(i, w.units());
      }
      i += w.units();
    }
  }
  /// Throws error(corrupt) unless each free segment is in the right bin, once.
  void check_lists(std::vector<free_list> const& lists) const {
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < lists.size(); ++k) {
      ensure(lists[k].lock == 0, name_, "a lock is held although no kernel runs");
      for (unsigned bin = 0; bin < bins; ++bin) {
        std::string const where = "list " + std::to_string(k) + ", bin " + std::to_string(bin) + ": ";
        std::uint64_t count = 0;
        std::uint64_t previous = 0;
        for (std::uint64_t next = lists[k].first[bin]; next != 0; ++count) {
          free_segment const* const s = find(next - 1);
          ensure(s != nullptr, name_, where + "segment " + std::to_string(next - 1) + " is not free");
          ensure(s->links.previous == previous, name_, where + "the links do not agree");
          ensure(s->word.list() == k && bin_of(s->word.units()) == bin, name_, where + "a segment is in a wrong bin");
          previous = next;
          next = s->links.next;
        }
        ensure(count == lists[k].count[bin], name_, where + "the number of segments is wrong");
        found += count;
      }
    }
    ensure(found == free_.size(), name_, "a free segment is in no list");
  }
  void check_state(list_pool_state const& state) const {
    ensure(state.granted == granted_, name_, "the bytes in use are not those that are counted");
    ensure(state.peak >= granted_, name_, "the peak is below the bytes in use");
    for (free_segment const& s : free_)
      ensure(s.word.units() < state.unavailable, name_, "a free segment is as large as a size that counts as refused");
  }

  /// Offsets of used blocks in the pool, ascending.
  [[nodiscard]] std::vector<std::size_t> const& used() const { return used_; }

 private:
  static constexpr std::size_t piece = std::size_t{64} << 10;

  [[nodiscard]] free_segment const* find(std::uint64_t at) const {
    auto const found = std::lower_bound(free_.begin(), free_.end(), at,
                                        [](free_segment const& s, std::uint64_t i) { return s.at < i; });
    return found != free_.end() && found->at == at ? &*found : nullptr;
  }
  // The 16 bytes of a unit of the pool.
  template <class T>
  [[nodiscard]] T load(std::uint64_t unit) {
    static_assert(sizeof(T) == alignment);
    std::size_t const offset = unit * alignment;
    if (offset < begin_ || offset + sizeof(T) > begin_ + bytes_.size()) {
      begin_ = offset;
      bytes_ = exec::copy_out(space_, segments_.base() + offset, std::min(piece, segments_.bytes() - offset));
    }
    T value;
    std::memcpy(&value, bytes_.data() + (offset - begin_), sizeof(T));
    return value;
  }

  Space const& space_;
  char const* name_;
  segments_ref segments_;
  segment_root root_;
  std::vector<std::byte> bytes_;  // a piece of the pool, from begin_ on
  std::size_t begin_ = 0;
  std::vector<free_segment> free_;
  std::vector<std::size_t> used_;
  std::uint64_t granted_ = 0;
};

}  // namespace wyrm::alloc::detail
