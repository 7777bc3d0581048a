// SPDX-License-Identifier: Apache-2.0
// Traces of residency: text, recording, and playing.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../../../alloc/residency/play.hpp"
#include "../../../alloc/residency/policies.hpp"
#include "../../../alloc/residency/trace.hpp"
#include "../../../bench/residency_traces.hpp"
#include "../../support/seed.hpp"

namespace wyrm::tests {

namespace {

using namespace alloc::residency;

std::vector<std::pair<std::string, trace>> patterns() {
  return {{"two programs", bench::two_programs()},        {"loop", bench::loop()},
          {"scan", bench::scan_and_hot_set(false)},       {"hints", bench::scan_and_hot_set(true)},
          {"read-mostly", bench::read_mostly(seeded(1))}, {"attack", bench::attack()},
          {"partitions", bench::partitions(seeded(1))}};
}

trace parse(std::string const& lines) {
  std::istringstream text("wyrm-residency-trace 1\n" + lines);
  return read_trace(text);
}
played play_with(char const* policy, trace const& events, std::size_t capacity) {
  return play(events, *make_policy(policy), capacity);
}

}  // namespace

TEST(trace, is_read_as_it_was_written) {
  std::mt19937_64 random(seeded(7));
  trace events;
  for (int i = 0; i < 500; ++i) {
    event e{static_cast<event_kind>(random() % 10), {}};
    if (e.kind != event_kind::finish)
      for (auto n = random() % 5; n > 0; --n) e.blocks.push_back(static_cast<block_number>(random() % ~0u));
    if (e.kind == event_kind::load) e.number = static_cast<object_number>(random());
    if (e.kind == event_kind::use || e.kind == event_kind::finish) e.number = random();
    if (e.kind == event_kind::use) {
      e.writes = random() % 2 == 0;
      e.hint = static_cast<use_hint>(random() % 3);
    }
    events.push_back(e);
  }
  std::stringstream text;
  write_trace(text, events);
  EXPECT_EQ(read_trace(text), events);
}

TEST(trace, has_the_documented_text) {
  std::ostringstream text;
  write_trace(text, {{event_kind::load, {4, 5}, 7},
                     {event_kind::use, {5, 4}, 2, true, use_hint::hot},
                     {event_kind::clean, {5}},
                     {event_kind::finish, {}, 2}});
  EXPECT_EQ(text.str(), "wyrm-residency-trace 1\nload 7 4 5\nuse 2 write hot 5 4\nclean 5\nfinish 2\n");
}

TEST(trace, names_the_line_that_is_wrong) {
  for (std::string const bad :
       {"", "swap 1", "load", "load x", "load 4294967296 1", "load 1 4294967295", "load 1 -1", "use 1", "use 1 maybe",
        "use 1 read", "use 1 read cold", "use 1 read hot 1x", "finish", "finish 18446744073709551616", "finish 1 2"}) {
    try {
      static_cast<void>(parse("load 1 2\n" + bad + "\nfinish 1\n"));
      ADD_FAILURE() << bad;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_input);
      EXPECT_NE(std::string(e.what()).find("line 3"), std::string::npos) << e.what();
    }
  }
  std::istringstream other("%%MatrixMarket\n");
  EXPECT_THROW(static_cast<void>(read_trace(other)), error);
  std::ostringstream closed;
  closed.setstate(std::ios::badbit);
  EXPECT_THROW(write_trace(closed, {}), error);
}

TEST(trace, has_no_blocks_that_are_kept_for_a_launch) {
  std::ostringstream text;
  recording_policy recorder(make_policy("lru"), text);
  recorder.loaded(1, 7);
  recorder.loaded(2, 7);
  std::vector<block_number> const kept{1};
  recorder.keep(kept, 1);
  struct unused_check : dirty_check {
    void check(std::span<block_number const>, std::span<bool>) override { ADD_FAILURE() << "a clean block"; }
  } check;
  EXPECT_EQ(recorder.next_victim(check)->block, 2u);
  recorder.finished(1);
  recorder.used(kept, 2, false, use_hint::normal);
  recorder.finished(2);
  EXPECT_EQ(text.str(), "wyrm-residency-trace 1\nload 7 1\nload 7 2\nuse 2 read normal 1\nfinish 2\n");
}

