// SPDX-License-Identifier: Apache-2.0
// A batch of edges made ready for an update: packed into keys (source, target) of only the bits that the vertex count
// needs, sorted, without repeats, split into segments of one source each. O(m) work and memory for m edges, nothing in
// proportion to the vertices.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "types.hpp"

namespace wyrm::graph {

/// Which arcs an edge stands for.
enum class orientation : std::uint8_t { forward, reverse, both };

/// What the device sees of a batch: segment s holds entries [begin(s), end(s)), all with the same source.
struct batch_view {
  std::uint64_t const* keys;
  vertex_id* targets;        // of each entry, ascending in a segment; an update may overwrite them
  std::uint32_t* positions;  // scratch, one an entry
  std::uint32_t const* starts;
  std::uint32_t segments;
  std::uint32_t entries;
  unsigned id_bits;

  [[nodiscard]] WYRM_HD std::uint32_t begin(std::size_t s) const { return starts[s]; }
  [[nodiscard]] WYRM_HD std::uint32_t end(std::size_t s) const { return s + 1 < segments ? starts[s + 1] : entries; }
  [[nodiscard]] WYRM_HD vertex_id source(std::size_t s) const {
    return static_cast<vertex_id>(keys[starts[s]] >> id_bits);
  }
};

namespace detail {

struct pack_counters {
  std::uint64_t out_of_range;
  std::uint64_t first_out_of_range;
  std::uint64_t self_loops;
  std::uint64_t dropped;  // keys that stand for nothing; they sort behind all others
};

struct pack_edges {
  edge const* edges;
  std::uint64_t* keys;
  pack_counters* counters;
  vertex_id vertices;
  unsigned id_bits;
  orientation which;
  bool keep_self_loops;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    edge const e = valid ? edges[i] : edge{0, 1};
    bool const outside = valid && (e.source >= vertices || e.target >= vertices);
    bool const loop = valid && !outside && e.source == e.target;
    bool const drop = outside || (loop && !keep_self_loops);
    if (valid) {
      if (which == orientation::both) {
        keys[2 * i] = drop ? nothing() : key(e.source, e.target);
        keys[2 * i + 1] = drop || loop ? nothing() : key(e.target, e.source);
      } else {
        bool const forward = which == orientation::forward;
        keys[i] = drop ? nothing() : forward ? key(e.source, e.target) : key(e.target, e.source);
      }
    }
    std::uint32_t const loops = t.ballot(loop);
    std::uint32_t const bad = t.ballot(outside);
    if (t.rank() == 0 && (loops | bad) != 0) {
      unsigned const n = static_cast<unsigned>(cuda::std::popcount(loops));
      unsigned const n_bad = static_cast<unsigned>(cuda::std::popcount(bad));
      unsigned const keys_an_edge = which == orientation::both ? 2 : 1;
      unsigned const keys_a_loop = keep_self_loops ? keys_an_edge - 1 : keys_an_edge;
      add(counters->self_loops, n);
      add(counters->dropped, n * keys_a_loop + n_bad * keys_an_edge);
      if (bad != 0) {
        add(counters->out_of_range, n_bad);
        exec::atomic_ref<std::uint64_t>(counters->first_out_of_range)
            .fetch_min(i + exec::first_lane(bad), exec::relaxed);
      }
    }
  }

  WYRM_HD static void add(std::uint64_t& counter, std::uint64_t n) {
    exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed);
  }
  WYRM_HD std::uint64_t key(vertex_id source, vertex_id target) const {
    return std::uint64_t{source} << id_bits | target;
  }
  WYRM_HD std::uint64_t nothing() const { return key(vertices, 0); }  // no vertex has this id
};

struct split_keys {
  std::uint64_t const* keys;
  vertex_id* targets;
  std::uint8_t* starts_segment;
  unsigned id_bits;

