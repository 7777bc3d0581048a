// SPDX-License-Identifier: Apache-2.0
// Tests batches of streams: graphs that follow them are compared with a map from edges to the times of their last
// insertions, after every batch.
#include "../../datasets/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <future>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../datasets/read_ahead.hpp"
#include "../../exec/device.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/seed.hpp"
#include "../support/truth.hpp"

namespace wyrm::tests {

namespace {

using datasets::timed_batch;
using datasets::update;
using datasets::update_action;
using graph::edge;

using updates = std::vector<update>;

/// The edges of a graph by their last insertions.
class model {
 public:
  explicit model(bool directed) : directed_(directed) {}

  void apply(update const& u) {
    edge e{u.source, u.target};
    if (!directed_ && e.source > e.target) std::swap(e.source, e.target);
    if (u.action == update_action::insert && e.source != e.target) last_[e] = u.time;
    if (u.action == update_action::erase) last_.erase(e);
    if (u.action == update_action::remove_vertex)
      std::erase_if(last_,
                    [&](auto const& one) { return one.first.source == u.source || one.first.target == u.source; });
  }
  /// The neighbours of all vertices, by the edges inserted at `since` or later.
  [[nodiscard]] graph::csr rows(std::size_t vertices, double since) const {
    std::vector<std::set<graph::vertex_id>> rows(vertices);
    for (auto const& [e, time] : last_) {
      if (time < since) continue;
      rows[e.source].insert(e.target);
      if (!directed_) rows[e.target].insert(e.source);
    }
    graph::csr all;
    all.offsets.push_back(0);
    for (auto const& row : rows) {
      all.targets.insert(all.targets.end(), row.begin(), row.end());
      all.offsets.push_back(all.targets.size());
    }
    return all;
  }

