// SPDX-License-Identifier: Apache-2.0
// Graphs that are larger than the device memory they may take: time over graph size / budget. Cases, by name:
//
//   SUBJECT/SPACE/device/GRAPH            all of the graph in device memory
//   SUBJECT/SPACE/resident/GRAPH/ratio:R  by a residency manager with a budget of 100 / R % of the graph, R in percent
//   SUBJECT/SPACE/managed/GRAPH           managed memory, sent to the host, untimed, before each repetition
//   SUBJECT/SPACE/host/GRAPH              rows in pinned host memory: zero-copy alone
//   SUBJECT/SPACE/whole/GRAPH             the same as a directed graph, so that whole rows are read (out_bfs and
//                                         out_components)
//
// SUBJECT is out_pagerank (an iteration: the difference of two runs, divided; for managed, a run of one), out_bfs (from
// the vertex of the highest degree) and out_components (both without copying the results to the host), out_triangles,
// out_clustering (by random walks), or out_insert (100,000 random edges, which are erased untimed). GRAPH is rmat-S,
// rmat-SxF (F edges for each vertex, else 16) or rgg-S, with 2^S vertices. The size of a graph is that of its vertex
// table and rows; a budget counts these and all arrays: scratch, queues, results. What does not fit is reported as
// `does not fit`, and has no time. managed and host have vertex tables and arrays in device memory; managed runs only
// where the graph fits the free memory of the device. The arrays of out_bfs are those of its first, untimed repetition;
// those of the others are new each time.
//
// Figures: of_device: the time relative to that of device memory; in_mib, out_mib: moved in a repetition;
// moved_of_bus: these bytes over the time, as a part of 51 GB/s; rows_of_bus (pagerank): the lines of 128 bytes of all
// rows, read once, over the time. What is read in place crosses the bus, too, and is in neither of the first two. They
// include what moves between timed parts.
//
// Distances, labels, clusters, ranks and triangles must be those in device memory, bit for bit.
//
//   residency_curves_bench [--graph NAME,...] [--repeat N] [--only TEXT] [--quick] [--space cpu|cuda] [--json FILE]
//
// --graph: rmat-22,rgg-22 on a GPU, rmat-14,rgg-14 on a CPU. --quick: rmat-12, and three ratios.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../algorithms/bfs.hpp"
#include "../algorithms/clustering.hpp"
#include "../algorithms/components.hpp"
#include "../algorithms/pagerank.hpp"
#include "../algorithms/triangles.hpp"
#include "../alloc/ouroboros/ouroboros.hpp"
#include "../alloc/residency/manager.hpp"
#include "../alloc/residency/signature_check.hpp"
#include "../datasets/generators.hpp"
#include "../datasets/updates.hpp"
#include "../exec/bulk.hpp"
#include "../exec/device.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/dynamic_graph.hpp"
#include "residency/report.hpp"
#include "residency/settings.hpp"

