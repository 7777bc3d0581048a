// SPDX-License-Identifier: Apache-2.0
// What allocators own that take their memory in spans (spans.hpp), and what can be said of it without knowing how they
// search: how it grows, is reset, counted and checked.
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
#include "../ledger.hpp"
#include "../pool_table.hpp"
#include "spans.hpp"
#include "walk.hpp"

namespace wyrm::alloc {

/// What kernels need of it. Word: what says which pages are used.
template <class Word>
struct span_parts {
  extent_ref memory;
  ledger_ref ledger;
  detail::span_state* states;  // a pool
  std::uint32_t* table;        // see span_shape
  std::uint32_t* owners;       // a chunk
  Word* used;
  Word* marks;
  std::uint32_t* calls;
  std::uint64_t seed;
};

namespace detail {
/// Whatever is wholly free goes to the extent.
template <class Ref>
struct release_all_free_spans {
  Ref ref;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    while (ref.reclaim(t)) continue;
  }
};
}  // namespace detail

/// Layout says what the pools are: `pools` of them, each of spans of pages(c) pages, run(c) chunks a span,
/// page_bytes(c) a page; `words(chunks)` words of type `word` and `bits` pages each for a pool of memory of so many
/// chunks, where word p of pool c lies at place(c)(p); `marks(chunks)` words, clear to begin with, for what else it
/// notes.
template <class Space, class Layout>
class span_memory {
 public:
  using space_type = Space;

  span_memory(Space const& space, options const& o, char const* name)
      : space_(space),
        name_(name),
        memory_(space, o),
        ledger_(space, memory_.base(), memory_.capacity(), o.checked),
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

  /// O(what was used).
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
    cover(after);  // all that can fail comes before anything changes
    ledger_.cover(std::size_t{after} * chunk_bytes);
    memory_.grow(bytes);
    start(before);
  }

  [[nodiscard]] statistics stats() const {
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

  /// A copy of what is on the device.
  struct contents {
    std::vector<detail::span_state> states;
    std::vector<std::uint32_t> table;
    std::vector<std::uint32_t> owners;
    std::vector<word> used;
    std::vector<word> marks;

    /// no_chunk_here for a hole.
    [[nodiscard]] std::uint32_t chunk(unsigned c, std::uint32_t span) const {
      return table[span_shape::place(span, c, Layout::pools)];
    }
    /// How many of a pool; those beyond its last are used, and so are those of holes.
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

  /// Each chunk has one owner, which knows it; holes are counted and have no free page; nobody is at work. O(pool).
  void check_spans(contents const& all) const {
    std::vector<bool> carved(memory_.chunks());
    std::size_t owned = 0;
    for (unsigned c = 0; c < Layout::pools; ++c) {
      std::string const what = "pages of " + std::to_string(Layout::page_bytes(c)) + " bytes: ";
      detail::span_state const& state = all.states[c];
      ensure(state.lock % 2 == 0, name_, what + "the lock is held although nobody is at work");
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
    ensure(known == owned, name_, "chunks have owners that do not have them");
    memory_.check(carved);
  }

  /// In checked mode: the blocks that are used, by where they begin in the pool, are those that are live.
  void check_live(contents const& all, std::vector<std::size_t> blocks) const {
    if (!ledger_.checked()) return;
    std::vector<std::size_t> live;
    std::size_t runs = 0;
    for (std::size_t const offset : ledger_.live_offsets()) {
      if (all.owners[offset / chunk_bytes] == detail::no_span)
        ++runs;  // whose chunks the extent has checked
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
  // Marks the chunks of a span, which nobody else may have.
  [[nodiscard]] std::size_t take_span(contents const& all, unsigned c, std::uint32_t span, std::vector<bool>& carved,
                                      std::string const& what) const {
    std::uint32_t const chunk = all.chunk(c, span);
    ensure(chunk + std::size_t{Layout::run(c)} <= carved.size(), name_, what + "a span goes beyond the pool");
    ensure(all.owners[chunk] == detail::span_owner{span, c}.word(), name_,
           what + "chunk " + std::to_string(chunk) + " does not know its span");
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
  // Chunks that are new, from here on.
  void start(std::uint32_t first) {
    std::uint32_t const chunks = memory_.chunks();
    static_assert(detail::no_span == 0xffffffff);
    space_.fill(owners_.data() + first, 0xff, (chunks - first) * sizeof(std::uint32_t));
    clear(first, chunks);
  }
  // There are no spans from one to another. What they share with those before is there already, and clear.
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
