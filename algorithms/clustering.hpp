// SPDX-License-Identifier: Apache-2.0
// Clustering by random walks. Short walks from a vertex seldom leave its cluster, so the vertices that they visit most
// vote for its label (detail/affinities.hpp). Then vertices move and labels are merged, as long as an objective
// improves (detail/label_merging.hpp): modularity, the map equation or the constant Potts model
// (detail/objectives.hpp). docs/clustering.md describes the method, related methods, cost and limits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../alloc/allocator.hpp"
#include "../alloc/ouroboros/ouroboros.hpp"
#include "../exec/bulk.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/affinities.hpp"
#include "detail/arc_flows.hpp"
#include "detail/grow.hpp"
#include "detail/label_merging.hpp"
#include "detail/labels.hpp"
#include "detail/module_hierarchy.hpp"
#include "detail/symmetric_graph.hpp"
#include "detail/weighted_rows.hpp"

namespace wyrm::algorithms {

/// What clusters are chosen for. The walks propose labels, except under the map equation, and the objective decides
/// which moves and merges are made.
enum class clustering_objective : std::uint8_t {
  modularity,    // links inside clusters, compared with a random graph
  map_equation,  // the codelength of a random walk, which follows the directions of a directed graph
  cpm,           // the constant Potts model: links inside clusters, compared with a constant density
};

struct clustering_options {
  std::uint64_t seed = 1;
  std::uint32_t length = 4;       // steps of a walk; at least 1
  std::uint32_t walks = 16;       // from each vertex; at least 1
  std::uint32_t iterations = 32;  // rounds of voting, at most; none under the map equation
  /// Whether the values of the graph, which are finite numbers and not negative, are weights of arcs. The weights of
  /// both directions of an edge are added up, also in a directed graph, except by the map equation.
  bool weighted = false;
  clustering_objective objective = clustering_objective::modularity;
  /// Modularity: factor of the links that are expected in a random graph. Constant Potts model: the least density of
  /// links, or weight per pair of vertices, that keeps clusters together. Greater values lead to smaller clusters.
  /// Positive; 1 for the map equation.
  double resolution = 1;
  /// Map equation: the greatest number of levels of the hierarchy of clusters; at least 1, and 1 for other objectives.
  /// Each level above the first, whose clusters are sets of clusters of the level below, must shorten the code.
  std::uint32_t levels = 1;
};

struct clustering_result {
  std::vector<std::uint32_t> label;  // of each vertex: 0 ... count - 1, in the order of first vertices
  std::uint32_t count = 0;
  std::vector<std::uint32_t> sizes;  // of each label: number of vertices
  /// With resolution 1, whatever the objective; directions are ignored. 0 without edges.
  double modularity = 0;
  /// Of the map equation, in bits per step, whatever the objective; 0 without edges. Directions are ignored unless the
  /// objective is the map equation. With options::levels > 1, of the hierarchy.
  double codelength = 0;
  /// What the objective makes as great as possible: modularity with `resolution`; minus the codelength; or the weight
  /// of the edges inside clusters minus `resolution` times the pairs of vertices in them.
  double quality = 0;
  std::uint32_t iterations = 0;  // rounds of voting
  bool converged = true;         // voting and merging ended before their limits
  /// With options::levels > 1: the labels of vertices at each level, numbered as `label`, which is the first of them.
  /// Vertices with the same label at a level have the same one at the next. Else empty.
  std::vector<std::vector<std::uint32_t>> levels;
};

/// Clusters different graphs, or one changing graph; keeps its memory. Labels stay on the device until result() is
/// called. Not thread-safe.
template <class Space, class Allocator = alloc::ouroboros_va_p<Space>>
class clusterer {
 public:
  explicit clusterer(Space const& space, alloc::options const& pool = {})
      : space_(space),
        pool_(space, alloc::without_guards(pool)),
        bulk_(space),
        merging_(space),
        symmetric_(space, "clustering"),
        flows_(space),
        hierarchy_(space),
        touched_(space),
        lists_(space),
        fine_(space),
        label_(space),
        before_batch_(space),
        weight_sums_(space),
        waiting_(space, 1) {}