 private:
  bool directed_;
  std::map<edge, double> last_;
};

graph::any_graph empty_graph(std::size_t vertices, bool directed) {
  return {exec::make_space("cpu"), graph::any_graph::allocators().front(), vertices, {.directed = directed}};
}

void apply(timed_batch const& b, graph::any_graph& g) {
  ASSERT_FALSE(b.empty());
  ASSERT_TRUE(b.removed.empty() || (b.added.empty() && b.edges.empty()));
  if (!b.removed.empty()) (void)g.remove_vertices(b.removed);
  if (!b.added.empty()) {
    ASSERT_EQ(g.add_vertices(b.added.size()), b.added);
  }
  if (b.edges.empty()) return;
  if (b.operations.empty())
    (void)g.insert(b.edges);
  else
    (void)g.apply(b.edges, b.operations);
}

/// Random updates at ascending times, with bursts and gaps. Few vertices, so that edges come again.
updates random_updates(std::size_t n, graph::vertex_id vertices, std::uint32_t erasures, std::uint32_t seed) {
  std::mt19937 random(seeded(seed));
  updates all;
  double time = -50;
  for (std::size_t i = 0; i < n; ++i) {
    if (random() % 3 == 0) time += static_cast<double>(random() % 4);
    if (random() % 200 == 0) time += 1000;
    all.push_back({.action = random() % 100 < erasures ? update_action::erase : update_action::insert,
                   .source = static_cast<graph::vertex_id>(random() % vertices),
                   .target = static_cast<graph::vertex_id>(random() % vertices),
                   .time = time});
  }
  return all;
}

/// Checks the graph after each batch of a window. `arrived` are the updates by time.
void expect_window(datasets::update_source& source, updates const& arrived, std::size_t vertices, double length,
                   double slide, bool directed) {
  SCOPED_TRACE("window " + std::to_string(length) + ", slide " + std::to_string(slide));
  datasets::window_batches batches(source, {.length = length, .slide = slide, .directed = directed});
  graph::any_graph g = empty_graph(vertices, directed);
  model m(directed);
  std::size_t at = 0;
  double before = -1e18;
  timed_batch b;
  while (batches.next(b)) {
    ASSERT_NO_FATAL_FAILURE(apply(b, g));
    ASSERT_TRUE(b.end);
    ASSERT_GT(*b.end, before);
    ASSERT_EQ(*b.end, std::round(*b.end / slide) * slide);
    before = *b.end;
    while (at < arrived.size() && arrived[at].time < *b.end) m.apply(arrived[at++]);
    ASSERT_EQ(g.to_csr(), m.rows(vertices, *b.end - length)) << "at " << *b.end;
    ASSERT_EQ(batches.edges(), g.edges());
  }
  EXPECT_EQ(at, arrived.size());
}

TEST(stream_windows, equal_a_model_after_every_slide) {
  for (bool const directed : {false, true})
    for (std::uint32_t const erasures : {0u, 20u}) {
      updates const all = random_updates(3000, 12, erasures, 11 + erasures);
      for (auto const& [length, slide] :
           {std::pair(1.0, 1.0), {10.0, 10.0}, {10.0, 1.0}, {64.0, 16.0}, {1.5, 0.5}, {100'000.0, 100.0}}) {
        datasets::listed_updates source(all);
        expect_window(source, all, 12, length, slide, directed);
      }
    }
}

TEST(stream_windows, equal_a_model_if_updates_are_late) {
  updates const all = random_updates(3000, 12, 20, 5);
  updates shuffled = all;
  std::mt19937 random(seeded(6));
  for (update& u : shuffled) u.weight = u.time + static_cast<double>(random() % 8);  // when it arrives
  std::stable_sort(shuffled.begin(), shuffled.end(), [](auto const& a, auto const& b) { return a.weight < b.weight; });
  updates sorted = shuffled;
  std::stable_sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) { return a.time < b.time; });
  ASSERT_FALSE(std::ranges::is_sorted(shuffled, {}, &update::time));
  datasets::listed_updates source(shuffled);
  datasets::by_time by(source, 7);
  expect_window(by, sorted, 12, 20, 4, false);

  datasets::listed_updates again(shuffled);
  datasets::by_time strict(again, 3);
  timed_batch b;
  datasets::count_batches batches(strict, 10);
  EXPECT_THROW(
      {
        while (batches.next(b)) continue;
      },
      error);
}

/// A temporal edge list of WYRM_DATA; empty without it.
updates temporal(std::string const& name, std::size_t& vertices) {
  std::ifstream in(data_folder() / name);
  updates all;
  vertices = 0;
  for (update u; in >> u.source >> u.target >> u.time;) {
    vertices = std::max<std::size_t>(vertices, std::max(u.source, u.target) + std::size_t{1});
    all.push_back(u);
  }
  return all;
}

TEST(stream_windows, equal_a_model_on_real_streams) {
  for (std::string const name : {"CollegeMsg.txt", "email-Eu-core-temporal.txt"}) {
    SCOPED_TRACE(name);
    std::size_t vertices = 0;
    updates const all = temporal(name, vertices);
    if (all.empty()) GTEST_SKIP() << "WYRM_DATA has no " << name;
    updates sorted = all;
    std::stable_sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) { return a.time < b.time; });
    constexpr double day = 86400;
    for (auto const& [length, slide] : {std::pair(30 * day, 30 * day), {28 * day, 7 * day}, {40 * day, 5 * day}}) {
      datasets::listed_updates source(all);
      datasets::by_time by(source, 1000 * day);  // email-Eu-core has one part behind another
      expect_window(by, sorted, vertices, length, slide, true);
    }
    model m(false);
    for (update const& u : all) m.apply(u);
    graph::csr const want = m.rows(vertices, -1e18);
    for (std::size_t const most : {std::size_t{1000}, std::size_t{65'537}, all.size()}) {
      datasets::listed_updates source(all);
      datasets::count_batches batches(source, most);
      graph::any_graph g = empty_graph(vertices, false);
      std::size_t n = 0;
      for (timed_batch b; batches.next(b); n += b.edges.size()) ASSERT_NO_FATAL_FAILURE(apply(b, g));
      EXPECT_EQ(n, all.size());
      EXPECT_EQ(g.to_csr(), want) << most;
    }
  }
}

// Vertices are removed in the middle of slides, and their ids are used again.
TEST(stream_windows, follow_vertices_that_come_and_go) {
  std::mt19937 random(seeded(8));
  constexpr std::size_t vertices = 12;
  graph::any_graph g = empty_graph(vertices, false);
  updates all;
  bool absent = false;
  for (update const& u : random_updates(2000, vertices, 10, 9)) {
    if (random() % 20 == 0) {
      all.push_back({.action = absent ? update_action::add_vertex : update_action::remove_vertex, .source = 3});
      all.back().time = u.time;
      absent = !absent;
    }
    if (!absent || (u.source != 3 && u.target != 3)) all.push_back(u);
  }
  datasets::listed_updates source(all);
  datasets::window_batches batches(source, {.length = 12, .slide = 4});
  model m(false);
  std::size_t at = 0;
  std::size_t removals = 0;
  for (timed_batch b; batches.next(b);) {
    ASSERT_NO_FATAL_FAILURE(apply(b, g));
    removals += b.removed.size();
    if (!b.end) continue;  // a part of a slide
    auto const is_edge = [](update const& u) { return u.action <= update_action::erase; };
    while (at < all.size() && (all[at].time < *b.end || !is_edge(all[at]))) m.apply(all[at++]);
    ASSERT_EQ(g.to_csr(), m.rows(vertices, *b.end - 12)) << "at " << *b.end;
  }
  EXPECT_GT(removals, 20u);
}

TEST(stream_windows, erase_at_slides_without_updates) {
  updates const all{{.source = 0, .target = 1, .time = 0.5},
                    {.source = 1, .target = 2, .time = 1.5},
                    {.source = 1, .target = 0, .time = 1.75},
                    {.source = 2, .target = 3, .time = 100}};
  datasets::listed_updates source(all);
  datasets::window_batches batches(source, {.length = 3, .slide = 1});
  timed_batch b;
  std::vector<std::vector<std::uint64_t>> got;
  while (batches.next(b)) got.push_back({static_cast<std::uint64_t>(b.end.value()), b.edges.size(), b.expired});
  EXPECT_EQ(got, (std::vector<std::vector<std::uint64_t>>{{1, 1, 0}, {2, 2, 0}, {5, 2, 2}, {101, 1, 0}}));
}

// Quotients of decimal fractions are rounded, so that 16.88 / 0.01 is below 1688.
TEST(stream_windows, have_times_before_their_ends) {
  for (double const slide : {0.01, 0.1, 0.7, 60.0}) {
    updates all;
    for (unsigned i = 0; i < 4000; ++i)
      all.push_back({.source = i, .target = i + 1, .time = std::round((i - 2000.0) * slide * 100) / 100});
    datasets::listed_updates source(all);
    datasets::window_batches batches(source, {.length = 1000 * slide, .slide = slide, .directed = true});
    std::size_t n = 0;
    for (timed_batch b; batches.next(b);)
      for (std::size_t i = 0; i + b.expired < b.edges.size(); ++i, ++n) {
        double const time = all.at(b.edges[i].source).time;
        ASSERT_GT(b.end.value(), time) << slide;
        ASSERT_LE(*b.end - slide, time + 1e-9) << slide;
      }
    EXPECT_EQ(n, all.size());
  }
}

// The first slide ends with nothing to erase, behind the batch of a removal.
TEST(stream_windows, have_no_end_if_a_removal_divides_a_slide) {
  using enum update_action;
  updates const all{{.source = 0, .target = 1, .time = 0.5},
                    {.action = remove_vertex, .source = 5},
                    {.source = 1, .target = 2, .time = 7.5},
                    {.action = remove_vertex, .source = 6},
                    {.source = 2, .target = 3, .time = 7.75}};
  datasets::listed_updates source(all);
  datasets::window_batches batches(source, {.length = 100, .slide = 1});
  std::vector<double> ends;
  for (timed_batch b; batches.next(b);) ends.push_back(b.end.value_or(-1));
  EXPECT_EQ(ends, (std::vector<double>{-1, -1, -1, -1, 8}));
}

TEST(stream_windows, refuse_bad_times_and_options) {
  updates all{{.time = 5}};
  datasets::listed_updates source(all);
  using options = datasets::window_options;
  for (options const& o :
       {options{.length = 0, .slide = 0}, options{.length = 1, .slide = 2}, options{.length = 5, .slide = 2},
        options{.length = 1, .slide = 0.0001}, options{.length = 1e13, .slide = 1}, options{.length = NAN, .slide = 1},
        options{.length = 1, .slide = NAN}, options{.length = INFINITY, .slide = 1}})
    EXPECT_THROW(datasets::window_batches(source, o), error) << o.length << ' ' << o.slide;
  auto const refused = [](updates const& times) {
    datasets::listed_updates from(times);
    datasets::window_batches batches(from, {.length = 10, .slide = 5});
    timed_batch b;
    EXPECT_THROW(
        {
          while (batches.next(b)) continue;
        },
        error);
  };
  refused({{.time = 5}, {.time = 4}});
  refused({{.time = NAN}});
  refused({{.time = 1e300}});
  refused({{.time = 0}, {.time = 100}, {.time = 99}});
  updates const ends{{.source = 0, .target = 1, .time = -datasets::longest_time},
                     {.source = 1, .target = 2, .time = datasets::longest_time}};
  datasets::listed_updates from(ends);
  datasets::window_batches batches(from, {.length = 0.002, .slide = 0.001});
  std::size_t n = 0;
  for (timed_batch b; batches.next(b); ++n) EXPECT_EQ(b.edges.size(), 1u);
  EXPECT_EQ(n, 3u);
}

TEST(stream_batches, end_at_borders_and_around_removals) {
  using enum update_action;
  updates const all{{.action = end_batch},
                    {.source = 1},
                    {.action = add_vertex, .source = 7},
                    {.source = 2},
                    {.action = end_batch},
                    {.source = 3},
                    {.action = remove_vertex, .source = 3},
                    {.action = remove_vertex, .source = 4},
                    {.action = end_batch},
                    {.action = remove_vertex, .source = 5},
                    {.action = add_vertex, .source = 5},
                    {.action = erase, .source = 6},
                    {.source = 7},
                    {.source = 8}};
  datasets::listed_updates source(all);
  datasets::count_batches batches(source, 2, true);
  std::vector<std::vector<std::size_t>> got;
  for (timed_batch b; batches.next(b);) {
    got.push_back({b.added.size(), b.edges.size(), b.removed.size()});
    EXPECT_EQ(b.weights.size(), b.edges.size());
    EXPECT_TRUE(b.operations.empty() || b.operations.size() == b.edges.size());
  }
  EXPECT_EQ(got,
            (std::vector<std::vector<std::size_t>>{{1, 2, 0}, {0, 1, 0}, {0, 0, 2}, {0, 0, 1}, {1, 2, 0}, {0, 1, 0}}));
}

TEST(edge_window, keeps_the_last_insertion_of_each_edge) {
  datasets::edge_window w;
  std::mt19937 random(seeded(3));
  std::map<edge, std::int64_t> want;
  for (std::int64_t slide = 0; slide < 20'000; ++slide) {
    edge const e{static_cast<graph::vertex_id>(random() % 20), static_cast<graph::vertex_id>(random() % 20)};
    if (random() % 3 == 0) {
      EXPECT_EQ(w.erase(e), want.erase(e) > 0);
    } else {
      w.insert(e, slide);
      want[e] = slide;
    }
    if (random() % 10 == 0 && !want.empty()) {
      auto const first = std::ranges::min_element(want, {}, [](auto const& one) { return one.second; });
      ASSERT_EQ(w.oldest(), first->second);
      ASSERT_EQ(w.take_oldest(), first->first);
      want.erase(first);
    }
    ASSERT_EQ(w.size(), want.size());
  }
}

/// Batches with one edge each, whose sources count from 0; then an error or the end.
class counted_batches : public datasets::batch_source {
 public:
  counted_batches(graph::vertex_id n, bool fails) : n_(n), fails_(fails) {}
  bool next(timed_batch& to) override {
    if (at_ == n_ && fails_) throw error(error_code::bad_input, "the end is wrong");
    if (at_ == n_) return false;
    to.clear();
    to.edges.push_back({at_++, 0});
    return true;
  }
  [[nodiscard]] graph::vertex_id read() const { return at_; }

