// SPDX-License-Identifier: Apache-2.0
#include "diff.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

#include "../exec/host_space.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/query/difference.hpp"
#include "../loaders/output_file.hpp"
#include "output_paths.hpp"
#include "update_reader.hpp"

namespace wyrm::apps {

namespace {

using graph::vertex_id;

struct named_graph {
  named_graph(graph_file const& file, graph::edge_list loaded)
      : name(file.name),
        has_names(file.ids == id_kind::file && !loaded.names.empty()),
        list(std::move(loaded)),
        ids(list, file.ids) {
    if (list.weights.empty()) list.weights.assign(list.edges.size(), 1);
    for (double& weight : list.weights) weight += 0.0;  // -0 becomes 0: they are equal, and their bytes are not
    reverse_edges(list);
    for (std::size_t i = 0; i < list.vertices; ++i)
      if (auto const v = static_cast<vertex_id>(i); ids.find(ids.text(v)) != v)
        throw error(error_code::bad_input,
                    name + ": two vertices have the id " + ids.text(v) + "; compare by numbers with --ids internal");
  }
  std::string name;
  bool has_names;
  graph::edge_list list;
  vertex_ids ids;
};

// The vertices of two graphs by common numbers: those of the old graph, and then the vertices that only the new one
// has.
struct common_vertices {
  common_vertices(named_graph const& old, named_graph const& later)
      : before(old.ids), after(later.ids), old_vertices(old.list.vertices), stays(old_vertices) {
    for (std::size_t v = 0; v < later.list.vertices; ++v) {
      auto const found = before.find(after.text(static_cast<vertex_id>(v)));
      if (found) {
        stays[*found] = true;
        numbers.push_back(*found);
      } else {
        numbers.push_back(static_cast<vertex_id>(size()));
        added.push_back(static_cast<vertex_id>(v));
      }
    }
    if (size() > graph::max_vertices)
      throw error(error_code::bad_argument, "both graphs have " + std::to_string(size()) +
                                                " vertices, and the maximum is " + std::to_string(graph::max_vertices) +
                                                ": compare smaller graphs");
  }
  [[nodiscard]] std::size_t size() const { return old_vertices + added.size(); }
  [[nodiscard]] std::string text(vertex_id v) const {
    return v < old_vertices ? before.text(v) : after.text(added[v - old_vertices]);
  }
  [[nodiscard]] bool is_removed(vertex_id v) const { return v < old_vertices && !stays[v]; }

