// SPDX-License-Identifier: Apache-2.0
#include "serialized.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../exec/error.hpp"
#include "detail/shown_vertex.hpp"
#include "detail/text_reader.hpp"
#include "output_file.hpp"

namespace wyrm::loaders {
namespace detail {
namespace {

static_assert(std::endian::native == std::endian::little, "the numbers of the suite are those of x86 and ARM");

constexpr std::size_t arcs_at = 1;
constexpr std::size_t vertices_at = 9;
constexpr std::size_t header_bytes = 17;
constexpr std::size_t offset_bytes = 8;
constexpr std::size_t id_bytes = 4;
constexpr std::size_t weight_bytes = 4;
constexpr std::uint64_t most_vertices = std::numeric_limits<std::int32_t>::max();

struct target {
  std::int32_t id;
  std::int32_t weight;
};

/// The rows of one direction: offsets, and then targets.
struct rows {
  std::size_t offsets_at;
  std::size_t targets_at;
};

/// A hash of an arc. The sum of the hashes of all arcs does not depend on their order.
std::uint64_t hash_of_arc(std::uint64_t source, target to) {
  auto mixed = [](std::uint64_t x) {  // the finaliser of splitmix64 (Steele, Lea, Flood, 2014)
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  };
  auto const ids = source << 32 | static_cast<std::uint32_t>(to.id);
  return mixed(mixed(ids + 0x9e3779b97f4a7c15) ^ static_cast<std::uint32_t>(to.weight));
}

class serialized_parser {
 public:
  explicit serialized_parser(source const& in) : in_(in) {}

  graph::edge_list parse() {
    read_header();
    rows const out{header_bytes, header_bytes + index_bytes()};
    graph::edge_list list;
    list.vertices = vertices_;
    list.directed = directed_;
    check_offsets(out);
    auto const edges = directed_ ? arcs_ : count_edges(out);
    list.edges.reserve(edges);
    if (weighted_) list.weights.reserve(edges);
    std::uint64_t forward = 0;
    std::uint64_t backward = 0;
    for_each_arc(out, [&](std::uint64_t source, target to) {
      auto const id = static_cast<std::uint64_t>(to.id);
      if (directed_ || source < id) forward += hash_of_arc(source, to);
      if (!directed_ && source > id) backward += hash_of_arc(id, {static_cast<std::int32_t>(source), to.weight});
      if (!directed_ && source > id) return;
      list.edges.push_back({static_cast<graph::vertex_id>(source), static_cast<graph::vertex_id>(to.id)});
      if (weighted_) list.weights.push_back(to.weight);
    });
    if (directed_)
      backward =
          hash_of_opposite(rows{out.targets_at + target_bytes(), out.targets_at + target_bytes() + index_bytes()});
    if (forward != backward) {
      fail(out.targets_at,
           directed_ ? "rows of in-neighbours that are the opposite of those of out-neighbours"
                     : "each edge of an undirected graph in the rows of both its ends",
           "others");
    }
    return list;
  }

 private:
  [[nodiscard]] std::size_t index_bytes() const { return (vertices_ + 1) * offset_bytes; }
  [[nodiscard]] std::size_t target_bytes() const { return arcs_ * (weighted_ ? id_bytes + weight_bytes : id_bytes); }

  template <class T>
  [[nodiscard]] T number_at(std::size_t byte) const {
    T number;
    std::memcpy(&number, in_.text.data() + byte, sizeof(T));
    return number;
  }

  void read_header() {
    auto const bytes = in_.text.size();
    if (bytes < header_bytes) fail(bytes, "a header of 17 bytes", "the end of the file");
    auto const direction = number_at<unsigned char>(0);
    if (direction > 1) fail(0, "1 for a directed graph, or 0", std::to_string(direction));
    directed_ = direction == 1;
    arcs_ = count_at(arcs_at, "arcs", bytes / id_bytes);
    vertices_ = count_at(vertices_at, "vertices", std::min<std::uint64_t>(most_vertices, bytes / offset_bytes));
    // Neither product overflows: both numbers are less than the size of the file.
    auto const size = [&](bool weighted) {
      weighted_ = weighted;
      return header_bytes + (directed_ ? 2 : 1) * (index_bytes() + target_bytes());
    };
    auto const with_weights = size(true);
    auto const without = size(false);
    if (bytes != without && bytes != with_weights) {
      fail(bytes,
           std::to_string(without) + " bytes, or " + std::to_string(with_weights) + " with weights, as the header says",
           std::to_string(bytes));
    }
    weighted_ = arcs_ > 0 && bytes == with_weights;
  }
  [[nodiscard]] std::uint64_t count_at(std::size_t byte, char const* what, std::uint64_t most) const {
    auto const count = number_at<std::int64_t>(byte);
    if (count < 0 || static_cast<std::uint64_t>(count) > most) {
      fail(
          byte,
          std::string("a number of ") + what + " that a file of this size can hold (0 to " + std::to_string(most) + ")",
          std::to_string(count));
    }
    return static_cast<std::uint64_t>(count);
  }

