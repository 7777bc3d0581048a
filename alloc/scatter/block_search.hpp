// SPDX-License-Identifier: Apache-2.0
// How the lanes of a warp find pages in one super block of ScatterAlloc; scatter_ref.hpp has the whole. A search begins
// at a page that a hash names (Eq. 3) and tries page after page; what differs from the paper, scatter_ref.hpp says.
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/bits.hpp"
#include "../../exec/tile.hpp"
#include "pages_ref.hpp"

namespace wyrm::alloc {

/// How a search goes on where it has found nothing: in regions with room that it draws, in regions with an empty page
/// that it draws, or through all pages in turn.
enum class further { regions_with_room, regions_with_empty_pages, everywhere };

/// For kernels. Thread-safe.
class block_search {
 public:
  /// With the rank of a lane: a key that no other lane has.
  static constexpr std::uint32_t no_page = 0x80000000;

  /// all: the pages of the pool.
  WYRM_HD block_search(pages_ref const& pages, std::uint32_t all) : pages_(pages), all_pages_(all) {}

  /// The pages of a super block; the last one may have fewer than the others.
  [[nodiscard]] WYRM_HD std::uint32_t pages_in(std::uint32_t block) const {
    return least(shape().block_pages(), all_pages_ - block * shape().block_pages());
  }
  [[nodiscard]] WYRM_HD std::uint32_t regions_in(std::uint32_t block) const {
    return ((pages_in(block) - 1) >> shape().region_log2) + 1;
  }

  /// The number of the first page in the super block for n lanes that request the same (Eq. 3).
  [[nodiscard]] WYRM_HD std::uint32_t first_page(std::uint32_t block, spot_request const& r, std::uint32_t n) const {
    std::uint32_t const bytes = shape().spot_units(r.most) * static_cast<std::uint32_t>(alignment);
    std::uint64_t const here = exec::multiprocessor_number() * shape().multiprocessor_factor >> 16;
    std::uint32_t const hash =
        bytes * shape().size_factor + static_cast<std::uint32_t>(here) + exec::warp_on_multiprocessor() * n / r.most;
    return hash % pages_in(block);
  }

  /// Serves the lanes that ask from this super block, beginning at its page `first`; collective. `same`: the lanes with
  /// the same request, in the numbers of t, which may be a positioned_tile. They look at neighbouring pages together,
  /// reserve spots on as many as they need, and share them.
  template <class Tile>
  WYRM_HD void search(Tile const& t, std::uint32_t block, spot_request const& r, std::uint32_t same, further next,
                      std::uint32_t first, bool& asks, void*& result) const {
    cursor c{first, next == further::everywhere ? pages_in(block) : most_windows};
    bool searches = asks;
    for (;;) {
      std::uint32_t const all = t.ballot(searches);
      if (all == 0) return;
      std::uint32_t const group = all & same;
      std::uint32_t const n = count(group);
      std::uint32_t const rank = exec::rank_in(t, group);
      std::uint32_t const width = least(n, 2 * ((n + r.most - 1) / r.most) + 2);
      candidate const here = searches && rank < width ? look(block, c.page + rank, width, r) : candidate{};
      // Whether the page of the first lane has enough for its group, in all groups.
      bool const is_enough = t.shfl(here.spots, first_of(t, group)) >= n;
      bool const is_simple = t.all(is_enough || !searches);
      std::uint32_t wanted = rank == 0 && searches ? n : 0;
      bool const is_one_group = !is_simple && t.all(group == all || !searches);
      if (!is_simple) wanted = portion(t, is_one_group, group, rank, n, here.spots);
      page_word before;
      if (wanted > 0) before = pages_.reserve(here.page, here.seen, wanted, r);
      std::uint32_t const reserved = least(wanted, before.spots() - before.count());
      share s{first_of(t, group), 0, 0};
      if (is_simple)
        s.total = t.shfl(reserved, s.source);
      else
        s = divide(t, is_one_group, group, rank, n, reserved);
      bool const owns = searches && rank < s.total;
      std::uint32_t const page = t.shfl(here.page, s.source);
      before = page_word(t.shfl(before.bits(), s.source));
      std::uint32_t const on_page = t.shfl(reserved, s.source);
      std::uint32_t const spot = mark(t, page, before, group, rank, s.first, on_page, owns);
      if (owns) {
        result = pages_.address(page, spot, before.spots());
        asks = searches = false;
      }
      // The others look once more where there was something, else further on.
      std::uint32_t const finders = t.ballot(here.spots > 0);
      bool const goes_on = searches && (finders & group) == 0;
      if (!t.any(goes_on)) continue;
      bool const is_elsewhere = next == further::everywhere
                                    ? go_to_next(t, c, block, group, 4 * width, goes_on)
                                    : go_to_any(t, c, block, r.most, group, 4 * width, next, goes_on);
      searches = searches && (is_elsewhere || !goes_on);
    }
  }

