// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "../exec/error.hpp"

namespace wyrm::datasets {

namespace {

constexpr std::size_t longest_slide = std::size_t{1} << 28;

std::string text(double number) {
  std::ostringstream out;
  out.precision(17);
  out << number;
  return out.str();
}

bool is_edge(update const& one) { return one.action == update_action::insert || one.action == update_action::erase; }

// Takes a change of a vertex into a batch; false if the batch must end before it.
bool take_vertex(update const& one, timed_batch& to) {
  bool const removal = one.action == update_action::remove_vertex;
  if (removal ? !to.edges.empty() || !to.added.empty() : !to.removed.empty()) return false;
  (removal ? to.removed : to.added).push_back(one.source);
  return true;
}

}  // namespace

void timed_batch::clear() {
  added.clear();
  edges.clear();
  operations.clear();
  weights.clear();
  times.clear();
  removed.clear();
  expired = 0;
  end.reset();
}

void timed_batch::add(std::span<graph::edge const> all, std::span<graph::operation const> what) {
  bool const erases = std::find(what.begin(), what.end(), graph::operation::erase) != what.end();
  if (erases && operations.empty()) operations.assign(edges.size(), graph::operation::insert);
  edges.insert(edges.end(), all.begin(), all.end());
  if (!erases && operations.empty()) return;
  operations.insert(operations.end(), what.begin(), what.end());
  operations.resize(edges.size(), graph::operation::insert);
}

bool by_time::next(update& to) {
  while (!ended_ && (heap_.empty() || heap_.front().one.time > newest_ - late_)) {
    if (!from_.next(to)) {
      ended_ = true;
      break;
    }
    if (to.action == update_action::remove_vertex && late_ > 0)
      throw error(error_code::bad_input,
                  "a vertex cannot be removed in a stream whose updates may be late; sort the stream by time");
    if (!is_edge(to)) return true;
    if (to.time < newest_ - late_)
      throw error(error_code::bad_input, "the time " + text(to.time) + " is more than " + text(late_) +
                                             " before an earlier one, " + text(newest_) +
                                             "; sort the stream by time, or allow updates to be later");
    newest_ = std::max(newest_, to.time);
    heap_.push_back({to, number_++});
    std::push_heap(heap_.begin(), heap_.end());
  }
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end());
  to = heap_.back().one;
  heap_.pop_back();
  return true;
}

bool count_batches::next(timed_batch& to) {
  to.clear();
  for (;; waits_ = false) {
    if (!waits_ && to.removed.empty()) {
      from_.take_edges(to, most_ - to.edges.size(), keep_weights_);
      if (to.edges.size() == most_) return true;
    }
    if (!waits_ && !from_.next(first_)) return !to.empty();
    waits_ = true;
    if (first_.action == update_action::end_batch) {
      if (to.empty()) continue;
      waits_ = false;
      return true;
    }
    if (is_edge(first_)) {
      if (!to.removed.empty()) return true;
      to.add(first_, keep_weights_);
    } else if (!take_vertex(first_, to)) {
      return true;
    }
    if (std::max(to.edges.size(), to.added.size()) < most_) continue;
    waits_ = false;
    return true;
  }
}

std::size_t edge_window::home_of(edge e) const {
  std::uint64_t key = std::uint64_t{e.source} << 32 | e.target;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;  // the finalizer of splitmix64, see random.hpp
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::size_t>(key ^ (key >> 31)) & (slots_.size() - 1);
}

