// SPDX-License-Identifier: Apache-2.0
// The owner of an allocator's memory in spans (spans.hpp), with the functions that do not depend on the search of the
// allocator: construction, growth, reset, statistics and checks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../extent/extent.hpp"
#include "../fragmentation.hpp"
#include "../ledger.hpp"
#include "../pool_table.hpp"
#include "spans.hpp"
#include "walk.hpp"

namespace wyrm::alloc {

/// The pointers that kernels need. Word: a word of the flags or of the bitmap.
template <class Word>
struct span_parts {
  extent_ref memory;
  ledger_ref ledger;
  detail::span_state* states;  // one per pool
  std::uint32_t* table;        // see span_shape
  std::uint32_t* owners;       // one per chunk, see span_owner
  Word* used;                  // which pages are used
  Word* marks;                 // see Layout::marks
  std::uint32_t* calls;        // see next_walk
  std::uint64_t seed;
};

namespace detail {
/// Returns all completely free spans to the extent.
template <class Ref>
struct release_all_free_spans {
  Ref ref;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    while (ref.reclaim(t)) continue;
  }
};
}  // namespace detail

/// Base class of the owners. Not thread-safe; its functions run on the host while no kernel uses the pool. Layout
/// describes the pools:
///  - pools: their number;
///  - pages(c), run(c), page_bytes(c): for pool c the pages per span, the chunks per span, and the bytes per page;
///  - word, bits: the type of the words of flags or bitmap, and the pages per word;
///  - words(chunks): the words for memory of this number of chunks; word p of pool c is at place(c)(p);
///  - marks(chunks): the words, initially clear, of a second bitmap that the allocator uses.
template <class Space, class Layout>
class span_memory {
 public:
  using space_type = Space;

  span_memory(Space const& space, options const& o, char const* name)
      : space_(space),
        name_(name),
        memory_(space, o),
        ledger_(space, memory_.base(), memory_.capacity(), o),
        states_(space, Layout::pools),
        table_(space),
        owners_(space),
        used_(space),
        marks_(space),
        calls_(space, call_counters) {
    cover(memory_.chunks());
    start(0);
    ledger_.cover(memory_.bytes());
    ledger_.reset();
    restart();
  }

  /// O(memory that was used).
  void reset() {
    space_.fill(owners_.data(), 0xff, memory_.touched() * sizeof(std::uint32_t));
    std::uint32_t most = 0;
    for (detail::span_state const& s : states()) most = std::max(most, s.count);
    clear(0, most);
    memory_.reset();
    ledger_.reset();
    restart();
  }

  void grow(std::size_t bytes) {
    std::uint32_t const before = memory_.chunks();
    std::uint32_t const after = memory_.chunks_after(bytes);
    cover(after);  // everything that can fail happens before the pool changes
    ledger_.cover(std::size_t{after} * chunk_bytes);
    memory_.grow(bytes);
    start(before);
  }

  template <class View>
  [[nodiscard]] statistics stats(View const& view) const {
    statistics s;
    ledger_.report(s);
    s.committed = memory_.bytes();
    s.reserved = memory_.capacity();
    s.peak = memory_.peak();
    s.overhead = memory_.overhead() + ledger_.bytes() + states_.bytes() + table_.bytes() + owners_.bytes() +
                 used_.bytes() + marks_.bytes() + calls_.bytes();
    s.granted = memory_.allocated();
    contents const all = copy();
    for (unsigned c = 0; c < Layout::pools; ++c) {
      detail::span_state const& state = all.states[c];
      std::uint64_t const here = std::uint64_t{state.count - state.holes} * Layout::pages(c);
      class_statistics const k{Layout::page_bytes(c), here, all.free(c)};
      s.granted += (k.pages - k.free) * k.page_bytes;
      s.classes.push_back(k);
    }
    detail::add_fragmentation(space_, ledger_, view, memory_.base(), s);
    return s;
  }