namespace wyrm::bench::gdm {

namespace {

namespace residency = alloc::residency;

constexpr double bus_bytes = 51e9;  // a second
constexpr std::size_t batch_edges = 100'000;

/// Both arcs of edge i of an R-MAT graph, as numbers; of a self-loop, numbers beyond all arcs.
struct number_arcs {
  datasets::rmat_edges edges;
  std::uint64_t* numbers;
  WYRM_HD void operator()(std::size_t i) const {
    auto const [u, v] = edges(i);
    std::uint64_t const loop = std::uint64_t{u == v} << 2 * edges.scale;
    numbers[2 * i] = loop | std::uint64_t{u} << edges.scale | v;
    numbers[2 * i + 1] = loop | std::uint64_t{v} << edges.scale | u;
  }
};
struct target_of {
  unsigned scale;
  std::uint64_t const* arcs;
  graph::vertex_id* targets;
  WYRM_HD void operator()(std::size_t i) const {
    targets[i] = static_cast<graph::vertex_id>(arcs[i] & ((std::uint64_t{1} << scale) - 1));
  }
};
/// offsets[v]: the number of arcs before those of v.
struct offset_of {
  unsigned scale;
  std::uint64_t const* arcs;
  std::size_t n;
  std::uint64_t* offsets;
  WYRM_HD void operator()(std::size_t v) const {
    std::size_t first = 0;
    for (std::size_t count = n; count > 0;) {
      std::size_t const half = count / 2;
      bool const is_before = arcs[first + half] >> scale < v;
      first = is_before ? first + half + 1 : first;
      count = is_before ? count - half - 1 : half;
    }
    offsets[v] = first;
  }
};

/// Both arcs of each edge of an R-MAT graph, sorted: on the space, which sorts a billion arcs in less than a second.
template <class Space>
graph::csr rmat_rows(Space const& space, unsigned scale, std::size_t edge_factor) {
  std::size_t const edges = edge_factor << scale;
  std::size_t const vertices = std::size_t{1} << scale;
  exec::buffer<std::uint64_t, Space> numbers(space, 2 * edges);
  exec::buffer<std::uint64_t, Space> spare(space, 2 * edges);
  exec::for_each(space, edges, number_arcs{{scale, 1}, numbers.data()});
  typename Space::bulk bulk(space);
  std::uint64_t* const sorted = bulk.sort(numbers.data(), spare.data(), 2 * edges, 2 * scale + 1);
  std::uint64_t* const arcs = sorted == numbers.data() ? spare.data() : numbers.data();
  std::size_t const different = bulk.unique(sorted, arcs, 2 * edges);
  exec::buffer<std::uint64_t, Space> offsets(space, vertices + 1);
  exec::for_each(space, vertices + 1, offset_of{scale, arcs, different, offsets.data()});  // self-loops are behind
  graph::csr rows;
  rows.offsets = exec::copy_out(space, offsets.data(), vertices + 1);
  auto* const targets = reinterpret_cast<graph::vertex_id*>(sorted);
  exec::for_each(space, rows.offsets.back(), target_of{scale, arcs, targets});
  rows.targets = exec::copy_out(space, targets, rows.offsets.back());
  return rows;
}

/// rmat-S, rmat-SxF (F edges for each vertex; else 16) or rgg-S: both arcs of each edge, sorted. Throws
/// error(bad_argument).
template <class Space>
graph::csr rows_of(Space const& space, std::string const& name) {
  std::size_t const dash = name.find('-');
  std::string const kind = name.substr(0, dash);
  if (dash == std::string::npos || (kind != "rmat" && kind != "rgg"))
    throw error(error_code::bad_argument, "--graph: '" + name + "' is none of rmat-S, rmat-SxF and rgg-S");
  std::size_t const x = kind == "rmat" ? name.find('x', dash) : std::string::npos;
  std::size_t const digits = x == std::string::npos ? x : x - dash - 1;
  auto const scale = static_cast<unsigned>(number_of("--graph " + kind, name.substr(dash + 1, digits), 28));
  if (kind == "rmat")
    return rmat_rows(space, scale, x == std::string::npos ? 16 : number_of("--graph " + name, name.substr(x + 1), 64));
  graph::edge_list list = datasets::random_geometric(std::size_t{1} << scale, 1);
  std::size_t const edges = list.edges.size();
  for (std::size_t i = 0; i < edges; ++i) list.edges.push_back({list.edges[i].target, list.edges[i].source});
  std::sort(list.edges.begin(), list.edges.end());
  graph::csr rows;
  rows.offsets.resize(list.vertices + 1);
  for (auto const& [u, v] : list.edges) {
    ++rows.offsets[u + 1];
    rows.targets.push_back(v);
  }
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  return rows;
}

/// What algorithms find in a graph; empty if it was not asked for.
struct found {
  std::vector<double> ranks;
  std::vector<std::uint32_t> distances;
  std::vector<graph::vertex_id> labels;
  std::vector<std::uint32_t> clusters;
  std::optional<std::uint64_t> triangles;
};

template <class Space>
class curves {
 public:
  using graph_type = graph::dynamic_graph<Space, alloc::ouroboros_va_p<Space>>;