 private:
  graph::vertex_id n_;
  bool fails_;
  std::atomic<graph::vertex_id> at_ = 0;
};

TEST(read_ahead, returns_all_batches_and_then_the_error) {
  for (bool const fails : {false, true})
    for (std::size_t const depth : {1u, 2u, 5u}) {
      counted_batches source(1000, fails);
      datasets::read_ahead batches(
          source, [] {}, depth);
      timed_batch b;
      for (graph::vertex_id i = 0; i < 1000; ++i) {
        ASSERT_TRUE(batches.next(b));
        ASSERT_EQ(b.edges, std::vector<edge>({{i, 0}}));
      }
      if (fails) {
        EXPECT_THROW((void)batches.next(b), error);
      }
      EXPECT_FALSE(batches.next(b));
      EXPECT_FALSE(batches.next(b));
    }
}

TEST(read_ahead, holds_a_bounded_number_of_batches) {
  counted_batches source(1000, false);
  datasets::read_ahead batches(source);
  while (batches.waiting() < 2) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(batches.waiting(), 2u);
  EXPECT_LE(source.read(), 3u);
  batches.stop();
  timed_batch b;
  EXPECT_TRUE(batches.next(b));
  EXPECT_TRUE(batches.next(b));
  EXPECT_FALSE(batches.next(b));
  EXPECT_LE(source.read(), 3u);
}

// A source that waits for input is woken, and its batch is dropped.
TEST(read_ahead, wakes_a_source_that_waits) {
  struct waiting : datasets::batch_source {
    std::promise<void> woken;
    std::future<void> input = woken.get_future();
    bool next(timed_batch& to) override {
      to.edges.push_back({1, 2});
      input.wait();
      throw datasets::reading_stopped();
    }
  } source;
  datasets::read_ahead batches(source, [&] { source.woken.set_value(); });
  batches.stop();
  timed_batch b;
  EXPECT_FALSE(batches.next(b));
}

}  // namespace

}  // namespace wyrm::tests