 protected:
  using word = typename Layout::word;

  [[nodiscard]] span_parts<word> parts() const {
    return {memory_.ref(), ledger_.ref(),  states_.data(),
            table_.data(), owners_.data(), used_.data(),
            marks_.data(), calls_.data(),  1};
  }
  [[nodiscard]] Space const& space() const { return space_; }

  /// A copy of the state on the device.
  struct contents {
    std::vector<detail::span_state> states;
    std::vector<std::uint32_t> table;
    std::vector<std::uint32_t> owners;
    std::vector<word> used;
    std::vector<word> marks;

    /// The first chunk of a span; no_span for a hole.
    [[nodiscard]] std::uint32_t chunk(unsigned c, std::uint32_t span) const {
      return table[span_shape::place(span, c, Layout::pools)];
    }
    /// The free pages of pool c. Pages beyond its last span and pages of holes are used.
    [[nodiscard]] std::size_t free(unsigned c) const {
      auto const place = Layout::place(c);
      std::uint64_t const pages = std::uint64_t{states[c].count} * Layout::pages(c);
      std::size_t n = 0;
      for (std::uint64_t p = 0; p * Layout::bits < pages; ++p)
        n += Layout::bits == 1 ? used[place(p)] == 0
                               : static_cast<std::size_t>(std::popcount(static_cast<word>(~used[place(p)])));
      return n;
    }
    [[nodiscard]] bool is_used(unsigned c, std::uint64_t page) const {
      return (used[Layout::place(c)(page / Layout::bits)] >> page % Layout::bits & 1) != 0;
    }
  };
  [[nodiscard]] contents copy() const {
    contents all;
    all.states = states();
    std::uint32_t most = 0;
    for (detail::span_state const& s : all.states) most = std::max(most, s.count);
    all.table = exec::copy_out(space_, table_.data(), span_shape::entries(most, Layout::pools));
    all.owners = exec::copy_out(space_, owners_.data(), memory_.chunks());
    all.used = exec::copy_out(space_, used_.data(), Layout::words(most));
    all.marks = exec::copy_out(space_, marks_.data(), Layout::marks(most));
    return all;
  }

  /// Checks that each chunk has one owner that refers to it, that holes are counted and have no free page, and that no
  /// lock is held. O(pool).
  void check_spans(contents const& all) const {
    std::vector<bool> carved(memory_.chunks());
    std::size_t owned = 0;
    for (unsigned c = 0; c < Layout::pools; ++c) {
      std::string const what = "pages of " + std::to_string(Layout::page_bytes(c)) + " bytes: ";
      detail::span_state const& state = all.states[c];
      ensure(state.lock % 2 == 0, name_, what + "the lock is held although no kernel runs");
      std::uint32_t holes = 0;
      for (std::uint32_t span = 0; span < state.count; ++span) {
        bool const is_hole = all.chunk(c, span) == detail::no_span;
        holes += is_hole;
        if (!is_hole) owned += take_span(all, c, span, carved, what);
        for (std::uint64_t i = 0; is_hole && i < Layout::pages(c); ++i)
          if (!all.is_used(c, span * std::uint64_t{Layout::pages(c)} + i))
            ensure(false, name_, what + "a page of a hole is free");
      }
      ensure(holes == state.holes, name_,
             what + std::to_string(holes) + " holes, " + std::to_string(state.holes) + " counted");
    }
    std::size_t const known =
        all.owners.size() - static_cast<std::size_t>(std::count(all.owners.begin(), all.owners.end(), detail::no_span));
    ensure(known == owned, name_, "chunks refer to owners that do not have them");
    memory_.check(carved);
    ledger_.check_guards(name_);
  }

