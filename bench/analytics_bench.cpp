// SPDX-License-Identifier: Apache-2.0
// Graph analytics whose times are compared with those of other libraries (bench/peers). A case is
// ALGORITHM/SPACE/STORAGE/GRAPH/STATE, where STORAGE and STATE are those of algorithms_bench. The time is from the call
// to the result in memory of the space, with scratch memory kept from call to call. bfs, sssp and betweenness run from
// 16 (4) random vertices that have neighbours, and the time is the mean over them; sssp has integer weights from 1 to
// 255. The counter `result` is a figure of the result, for comparison; `residual` of hits and eigenvector, see
// residual_of; they also run on graphs NAME-by-degree (graphs.hpp). map_equation is the clustering with that objective,
// to the labels on the host; its result is the codelength, and the graphs are also those with planted communities.
//
// --dump=DIR --graph=NAME writes a graph for other libraries instead: DIR/NAME.offsets (64-bit), .targets (32-bit),
// .weights (float, one per arc) and .sources (32-bit), without headers.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../algorithms/betweenness.hpp"
#include "../algorithms/bfs.hpp"
#include "../algorithms/clustering.hpp"
#include "../algorithms/clustering_coefficients.hpp"
#include "../algorithms/colouring.hpp"
#include "../algorithms/components.hpp"
#include "../algorithms/core_numbers.hpp"
#include "../algorithms/independent_set.hpp"
#include "../algorithms/label_propagation.hpp"
#include "../algorithms/leiden.hpp"
#include "../algorithms/louvain.hpp"
#include "../algorithms/power_iterations.hpp"
#include "../algorithms/spanning_forest.hpp"
#include "../algorithms/sssp.hpp"
#include "../algorithms/strong_components.hpp"
#include "../algorithms/triangles.hpp"
#include "../algorithms/truss.hpp"
#include "graph_under_test.hpp"

namespace wyrm::bench {

namespace {

template <class T>
void write_array(std::filesystem::path const& file, std::vector<T> const& values) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<char const*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!out.flush()) throw error(error_code::io, "cannot write " + file.string());
}

void dump(std::string const& folder, std::string const& name) {
  graph::csr const& c = rows_of(name);
  std::filesystem::path const base = std::filesystem::path(folder) / name;
  write_array(base.string() + ".offsets", c.offsets);
  write_array(base.string() + ".targets", c.targets);
  write_array(base.string() + ".weights", weights_of(c));
  write_array(base.string() + ".sources", search_sources(c));
}

/// How far values are from an eigenvector of the matrix M of an undirected graph, or of its square: the residual
/// |M x - t x| / (t |x|), where t = x M x / x x. Other libraries are measured by the same figure.
double residual_of(graph::csr const& c, std::vector<double> const& x, bool squared) {
  auto const product = [&](std::vector<double> const& values) {
    std::vector<double> sums(values.size());
    for (std::size_t v = 0; v < values.size(); ++v)
      for (std::uint64_t i = c.offsets[v]; i < c.offsets[v + 1]; ++i) sums[v] += values[c.targets[i]];
    return sums;
  };
  std::vector<double> const ax = squared ? product(product(x)) : product(x);
  double const xx = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
  double const t = std::inner_product(x.begin(), x.end(), ax.begin(), 0.0) / xx;
  double rest = 0;
  for (std::size_t v = 0; v < x.size(); ++v) rest += (ax[v] - t * x[v]) * (ax[v] - t * x[v]);
  return std::sqrt(rest / xx) / t;
}

/// A run of power iterations.
template <class Space, bool Squared, class Call>
struct power_case {
  Space space;
  Call call;
  std::shared_ptr<algorithms::power_iterator<Space>> iterator;
  double operator()(graph::graph_view const& g) const { return call(*iterator, g); }
  [[nodiscard]] double residual(graph::csr const& c) const {
    return residual_of(c, exec::copy_out(space, iterator->values(), c.offsets.size() - 1), Squared);
  }
};
template <bool Squared, class Call>
auto with_residual(Call const& call) {
  return [=]<class Space>(Space const& space, graph::csr const&) {
    return power_case<Space, Squared, Call>{space, call, std::make_shared<algorithms::power_iterator<Space>>(space)};
  };
}