  [[nodiscard]] std::uint64_t offset(rows const& r, std::uint64_t v) const {
    return number_at<std::uint64_t>(r.offsets_at + v * offset_bytes);
  }
  void check_offsets(rows const& r) const {
    std::uint64_t last = 0;
    for (std::uint64_t v = 0; v <= vertices_; ++v) {
      auto const next = offset(r, v);
      auto const least = v == vertices_ ? arcs_ : last;
      auto const most = v == 0 ? 0 : arcs_;
      if (next < least || next > most) {
        fail(r.offsets_at + v * offset_bytes, "an offset from " + std::to_string(least) + " to " + std::to_string(most),
             std::to_string(next));
      }
      last = next;
    }
  }
  [[nodiscard]] target target_at(rows const& r, std::uint64_t arc) const {
    auto const bytes = weighted_ ? id_bytes + weight_bytes : id_bytes;
    auto const at = r.targets_at + arc * bytes;
    target const to{number_at<std::int32_t>(at), weighted_ ? number_at<std::int32_t>(at + id_bytes) : 0};
    if (to.id < 0 || static_cast<std::uint64_t>(to.id) >= vertices_)
      fail(at, "an id below " + std::to_string(vertices_), std::to_string(to.id));
    return to;
  }
  /// Calls f(vertex, target) for each arc. The offsets must be checked.
  template <class F>
  void for_each_arc(rows const& r, F const& f) const {
    for (std::uint64_t v = 0; v < vertices_; ++v)
      for (auto arc = offset(r, v); arc < offset(r, v + 1); ++arc) f(v, target_at(r, arc));
  }
  [[nodiscard]] std::size_t count_edges(rows const& r) const {
    std::size_t edges = 0;
    for_each_arc(r, [&](std::uint64_t source, target to) { edges += source <= static_cast<std::uint64_t>(to.id); });
    return edges;
  }
  /// The sum of the hashes of the arcs whose opposites are in the rows of in-neighbours.
  [[nodiscard]] std::uint64_t hash_of_opposite(rows const& in) const {
    check_offsets(in);
    std::uint64_t sum = 0;
    for_each_arc(in, [&](std::uint64_t vertex, target from) {
      sum += hash_of_arc(static_cast<std::uint64_t>(from.id), {static_cast<std::int32_t>(vertex), from.weight});
    });
    return sum;
  }

  [[noreturn]] void fail(std::size_t byte, std::string const& expected, std::string const& found) const {
    throw error(error_code::bad_input, in_.name + ": byte " + std::to_string(byte) + ": expected " + expected +
                                           ", found " + found +
                                           "; the file is damaged or cut: write or fetch it again");
  }

