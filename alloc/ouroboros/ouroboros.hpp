// SPDX-License-Identifier: Apache-2.0
// Ouroboros with pages in the standard queue, "ouroboros-s-p" (ICS 2020, section 4.1, Algorithm 3): chunks of 8 KiB are
// split into pages of one of ten sizes, 16 to 8192 bytes; free pages wait in one index queue a size. A chunk keeps its
// page size until reset. Larger requests go to alloc/extent. Departures: the lanes of a tile that want the same size
// are served by one semaphore and one queue operation; who brings a chunk keeps the pages it wants and never queues for
// them; all lanes write the rest into the queue; out of memory is an answer, not a state (see bulk_semaphore.hpp).
// The static queues cost 4 bytes a page of each size: half of the pool's size. Virtualized queues will not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/launch.hpp"
#include "../allocator.hpp"
#include "../extent/extent.hpp"
#include "../ledger.hpp"
#include "bulk_semaphore.hpp"
#include "index_queue.hpp"

namespace wyrm::alloc {

namespace detail {

inline constexpr unsigned page_classes = 10;
inline constexpr unsigned smallest_page_log2 = 4;
static_assert(std::size_t{1} << (smallest_page_log2 + page_classes - 1) == chunk_bytes);

WYRM_HD constexpr std::uint32_t pages_a_chunk(unsigned page_class) {
  return static_cast<std::uint32_t>(chunk_bytes >> (smallest_page_log2 + page_class));
}
constexpr std::size_t page_bytes(unsigned page_class) { return std::size_t{1} << (smallest_page_log2 + page_class); }

/// What changes on the device, a class; on cache lines of its own.
struct alignas(128) page_class_state {
  bulk_semaphore pages;
  index_queue_state queue;
  std::uint64_t chunks;  // carved for this class
};

/// The rings of all classes: where they lie and how many slots they have.
struct slot_arrays {
  std::uint32_t* slots[page_classes];
  std::uint32_t sizes[page_classes];
};

/// Lays a ring out anew, from its front.
struct move_entry {
  std::uint32_t const* from;
  std::size_t size;
  std::uint32_t* to;
  std::uint64_t front;
  WYRM_HD void operator()(std::size_t i) const { to[i] = from[(front + i) % size]; }
};

}  // namespace detail

class ouroboros_ref {
 public:
  ouroboros_ref(extent_ref const& memory, ledger_ref const& ledger, detail::page_class_state* states,
                detail::slot_arrays const& slots, std::uint8_t* chunk_classes, unsigned smallest_class)
      : memory_(memory),
        ledger_(ledger),
        states_(states),
        slots_(slots),
        chunk_classes_(chunk_classes),
        smallest_class_(smallest_class) {}

  /// Collective; one request a lane, 0 = none.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes) const {
    unsigned const mine = class_of(bytes);
    void* result = nullptr;
    for (std::uint32_t waiting = t.ballot(mine < detail::page_classes); waiting != 0;) {
      unsigned const c = t.shfl(mine, exec::first_lane(waiting));
      std::uint32_t const members = t.ballot(mine == c);
      void* const page = allocate_pages(t, c, members);
      if (mine == c) result = page;
      waiting &= ~members;
    }
    extent_ref::one_by_one(t, t.ballot(mine == large), [&] { result = memory_.allocate(bytes); });
    if (bytes > 0 && result == nullptr) ledger_.count_failures(1);
    ledger_.note_allocation(result, bytes);
    return result;
  }

