// SPDX-License-Identifier: Apache-2.0
#include "communities.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "limits.hpp"
#include "placed_edges.hpp"
#include "powers.hpp"
#include "wiring.hpp"

namespace wyrm::datasets {
namespace {

using graph::vertex_id;

[[noreturn]] void refuse(std::string const& why) { throw error(error_code::bad_argument, why); }

bool is_probability(double p) { return p == 0 || (p >= least_probability && p <= 1); }

void check(lfr_options const& o) {
  require_vertices(o.vertices);
  if (o.vertices < 1) refuse("an LFR graph has at least one vertex");
  if (!(o.mixing >= 0 && o.mixing <= 1)) refuse("the mixing is from 0 to 1, not " + std::to_string(o.mixing));
  if (o.most_degree < 1 || o.most_degree >= o.vertices)
    refuse("the largest degree is from 1 to the number of vertices less 1, " + std::to_string(o.vertices - 1) +
           ", and not " + std::to_string(o.most_degree));
  if (!(o.mean_degree >= 1 && o.mean_degree <= o.most_degree))
    refuse("the mean degree is from 1 to the largest degree, " + std::to_string(o.most_degree) + ", and not " +
           std::to_string(o.mean_degree));
  for (double const exponent : {o.degree_exponent, o.size_exponent})
    if (!(exponent >= 0 && exponent <= 10)) refuse("the exponent of a power law is from 0 to 10");
  if (o.least_size < 1 || o.least_size > o.most_size || o.most_size > o.vertices)
    refuse("sizes of communities are at least 1 and at most the number of vertices, " + std::to_string(o.vertices) +
           "; not " + std::to_string(o.least_size) + " to " + std::to_string(o.most_size));
  double const inside = (1 - o.mixing) * o.most_degree;
  if (inside + 1 > o.most_size)
    refuse("a vertex of degree " + std::to_string(o.most_degree) + " has up to " +
           std::to_string(static_cast<std::uint64_t>(inside) + 1) +
           " neighbours in its community, and the largest community has " + std::to_string(o.most_size) +
           " vertices: raise max_community or the mixing, or lower max_degree");
  auto const edges = static_cast<double>(o.vertices) * o.mean_degree / 2;
  require_memory("the graph", edges * 80 + static_cast<double>(o.vertices) * 40);
}

// Degrees from two power laws whose least numbers differ by one: their mixture has the mean that is wanted.
std::vector<std::uint32_t> degrees_of(lfr_options const& o, random_numbers& random) {
  std::uint32_t low = 1;
  std::uint32_t high = o.most_degree;  // the law of `high` alone has a mean that is not below
  while (low < high) {
    std::uint32_t const middle = low + (high - low) / 2;
    if (power_law(middle, o.most_degree, o.degree_exponent).mean() >= o.mean_degree)
      high = middle;
    else
      low = middle + 1;
  }
  power_law const upper(high, o.most_degree, o.degree_exponent);
  power_law const lower(std::max(1u, high - 1), o.most_degree, o.degree_exponent);
  if (high == 1 && upper.mean() > o.mean_degree)
    refuse("degrees from 1 to " + std::to_string(o.most_degree) + " with this exponent have the mean " +
           std::to_string(upper.mean()) + ": raise the mean degree or the exponent, or lower the largest degree");
  double const share = high == 1 ? 0 : (upper.mean() - o.mean_degree) / (upper.mean() - lower.mean());
  auto const threshold = static_cast<std::uint64_t>(share * 0x1p32);
  std::vector<std::uint32_t> degrees(o.vertices);
  for (std::uint32_t& d : degrees) {
    bool const takes_lower = (random.next() >> 32) < threshold;
    d = (takes_lower ? lower : upper)(random.next());
  }
  return degrees;
}

// Sizes with the sum n, in descending order.
std::vector<std::uint32_t> sizes_of(lfr_options const& o, random_numbers& random) {
  power_law const law(o.least_size, o.most_size, o.size_exponent);
  std::vector<std::uint32_t> sizes;
  std::uint64_t sum = 0;
  while (sum < o.vertices) {
    sizes.push_back(law(random.next()));
    sum += sizes.back();
  }
  // What is too much is taken from the last one; if little of it remains, others grow.
  sizes.back() -= static_cast<std::uint32_t>(sum - o.vertices);
  if (sizes.back() < o.least_size && sizes.size() > 1) {
    std::uint32_t rest = sizes.back();
    sizes.pop_back();
    for (std::uint32_t& size : sizes) {
      std::uint32_t const more = std::min(rest, o.most_size - size);
      size += more;
      rest -= more;
    }
    if (rest > 0)
      refuse(std::to_string(o.vertices) + " vertices cannot be divided into communities of " +
             std::to_string(o.least_size) + " to " + std::to_string(o.most_size) +
             " vertices: change n, or these limits");
  }
  std::sort(sizes.rbegin(), sizes.rend());
  return sizes;
}

// Gives each vertex a community with more vertices than it has neighbours there: vertices in descending order of these
// neighbours, each to a random free place. Lowers the number for a vertex that finds no place.
std::vector<std::uint32_t> assign(std::vector<std::uint32_t> const& sizes, std::vector<std::uint32_t>& inside,
                                  random_numbers& random) {
  std::vector<vertex_id> order(inside.size());
  std::iota(order.begin(), order.end(), vertex_id{0});
  std::stable_sort(order.begin(), order.end(), [&](vertex_id a, vertex_id b) { return inside[a] > inside[b]; });
  std::vector<std::uint32_t> labels(inside.size());
  std::vector<std::uint32_t> places;
  std::uint32_t next = 0;  // the largest community whose places are not offered yet
  for (vertex_id const v : order) {
    while (next < sizes.size() && (sizes[next] > inside[v] || places.empty())) {
      inside[v] = std::min(inside[v], sizes[next] - 1);
      places.insert(places.end(), sizes[next], next);
      ++next;
    }
    std::swap(places[scaled(random.next(), places.size())], places.back());
    labels[v] = places.back();
    places.pop_back();
    inside[v] = std::min(inside[v], sizes[labels[v]] - 1);
  }
  return labels;
}

}  // namespace

labelled_graph planted_partition(planted_options const& o, exec::any_space const& space) {
  require_vertices(o.vertices);
  if (o.groups < 1 || o.groups > std::max<std::size_t>(o.vertices, 1))
    refuse("the number of groups is from 1 to that of vertices, " + std::to_string(o.vertices) + ", and not " +
           std::to_string(o.groups));
  if (!is_probability(o.inside) || !is_probability(o.outside))
    refuse("the probability of an edge is 0, or from 1e-12 to 1");
  auto const n = static_cast<double>(o.vertices);
  double const pairs = n * n / 2;
  double const own = pairs / static_cast<double>(o.groups);
  require_memory("the graph", (own * o.inside + (pairs - own) * o.outside) * sizeof(graph::edge) + n * 16);
  labelled_graph made;
  made.list.vertices = o.vertices;
  if (o.vertices == 0) return made;
  planted_row const row{o.vertices, o.groups, bernoulli_skips(o.inside), bernoulli_skips(o.outside),
                        random_at(o.seed, 10)};
  made.list.edges = placed_rows(space, o.vertices, row);
  made.labels.resize(o.vertices);
  for (std::size_t v = 0; v < o.vertices; ++v) made.labels[v] = static_cast<std::uint32_t>(row.group(v));
  return made;
}

labelled_graph lfr(lfr_options const& o) {
  check(o);
  random_numbers random(random_at(o.seed, 11).bits(0));
  std::vector<std::uint32_t> const degrees = degrees_of(o, random);
  std::vector<std::uint32_t> inside(o.vertices);
  for (std::size_t v = 0; v < o.vertices; ++v) {
    double const exact = (1 - o.mixing) * degrees[v];
    auto const whole = static_cast<std::uint32_t>(exact);
    auto const rest = static_cast<std::uint64_t>((exact - whole) * 0x1p32);
    inside[v] = whole + ((random.next() >> 32) < rest ? 1 : 0);
  }
  std::vector<std::uint32_t> const sizes = sizes_of(o, random);
  if (sizes.size() == 1 && o.mixing > 0)
    refuse("all vertices are in one community, which has no neighbours outside: lower max_community, or set mixing=0");
  labelled_graph made;
  made.list.vertices = o.vertices;
  made.labels = assign(sizes, inside, random);
  std::vector<std::vector<vertex_id>> members(sizes.size());
  for (std::size_t v = 0; v < o.vertices; ++v) members[made.labels[v]].push_back(static_cast<vertex_id>(v));
  std::vector<vertex_id> outside;
  for (auto const& community : members) {
    std::vector<vertex_id> stubs;
    for (vertex_id const v : community) stubs.insert(stubs.end(), inside[v], v);
    if (stubs.size() % 2 != 0) {  // one neighbour must be outside
      --inside[stubs.back()];
      stubs.pop_back();
    }
    for (vertex_id const v : community) outside.insert(outside.end(), degrees[v] - inside[v], v);
    (void)join_stubs(std::move(stubs), random, nullptr, made.list.edges);
  }
  (void)join_stubs(std::move(outside), random, &made.labels, made.list.edges);
  return made;
}

}  // namespace wyrm::datasets
