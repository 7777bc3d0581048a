// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include <charconv>
#include <cmath>
#include <sstream>
#include <system_error>
#include <utility>

#include "arrival_times.hpp"
#include "delaunay.hpp"
#include "geometric.hpp"
#include "kronecker.hpp"
#include "meshes.hpp"
#include "random_graphs.hpp"

namespace wyrm::datasets {
namespace {

using enum parameter_kind;

constexpr double most_vertices = graph::max_vertices;
constexpr double most_count = 1e15;  // exact as a double

[[noreturn]] void refuse(std::string const& why) { throw error(error_code::bad_argument, why); }

std::string text_of(double number) {
  std::ostringstream out;
  out.precision(17);
  out << number;
  return out.str();
}

template <class T>
bool read(std::string_view text, T& value) {
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size();
}

constexpr parameter scale{"scale", whole, "16", 1, 31, "the graph has 2^scale vertices"};
constexpr parameter edge_factor{"edge_factor", real, "16", 0, 1e9, "edges for each vertex"};
constexpr parameter noise{"noise", real, "0", 0, 0.5, "noise of the matrix of each level"};
constexpr parameter vertices{"n", whole, "10000", 0, most_vertices, "vertices"};

constexpr parameter common[] = {
    {"seed", whole, "1", 0, 0x1p64, "seed of the random numbers"},
    {"times", text, "", 0, 0, "arrival times of edges: uniform, poisson or growth [none]"},
    {"span", whole, "1000000", 1, most_count, "seconds over which edges arrive"},
};

constexpr parameter rmat_parameters[] = {
    scale,
    edge_factor,
    {"a", real, "0.57", 0, 1, "probability that both ends are in the lower half of the ids, at each level"},
    {"b", real, "0.19", 0, 1, "probability that only the second end is in the upper half"},
    {"c", real, "0.19", 0, 1, "probability that only the first end is in the upper half"},
    {"d", real, "", 0, 1, "probability that both ends are in the upper half [1 - a - b - c]"},
    noise,
};
labelled_graph make_rmat(arguments const& a, exec::any_space const& space) {
  kronecker_options o;
  double const d = a.has("d") ? a.real("d") : 1 - a.real("a") - a.real("b") - a.real("c");
  if (d < -1e-9) refuse("a + b + c is at most 1");
  o.matrix = {a.real("a"), a.real("b"), a.real("c"), d < 0 ? 0 : d};
  o.levels = static_cast<unsigned>(a.whole("scale"));
  o.edge_factor = a.real("edge_factor");
  o.noise = a.real("noise");
  o.permutes = true;
  o.seed = a.whole("seed");
  return {kronecker(o, space), {}};
}

constexpr parameter graph500_parameters[] = {scale, edge_factor};
labelled_graph make_graph500(arguments const& a, exec::any_space const& space) {
  kronecker_options o;
  o.levels = static_cast<unsigned>(a.whole("scale"));
  o.edge_factor = a.real("edge_factor");
  o.permutes = true;
  o.seed = a.whole("seed");
  return {kronecker(o, space), {}};
}

constexpr parameter kronecker_parameters[] = {
    {"matrix", text, "0.57:0.19:0.19:0.05", 0, 0, "the 4, 9 or 16 cells of the initiator matrix, by rows"},
    {"levels", whole, "16", 1, 31, "the graph has rows^levels vertices"},
    edge_factor,
    noise,
};
labelled_graph make_kronecker(arguments const& a, exec::any_space const& space) {
  kronecker_options o;
  o.matrix = a.reals("matrix");
  o.levels = static_cast<unsigned>(a.whole("levels"));
  o.edge_factor = a.real("edge_factor");
  o.noise = a.real("noise");
  o.seed = a.whole("seed");
  return {kronecker(o, space), {}};
}

constexpr parameter rgg_parameters[] = {
    {"n", whole, "32768", 0, most_vertices, "vertices"},
    {"dimensions", whole, "2", 2, 3, "2: points in the unit square; 3: in the unit cube"},
    {"radius", real, "", 0, 1, "edges are shorter [0.55 (ln n / n)^(1/dimensions)]"},
    {"degree", real, "", 0, most_vertices, "mean degree without the border, instead of a radius"},
};
labelled_graph make_rgg(arguments const& a, exec::any_space const& space) {
  geometric_options o;
  o.vertices = a.whole("n");
  o.dimensions = static_cast<unsigned>(a.whole("dimensions"));
  o.radius = a.real("radius");
  o.mean_degree = a.real("degree");
  if ((a.has("radius") && o.radius == 0) || (a.has("degree") && o.mean_degree == 0))
    refuse("rgg: the radius and the mean degree are above 0");
  o.seed = a.whole("seed");
  return {geometric(o, space), {}};
}

constexpr parameter delaunay_parameters[] = {
    scale,
    {"n", whole, "", 0, most_triangulated, "vertices, instead of 2^scale"},
};
labelled_graph make_delaunay(arguments const& a, exec::any_space const&) {
  std::uint64_t const n = a.has("n") ? a.whole("n") : std::uint64_t{1} << a.whole("scale");
  return {delaunay({.vertices = n, .seed = a.whole("seed")}), {}};
}

constexpr parameter grid_parameters[] = {
    {"x", whole, "100", 1, most_vertices, "vertices in the first dimension"},
    {"y", whole, "100", 1, most_vertices, "vertices in the second dimension"},
    {"z", whole, "1", 1, most_vertices, "vertices in the third dimension; 1: two dimensions"},
};
template <bool wraps>
labelled_graph make_grid(arguments const& a, exec::any_space const& space) {
  return {grid({.x = a.whole("x"), .y = a.whole("y"), .z = a.whole("z"), .wraps = wraps}, space), {}};
}

constexpr parameter dual_parameters[] = {
    {"rows", whole, "100", 1, most_vertices, "rows of squares"},
    {"columns", whole, "100", 1, most_vertices, "columns of squares, each of two triangles"},
};
labelled_graph make_dual(arguments const& a, exec::any_space const& space) {
  return {triangulation_dual({.rows = a.whole("rows"), .columns = a.whole("columns"), .seed = a.whole("seed")}, space),
          {}};
}

constexpr parameter nlpkkt_parameters[] = {
    {"N", whole, "20", 1, 1289, "cells for each dimension: 2N^3 + 6N^2 vertices"},
};
labelled_graph make_nlpkkt(arguments const& a, exec::any_space const& space) {
  return {nlpkkt(a.whole("N"), space), {}};
}

constexpr parameter road_parameters[] = {
    {"rows", whole, "150", 1, most_vertices, "rows of junctions"},
    {"columns", whole, "150", 1, most_vertices, "columns of junctions"},
    {"crossings", real, "0.12", 0, 1, "probability that a junction may have four streets"},
    {"loops", real, "0.3", 0, 1, "probability of a street that the spanning tree does not need"},
    {"bends", real, "2.5", 0, 1e6, "mean number of vertices of degree 2 on a street"},
};
labelled_graph make_road(arguments const& a, exec::any_space const&) {
  return {road({.rows = a.whole("rows"),
                .columns = a.whole("columns"),
                .crossings = a.real("crossings"),
                .loops = a.real("loops"),
                .bends = a.real("bends"),
                .seed = a.whole("seed")}),
          {}};
}

constexpr parameter gnp_parameters[] = {
    vertices,
    {"p", real, "0.001", 0, 1, "probability of each edge: 0, or at least 1e-12"},
};
labelled_graph make_gnp(arguments const& a, exec::any_space const& space) {
  return {gnp(a.whole("n"), a.real("p"), a.whole("seed"), space), {}};
}

constexpr parameter gnm_parameters[] = {
    vertices,
    {"m", whole, "50000", 0, most_count, "edges"},
};
labelled_graph make_gnm(arguments const& a, exec::any_space const&) {
  return {gnm(a.whole("n"), a.whole("m"), a.whole("seed")), {}};
}

constexpr parameter attachment_parameters[] = {
    vertices,
    {"degree", whole, "4", 1, 1e6, "earlier vertices to which a new one is joined"},
};
labelled_graph make_attachment(arguments const& a, exec::any_space const&) {
  return {preferential_attachment(a.whole("n"), a.whole("degree"), a.whole("seed")), {}};
}

constexpr parameter configuration_parameters[] = {
    {"degrees", text, "", 0, 0,
     "a file with one degree a line, instead of n and the power law [degrees are drawn from a power law]"},
    vertices,
    {"exponent", real, "2.5", 0, 10, "of the power law"},
    {"min_degree", whole, "2", 1, most_vertices, "of the power law"},
    {"max_degree", whole, "", 1, most_vertices, "of the power law [square root of n]"},
    {"simple", whole, "1", 0, 1, "1: no self-loops and duplicates; 0: as random joins give them"},
};
labelled_graph make_configuration(arguments const& a, exec::any_space const&) {
  std::vector<std::uint32_t> degrees;
  if (a.has("degrees")) {
    degrees = read_degrees(a.text("degrees"));
  } else {
    auto const least = static_cast<std::uint32_t>(a.whole("min_degree"));
    auto most = static_cast<std::uint32_t>(a.whole("max_degree"));
    if (most == 0) most = std::max(least, static_cast<std::uint32_t>(std::sqrt(static_cast<double>(a.whole("n")))));
    degrees = power_law_degrees(a.whole("n"), least, most, a.real("exponent"), a.whole("seed"));
  }
  return {configuration_model(degrees, a.whole("simple") == 1, a.whole("seed")), {}};
}

constexpr parameter planted_parameters[] = {
    vertices,
    {"groups", whole, "100", 1, most_vertices, "groups of equal size"},
    {"p_in", real, "0.1", 0, 1, "probability of an edge within a group: 0, or at least 1e-12"},
    {"p_out", real, "0.001", 0, 1, "probability of an edge between groups: 0, or at least 1e-12"},
};
labelled_graph make_planted(arguments const& a, exec::any_space const& space) {
  return planted_partition({.vertices = a.whole("n"),
                            .groups = a.whole("groups"),
                            .inside = a.real("p_in"),
                            .outside = a.real("p_out"),
                            .seed = a.whole("seed")},
                           space);
}

constexpr parameter lfr_parameters[] = {
    vertices,
    {"mixing", real, "0.3", 0, 1, "mean fraction of the neighbours of a vertex outside its community"},
    {"degree", real, "15", 1, most_vertices, "mean degree"},
    {"max_degree", whole, "50", 1, most_vertices, "largest degree"},
    {"degree_exponent", real, "2", 0, 10, "of the power law of degrees"},
    {"min_community", whole, "20", 1, most_vertices, "vertices of the smallest community"},
    {"max_community", whole, "100", 1, most_vertices, "vertices of the largest community"},
    {"community_exponent", real, "1", 0, 10, "of the power law of sizes of communities"},
};
labelled_graph make_lfr(arguments const& a, exec::any_space const&) {
  return lfr({.vertices = a.whole("n"),
              .mixing = a.real("mixing"),
              .mean_degree = a.real("degree"),
              .most_degree = static_cast<std::uint32_t>(a.whole("max_degree")),
              .degree_exponent = a.real("degree_exponent"),
              .least_size = static_cast<std::uint32_t>(a.whole("min_community")),
              .most_size = static_cast<std::uint32_t>(a.whole("max_community")),
              .size_exponent = a.real("community_exponent"),
              .seed = a.whole("seed")});
}

constexpr family all[] = {
    {"rmat", "R-MAT graph with permuted ids; has self-loops and duplicates", false, rmat_parameters, true, make_rmat},
    {"graph500", "R-MAT graph with the matrix of Graph500", false, graph500_parameters, true, make_graph500},
    {"kronecker", "stochastic Kronecker graph; has self-loops and duplicates", false, kronecker_parameters, true,
     make_kronecker},
    {"rgg", "random geometric graph", false, rgg_parameters, true, make_rgg},
    {"delaunay", "Delaunay triangulation of random points", false, delaunay_parameters, false, make_delaunay},
    {"grid", "grid in two or three dimensions", false, grid_parameters, true, make_grid<false>},
    {"torus", "grid that continues at the opposite border", false, grid_parameters, true, make_grid<true>},
    {"dual", "dual of a triangulation with random diagonals", false, dual_parameters, true, make_dual},
    {"nlpkkt", "KKT system of a control problem in a cube", false, nlpkkt_parameters, true, make_nlpkkt},
    {"road", "connected planar graph with the degrees of a road network", false, road_parameters, false, make_road},
    {"gnp", "Erdos-Renyi graph: each edge with the same probability", false, gnp_parameters, true, make_gnp},
    {"gnm", "Erdos-Renyi graph: a number of random edges", false, gnm_parameters, false, make_gnm},
    {"ba", "preferential attachment (Barabasi, Albert)", false, attachment_parameters, false, make_attachment},
    {"configuration", "random graph with given degrees", false, configuration_parameters, false, make_configuration},
    {"planted", "planted partition", true, planted_parameters, true, make_planted},
    {"lfr", "LFR benchmark: communities of many sizes", true, lfr_parameters, false, make_lfr},
};

std::vector<parameter> parameters_of(family const& f) {
  std::vector<parameter> all_of_it(f.parameters.begin(), f.parameters.end());
  all_of_it.insert(all_of_it.end(), std::begin(common), std::end(common));
  return all_of_it;
}

void check_value(std::string const& where, parameter const& p, std::string const& value) {
  std::string const range = text_of(p.least) + " to " + (p.most == 0x1p64 ? "18446744073709551615" : text_of(p.most));
  double number = 0;
  if (p.kind == whole) {
    std::uint64_t exact = 0;
    if (!read(value, exact)) refuse(where + ": '" + value + "' is not a whole number from " + range);
    number = static_cast<double>(exact);
  } else if (p.kind == real) {
    if (!read(value, number)) refuse(where + ": '" + value + "' is not a number from " + range);
  } else {
    if (value.empty()) refuse(where + ": the value is empty");
    return;
  }
  if (!(number >= p.least && number <= p.most)) refuse(where + ": " + value + " is not in the range " + range);
}

}  // namespace

arguments::arguments(std::string_view family, std::span<parameter const> parameters,
                     std::vector<std::pair<std::string, std::string>> const& given) {
  for (auto const& [name, value] : given) {
    parameter const* found = nullptr;
    std::string names;
    for (parameter const& p : parameters) {
      if (p.name == name) found = &p;
      names += (names.empty() ? "" : ", ") + std::string(p.name);
    }
    std::string const where = std::string(family) + ": " + name;
    if (found == nullptr)
      refuse(std::string(family) + ": there is no parameter '" + name + "'; the parameters are " + names);
    check_value(where, *found, value);
    if (!values_.emplace(name, value).second) refuse(where + " is given twice");
  }
  for (parameter const& p : parameters) values_.emplace(p.name, p.default_value);
}

std::uint64_t arguments::whole(std::string_view name) const {
  std::uint64_t value = 0;
  (void)read(text(name), value);
  return value;
}

double arguments::real(std::string_view name) const {
  double value = 0;
  (void)read(text(name), value);
  return value;
}

std::vector<double> arguments::reals(std::string_view name) const {
  std::string const& list = text(name);
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= list.size();) {
    std::size_t const end = std::min(list.find(':', at), list.size());
    double number = 0;
    if (!read(std::string_view(list).substr(at, end - at), number))
      refuse(std::string(name) + ": '" + list.substr(at, end - at) +
             "' is not a number; numbers have ':' between them");
    numbers.push_back(number);
    at = end + 1;
  }
  return numbers;
}

