// SPDX-License-Identifier: Apache-2.0
// The METIS parser. All cores parse lines in parallel; then one thread processes the rows in order. When it processes
// the row of a vertex, the rows of all smaller vertices are known, so it can match each edge to a smaller neighbour
// with the edge in the neighbour's row at once.
#include "metis.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detail/parallel_lines.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr std::string_view comment_marks = "%";

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
constexpr expectation vertex_size{"the size of the vertex", "fmt 1xx has it first on every line"};
constexpr expectation vertex_weight{"a weight of the vertex", "fmt x1x has ncon weights before the neighbours"};
constexpr expectation neighbour_id{"the id of a neighbour", "ids start at 1 and end at the header's vertex count"};
constexpr expectation edge_weight{"the weight of the edge, a positive finite number",
                                  "fmt xx1 has one after every neighbour"};

struct header {
  std::size_t line = 0;
  std::size_t vertices = 0;
  std::size_t edges = 0;
  std::uint64_t vertex_weights = 0;
  bool vertex_sizes = false;
  bool edge_weights = false;

  /// The most bytes of the line of a vertex, which may be a neighbour of all others.
  [[nodiscard]] std::size_t longest_row() const { return std::max(std::size_t{1} << 28, 64 * edges); }
};

/// A neighbour in a row. Sorted rows list the weights of parallel edges in the same order at both ends.
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
  reader.skip_comments();
  header head;
  auto const bytes = reader.in().text.size();
  head.line = reader.line();
  head.vertices = reader.read_unsigned(0, graph::max_vertices, vertex_count);
  // A vertex needs a line, which is at least one byte. An edge needs two entries of at least a digit and a blank; the
  // last byte of the file may be missing. Counts that the file is too small for are refused before memory is allocated.
  if (head.vertices > bytes) {
    reader.fail_at(
        head.line, "a number of vertices that a file of this size can hold (0 to " + std::to_string(bytes) + ")",
        '"' + std::to_string(head.vertices) + '"', "every vertex has a line of its own; the file may be truncated");
  }
  head.edges = reader.read_unsigned(0, (bytes + 1) / 4, edge_count);
  if (!reader.end_of_line()) read_format(reader, head);
  if (!reader.end_of_line()) {
    // Without vertex weights ncon is meaningless: zero is accepted; other numbers contradict fmt.
    bool const weighted = head.vertex_weights != 0;
    head.vertex_weights = reader.read_unsigned(weighted ? 1 : 0, weighted ? any : 0, weight_count);
  }
  reader.end_line(header_end);
  return head;
}

/// The rows of a piece of the file, concatenated.
struct rows {
  struct row {
    std::size_t end;  // index in neighbours
    bool empty_line;
  };
  std::vector<neighbour> neighbours;
  std::vector<row> each;
  void clear() noexcept {
    neighbours.clear();
    each.clear();
  }
};

/// Reads size and weights of a vertex, which precede its neighbours.
void read_vertex(text_reader& reader, header const& head) {
  if (head.vertex_sizes) (void)reader.read_unsigned(0, any, vertex_size);
  for (std::uint64_t i = 0; i < head.vertex_weights; ++i) (void)reader.read_unsigned(0, any, vertex_weight);
}

void read_rows(text_reader& reader, header const& head, rows& part) {
  for (; !reader.end_of_file(); reader.skip_line()) {
    if (reader.comment()) continue;
    bool const empty_line = reader.end_of_line();
    if (!empty_line) read_vertex(reader, head);
    while (!reader.end_of_line()) {
      auto const id = static_cast<graph::vertex_id>(reader.read_unsigned(1, head.vertices, neighbour_id) - 1);
      part.neighbours.push_back({id, head.edge_weights ? reader.read_real(edge_weight, 0) : 0});
    }
    part.each.push_back({part.neighbours.size(), empty_line});
  }
}

class metis_parser {
 public:
  explicit metis_parser(source const& in) : reader_(in, in.begin(), comment_marks), head_(read_header(reader_)) {}

  graph::edge_list parse() {
    list_.vertices = head_.vertices;
    list_.first_id = 1;
    list_.edges.reserve(head_.edges);
    if (head_.edge_weights) list_.weights.reserve(head_.edges);
    next_.reserve(head_.vertices);
    scan_lines<rows>(
        reader_.in(), reader_.at(), comment_marks,
        [this](text_reader& reader, rows& part) { read_rows(reader, head_, part); },
        [this](rows& part) { add_rows(part); }, head_.longest_row());
    finish();
    return std::move(list_);
  }

 private:
  using row_span = std::span<neighbour>;

