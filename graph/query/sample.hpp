// SPDX-License-Identifier: Apache-2.0
// Samples of neighbours in several hops, as for the mini-batches of graph neural networks (Hamilton, Ying, Leskovec,
// GraphSAGE, NIPS 2017). Hop 0 samples neighbours of the seeds; each later hop samples neighbours of the vertices that
// the previous hop has found. A tile processes one vertex; its work does not depend on the degree (choose.hpp). The
// host waits once per hop, for the number of samples.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/device_array.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "choose.hpp"
#include "scratch.hpp"

namespace wyrm::graph {

struct sample_options {
  std::vector<std::uint32_t> fan_out;  // samples per vertex, for each hop; at least 1, and at most 65,536 hops
  bool replace = false;  // true: independent draws; false: distinct neighbours, or all if there are not more
  bool unique = false;   // true: the frontier of each later hop has each vertex once, ascending; seeds may repeat
  std::uint64_t seed = 1;
};

/// The samples of one hop. The samples of entry i of its frontier are at offsets[i] ... offsets[i + 1] - 1; sample j is
/// the edge from sources[j] to targets[j]. Unless `unique` is set, the targets are the frontier of the next hop.
struct sampled_hop {
  std::vector<std::uint64_t> offsets;
  std::vector<vertex_id> sources;
  std::vector<vertex_id> targets;
  friend bool operator==(sampled_hop const&, sampled_hop const&) = default;
};

/// The same in memory of a space.
template <class Space>
struct resident_hop {
  exec::device_array<std::uint64_t, Space> offsets;
  exec::device_array<vertex_id, Space> sources;
  exec::device_array<vertex_id, Space> targets;
  [[nodiscard]] sampled_hop to_host() const { return {offsets.to_host(), sources.to_host(), targets.to_host()}; }
};

namespace detail {

/// Writes the number of samples of each vertex of a frontier, and refuses ids that are out of range.
template <class Policy>
struct count_samples {
  graph_view g;
  vertex_id const* frontier;
  std::uint32_t k;
  std::uint32_t* counts;
  query_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    vertex_id const v = frontier[i];
    bool const valid = v < g.vertices();
    if (!valid) status->refuse(i);
    std::uint32_t const degree = valid ? g.degree(v) : 0;
    counts[i] = Policy::count(degree, k);
    if (degree > k && exec::load_recent(status->all_fit) != 0)
      exec::atomic_ref<std::uint64_t>(status->all_fit).store(0, exec::relaxed);
  }
};

/// A hop, for kernels.
struct hop_work {
  graph_view g;
  vertex_id const* frontier;
  std::size_t size;
  std::uint32_t k;
  sample_draws draws;
  std::uint64_t const* offsets;
  vertex_id* sources;
  vertex_id* targets;

  struct write_sample {
    vertex_id const* row;
    vertex_id source;
    vertex_id* sources;
    vertex_id* targets;
    WYRM_HD void operator()(std::uint32_t j, std::uint32_t index) const {
      sources[j] = source;
      targets[j] = row[index];
    }
  };
  /// Writes the samples of entry i.
  [[nodiscard]] WYRM_HD write_sample writer(std::size_t i) const {
    vertex_id const v = frontier[i];
    return {g.neighbours(v).data, v, sources + offsets[i], targets + offsets[i]};
  }
};

/// One tile per vertex of the frontier. If the policy needs a set, each of `tiles` tiles has one, and processes several
/// vertices.
template <class Policy>
struct sample_frontier {
  static constexpr std::size_t grain = 1;
  hop_work hop;
  std::size_t tiles;
  std::uint32_t* slots;
  std::uint64_t slots_of_tile;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    for (std::size_t i = tile; i < hop.size; i += tiles)
      Policy{}(t, hop.draws, i, hop.g.degree(hop.frontier[i]), hop.k, slots + tile * slots_of_tile, slots_of_tile,
               hop.writer(i));
  }
};