  vertex_ids const& before;
  vertex_ids const& after;
  std::size_t old_vertices;
  std::vector<bool> stays;         // of the old vertices
  std::vector<vertex_id> numbers;  // of the new graph's vertices
  std::vector<vertex_id> added;    // the new graph's vertices that the old one does not have
};

// The changes of edges, by common numbers: the graph becomes the new one, and its two moments are compared.
graph::changes<double> changed_edges(graph::edge_list& old, graph::edge_list& later, common_vertices const& vertices) {
  exec::host_space const space;
  old.vertices = vertices.size();
  // Every build has this allocator (WYRM_GRAPH_ALLOCATORS).
  graph::any_graph g = graph::build(
      space, "malloc", old, {.directed = old.directed, .in_neighbours = false, .values = graph::number_type::f64});
  graph::snapshot const before = g.snapshot();
  g.erase(old.edges);
  old = {};
  for (graph::edge& e : later.edges) e = {vertices.numbers[e.source], vertices.numbers[e.target]};
  g.insert(later.edges, graph::host_numbers(later.weights));
  later = {};
  return graph::difference<double>(space, before.view(), g.view()).to_host();
}

struct edge_counts {
  std::uint64_t inserted = 0;
  std::uint64_t erased = 0;
  std::uint64_t reweighted = 0;
  std::uint64_t unusual = 0;  // weights that `wyrm stream --weighted` refuses
};

void write_edge(loaders::output_file& out, common_vertices const& vertices, char const* sign, graph::edge e) {
  out.write(sign);
  out.write(vertices.text(e.source));
  out.write(" ");
  out.write(vertices.text(e.target));
}

edge_counts write_edges(loaders::output_file& out, graph::changes<double> const& changes,
                        common_vertices const& vertices, std::string const& name) {
  std::vector<std::size_t> order(changes.edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto const inserts = [&](std::size_t i) { return changes.operations[i] == graph::operation::insert; };
  // An edge with another weight is erased and inserted.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return changes.edges[a] != changes.edges[b] ? changes.edges[a] < changes.edges[b] : inserts(a) < inserts(b);
  });
  edge_counts counts;
  for (std::size_t at = 0; at < order.size(); ++at) {
    graph::edge const e = changes.edges[order[at]];
    bool const erases = !inserts(order[at]);
    bool const both = erases && at + 1 < order.size() && changes.edges[order[at + 1]] == e;
    if (erases && !both) {
      ++counts.erased;
      if (vertices.is_removed(e.source) || vertices.is_removed(e.target)) continue;
      write_edge(out, vertices, "- ", e);
      out.write("\n");
      continue;
    }
    ++(both ? counts.reweighted : counts.inserted);
    if (both) ++at;
    double const weight = changes.values[order[at]];
    if (!std::isfinite(weight)) {
      std::ostringstream what;
      what << name << ": the weight " << weight << " of the edge " << vertices.text(e.source) << " -> "
           << vertices.text(e.target) << " is not finite, and no update can have it: correct it";
      throw error(error_code::bad_input, what.str());
    }
    if (!is_usable_weight(weight)) ++counts.unusual;
    write_edge(out, vertices, "+ ", e);
    if (both || weight != 1) {
      out.write(" ");
      out.write(weight);
      out.write(" 0");
    }
    out.write("\n");
  }
  return counts;
}

}  // namespace

void diff(diff_options const& o) {
  graph_file const& from = o.from;
  graph_file to = from;
  to.name = o.to;
  refuse_equal_paths(from, {{"-o", o.updates}}, {{"the other input", to.name}});
  refuse_equal_paths(to, {{"-o", o.updates}}, {{"the other input", from.name}});
  require_name_of_text("-o", o.updates);
  if (from.settings.random_weights && from.ids == id_kind::file)
    throw error(error_code::bad_argument,
                "--random-weights draws weights by the numbers of vertices, which differ between files: add --ids "
                "internal");
  loaders::output_file out("the updates", o.updates, loaders::output_file::by_extension{});
  named_graph old(from, load_file(from));
  named_graph later(to, load_file(to));
  if (old.list.directed != later.list.directed)
    throw error(error_code::bad_argument, (old.list.directed ? old : later).name + " is directed, and " +
                                              (old.list.directed ? later : old).name +
                                              " is undirected: add --directed or --undirected");
  if (old.has_names != later.has_names && later.list.vertices > 0)
    throw error(error_code::bad_argument, "vertices have names in " + (old.has_names ? old : later).name +
                                              ", and numbers in " + (old.has_names ? later : old).name +
                                              ": compare by numbers with --ids internal");
  common_vertices const vertices(old, later);
  auto const removed = static_cast<std::size_t>(std::count(vertices.stays.begin(), vertices.stays.end(), false));
  for (std::size_t i = 0; i < vertices.old_vertices; ++i)
    if (auto const v = static_cast<vertex_id>(i); vertices.is_removed(v)) out.write("-v " + vertices.text(v) + '\n');
  for (vertex_id const v : vertices.added) out.write("+v " + later.ids.text(v) + '\n');
  edge_counts const counts = write_edges(out, changed_edges(old.list, later.list, vertices), vertices, later.name);
  out.finish();
  out.commit();
  std::cerr << "vertices: " << vertices.added.size() << " added, " << removed << " removed; edges: " << counts.inserted
            << " inserted, " << counts.erased << " erased, " << counts.reweighted << " with another weight\n";
  if (counts.unusual > 0)
    std::cerr << "warning: " << counts.unusual
              << " weights are negative or greater than 1e100; wyrm stream --weighted refuses them\n";
}

}  // namespace wyrm::apps
