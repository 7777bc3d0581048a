// SPDX-License-Identifier: Apache-2.0
// Synthetic traces for replacement policies of residency. Each is a pattern of programs that need more device memory
// than there is; sizes are in blocks, for 100 blocks of device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

#include "../alloc/residency/trace.hpp"

namespace wyrm::bench {

/// Writes a trace, launch by launch: the transfers before it, its uses, the end of the launch before it, and the
/// transfers after it.
class trace_maker {
 public:
  using blocks = std::vector<alloc::residency::block_number>;

  /// A new object.
  blocks object(std::size_t size) {
    blocks made(size);
    for (auto& b : made) b = next_block_++;
    events_.push_back({alloc::residency::event_kind::load, made, next_object_++});
    return made;
  }

  /// What a launch does with blocks. It is said to write all of them unless it reads only, and changes some.
  enum class access : std::uint8_t { reads, may_write, writes };
  struct use {
    blocks which;
    access how = access::may_write;
    alloc::residency::use_hint hint = alloc::residency::use_hint::normal;
  };
  void launch(std::initializer_list<use> uses) {
    using alloc::residency::event_kind;
    ++launch_;
    for (use const& u : uses) events_.push_back({event_kind::use, u.which, launch_, u.how != access::reads, u.hint});
    if (launch_ > 1) events_.push_back({event_kind::finish, {}, launch_ - 1});
    for (use const& u : uses)
      if (u.how == access::may_write) events_.push_back({event_kind::clean, u.which});
  }
  /// Waits for the last launch.
  void wait() { events_.push_back({alloc::residency::event_kind::finish, {}, launch_}); }
  void copy_out(blocks const& which) { events_.push_back({alloc::residency::event_kind::copy_out, which}); }
  void overwrite(blocks const& which) { events_.push_back({alloc::residency::event_kind::overwrite, which}); }

  [[nodiscard]] alloc::residency::trace take() { return std::move(events_); }

 private:
  alloc::residency::trace events_;
  alloc::residency::block_number next_block_ = 0;
  alloc::residency::object_number next_object_ = 0;
  alloc::residency::launch_number launch_ = 0;
};

using access = trace_maker::access;
using alloc::residency::use_hint;

/// The part [begin, begin + size) of blocks, cyclically.
[[nodiscard]] inline trace_maker::blocks part_of(trace_maker::blocks const& all, std::size_t begin, std::size_t size) {
  trace_maker::blocks part(size);
  for (std::size_t i = 0; i < size; ++i) part[i] = all[(begin + i) % all.size()];
  return part;
}

/// Two programs in turn, each with 40 blocks of input and 20 of results, which it copies out: 120 blocks in all.
[[nodiscard]] inline alloc::residency::trace two_programs() {
  trace_maker t;
  std::pair<trace_maker::blocks, trace_maker::blocks> programs[2];
  for (auto& [input, results] : programs) input = t.object(40), results = t.object(20);
  for (int turn = 0; turn < 100; ++turn) {
    auto const& [input, results] = programs[turn % 2];
    for (std::size_t i = 0; i < 4; ++i)
      t.launch({{part_of(input, 10 * i, 10)}, {part_of(results, 5 * i, 5), access::writes}});
    t.wait();
    t.copy_out(results);
  }
  return t.take();
}

/// A program reads 150 blocks in a loop, 10 with each launch.
[[nodiscard]] inline alloc::residency::trace loop() {
  trace_maker t;
  auto const all = t.object(150);
  for (std::size_t i = 0; i < 300; ++i) t.launch({{part_of(all, 10 * i, 10)}});
  return t.take();
}

/// A program changes 60 blocks in turn, 6 with each launch, and reads 10 blocks of a scan over 400, as its hints say if
/// it gives any.
[[nodiscard]] inline alloc::residency::trace scan_and_hot_set(bool hints) {
  trace_maker t;
  auto const hot = t.object(60);
  auto const scanned = t.object(400);
  for (std::size_t i = 0; i < 300; ++i)
    t.launch({{part_of(scanned, 10 * i, 10), access::may_write, hints ? use_hint::once : use_hint::normal},
              {part_of(hot, 6 * i, 6), access::writes, hints ? use_hint::hot : use_hint::normal}});
  return t.take();
}

/// Objects of 5 blocks, of which 61 % are only read, as in the programs that the paper counts (section 4.4); launches
/// do not say so. Each uses three of them, the more often the lower their numbers.
[[nodiscard]] inline alloc::residency::trace read_mostly(std::uint64_t seed) {
  trace_maker t;
  std::mt19937_64 random(seed);
  std::vector<trace_maker::use> objects;
  for (int i = 0; i < 40; ++i) {
    auto blocks = t.object(5);
    objects.push_back({std::move(blocks), random() % 100 < 61 ? access::may_write : access::writes});
  }
  auto const draw = [&] {
    auto const candidates = 1 + random() % objects.size();
    return objects[random() % candidates];
  };
  for (int i = 0; i < 400; ++i) t.launch({draw(), draw(), draw()});
  return t.take();
}

/// A program with 50 blocks, of which it reads 40, beside one that rewrites 100 for ever, 25 with each launch.
[[nodiscard]] inline alloc::residency::trace attack() {
  trace_maker t;
  auto const input = t.object(40);
  auto const results = t.object(10);
  auto const taken = t.object(100);
  for (std::size_t i = 0; i < 200; ++i) {
    t.launch({{part_of(input, 10 * i, 10)}, {part_of(results, 2 * i, 2), access::writes}});
    t.launch({{part_of(taken, 25 * i, 25), access::writes}});
  }
  return t.take();
}

/// A program sends its data to the device part by part, through the same 8 blocks, which a launch changes (section 4.4,
/// overwrite elimination); until it sends the next part, another one reads 84 to 120 of 200 blocks, 12 with each
/// launch.
[[nodiscard]] inline alloc::residency::trace partitions(std::uint64_t seed) {
  trace_maker t;
  std::mt19937_64 random(seed);
  auto const part = t.object(8);
  auto const read = t.object(200);
  std::size_t next = 0;
  for (int i = 0; i < 200; ++i) {
    t.wait();
    t.overwrite(part);
    t.launch({{part, access::writes}});
    for (auto left = 7 + random() % 4; left > 0; --left, next += 12) t.launch({{part_of(read, next, 12)}});
  }
  return t.take();
}

}  // namespace wyrm::bench
