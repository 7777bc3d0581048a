// SPDX-License-Identifier: Apache-2.0
#include "bench_gap.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <ostream>
#include <random>
#include <span>
#include <utility>

#include "../exec/device.hpp"
#include "../exec/error.hpp"
#include "../graph/any_graph.hpp"
#include "gap_checks.hpp"
#include "gap_kernels.hpp"
#include "insertion.hpp"
#include "loaded_graph.hpp"

namespace wyrm::apps {

namespace {

constexpr double rank_tolerance = 1e-4;

// Lines in the form of GAP's programs, so that scripts for these read them.
void print_line(std::ostream& out, std::string const& label, std::string const& value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%-21s%7s\n", (label + ':').c_str(), value.c_str());
  out << text.data();
}
void print_time(std::ostream& out, std::string const& label, double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.5f", seconds);
  print_line(out, label, text.data());
}

// Draws vertices that have neighbours, by the rank of their ids, so that --order draws the same ones.
class source_picker {
 public:
  source_picker(graph::csr const& rows, vertex_ids const& ids, std::uint64_t seed)
      : rows_(rows), ids_(ids), random_(seed) {}
  [[nodiscard]] graph::vertex_id next() {
    for (;;) {
      graph::vertex_id const v = ids_.by_rank(random_() % (rows_.offsets.size() - 1));
      if (rows_.offsets[v + 1] > rows_.offsets[v]) return v;
    }
  }

 private:
  graph::csr const& rows_;
  vertex_ids const& ids_;
  std::mt19937_64 random_;
};

// A graph of the benchmark, with what verification needs.
struct gap_graph {
  graph::any_graph g;
  graph::csr rows;
  std::vector<double> weights;  // of the arcs in rows; empty without weights
  std::unique_ptr<gap_kernels> kernels;

  explicit gap_graph(graph::any_graph&& built) : g(std::move(built)), rows(g.to_csr()) {
    if (g.settings().values == graph::number_type::f64) weights = g.values<double>();
    if (g.settings().values == graph::number_type::u32) {
      auto const whole = g.values<std::uint32_t>();
      weights.assign(whole.begin(), whole.end());
    }
    kernels = make_gap_kernels(g);
  }
};

struct kernel_rules {
  std::size_t trials;
  std::size_t sources;  // of a trial
  std::function<void(gap_graph&, std::span<graph::vertex_id const>)> run;
  std::function<bool(gap_graph const&, std::span<graph::vertex_id const>)> check;
};

kernel_rules rules_of(std::string_view kernel) {
  using sources = std::span<graph::vertex_id const>;
  if (kernel == "bfs")
    return {64, 1, [](gap_graph& x, sources s) { x.kernels->bfs(s[0]); },
            [](gap_graph const& x, sources s) { return is_bfs_tree(x.rows, s[0], x.kernels->parents()); }};
  if (kernel == "sssp")
    return {
        64, 1, [](gap_graph& x, sources s) { x.kernels->sssp(s[0]); },
        [](gap_graph const& x, sources s) { return are_distances(x.rows, x.weights, s[0], x.kernels->distances()); }};
  if (kernel == "pr")
    return {16, 0, [](gap_graph& x, sources) { x.kernels->pagerank(rank_tolerance); },
            [](gap_graph const& x, sources) { return are_ranks(x.rows, x.kernels->ranks(), rank_tolerance); }};
  if (kernel == "cc")
    return {16, 0, [](gap_graph& x, sources) { x.kernels->components(); },
            [](gap_graph const& x, sources) { return are_components(x.rows, x.kernels->labels()); }};
  if (kernel == "bc")
    return {16, 4, [](gap_graph& x, sources s) { x.kernels->betweenness(s); },
            [](gap_graph const& x, sources s) { return are_betweenness_scores(x.rows, s, x.kernels->scores()); }};
  return {3, 0, [](gap_graph& x, sources) { x.kernels->triangles(); },
          [](gap_graph const& x, sources) { return count_triangles(x.rows) == x.kernels->total(); }};
}

gap_kernel_result run_kernel(gap_options const& o, std::string const& kernel, gap_graph& x, vertex_ids const& ids,
                             std::ostream& out) {
  kernel_rules const rules = rules_of(kernel);
  gap_kernel_result result{kernel, {}};
  source_picker picker(x.rows, ids, o.seed);
  print_line(out, "Kernel", kernel);
  for (std::size_t i = 0; i < (o.trials == 0 ? rules.trials : o.trials); ++i) {
    gap_trial trial{};
    for (std::size_t s = 0; s < rules.sources; ++s) trial.sources.push_back(picker.next());
    trial.seconds = timed([&] { rules.run(x, trial.sources); }) / 1000;
    print_time(out, "Trial Time", trial.seconds);
    if (o.verify) {
      trial.verification_seconds = timed([&] { trial.passed = rules.check(x, trial.sources); }) / 1000;
      print_line(out, "Verification", *trial.passed ? "PASS" : "FAIL");
      print_time(out, "Verification Time", trial.verification_seconds);
    }
    out << std::flush;
    result.trials.push_back(std::move(trial));
  }
  print_time(out, "Average Time", result.average_seconds());
  return result;
}

// Erases all edges in batches, and inserts them again, each time in a random order: the graph stays the same, but the
// pages of its vertices are in any order. values: of the arcs, or empty. Counts the edges in `r`.
template <class Weight>
void churn(graph::any_graph& g, std::vector<Weight> const& values, std::uint64_t seed, gap_result& r) {
  constexpr std::size_t batches = 16;
  // Those of the graph: a file may repeat an edge with another weight.
  std::vector<graph::edge> edges;
  std::vector<Weight> weights;
  graph::csr const rows = g.to_csr();
  for (std::size_t u = 0; u + 1 < rows.offsets.size(); ++u)
    for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
      if (!g.settings().directed && rows.targets[i] < u) continue;
      edges.push_back({static_cast<graph::vertex_id>(u), rows.targets[i]});
      if (!values.empty()) weights.push_back(values[i]);
    }
  std::mt19937_64 random(seed);
  for (bool const erases : {true, false}) {
    for (std::size_t i = edges.size(); i > 1; --i) {
      std::size_t const j = random() % i;
      std::swap(edges[i - 1], edges[j]);
      if (!weights.empty()) std::swap(weights[i - 1], weights[j]);
    }
    for (std::size_t b = 0; b < batches; ++b) {
      std::size_t const first = edges.size() * b / batches;
      std::size_t const count = edges.size() * (b + 1) / batches - first;
      std::span const batch = std::span(std::as_const(edges)).subspan(first, count);
      if (erases)
        r.churn_erased += g.erase(batch).erased;
      else if (weights.empty())
        r.churn_inserted += g.insert(batch).inserted;
      else
        r.churn_inserted += g.insert(batch, std::span(std::as_const(weights)).subspan(first, count)).inserted;
    }
  }
}

// The graph with the weights of the file, or with whole numbers from 1 to 255, drawn by the seed.
graph::any_graph build_weighted(gap_options const& o, exec::any_space const& space,
                                alloc::residency::bounded_space const* bound, graph::edge_list& list, gap_result& r) {
  bool const drawn = list.weights.empty();
  if (!drawn) prepare_weights(o.file, list, r.ids);
  graph::options settings = o.settings(list.directed);
  settings.values = drawn ? graph::number_type::u32 : graph::number_type::f64;
  graph::any_graph g(space, o.allocator, list.vertices, settings);
  if (!drawn) {
    (void)insert_all(g, list.edges, list.weights, bound);
    if (o.churned) churn(g, g.values<double>(), o.seed, r);
    return g;
  }
  std::vector<std::uint32_t> weights(list.edges.size());
  std::mt19937_64 random(o.seed);
  for (std::uint32_t& weight : weights) weight = static_cast<std::uint32_t>(random() % 255 + 1);
  (void)insert_all(g, list.edges, weights, bound);
  if (o.churned) churn(g, g.values<std::uint32_t>(), o.seed, r);
  return g;
}

}  // namespace