struct widen_ids {
  vertex_id const* from;
  std::uint64_t* to;
  WYRM_HD void operator()(std::size_t i) const { to[i] = from[i]; }
};
struct narrow_ids {
  std::uint64_t const* from;
  vertex_id* to;
  WYRM_HD void operator()(std::size_t i) const { to[i] = static_cast<vertex_id>(from[i]); }
};

/// The distinct vertices of a list, ascending.
template <class Space>
exec::buffer<vertex_id, Space> distinct(query_scratch<Space>& scratch, graph_view const& g, vertex_id const* list,
                                        std::size_t n) {
  if (n == 0) return exec::buffer<vertex_id, Space>(scratch.space());
  scratch.keys.reserve(n);
  scratch.spare.reserve(n);
  exec::for_each(scratch.space(), n, widen_ids{list, scratch.keys.data()});
  auto const bits = std::max(1u, static_cast<unsigned>(std::bit_width(g.vertices() - 1)));
  std::uint64_t* const sorted = scratch.bulk.sort(scratch.keys.data(), scratch.spare.data(), n, bits);
  std::uint64_t* const other = sorted == scratch.keys.data() ? scratch.spare.data() : scratch.keys.data();
  std::size_t const count = scratch.bulk.unique(sorted, other, n);
  exec::buffer<vertex_id, Space> result(scratch.space(), count);
  exec::for_each(scratch.space(), count, narrow_ids{other, result.data()});
  return result;
}

/// Samples a hop: count() enqueues the kernel that writes the numbers of samples, choose() the kernel that writes the
/// samples.
template <class Policy>
struct uniform_sampler {
  template <class Space>
  void count(Space const& space, graph_view const& g, resident_vertices frontier, std::uint32_t k,
             std::uint32_t* counts, query_status* status) const {
    exec::for_each(space, frontier.size, count_samples<Policy>{g, frontier.data, k, counts, status});
  }
  template <class Space>
  void choose(query_scratch<Space>& scratch, hop_work const& hop, bool all_fit) const {
    if (hop.k <= 8)
      choose_by_tiles<8>(scratch, hop, all_fit);
    else if (hop.k <= 16)
      choose_by_tiles<16>(scratch, hop, all_fit);
    else
      choose_by_tiles<32>(scratch, hop, all_fit);
  }

 private:
  template <unsigned W, class Space>
  static void choose_by_tiles(query_scratch<Space>& scratch, hop_work const& hop, bool all_fit) {
    Space const& space = scratch.space();
    sample_frontier<Policy> work{hop, hop.size, nullptr, 0};
    if (Policy::needs_set && !all_fit && hop.k > Space::template tile_size<W>) {
      constexpr std::uint64_t most_slots = std::uint64_t{1} << 26;  // in total, unless one set needs more
      work.slots_of_tile = std::bit_ceil(std::uint64_t{2} * hop.k);
      std::size_t const most_tiles = std::max<std::size_t>(most_slots / work.slots_of_tile, 1);
      work.tiles = std::min({hop.size, most_tiles, 64 * space.multiprocessors()});
      scratch.tables.reserve(work.tiles * work.slots_of_tile);
      work.slots = scratch.tables.data();
    }
    exec::for_each_tile<W>(space, work.tiles, work);
  }
};

/// One hop from a frontier.
template <class Sampler, class Space>
resident_hop<Space> sample_hop(query_scratch<Space>& scratch, char const* query, graph_view const& g,
                               resident_vertices frontier, std::uint32_t k, sample_draws const& draws) {
  Space const& space = scratch.space();
  std::size_t const n = frontier.size;
  resident_hop<Space> hop{exec::device_array<std::uint64_t, Space>(space, n + 1),
                          exec::device_array<vertex_id, Space>(space), exec::device_array<vertex_id, Space>(space)};
  if (n == 0) {
    exec::write(space, hop.offsets.data(), std::uint64_t{0});
    return hop;
  }
  scratch.lengths.reserve(n);
  query_status* const status = scratch.begin();
  Sampler{}.count(space, g, frontier, k, scratch.lengths.data(), status);
  scratch.add_up(scratch.lengths.data(), n, hop.offsets.data());
  query_status const s = scratch.wait(query, g, frontier.data);
  hop.sources = exec::device_array<vertex_id, Space>(space, s.total);
  hop.targets = exec::device_array<vertex_id, Space>(space, s.total);
  Sampler{}.choose(scratch, {g, frontier.data, n, k, draws, hop.offsets.data(), hop.sources.data(), hop.targets.data()},
                   s.all_fit != 0);
  return hop;
}

