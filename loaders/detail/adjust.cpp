// SPDX-License-Identifier: Apache-2.0
#include "adjust.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/bulk.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"

namespace wyrm::loaders::detail {
namespace {

void remove_self_loops(graph::edge_list& list) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    if (list.edges[i].source == list.edges[i].target) continue;
    list.edges[kept] = list.edges[i];
    if (!list.weights.empty()) list.weights[kept] = list.weights[i];
    if (!list.times.empty()) list.times[kept] = list.times[i];
    ++kept;
  }
  list.edges.resize(kept);
  if (!list.weights.empty()) list.weights.resize(kept);
  if (!list.times.empty()) list.times.resize(kept);
}

/// Appends the opposite direction of each edge.
void add_other_direction(graph::edge_list& list) {
  auto const edges = list.edges.size();
  list.edges.reserve(2 * edges);
  for (std::size_t i = 0; i < edges; ++i) {
    auto const [source, target] = list.edges[i];
    if (source == target) continue;
    list.edges.push_back({target, source});
    if (!list.weights.empty()) list.weights.push_back(list.weights[i]);
    if (!list.times.empty()) list.times.push_back(list.times[i]);
  }
}

/// A sort key: equal for equal edges, in the order of source and then target.
std::uint64_t key_of(graph::edge e, bool directed) {
  auto const [low, high] = std::minmax(e.source, e.target);
  if (!directed) e = {low, high};
  return std::uint64_t{e.source} << 32 | e.target;
}

void remove_duplicates(graph::edge_list& list, exec::host_space const& space) {
  auto const n = list.edges.size();
  std::vector<std::uint64_t> keys(n);
  exec::for_each(space, n, [&](std::size_t i) { keys[i] = key_of(list.edges[i], list.directed); });
  if (list.weights.empty() && list.times.empty()) {
    exec::host_bulk bulk(space);
    (void)bulk.sort(keys.data(), nullptr, n, 64);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    list.edges.resize(keys.size());
    exec::for_each(space, keys.size(), [&](std::size_t i) {
      list.edges[i] = {static_cast<graph::vertex_id>(keys[i] >> 32), static_cast<graph::vertex_id>(keys[i])};
    });
    return;
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = {keys[i], i};
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end(), [](auto const& a, auto const& b) { return a.first == b.first; }),
              order.end());
  list.edges.clear();
  for (auto const& [key, i] : order)
    list.edges.push_back({static_cast<graph::vertex_id>(key >> 32), static_cast<graph::vertex_id>(key)});
  for (auto* const column : {&list.weights, &list.times}) {
    if (column->empty()) continue;
    std::vector<double> kept;
    kept.reserve(order.size());
    for (auto const& [key, i] : order) kept.push_back((*column)[i]);
    *column = std::move(kept);
  }
}

// The finaliser of splitmix64 (Steele, Lea, Flood, 2014).
std::uint64_t finalised(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void draw_weights(graph::edge_list& list, weight_range const& range, exec::host_space const& space) {
  if (!std::isfinite(range.least) || !std::isfinite(range.most - range.least) || range.least > range.most) {
    std::ostringstream what;
    what << "random weights need two numbers, the smaller one first, with a finite difference, not " << range.least
         << " and " << range.most;
    throw error(error_code::bad_argument, what.str());
  }
  list.weights.resize(list.edges.size());
  exec::for_each(space, list.edges.size(), [&](std::size_t i) {
    auto const bits = finalised(finalised(range.seed + 0x9e3779b97f4a7c15) ^ key_of(list.edges[i], false));
    auto const fraction = static_cast<double>(bits >> 11) / static_cast<double>((std::uint64_t{1} << 53) - 1);
    list.weights[i] = std::min(range.most, range.least + fraction * (range.most - range.least));
  });
}

}  // namespace

void adjust(graph::edge_list& list, options const& settings) {
  exec::host_space const space(settings.threads);
  if (settings.remove_self_loops) remove_self_loops(list);
  if (settings.directed.value_or(false) && !list.directed) add_other_direction(list);
  list.directed = settings.directed.value_or(list.directed);
  if (settings.remove_duplicates) remove_duplicates(list, space);
  if (settings.random_weights) draw_weights(list, *settings.random_weights, space);
  if (settings.order != graph::vertex_order::as_given)
    graph::renumber(list, graph::ordered_vertices(list, settings.order, space), space);
}

}  // namespace wyrm::loaders::detail