  void add_rows(rows& part) {
    std::size_t begin = 0;
    for (auto const& [end, empty_line] : part.each) {
      auto const row = row_span(part.neighbours).subspan(begin, end - begin);
      begin = end;
      if (next_.size() < head_.vertices) {
        add_row(static_cast<graph::vertex_id>(next_.size()), row, empty_line);
      } else if (!empty_line) {
        auto reader = reader_at(head_.vertices);
        reader.skip_comments();
        reader.fail({"no line after that of the last vertex, " + std::to_string(head_.vertices),
                     "correct the header on line " + std::to_string(head_.line) + " or remove the line"});
      }
    }
  }

  void add_row(graph::vertex_id vertex, row_span row, bool empty_line) {
    if (empty_line && (head_.vertex_sizes || head_.vertex_weights > 0)) {
      auto reader = reader_at(vertex);
      read_vertex(reader, head_);
    }
    check_row(vertex, row);
    if (!std::is_sorted(row.begin(), row.end())) std::sort(row.begin(), row.end());
    match_row(vertex, row);
  }

  /// Refuses self-loops, and more entries than the header has.
  void check_row(graph::vertex_id vertex, row_span row) {
    for (auto const& [id, weight] : row) {
      if (entries_ == 2 * head_.edges) {
        reader_.fail_at(
            line_of(vertex), "no more than the header's " + std::to_string(head_.edges) + " edges, each listed twice",
            '"' + name(id) + '"', "correct the header on line " + std::to_string(head_.line) + " or the neighbours");
      }
      ++entries_;
      if (id == vertex) {
        reader_.fail_at(line_of(vertex), "a neighbour other than the vertex itself", '"' + name(id) + '"',
                        "METIS files hold no self-loops: remove this one");
      }
    }
  }

  /// Matches the smaller neighbours with the edges in their rows, and adds an edge for each larger neighbour.
  void match_row(graph::vertex_id vertex, row_span row) {
    next_.push_back(list_.edges.size());
    for (auto const& [id, weight] : row) {
      if (id > vertex) {
        list_.edges.push_back({vertex, id});
        if (head_.edge_weights) list_.weights.push_back(weight);
        continue;
      }
      auto const i = next_[id];
      if (!unmatched(id) || list_.edges[i].target > vertex) fail_asymmetric(line_of(vertex), vertex, id);
      if (list_.edges[i].target < vertex) fail_asymmetric(line_of(id), id, list_.edges[i].target);
      if (head_.edge_weights && list_.weights[i] != weight) {
        reader_.fail_at(
            line_of(vertex), "equal weights of edge " + name(id) + "-" + name(vertex) + " at both vertices",
            shown(weight) + " here and " + shown(list_.weights[i]) + " on line " + std::to_string(line_of(id)),
            "an undirected edge has one weight: correct one of the two");
      }
      ++next_[id];
    }
  }

  /// After the last line: checks that every vertex has a line, that all edges are matched, and their number.
  void finish() {
    if (next_.size() < head_.vertices) {
      text_reader(reader_.in(), reader_.in().end(), comment_marks)
          .fail({"the line of vertex " + std::to_string(next_.size() + 1) + " of " + std::to_string(head_.vertices),
                 "every vertex has a line, which is empty when it has no neighbours; the file may be truncated"});
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

  /// Whether the row of the vertex has an edge to a larger vertex that is not yet matched with that vertex's row.
  [[nodiscard]] bool unmatched(graph::vertex_id vertex) const {
    return next_[vertex] < list_.edges.size() && list_.edges[next_[vertex]].source == vertex;
  }

  [[noreturn]] void fail_asymmetric(std::size_t line, graph::vertex_id vertex, graph::vertex_id other) const {
    reader_.fail_at(line, "edge " + name(vertex) + "-" + name(other) + " equally often on the lines of both vertices",
                    "it more often here than on line " + std::to_string(line_of(other)) + " of vertex " + name(other),
                    "list it there too, or remove it here");
  }

  /// The line number of a vertex. Only error messages need it, so it is computed again instead of stored.
  [[nodiscard]] std::size_t line_of(graph::vertex_id vertex) const { return reader_at(vertex).line(); }

  /// A reader at the beginning of the line of a vertex.
  [[nodiscard]] text_reader reader_at(std::size_t vertex) const {
    text_reader again = reader_;
    for (std::size_t v = 0;; ++v) {
      while (again.comment()) again.skip_line();
      if (v == vertex) return again;
      again.skip_line(head_.longest_row());
    }
  }

  /// The id of a vertex in the file.
  [[nodiscard]] static std::string name(graph::vertex_id vertex) { return std::to_string(std::uint64_t{vertex} + 1); }

  text_reader reader_;  // after the header
  header head_;
  graph::edge_list list_;
  std::vector<std::size_t> next_;  // for each vertex, the index of its first edge that is not yet matched
  std::uint64_t entries_ = 0;
};

}  // namespace

graph::edge_list parse_metis(source const& in) { return metis_parser(in).parse(); }

}  // namespace wyrm::loaders::detail