  /// on_demand: run() may request memory. reserved: reserve() has requested it for at least as many arcs, and run()
  /// never fails for lack of memory; if the pool has no room for the affinities of a vertex and cannot grow, the vertex
  /// does not vote.
  enum class memory : std::uint8_t { on_demand, reserved };

  /// Clusters a graph. Throws error(bad_argument) for options out of range, for a graph of more than 2^31 arcs (2^30 if
  /// it is directed or `weighted`), and, if `weighted`, for a graph whose values are no numbers or a value that is
  /// negative or not finite; error(out_of_memory). O(walks * length * vertices + arcs log vertices).
  /// 28 to 44 bytes per arc and about 360 per vertex, for the map equation 270; for a directed graph or with
  /// weights up to three times as much per arc; for the map equation of a directed graph 16 per arc and 56 per vertex
  /// more, and O(vertices + arcs) for each of at most 160 steps of PageRank; with levels > 1 up to 16 per arc and about
  /// 110 per vertex more. On a host about 16 bytes per arc instead of 28 to 44, and 12 per vertex for each thread, see
  /// detail::most_table_bytes().
  void run(graph::graph_view const& g, clustering_options const& o = {}, memory m = memory::on_demand) {
    if (o.length == 0 || o.walks == 0) symmetric_.refuse("walks and length must be at least 1");
    symmetric_.check_resolution(o.resolution);
    if (o.objective == clustering_objective::map_equation && o.resolution != 1)
      symmetric_.refuse("the map equation has no resolution; leave the option out, or choose another objective");
    if (o.levels == 0) symmetric_.refuse("levels must be at least 1");
    if (o.levels > 1 && o.objective != clustering_objective::map_equation)
      symmetric_.refuse(
          "only the map equation has more than one level of clusters; choose it, or leave the option levels out");
    symmetric_.inspect(g, o.weighted);
    begin(g.vertices());
    memory_ = m;
    for (labels* l : {&fine_, &label_}) exec::for_each(space_, vertices_, detail::init_labels{l->data()});
    if (prepare(g, o)) {
      vote_and_merge(o);
      if (o.levels > 1) find_levels(o.levels);
    } else if (o.levels > 1) {
      levels_ = {exec::copy_out(space_, label_.data(), vertices_)};
    }
  }
  /// Updates the labels after edges, given in memory of the space, have been inserted or erased since the last run() or
  /// refresh(); an edge may be graph_change::no_edge(). Ends of these edges and their neighbours repeat walks,
  /// votes and moves, and all labels are merged again. Alternatively moves and merging continue from the current
  /// clusters; the result with the higher quality is kept. Without weights. Under the map equation of a directed graph,
  /// PageRank is computed as by run(). Uses the memory of reserve(). Throws error(bad_argument) if the last run was for
  /// another number of vertices. O(arcs log vertices).
  void refresh(graph::graph_view const& g, clustering_options const& o, graph::edge const* edges, std::size_t n) {
    if (o.weighted) symmetric_.refuse("labels cannot be updated by weights; run again");
    if (o.levels > 1) symmetric_.refuse("a hierarchy cannot be updated; run again");
    if (g.vertices() != vertices_)
      symmetric_.refuse("labels of " + std::to_string(vertices_) + " vertices cannot be updated for a graph of " +
                        std::to_string(g.vertices()));
    begin(vertices_);
    memory_ = memory::reserved;
    if (!prepare(g, o)) {
      for (labels* l : {&fine_, &label_}) exec::for_each(space_, vertices_, detail::init_labels{l->data()});
      return;
    }
    merging_.relabel_by_first(label_.data(), vertices_);
    merging_.relabel_by_first(fine_.data(), vertices_);
    move(label_.data());
    merge_until_stable();
    finish();
    std::swap(label_, before_batch_);
    auto const count = count_;
    auto const value = value_;

    merging_.moves().prepare(rows_);
    touched_.clear(rows_.g);
    exec::for_each_lane<32>(space_, n, detail::list_endpoints{rows_.g, edges, touched_.view()});
    voters().clear(rows_.g);
    detail::for_each_item<8>(space_, touched_.view(), detail::list_neighbours{rows_.g, voters().view()});
    vote_and_merge(o);
    if (value.quality <= value_.quality) return;
    std::swap(label_, before_batch_);
    count_ = count;
    value_ = value;
  }
  /// The number of labels.
  [[nodiscard]] std::size_t vertices() const { return vertices_; }
  /// Extends the labels to n vertices, at least as many as those of the last run() or refresh(): each further vertex
  /// has no edges, and a label of its own. Uses the memory of reserve().
  void add_vertices(std::size_t n) {
    std::size_t const more = n - vertices_;
    auto const from = static_cast<graph::vertex_id>(vertices_);
    exec::for_each(space_, more, detail::number_from{fine_.data() + vertices_, from});
    exec::for_each(space_, more, detail::number_from{label_.data() + vertices_, count_});
    vertices_ = n;
    count_ += static_cast<std::uint32_t>(more);
  }
  /// Requests all memory that refresh(), add_vertices(), or run() without weights and with one level, needs for n
  /// vertices and this many arcs of a graph that is directed as g. Throws error(bad_argument) if there could be too
  /// many arcs: in an undirected graph each vertex may have a self-loop, which counts twice. Throws
  /// error(out_of_memory); labels are unchanged then.
  void reserve(graph::graph_view const& g, std::size_t n, std::uint64_t arcs, clustering_options const& o = {}) {
    std::uint64_t const entries = symmetric_.reserve(g, n, arcs);
    for (labels* l : {&fine_, &label_}) detail::grow(space_, *l, vertices_, n);
    reserve_scratch(n);
    merging_.reserve(n, entries);
    if (g.directed()) merging_.builder().reserve_symmetrise(n, entries);
    if (o.objective == clustering_objective::map_equation) {
      merging_.moves().reserve_flows(n);
      if (g.directed()) flows_.reserve(n, entries);
    } else {
      reserve_pool(n, memory::on_demand);
    }
    touched_.reserve(n, entries);
  }

