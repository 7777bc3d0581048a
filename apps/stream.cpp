// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <new>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "../algorithms/incremental_pagerank.hpp"
#include "../algorithms/incremental_triangles.hpp"
#include "../algorithms/pagerank.hpp"
#include "../datasets/decay.hpp"
#include "../datasets/read_ahead.hpp"
#include "../graph/query/on_any_graph.hpp"
#include "generate.hpp"
#include "process.hpp"
#include "rank_emitter.hpp"
#include "report.hpp"
#include "saved_updates.hpp"
#include "status_line.hpp"

namespace wyrm::apps {

namespace {

/// A graph with its maintained results.
class maintained_graph {
 public:
  /// `r` has the loaded graph.
  maintained_graph(stream_options const& o, graph::any_graph& g, stream_result& r) : options_(o), g_(g), r_(r) {
    if (o.half_life > 0) decayed_.emplace(g_, o.half_life);
    for (algorithm const* const a : o.selected())
      if (!a->undirected || !r.loaded.directed) maintain(*a);
    if (catches_up()) {
      graph::snapshot const now = g_.snapshot();
      for (one_maintained& one : maintained_) one.since = now;
    }
    if (o.emit == emission::none) return;
    if (pagerank_ == nullptr)
      throw error(error_code::bad_argument, "--emit prints ranks, and PageRank is not selected; leave --emit out");
    emitter_.emplace(o.emit, o.top, o.tolerance, r.loaded.ids);
  }

  /// `names`: of the vertices that the batch adds, if ranks are emitted.
  batch_result update(datasets::timed_batch const& batch, std::vector<std::string> const& names) {
    batch_result b;
    b.added = batch.added.size();
    b.removed = batch.removed.size();
    b.expired = batch.expired;
    b.end = batch.end;
    b.number = r_.updates.batch_ms.size() + 1;
    bool const maintains = b.number % options_.every == 0;
    b.ms = timed([&] {
      b.changes = apply(batch);
      absent_.insert(batch.removed.begin(), batch.removed.end());
      for (graph::vertex_id const v : batch.added) absent_.erase(v);
      r_.added += b.added;
      behind_ = true;
      follow(b, maintains);
    });
    if (emitter_) emitter_->follow(batch, names);
    b.vertices = g_.present_vertices();
    b.edges = g_.edges();
    r_.updates.add(b.changes, b.ms);
    r_.removed += b.removed;
    r_.expired += b.expired;
    r_.forgotten += b.forgotten;
    if (options_.json) b.further = figures();
    if (behind_) return b;
    if (triangles_ != nullptr) b.triangles = triangles_->total();
    if (r_.pagerank) b.pagerank = count_ranks();
    if (emitter_) b.ranks = emitter_->select(pagerank_->rank());
    return b;
  }
  /// The error of the work that follows the last batch in the graph; the batch is applied.
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  [[nodiscard]] std::size_t memory() const { return g_.memory().total(); }

  void finish() {
    if (behind_) {
      catch_up();
      if (r_.pagerank) (void)count_ranks();
    }
    for (one_maintained& one : maintained_) one.since.reset();
    if (options_.check) g_.check();
    r_.edges = g_.edges();
    r_.vertices = g_.present_vertices();
    r_.memory_after = g_.memory();
    if (r_.pagerank) finish_pagerank();
    if (triangles_ != nullptr) finish_triangles();
    for (one_maintained const& one : maintained_)
      if (one.maintained.describe) finish_further(one);
  }

 private:
  struct one_maintained {
    algorithm const* of;
    maintained_algorithm maintained;
    double ms;  // time in the graph as loaded
    // What the result belongs to, if it is not attached. Not the same for all results after one could not catch up.
    std::optional<graph::snapshot> since;
  };

