// SPDX-License-Identifier: Apache-2.0
// Streams of timed updates of a graph, and how they become batches: by count, or by the slides of a time window.
//
//   update_source -> (by_time) -> count_batches or window_batches -> (read_ahead, read_ahead.hpp) -> the graph
//
// A source is used by one thread at a time. Errors of a source pass through; the updates of the batch that is being
// collected are lost then, and those of all earlier batches have been returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "../graph/types.hpp"

namespace wyrm::datasets {

enum class update_action : std::uint8_t { insert, erase, add_vertex, remove_vertex, end_batch };

struct update {
  update_action action = update_action::insert;
  graph::vertex_id source = 0;  // or the vertex to add or to remove
  graph::vertex_id target = 0;
  double weight = 1;
  double time = 0;  // of an edge; any unit. At most longest_time, of either sign
};

/// Integers up to this one are exact as doubles.
inline constexpr double longest_time = 9007199254740992.0;  // 2^53

/// One update of a graph: add_vertices(added.size()), which returns the ids `added`; then apply(edges, operations,
/// weights), or insert() without operations; or else remove_vertices(removed), and nothing else.
struct timed_batch {
  std::vector<graph::vertex_id> added;
  std::vector<graph::edge> edges;
  std::vector<graph::operation> operations;  // one per edge; empty if all edges are inserted
  std::vector<double> weights;               // one per edge if they are kept; else empty
  std::vector<double> times;                 // the same; 0 for edges that leave a window
  std::vector<graph::vertex_id> removed;
  std::uint64_t expired = 0;  // number of entries, the last ones, that erase edges which leave the window
  std::optional<double> end;  // of a slide of a window; nothing for a batch that ends within its slide

  [[nodiscard]] bool empty() const { return added.empty() && edges.empty() && removed.empty(); }
  void clear();  // keeps the memory
  void add(graph::edge e, graph::operation what) {
    if (what == graph::operation::erase && operations.empty())
      operations.assign(edges.size(), graph::operation::insert);
    edges.push_back(e);
    if (what == graph::operation::erase || !operations.empty()) operations.push_back(what);
  }
  void add(graph::edge e, graph::operation what, double weight, double time) {
    add(e, what);
    weights.push_back(weight);
    times.push_back(time);
  }
  /// Adds many; without `what`, insertions.
  void add(std::span<graph::edge const> all, std::span<graph::operation const> what);
  /// Adds an update of an edge.
  void add(update const& one, bool keep_weights) {
    graph::edge const e{one.source, one.target};
    auto const what = one.action == update_action::erase ? graph::operation::erase : graph::operation::insert;
    keep_weights ? add(e, what, one.weight, one.time) : add(e, what);
  }
};

/// Updates, one by one.
class update_source {
 public:
  virtual ~update_source() = default;
  /// False at the end of the stream; `to` is unspecified then. Throws the errors of the source.
  virtual bool next(update& to) = 0;
  /// Moves up to `most` updates of edges, which next() would return, to the end of a batch, with weights and times if
  /// they are kept. May move fewer, or none, also where more follow. Does not wait for input, and throws no errors of
  /// the source.
  virtual void take_edges(timed_batch& /*to*/, std::size_t /*most*/, bool /*keep_weights*/) {}
};

class batch_source {
 public:
  virtual ~batch_source() = default;
  /// The next batch, which is not empty; false at the end. Throws the errors of its source.
  virtual bool next(timed_batch& to) = 0;
};

/// Updates in an array, which must outlive the source.
class listed_updates : public update_source {
 public:
  explicit listed_updates(std::vector<update> const& all) : all_(all) {}
  bool next(update& to) override {
    if (at_ == all_.size()) return false;
    to = all_[at_++];
    return true;
  }

 private:
  std::vector<update> const& all_;
  std::size_t at_ = 0;
};

/// Sorts edges by time, if none is more than `late` older than the newest one before it. Equal times keep their order.
/// Vertices are added at once, and end_batch passes at once, too. Memory: the updates of the last `late`. O(log n) per
/// update. Throws error(bad_input) for an older edge, and for the removal of a vertex unless `late` is 0, as the edges
/// that wait may need the vertex.
class by_time : public update_source {
 public:
  by_time(update_source& from, double late) : from_(from), late_(late) {}
  bool next(update& to) override;

 private:
  struct waiting {
    update one;
    std::uint64_t number;
    // For a heap with the first edge on top.
    friend bool operator<(waiting const& a, waiting const& b) {
      return a.one.time != b.one.time ? a.one.time > b.one.time : a.number > b.number;
    }
  };