  /// The result of the last run() or refresh(). O(vertices).
  [[nodiscard]] clustering_result result() const {
    clustering_result r{exec::copy_out(space_, label_.data(), vertices_),
                        count_,
                        std::vector<std::uint32_t>(count_),
                        value_.modularity,
                        value_.codelength,
                        value_.quality,
                        iterations_,
                        converged_,
                        levels_};
    for (std::uint32_t const l : r.label) ++r.sizes[l];
    return r;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] double modularity() const { return value_.modularity; }
  [[nodiscard]] double codelength() const { return value_.codelength; }
  [[nodiscard]] double quality() const { return value_.quality; }

 private:
  using labels = exec::buffer<graph::vertex_id, Space>;
  static constexpr unsigned max_passes = 16;

  // Initialises the result: each vertex is a cluster.
  void begin(std::size_t n) {
    vertices_ = n;
    for (labels* l : {&fine_, &label_}) l->reserve(n);
    reserve_scratch(n);
    count_ = static_cast<std::uint32_t>(n);
    value_ = {};
    iterations_ = 0;
    converged_ = true;
    levels_.clear();
  }
  void reserve_scratch(std::size_t n) {
    before_batch_.reserve(n);
    merging_.reserve(n);
    lists_.reserve(n);
  }
  // The list of the vertices that vote and move.
  [[nodiscard]] detail::vertex_list<Space>& voters() { return merging_.moves().now(); }
  // Sets rows_, and lists all vertices with a row as voters. Returns false if all weights are 0.
  bool prepare(graph::graph_view const& g, clustering_options const& o) {
    rules_ = {};
    rules_.map_equation = o.objective == clustering_objective::map_equation;
    rules_.terms.directed = rules_.map_equation && g.directed();
    graph_rows_ = symmetric_.make(g, o.weighted, merging_.builder(), rules_.terms.directed ? &flows_ : nullptr);
    if (graph_rows_.g.arcs() == 0) return false;
    rows_ = rules_.terms.directed ? flows_.rows() : graph_rows_;
    if (rows_.weights != nullptr && !rules_.map_equation) {  // for walks
      weight_sums_.reserve(rows_.g.arcs() + 1);
      bulk_.inclusive_sum(rows_.weights, weight_sums_.data(), rows_.g.arcs());
    }
    total_ = merging_.moves().prepare(rows_);
    if (!rules_.terms.directed) symmetric_.check_total(total_);  // flows are small enough
    objective_ = o.objective;
    resolution_ = o.resolution;
    switch (objective_) {
      case clustering_objective::modularity:
        rules_.quadratic = symmetric_.quadratic(static_cast<double>(total_), resolution_, total_, total_);
        break;
      case clustering_objective::map_equation: break;
      case clustering_objective::cpm:
        rules_.quadratic = symmetric_.quadratic(symmetric_.unit(), resolution_, total_, vertices_);
        break;
    }
    return true;
  }

