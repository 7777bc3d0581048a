// SPDX-License-Identifier: Apache-2.0
// A graph of the benchmarks of algorithms, in one of the storages that they compare, and sources of searches in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../datasets/updates.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "csr_rows.hpp"
#include "defaults.hpp"
#include "graphs.hpp"

namespace wyrm::bench {

/// The weight of an edge, the same in both directions: an integer from 1 to 255.
inline float weight_of(graph::vertex_id u, graph::vertex_id v) {
  std::uint64_t const low = std::min(u, v);
  return static_cast<float>(1 + scramble(low << 32 | std::max(u, v)) % 255);
}
inline std::vector<float> weights_of(graph::csr const& c) {
  std::vector<float> weights;
  weights.reserve(c.targets.size());
  for (graph::vertex_id u = 0; u + std::size_t{1} < c.offsets.size(); ++u)
    for (std::uint64_t i = c.offsets[u]; i < c.offsets[u + 1]; ++i) weights.push_back(weight_of(u, c.targets[i]));
  return weights;
}

/// A graph in one of the compared storages. get() keeps the most recent one.
template <class Space>
class graph_under_test {
 public:
  /// weighted: with values of type float, see weight_of(); not for csr.
  graph_under_test(Space const& space, std::string const& storage, std::string const& name, bool churned, bool weighted)
      : space_(space), targets_(space), rows_(space), vertices_(rows_of(name).offsets.size() - 1) {
    if (storage != "csr") {
      graph_.emplace(make(space, storage, name, churned, weighted));
      return;
    }
    graph::csr const c = churned ? make(space, "ouroboros-s-p", name, true).to_csr() : rows_of(name);
    exec::buffer<std::uint64_t, Space> offsets(space, c.offsets.size());
    targets_.reserve(c.targets.size() + 4);  // rows are read four at a time
    rows_.reserve(vertices_);
    arcs_ = c.targets.size();
    exec::copy_in<std::uint64_t>(space, offsets.data(), c.offsets);
    exec::copy_in<graph::vertex_id>(space, targets_.data(), c.targets);
    exec::for_each(space, vertices_, point_at_rows{offsets.data(), targets_.data(), rows_.data()});
    space.synchronize();
  }
  [[nodiscard]] graph::graph_view view() const {
    if (graph_) return graph_->view();
    return graph::graph_view(
        {.out = rows_.data(), .in = rows_.data(), .arcs = arcs_, .vertices = static_cast<graph::vertex_id>(vertices_)});
  }

  static graph::any_graph make(Space const& space, std::string const& storage, std::string const& name, bool churned,
                               bool weighted = false) {
    graph::csr const& c = rows_of(name);
    std::size_t const n = c.offsets.size() - 1;
    graph::any_graph g(space, storage, n, {.values = weighted ? graph::number_type::f32 : graph::number_type::none});
    g.build(c, weighted ? graph::host_numbers(weights_of(c)) : graph::host_numbers());
    std::vector<float> const ones(weighted ? 100'000 : 0, 1.0f);
    for (std::uint64_t round = 0; churned && round < 100; ++round) {
      g.insert(datasets::update_batch(datasets::update_kind::random, n, 100'000, round),
               weighted ? graph::host_numbers(ones) : graph::host_numbers());
      if (round >= 2) g.erase(datasets::update_batch(datasets::update_kind::random, n, 100'000, round - 2));
    }
    return g;
  }
  static graph_under_test const& get(Space const& space, std::string const& storage, std::string const& name,
                                     bool churned, bool weighted = false) {
    static std::string last;
    static std::unique_ptr<graph_under_test> kept;
    std::string const key = storage + "/" + name + (churned ? "/churned" : "/built") + (weighted ? "/weighted" : "");
    if (last != key) {
      kept.reset();
      kept = std::make_unique<graph_under_test>(space, storage, name, churned, weighted);
      last = key;
    }
    return *kept;
  }

 private:
  Space space_;
  std::optional<graph::any_graph> graph_;
  exec::buffer<graph::vertex_id, Space> targets_;
  exec::buffer<graph::packed_record, Space> rows_;
  std::size_t vertices_;
  std::uint64_t arcs_ = 0;
};

/// Random vertices with neighbours, as in the GAP benchmark suite; the same ones for all storages.
inline std::vector<graph::vertex_id> search_sources(graph::csr const& c) {
  std::vector<graph::vertex_id> sources;
  for (std::uint64_t i = 0; sources.size() < 16; ++i) {
    auto const v = static_cast<graph::vertex_id>(scramble(i + 1) % (c.offsets.size() - 1));
    if (c.offsets[v + 1] > c.offsets[v]) sources.push_back(v);
  }
  return sources;
}

}  // namespace wyrm::bench
