// SPDX-License-Identifier: Apache-2.0
#include "wiring.hpp"

#include <algorithm>
#include <queue>
#include <unordered_set>
#include <utility>

namespace wyrm::datasets {
namespace {

using graph::edge;
using graph::vertex_id;

// The same for both directions of an edge.
std::uint64_t key(vertex_id u, vertex_id v) { return std::uint64_t{std::min(u, v)} << 32 | std::max(u, v); }

// Edges that are being joined, with their keys.
class wiring {
 public:
  wiring(std::vector<edge>& edges, std::vector<std::uint32_t> const* groups)
      : edges_(edges), first_(edges.size()), groups_(groups) {}

  void reserve(std::size_t n) { keys_.reserve(n); }
  bool add(vertex_id u, vertex_id v) {
    if (!is_free(u, v)) return false;
    keys_.insert(key(u, v));
    edges_.push_back({u, v});
    return true;
  }
  // Adds an edge at a and one at b instead of an edge c d: a c and b d.
  bool add_by_switching(vertex_id a, vertex_id b, random_numbers& random) {
    if (edges_.size() == first_) return false;
    auto [i, c, d] = any_edge(random);
    if (key(a, c) == key(b, d) || !is_free(a, c) || !is_free(b, d)) return false;
    keys_.erase(key(c, d));
    keys_.insert({key(a, c), key(b, d)});
    edges_[i] = {a, c};
    edges_.push_back({b, d});
    return true;
  }
  // Exchanges the ends of two edges, where that is possible.
  void switch_two(random_numbers& random) {
    auto [i, a, b] = any_edge(random);
    auto [j, c, d] = any_edge(random);
    if (i == j || key(a, d) == key(c, b) || !is_free(a, d) || !is_free(c, b)) return;
    keys_.erase(key(a, b));
    keys_.erase(key(c, d));
    keys_.insert({key(a, d), key(c, b)});
    edges_[i] = {a, d};
    edges_[j] = {c, b};
  }

 private:
  struct position {
    std::size_t index;
    vertex_id u;
    vertex_id v;
  };
  [[nodiscard]] position any_edge(random_numbers& random) const {
    std::size_t const i = first_ + scaled(random.next(), edges_.size() - first_);
    auto const [u, v] = edges_[i];
    return random.below(2) == 0 ? position{i, u, v} : position{i, v, u};
  }
  [[nodiscard]] bool is_free(vertex_id u, vertex_id v) const {
    return u != v && (groups_ == nullptr || (*groups_)[u] != (*groups_)[v]) && !keys_.contains(key(u, v));
  }

  std::vector<edge>& edges_;
  std::size_t first_;  // of the edges of this wiring
  std::vector<std::uint32_t> const* groups_;
  std::unordered_set<std::uint64_t> keys_;
};

// Joins the vertex of the largest remaining degree to those of the next largest, until nothing remains.
std::vector<edge> constructed(std::vector<std::uint32_t> const& degrees) {
  std::priority_queue<std::pair<std::uint32_t, vertex_id>> rest;
  for (std::size_t v = 0; v < degrees.size(); ++v)
    if (degrees[v] > 0) rest.push({degrees[v], static_cast<vertex_id>(v)});
  std::vector<edge> edges;
  std::vector<std::pair<std::uint32_t, vertex_id>> joined;
  while (!rest.empty()) {
    auto const [degree, u] = rest.top();
    rest.pop();
    if (rest.size() < degree)
      throw error(error_code::bad_argument,
                  "no graph without self-loops and duplicates has these degrees: lower the largest ones");
    joined.clear();
    for (std::uint32_t i = 0; i < degree; ++i) {
      joined.push_back(rest.top());
      rest.pop();
    }
    for (auto& [left, v] : joined) {
      edges.push_back({u, v});
      if (--left > 0) rest.push({left, v});
    }
  }
  return edges;
}

}  // namespace

std::size_t join_stubs(std::vector<vertex_id> stubs, random_numbers& random, std::vector<std::uint32_t> const* groups,
                       std::vector<edge>& edges) {
  constexpr unsigned attempts = 1000;
  shuffle(stubs, random);
  wiring made(edges, groups);
  made.reserve(stubs.size() / 2);
  std::vector<edge> refused;
  for (std::size_t i = 0; i + 1 < stubs.size(); i += 2)
    if (!made.add(stubs[i], stubs[i + 1])) refused.push_back({stubs[i], stubs[i + 1]});
  std::size_t unplaced = 0;
  for (auto const& [a, b] : refused) {
    bool placed = false;
    for (unsigned attempt = 0; attempt < attempts && !placed; ++attempt) placed = made.add_by_switching(a, b, random);
    if (!placed) ++unplaced;
  }
  return unplaced;
}

std::vector<edge> simple_graph(std::vector<std::uint32_t> const& degrees, random_numbers& random) {
  std::vector<vertex_id> stubs;
  for (std::size_t v = 0; v < degrees.size(); ++v) stubs.insert(stubs.end(), degrees[v], static_cast<vertex_id>(v));
  if (stubs.size() % 2 != 0)
    throw error(error_code::bad_argument, "the sum of the degrees is odd; each edge has two ends");
  std::vector<edge> edges;
  if (join_stubs(stubs, random, nullptr, edges) == 0) return edges;
  std::vector<edge> const exact = constructed(degrees);
  edges.clear();
  wiring made(edges, nullptr);
  for (auto const& [u, v] : exact) (void)made.add(u, v);
  for (std::size_t i = 0; i < 10 * exact.size(); ++i) made.switch_two(random);
  return edges;
}

}  // namespace wyrm::datasets