  // The voters vote and move; then all labels are merged. Under the map equation, votes would lead to longer codes.
  void vote_and_merge(clustering_options const& o) {
    if (!rules_.map_equation) {
      find_affinities(o);
      vote(o.iterations);
    }
    move(fine_.data());
    space_.copy(label_.data(), fine_.data(), vertices_ * sizeof(graph::vertex_id));
    merge_until_stable();
    finish();
  }
  // Merges labels and moves vertices in turn, until neither changes anything.
  void merge_until_stable() {
    for (unsigned pass = 0; merge(); ++pass) {
      if (pass == max_passes) {
        converged_ = false;
        return;
      }
      merging_.moves().prepare(rows_);
      if (move(label_.data()) == 0) return;
    }
  }
  // Requests room for full lists of n vertices.
  void reserve_pool(std::size_t n, memory m) {
    std::size_t const wanted = (n + 1024) * affinity_bytes;
    std::size_t const there = pool_.stats().committed;
    if (there < wanted) (void)grow_pool(wanted - there, m);
  }
  // Returns false if there is no memory and lists may be omitted.
  bool grow_pool(std::size_t bytes, memory m) {
    try {
      pool_.grow(bytes);
    } catch (error const& e) {
      if (m != memory::reserved || e.code() != error_code::out_of_memory) throw;
      return false;
    }
    return true;
  }
  void find_affinities(clustering_options const& o) {
    reserve_pool(vertices_, memory_);
    pool_.reset();
    space_.fill(lists_.data(), 0xff, vertices_ * sizeof(detail::affinity_list));
    detail::step_rules const rules{
        rows_.g, symmetric_.offsets(), rows_.weights == nullptr ? nullptr : weight_sums_.data(), o.seed, 0, 0, 0, 0, 0,
        false};
    for (;;) {
      space_.fill(waiting_.data(), 0, waiting_.bytes());
      detail::for_each_item<32>(space_, voters().view(),
                                detail::find_affinities<typename Allocator::view_type>{
                                    rules, pool_.view(), o.walks, o.length, lists_.data(), waiting_.data()});
      std::size_t const waiting = exec::read(space_, waiting_.data());
      if (waiting == 0) return;
      if (!grow_pool(std::max(2 * waiting * affinity_bytes, pool_.stats().committed / 2), memory_)) break;
    }
    exec::for_each(space_, vertices_, detail::empty_missing_lists{lists_.data()});
  }
  void vote(std::uint32_t max_rounds) {
    graph::vertex_id* label = fine_.data();
    graph::vertex_id* next = merging_.spare(0).data();
    space_.copy(next, label, vertices_ * sizeof(graph::vertex_id));
    std::uint64_t* const volume = merging_.moves().compute_volumes(label, vertices_);
    bool ended = false;
    for (; iterations_ < max_rounds && !ended; ++iterations_) {
      space_.fill(waiting_.data(), 0, waiting_.bytes());
      detail::frontier const all = voters().view();
      detail::for_each_item<32>(space_, all,
                                detail::vote{lists_.data(), merging_.moves().degrees(), volume, total_, label, next,
                                             iterations_, waiting_.data()});
      detail::for_each_item<32>(space_, all, detail::count_votes{merging_.moves().degrees(), label, next, volume});
      std::swap(label, next);
      ended = exec::read(space_, waiting_.data()) == 0;
    }
    converged_ = converged_ && ended;
    if (label != fine_.data()) std::swap(fine_, merging_.spare(0));
  }
  std::uint64_t move(graph::vertex_id* label) {
    count_masses(nullptr);
    // A vertex can leave its label for one of its own only if its id is not the label of others.
    if (objective_ != clustering_objective::modularity || resolution_ != 1) merging_.relabel_by_first(label, vertices_);
    auto const done = merging_.moves().run(rows_, label, detail::label_merging<Space>::max_rounds, rules_);
    converged_ = converged_ && done.ended;
    return done.count;
  }
  // Sets the masses of labels; nullptr: of vertices. Under the constant Potts model, they are numbers of vertices, and
  // under the map equation of a directed graph, flows.
  void count_masses(graph::vertex_id const* label) {
    if (objective_ == clustering_objective::cpm) rules_.mass = merging_.count(label, vertices_);
    if (rules_.terms.directed)
      rules_.mass = label == nullptr ? flows_.visits() : merging_.sum(flows_.visits(), label, vertices_);
  }
  // Returns whether labels were merged.
  bool merge() {
    auto const done =
        merging_.merge(rows_, label_.data(), rules_, [&](graph::vertex_id) { count_masses(label_.data()); });
    converged_ = converged_ && done.converged;
    return done.merged;
  }
  // Finds up to so many levels, and possibly smaller clusters.
  void find_levels(std::uint32_t most) {
    // If find() throws, there may be more labels than before.
    auto const count = std::exchange(count_, static_cast<std::uint32_t>(vertices_));
    auto found = hierarchy_.find(merging_, rows_, label_.data(), count, rules_, most);
    finish();
    value_.codelength -= static_cast<double>(found.saved) * detail::flow_log_unit / rules_.terms.steps(total_);
    value_.quality = -value_.codelength;
    converged_ = converged_ && found.converged;
    levels_ = std::move(found.levels);
  }
  // Gives labels their final numbers, and computes modularity, codelength and quality.
  void finish() {
    count_ = merging_.number(label_.data(), vertices_);
    if (rules_.terms.directed) count_masses(nullptr);
    auto const found = merging_.evaluate(rows_, label_.data(), &rules_);
    bool const same_rows = !rules_.terms.directed;
    value_.modularity = (same_rows ? found : merging_.evaluate(graph_rows_, label_.data(), nullptr)).modularity(1);
    value_.codelength = found.codelength;
    switch (objective_) {
      case clustering_objective::modularity: value_.quality = found.modularity(resolution_); break;
      case clustering_objective::map_equation: value_.quality = -value_.codelength; break;
      case clustering_objective::cpm:
        value_.quality = found.inside / symmetric_.unit() / 2 - resolution_ * merging_.pairs(label_.data(), vertices_);
        break;
    }
  }