std::size_t edge_window::slot_of(edge e) const {
  std::size_t slot = home_of(e);
  while (slots_[slot] != none && nodes_[slots_[slot]].of != e) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

// Makes room for one more edge: a free node, and empty slots.
void edge_window::reserve_one() {
  if (free_ == none) {
    if (nodes_.size() == none)
      throw error(error_code::bad_input, "a window has more than 2^32 - 2 edges; use a shorter one");
    nodes_.push_back({{}, 0, none, none});
    free_ = static_cast<index>(nodes_.size() - 1);
  }
  if (slots_.size() >= 2 * (size_ + 1)) return;
  std::vector<index> larger(std::max<std::size_t>(16, 2 * slots_.size()), none);
  slots_.swap(larger);
  for (index const at : larger)
    if (at != none) slots_[slot_of(nodes_[at].of)] = at;
}

void edge_window::append(index at) {
  nodes_[at].previous = last_;
  nodes_[at].next = none;
  (last_ == none ? first_ : nodes_[last_].next) = at;
  last_ = at;
}

void edge_window::unlink(index at) {
  index const previous = nodes_[at].previous;
  index const next = nodes_[at].next;
  (previous == none ? first_ : nodes_[previous].next) = next;
  (next == none ? last_ : nodes_[next].previous) = previous;
}

void edge_window::insert(edge e, std::int64_t slide) {
  reserve_one();
  index& slot = slots_[slot_of(e)];
  if (slot == none) {
    slot = free_;
    free_ = nodes_[slot].next;
    nodes_[slot].of = e;
    ++size_;
  } else {
    unlink(slot);
  }
  nodes_[slot].slide = slide;
  append(slot);
}

bool edge_window::erase(edge e) {
  if (size_ == 0) return false;
  std::size_t hole = slot_of(e);
  index const at = slots_[hole];
  if (at == none) return false;
  unlink(at);
  nodes_[at].next = free_;
  free_ = at;
  --size_;
  // Moves edges back into the hole, so that no search ends there before it finds them.
  std::size_t const mask = slots_.size() - 1;
  for (std::size_t slot = (hole + 1) & mask; slots_[slot] != none; slot = (slot + 1) & mask) {
    if (((slot - home_of(nodes_[slots_[slot]].of)) & mask) < ((slot - hole) & mask)) continue;
    slots_[hole] = slots_[slot];
    hole = slot;
  }
  slots_[hole] = none;
  return true;
}

graph::edge edge_window::take_oldest() {
  edge const e = nodes_[first_].of;
  erase(e);
  return e;
}

std::int64_t slides_of(window_options const& o) {
  bool const good = o.slide >= 0.001 && o.length >= o.slide && o.length <= 1e12;
  double const slides = good ? std::round(o.length / o.slide) : 0;
  if (!good || std::abs(slides * o.slide - o.length) > 1e-9 * o.length)
    throw error(error_code::bad_argument, "a window of " + text(o.length) + " with slides of " + text(o.slide) +
                                              ": the window must be a multiple of the slide, at most 1e12, and the "
                                              "slide at least 0.001");
  return static_cast<std::int64_t>(slides);
}

std::int64_t window_batches::slide_of(double time) const {
  if (!(std::abs(time) <= longest_time))
    throw error(error_code::bad_input, "the time " + text(time) + " is not between -2^53 and 2^53");
  double slide = std::floor(time / options_.slide);
  // The quotient is rounded: 16.88 / 0.01 is below 1688, and 1688 * 0.01, where a slide begins, is 16.88.
  if (time < slide * options_.slide) --slide;
  if (time >= (slide + 1) * options_.slide) ++slide;
  return static_cast<std::int64_t>(slide);
}

bool window_batches::next(timed_batch& to) {
  to.clear();
  for (;; waits_ = false) {
    if (!waits_ && !from_.next(pending_)) {
      if (!to.removed.empty()) return true;
      if (open_) close(to, now_);
      open_ = false;
      return !to.empty();
    }
    waits_ = true;
    if (pending_.action == update_action::end_batch) {
      if (to.removed.empty()) continue;
      waits_ = false;
      return true;
    }
    if (!is_edge(pending_)) {
      if (!take_vertex(pending_, to)) return true;
      continue;
    }
    if (!to.removed.empty()) return true;
    std::int64_t const slide = slide_of(pending_.time);
    if (any_ && slide < now_)
      throw error(error_code::bad_input, "the time " + text(pending_.time) + " is before the slide that begins at " +
                                             text(static_cast<double>(now_) * options_.slide) +
                                             "; sort the stream by time, or allow updates to be later");
    if (open_ && slide > now_) {
      close(to, now_);
      open_ = false;
      if (!to.empty()) return true;
      to.end.reset();
    }
    // Slides without updates, at whose end something expires.
    if (!open_ && window_.size() > 0 && window_.oldest() + slides_ < slide) {
      now_ = window_.oldest() + slides_;
      close(to, now_);
      return true;
    }
    now_ = slide;
    open_ = any_ = true;
    take(to);
  }
}

void window_batches::take(timed_batch& to) {
  if (to.edges.size() == longest_slide)
    throw error(error_code::bad_input, "the slide that begins at " + text(static_cast<double>(now_) * options_.slide) +
                                           " has more than 2^28 updates; use shorter slides");
  bool const erasure = pending_.action == update_action::erase;
  graph::edge const e{pending_.source, pending_.target};
  graph::edge const kept = options_.directed || e.source < e.target ? e : graph::edge{e.target, e.source};
  if (erasure)
    window_.erase(kept);
  else if (e.source != e.target || options_.self_loops)
    window_.insert(kept, now_);
  to.add(pending_, options_.keep_weights);
}

void window_batches::close(timed_batch& to, std::int64_t slide) {
  to.end = static_cast<double>(slide + 1) * options_.slide;
  while (window_.size() > 0 && window_.oldest() <= slide - slides_) {
    graph::edge const oldest = window_.take_oldest();
    to.add(update{update_action::erase, oldest.source, oldest.target, 0, 0}, options_.keep_weights);
    ++to.expired;
  }
}

}  // namespace wyrm::datasets
