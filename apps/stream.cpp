// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include <cmath>
#include <memory>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include "../algorithms/incremental_pagerank.hpp"
#include "../algorithms/incremental_triangles.hpp"
#include "../algorithms/pagerank.hpp"
#include "process.hpp"
#include "report.hpp"
#include "update_reader.hpp"

namespace wyrm::apps {

namespace {

/// A graph with its maintained results.
class maintained_graph {
 public:
  maintained_graph(graph_options const& o, loaded_graph& loaded, stream_result& r) : options_(o), g_(loaded.g), r_(r) {
    r.loaded = std::move(loaded.summary);
    if (loaded.pagerank) {
      r.pagerank.emplace();
      r.pagerank->ms = timed([&] { pagerank_ = algorithms::maintain_pagerank(g_, {.tolerance = o.tolerance}); });
      g_.attach(*pagerank_);
    }
    if (loaded.triangles) {
      r.triangles.emplace();
      r.triangles->ms = timed([&] { triangles_ = algorithms::maintain_triangles(g_); });
      g_.attach(*triangles_);
    }
  }

  batch_result update(std::vector<update_run> const& batch) {
    batch_result b;
    if (pagerank_) b.pagerank.emplace();
    for (update_run const& run : batch) {
      graph::update_report one;
      bool const inserts = run.what == graph::operation::insert;
      b.ms += timed([&] { one = inserts ? g_.insert(run.edges) : g_.erase(run.edges); });
      add(b.changes, one);
      if (!pagerank_) continue;
      b.pagerank->iterations += pagerank_->iterations();
      b.pagerank->ranked += pagerank_->ranked();
      b.pagerank->converged = pagerank_->converged();
    }
    b.edges = g_.edges();
    if (triangles_) b.triangles = triangles_->total();
    r_.updates.add(b.changes, b.ms);
    b.number = r_.updates.batch_ms.size();
    if (!pagerank_) return b;
    r_.pagerank->iterations += b.pagerank->iterations;
    r_.pagerank->ranked += b.pagerank->ranked;
    return b;
  }

  void finish() {
    if (options_.check) g_.check();
    r_.edges = g_.edges();
    r_.memory_after = g_.memory();
    if (pagerank_) finish_pagerank();
    if (triangles_) finish_triangles();
  }

 private:
  void finish_pagerank() {
    std::vector<double> rank = pagerank_->rank();
    if (options_.check) check(rank);
    static_cast<rank_summary&>(*r_.pagerank) = summarize_ranks(rank, options_.top);
    r_.pagerank->converged = pagerank_->converged();
    r_.values.rank = std::move(rank);
  }
  void check(std::vector<double> const& rank) const {
    algorithms::pagerank_result const recomputed = algorithms::pagerank(g_, {.tolerance = options_.tolerance});
    if (!recomputed.converged || !pagerank_->converged()) return;
    double distance = 0;
    for (std::size_t v = 0; v < rank.size(); ++v) distance += std::abs(rank[v] - recomputed.rank[v]);
    // Both results are within d / (1 - d) times the tolerance of the exact ranks, except for rounding errors of
    // integers and sums.
    double const bound = 2 * 0.85 / 0.15 * options_.tolerance + 1e-14 * static_cast<double>(g_.arcs() + g_.vertices());
    if (distance <= bound) return;
    std::ostringstream message;
    message << "the maintained PageRank differs from the recomputed one by " << distance << " in the L1 norm; " << bound
            << " is allowed";
    throw error(error_code::corrupt, message.str());
  }
  void finish_triangles() {
    r_.triangles->total = triangles_->total();
    if (!options_.check && !options_.needs_vertex_triangles()) return;
    algorithms::triangles_result recomputed = algorithms::triangles(g_, {.clustering = true});
    if (recomputed.total != triangles_->total())
      throw error(error_code::corrupt, "the maintained number of triangles is " + std::to_string(triangles_->total()) +
                                           ", the recomputed one " + std::to_string(recomputed.total));
    if (!options_.needs_vertex_triangles()) return;
    r_.triangles->vertices = summarize_triangles(recomputed, options_.top);
    r_.values.triangles = std::move(recomputed);
  }

  graph_options const& options_;
  graph::any_graph& g_;
  stream_result& r_;
  std::unique_ptr<algorithms::maintained_pagerank> pagerank_;
  std::unique_ptr<algorithms::maintained_triangles> triangles_;
};

}  // namespace

stream_result stream(stream_options const& o, std::ostream& out) {
  update_reader updates(o.updates);
  loaded_graph loaded = load_graph(o);
  loaded.rows = {};
  stream_result r;
  maintained_graph maintained(o, loaded, r);
  print_stream_head(out, o, updates.name(), r);
  finish_when_interrupted();
  while (out && !interrupted()) {
    std::vector<update_run> const batch = updates.next(o.batch, r.loaded.ids);
    if (batch.empty()) break;
    print_batch(out, maintained.update(batch));
  }
  r.interrupted = interrupted();
  maintained.finish();
  r.residency = loaded.residency();
  return r;
}

}  // namespace wyrm::apps