  WYRM_HD void operator()(std::size_t i) const {
    targets[i] = static_cast<vertex_id>(keys[i] & ((std::uint64_t{1} << id_bits) - 1));
    starts_segment[i] = i == 0 || keys[i - 1] >> id_bits != keys[i] >> id_bits;
  }
};

}  // namespace detail

template <class Space>
class batch {
 public:
  explicit batch(Space const& space)
      : space_(space),
        bulk_(space),
        counters_(space, 1),
        keys_(space),
        spare_(space),
        targets_(space),
        flags_(space),
        starts_(space) {}

  /// `edges` lie in the memory of the space. Throws error(bad_argument) when an id is not below `vertices`.
  void prepare(std::span<edge const> edges, vertex_id vertices, orientation which, bool keep_self_loops) {
    std::size_t const n = which == orientation::both ? 2 * edges.size() : edges.size();
    if (n >= 0xffffffff)
      throw error(error_code::bad_argument,
                  "a batch of " + std::to_string(edges.size()) + " edges is too large (2^32 arcs at most); split it");
    unsigned const id_bits = static_cast<unsigned>(std::bit_width(vertices));  // has room for `vertices` itself
    keys_.reserve(n);
    spare_.reserve(n);
    targets_.reserve(n);
    flags_.reserve(n);
    starts_.reserve(n);
    detail::pack_counters counters{0, ~std::uint64_t{0}, 0, 0};
    exec::write(space_, counters_.data(), counters);
    exec::for_each_lane<32>(
        space_, edges.size(),
        detail::pack_edges{edges.data(), keys_.data(), counters_.data(), vertices, id_bits, which, keep_self_loops});
    counters = exec::read(space_, counters_.data());
    if (counters.out_of_range > 0) {
      edge const bad = exec::read(space_, edges.data() + counters.first_out_of_range);
      throw error(error_code::bad_argument,
                  "edge " + std::to_string(counters.first_out_of_range) + " of the batch is (" +
                      std::to_string(bad.source) + ", " + std::to_string(bad.target) + "), but the graph has only " +
                      std::to_string(vertices) + " vertices (" + std::to_string(counters.out_of_range) +
                      " such edges in all); nothing was changed");
    }
    self_loops_ = counters.self_loops;
    std::uint64_t* const sorted = bulk_.sort(keys_.data(), spare_.data(), n, 2 * id_bits);
    std::uint64_t* const distinct = sorted == keys_.data() ? spare_.data() : keys_.data();
    std::size_t const entries = bulk_.unique(sorted, distinct, n - counters.dropped);
    exec::for_each(space_, entries, detail::split_keys{distinct, targets_.data(), flags_.data(), id_bits});
    std::size_t const segments = bulk_.select(flags_.data(), starts_.data(), entries);
    // The sorted keys are not needed any more: their memory serves as scratch.
    view_ = {distinct,
             targets_.data(),
             reinterpret_cast<std::uint32_t*>(sorted),
             starts_.data(),
             static_cast<std::uint32_t>(segments),
             static_cast<std::uint32_t>(entries),
             id_bits};
  }

  [[nodiscard]] batch_view const& view() const { return view_; }
  [[nodiscard]] std::uint64_t self_loops() const { return self_loops_; }
  [[nodiscard]] std::size_t bytes() const {
    return bulk_.bytes() + counters_.bytes() + keys_.bytes() + spare_.bytes() + targets_.bytes() + flags_.bytes() +
           starts_.bytes();
  }

 private:
  Space space_;
  typename Space::bulk bulk_;
  exec::buffer<detail::pack_counters, Space> counters_;
  exec::buffer<std::uint64_t, Space> keys_;
  exec::buffer<std::uint64_t, Space> spare_;
  exec::buffer<vertex_id, Space> targets_;
  exec::buffer<std::uint8_t, Space> flags_;
  exec::buffer<std::uint32_t, Space> starts_;
  batch_view view_{};
  std::uint64_t self_loops_ = 0;
};

}  // namespace wyrm::graph