  update_source& from_;
  double late_;
  double newest_ = -longest_time;
  std::uint64_t number_ = 0;
  bool ended_ = false;
  std::vector<waiting> heap_;
};

/// Ends a batch after `most` updates of edges, or additions of vertices, at end_batch, and before and after consecutive
/// removals of vertices, which are one batch. keep_weights: and times. Memory: a batch.
class count_batches : public batch_source {
 public:
  count_batches(update_source& from, std::size_t most, bool keep_weights = false)
      : from_(from), most_(most), keep_weights_(keep_weights) {}
  bool next(timed_batch& to) override;

 private:
  update_source& from_;
  std::size_t most_;
  bool keep_weights_;
  bool waits_ = false;  // whether first_ is an update that was read
  update first_;
};

struct window_options {
  double length = 0;          // an edge lives so long after its last insertion; a multiple of slide, at least one
  double slide = 0;           // of a batch, at least 0.001; slides begin at multiples of it
  bool directed = false;      // of the graph: whether (u, v) and (v, u) are two edges
  bool self_loops = false;    // whether the graph keeps them
  bool keep_weights = false;  // and times
};

/// The number of slides of a window. Throws error(bad_argument) for options outside their ranges.
[[nodiscard]] std::int64_t slides_of(window_options const& o);

/// The edges of a window, by their last insertion: a list in the order of slides, whose nodes an open-addressing hash
/// table finds by their edges. Every operation is O(1), expected and amortized. 32 to 64 bytes per edge, of the largest
/// number of edges at a time, and half as much again while an array grows.
class edge_window {
 public:
  using edge = graph::edge;
  /// The edge now belongs to this slide, which is not before that of any other edge. Throws error(bad_input) for more
  /// than 2^32 - 2 edges, and std::bad_alloc, without an effect.
  void insert(edge e, std::int64_t slide);
  /// Whether the edge was there.
  bool erase(edge e);
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The slide of the oldest edge. Not for an empty window.
  [[nodiscard]] std::int64_t oldest() const { return nodes_[first_].slide; }
  /// Removes the oldest edge. Not for an empty window.
  edge take_oldest();

 private:
  using index = std::uint32_t;
  static constexpr index none = ~index{0};
  struct node {
    edge of;
    std::int64_t slide;
    index previous, next;  // in the order of slides; `next` is also the list of free nodes
  };

  // The slot in which a search for the edge begins, and that in which it ends: that of the edge, or an empty one.
  [[nodiscard]] std::size_t home_of(edge e) const;
  [[nodiscard]] std::size_t slot_of(edge e) const;
  void reserve_one();
  void append(index at);
  void unlink(index at);

  std::vector<node> nodes_;
  std::vector<index> slots_;  // nodes, or none; a power of two, of which at most half are used
  index first_ = none, last_ = none, free_ = none;
  std::size_t size_ = 0;
};

/// One batch per slide: [k slide, (k + 1) slide) for a whole number k. After a batch the graph has the edges whose last
/// insertion is in the last `length` before the end of the slide. The batch has the updates of the slide in their
/// order, and erases the edges that leave the window; an edge that is inserted again is not erased. A slide without any
/// of both has no batch. A removal of vertices is a batch of its own, and divides that of its slide. Nothing expires
/// after the slide of the last edge. end_batch only divides removals of vertices. An edge that was not inserted by the
/// stream has no time, and stays until it is erased. Memory: the edges of the window, and a batch.
class window_batches : public batch_source {
 public:
  /// Throws error(bad_argument) as slides_of().
  window_batches(update_source& from, window_options const& o) : from_(from), options_(o), slides_(slides_of(o)) {}
  /// Throws error(bad_input) for an edge of a slide before the current one, or with a time that is out of range, and
  /// for a slide of more than 2^28 updates.
  bool next(timed_batch& to) override;
  [[nodiscard]] std::size_t edges() const { return window_.size(); }

 private:
  [[nodiscard]] std::int64_t slide_of(double time) const;
  void take(timed_batch& to);
  // Erases what has left the window at the end of a slide.
  void close(timed_batch& to, std::int64_t slide);

  update_source& from_;
  window_options options_;
  std::int64_t slides_;  // of the window
  edge_window window_;
  update pending_;
  bool waits_ = false;    // whether pending_ is an update that was read
  bool open_ = false;     // whether a slide has begun
  bool any_ = false;      // whether there was one
  std::int64_t now_ = 0;  // the slide
};

}  // namespace wyrm::datasets