  /// Serves lanes that ask from the page where their group, `same`, was served last, without a look at the page;
  /// collective. `takes`: whether the lane asks, and its group has such a page, of which mostly some spots are left.
  template <class Tile>
  WYRM_HD void take_from(Tile const& t, std::uint32_t page, bool takes, spot_request const& r, std::uint32_t same,
                         bool& asks, void*& result) const {
    std::uint32_t const rank = exec::rank_in(t, same);
    page_word before;
    if (takes && rank == 0) before = pages_.reserve_unseen(page, count(same), r);
    before = page_word(t.shfl(before.bits(), exec::first_lane(same)));
    std::uint32_t const reserved = least(count(same), before.spots() - before.count());
    bool const owns = asks && rank < reserved;
    std::uint32_t const spot = mark(t, page, before, same, rank, 0, reserved, owns);
    if (!owns) return;
    result = pages_.address(page, spot, before.spots());
    asks = false;
  }

  /// A hash.
  WYRM_HD static std::uint32_t scramble(std::uint32_t x) {
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    return x ^ x >> 12;
  }
  /// The number of lanes.
  WYRM_HD static std::uint32_t count(std::uint32_t lanes) {
    return static_cast<std::uint32_t>(cuda::std::popcount(lanes));
  }

 private:
  static constexpr std::uint32_t most_windows = 16;  // that a search at random looks at

  // Where the lanes of a group, which request the same, are in their search through a super block.
  struct cursor {
    std::uint32_t page;  // in the super block
    std::uint32_t left;  // windows to look at, or, where a search goes everywhere, pages
  };
  // A page that suits a request, and the spots that it seems to have for it.
  struct candidate {
    std::uint32_t page = no_page;
    std::uint32_t spots = 0;
    page_word seen = page_word();
  };
  // The spots that a group has reserved, as its lane of rank k sees them: spot k of all is on the page of lane
  // `source`, whose spots begin with number `first`. `total` are reserved.
  struct share {
    unsigned source;
    std::uint32_t first;
    std::uint32_t total;
  };

  // The first page that suits the request, of four of a super block that are `width` apart.
  [[nodiscard]] WYRM_HD candidate look(std::uint32_t block, std::uint32_t first, std::uint32_t width,
                                       spot_request const& r) const {
    std::uint32_t const all = pages_in(block);
    std::uint32_t page[4];
    page_word w[4];
    for (std::uint32_t k = 0; k < 4; ++k) {
      std::uint32_t const in_block = first + k * width;
      page[k] = block * shape().block_pages() + (in_block < all ? in_block : in_block % all);
      w[k] = pages_.word(page[k]);
    }
    for (std::uint32_t k = 0; k < 4; ++k)
      if (r.suits(w[k])) return {page[k], w[k].is_empty() ? r.most : w[k].spots() - w[k].count(), w[k]};
    return {};
  }