  [[nodiscard]] algorithm_input input() const {
    static graph::csr const no_rows;
    static std::vector<double> const no_weights;
    return {.g = g_,
            .rows = no_rows,
            .weights = no_weights,
            .source = r_.source,
            .weighted = options_.weighted,
            .tolerance = options_.tolerance,
            .top = options_.top,
            .per_vertex = false,
            .sources = {},
            .seed = 0};
  }
  void maintain(algorithm const& a) {
    if (a.source && !r_.source)
      throw error(error_code::bad_argument,
                  std::string("the algorithm ") + a.name + " begins at a vertex, and the graph has none; leave it out");
    one_maintained one{&a, {}, 0, {}};
    one.ms = timed([&] { one.maintained = a.maintain(input()); });
    graph::maintained_result& result = *one.maintained.result;
    if (auto* const ranks = dynamic_cast<algorithms::maintained_pagerank*>(&result)) {
      pagerank_ = ranks;
      r_.pagerank.emplace().ms = one.ms;
    } else if (auto* const triangles = dynamic_cast<algorithms::maintained_triangles*>(&result)) {
      triangles_ = triangles;
      r_.triangles.emplace().ms = one.ms;
    } else {
      r_.further.push_back({&a, {}});
      r_.further.back().result.ms = one.ms;
    }
    if (options_.every == 1) g_.attach(result);
    maintained_.push_back(std::move(one));
  }
  // All of the batch or nothing.
  graph::update_report apply(datasets::timed_batch const& batch) {
    if (!batch.removed.empty()) {
      std::uint64_t const edges = g_.remove_vertices(batch.removed).edges;
      graph::update_report report;
      report.requested = report.erased = edges;
      return report;
    }
    if (batch.added.empty()) return apply_edges(batch);
    if (g_.add_vertices(batch.added.size()) != batch.added)
      throw error(error_code::corrupt, "the graph gave new vertices other numbers than the ids of the stream");
    try {
      return apply_edges(batch);
    } catch (...) {
      try {
        (void)g_.remove_vertices(batch.added);
        absent_.insert(batch.added.begin(), batch.added.end());
      } catch (...) {  // the first error says more
      }
      throw;
    }
  }
  graph::update_report apply_edges(datasets::timed_batch const& batch) {
    if (decayed_) return decayed_->apply(batch);
    if (batch.edges.empty()) return {};
    if (options_.weighted)
      return batch.operations.empty() ? g_.insert(batch.edges, batch.weights)
                                      : g_.apply(batch.edges, batch.operations, batch.weights);
    return batch.operations.empty() ? g_.insert(batch.edges) : g_.apply(batch.edges, batch.operations);
  }
  // The work behind a batch, which is in the graph when this work fails.
  void follow(batch_result& b, bool maintains) {
    try {
      if (options_.forget > 0) b.forgotten = decayed_->forget(options_.forget).erased;
      if (maintains) catch_up();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  // Whether results are not attached, but follow the graph after some batches.
  [[nodiscard]] bool catches_up() const { return options_.every > 1 && !maintained_.empty(); }
  void catch_up() {
    if (catches_up()) {
      graph::snapshot const now = g_.snapshot();
      for (one_maintained& one : maintained_) {
        graph::catch_up(g_, *one.maintained.result, *one.since);
        one.since = now;
      }
    }
    behind_ = false;
  }
  [[nodiscard]] rank_changes last_changes() const {
    return {pagerank_->iterations(), pagerank_->ranked(), pagerank_->converged()};
  }
  rank_changes count_ranks() {
    rank_changes const done = last_changes();
    r_.pagerank->iterations += done.iterations;
    r_.pagerank->ranked += done.ranked;
    return done;
  }
  void finish_pagerank() {
    std::vector<double> rank = pagerank_->rank();
    bool const converged = last_changes().converged;
    if (options_.check && converged) check(rank);
    static_cast<rank_summary&>(*r_.pagerank) = summarize_ranks(rank, options_.top);
    r_.pagerank->converged = converged;
    r_.values.push_back({"pagerank", rank_values(std::move(rank))});
  }
  void check(std::vector<double> const& rank) const {
    algorithms::pagerank_result const recomputed =
        algorithms::pagerank(g_, {.tolerance = options_.tolerance, .weighted = options_.weighted});
    if (!recomputed.converged) return;
    double distance = 0;
    for (std::size_t v = 0; v < rank.size(); ++v) distance += std::abs(rank[v] - recomputed.rank[v]);
    // Both results are within d / (1 - d) times the tolerance of the exact ranks, except for rounding errors of
    // integers and sums. pagerank() reads weights as floats, with relative errors of 2^-24; so has a share of a row.
    double const rounding = options_.weighted ? 0x1p-23 : 0;
    double const bound =
        0.85 / 0.15 * (2 * options_.tolerance + rounding) + 1e-14 * static_cast<double>(g_.arcs() + g_.vertices());
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
    r_.values.push_back({"triangles", triangle_values(std::move(recomputed))});
  }
  [[nodiscard]] maintained_state state(double unit) const { return {absent_, unit, options_.top}; }
  [[nodiscard]] double unit() const { return decayed_ ? decayed_->unit() : 1; }
  [[nodiscard]] std::vector<maintained_figures> figures() const {
    std::vector<maintained_figures> all;
    for (one_maintained const& one : maintained_) {
      if (!one.maintained.describe) continue;
      all.push_back({one.of, std::nullopt});
      if (!behind_) all.back().figures = one.maintained.describe(state(unit())).figures;
    }
    return all;
  }
  void finish_further(one_maintained const& one) {
    if (options_.check && one.maintained.is_unique) check(one);
    algorithm_result result = one.maintained.describe(state(unit()));
    result.ms = one.ms;
    r_.values.push_back({one.of->name, std::exchange(result.values, {})});
    auto const at = std::find_if(r_.further.begin(), r_.further.end(), [&](auto const& r) { return r.of == one.of; });
    at->result = std::move(result);
  }
  // Weights that decay are those in the graph here, in both results.
  void check(one_maintained const& one) const {
    algorithm_result const maintained = one.maintained.describe(state(1));
    algorithm_result const recomputed = one.of->run(input());
    if (maintained.values.columns.front().values == recomputed.values.columns.front().values) return;
    throw error(error_code::corrupt,
                std::string("the maintained result of ") + one.of->name + " differs from the recomputed one");
  }

  stream_options const& options_;
  graph::any_graph& g_;
  stream_result& r_;
  std::optional<datasets::decayed_graph> decayed_;
  std::vector<one_maintained> maintained_;
  algorithms::maintained_pagerank* pagerank_ = nullptr;  // in maintained_, like triangles_
  algorithms::maintained_triangles* triangles_ = nullptr;
  std::set<graph::vertex_id> absent_;  // vertices that were removed
  std::optional<rank_emitter> emitter_;
  bool behind_ = false;  // whether results lack a batch
  std::exception_ptr failure_;
};

// What SIGUSR1 prints, and the status line. The thread of signals reads it.
class stream_status {
 public:
  stream_status(update_stream const& updates, std::uint64_t edges) : updates_(updates), edges_(edges) {
    set_status([this] { return text(); });
  }
  ~stream_status() { set_status({}); }
  stream_status(stream_status const&) = delete;
  stream_status& operator=(stream_status const&) = delete;

  void reads_from(datasets::read_ahead const* batches) {
    std::lock_guard const lock(mutex_);
    batches_ = batches;
  }
  void add(batch_result const& b) {
    std::lock_guard const lock(mutex_);
    requested_ += b.changes.requested;
    edges_ = b.edges;
    ms_.push_back(b.ms);
    total_ms_ += b.ms;
  }

  /// For a line of a terminal; the latencies are those of the last 1,000 batches.
  [[nodiscard]] std::string short_text(std::size_t memory) const {
    constexpr std::size_t recent = 1000;
    std::ostringstream out;
    out.precision(3);
    std::lock_guard const lock(mutex_);
    latencies const l = summarize({ms_.end() - static_cast<std::ptrdiff_t>(std::min(recent, ms_.size())), ms_.end()});
    out << "batch " << ms_.size() << ", " << edges_ << " edges, " << rate() << "/s, ms p50 " << l.p50 << ", p95 "
        << l.p95 << ", p99 " << l.p99 << ", max " << l.max << ", " << (memory >> 20) << " MiB, " << waiting()
        << " wait";
    return out.str();
  }

 private:
  // Updates per second.
  [[nodiscard]] double rate() const { return total_ms_ > 0 ? static_cast<double>(requested_) / total_ms_ * 1000 : 0; }
  [[nodiscard]] std::size_t waiting() const { return batches_ != nullptr ? batches_->waiting() : 0; }
  [[nodiscard]] std::string text() const {
    std::unique_lock lock(mutex_);
    std::ostringstream out;
    out << "batch " << ms_.size() << ", " << requested_ << " updates, " << edges_ << " edges, " << waiting()
        << " batches wait, " << updates_.refused() << " lines refused";
    std::vector<double> ms = ms_;
    double const per_second = rate();
    lock.unlock();
    if (ms.empty()) return out.str();
    latencies const l = summarize(std::move(ms));
    out.precision(3);
    out << ", " << per_second << " updates/s, ms p50 " << l.p50 << ", p95 " << l.p95 << ", p99 " << l.p99 << ", max "
        << l.max;
    return out.str();
  }

  update_stream const& updates_;
  mutable std::mutex mutex_;
  datasets::read_ahead const* batches_ = nullptr;
  std::uint64_t requested_ = 0;
  std::uint64_t edges_;
  double total_ms_ = 0;
  std::vector<double> ms_;
};

datasets::window_options window_of(stream_options const& o, bool directed) {
  return {
      .length = o.window, .slide = o.slide > 0 ? o.slide : o.window, .directed = directed, .keep_weights = o.weighted};
}

// Applies all batches. Returns the error that ended them.
std::exception_ptr apply_all(stream_options const& o, std::ostream& out, update_stream& updates, saved_updates& saved,
                             maintained_graph& maintained, stream_status& status, stream_result const& r) {
  std::optional<datasets::by_time> sorted;
  datasets::update_source* source = &updates;
  if (!o.save.empty()) source = &saved;
  if (o.updates.late > 0) source = &sorted.emplace(*source, o.updates.late);
  datasets::count_batches by_count(*source, o.batch, o.weighted);
  std::optional<datasets::window_batches> by_window;
  if (o.window > 0) by_window.emplace(*source, window_of(o, r.loaded.directed));
  datasets::read_ahead batches(by_window ? static_cast<datasets::batch_source&>(*by_window) : by_count,
                               [&] { updates.stop(); });
  status.reads_from(&batches);
  status_line line;
  std::exception_ptr failure;
  try {
    for (datasets::timed_batch batch; out && !interrupted() && batches.next(batch);) {
      if (interrupted()) break;
      std::size_t const names = o.emit == emission::none ? 0 : batch.added.size();
      batch_result const b = maintained.update(batch, updates.take_names(names));
      updates.added_to_graph(r.added);
      status.add(b);
      line.make_room();
      o.json ? print_json(out, b, o, r.loaded.ids) : print_batch(out, b, r);
      maintained.rethrow();
      if (line.is_due()) line.show(status.short_text(maintained.memory()));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  status.reads_from(nullptr);
  batches.stop();
  return failure;
}

std::unique_ptr<update_stream> stream_of(update_file const& file, vertex_ids& ids) {
  if (is_generated(file.name)) return std::make_unique<generated_stream>(file.name);
  return std::make_unique<update_reader>(file, ids);
}

std::string message_of(std::exception_ptr const& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (std::bad_alloc const&) {
    return "the host is out of memory";
  } catch (std::exception const& e) {
    return e.what();
  }
}

}  // namespace

latencies summarize(std::vector<double> batch_ms) {
  std::sort(batch_ms.begin(), batch_ms.end());
  std::size_t const n = batch_ms.size();
  if (n == 0) return {};
  auto const rank = [&](std::size_t percent) { return batch_ms[(n * percent + 99) / 100 - 1]; };
  return {rank(50), rank(95), rank(99), batch_ms.back()};
}

stream_result stream(stream_options const& o, std::ostream& out) {
  stream_result r;
  update_file file = o.updates;
  file.timed = o.window > 0;
  file.dated = o.half_life > 0;
  file.weighted = o.weighted;
  file.threads = o.file.settings.threads;
  if (file.timed) (void)datasets::slides_of(window_of(o, false));  // refused before the graph is loaded
  std::unique_ptr<update_stream> const source = stream_of(file, r.loaded.ids);
  update_stream& updates = *source;
  saved_updates saved(o.save, updates, r.loaded.ids);
  if (o.emit != emission::none) updates.keep_names();
  loaded_graph loaded = load_graph(o);
  r.source = find_source(o, loaded.rows, loaded.summary.ids);
  r.loaded = std::move(loaded.summary);
  updates.begin(loaded);
  loaded.rows = {};
  maintained_graph maintained(o, loaded.g, r);
  if (!o.json) print_stream_head(out, o, updates.name(), r);
  finish_when_interrupted();
  {
    stream_status status(updates, loaded.g.edges());
    r.failure = apply_all(o, out, updates, saved, maintained, status, r);
  }
  r.loaded.ids.undo_adds(r.added);  // the reader is ahead of the graph
  r.interrupted = interrupted();
  r.refused = updates.refused();
  try {
    saved.finish();
  } catch (...) {
    if (!r.failure) r.failure = std::current_exception();
  }
  if (r.failure) r.failed = message_of(r.failure);
  try {
    maintained.finish();
  } catch (...) {
    if (r.failure) std::rethrow_exception(r.failure);
    throw;
  }
  r.residency = loaded.residency();
  return r;
}

}  // namespace wyrm::apps