  static constexpr std::size_t affinity_bytes = detail::affinity_list::capacity * sizeof(detail::affinity);

  Space space_;
  Allocator pool_;
  typename Space::bulk bulk_;
  detail::label_merging<Space> merging_;
  detail::symmetric_graph<Space> symmetric_;
  detail::arc_flows<Space> flows_;
  detail::module_hierarchy<Space> hierarchy_;
  detail::vertex_list<Space> touched_;
  exec::large_buffer<detail::affinity_list, Space> lists_;
  labels fine_;  // labels before merging, from which refresh() starts
  labels label_;
  labels before_batch_;
  exec::large_buffer<std::uint64_t, Space> weight_sums_;
  exec::buffer<std::uint32_t, Space> waiting_;
  // The rows of the graph, and those of the flows under the map equation; else the same.
  detail::weighted_rows graph_rows_{graph::graph_view(graph::view_parts{}), nullptr, nullptr, 2};
  detail::weighted_rows rows_ = graph_rows_;
  memory memory_ = memory::on_demand;
  std::size_t vertices_ = 0;
  std::uint64_t total_ = 0;  // of all degrees
  std::uint32_t count_ = 0;
  std::uint32_t iterations_ = 0;
  bool converged_ = true;
  std::vector<std::vector<std::uint32_t>> levels_;
  clustering_objective objective_ = clustering_objective::modularity;  // of the last run, as the next two
  double resolution_ = 1;
  detail::move_rules rules_;
  struct worth {
    double modularity = 0;
    double codelength = 0;
    double quality = 0;
  } value_;
};

/// The same for a single call.
template <class Space>
clustering_result clustering(Space const& space, graph::graph_view const& g, clustering_options const& o = {}) {
  clusterer<Space> c(space);
  c.run(g, o);
  return c.result();
}

clustering_result clustering(graph::any_graph const& g, clustering_options const& o = {});

}  // namespace wyrm::algorithms
