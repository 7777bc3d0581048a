// SPDX-License-Identifier: Apache-2.0
// A log of the last calls of an allocator, in a ring buffer in device memory.
//
// Calls take numbers from one counter, and call n writes slot n modulo the length of the ring. Two calls may write one
// slot at the same time if the ring is shorter than the number of threads. So a slot has a checksum, and events()
// leaves out slots that do not agree with theirs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/memory.hpp"
#include "adapted.hpp"

namespace wyrm::alloc {

enum class event_kind : std::uint64_t { allocated, refused, freed };

/// A call of an allocator.
struct event {
  std::uint64_t number;  // of the call, from 0 on since the last reset
  event_kind kind;
  std::uint64_t address;
  std::uint64_t asked;    // bytes of the request; 0 of a free
  std::uint64_t granted;  // bytes of the block
};

/// "12,allocated,0x7f0012345680,100,128".
[[nodiscard]] inline std::string to_string(event const& e) {
  char const* const kind = e.kind == event_kind::allocated ? "allocated"
                           : e.kind == event_kind::refused ? "refused"
                                                           : "freed";
  char text[128];
  std::snprintf(text, sizeof(text), "%llu,%s,0x%llx,%llu,%llu", static_cast<unsigned long long>(e.number), kind,
                static_cast<unsigned long long>(e.address), static_cast<unsigned long long>(e.asked),
                static_cast<unsigned long long>(e.granted));
  return text;
}

namespace detail {
struct log_slot {
  std::uint64_t number;
  std::uint64_t kind;
  std::uint64_t address;
  std::uint64_t asked;
  std::uint64_t granted;
  std::uint64_t checksum;  // never 0
  [[nodiscard]] WYRM_HD std::uint64_t sum() const {
    std::uint64_t h = number + 1;
    for (std::uint64_t const word : {kind, address, asked, granted}) h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h | 1;
  }
};
struct log_ref {
  std::uint64_t* calls;
  log_slot* slots;
  std::uint64_t length;
  [[nodiscard]] WYRM_HD bool admits(adaptor_block const&) const { return true; }
  WYRM_HD void allocated(adaptor_block const& b) const {
    record(b.p != nullptr ? event_kind::allocated : event_kind::refused, b);
  }
  WYRM_HD void freed(adaptor_block const& b) const { record(event_kind::freed, b); }
  WYRM_HD void record(event_kind kind, adaptor_block const& b) const {
    using word = exec::atomic_ref<std::uint64_t>;
    log_slot e{word(*calls).fetch_add(1, exec::relaxed),
               static_cast<std::uint64_t>(kind),
               reinterpret_cast<std::uintptr_t>(b.p),
               b.asked,
               b.granted,
               0};
    e.checksum = e.sum();
    log_slot& slot = slots[e.number % length];
    word(slot.number).store(e.number, exec::relaxed);
    word(slot.kind).store(e.kind, exec::relaxed);
    word(slot.address).store(e.address, exec::relaxed);
    word(slot.asked).store(e.asked, exec::relaxed);
    word(slot.granted).store(e.granted, exec::relaxed);
    word(slot.checksum).store(e.checksum, exec::relaxed);
  }
};
template <class Space>
class log_part {
 public:
  using ref_type = log_ref;
  log_part(Space const& space, std::size_t length)
      : space_(space), calls_(space, 1), slots_(space, std::max<std::size_t>(length, 1)) {
    reset();
  }
  [[nodiscard]] ref_type ref() const { return {calls_.data(), slots_.data(), slots_.size()}; }
  void reset() {
    exec::write(space_, calls_.data(), std::uint64_t{0});
    space_.fill(slots_.data(), 0, slots_.bytes());
  }
  void report(statistics&) const {}
  [[nodiscard]] std::size_t bytes() const { return calls_.bytes() + slots_.bytes(); }
  [[nodiscard]] std::vector<event> events() const {
    std::vector<event> all;
    for (log_slot const& s : exec::copy_out(space_, slots_.data(), slots_.size()))
      if (s.checksum == s.sum())
        all.push_back({s.number, static_cast<event_kind>(s.kind), s.address, s.asked, s.granted});
    std::sort(all.begin(), all.end(), [](event const& a, event const& b) { return a.number < b.number; });
    return all;
  }

 private:
  Space space_;
  exec::buffer<std::uint64_t, Space> calls_;
  exec::buffer<log_slot, Space> slots_;
};
}  // namespace detail

/// An allocator that keeps its last calls: `length` of them, 48 bytes each. Every call adds to one counter, so calls
/// are slower.
template <class A>
class logged : public adapted<A, detail::log_part> {
  using base = adapted<A, detail::log_part>;

 public:
  logged(typename A::space_type const& space, options const& o, std::size_t length = 4096) : base(space, o, length) {}
  /// The last calls, in the order of their numbers; while no kernel uses the pool. O(length of the ring).
  [[nodiscard]] std::vector<event> events() const { return base::part_.events(); }
};

}  // namespace wyrm::alloc