  curves(Space const& space, Space const& for_signatures, std::string const& name, settings const& s, report& to)
      : space_(space), for_signatures_(for_signatures), name_(name), s_(s), to_(to), rows_(rows_of(space, name)) {
    std::size_t const n = rows_.offsets.size() - 1;
    for (graph::vertex_id v = 0; v < n; ++v) {
      std::uint64_t const degree = rows_.offsets[v + 1] - rows_.offsets[v];
      row_bytes_ += static_cast<double>((degree * sizeof(graph::vertex_id) + 127) / 128 * 128);
      if (degree > rows_.offsets[hub_ + 1] - rows_.offsets[hub_]) hub_ = v;
    }
  }

  void run() {
    in_device();
    for (unsigned const percent : s_.is_quick ? std::vector<unsigned>{50, 150, 400}
                                              : std::vector<unsigned>{50, 100, 150, 200, 300, 400, 600, 800})
      resident(percent);
    other_memory("managed", exec::memory_kind::managed);
    other_memory("host", exec::memory_kind::host);
    other_memory("whole", exec::memory_kind::host, true);
  }

 private:
  [[nodiscard]] std::string case_of(char const* subject, std::string const& where) const {
    return std::string(subject) + "/" + Space::name + "/" + where;
  }
  /// Whether any case of a place is selected.
  [[nodiscard]] bool selects(std::string const& where) const {
    for (char const* const subject :
         {"out_pagerank", "out_bfs", "out_components", "out_triangles", "out_clustering", "out_insert"})
      if (to_.selects(case_of(subject, where))) return true;
    return false;
  }
  [[nodiscard]] graph_type graph_on(Space const& space, exec::memory_kind kind, bool directed = false) {
    std::size_t const n = rows_.offsets.size() - 1;
    graph::options o;
    o.directed = directed;
    o.in_neighbours = !directed;
    o.max_vertices = n;
    o.hash_seed = 1;
    o.pool.memory = kind;
    o.pool.pool_bytes = std::size_t{2} << 20;
    o.pool.reserve_bytes = 3 * rows_.targets.size() * sizeof(graph::vertex_id) + (std::size_t{64} << 20);
    graph_type g(space, n, o);
    // The rows are read in host memory, so that they take no device memory.
    if (!csr_) {
      csr_.emplace(space_, rows_);
      exec::copy_in(space_, csr_->offsets.data(), std::span<std::uint64_t const>(rows_.offsets));
      exec::copy_in(space_, csr_->targets.data(), std::span<graph::vertex_id const>(rows_.targets));
      space_.synchronize();
    }
    g.build(graph::resident_csr{csr_->offsets.data(), csr_->targets.data(), rows_.targets.size()});
    return g;
  }

  void in_device() {
    graph_type g = graph_on(space_, exec::memory_kind::device);
    graph::memory_report const m = g.memory();
    size_ = m.vertex_table + m.neighbours + m.slack;
    to_.about("bytes of " + name_, std::to_string(size_));
    reference_ = measure("device/" + name_, space_, g, {}, [] { return residency::statistics{}; });
  }
  void resident(unsigned percent) {
    std::string const where = "resident/" + name_ + "/ratio:" + std::to_string(percent);
    if (!selects(where)) return;
    std::size_t const budget = size_ * 100 / percent;
    std::size_t const step = space_.granularity();
    residency::options o;
    o.budget = std::make_shared<residency::fixed_budget>(budget);
    o.block_bytes = std::clamp(budget / 64 / step * step, step, std::max(step, std::size_t{4} << 20));
    if constexpr (!std::is_base_of_v<exec::host_space, Space>)
      o.make_dirty_check = residency::by_signatures(for_signatures_, o.block_bytes);
    residency::manager<Space> manager(space_, o);
    auto client = manager.make_client();
    attempt("graph", where, [&] {
      graph_type g = graph_on(client.space(), exec::memory_kind::device);
      (void)measure(where, client.space(), g, {}, [&] { return manager.counters(); });
    });
  }
  /// directed: algorithms do not know that each arc has a reverse one, so they read whole rows.
  void other_memory(std::string const& memory, exec::memory_kind kind, bool directed = false) {
    std::string const where = memory + "/" + name_;
    if (!selects(where)) return;
    attempt("graph", where, [&] {
      graph_type g = graph_on(space_, kind, directed);
      std::function<void()> send_back;
      if (kind == exec::memory_kind::managed) send_back = [&] { to_host(g); };
      (void)measure(where, space_, g, send_back, [] { return residency::statistics{}; });
    });
  }
  /// Sends the pages of all rows to the host.
  void to_host(graph_type const& g) const {
    auto const records = exec::copy_out(space_, g.view().out_records(), rows_.offsets.size() - 1);
    std::byte* first = nullptr;
    std::byte* last = nullptr;
    for (auto const& r : records) {
      auto* const page = reinterpret_cast<std::byte*>(r.page());
      if (page == nullptr) continue;
      if (first == nullptr || page < first) first = page;
      last = std::max(last, page + std::size_t{r.capacity()} * sizeof(graph::vertex_id));
    }
    if (first == nullptr) return;
    space_.prefetch(first, static_cast<std::size_t>(last - first), exec::memory_location::host);
    space_.synchronize();
  }

