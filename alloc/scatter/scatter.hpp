// SPDX-License-Identifier: Apache-2.0
// ScatterAlloc ("ScatterAlloc: Massively Parallel Dynamic Memory Allocation for the GPU", InPar 2012): requests are
// scattered over the pages of a super block by a hash of their size and of the multiprocessor. scatter_ref.hpp and
// pages_ref.hpp describe the algorithm and its differences from the paper. This file contains the owner.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../extent/extent.hpp"
#include "../fragmentation.hpp"
#include "../ledger.hpp"
#include "../pool_table.hpp"
#include "../shared_view.hpp"
#include "scatter_ref.hpp"

namespace wyrm::alloc {

/// Parameters of ScatterAlloc.
struct scatter_parameters {
  std::size_t page_bytes = chunk_bytes;     // a power of two, 512 to 8192; larger requests are runs of 8 KiB
  std::size_t region_pages = 32;            // a power of two, 4 to 4096
  std::size_t super_block_bytes = 0;        // rounded up to regions; 0: 9/16 of the pool, up to 1 GiB
  std::uint32_t size_factor = 38183;        // k_S of Eq. 3
  std::uint32_t multiprocessor_factor = 0;  // k_mp of Eq. 3, up to 65535; 0: spreads multiprocessors evenly
  double max_frag = 2;  // 1 to 16: a spot is at most so many times as large as one that a request would split off
};

namespace detail {
template <class Ref>
struct open_first_super_block {
  Ref ref;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    (void)ref.open_super_block(t);
  }
};
template <class Ref>
struct reclaim_all_pages {
  Ref ref;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    while (ref.reclaim(t, ~std::uint32_t{0}) > 0) continue;
  }
};
}  // namespace detail

/// Owner of the pool. Beside the pool it has 5 bytes per chunk of 8 KiB, and for each page 8 bytes and a bit per 16
/// bytes: with the default parameters about 1 % of the pool; and 64 KiB for the last pages of warps.
template <class Space>
class scatteralloc {
 public:
  using space_type = Space;
  using view_type = scatter_ref;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = "scatteralloc";
  static constexpr traits family{.fixed_sizes = false};  // a page serves smaller requests, too: see max_frag

