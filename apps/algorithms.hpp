// SPDX-License-Identifier: Apache-2.0
// The table of all algorithms that `wyrm run` computes and `wyrm stream` maintains, with one form for their results:
// figures, the largest values, and values of vertices or edges. Tables, reports and files of values are written from
// these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../algorithms/triangles.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/types.hpp"

namespace wyrm::apps {

/// A figure that describes a result.
struct figure {
  struct vertex {
    graph::vertex_id number;
  };
  using any_value = std::variant<std::monostate, bool, std::uint64_t, double, vertex>;

  std::string name;  // of the field in reports
  any_value value;   // std::monostate: there is none
  // The text of the figure in a table, with {} in place of the value; a text that begins with a space follows the
  // figure before without a comma. Empty: the figure is in reports only. The text of a bool is for false. A
  // std::monostate is shown only by a text without {}.
  char const* shown = "";
};

/// Values of all vertices, or of some edges.
struct value_column {
  enum class kind : std::uint8_t {
    number,
    distance,  // ~0 is written as 9223372036854775807, as Graphalytics does
    vertex,    // written as the id of the vertex
  };
  std::variant<std::vector<std::uint32_t>, std::vector<std::uint64_t>, std::vector<double>> values;
  kind is = kind::number;
};
struct value_table {
  std::string head;                               // the first line of the file; empty: none
  std::optional<std::vector<graph::edge>> edges;  // nothing: values of all vertices
  std::vector<value_column> columns;              // with as many values each
};

/// The largest values of vertices.
struct ranking {
  struct entry {
    graph::vertex_id vertex;
    std::variant<std::uint64_t, double> value;
  };
  char const* title = "";  // of its rows in a table; empty: the algorithm has no such list
  char const* name = "";   // of the value in reports
  std::vector<entry> entries;
};

struct algorithm_result {
  double ms = 0;  // wall-clock time; copying values to the host is included, unless an algorithm says otherwise
  std::vector<figure> figures;
  // Further figures with a row of their own in a table.
  char const* details = "";
  std::vector<figure> detail_figures;
  ranking top;
  value_table values;
};

struct algorithm_input {
  graph::any_graph const& g;
  graph::csr const& rows;                  // of g
  std::vector<double> const& weights;      // of the arcs in rows; empty unless `weighted`
  std::optional<graph::vertex_id> source;  // nothing only in a graph without vertices
  bool weighted;                           // whether the values of the graph are weights; else each weight is 1
  double tolerance;                        // of iterations: L1 norm of the last change
  std::size_t top;                         // length of the ranking
  bool per_vertex;                         // whether values of vertices are asked for beside totals
  std::optional<std::size_t> sources;      // of betweenness, as run_options::sources
  std::uint64_t seed;                      // of the draw of sources
};

/// The graph that a maintained result belongs to.
struct maintained_state {
  std::set<graph::vertex_id> const& absent;  // the vertices that were removed
  double unit;                               // the weight of an edge of value 1
  std::size_t top;                           // length of the ranking
};

struct maintained_algorithm {
  std::unique_ptr<graph::maintained_result> result;
  /// Copies the result to the host; `ms` is 0. Nothing for PageRank and triangles, which `wyrm stream` prints in their
  /// own forms.
  std::function<algorithm_result(maintained_state const&)> describe = {};
  bool is_unique = true;  // whether the result depends on the graph only, and equals that of run()
};

struct algorithm {
  char const* name;         // on command lines, in reports and in names of files
  char const* title;        // of the row in a table
  char const* what;         // its values in messages: "the ranks"
  char const* help;         // one line
  bool undirected = false;  // whether it needs an undirected graph
  bool weights = false;     // whether it uses weights
  bool source = false;      // whether it begins at a source
  algorithm_result (*run)(algorithm_input const& in);
  /// Begins to maintain the result in in.g; does not use the rows and the weights. nullptr: it cannot be maintained.
  maintained_algorithm (*maintain)(algorithm_input const& in) = nullptr;
};

/// All of them. PageRank and triangles, which are run by default, are first.
[[nodiscard]] std::span<algorithm const> all_algorithms();

/// Without run_options::sources, betweenness is computed from all vertices of a graph up to this size, and from so many
/// of larger ones.
inline constexpr std::size_t exact_betweenness_vertices = 10'000;
inline constexpr std::size_t betweenness_sample = 64;

/// The values of PageRank and of triangles, also for `wyrm stream`.
[[nodiscard]] value_table rank_values(std::vector<double> rank);
[[nodiscard]] value_table triangle_values(algorithms::triangles_result r);

}  // namespace wyrm::apps