TEST(trace, is_played_as_a_manager_would) {
  // Two blocks of memory. Launch 1 uses both; launch 2 waits for it, and evicts 2 and 1, of which only 1 is dirty.
  trace const events = parse(
      "load 0 1 2 3 4\nuse 1 write normal 1 2\nclean 2\nuse 2 read normal 3\nuse 2 write once 4\nfinish 1\nfinish 2\n"
      "copy-out 4\noverwrite 3\nuse 3 read normal 3 1 2\nfinish 3\n");
  played const expected{.launches = 3,
                        .uses = 7,
                        .hits = 0,
                        .loads = 6,
                        .in_place = 1,
                        .evictions = 3,
                        .written_back = 1,
                        .signatures = 2,
                        .waits = 1};
  EXPECT_EQ(play_with("lru", events, 2), expected);
  played base = expected;
  base.written_back = 3;
  base.signatures = 0;
  EXPECT_EQ(play_with("gdm-base", events, 2), base);
  EXPECT_EQ(play_with("lru", events, 4).evictions, 0u);
  EXPECT_THROW(static_cast<void>(play_with("lru", events, 0)), error);
}

/// One launch after another, each of one block: a list is enough to know what LRU does.
TEST(trace, is_played_by_lru_as_a_list_says) {
  std::mt19937_64 random(seeded(3));
  trace events;
  std::list<block_number> order;
  std::set<block_number> dirty;
  played expected;
  for (launch_number l = 1; l <= 3000; ++l) {
    auto const b = static_cast<block_number>(random() % (1 + random() % 30));
    bool const writes = random() % 3 == 0;
    events.push_back({event_kind::use, {b}, l, writes});
    events.push_back({event_kind::finish, {}, l});
    ++expected.launches, ++expected.uses;
    auto const found = std::find(order.begin(), order.end(), b);
    if (found != order.end()) {
      ++expected.hits;
      order.erase(found);
    } else {
      ++expected.loads;
      if (order.size() == 10) {
        ++expected.evictions;
        auto const written = dirty.erase(order.front());
        expected.written_back += written;
        expected.signatures += written;  // nothing else is compared
        order.pop_front();
      }
    }
    order.push_back(b);
    if (writes) dirty.insert(b);
  }
  EXPECT_EQ(play_with("lru", events, 10), expected);
}

TEST(trace, is_recorded_so_that_it_plays_the_same) {
  for (auto const& [name, events] : patterns())
    for (char const* const policy : policy_names) {
      std::stringstream text;
      recording_policy recorder(make_policy(policy), text);
      played const first = play(events, recorder, 100);
      trace const recorded = read_trace(text);
      EXPECT_EQ(recorder.statistics().evictions_dirty, first.written_back) << name << ' ' << policy;
      auto const count = [&](event_kind kind) {
        return static_cast<std::size_t>(
            std::count_if(recorded.begin(), recorded.end(), [&](event const& e) { return e.kind == kind; }));
      };
      EXPECT_EQ(count(event_kind::load), first.loads);
      EXPECT_EQ(count(event_kind::evict) + count(event_kind::write_back), first.evictions);
      EXPECT_EQ(count(event_kind::release), 0u);
      EXPECT_EQ(count(event_kind::clean) + count(event_kind::dirty), first.signatures);
      played again = play_with(policy, recorded, 100);
      again.waits = first.waits;  // a recorded launch ends where it was waited for
      EXPECT_EQ(again, first) << name << ' ' << policy;
    }
}

/// What LRU-COST is for. Random traces are drawn several times, since it may lose a single draw. play() fails if a
/// policy loses a write or evicts what is in use.
TEST(trace, shows_that_lru_cost_moves_less) {
  played cost;
  played plain;
  played base;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (trace const& events : {bench::read_mostly(seeded(seed)), bench::partitions(seeded(seed))}) {
      cost += play_with("lru-cost", events, 100);
      plain += play_with("lru", events, 100);
      base += play_with("gdm-base", events, 100);
    }
  EXPECT_LT(cost.moved(), plain.moved());
  EXPECT_LT(plain.moved(), base.moved());
  for (played const& p : {cost, plain, base}) EXPECT_EQ(p.uses, p.hits + p.loads + p.in_place);
}

}  // namespace wyrm::tests