  /// Collective; one pointer a lane, nullptr = none.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    unsigned const mine = class_of_live(p);
    std::uint64_t const offset = static_cast<std::uint64_t>(static_cast<std::byte*>(p) - memory_.base());
    for (std::uint32_t waiting = t.ballot(mine < detail::page_classes); waiting != 0;) {
      unsigned const c = t.shfl(mine, exec::first_lane(waiting));
      std::uint32_t const members = t.ballot(mine == c);
      auto const n = static_cast<std::uint32_t>(cuda::std::popcount(members));
      index_queue const queue = queue_of(c);
      std::uint64_t position = 0;
      if (t.rank() == exec::first_lane(members)) {
        position = queue.claim_back(n);
        states_[c].pages.supply(n);
      }
      position = t.shfl(position, exec::first_lane(members));
      if (mine == c) {
        auto const page = static_cast<std::uint32_t>(offset >> (detail::smallest_page_log2 + c));
        queue.put(position + exec::rank_in(t, members), page);
      }
      waiting &= ~members;
    }
    extent_ref::one_by_one(t, t.ballot(mine == large), [&] {
      if (!memory_.free(p)) ledger_.count_bad_free();
    });
  }

  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes) const { return allocate(exec::scalar_tile{}, bytes); }
  WYRM_HD void free(void* p) const { deallocate(exec::scalar_tile{}, p); }

 private:
  static constexpr unsigned large = detail::page_classes;
  static constexpr unsigned no_class = detail::page_classes + 1;

  WYRM_HD unsigned class_of(std::size_t bytes) const {
    if (bytes == 0) return no_class;
    if (bytes > chunk_bytes) return large;
    auto const log2 = static_cast<unsigned>(cuda::std::bit_width(bytes - 1));
    unsigned const smallest = detail::smallest_page_log2 + smallest_class_;
    return (log2 > smallest ? log2 : smallest) - detail::smallest_page_log2;
  }

  // The class of the page at p. A pointer that cannot be a page or a run is counted and left alone.
  WYRM_HD unsigned class_of_live(void* p) const {
    if (p == nullptr) return no_class;
    auto const offset = static_cast<std::uint64_t>(static_cast<std::byte*>(p) - memory_.base());
    if (!memory_.contains(p) || offset % alignment != 0) {
      ledger_.count_bad_free();
      return no_class;
    }
    unsigned const c = exec::atomic_ref<std::uint8_t>(chunk_classes_[offset / chunk_bytes]).load(exec::relaxed);
    if (c < detail::page_classes && offset % (std::size_t{16} << c) != 0) {
      ledger_.count_bad_free();
      return no_class;
    }
    if (!ledger_.note_free(p)) return no_class;
    return c < detail::page_classes ? c : large;
  }

  WYRM_HD index_queue queue_of(unsigned c) const { return {&states_[c].queue, slots_.slots[c], slots_.sizes[c]}; }

  // One page of class c for each lane of `members`; collective over the tile. A tile that has to bring chunks does so
  // before anything else and then waits for nobody: so whoever waits, waits for tiles that do not.
  template <class Tile>
  WYRM_HD void* allocate_pages(Tile const& t, unsigned c, std::uint32_t members) const {
    detail::page_class_state& state = states_[c];
    index_queue const queue = queue_of(c);
    unsigned const leader = exec::first_lane(members);
    bool const leads = t.rank() == leader;
    bool const member = (members >> t.rank() & 1) != 0;
    std::uint32_t const position = exec::rank_in(t, members);
    auto const n = static_cast<std::uint32_t>(cuda::std::popcount(members));

    std::uint32_t chunks = 0;
    if (leads) chunks = state.pages.demand(n, detail::pages_a_chunk(c));
    chunks = t.shfl(chunks, leader);

    std::uint32_t served = 0;  // members below this position have their answer
    std::uint32_t page = index_queue::nothing;
    if (chunks > 0) {
      served = bring_chunks(t, c, chunks, n, leader, position, page);
      if (!member || position >= served) page = index_queue::nothing;
    }
    if (served < n) {
      std::uint64_t first = 0;
      if (leads) first = queue.claim_front(n - served);
      first = t.shfl(first, leader);
      if (member && position >= served) page = await_page(c, first + position - served);
    }
    if (!member || page == index_queue::nothing) return nullptr;
    return memory_.base() + (std::size_t{page} << (detail::smallest_page_log2 + c));
  }

  // Brings the chunks that the semaphore named, and so many that all members can be served from them. Returns how many
  // members are: all. Those for whom there was no memory keep `nothing`.
  template <class Tile>
  WYRM_HD std::uint32_t bring_chunks(Tile const& t, unsigned c, std::uint32_t chunks, std::uint32_t n, unsigned leader,
                                     std::uint32_t position, std::uint32_t& page) const {
    detail::page_class_state& state = states_[c];
    index_queue const queue = queue_of(c);
    bool const leads = t.rank() == leader;
    std::uint32_t const pages = detail::pages_a_chunk(c);
    std::uint32_t const enough = (n + pages - 1) / pages;
    if (chunks < enough) chunks = enough;
    std::uint32_t served = 0;
    while (chunks > 0) {
      chunk_range range{0, 0};
      if (leads) range = memory_.take_chunks(chunks);
      range.first = t.shfl(range.first, leader);
      range.count = t.shfl(range.count, leader);
      if (range.count == 0) break;
      for (std::uint32_t k = t.rank(); k < range.count; k += Tile::size())
        exec::atomic_ref<std::uint8_t>(chunk_classes_[range.first + k])
            .store(static_cast<std::uint8_t>(c), exec::relaxed);
      std::uint32_t const first_page = range.first * pages;
      std::uint32_t const all = range.count * pages;
      std::uint32_t const kept = n - served < all ? n - served : all;
      if (position >= served && position < served + kept) page = first_page + position - served;
      std::uint64_t back = 0;
      if (leads) {
        back = queue.claim_back(all - kept);
        state.pages.supply(all);
        exec::atomic_ref<std::uint64_t>(state.chunks).fetch_add(range.count, exec::relaxed);
      }
      back = t.shfl(back, leader);
      for (std::uint32_t k = t.rank(); k < all - kept; k += Tile::size()) queue.put(back + k, first_page + kept + k);
      served += kept;
      chunks -= range.count;
    }
    // No memory for the rest: we withdraw our demand. Others who counted on these chunks see to it in await_page.
    if (chunks > 0 && leads) state.pages.supply(n - served);
    return n;
  }

  // A lane at its position of a queue: takes what is there for it.
  struct reader {
    index_queue queue;
    std::uint64_t position;
    std::uint32_t page = index_queue::nothing;
    bool done = false;

    WYRM_HD bool poll() {
      if (!done) done = queue.try_take(position, page);
      return done;
    }
    // Writes an entry, and polls meanwhile: when all slots are full, our own entry may be what is in the way.
    WYRM_HD void put(std::uint64_t at, std::uint32_t index) {
      for (unsigned attempt = 0; !queue.try_put(at, index); ++attempt) {
        poll();
        exec::pause(attempt);
      }
    }
  };

  // One lane waits at its position of the queue. Once somebody has claimed the position for writing, the entry will
  // come. While nobody does for long, those who were named have failed, or are very slow: then the first reader without
  // a writer helps all of them. It brings a chunk, or, when there is none, writes "nothing" for those who wait by then,
  // each of which makes up for one demand. All positions below front() have a reader, so there is such a first one
  // as long as anybody waits without a writer, and no "nothing" stays behind in the queue. A lane helps at most once
  // for itself, so nobody takes much more than is asked for.
  WYRM_HD std::uint32_t await_page(unsigned c, std::uint64_t position) const {
    constexpr unsigned patience = 64;
    detail::page_class_state& state = states_[c];
    reader mine{queue_of(c), position};
    for (unsigned attempt = 1; !mine.poll(); ++attempt) {
      exec::pause(attempt);
      if (attempt % patience != 0 || mine.queue.back() != position) continue;
      std::uint64_t const waiting = mine.queue.front();  // below here, before we see that there is no memory
      chunk_range const range = memory_.take_chunks(1);
      if (range.count > 0) {
        std::uint32_t const pages = detail::pages_a_chunk(c);
        exec::atomic_ref<std::uint8_t>(chunk_classes_[range.first]).store(static_cast<std::uint8_t>(c), exec::relaxed);
        exec::atomic_ref<std::uint64_t>(state.chunks).fetch_add(1, exec::relaxed);
        std::uint64_t const back = mine.queue.claim_back(pages);
        state.pages.supply(pages);
        for (std::uint32_t k = 0; k < pages; ++k) mine.put(back + k, range.first * pages + k);
        continue;
      }
      for (std::uint64_t unclaimed = 0; mine.queue.claim_back_below(waiting, unclaimed);) {
        state.pages.supply(1);
        mine.put(unclaimed, index_queue::nothing);
      }
    }
    return mine.page;
  }

  extent_ref memory_;
  ledger_ref ledger_;
  detail::page_class_state* states_;
  detail::slot_arrays slots_;
  std::uint8_t* chunk_classes_;  // a byte a chunk: its class, or no_class
  unsigned smallest_class_;
};