  // How many of the n spots that a group needs each of its lanes reserves, whose page has so many; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD static std::uint32_t portion(Tile const t, bool is_one_group, std::uint32_t group,
                                                     std::uint32_t rank, std::uint32_t n, std::uint32_t spots) {
    std::uint32_t before = 0;
    if (is_one_group)
      before = exec::sum_below(t, spots);
    else
      for_each_in_groups(t, group, spots, n,
                         [&](std::uint32_t k, unsigned, std::uint32_t x) { before += k < rank ? x : 0; });
    return before < n ? least(spots, n - before) : 0;
  }
  // Divides the spots that the lanes of each group have reserved among them; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD static share divide(Tile const t, bool is_one_group, std::uint32_t group, std::uint32_t rank,
                                            std::uint32_t n, std::uint32_t reserved) {
    share s{t.rank(), 0, 0};
    if (is_one_group) {
      std::uint32_t const before = exec::sum_below(t, reserved);
      std::uint32_t const givers = t.ballot(reserved > 0);
      std::uint32_t const starts = exec::any_bits(t, reserved > 0 ? 1u << before : 0u);
      s.total = t.shfl(before + reserved, group != 0 ? exec::last_lane(group) : t.rank());
      if (rank < s.total)
        s.source = exec::find_kth_set(givers, count(starts & exec::bits_up_to<std::uint32_t>(rank)) - 1);
      s.first = t.shfl(before, s.source);
      return s;
    }
    for_each_in_groups(t, group, reserved, n, [&](std::uint32_t, unsigned lane, std::uint32_t x) {
      if (s.total <= rank && rank < s.total + x) {
        s.source = lane;
        s.first = s.total;
      }
      s.total += x;
    });
    return s;
  }
  // Calls f(k, lane, value of the lane) for each lane of a group, in order: k = 0, 1, ... Each group at the same time;
  // collective. It stops where the sum of a group reaches n.
  template <class Tile, class F>
  WYRM_HD static void for_each_in_groups(Tile const& t, std::uint32_t group, std::uint32_t value, std::uint32_t n,
                                         F const& f) {
    std::uint32_t sum = 0;
    std::uint32_t left = group;
    for (std::uint32_t k = 0; t.any(left != 0 && sum < n); ++k) {
      unsigned const lane = left != 0 ? exec::first_lane(left) : t.rank();
      std::uint32_t const x = t.shfl(value, lane);
      if (left == 0 || sum >= n) continue;
      f(k, lane, x);
      sum += x;
      left &= left - 1;
    }
  }

  // The spot of the lane of this rank in `group`; collective. The page looked like `before`, and its spots that belong
  // to the group are those of ranks `first` to first + n - 1. They are adjacent if no other lanes are in the way.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t mark(Tile const& t, std::uint32_t page, page_word before, std::uint32_t group,
                                           std::uint32_t rank, std::uint32_t first, std::uint32_t n, bool owns) const {
    std::uint32_t const number = rank - first;
    std::uint32_t const spot = before.count() + number;
    std::uint32_t const in_word = spot % 32;
    std::uint32_t used = 0;
    if (owns && (number == 0 || in_word == 0)) used = pages_.mark_all(page, spot, least(n - number, 32 - in_word));
    // The lane of the first spot in the word has marked all of them.
    std::uint32_t const marker = owns ? rank - least(number, in_word) : 0;
    unsigned lane = first_of(t, group);
    if (t.any(marker > 0) && owns) lane = exec::find_kth_set(group, marker);
    used = t.shfl(used, lane);
    return owns && (used >> in_word & 1) != 0 ? pages_.mark(page, spot, before.spots()) : spot;
  }

  // For lanes whose window of so many pages had nothing: goes on behind it while the region has room, or to another
  // region that has; collective. The lanes of a group draw regions together. False if the super block is full, or they
  // have looked at many windows.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool go_to_any(Tile const& t, cursor& c, std::uint32_t block, std::uint32_t seed,
                                       std::uint32_t group, std::uint32_t window, further next, bool goes_on) const {
    std::uint32_t const log2 = shape().region_log2;
    std::uint32_t const regions = regions_in(block);
    std::uint32_t const behind = (c.page + window) % pages_in(block);
    std::int32_t const least = next == further::regions_with_room ? shape().room() : 1;
    count_pair const counts = pages_.regions_of(block);
    bool const looks_full =
        next == further::regions_with_room && counts.empty < static_cast<std::int32_t>((regions + 3) / 4);
    bool const has_more = goes_on && has_empty(block, behind >> log2, least);
    // Lanes of a group may have read different counts; they decide together.
    std::uint32_t const full = t.ballot(goes_on && looks_full) & group;
    bool const may_go_on = goes_on && full == 0 && c.left > 0;
    bool const stays = (t.ballot(may_go_on && has_more) & group) != 0;
    bool draws = may_go_on && !stays;
    bool is_somewhere = may_go_on && stays;
    seed = scramble(seed ^ c.page << 10 ^ static_cast<std::uint32_t>(counts.bits() >> 32) << 20);
    seed = t.shfl(seed, first_of(t, group));
    if (is_somewhere) {
      c.page = behind;
      --c.left;
    }
    std::uint32_t const rank = exec::rank_in(t, group);
    while (t.any(draws)) {
      std::uint32_t const drawn = scramble(seed + (c.left << 5 | rank) * 0x9e3779b1u);
      std::uint32_t const found = t.ballot(draws && has_empty(block, drawn % regions, least)) & group;
      std::uint32_t const chosen = t.shfl(drawn, first_of(t, found));
      if (!draws) continue;
      --c.left;
      if (found != 0)
        c.page = ((chosen % regions << log2) + (chosen >> 16 & (shape().region_pages() - 1))) % pages_in(block);
      is_somewhere = found != 0;
      draws = found == 0 && c.left > 0;
    }
    return is_somewhere;
  }
  [[nodiscard]] WYRM_HD bool has_empty(std::uint32_t block, std::uint32_t region, std::int32_t least) const {
    return pages_.pages_of(first_region(block) + region).empty >= least;
  }

  // The same for a search through all pages: goes on behind the window, over regions without usable pages; collective.
  // False if they have looked at all.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool go_to_next(Tile const& t, cursor& c, std::uint32_t block, std::uint32_t group,
                                        std::uint32_t window, bool goes_on) const {
    std::uint32_t const pages = pages_in(block);
    std::uint32_t const regions = regions_in(block);
    std::uint32_t const log2 = shape().region_log2;
    std::uint32_t const rank = exec::rank_in(t, group);
    if (goes_on) {
      c.page = (c.page + window) % pages;
      c.left -= least(c.left, window);
    }
    bool moves = goes_on && c.left > 0;
    while (t.any(moves)) {
      std::uint32_t const region = (c.page >> log2) + rank;  // not beyond the last one, from which the search wraps
      bool const is_usable = moves && region < regions && pages_.pages_of(first_region(block) + region).usable > 0;
      std::uint32_t const found = t.ballot(is_usable) & group;
      if (!moves) continue;
      std::uint32_t const skipped = found != 0 ? count(group & ((1u << exec::first_lane(found)) - 1)) : count(group);
      if (skipped > 0) {
        std::uint32_t const next = least(((c.page >> log2) + skipped) << log2, pages);
        c.left -= least(c.left, next - c.page);
        c.page = next < pages ? next : 0;
      }
      moves = found == 0 && c.left > 0;
    }
    return goes_on && c.left > 0;
  }
  [[nodiscard]] WYRM_HD std::uint32_t first_region(std::uint32_t block) const { return block * shape().block_regions; }

  // The lowest lane of a group; without a group the calling one.
  template <class Tile>
  [[nodiscard]] WYRM_HD static unsigned first_of(Tile const& t, std::uint32_t group) {
    return group != 0 ? exec::first_lane(group) : t.rank();
  }
  WYRM_HD static std::uint32_t least(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
  [[nodiscard]] WYRM_HD scatter_shape const& shape() const { return pages_.shape(); }

  pages_ref const& pages_;
  std::uint32_t all_pages_;
};

}  // namespace wyrm::alloc