  source const& in_;
  bool directed_ = false;
  bool weighted_ = false;
  std::uint64_t arcs_ = 0;
  std::uint64_t vertices_ = 0;
};

/// Writes the rows of one direction of a list.
template <class Target, class Row, class Make>
void write_rows(output_file& file, graph::edge_list const& list, Row const& rows_of, Make const& make) {
  std::vector<std::uint64_t> offsets(list.vertices + 2);  // during filling: offsets[v + 1] is where row v goes on
  for (std::size_t i = 0; i < list.edges.size(); ++i)
    rows_of(list.edges[i], [&](graph::vertex_id v, graph::vertex_id) { ++offsets[v + std::size_t{2}]; });
  for (std::size_t v = 1; v < offsets.size(); ++v) offsets[v] += offsets[v - 1];
  std::vector<Target> targets(offsets.back());
  for (std::size_t i = 0; i < list.edges.size(); ++i)
    rows_of(list.edges[i],
            [&](graph::vertex_id v, graph::vertex_id to) { targets[offsets[v + std::size_t{1}]++] = make(to, i); });
  for (std::size_t v = 0; v < list.vertices; ++v)
    std::stable_sort(targets.begin() + static_cast<std::ptrdiff_t>(offsets[v]),
                     targets.begin() + static_cast<std::ptrdiff_t>(offsets[v + 1]));
  file.write(std::string_view(reinterpret_cast<char const*>(offsets.data()), (list.vertices + 1) * offset_bytes));
  file.write(std::string_view(reinterpret_cast<char const*>(targets.data()), targets.size() * sizeof(Target)));
}

/// Ordered by id; equal edges stay in the order of the list, because the weight of the first counts.
struct weighted_target : target {
  friend bool operator<(weighted_target a, weighted_target b) { return a.id < b.id; }
};
static_assert(sizeof(weighted_target) == id_bytes + weight_bytes);

template <class Row>
void write_direction(output_file& file, graph::edge_list const& list, bool weighted, Row const& rows_of) {
  if (!weighted) {
    write_rows<std::int32_t>(file, list, rows_of,
                             [](graph::vertex_id to, std::size_t) { return static_cast<std::int32_t>(to); });
    return;
  }
  write_rows<weighted_target>(file, list, rows_of, [&](graph::vertex_id to, std::size_t i) {
    return weighted_target{{static_cast<std::int32_t>(to), static_cast<std::int32_t>(list.weights[i])}};
  });
}

}  // namespace

graph::edge_list parse_serialized(source const& in) { return serialized_parser(in).parse(); }

void refuse_what_gap_lacks(graph::edge_list const& list, std::filesystem::path const& path, bool weighted) {
  auto const refuse = [&](std::string const& what, std::string const& advice) {
    throw error(error_code::bad_argument, path.string() + ": the format cannot represent " + what + "; " + advice);
  };
  if (!list.times.empty()) refuse("times", "write .wyrm or .txt");
  if (list.vertices > most_vertices) refuse("more than 2147483647 vertices", "write .mtx, .txt or .wyrm");
  if (!weighted && !list.weights.empty()) refuse("weights", "write .wel or .wsg, or .mtx, .txt or .wyrm");
  if (weighted && list.weights.empty() && !list.edges.empty())
    refuse("edges without weights", "write .el or .sg, or draw weights with --random-weights");
  constexpr double least = std::numeric_limits<std::int32_t>::min();
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < list.weights.size(); ++i) {
    auto const weight = list.weights[i];
    if (weight >= least && weight <= most && weight == static_cast<std::int32_t>(weight)) continue;  // false for NaN
    refuse("weights other than whole numbers of 32 bits, such as " + shown(weight) + " of the edge " +
               shown_vertex(list, list.edges[i].source) + " -> " + shown_vertex(list, list.edges[i].target),
           "round the weights, or write .mtx, .txt or .wyrm");
  }
}

}  // namespace detail

std::uint64_t write_serialized(graph::edge_list const& list, std::filesystem::path const& path, bool weighted) {
  using namespace detail;
  refuse_what_gap_lacks(list, path, weighted);
  output_file file("the graph", path, output_file::by_extension{});
  char const direction = list.directed ? 1 : 0;
  std::uint64_t arcs = list.edges.size();
  if (!list.directed)
    for (auto const& [source, target] : list.edges) arcs += source != target ? 1 : 0;
  file.write(std::string_view(&direction, 1));
  std::uint64_t const counts[] = {arcs, list.vertices};
  file.write(std::string_view(reinterpret_cast<char const*>(counts), sizeof(counts)));
  if (list.directed) {
    write_direction(file, list, weighted, [](graph::edge e, auto const& add) { add(e.source, e.target); });
    write_direction(file, list, weighted, [](graph::edge e, auto const& add) { add(e.target, e.source); });
  } else {
    write_direction(file, list, weighted, [](graph::edge e, auto const& add) {
      add(e.source, e.target);
      if (e.source != e.target) add(e.target, e.source);
    });
  }
  file.finish();
  file.commit();
  return file.bytes();
}

}  // namespace wyrm::loaders
