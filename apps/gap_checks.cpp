// SPDX-License-Identifier: Apache-2.0
#include "gap_checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

namespace wyrm::apps {

namespace {

std::span<graph::vertex_id const> row_of(graph::csr const& rows, std::size_t v) {
  return std::span(rows.targets).subspan(rows.offsets[v], rows.offsets[v + 1] - rows.offsets[v]);
}

std::size_t size_of(graph::csr const& rows) { return rows.offsets.size() - 1; }

constexpr std::uint32_t far_away = ~std::uint32_t{0};

// The vertices that can be reached, by ascending depth; and the depths of all vertices.
std::vector<graph::vertex_id> visit(graph::csr const& rows, graph::vertex_id source,
                                    std::vector<std::uint32_t>& depths) {
  depths.assign(size_of(rows), far_away);
  depths[source] = 0;
  std::vector<graph::vertex_id> order{source};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (graph::vertex_id const v : row_of(rows, order[i]))
      if (depths[v] == far_away) {
        depths[v] = depths[order[i]] + 1;
        order.push_back(v);
      }
  return order;
}

}  // namespace

bool is_bfs_tree(graph::csr const& rows, graph::vertex_id source, std::vector<graph::vertex_id> const& parents) {
  std::size_t const n = size_of(rows);
  if (parents.size() != n || parents[source] != source) return false;
  std::vector<std::uint32_t> depths;
  (void)visit(rows, source, depths);
  for (std::size_t v = 0; v < n; ++v) {
    graph::vertex_id const parent = parents[v];
    if (v == source) continue;
    if (depths[v] == far_away) {
      if (parent != graph::no_vertex) return false;
      continue;
    }
    if (parent >= n || depths[parent] + 1 != depths[v]) return false;
    auto const row = row_of(rows, parent);
    if (!std::binary_search(row.begin(), row.end(), static_cast<graph::vertex_id>(v))) return false;
  }
  return true;
}

bool are_distances(graph::csr const& rows, std::vector<double> const& weights, graph::vertex_id source,
                   std::vector<double> const& distances) {
  using entry = std::pair<double, graph::vertex_id>;
  std::vector<double> best(size_of(rows), std::numeric_limits<double>::infinity());
  best[source] = 0;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
  queue.push({0, source});
  while (!queue.empty()) {
    auto const [distance, u] = queue.top();
    queue.pop();
    if (distance > best[u]) continue;
    for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
      graph::vertex_id const v = rows.targets[i];
      double const through = distance + weights[i];
      if (through >= best[v]) continue;
      best[v] = through;
      queue.push({through, v});
    }
  }
  return best == distances;
}

bool are_ranks(graph::csr const& rows, std::vector<double> const& ranks, double tolerance) {
  std::size_t const n = size_of(rows);
  if (ranks.size() != n) return false;
  std::vector<double> next(n, 0.0);
  double dangling = 0;
  for (std::size_t u = 0; u < n; ++u) {
    auto const row = row_of(rows, u);
    if (row.empty()) dangling += ranks[u];
    for (graph::vertex_id const v : row) next[v] += ranks[u] / static_cast<double>(row.size());
  }
  double change = 0;
  for (std::size_t v = 0; v < n; ++v)
    change += std::abs((0.15 + 0.85 * dangling) / static_cast<double>(n) + 0.85 * next[v] - ranks[v]);
  return change < tolerance;
}

bool are_components(graph::csr const& rows, std::vector<graph::vertex_id> const& labels) {
  std::size_t const n = size_of(rows);
  if (labels.size() != n) return false;
  std::vector<graph::vertex_id> above(n);
  for (std::size_t v = 0; v < n; ++v) above[v] = static_cast<graph::vertex_id>(v);
  auto const root = [&](graph::vertex_id v) {
    while (above[v] != v) v = above[v] = above[above[v]];
    return v;
  };
  for (std::size_t u = 0; u < n; ++u)
    for (graph::vertex_id const v : row_of(rows, u)) above[root(v)] = root(static_cast<graph::vertex_id>(u));
  // Each label belongs to one root, and each root has one label.
  std::unordered_map<graph::vertex_id, graph::vertex_id> root_of;
  std::unordered_map<graph::vertex_id, graph::vertex_id> label_of;
  for (std::size_t v = 0; v < n; ++v) {
    graph::vertex_id const r = root(static_cast<graph::vertex_id>(v));
    if (root_of.try_emplace(labels[v], r).first->second != r) return false;
    if (label_of.try_emplace(r, labels[v]).first->second != labels[v]) return false;
  }
  return true;
}

bool are_betweenness_scores(graph::csr const& rows, std::span<graph::vertex_id const> sources,
                            std::vector<double> const& scores) {
  std::size_t const n = size_of(rows);
  if (scores.size() != n) return false;
  std::vector<double> sums(n, 0.0);
  std::vector<std::uint32_t> depths;
  for (graph::vertex_id const source : sources) {
    auto const order = visit(rows, source, depths);
    std::vector<double> paths(n, 0.0);
    std::vector<double> dependency(n, 0.0);
    paths[source] = 1;
    for (graph::vertex_id const u : order)
      for (graph::vertex_id const v : row_of(rows, u))
        if (depths[v] == depths[u] + 1) paths[v] += paths[u];
    for (std::size_t i = order.size(); i-- > 1;) {
      graph::vertex_id const u = order[i];
      for (graph::vertex_id const v : row_of(rows, u))
        if (depths[v] == depths[u] + 1) dependency[u] += paths[u] / paths[v] * (1 + dependency[v]);
      sums[u] += dependency[u];
    }
  }
  double const largest = n == 0 ? 0 : *std::max_element(sums.begin(), sums.end());
  for (std::size_t v = 0; v < n; ++v)
    if (!(std::abs(sums[v] - scores[v]) <= 1e-9 * largest)) return false;
  return true;
}

std::uint64_t count_triangles(graph::csr const& rows) {
  std::uint64_t triangles = 0;  // u < v < w, each found once
  for (std::size_t u = 0; u < size_of(rows); ++u) {
    auto const a = row_of(rows, u);
    for (graph::vertex_id const v : a) {
      if (v <= u) continue;
      auto const b = row_of(rows, v);
      auto x = std::upper_bound(a.begin(), a.end(), v);
      auto y = std::upper_bound(b.begin(), b.end(), v);
      while (x != a.end() && y != b.end()) {
        if (*x == *y) ++triangles;
        bool const step_x = *x <= *y;
        bool const step_y = *y <= *x;
        if (step_x) ++x;
        if (step_y) ++y;
      }
    }
  }
  return triangles;
}

}  // namespace wyrm::apps
