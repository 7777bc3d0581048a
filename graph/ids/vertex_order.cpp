// SPDX-License-Identifier: Apache-2.0
#include "vertex_order.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"

namespace wyrm::graph {

namespace {

template <class T>
void lower(T& place, T value) {
  if (value < exec::load_recent(place)) exec::atomic_ref<T>(place).fetch_min(value, exec::relaxed);
}

void require_vertices(edge_list const& list, exec::host_space const& space) {
  if (list.vertices > max_vertices)
    throw error(error_code::bad_argument, "the list has " + std::to_string(list.vertices) +
                                              " vertices: a graph has at most " + std::to_string(max_vertices));
  std::size_t wrong = list.edges.size();
  exec::for_each(space, list.edges.size(), [&](std::size_t i) {
    auto const [source, target] = list.edges[i];
    if (source >= list.vertices || target >= list.vertices) lower(wrong, i);
  });
  if (wrong == list.edges.size()) return;
  auto const [source, target] = list.edges[wrong];
  throw error(error_code::bad_argument, "edge " + std::to_string(wrong) + " of the list, " + std::to_string(source) +
                                            " -> " + std::to_string(target) + ", is not between its " +
                                            std::to_string(list.vertices) +
                                            " vertices, which count from 0: raise edge_list::vertices or correct it");
}

std::vector<vertex_id> identity(std::size_t n) {
  std::vector<vertex_id> order(n);
  std::iota(order.begin(), order.end(), vertex_id{0});
  return order;
}

std::vector<std::uint64_t> degrees_of(edge_list const& list, exec::host_space const& space) {
  std::vector<std::uint64_t> degree(list.vertices);
  exec::for_each(space, list.edges.size(), [&](std::size_t i) {
    exec::atomic_ref<std::uint64_t>(degree[list.edges[i].source]).fetch_add(1, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(degree[list.edges[i].target]).fetch_add(1, exec::relaxed);
  });
  return degree;
}

std::vector<vertex_id> by_degree(edge_list const& list, exec::host_space const& space) {
  std::vector<std::uint64_t> key = degrees_of(list, space);
  for (std::uint64_t& k : key) k = ~k;
  std::vector<vertex_id> order = identity(list.vertices);
  exec::host_bulk bulk(space);
  (void)bulk.sort_pairs(key.data(), nullptr, order.data(), nullptr, order.size(), 64);
  return order;
}

class cuthill_mckee {
 public:
  cuthill_mckee(edge_list const& list, exec::host_space const& space)
      : space_(space),
        degree_(degrees_of(list, space)),
        end_(list.vertices),
        neighbour_(2 * list.edges.size()),
        component_(identity(list.vertices)),
        parent_(list.vertices),
        position_(list.vertices),
        start_(list.vertices, no_vertex) {
    queue_.reserve(list.vertices);
    list_neighbours(list);
    find_components(list);
  }

  [[nodiscard]] std::vector<vertex_id> run() {
    for (vertex_id v = 0; v < start_.size(); ++v) propose_start(v);
    traverse([&](std::span<vertex_id const> frontier) {
      // In the end the starts are vertices of the last frontier of their component.
      for (vertex_id const v : frontier) start_[component_[v]] = no_vertex;
      for (vertex_id const v : frontier) propose_start(v);
    });
    traverse([](std::span<vertex_id const>) {});
    return grouped_by_component();
  }

 private:
  // The neighbours of v in either direction, in any order.
  [[nodiscard]] std::span<vertex_id> row(vertex_id v) {
    return {neighbour_.data() + (end_[v] - degree_[v]), static_cast<std::size_t>(degree_[v])};
  }
  [[nodiscard]] bool precedes(vertex_id a, vertex_id b) const {
    return degree_[a] != degree_[b] ? degree_[a] < degree_[b] : a < b;
  }

  void list_neighbours(edge_list const& list) {
    std::exclusive_scan(degree_.begin(), degree_.end(), end_.begin(), std::uint64_t{0});
    auto const add = [&](vertex_id from, vertex_id to) {
      neighbour_[exec::atomic_ref<std::uint64_t>(end_[from]).fetch_add(1, exec::relaxed)] = to;
    };
    exec::for_each(space_, list.edges.size(), [&](std::size_t i) {
      add(list.edges[i].source, list.edges[i].target);
      add(list.edges[i].target, list.edges[i].source);
    });
  }

  // Union by the least vertex: a root is only linked to a smaller one.
  void find_components(edge_list const& list) {
    exec::for_each(space_, list.edges.size(), [&](std::size_t i) {
      vertex_id low = root_of(list.edges[i].source);
      vertex_id high = root_of(list.edges[i].target);
      while (low != high) {
        if (low > high) std::swap(low, high);
        vertex_id expected = high;
        if (exec::atomic_ref<vertex_id>(component_[high]).compare_exchange_strong(expected, low, exec::relaxed)) return;
        low = root_of(low);
        high = root_of(high);
      }
    });
    exec::for_each(space_, component_.size(),
                   [&](std::size_t v) { lower(component_[v], root_of(static_cast<vertex_id>(v))); });
  }
  [[nodiscard]] vertex_id root_of(vertex_id v) {
    for (;;) {
      vertex_id const up = exec::load_recent(component_[v]);
      if (up == v) return v;
      lower(component_[v], exec::load_recent(component_[up]));
      v = up;
    }
  }

  // Of the vertices of a component the one that precedes the others starts.
  void propose_start(vertex_id v) {
    vertex_id& start = start_[component_[v]];
    if (start == no_vertex || precedes(v, start)) start = v;
  }

  // Visits all vertices from the starts of all components at the same time, by distance. Calls before(frontier) for the
  // vertices of each distance, in the order of their visit.
  template <class F>
  void traverse(F const& before) {
    queue_.clear();
    std::fill(parent_.begin(), parent_.end(), unvisited);
    for (std::size_t c = 0; c < component_.size(); ++c) {
      if (component_[c] != c) continue;
      queue_.push_back(start_[c]);
      parent_[start_[c]] = visited;
    }
    for (std::size_t from = 0; from < queue_.size();) {
      std::size_t const n = queue_.size() - from;
      before({queue_.data() + from, n});
      visit_neighbours(from, n);
      from += n;
    }
  }

  // Appends the neighbours of the last n vertices of the queue to it.
  void visit_neighbours(std::size_t from, std::size_t n) {
    auto const number = [&](std::size_t i) { return static_cast<vertex_id>(from + i + 1); };
    exec::for_each_tile<1>(space_, n, [&](exec::scalar_tile, std::size_t i) {
      for (vertex_id const w : row(queue_[from + i])) lower(parent_[w], number(i));
    });
    // Each vertex moves its children to the front of its row. A child that was moved has another parent, so that a
    // repeated neighbour is one child.
    exec::for_each_tile<1>(space_, n, [&](exec::scalar_tile, std::size_t i) {
      auto const neighbours = row(queue_[from + i]);
      std::size_t children = 0;
      for (vertex_id& w : neighbours) {
        if (exec::load_recent(parent_[w]) != number(i)) continue;
        exec::atomic_ref<vertex_id>(parent_[w]).store(visited, exec::relaxed);
        std::swap(neighbours[children++], w);
      }
      std::sort(neighbours.begin(), neighbours.begin() + static_cast<std::ptrdiff_t>(children),
                [&](vertex_id a, vertex_id b) { return precedes(a, b); });
      position_[i] = children;
    });
    std::size_t end = queue_.size();
    for (std::size_t i = 0; i < n; ++i) end += std::exchange(position_[i], end);
    queue_.resize(end);
    exec::for_each_tile<1>(space_, n, [&](exec::scalar_tile, std::size_t i) {
      std::size_t const children = (i + 1 < n ? position_[i + 1] : end) - position_[i];
      std::copy_n(row(queue_[from + i]).begin(), children, queue_.begin() + static_cast<std::ptrdiff_t>(position_[i]));
    });
  }

  // The queue, stably grouped by component.
  [[nodiscard]] std::vector<vertex_id> grouped_by_component() {
    std::fill(position_.begin(), position_.end(), 0);
    for (vertex_id const c : component_) ++position_[c];
    std::exclusive_scan(position_.begin(), position_.end(), position_.begin(), std::size_t{0});
    std::vector<vertex_id> order(queue_.size());
    for (vertex_id const v : queue_) order[position_[component_[v]]++] = v;
    return order;
  }

  static constexpr vertex_id unvisited = no_vertex;
  static constexpr vertex_id visited = 0;

  exec::host_space space_;
  std::vector<std::uint64_t> degree_;
  std::vector<std::uint64_t> end_;  // of rows
  std::vector<vertex_id> neighbour_;
  std::vector<vertex_id> component_;   // by vertex: the least vertex of its component
  std::vector<vertex_id> parent_;      // by vertex: 1 + position in the queue of the first neighbour; or a state
  std::vector<std::size_t> position_;  // by vertex of a frontier: of its first child in the queue
  std::vector<vertex_id> start_;       // by component
  std::vector<vertex_id> queue_;       // in the order of their visit
};

}  // namespace

std::vector<vertex_id> ordered_vertices(edge_list const& list, vertex_order order, exec::host_space const& space) {
  require_vertices(list, space);
  switch (order) {
    case vertex_order::as_given: return identity(list.vertices);
    case vertex_order::by_degree: return by_degree(list, space);
    case vertex_order::by_locality: return cuthill_mckee(list, space).run();
  }
  throw error(error_code::bad_argument, "there is no vertex order " + std::to_string(static_cast<unsigned>(order)) +
                                            ": use as_given, by_degree or by_locality");
}

void renumber(edge_list& list, std::span<vertex_id const> order, exec::host_space const& space) {
  std::size_t const n = list.vertices;
  if (order.size() != n)
    throw error(error_code::bad_argument, "the order has " + std::to_string(order.size()) + " vertices, and the list " +
                                              std::to_string(n) + ": list each vertex once");
  require_vertices(list, space);
  for (std::size_t const size : {list.ids.size(), list.names.size()})
    if (size != 0 && size != n)
      throw error(error_code::bad_argument, "the list has " + std::to_string(n) + " vertices, but " +
                                                std::to_string(size) +
                                                " ids or names: give it one for each vertex, or none");
  std::vector<vertex_id> number(n, no_vertex);
  for (std::size_t i = 0; i < n; ++i) {
    vertex_id const v = order[i];
    if (v >= n || number[v] != no_vertex)
      throw error(error_code::bad_argument, "entry " + std::to_string(i) + " of the order, " + std::to_string(v) +
                                                (v < n ? ", repeats" : ", is no vertex of the list") +
                                                ": list each vertex from 0 to " + std::to_string(n - 1) + " once");
    number[v] = static_cast<vertex_id>(i);
  }
  if (std::is_sorted(number.begin(), number.end())) return;
  std::vector<std::uint64_t> ids(list.ids.empty() && !list.names.empty() ? 0 : n);
  std::vector<std::string> names(list.names.empty() ? 0 : n);
  // Nothing fails from here on.
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = list.ids.empty() ? list.first_id + order[i] : list.ids[order[i]];
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::move(list.names[order[i]]);
  list.ids = std::move(ids);
  list.names = std::move(names);
  list.first_id = 0;
  exec::for_each(space, list.edges.size(), [&](std::size_t i) {
    list.edges[i] = {number[list.edges[i].source], number[list.edges[i].target]};
  });
}

}  // namespace wyrm::graph