  /// Throws error(bad_argument) for impossible parameters.
  scatteralloc(Space const& space, options const& o, scatter_parameters const& parameters = {})
      : space_(space),
        parameters_(checked(parameters)),
        shape_(shape_for(0)),
        memory_(space, o),
        words_(space),
        fields_(space),
        regions_(space),
        super_blocks_(space),
        state_(space, 1),
        hints_(space, scatter_ref::hint_count),
        ledger_(space, memory_.base(), memory_.capacity(), o),
        shared_(space) {
    shape_ = cover(memory_.chunks());
    ledger_.cover(memory_.bytes());
    reset();
    shared_.write(view());
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const {
    return {pages(), blocks(), state_.data(), hints_.data(), memory_.ref(), ledger_.ref()};
  }

  /// O(tables).
  void reset() {
    space_.fill(words_.data(), 0, words_.bytes());
    space_.fill(fields_.data(), 0, fields_.bytes());
    space_.fill(regions_.data(), 0, regions_.bytes());
    space_.fill(super_blocks_.data(), 0, super_blocks_.bytes());
    space_.fill(state_.data(), 0, state_.bytes());
    space_.fill(hints_.data(), 0, hints_.bytes());
    memory_.reset();
    ledger_.reset();
    exec::for_each_tile<32>(space_, 1, detail::open_first_super_block<view_type>{view()});
  }
  /// Super blocks may become larger with the pool. O(tables).
  void grow(std::size_t bytes) {
    auto const change = [&] {
      std::uint32_t const after = memory_.chunks_after(bytes);
      scatter_shape const shape = cover(after);  // everything that can fail happens before the pool changes
      ledger_.cover(std::size_t{after} * chunk_bytes);
      std::vector<std::uint64_t> const counts = counts_of(copy_regions(), shape, after);
      memory_.grow(bytes);
      shape_ = shape;
      exec::copy_in<std::uint64_t>(space_, super_blocks_.data(), counts);
      exec::write(space_, &state_.data()->active, std::uint32_t{0});
    };
    shared_.rewrite_after(change, [&] { return view(); });
  }
  /// Returns the memory of all empty pages to the extent.
  void compact() { exec::for_each_tile<32>(space_, 1, detail::reclaim_all_pages<view_type>{view()}); }

  /// The classes are the sizes of spots in pages of which something is used. `peak` counts whole super blocks.
  [[nodiscard]] statistics stats() const {
    statistics s;
    ledger_.report(s);
    s.committed = memory_.bytes();
    s.reserved = memory_.capacity();
    s.peak = memory_.peak();
    s.overhead = memory_.overhead() + words_.bytes() + fields_.bytes() + regions_.bytes() + super_blocks_.bytes() +
                 state_.bytes() + hints_.bytes() + ledger_.bytes() + shared_.bytes();
    s.granted = memory_.allocated();
    std::map<std::size_t, class_statistics> classes;
    for (std::uint64_t const bits : copy_words()) {
      page_word const w(bits);
      if (w.is_closed() || w.is_empty()) continue;
      class_statistics& k = classes[spot_bytes(w)];
      k.page_bytes = spot_bytes(w);
      k.pages += w.spots();
      k.free += w.spots() - w.count();
      s.granted += w.count() * k.page_bytes;
    }
    for (auto const& [bytes, k] : classes) s.classes.push_back(k);
    detail::add_fragmentation(space_, ledger_, view(), memory_.base(), s);
    return s;
  }

  /// Throws error(corrupt) unless each chunk is either open or with the extent, counts and bit fields agree, and, in
  /// checked mode, exactly the used spots and runs are live. O(pool).
  void check() const {
    std::vector<std::uint64_t> const words = copy_words();
    memory_.check(open_chunks(words));
    std::vector<std::size_t> const used = used_spots(words);
    check_usable(words);
    scatter_state const state = exec::read(space_, state_.data());
    ensure(state.active < blocks(), name, "there is no such super block as the active one");
    ensure(state.lock % 2 + state.last_lock % 2 + state.run_lock % 2 == 0, name,
           "a lock is held although no kernel runs");
    if (ledger_.checked()) check_live(words, used);
    ledger_.check_guards(name);
  }

 protected:
  [[nodiscard]] pages_ref pages() const {
    return {shape_, memory_.base(), words_.data(), fields_.data(), regions_.data(), super_blocks_.data()};
  }

 private:
  static scatter_parameters checked(scatter_parameters const& p) {
    auto const require = [](bool holds, std::string const& what) {
      if (!holds) throw error(error_code::bad_argument, std::string(name) + ": " + what);
    };
    require(std::has_single_bit(p.page_bytes) && p.page_bytes >= 512 && p.page_bytes <= chunk_bytes,
            "page_bytes must be a power of two, 512 to 8192, not " + std::to_string(p.page_bytes));
    require(std::has_single_bit(p.region_pages) && p.region_pages >= 4 && p.region_pages <= 4096,
            "region_pages must be a power of two, 4 to 4096, not " + std::to_string(p.region_pages));
    require(p.super_block_bytes <= std::size_t{4} << 30,
            "super_block_bytes must be at most 4 GiB, not " + std::to_string(p.super_block_bytes));
    require(p.multiprocessor_factor <= 65535,
            "multiprocessor_factor must be at most 65535, not " + std::to_string(p.multiprocessor_factor));
    require(p.max_frag >= 1 && p.max_frag <= 16, "max_frag must be 1 to 16, not " + std::to_string(p.max_frag));
    return p;
  }
  // The shape for a pool of so many chunks.
  [[nodiscard]] scatter_shape shape_for(std::uint32_t chunks) const {
    scatter_parameters const& p = parameters_;
    std::size_t const pool = std::max<std::size_t>(std::size_t{chunks} * chunk_bytes, 1);
    std::size_t const automatic = std::clamp<std::size_t>(pool / 16 * 9, 1, std::size_t{1} << 30);
    std::size_t const block = std::min(p.super_block_bytes != 0 ? p.super_block_bytes : automatic, pool);
    std::size_t const region = p.region_pages * p.page_bytes;
    std::size_t const regions = (block + region - 1) / region;
    std::size_t const pages = regions * p.region_pages;
    std::uint64_t const evenly = (pages << 16) / std::max<std::size_t>(space_.multiprocessors(), 1);
    return {static_cast<std::uint32_t>(std::countr_zero(p.page_bytes)),
            static_cast<std::uint32_t>(std::countr_zero(p.region_pages)),
            static_cast<std::uint32_t>(regions),
            p.size_factor,
            p.multiprocessor_factor != 0 ? std::uint64_t{p.multiprocessor_factor} << 16 : evenly,
            static_cast<std::uint32_t>(p.max_frag * 256)};
  }

  [[nodiscard]] std::uint32_t pages_per_chunk() const {
    return static_cast<std::uint32_t>(chunk_bytes) >> shape_.page_log2;
  }
  [[nodiscard]] std::uint32_t page_count() const { return memory_.chunks() * pages_per_chunk(); }
  // Super blocks, the last one perhaps beyond the end of the pool.
  [[nodiscard]] std::uint32_t blocks() const { return shape_.block_of(page_count() - 1) + 1; }
  [[nodiscard]] std::size_t spot_bytes(page_word w) const { return shape_.spot_units(w.spots()) * alignment; }
  [[nodiscard]] std::vector<std::uint64_t> copy_words() const {
    return exec::copy_out(space_, words_.data(), page_count());
  }

  // Makes room for a pool of so many chunks, and for the rest of its last super block, whose pages stay closed. Returns
  // the shape of that pool.
  scatter_shape cover(std::uint32_t chunks) {
    scatter_shape const shape = shape_for(chunks);
    std::size_t const pages = std::size_t{chunks} * pages_per_chunk();
    std::size_t const blocks = (pages + shape.block_pages() - 1) / shape.block_pages();
    std::size_t const all = blocks * shape.block_pages();
    words_.cover_with_zeros(all);
    fields_.cover_with_zeros(all * shape.words());
    regions_.cover_with_zeros(all / shape.region_pages());
    super_blocks_.cover_with_zeros(blocks);
    return shape;
  }
  [[nodiscard]] std::vector<std::uint64_t> copy_regions() const {
    return exec::copy_out(space_, regions_.data(), std::size_t{blocks()} * shape_.block_regions);
  }
  // See pages_ref::regions_of; for a pool of so many chunks.
  [[nodiscard]] std::vector<std::uint64_t> counts_of(std::vector<std::uint64_t> const& regions,
                                                     scatter_shape const& shape, std::uint32_t chunks) const {
    std::vector<std::uint64_t> counts(shape.block_of(chunks * pages_per_chunk() - 1) + 1);
    for (std::size_t region = 0; region < regions.size(); ++region) {
      count_pair const pages = count_pair::of(regions[region]);
      std::uint64_t const bits = count_pair{pages.usable > 0, pages.empty >= shape.room()}.bits();
      if (bits != 0) counts[region / shape.block_regions] += bits;
    }
    return counts;
  }

  // Which chunks have open pages.
  [[nodiscard]] std::vector<bool> open_chunks(std::vector<std::uint64_t> const& words) const {
    std::uint32_t const each = pages_per_chunk();
    std::vector<bool> open(memory_.chunks());
    for (std::size_t page = 0; page < words.size(); ++page) {
      page_word const w(words[page]);
      std::string const at = "page " + std::to_string(page) + ": ";
      if (page % each == 0) open[page / each] = !w.is_closed();
      ensure(open[page / each] != w.is_closed(), name, at + "some pages of a chunk are closed, others are not");
      ensure(w.count() <= w.spots(), name, at + "the count is too large");
    }
    return open;
  }
  // The offsets of used spots in the pool, ascending.
  [[nodiscard]] std::vector<std::size_t> used_spots(std::vector<std::uint64_t> const& words) const {
    std::vector<std::uint32_t> const fields = exec::copy_out(space_, fields_.data(), words.size() * shape_.words());
    std::vector<std::size_t> used;
    for (std::size_t page = 0; page < words.size(); ++page) {
      page_word const w(words[page]);
      std::size_t const before = used.size();
      for (std::uint32_t spot = 0; spot < shape_.page_units(); ++spot) {
        if ((fields[page * shape_.words() + spot / 32] >> spot % 32 & 1) == 0) continue;
        ensure(spot < w.spots(), name, "page " + std::to_string(page) + ": a spot is used that it does not have");
        used.push_back((page << shape_.page_log2) + spot * spot_bytes(w));
      }
      ensure(used.size() - before == w.count(), name, "page " + std::to_string(page) + ": the count is wrong");
    }
    return used;
  }
  void check_usable(std::vector<std::uint64_t> const& words) const {
    std::vector<std::uint64_t> const regions = copy_regions();
    std::vector<std::uint64_t> found(regions.size());
    for (std::size_t page = 0; page < words.size(); ++page) {
      page_word const w(words[page]);
      found[page >> shape_.region_log2] += count_pair{w.is_usable(), w.is_empty()}.bits();
    }
    ensure(regions == found, name, "the number of usable or of empty pages of a region is wrong");
    ensure(exec::copy_out(space_, super_blocks_.data(), blocks()) == counts_of(regions, shape_, memory_.chunks()), name,
           "the number of regions with usable or empty pages of a super block is wrong");
  }
  void check_live(std::vector<std::uint64_t> const& words, std::vector<std::size_t> const& used) const {
    std::vector<std::size_t> in_pages;
    std::size_t runs = 0;
    for (std::size_t const offset : ledger_.live_offsets()) {
      if (page_word(words[offset >> shape_.page_log2]).is_closed())
        ++runs;  // the extent has checked its chunks
      else
        in_pages.push_back(offset);
    }
    ensure(in_pages == used, name, "live blocks are not the used spots");
    ensure(runs == memory_.runs(), name, "a run of chunks is lost");
  }

  Space space_;
  scatter_parameters parameters_;
  scatter_shape shape_;

 protected:
  extent<Space> memory_;
  pool_table<std::uint64_t, Space> words_;
  pool_table<std::uint32_t, Space> fields_;
  pool_table<std::uint64_t, Space> regions_;
  pool_table<std::uint64_t, Space> super_blocks_;
  exec::buffer<scatter_state, Space> state_;

 private:
  exec::buffer<std::uint32_t, Space> hints_;
  ledger<Space> ledger_;
  shared_view<view_type, Space> shared_;
};

}  // namespace wyrm::alloc