double gap_kernel_result::average_seconds() const {
  double sum = 0;
  for (gap_trial const& trial : trials) sum += trial.seconds;
  return sum / static_cast<double>(trials.size());
}

bool gap_result::passed() const {
  for (gap_kernel_result const& kernel : kernels)
    for (gap_trial const& trial : kernel.trials)
      if (!trial.passed.value_or(true)) return false;
  return true;
}

gap_result gap(gap_options const& o, std::ostream& out) {
  gap_result r;
  auto const bound = o.bound();
  exec::any_space const space = o.space(bound.get());
  r.device = exec::describe(space);
  graph::edge_list list;
  r.load_ms = timed([&] { list = load_file(o.file, o.generating_space(space)); });
  r.ids = vertex_ids(list, o.file.ids);
  r.directed = list.directed;
  auto const asked = [&](std::string_view kernel) {
    return o.kernels.empty() || std::find(o.kernels.begin(), o.kernels.end(), kernel) != o.kernels.end();
  };
  auto const run = [&](gap_graph& x, std::string_view kernel) {
    if (asked(kernel)) r.kernels.push_back(run_kernel(o, std::string(kernel), x, r.ids, out));
  };
  {
    graph::any_graph g(space, o.allocator, list.vertices, o.settings(list.directed));
    (void)insert_all(g, list.edges, {}, bound.get());
    if (o.churned) churn<double>(g, {}, o.seed, r);
    r.vertices = g.vertices();
    r.edges = g.edges();
    if (r.edges == 0)
      throw error(error_code::bad_argument, o.file.name + " has no edges; the kernels need a vertex with neighbours");
    out << "Graph has " << r.vertices << " nodes and " << r.edges << (r.directed ? " directed" : " undirected")
        << " edges for degree: " << g.arcs() / r.vertices << '\n';
    gap_graph x(std::move(g));
    for (std::string_view const kernel : {"bfs", "pr", "cc", "bc"}) run(x, kernel);
    if (!r.directed) run(x, "tc");
    if (r.directed && asked("tc")) {
      gap_graph undirected(x.g.as_undirected());
      run(undirected, "tc");
    }
  }
  if (asked("sssp")) {
    r.drawn_weights = list.weights.empty();
    gap_graph x(build_weighted(o, space, bound.get(), list, r));
    run(x, "sssp");
  }
  return r;
}

}  // namespace wyrm::apps