template <class Space>
class ouroboros {
 public:
  using space_type = Space;
  using ref_type = ouroboros_ref;
  static constexpr char const* name = "ouroboros-s-p";
  static constexpr traits family{};

  ouroboros(Space const& space, options const& o)
      : space_(space),
        memory_(space, o),
        ledger_(space, memory_.base(), memory_.capacity(), o.checked),
        states_(space, detail::page_classes),
        chunk_classes_(space, memory_.capacity() / chunk_bytes) {
    for (unsigned c = 0; c < detail::page_classes; ++c) slots_.emplace_back(space_);
    reset();
  }

  [[nodiscard]] ouroboros_ref ref() const {
    detail::slot_arrays arrays{};
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      arrays.slots[c] = slots_[c].data();
      arrays.sizes[c] = static_cast<std::uint32_t>(slots_[c].size());
    }
    return {memory_.ref(), ledger_.ref(),         states_.data(),
            arrays,        chunk_classes_.data(), smallest_class(memory_.chunks())};
  }

  /// O(pool).
  void reset() {
    memory_.reset();
    ledger_.cover(memory_.bytes());
    ledger_.reset();
    std::array<detail::page_class_state, detail::page_classes> const fresh{};
    space_.copy_in(states_.data(), fresh.data(), sizeof(fresh));
    space_.fill(chunk_classes_.data(), detail::page_classes + 1, chunk_classes_.bytes());
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      slots_[c].reserve(slots_for(c, memory_.chunks()));
      space_.fill(slots_[c].data(), 0, slots_[c].bytes());
    }
  }

  /// The queues get longer, and so are laid out anew: O(free pages + pool). Refs made before must not be used again.
  void grow(std::size_t bytes) {
    // All that can fail comes before anything changes.
    std::uint32_t const chunks = memory_.chunks_after(bytes);
    std::vector<exec::buffer<std::uint32_t, Space>> longer;
    for (unsigned c = 0; c < detail::page_classes; ++c) longer.emplace_back(space_, slots_for(c, chunks));
    ledger_.cover(std::size_t{chunks} * chunk_bytes);
    memory_.grow(bytes);
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      if (longer[c].size() <= slots_[c].size()) continue;
      detail::page_class_state state = exec::read(space_, states_.data() + c);
      space_.fill(longer[c].data(), 0, longer[c].bytes());
      exec::for_each(space_, state.queue.back - state.queue.front,
                     detail::move_entry{slots_[c].data(), slots_[c].size(), longer[c].data(), state.queue.front});
      state.queue = {0, state.queue.back - state.queue.front};
      exec::write(space_, states_.data() + c, state);
      slots_[c] = std::move(longer[c]);
    }
  }

  [[nodiscard]] statistics stats() const {
    statistics s;
    ledger_.report(s);
    s.committed = memory_.bytes();
    s.reserved = memory_.capacity();
    s.peak = memory_.peak();
    s.overhead = memory_.overhead() + ledger_.bytes() + states_.bytes() + chunk_classes_.bytes();
    s.granted = memory_.allocated();
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      s.overhead += slots_[c].bytes();
      detail::page_class_state state = exec::read(space_, states_.data() + c);
      class_statistics const k{detail::page_bytes(c), state.chunks * detail::pages_a_chunk(c),
                               static_cast<std::size_t>(state.pages.value())};
      s.granted += (k.pages - k.free) * k.page_bytes;
      s.classes.push_back(k);
    }
    return s;
  }

  /// Each chunk has one owner; each queue holds as many entries as its semaphore says, each of them a page of a chunk
  /// of that class, none twice; in checked mode every other page is live, and nothing else is. O(pool).
  void check() const {
    std::vector<std::uint8_t> const classes = exec::copy_out(space_, chunk_classes_.data(), memory_.chunks());
    std::vector<bool> carved(classes.size());
    for (std::size_t chunk = 0; chunk < classes.size(); ++chunk) carved[chunk] = classes[chunk] < detail::page_classes;
    memory_.check(carved);
    std::vector<bool> used(memory_.bytes() / alignment);  // by its first 16 bytes: the pages in no queue
    for (unsigned c = 0; c < detail::page_classes; ++c) check_class(c, classes, used);
    if (ledger_.checked()) check_live(carved, used);
  }

 private:
  // The pages of 16 bytes that a 32-bit index can name make 64 GiB; larger pools do without the smallest sizes.
  [[nodiscard]] static unsigned smallest_class(std::uint32_t chunks) {
    unsigned c = 0;
    while (std::uint64_t{chunks} * detail::pages_a_chunk(c) > index_queue::max_indices) ++c;
    return c;
  }
  [[nodiscard]] static std::size_t slots_for(unsigned c, std::uint32_t chunks) {
    return c < smallest_class(chunks) ? 0 : std::size_t{chunks} * detail::pages_a_chunk(c);
  }

  void check_class(unsigned c, std::vector<std::uint8_t> const& classes, std::vector<bool>& used) const {
    std::string const what = "class of " + std::to_string(detail::page_bytes(c)) + " bytes: ";
    detail::page_class_state state = exec::read(space_, states_.data() + c);
    std::uint32_t const pages = detail::pages_a_chunk(c);
    std::size_t const granules = detail::page_bytes(c) / alignment;
    std::size_t chunks = 0;
    for (std::size_t chunk = 0; chunk < classes.size(); ++chunk) {
      if (classes[chunk] != c) continue;
      ++chunks;
      for (std::uint32_t p = 0; p < pages; ++p) used[(chunk * pages + p) * granules] = true;
    }
    ensure(chunks == state.chunks, name, what + "chunks were carved but not counted");
    ensure(state.pages.value() >= 0, name, what + "somebody still waits for a page");
    std::size_t const entries = state.queue.back - state.queue.front;
    ensure(entries == static_cast<std::size_t>(state.pages.value()), name,
           what + std::to_string(entries) + " pages queued, the semaphore says " + std::to_string(state.pages.value()));
    std::vector<std::uint32_t> const slots = exec::copy_out(space_, slots_[c].data(), slots_[c].size());
    std::size_t full = 0;
    for (std::uint32_t const entry : slots) full += entry != index_queue::empty;
    ensure(full == entries, name,
           what + std::to_string(full) + " full slots for " + std::to_string(entries) + " pages");
    for (std::uint64_t at = state.queue.front; at < state.queue.back; ++at) {
      std::uint32_t const entry = slots[at % slots.size()];
      std::size_t const chunk = (entry - 1) / pages;
      ensure(entry != index_queue::empty && chunk < classes.size() && classes[chunk] == c, name,
             what + "a queued page is not of this class");
      ensure(used[(entry - 1) * granules], name, what + "page " + std::to_string(entry - 1) + " is queued twice");
      used[(entry - 1) * granules] = false;
    }
  }

  void check_live(std::vector<bool> const& carved, std::vector<bool>& used) const {
    std::size_t runs = 0;
    for (std::size_t const offset : ledger_.live_offsets()) {
      if (!carved[offset / chunk_bytes]) {
        ++runs;  // whose units the extent has checked
        continue;
      }
      ensure(used[offset / alignment], name, "the live page at offset " + std::to_string(offset) + " is also queued");
      used[offset / alignment] = false;
    }
    std::size_t const lost = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
    ensure(lost == 0, name, std::to_string(lost) + " pages are neither live nor queued");
    ensure(runs == memory_.runs(), name, "a run of units is lost");
  }

  Space space_;
  extent<Space> memory_;
  ledger<Space> ledger_;
  exec::buffer<detail::page_class_state, Space> states_;
  std::vector<exec::buffer<std::uint32_t, Space>> slots_;
  exec::buffer<std::uint8_t, Space> chunk_classes_;
};

}  // namespace wyrm::alloc
