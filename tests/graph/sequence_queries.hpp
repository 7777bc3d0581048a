// SPDX-License-Identifier: Apache-2.0
// Queries in random sequences (sequence.hpp): each result is compared with what rows on the host say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "../../exec/memory.hpp"
#include "../../graph/queries.hpp"
#include "../../graph/view.hpp"
#include "model.hpp"

namespace wyrm::tests {

/// Adds up numbers of edges: each edge once, in any order.
struct add_up_edges {
  std::uint64_t* sum;
  WYRM_HD static std::uint64_t number(graph::vertex_id u, graph::vertex_id v) {
    return (std::uint64_t{u} << 32 | v) * 0x9e3779b97f4a7c15u;
  }
  WYRM_HD void operator()(graph::vertex_id u, graph::vertex_id v) const {
    exec::atomic_ref<std::uint64_t>(*sum).fetch_add(number(u, v), exec::relaxed);
  }
};

/// Queries of a graph that has these rows, and values of the arcs in their order.
template <class Space, class Value>
class sequence_queries {
  using ids = std::vector<graph::vertex_id>;
  using pairs = std::vector<graph::edge>;

 public:
  static constexpr unsigned kinds = 9;

  sequence_queries(Space const& space, graph::graph_view const& g, graph::csr const& rows,
                   std::vector<Value> const& values)
      : space_(space), scratch_(space), g_(g), rows_(rows), values_(values) {}

  /// Whether the results of a kind of query are wrong. form: selects entries on the host or in memory of the space, the
  /// seed of samples, and the predicate.
  [[nodiscard]] bool is_wrong(unsigned kind, ids const& vertices, pairs const& edges, std::size_t form) {
    bool const resident = form % 2 == 0;
    exec::buffer<graph::vertex_id, Space> const v = there(vertices);
    exec::buffer<graph::edge, Space> const e = there(edges);
    graph::resident_vertices const vs(v.data(), v.size());
    graph::resident_edges const es(e.data(), e.size());
    std::size_t const n = vertices.size();
    switch (kind) {
      case 0: {
        std::vector<std::uint8_t> want;
        for (auto const [u, w] : edges) want.push_back(position(u, w) < end(u) ? 1 : 0);
        return want != (resident ? graph::contains(scratch_, g_, es).to_host() : graph::contains(space_, g_, edges));
      }
      case 1: {
        std::vector<std::uint32_t> want;
        for (graph::vertex_id const u : vertices) want.push_back(static_cast<std::uint32_t>(row(u).size()));
        return want != (resident ? graph::degrees(scratch_, g_, vs).to_host() : graph::degrees(space_, g_, vertices));
      }
      case 2:
        return lists(n, [&](std::size_t i) { return row(vertices[i]); }) !=
               (resident ? graph::neighbours(scratch_, g_, vs).to_host() : graph::neighbours(space_, g_, vertices));
      case 3: {
        std::vector<std::uint32_t> ks;
        ids want;
        for (std::size_t i = 0; i < n; ++i) {
          auto const all = row(vertices[i]);
          ks.push_back(static_cast<std::uint32_t>(i * 7 % (all.size() + 2)));
          want.push_back(ks[i] < all.size() ? all[ks[i]] : graph::no_vertex);
        }
        exec::buffer<std::uint32_t, Space> const k = there(ks);
        return want != (resident ? graph::neighbours_at(scratch_, g_, vs, k.data()).to_host()
                                 : graph::neighbours_at(space_, g_, vertices, ks));
      }
      case 4: {
        auto const both = [&](std::size_t i) { return common(edges[i].source, edges[i].target); };
        std::vector<std::uint32_t> counts;
        for (std::size_t i = 0; i < edges.size(); ++i) counts.push_back(static_cast<std::uint32_t>(both(i).size()));
        graph::csr const want = lists(edges.size(), both);
        if (resident)
          return want != graph::common_neighbours(scratch_, g_, es).to_host() ||
                 counts != graph::common_neighbours_count(scratch_, g_, es).to_host();
        return want != graph::common_neighbours(space_, g_, edges) ||
               counts != graph::common_neighbours_count(space_, g_, edges);
      }
      case 5: {
        sum_leaves const some{3, static_cast<graph::vertex_id>(form % 3)};
        std::vector<std::uint32_t> want;
        for (graph::vertex_id const u : vertices)
          want.push_back(static_cast<std::uint32_t>(
              std::ranges::count_if(row(u), [&](graph::vertex_id const w) { return some(u, w); })));
        return want != (resident ? graph::filtered_degrees(scratch_, g_, vs, some).to_host()
                                 : graph::filtered_degrees(space_, g_, vertices, some));
      }
      case 6: {
        std::uint64_t want = 0;
        for (graph::vertex_id u = 0; u < g_.vertices(); ++u)
          for (graph::vertex_id const w : row(u))
            if (g_.directed() || u <= w) want += add_up_edges::number(u, w);
        exec::buffer<std::uint64_t, Space> sum(space_, 1);
        space_.fill(sum.data(), 0, sum.bytes());
        graph::for_each_edge(space_, g_, add_up_edges{sum.data()});
        return want != exec::read(space_, sum.data());
      }
      case 7: return samples_are_wrong(vertices, form);
      default: return values_are_wrong(vertices, edges, form);
    }
  }