std::span<family const> families() { return all; }
std::span<parameter const> common_parameters() { return common; }

family const& family_named(std::string_view name) {
  std::string names;
  for (family const& f : all) {
    if (f.name == name) return f;
    names += (names.empty() ? "" : ", ") + std::string(f.name);
  }
  refuse("there is no family of graphs '" + std::string(name) + "'; the families are " + names);
}

namespace {

std::pair<std::string, std::string> named_value(std::string_view of, std::string_view text) {
  std::size_t const equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    refuse(std::string(of) + ": expected NAME=VALUE, found '" + std::string(text) + "'");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

labelled_graph generate_given(std::string_view name, std::vector<std::pair<std::string, std::string>> const& given,
                              exec::any_space const& space) {
  family const& f = family_named(name);
  std::vector<parameter> const parameters = parameters_of(f);
  arguments const a(name, parameters, given);
  std::string const& times = a.text("times");
  if (!times.empty() && times != "uniform" && times != "poisson" && times != "growth")
    refuse(std::string(name) + ": times is uniform, poisson or growth, not '" + times + "'");
  labelled_graph made = f.make(a, space);
  if (times == "uniform") add_arrival_times(made.list, arrival::uniform, a.whole("span"), a.whole("seed"));
  if (times == "poisson") add_arrival_times(made.list, arrival::poisson, a.whole("span"), a.whole("seed"));
  if (times == "growth") add_arrival_times(made.list, arrival::growth, a.whole("span"), a.whole("seed"));
  return made;
}

}  // namespace

description::description(std::string_view text) {
  std::size_t const end = std::min(text.find(','), text.size());
  name = text.substr(0, end);
  for (std::size_t at = end; at < text.size();) {
    std::size_t const next = std::min(text.find(',', at + 1), text.size());
    values.push_back(named_value(name, text.substr(at + 1, next - at - 1)));
    at = next;
  }
}

labelled_graph generate(std::string_view name, std::vector<std::string> const& values, exec::any_space const& space) {
  (void)family_named(name);  // refused before its values
  std::vector<std::pair<std::string, std::string>> given;
  for (std::string const& value : values) given.push_back(named_value(name, value));
  return generate_given(name, given, space);
}

labelled_graph generate(std::string_view text, exec::any_space const& space) {
  (void)family_named(text.substr(0, text.find(',')));
  description const d(text);
  return generate_given(d.name, d.values, space);
}

}  // namespace wyrm::datasets
