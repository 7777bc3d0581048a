// SPDX-License-Identifier: Apache-2.0
#include "random_graphs.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

#include "limits.hpp"
#include "placed_edges.hpp"
#include "powers.hpp"
#include "wiring.hpp"

namespace wyrm::datasets {
namespace {

using graph::vertex_id;

[[noreturn]] void refuse(std::string const& why) { throw error(error_code::bad_argument, why); }

graph::edge edge_of(std::uint64_t key) {
  return {static_cast<vertex_id>(key >> 32), static_cast<vertex_id>(key & 0xffffffff)};
}

// `count` different pairs, as keys in ascending order. Each round draws as many as are missing, which is the same as
// drawing until there are enough different ones.
std::vector<std::uint64_t> different_pairs(std::uint64_t n, std::uint64_t count, std::uint64_t seed) {
  random_at const random(seed, 6);
  std::vector<std::uint64_t> pairs;
  std::uint64_t drawn = 0;
  while (pairs.size() < count) {
    auto const old = static_cast<std::ptrdiff_t>(pairs.size());
    for (std::uint64_t i = count - pairs.size(); i > 0; --i, ++drawn) {
      std::uint64_t u = scaled(random.bits(drawn, 0), n);
      std::uint64_t v = scaled(random.bits(drawn, 1), n - 1);
      if (v >= u) ++v;
      pairs.push_back(std::min(u, v) << 32 | std::max(u, v));
    }
    std::sort(pairs.begin() + old, pairs.end());
    std::inplace_merge(pairs.begin(), pairs.begin() + old, pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  }
  return pairs;
}

}  // namespace

graph::edge_list gnp(std::size_t vertices, double probability, std::uint64_t seed, exec::any_space const& space) {
  if (!(probability == 0 || (probability >= least_probability && probability <= 1)))
    refuse("the probability of an edge is 0, or from 1e-12 to 1");
  require_vertices(vertices);
  auto const n = static_cast<double>(vertices);
  require_memory("the graph", n * n / 2 * probability * sizeof(graph::edge) + n * 12);
  graph::edge_list list;
  list.vertices = vertices;
  list.edges = placed_rows(space, vertices, gnp_rows(vertices, probability, seed));
  return list;
}

graph::edge_list gnm(std::size_t vertices, std::uint64_t edges, std::uint64_t seed) {
  require_vertices(vertices);
  std::uint64_t const pairs = vertices < 2 ? 0 : vertices * (vertices - 1) / 2;
  if (edges > pairs)
    refuse(std::to_string(vertices) + " vertices have at most " + std::to_string(pairs) + " edges, not " +
           std::to_string(edges));
  graph::edge_list list;
  list.vertices = vertices;
  bool const dense = edges > pairs / 2;  // then those that are no edges are drawn
  require_memory("the graph", static_cast<double>(edges) * (dense ? 16 : 32));
  list.edges.reserve(edges);
  auto const drawn = different_pairs(vertices, dense ? pairs - edges : edges, seed);
  if (!dense) {
    for (std::uint64_t const key : drawn) list.edges.push_back(edge_of(key));
    return list;
  }
  auto skipped = drawn.begin();
  for (std::uint64_t u = 0; u < vertices; ++u)
    for (std::uint64_t v = u + 1; v < vertices; ++v) {
      if (skipped != drawn.end() && *skipped == (u << 32 | v))
        ++skipped;
      else
        list.edges.push_back(edge_of(u << 32 | v));
    }
  return list;
}

graph::edge_list preferential_attachment(std::size_t vertices, std::size_t degree, std::uint64_t seed) {
  require_vertices(vertices);
  if (degree < 1 || degree >= vertices)
    refuse("each vertex is joined to at least 1 earlier vertex, and to fewer than there are vertices; not to " +
           std::to_string(degree) + " of " + std::to_string(vertices));
  require_memory("the edges", static_cast<double>(vertices) * static_cast<double>(degree) * sizeof(graph::edge));
  graph::edge_list list;
  list.vertices = vertices;
  list.edges.reserve(vertices * degree - degree * (degree + 1) / 2);
  for (std::size_t u = 0; u <= degree; ++u)
    for (std::size_t v = 0; v < u; ++v) list.edges.push_back({static_cast<vertex_id>(u), static_cast<vertex_id>(v)});
  random_numbers random(random_at(seed, 7).bits(0));
  // Each vertex is as often an end of an edge as it has neighbours, so an end of a random edge is what is wanted. The
  // edges of the new vertex do not take part.
  for (std::size_t u = degree + 1; u < vertices; ++u) {
    std::size_t const ends = 2 * list.edges.size();
    auto const first = static_cast<std::ptrdiff_t>(list.edges.size());
    while (list.edges.size() - static_cast<std::size_t>(first) < degree) {
      std::uint64_t const end = scaled(random.next(), ends);
      graph::edge const e = list.edges[end / 2];
      vertex_id const v = end % 2 == 0 ? e.source : e.target;
      bool const known = std::any_of(list.edges.begin() + first, list.edges.end(),
                                     [&](graph::edge const& other) { return other.target == v; });
      if (!known) list.edges.push_back({static_cast<vertex_id>(u), v});
    }
  }
  return list;
}

std::vector<std::uint32_t> power_law_degrees(std::size_t vertices, std::uint32_t least, std::uint32_t most,
                                             double exponent, std::uint64_t seed) {
  require_vertices(vertices);
  if (least < 1 || least > most)
    refuse("the least degree is from 1 to the largest one, " + std::to_string(most) + ", and not " +
           std::to_string(least));
  if (!(exponent >= 0 && exponent <= 10)) refuse("the exponent of a power law is from 0 to 10");
  require_memory("the degrees", static_cast<double>(most) * 8 + static_cast<double>(vertices) * 4);
  power_law const law(least, most, exponent);
  random_at const random(seed, 8);
  std::vector<std::uint32_t> degrees(vertices);
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < vertices; ++v) sum += degrees[v] = law(random.bits(v));
  if (sum % 2 != 0) ++*std::min_element(degrees.begin(), degrees.end());
  return degrees;
}

std::vector<std::uint32_t> read_degrees(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw error(error_code::io, path + ": the file of degrees cannot be opened; check its name");
  std::vector<std::uint32_t> degrees;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.starts_with('#')) continue;
    std::uint32_t degree = 0;
    auto const [end, failed] = std::from_chars(line.data(), line.data() + line.size(), degree);
    if (failed != std::errc() || end != line.data() + line.size())
      throw error(error_code::bad_input, path + ":" + std::to_string(number) +
                                             ": expected one degree, a whole number below 2^32, in the line");
    degrees.push_back(degree);
  }
  if (file.bad()) throw error(error_code::io, path + ": the file of degrees cannot be read");
  return degrees;
}