/// Registers run(view), which leaves its result in memory of the space, and returns a figure of it.
template <class Space, class Make>
void add_case(Space const& space, std::string const& algorithm, std::string const& storage, std::string const& name,
              bool churned, bool weighted, double calls, Make const& make) {
  std::string const label =
      algorithm + "/" + space.name + "/" + storage + "/" + name + (churned ? "/churned" : "/built");
  add(label, [=](benchmark::State& state) {
    graph_under_test<Space> const& subject = graph_under_test<Space>::get(space, storage, name, churned, weighted);
    graph::graph_view const g = subject.view();
    auto run = make(space, rows_of(name));
    double result = run(g);
    for (auto _ : state) state.SetIterationTime(seconds(space, [&] { result = run(g); }) / calls);
    state.counters["result"] = result;
    if constexpr (requires { run.residual(rows_of(name)); })
      if (!churned) state.counters["residual"] = run.residual(rows_of(name));
  });
}

/// A class whose run(g, options) leaves the result in memory of the space.
template <template <class> class Finder, class Figure>
auto whole(Figure const& figure) {
  return [=]<class Space>(Space const& space, graph::csr const&) {
    return [=, finder = std::make_shared<Finder<Space>>(space)](graph::graph_view const& g) {
      return static_cast<double>(figure(*finder, g));
    };
  };
}

/// The same for a class that runs from one source: from several, one after the other.
template <template <class> class Searcher, class Figure>
auto from_sources(std::size_t count, Figure const& figure) {
  return [=]<class Space>(Space const& space, graph::csr const& c) {
    std::vector<graph::vertex_id> from = search_sources(c);
    from.resize(count);
    return [=, searcher = std::make_shared<Searcher<Space>>(space)](graph::graph_view const& g) {
      double last = 0;
      for (graph::vertex_id const source : from) last = static_cast<double>(figure(*searcher, g, source));
      return last;
    };
  };
}

template <class Space>
using default_clusterer = algorithms::clusterer<Space>;