  /// In checked mode: checks that the used blocks are the live ones. blocks: offsets of used blocks in the pool.
  void check_live(contents const& all, std::vector<std::size_t> blocks) const {
    if (!ledger_.checked()) return;
    std::vector<std::size_t> live;
    std::size_t runs = 0;
    for (std::size_t const offset : ledger_.live_offsets()) {
      if (all.owners[offset / chunk_bytes] == detail::no_span)
        ++runs;  // memory_.check() has checked its chunks
      else
        live.push_back(offset);
    }
    ensure(runs == memory_.runs(), name_, "a run of chunks is lost");
    std::sort(blocks.begin(), blocks.end());
    auto const [one, other] = std::mismatch(live.begin(), live.end(), blocks.begin(), blocks.end());
    bool const is_lost = other != blocks.end() && (one == live.end() || *one > *other);
    if (is_lost) ensure(false, name_, "the block at offset " + std::to_string(*other) + " is neither live nor free");
    if (one != live.end()) ensure(false, name_, "the live block at offset " + std::to_string(*one) + " is also free");
  }

 private:
  [[nodiscard]] std::vector<detail::span_state> states() const {
    return exec::copy_out(space_, states_.data(), Layout::pools);
  }
  // Marks the chunks of a span as carved, and checks that no other span has them. Returns 1, for one span.
  [[nodiscard]] std::size_t take_span(contents const& all, unsigned c, std::uint32_t span, std::vector<bool>& carved,
                                      std::string const& what) const {
    std::uint32_t const chunk = all.chunk(c, span);
    ensure(chunk + std::size_t{Layout::run(c)} <= carved.size(), name_, what + "a span goes beyond the pool");
    ensure(all.owners[chunk] == detail::span_owner{span, c}.word(), name_,
           what + "chunk " + std::to_string(chunk) + " does not refer to its span");
    for (std::uint32_t k = 0; k < Layout::run(c); ++k) {
      ensure(!carved[chunk + k], name_, what + "chunk " + std::to_string(chunk + k) + " belongs to two spans");
      carved[chunk + k] = true;
    }
    return 1;
  }

  void cover(std::uint32_t chunks) {
    table_.cover(span_shape::entries(chunks, Layout::pools));
    owners_.cover(chunks);
    used_.cover(Layout::words(chunks));
    marks_.cover(Layout::marks(chunks));
  }
  // Initialises the entries of chunks from `first` on.
  void start(std::uint32_t first) {
    std::uint32_t const chunks = memory_.chunks();
    static_assert(detail::no_span == 0xffffffff);
    space_.fill(owners_.data() + first, 0xff, (chunks - first) * sizeof(std::uint32_t));
    clear(first, chunks);
  }
  // Initialises the tables for spans [from, to), which do not exist yet. A group that also contains spans below `from`
  // is initialised already.
  void clear(std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    fill(table_, detail::never_written, from, to,
         [](std::uint32_t n) { return span_shape::entries(n, Layout::pools); });
    fill(used_, detail::all_used, from, to, [](std::uint32_t n) { return Layout::words(n); });
    fill(marks_, 0, from, to, [](std::uint32_t n) { return Layout::marks(n); });
  }
  template <class Table, class Size>
  void fill(Table const& table, unsigned char byte, std::uint32_t from, std::uint32_t to, Size const& size) {
    std::size_t const begin = from == 0 ? 0 : size(from);
    space_.fill(table.data() + begin, byte, (size(to) - begin) * sizeof(*table.data()));
  }
  void restart() {
    space_.fill(states_.data(), 0, states_.bytes());
    space_.fill(calls_.data(), 0, calls_.bytes());
  }

  Space space_;
  char const* name_;
  extent<Space> memory_;
  ledger<Space> ledger_;
  exec::buffer<detail::span_state, Space> states_;
  pool_table<std::uint32_t, Space> table_;
  pool_table<std::uint32_t, Space> owners_;
  pool_table<word, Space> used_;
  pool_table<word, Space> marks_;
  exec::buffer<std::uint32_t, Space> calls_;
};

}  // namespace wyrm::alloc
