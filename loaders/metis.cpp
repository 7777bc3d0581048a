// SPDX-License-Identifier: Apache-2.0
// The METIS parser. It goes through the file once: when the line of a vertex comes, the lines of all smaller vertices
// are known, so every edge to a smaller neighbour is matched at once against what that neighbour's line said.
#include "metis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detail/text_reader.hpp"

namespace wyrm::loaders {
namespace detail {
namespace {

constexpr auto any = std::numeric_limits<std::uint64_t>::max();

constexpr expectation vertex_count{"the number of vertices",
                                   "the header is \"vertices edges [fmt [ncon]]\", and ids have 32 bits"};
constexpr expectation edge_count{"a number of edges that a file of this size can hold",
                                 "the header is \"vertices edges [fmt [ncon]]\"; the file may be truncated"};
constexpr expectation format_digits{"fmt of one to three digits 0 or 1 (sizes, vertex weights, edge weights)",
                                    "correct the header"};
constexpr expectation weight_count{"ncon, the number of weights of a vertex",
                                   "give ncon only with a fmt that has vertex weights (010)"};
constexpr expectation header_end{"the end of the header", "it has at most four numbers: vertices edges fmt ncon"};
constexpr expectation vertex_size{"the size of the vertex", "fmt 1xx puts it first on every line"};
constexpr expectation vertex_weight{"a weight of the vertex", "fmt x1x puts ncon weights before the neighbours"};
constexpr expectation neighbour_id{"the id of a neighbour", "ids start at 1 and end at the header's vertex count"};
constexpr expectation edge_weight{"the weight of the edge, a positive finite number",
                                  "fmt xx1 puts one behind every neighbour"};

struct header {
  std::size_t line = 0;
  std::size_t vertices = 0;
  std::size_t edges = 0;
  std::uint64_t vertex_weights = 0;
  bool vertex_sizes = false;
  bool edge_weights = false;
};

/// A neighbour in a row; the order makes rows of the two halves of repeated edges comparable.
struct neighbour {
  graph::vertex_id id;
  double weight;
  friend auto operator<=>(neighbour const&, neighbour const&) = default;
};

void read_format(text_reader& reader, header& head) {
  auto const digits = reader.peek_word();
  if (digits.size() > 3 || digits.find_first_not_of("01") != std::string_view::npos) reader.fail(format_digits);
  auto const flag = [&](std::size_t from_right) {
    return from_right < digits.size() && digits[digits.size() - 1 - from_right] == '1';
  };
  head.edge_weights = flag(0);
  head.vertex_weights = flag(1) ? 1 : 0;
  head.vertex_sizes = flag(2);
  reader.skip_word();
}

header read_header(text_reader& reader) {
  while (!reader.end_of_file() && (reader.comment() || reader.end_of_line())) reader.skip_line();
  header head;
  head.line = reader.line();
  head.vertices = reader.read_unsigned(0, graph::max_vertices, vertex_count);
  // A vertex takes a line, at least one byte; an edge two entries of at least a digit and a blank, where the last byte
  // of the file may lack. Nothing is allocated for counts that cannot be true.
  if (head.vertices > reader.bytes()) {
    reader.fail_at(
        head.line,
        "a number of vertices that a file of this size can hold (0 to " + std::to_string(reader.bytes()) + ")",
        '"' + std::to_string(head.vertices) + '"', "every vertex has a line of its own; the file may be truncated");
  }
  head.edges = reader.read_unsigned(0, (reader.bytes() + 1) / 4, edge_count);
  if (!reader.end_of_line()) read_format(reader, head);
  if (!reader.end_of_line()) {
    // Without vertex weights ncon says nothing: zero is let through, other numbers contradict fmt.
    bool const weighted = head.vertex_weights != 0;
    head.vertex_weights = reader.read_unsigned(weighted ? 1 : 0, weighted ? any : 0, weight_count);
  }
  reader.end_line(header_end);
  return head;
}

class metis_parser {
 public:
  explicit metis_parser(text_reader& reader) : reader_(reader), head_(read_header(reader)) {}

  graph::edge_list parse() {
    list_.vertices = head_.vertices;
    list_.edges.reserve(head_.edges);
    if (head_.edge_weights) list_.weights.reserve(head_.edges);
    next_.reserve(head_.vertices);
    for (std::size_t v = 0; v < head_.vertices; ++v) {
      read_row(static_cast<graph::vertex_id>(v));
      add_row(static_cast<graph::vertex_id>(v));
      reader_.skip_line();
    }
    read_rest();
    return std::move(list_);
  }