template <class Space>
void add_cases(Space const& space) {
  auto const hits =
      with_residual<true>([](auto& f, auto const& g) { return f.hits(g, {.tolerance = 1e-6}).iterations; });
  auto const eigenvector =
      with_residual<false>([](auto& f, auto const& g) { return f.eigenvector(g, {.tolerance = 1e-6}).iterations; });
  for (auto const& [name, make] : sources())
    for (std::string const& storage : graph::any_graph::allocators())
      for (bool const churned : {false, true}) {
        auto const add = [&](std::string const& algorithm, auto const& run, double calls = 1, bool weighted = false) {
          add_case(space, algorithm, storage, name, churned, weighted, calls, run);
        };
        add("bfs",
            from_sources<algorithms::bfs_searcher>(16,
                                                   [](auto& searcher, auto const& g, auto source) {
                                                     return searcher.run(g, std::span(&source, 1)).reached;
                                                   }),
            16);
        add("sssp",
            from_sources<algorithms::sssp_searcher>(
                16, [](auto& searcher, auto const& g, auto source) { return searcher.run(g, source); }),
            16, true);
        add("betweenness",
            from_sources<algorithms::betweenness_scorer>(4,
                                                         [](auto& scorer, auto const& g, auto source) {
                                                           scorer.run(g, std::span(&source, 1));
                                                           return 0;
                                                         }),
            4);
        add("cdlp", whole<algorithms::label_propagator>([](auto& f, auto const& g) { return f.run(g), 0; }));
        add("strong_components",
            whole<algorithms::strong_component_finder>([](auto& f, auto const& g) { return f.run(g).count; }));
        add("spanning_forest",
            whole<algorithms::spanning_forest_finder>([](auto& f, auto const& g) { return f.run(g).weight; }), 1, true);
        add("independent_set",
            whole<algorithms::independent_set_finder>([](auto& f, auto const& g) { return f.run(g); }));
        add("colouring", whole<algorithms::colouring_finder>([](auto& f, auto const& g) { return f.run(g); }));
        add("louvain",
            whole<algorithms::louvain_finder>([](auto& f, auto const& g) { return f.run(g), f.modularity(); }));
        add("leiden",
            whole<algorithms::leiden_finder>([](auto& f, auto const& g) { return f.run(g), f.modularity(); }));
        add("louvain_1_pass", whole<algorithms::louvain_finder>(
                                  [](auto& f, auto const& g) { return f.run(g, {.passes = 1}), f.modularity(); }));
        add("leiden_1_pass", whole<algorithms::leiden_finder>(
                                 [](auto& f, auto const& g) { return f.run(g, {.passes = 1}), f.modularity(); }));
        add("lcc", whole<algorithms::clustering_coefficients_counter>(
                       [](auto& f, auto const& g) { return f.run(g).average; }));
        add("truss", whole<algorithms::truss_decomposer>([](auto& f, auto const& g) { return f.run(g); }));
        add("hits", hits);
        add("katz", [](auto const& on, graph::csr const& c) {
          std::uint64_t most = 0;
          for (std::size_t v = 1; v < c.offsets.size(); ++v) most = std::max(most, c.offsets[v] - c.offsets[v - 1]);
          double const alpha = 0.9 / static_cast<double>(most);
          return whole<algorithms::power_iterator>([=](auto& f, auto const& g) {
            algorithms::katz_options o;
            o.alpha = alpha;
            o.tolerance = 1e-6;
            return f.katz(g, o).iterations;
          })(on, c);
        });
        add("eigenvector", eigenvector);
        // The results of these two are copied to the host.
        add("components", [](auto const& on, graph::csr const&) {
          return [=](graph::graph_view const& g) { return static_cast<double>(algorithms::components(on, g).count); };
        });
        add("core_numbers", [](auto const& on, graph::csr const&) {
          return [=](graph::graph_view const& g) {
            return static_cast<double>(algorithms::core_numbers(on, g).degeneracy);
          };
        });
        add("triangles", whole<algorithms::triangle_counter>([](auto& f, auto const& g) { return f.count(g).total; }));
      }
  for (auto const& [name, unused] : sources())
    for (std::string const& storage : graph::any_graph::allocators()) {
      add_case(space, "hits", storage, name + "-by-degree", false, false, 1, hits);
      add_case(space, "eigenvector", storage, name + "-by-degree", false, false, 1, eigenvector);
    }
  for (auto const* const graphs : {&sources(), &planted()})
    for (auto const& [name, unused] : *graphs)
      for (std::string const& storage : graph::any_graph::allocators())
        add_case(space, "map_equation", storage, name, false, false, 1,
                 whole<default_clusterer>([](auto& f, auto const& g) {
                   f.run(g, {.objective = algorithms::clustering_objective::map_equation});
                   return f.result().codelength;
                 }));
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  using namespace wyrm;
  std::string folder;
  std::vector<std::string> graphs;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view const argument = argv[i];
    if (argument.starts_with("--dump="))
      folder = argument.substr(7);
    else if (argument.starts_with("--graph="))
      graphs.emplace_back(argument.substr(8));
    else
      argv[kept++] = argv[i];
  }
  if (folder.empty()) {
    bench::for_each_space([](auto const& space) { bench::add_cases(space); });
    return bench::run_registered(kept, argv);
  }
  try {
    for (std::string const& name : graphs) bench::dump(folder, name);
  } catch (error const& e) {
    std::cerr << "analytics_bench: " << e.what() << '\n';
    return 1;
  }
}