 private:
  template <class T>
  [[nodiscard]] exec::buffer<T, Space> there(std::vector<T> const& entries) const {
    exec::buffer<T, Space> copy(space_, entries.size());
    exec::copy_in<T>(space_, copy.data(), entries);
    return copy;
  }
  [[nodiscard]] std::span<graph::vertex_id const> row(graph::vertex_id v) const {
    return std::span(rows_.targets).subspan(rows_.offsets[v], rows_.offsets[v + 1] - rows_.offsets[v]);
  }
  [[nodiscard]] std::size_t end(graph::vertex_id u) const { return rows_.offsets[u + 1]; }
  // Of an arc in the rows; end(u) if there is none.
  [[nodiscard]] std::size_t position(graph::vertex_id u, graph::vertex_id w) const {
    auto const all = row(u);
    auto const at = std::ranges::find(all, w);
    return rows_.offsets[u] + static_cast<std::size_t>(at - all.begin());
  }
  [[nodiscard]] ids common(graph::vertex_id u, graph::vertex_id w) const {
    ids both;
    std::ranges::set_intersection(row(u), row(w), std::back_inserter(both));
    return both;
  }
  template <class RowOf>
  static graph::csr lists(std::size_t n, RowOf const& row_of) {
    graph::csr all{{0}, {}};
    for (std::size_t i = 0; i < n; ++i) {
      auto const one = row_of(i);
      all.targets.insert(all.targets.end(), one.begin(), one.end());
      all.offsets.push_back(all.targets.size());
    }
    return all;
  }
  // Distinct neighbours, as many as there are and are asked for.
  bool samples_are_wrong(ids const& vertices, std::size_t form) {
    constexpr std::uint32_t k = 3;
    bool const replace = form % 2 == 0;
    graph::sample_options const o{.fan_out = {k}, .replace = replace, .seed = form};
    auto const hops = graph::sample_neighbours(space_, g_, vertices, o);
    auto const& [offsets, sources, targets] = hops.front();
    if (offsets.size() != vertices.size() + 1) return true;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      auto const all = row(vertices[i]);
      std::size_t const most = replace ? (all.empty() ? 0 : k) : std::min<std::size_t>(k, all.size());
      if (offsets[i + 1] - offsets[i] != most) return true;
      std::set<graph::vertex_id> seen;
      for (std::uint64_t j = offsets[i]; j < offsets[i + 1]; ++j)
        if (sources[j] != vertices[i] || std::ranges::find(all, targets[j]) == all.end() ||
            (!seen.insert(targets[j]).second && !replace))
          return true;
    }
    return false;
  }
  // Values that are no numbers: contains() instead.
  bool values_are_wrong(ids const& vertices, pairs const& edges, std::size_t form) {
    if constexpr (std::is_arithmetic_v<Value>) {
      bool const resident = form % 2 == 0;
      auto const same = [](std::vector<Value> const& a, std::vector<Value> const& b) {
        return std::ranges::equal(a, b, basic_model<Value>::same);
      };
      exec::buffer<graph::vertex_id, Space> const v = there(vertices);
      exec::buffer<graph::edge, Space> const e = there(edges);
      graph::resident_vertices const vs(v.data(), v.size());
      graph::resident_edges const es(e.data(), e.size());
      Value const absent{77};
      std::vector<Value> want;
      for (auto const [u, w] : edges) want.push_back(position(u, w) < end(u) ? values_[position(u, w)] : absent);
      if (!same(want, resident ? graph::values<Value>(scratch_, g_, es, absent).to_host()
                               : graph::values<Value>(space_, g_, edges, absent)))
        return true;
      std::vector<Value> of_lists;
      for (graph::vertex_id const u : vertices)
        of_lists.insert(of_lists.end(), values_.begin() + static_cast<std::ptrdiff_t>(rows_.offsets[u]),
                        values_.begin() + static_cast<std::ptrdiff_t>(rows_.offsets[u + 1]));
      auto const got = resident ? graph::valued_neighbours<Value>(scratch_, g_, vs).to_host()
                                : graph::valued_neighbours<Value>(space_, g_, vertices);
      graph::csr const want_lists = lists(vertices.size(), [&](std::size_t i) { return row(vertices[i]); });
      return got.offsets != want_lists.offsets || got.targets != want_lists.targets || !same(got.values, of_lists);
    } else {
      return is_wrong(0, vertices, edges, form);
    }
  }

  Space space_;
  graph::query_scratch<Space> scratch_;
  graph::graph_view g_;
  graph::csr const& rows_;
  std::vector<Value> const& values_;
};

}  // namespace wyrm::tests
