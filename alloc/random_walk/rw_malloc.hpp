// SPDX-License-Identifier: Apache-2.0
// The owner of RW_malloc, whose operations are in rw_malloc_ref.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/launch.hpp"
#include "../allocator.hpp"
#include "../extent/extent.hpp"
#include "../shared_view.hpp"
#include "rw_malloc_ref.hpp"
#include "span_memory.hpp"
#include "spans.hpp"
#include "unit_runs.hpp"

namespace wyrm::alloc {

namespace detail {
/// The Layout of span_memory with one pool for all units. `marks` has the last units of blocks.
struct pool_of_units {
  using word = std::uint64_t;
  static constexpr unsigned bits = 64;
  static constexpr unsigned pools = 1;
  static std::uint32_t pages(unsigned) { return units_per_chunk; }
  static std::uint32_t run(unsigned) { return 1; }
  static std::size_t page_bytes(unsigned) { return alignment; }
  static contiguous_words place(unsigned) { return {}; }
  static std::size_t words(std::uint32_t chunks) { return std::size_t{chunks} * (units_per_chunk / bits); }
  static std::size_t marks(std::uint32_t chunks) { return words(chunks); }
};
}  // namespace detail

/// Owner of RW_malloc. In addition to the pool it has two bitmaps, together 1 / 64 of the pool's size, and tables of 8
/// bytes per chunk.
template <class Space>
class rw_malloc : public span_memory<Space, detail::pool_of_units> {
  using base = span_memory<Space, detail::pool_of_units>;

 public:
  using view_type = rw_malloc_ref;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = "rw-malloc";
  static constexpr traits family{.packs = false};

  rw_malloc(Space const& space, options const& o) : base(space, o, name), shared_(space) { shared_.write(view()); }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const { return view_type(base::parts()); }
  void grow(std::size_t bytes) {
    shared_.rewrite_after([&] { base::grow(bytes); }, [&] { return view(); });
  }
  void compact() { exec::for_each_tile<32>(base::space(), 1, detail::release_all_free_spans<view_type>{view()}); }
  [[nodiscard]] statistics stats() const {
    statistics s = base::stats(view());
    s.overhead += shared_.bytes();
    return s;
  }

  /// See check_spans. It also checks that every block ends at a unit that is marked as a last one, and that no other
  /// unit is marked; in checked mode, that the blocks are exactly the live ones. O(pool).
  void check() const {
    auto const all = base::copy();
    base::check_spans(all);
    auto const is_last = [&](std::size_t unit) { return (all.marks[unit / 64] >> unit % 64 & 1) != 0; };
    std::vector<std::size_t> blocks;  // the offsets of the blocks in the pool
    bool inside = false;
    for (std::size_t unit = 0; unit < std::size_t{all.states[0].count} * detail::units_per_chunk; ++unit) {
      auto const span = static_cast<std::uint32_t>(unit / detail::units_per_chunk);
      std::uint32_t const chunk = all.chunk(0, span);
      bool const is_used = all.is_used(0, unit);
      std::string const what = "unit " + std::to_string(unit);
      if (chunk == detail::no_span) {
        if (is_last(unit) || inside) ensure(false, name, what + " of a hole is in a block");
        continue;
      }
      bool const crosses = inside && unit % detail::units_per_chunk == 0;
      if (crosses && (unit % detail::region_units == 0 || all.chunk(0, span - 1) + 1 != chunk))
        ensure(false, name, what + ": a block crosses chunks that are not neighbours");
      if (!is_used && (inside || is_last(unit))) ensure(false, name, what + " is free in a block");
      if (is_used && !inside) blocks.push_back(chunk * chunk_bytes + unit % detail::units_per_chunk * alignment);
      inside = is_used && !is_last(unit);
    }
    ensure(!inside, name, "the last block does not end");
    base::check_live(all, std::move(blocks));
  }

 private:
  shared_view<view_type, Space> shared_;
};

}  // namespace wyrm::alloc
