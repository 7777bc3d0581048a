// SPDX-License-Identifier: Apache-2.0
#include "writers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "binary.hpp"
#include "detail/recognise.hpp"
#include "detail/same_word.hpp"
#include "detail/shown_vertex.hpp"
#include "detail/text_reader.hpp"
#include "output_file.hpp"
#include "serialized.hpp"

namespace wyrm::loaders {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(fs::path const& path, std::string const& what, std::string const& advice) {
  throw error(error_code::bad_argument, path.string() + ": the format cannot represent " + what + "; " + advice);
}

void refuse_times(graph::edge_list const& list, fs::path const& path) {
  if (!list.times.empty()) refuse(path, "times", "write .wyrm or .txt");
}

/// Refuses infinity and NaN, which only Matrix Market and Wyrm's own files have.
void refuse_weights_without_bounds(graph::edge_list const& list, fs::path const& path) {
  auto const at = std::find_if_not(list.weights.begin(), list.weights.end(), [](double w) { return std::isfinite(w); });
  if (at == list.weights.end()) return;
  auto const [source, target] = list.edges[static_cast<std::size_t>(at - list.weights.begin())];
  refuse(path,
         "weights that are not finite, such as " + detail::shown(*at) + " of the edge " +
             detail::shown_vertex(list, source) + " -> " + detail::shown_vertex(list, target),
         "correct them, or write .mtx or .wyrm");
}

std::uint64_t write_matrix_market(graph::edge_list const& list, fs::path const& path) {
  refuse_times(list, path);
  output_file file("the graph", path, output_file::by_extension{});
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
  return file.bytes();
}

void refuse_what_metis_lacks(graph::edge_list const& list, fs::path const& path) {
  refuse_times(list, path);
  if (list.directed) refuse(path, "directions", "make the graph undirected, or write .mtx, .txt or .wyrm");
  if (std::any_of(list.edges.begin(), list.edges.end(), [](auto const& e) { return e.source == e.target; }))
    refuse(path, "self-loops", "remove them, or write .mtx, .txt or .wyrm");
  if (std::any_of(list.weights.begin(), list.weights.end(), [](double w) { return !(w > 0); }))
    refuse(path, "weights that are not positive", "write .mtx, .txt or .wyrm");
  refuse_weights_without_bounds(list, path);
}

template <bool Weighted>
std::uint64_t write_metis_rows(graph::edge_list const& list, fs::path const& path) {
  using neighbour = std::conditional_t<Weighted, std::pair<graph::vertex_id, double>, graph::vertex_id>;
  std::vector<std::uint64_t> ends(list.vertices + 1);
  for (auto const& [source, target] : list.edges) ++ends[source + std::size_t{1}], ++ends[target + std::size_t{1}];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<neighbour> neighbours(2 * list.edges.size());
  auto next = ends;
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    auto const [source, target] = list.edges[i];
    if constexpr (Weighted) {
      neighbours[next[source]++] = {target, list.weights[i]};
      neighbours[next[target]++] = {source, list.weights[i]};
    } else {
      neighbours[next[source]++] = target;
      neighbours[next[target]++] = source;
    }
  }
  next = {};

  output_file file("the graph", path, output_file::by_extension{});
  file.write(std::uint64_t{list.vertices});
  file.write(std::string_view(" "));
  file.write(std::uint64_t{list.edges.size()});
  file.write(std::string_view(Weighted ? " 001\n" : "\n"));
  for (std::size_t v = 0; v < list.vertices; ++v) {
    auto const begin = neighbours.begin() + static_cast<std::ptrdiff_t>(ends[v]);
    auto const end = neighbours.begin() + static_cast<std::ptrdiff_t>(ends[v + 1]);
    std::sort(begin, end);
    for (auto at = begin; at != end; ++at) {
      if (at != begin) file.write(std::string_view(" "));
      if constexpr (Weighted) {
        file.write(std::uint64_t{at->first} + 1);
        file.write(std::string_view(" "));
        file.write(at->second);
      } else {
        file.write(std::uint64_t{*at} + 1);
      }
    }
    file.write(std::string_view("\n"));
  }
  file.finish();
  file.commit();
  return file.bytes();
}

std::uint64_t write_metis(graph::edge_list const& list, fs::path const& path) {
  refuse_what_metis_lacks(list, path);
  return list.weights.empty() ? write_metis_rows<false>(list, path) : write_metis_rows<true>(list, path);
}