 private:
  /// Leaves the cursor at the end of the vertex's line and its neighbours, ascending, in `row_`.
  void read_row(graph::vertex_id vertex) {
    while (reader_.comment()) reader_.skip_line();
    if (reader_.end_of_file()) {
      reader_.fail({"the line of vertex " + name(vertex) + " of " + std::to_string(head_.vertices),
                    "every vertex has a line, which is empty when it has no neighbours; the file may be truncated"});
    }
    if (head_.vertex_sizes) (void)reader_.read_unsigned(0, any, vertex_size);
    for (std::uint64_t i = 0; i < head_.vertex_weights; ++i) (void)reader_.read_unsigned(0, any, vertex_weight);
    row_.clear();
    while (!reader_.end_of_line()) {
      if (entries_ == 2 * head_.edges) {
        reader_.fail({"no more than the header's " + std::to_string(head_.edges) + " edges, each listed twice",
                      "correct the header on line " + std::to_string(head_.line) + " or the neighbours"});
      }
      ++entries_;
      auto const id = static_cast<graph::vertex_id>(reader_.read_unsigned(1, head_.vertices, neighbour_id) - 1);
      if (id == vertex) {
        reader_.fail_at(reader_.line(), "a neighbour other than the vertex itself", '"' + name(id) + '"',
                        "METIS files hold no self-loops: remove this one");
      }
      row_.push_back({id, head_.edge_weights ? reader_.read_real(edge_weight, 0) : 0});
    }
    if (!std::is_sorted(row_.begin(), row_.end())) std::sort(row_.begin(), row_.end());
  }

  /// Matches the smaller neighbours with edges that their lines have brought, adds an edge for each larger one.
  void add_row(graph::vertex_id vertex) {
    next_.push_back(list_.edges.size());
    for (auto const& [id, weight] : row_) {
      if (id > vertex) {
        list_.edges.push_back({vertex, id});
        if (head_.edge_weights) list_.weights.push_back(weight);
        continue;
      }
      auto const i = next_[id];
      if (!unmatched(id) || list_.edges[i].target > vertex) fail_asymmetric(reader_.line(), vertex, id);
      if (list_.edges[i].target < vertex) fail_asymmetric(line_of(id), id, list_.edges[i].target);
      if (head_.edge_weights && list_.weights[i] != weight) {
        reader_.fail_at(
            reader_.line(), "equal weights of edge " + name(id) + "-" + name(vertex) + " at both vertices",
            shown(weight) + " here and " + shown(list_.weights[i]) + " on line " + std::to_string(line_of(id)),
            "an undirected edge has one weight: correct one of the two");
      }
      ++next_[id];
    }
  }

  /// Behind the last vertex: nothing but comments and empty lines, all edges matched, and as many as announced.
  void read_rest() {
    while (!reader_.end_of_file()) {
      if (!reader_.comment() && !reader_.end_of_line()) {
        reader_.fail({"no line behind that of the last vertex, " + std::to_string(head_.vertices),
                      "correct the header on line " + std::to_string(head_.line) + " or remove the line"});
      }
      reader_.skip_line();
    }
    for (std::size_t v = 0; v < head_.vertices; ++v) {
      auto const id = static_cast<graph::vertex_id>(v);
      if (unmatched(id)) fail_asymmetric(line_of(id), id, list_.edges[next_[v]].target);
    }
    if (entries_ != 2 * head_.edges) {
      reader_.fail_at(head_.line, std::to_string(entries_ / 2) + " edges, as many as the lines below list",
                      '"' + std::to_string(head_.edges) + '"',
                      "the header counts each edge once, the lines list it twice; the file may be incomplete");
    }
  }

  /// Whether the vertex's line has edges to larger vertices that no line of theirs has confirmed yet.
  [[nodiscard]] bool unmatched(graph::vertex_id vertex) const {
    return next_[vertex] < list_.edges.size() && list_.edges[next_[vertex]].source == vertex;
  }

  [[noreturn]] void fail_asymmetric(std::size_t line, graph::vertex_id vertex, graph::vertex_id other) const {
    reader_.fail_at(line, "edge " + name(vertex) + "-" + name(other) + " equally often on the lines of both vertices",
                    "it more often here than on line " + std::to_string(line_of(other)) + " of vertex " + name(other),
                    "list it there too, or remove it here");
  }

  /// Where a vertex's line is. Only errors need it, so it is counted again rather than kept.
  [[nodiscard]] std::size_t line_of(graph::vertex_id vertex) const {
    progress const silent;
    text_reader again(reader_.file(), silent);
    while (again.line() <= head_.line) again.skip_line();
    for (std::size_t v = 0;; ++v) {
      while (again.comment()) again.skip_line();
      if (v == vertex) return again.line();
      again.skip_line();
    }
  }

  /// A vertex as the file numbers it.
  [[nodiscard]] static std::string name(graph::vertex_id vertex) { return std::to_string(std::uint64_t{vertex} + 1); }

  [[nodiscard]] static std::string shown(double weight) {
    std::array<char, 32> digits{};
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), weight).ptr;
    return {digits.data(), end};
  }

  text_reader& reader_;
  header head_;
  graph::edge_list list_;
  std::vector<neighbour> row_;
  std::vector<std::size_t> next_;  // for each vertex, the first of its edges that is not matched yet
  std::uint64_t entries_ = 0;
};

}  // namespace

graph::edge_list parse_metis(text_reader& reader) { return metis_parser(reader).parse(); }

}  // namespace detail

graph::edge_list load_metis(std::filesystem::path const& path, progress const& report) {
  return detail::load_text(path, report, detail::parse_metis);
}

}  // namespace wyrm::loaders