graph::edge_list configuration_model(std::vector<std::uint32_t> const& degrees, bool simple, std::uint64_t seed) {
  require_vertices(degrees.size());
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < degrees.size(); ++v) {
    sum += degrees[v];
    if (simple && degrees[v] >= degrees.size())
      refuse("vertex " + std::to_string(v) + " has the degree " + std::to_string(degrees[v]) +
             ", and a simple graph of " + std::to_string(degrees.size()) +
             " vertices has degrees below that: lower it, or set simple=0");
  }
  if (sum % 2 != 0) refuse("the sum of the degrees, " + std::to_string(sum) + ", is odd; each edge has two ends");
  require_memory("the graph", static_cast<double>(sum) * (simple ? 40 : 8));
  random_numbers random(random_at(seed, 9).bits(0));
  graph::edge_list list;
  list.vertices = degrees.size();
  if (simple) {
    list.edges = simple_graph(degrees, random);
    return list;
  }
  std::vector<vertex_id> stubs;
  stubs.reserve(sum);
  for (std::size_t v = 0; v < degrees.size(); ++v) stubs.insert(stubs.end(), degrees[v], static_cast<vertex_id>(v));
  shuffle(stubs, random);
  list.edges.reserve(sum / 2);
  for (std::size_t i = 0; i < sum; i += 2) list.edges.push_back({stubs[i], stubs[i + 1]});
  return list;
}

}  // namespace wyrm::datasets