void refuse_vertices_without_edges(graph::edge_list const& list, fs::path const& path) {
  std::vector<bool> has_edge(list.vertices);
  for (auto const& [source, target] : list.edges) has_edge[source] = has_edge[target] = true;
  auto const lone = std::find(has_edge.begin(), has_edge.end(), false);
  if (lone == has_edge.end() && list.vertices > 0) return;
  refuse(path,
         list.vertices == 0 ? "a graph without edges"
                            : "vertices without edges, such as " +
                                  detail::shown_vertex(list, static_cast<graph::vertex_id>(lone - has_edge.begin())),
         "write .mtx, .graph or .wyrm");
}

std::uint64_t write_edge_list(graph::edge_list const& list, fs::path const& path) {
  bool const ascend = std::is_sorted(list.ids.begin(), list.ids.end());
  auto const id = [&](std::size_t v) {
    if (list.ids.empty()) return list.first_id + v;
    return ascend ? list.ids[v] : v;
  };
  refuse_vertices_without_edges(list, path);
  refuse_weights_without_bounds(list, path);
  output_file file("the graph", path, output_file::by_extension{});
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
  return file.bytes();
}

std::uint64_t write_gap(graph::edge_list const& list, fs::path const& path, bool weighted) {
  if (!list.directed)
    refuse(path, "undirected graphs", "write .sg or .wsg, or both arcs of each edge by `wyrm convert --directed`");
  detail::refuse_what_gap_lacks(list, path, weighted);
  auto const last = static_cast<graph::vertex_id>(list.vertices - 1);
  bool const has_last = std::any_of(list.edges.begin(), list.edges.end(),
                                    [&](auto const& e) { return e.source == last || e.target == last; });
  if (list.edges.empty() || !has_last)
    refuse(path,
           list.edges.empty() ? "a graph without edges"
                              : "a last vertex without edges, such as " + detail::shown_vertex(list, last),
           "write .sg, .mtx or .wyrm");
  output_file file("the graph", path, output_file::by_extension{});
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    file.write(std::uint64_t{list.edges[i].source});
    file.write(std::string_view(" "));
    file.write(std::uint64_t{list.edges[i].target});
    if (weighted) {
      file.write(std::string_view(" "));
      file.write(static_cast<std::int64_t>(list.weights[i]));
    }
    file.write(std::string_view("\n"));
  }
  file.finish();
  file.commit();
  return file.bytes();
}

using writer = std::uint64_t (*)(graph::edge_list const&, fs::path const&);

/// The writer for the extension, before that of a compression. Files of KONECT (out.NAME) are not written: such a name
/// does not say its format.
writer writer_of(fs::path const& path) {
  constexpr std::pair<std::string_view, writer> known[] = {
      {".mtx", write_matrix_market},
      {".graph", write_metis},
      {".metis", write_metis},
      {".txt", write_edge_list},
      {".tsv", write_edge_list},
      {".edges", write_edge_list},
      {".edgelist", write_edge_list},
      {".el", [](auto const& list, auto const& to) { return write_gap(list, to, false); }},
      {".wel", [](auto const& list, auto const& to) { return write_gap(list, to, true); }},
      {".sg", [](auto const& list, auto const& to) { return write_serialized(list, to, false); }},
      {".wsg", [](auto const& list, auto const& to) { return write_serialized(list, to, true); }},
      {".wyrm", [](auto const& list, auto const& to) { return write_binary(list, to); }},
  };
  auto const name = detail::compression_of(path.filename()) ? path.stem() : path.filename();
  for (auto const& [extension, write] : known)
    if (detail::same_word(name.extension().string(), extension)) return write;
  throw error(error_code::bad_argument,
              path.string() + ": this format is not written; written are " + written_formats + ": choose another name");
}

}  // namespace

std::uint64_t first_written_id(fs::path const& path) {
  writer const write = writer_of(path);
  return write == write_matrix_market || write == write_metis ? 1 : 0;
}

void refuse_unwritable(fs::path const& path) {
  (void)writer_of(path);
  fs::path const folder = path.parent_path();
  std::error_code ignored;
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    throw error(error_code::io, "cannot write the graph " + path.string() + ": there is no folder " + folder.string());
}

std::uint64_t write(graph::edge_list const& list, fs::path const& path) { return writer_of(path)(list, path); }

}  // namespace wyrm::loaders