inline void check(char const* query, sample_options const& o) {
  if (o.fan_out.size() > 65536)
    throw error(error_code::bad_argument,
                std::string(query) + ": there are " + std::to_string(o.fan_out.size()) + " hops; the maximum is 65536");
  for (std::size_t hop = 0; hop < o.fan_out.size(); ++hop)
    if (o.fan_out[hop] == 0)
      throw error(error_code::bad_argument,
                  std::string(query) + ": the fan-out of hop " + std::to_string(hop) + " is 0; it must be at least 1");
}

/// All hops. Independent is the sampler if `replace` is set, Subset otherwise.
template <class Subset, class Independent, class Space>
std::vector<resident_hop<Space>> sample_hops(query_scratch<Space>& scratch, char const* query, graph_view const& g,
                                             resident_vertices seeds, sample_options const& o) {
  check(query, o);
  typename Space::guard const current(scratch.space());
  std::vector<resident_hop<Space>> hops;
  hops.reserve(o.fan_out.size());
  exec::buffer<vertex_id, Space> once(scratch.space());
  resident_vertices frontier = seeds;
  for (std::uint32_t h = 0; h < o.fan_out.size(); ++h) {
    sample_draws const draws{o.seed, h};
    hops.push_back(o.replace ? sample_hop<Independent>(scratch, query, g, frontier, o.fan_out[h], draws)
                             : sample_hop<Subset>(scratch, query, g, frontier, o.fan_out[h], draws));
    frontier = resident_vertices(hops.back().targets.data(), hops.back().targets.size());
    if (o.unique && h + 1 < o.fan_out.size()) {
      once = distinct(scratch, g, frontier.data, frontier.size);
      frontier = resident_vertices(once.data(), once.size());
    }
  }
  return hops;
}

/// Copies all hops to the host.
template <class Space>
std::vector<sampled_hop> to_host(std::vector<resident_hop<Space>> const& hops) {
  std::vector<sampled_hop> copies;
  copies.reserve(hops.size());
  for (auto const& hop : hops) copies.push_back(hop.to_host());
  return copies;
}

}  // namespace detail

/// Samples neighbours of the seeds, of these neighbours, and so on; returns a hop for each fan-out. The result is a
/// function of the graph, the seeds and the options, the same in every space. Seeds may repeat; each occurrence is
/// sampled separately. Arguments and errors as for other queries (lookup.hpp); also throws error(bad_argument) for
/// invalid options.
///
/// O(fan-out) per vertex of a frontier. Scratch: 4 bytes per vertex of a frontier; with `unique` 20 bytes per sample;
/// at most 256 MiB for fan-outs above 32 without replacement, or 16 bytes times the fan-out if that is more.
template <class On>
[[nodiscard]] auto sample_neighbours(On&& on, graph_view const& g, resident_vertices seeds, sample_options const& o) {
  auto&& scratch = detail::scratch_for(on);
  return detail::sample_hops<detail::uniform_sampler<detail::choose_subset>,
                             detail::uniform_sampler<detail::choose_independently>>(scratch, "sample_neighbours", g,
                                                                                    seeds, o);
}
template <class On>
[[nodiscard]] std::vector<sampled_hop> sample_neighbours(On&& on, graph_view const& g, std::span<vertex_id const> seeds,
                                                         sample_options const& o) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), seeds);
  return detail::to_host(sample_neighbours(scratch, g, resident_vertices(entries.data(), seeds.size()), o));
}

}  // namespace wyrm::graph