  /// Whether f() did not fail.
  template <class F>
  bool attempt(char const* subject, std::string const& where, F const& f) {
    try {
      f();
      return true;
    } catch (error const& failed) {
      if (failed.code() != error_code::out_of_memory)
        to_.add_failure(case_of(subject, where), failed.what());
      else
        std::printf("%-52s does not fit: %s\n", case_of(subject, where).c_str(), failed.what());
      return false;
    }
  }

  /// prepare() is called before each repetition, untimed.
  found measure(std::string const& where, Space const& space, graph_type& g, std::function<void()> const& prepare,
                std::function<residency::statistics()> const& counters) {
    found result;
    auto const timed = [&](auto const& f) {
      if (prepare) prepare();
      space.synchronize();
      auto const start = std::chrono::steady_clock::now();
      f();
      space.synchronize();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    auto const repeat = [&](char const* subject, unsigned launches, bool sees_rows, auto const& once) {
      if (where.starts_with("whole/") && std::string_view(subject) != "out_bfs" &&
          std::string_view(subject) != "out_components")
        return false;
      bool const is_reference = where.starts_with("device/") && to_.may_select(subject);
      if (!to_.selects(case_of(subject, where)) && !is_reference) return false;
      return attempt(subject, where, [&] {
        (void)once();
        residency::statistics const before = counters();
        std::vector<double> seconds;
        for (unsigned i = 0; i < s_.repeats; ++i) seconds.push_back(once());
        residency::statistics const after = counters();
        double const time = median(seconds);
        double const per = 1.0 / (s_.repeats * launches);
        double const in = static_cast<double>(after.moved_in_bytes - before.moved_in_bytes) * per;
        double const out = static_cast<double>(after.moved_out_bytes - before.moved_out_bytes) * per;
        figures all;
        auto& reference = device_seconds_[subject];
        if (where.rfind("device/", 0) == 0) reference = time;
        all.emplace_back("of_device", time / reference);
        all.emplace_back("in_mib", in / (1 << 20));
        all.emplace_back("out_mib", out / (1 << 20));
        all.emplace_back("moved_of_bus", (in + out) / time / bus_bytes);
        if (sees_rows) all.emplace_back("rows_of_bus", row_bytes_ / time / bus_bytes);
        to_.add(case_of(subject, where), time, all);
      });
    };
    constexpr unsigned few = 1;
    constexpr unsigned many = 6;
    auto const iterations = [&](unsigned n) {
      return timed([&] {
        result.ranks = algorithms::pagerank(space, g.view(), {.tolerance = 1e-300, .max_iterations = n}).rank;
      });
    };
    bool const has_ranks = repeat("out_pagerank", few + many, true, [&] {
      double const first = iterations(few);
      if (prepare) {
        (void)iterations(many);  // for the ranks: all but its first iteration find the pages on the device
        return first;
      }
      double const all = iterations(many);
      return all > first ? (all - first) / (many - few) : all / many;  // else the machine was busy in the first run
    });
    if (!has_ranks) result.ranks.clear();  // of too few iterations
    std::optional<algorithms::bfs_searcher<Space>> search;
    bool const has_distances = repeat("out_bfs", 1, false, [&] {
      if (!search) search.emplace(space);
      return timed([&] { (void)search->run(g.view(), std::span(&hub_, 1)); });
    });
    if (has_distances) result.distances = exec::copy_out(space, search->distance(), g.vertices());
    search.reset();
    repeat("out_components", 1, false, [&] {
      std::optional<algorithms::incremental_components<Space>> all;
      double const time = timed([&] { all.emplace(space, g.view()); });
      result.labels = all->label();
      return time;
    });
    repeat("out_triangles", 1, false,
           [&] { return timed([&] { result.triangles = algorithms::triangles(space, g.view()).total; }); });
    repeat("out_clustering", 1, false, [&] {
      std::optional<algorithms::clusterer<Space>> all;
      double const time = timed([&] { all.emplace(space).run(g.view()); });
      result.clusters = all->result().label;
      return time;
    });
    require_equal(where, result);
    std::uint64_t seed = 1;
    repeat("out_insert", 1, false, [&] {
      auto const batch = datasets::update_batch(datasets::update_kind::random, rows_.offsets.size() - 1,
                                                s_.is_quick ? batch_edges / 100 : batch_edges, seed++);
      double const time = timed([&] { g.insert(batch); });
      g.erase(batch);
      return time;
    });
    return result;
  }
  void require_equal(std::string const& where, found const& f) const {
    auto const check = [&](char const* what, auto const& values, auto const& expected) {
      if (!values.empty() && !expected.empty() && values != expected)
        throw error(error_code::corrupt, where + ": " + what + " differ from those in device memory");
    };
    check("ranks", f.ranks, reference_.ranks);
    check("distances", f.distances, reference_.distances);
    check("labels", f.labels, reference_.labels);
    check("clusters", f.clusters, reference_.clusters);
    if (f.triangles && reference_.triangles && f.triangles != reference_.triangles)
      throw error(error_code::corrupt, where + ": the triangles differ from those in device memory");
  }

  struct staged {
    staged(Space const& space, graph::csr const& rows)
        : offsets(space, rows.offsets.size(), exec::memory_kind::host),
          targets(space, std::max<std::size_t>(rows.targets.size(), 1), exec::memory_kind::host) {}
    exec::buffer<std::uint64_t, Space> offsets;
    exec::buffer<graph::vertex_id, Space> targets;
  };

  Space space_;
  Space for_signatures_;
  std::string name_;
  settings const& s_;
  report& to_;
  graph::csr rows_;
  graph::vertex_id hub_ = 0;
  double row_bytes_ = 0;
  std::optional<staged> csr_;
  std::size_t size_ = 0;
  found reference_;
  std::map<std::string, double> device_seconds_;
};

template <class Space>
void run_on(Space const& space, Space const& for_signatures, settings const& s, std::string const& usual, report& to) {
  to.about("device", space.description());
  to.about("repeats", std::to_string(s.repeats));
  std::istringstream names(!s.graph.empty() ? s.graph : s.is_quick ? "rmat-12" : usual);
  for (std::string name; std::getline(names, name, ',');) curves<Space>(space, for_signatures, name, s, to).run();
}

int run(int argc, char** argv) {
  return exit_status("residency_curves_bench", "--graph", [&] {
    settings const s = parse(argc, argv, "residency_curves_bench", "--graph NAME,...", 3);
    report to(s.only, s.json);
#if WYRM_WITH_CUDA
    if (s.space == "cuda" || (s.space.empty() && exec::cuda_space::device_count() > 0))
      run_on(exec::cuda_space(0), exec::cuda_space(0), s, "rmat-22,rgg-22", to);
    else
#else
    if (s.space == "cuda")
      throw error(error_code::bad_argument, "--space cuda: this program was built without CUDA; use --space cpu");
#endif
      run_on(exec::host_space(), exec::host_space(), s, "rmat-14,rgg-14", to);
    to.finish();
    return to.failures() == 0 ? 0 : 1;
  });
}

}  // namespace

}  // namespace wyrm::bench::gdm

int main(int argc, char** argv) { return wyrm::bench::gdm::run(argc, argv); }
