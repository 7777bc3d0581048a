// SPDX-License-Identifier: Apache-2.0
#include "writers.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "binary.hpp"
#include "detail/recognise.hpp"
#include "output_file.hpp"

namespace wyrm::loaders {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(fs::path const& path, std::string const& what, std::string const& advice) {
  throw error(error_code::bad_argument, path.string() + ": the format cannot represent " + what + "; " + advice);
}

void refuse_times(graph::edge_list const& list, fs::path const& path) {
  if (!list.times.empty()) refuse(path, "times", "write .wyrm or .txt");
}

void write_matrix_market(graph::edge_list const& list, fs::path const& path) {
  refuse_times(list, path);
  output_file file("the graph", path);
  file.write(std::string_view("%%MatrixMarket matrix coordinate "));
  file.write(std::string_view(list.weights.empty() ? "pattern " : "real "));
  file.write(std::string_view(list.directed ? "general\n" : "symmetric\n"));
  for (int i = 0; i < 2; ++i) {
    file.write(std::uint64_t{list.vertices});
    file.write(std::string_view(" "));
  }
  file.write(std::uint64_t{list.edges.size()});
  file.write(std::string_view("\n"));
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    auto [row, column] = list.edges[i];
    if (!list.directed && row < column) std::swap(row, column);
    file.write(std::uint64_t{row} + 1);
    file.write(std::string_view(" "));
    file.write(std::uint64_t{column} + 1);
    if (!list.weights.empty()) {
      file.write(std::string_view(" "));
      file.write(list.weights[i]);
    }
    file.write(std::string_view("\n"));
  }
  file.finish();
  file.commit();
}

void refuse_what_metis_lacks(graph::edge_list const& list, fs::path const& path) {
  refuse_times(list, path);
  if (list.directed) refuse(path, "directions", "make the graph undirected, or write .mtx, .txt or .wyrm");
  if (std::any_of(list.edges.begin(), list.edges.end(), [](auto const& e) { return e.source == e.target; }))
    refuse(path, "self-loops", "remove them, or write .mtx, .txt or .wyrm");
  if (std::any_of(list.weights.begin(), list.weights.end(), [](double w) { return !(w > 0); }))
    refuse(path, "weights that are not positive", "write .mtx, .txt or .wyrm");
}

void write_metis(graph::edge_list const& list, fs::path const& path) {
  refuse_what_metis_lacks(list, path);
  bool const weighted = !list.weights.empty();
  std::vector<std::uint64_t> ends(list.vertices + 1);
  for (auto const& [source, target] : list.edges) ++ends[source + std::size_t{1}], ++ends[target + std::size_t{1}];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  using neighbour = std::pair<graph::vertex_id, double>;
  std::vector<neighbour> neighbours(2 * list.edges.size());
  auto next = ends;
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    auto const [source, target] = list.edges[i];
    auto const weight = weighted ? list.weights[i] : 0;
    neighbours[next[source]++] = {target, weight};
    neighbours[next[target]++] = {source, weight};
  }
  next = {};

  output_file file("the graph", path);
  file.write(std::uint64_t{list.vertices});
  file.write(std::string_view(" "));
  file.write(std::uint64_t{list.edges.size()});
  file.write(std::string_view(weighted ? " 001\n" : "\n"));
  for (std::size_t v = 0; v < list.vertices; ++v) {
    auto const begin = neighbours.begin() + static_cast<std::ptrdiff_t>(ends[v]);
    auto const end = neighbours.begin() + static_cast<std::ptrdiff_t>(ends[v + 1]);
    std::sort(begin, end);
    for (auto at = begin; at != end; ++at) {
      if (at != begin) file.write(std::string_view(" "));
      file.write(std::uint64_t{at->first} + 1);
      if (weighted) {
        file.write(std::string_view(" "));
        file.write(at->second);
      }
    }
    file.write(std::string_view("\n"));
  }
  file.finish();
  file.commit();
}

template <class Id>
void refuse_vertices_without_edges(graph::edge_list const& list, fs::path const& path, Id const& id) {
  std::vector<bool> has_edge(list.vertices);
  for (auto const& [source, target] : list.edges) has_edge[source] = has_edge[target] = true;
  auto const lone = std::find(has_edge.begin(), has_edge.end(), false);
  if (lone == has_edge.end() && list.vertices > 0) return;
  refuse(path,
         list.vertices == 0 ? "a graph without edges"
                            : "vertices without edges, such as " +
                                  std::to_string(id(static_cast<std::size_t>(lone - has_edge.begin()))),
         "write .mtx, .graph or .wyrm");
}

void write_edge_list(graph::edge_list const& list, fs::path const& path) {
  bool const ascend = std::is_sorted(list.ids.begin(), list.ids.end());
  auto const id = [&](std::size_t v) {
    if (list.ids.empty()) return list.first_id + v;
    return ascend ? list.ids[v] : v;
  };
  refuse_vertices_without_edges(list, path, id);
  output_file file("the graph", path);
  if (!list.directed) file.write(std::string_view("# Undirected graph\n"));
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    file.write(id(list.edges[i].source));
    file.write(std::string_view("\t"));
    file.write(id(list.edges[i].target));
    for (auto const* const column : {&list.weights, &list.times}) {
      if (column->empty()) continue;
      file.write(std::string_view("\t"));
      file.write((*column)[i]);
    }
    file.write(std::string_view("\n"));
  }
  file.finish();
  file.commit();
}

/// The format of the extension. Files of KONECT (out.NAME) are not written: such a name does not say its format.
file_format written_format(fs::path const& path) {
  auto const format = detail::format_of_extension(path.filename());
  for (auto const written :
       {file_format::matrix_market, file_format::metis, file_format::edge_list, file_format::binary})
    if (format == written) return written;
  throw error(error_code::bad_argument,
              path.string() + ": this format is not written; written are .mtx, .graph, .metis, .txt, .tsv, .edges, " +
                  ".edgelist and .wyrm, not compressed: choose another name");
}

}  // namespace

void refuse_unwritten_format(fs::path const& path) { (void)written_format(path); }

void write(graph::edge_list const& list, fs::path const& path) {
  auto const format = written_format(path);
  if (format == file_format::matrix_market) return write_matrix_market(list, path);
  if (format == file_format::metis) return write_metis(list, path);
  if (format == file_format::edge_list) return write_edge_list(list, path);
  write_binary(list, path);
}

}  // namespace wyrm::loaders
