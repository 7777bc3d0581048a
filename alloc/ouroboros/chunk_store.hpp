// SPDX-License-Identifier: Apache-2.0
// Queues that hold chunks with free pages (Ouroboros, ICS 2020, section 4.2, Algorithms 4 and 5). A bit mask says which
// pages of a chunk are free, and a counter how many. A chunk is in the queue, once, while it has free pages; who takes
// it out is alone with it, takes pages, and puts it back if some are left. The two stages of the paper: first the count
// of all free pages of a class says that there are some for us, then we look for the chunks that have them.
//
// Departures. In the paper everybody looks at the chunk in front, which many threads empty at once, and walks on from
// there; here every chunk that is taken out yields a page at least, so nobody walks. That a chunk is not in the queue
// and must be put there is said by its counter alone: who frees the first page (0 before), and who leaves some (more
// than taken), puts it there; nobody re-enqueues for somebody else. Chunks that are wholly free stay with their class
// until the pool is used up; then any class takes them. Every queue has room for all the chunks of its class: the nodes
// are brought when chunks are carved, and emptied ones are used again by their queue.
//
// Nobody waits in vain: lanes that wait for an entry are as many as the pages, or fewer, that were counted for them and
// that they have not had. So there is a chunk with free pages, in the queue or in the hands of a lane that puts it
// there and waits, at most, for room. With room for N chunks and a node more, when no room is left the oldest node has
// a reader, who does not wait, for each of its entries. Lanes of one tile poll in turn, and none waits for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manager.hpp"

namespace wyrm::alloc {

namespace detail {

/// What changes on the device, a class.
struct alignas(128) chunk_queue_state {
  queue_ends chunks;
  std::uint32_t nodes;  // of the queue
  std::uint32_t full;   // chunks all of whose pages are free
};

inline constexpr unsigned mask_words = pages_a_chunk(0) / 64;

/// The position of the k-th set bit.
WYRM_HD inline unsigned select_bit(std::uint64_t bits, unsigned k) {
  for (; k > 0; --k) bits &= bits - 1;
  return static_cast<unsigned>(cuda::std::countr_zero(bits));
}
/// The k lowest set bits, or all.
WYRM_HD inline std::uint64_t lowest_bits(std::uint64_t bits, unsigned k) {
  std::uint64_t rest = bits;
  for (; k > 0 && rest != 0; --k) rest &= rest - 1;
  return bits & ~rest;
}

}  // namespace detail

template <class Queues>
class chunk_store_ref {
 public:
  chunk_store_ref(detail::chunk_queue_state* states, std::uint32_t* counts, std::uint64_t* masks, Queues const& queues)
      : states_(states), counts_(counts), masks_(masks), queues_(queues) {}

  /// A group of lanes takes n pages that are counted for it, mine the one of that rank; n is 0 for other lanes;
  /// collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t take(Tile const& t, chunk_pool_ref const& pool, unsigned c, std::uint32_t,
                                           std::uint32_t rank, std::uint32_t n) const {
    if (!t.any(n > 0)) return detail::no_page;
    // As many lanes as one chunk has pages look for chunks together; their leader does so.
    std::uint32_t const pages = n > 0 ? detail::pages_a_chunk(c) : 1;
    detail::lane_group const mine = detail::group_by(t, c << 8 | rank / pages, n > 0);
    std::uint64_t page = detail::no_page;
    std::uint32_t need = mine.led_by(t.rank()) ? mine.size : 0;  // pages my group still wants; in its leader
    std::uint32_t had = 0;
    std::uint32_t position = 0;
    bool waits = false;  // for the entry at that position
    token held;          // a chunk to put back
    for (unsigned attempt = 0; t.any(need > 0 || held.is_there); ++attempt) {
      bool const asks = need > 0 && !waits;
      if (t.any(asks)) {
        detail::lane_group const askers = detail::group_by(t, c, asks);
        std::uint32_t first = 0;
        if (askers.led_by(t.rank())) first = states_[c].chunks.claim_front(askers.size);
        first = t.shfl(first, askers.leader);
        if (asks) position = first + askers.rank;
        waits = waits || asks;
      }
      std::uint64_t chunk = 0;
      std::uint32_t node = 0;
      bool const got = waits && queues_.try_take(c, position, chunk, node);
      queues_.finish(t, pool, c, node, position, 0, got ? 1 : 0);
      std::uint32_t taken = 0;
      std::uint32_t before = 0;
      if (got) {
        waits = false;
        // Nobody else lowers the count while the chunk is out of the queue.
        std::uint32_t const there = count(chunk).load(exec::relaxed);
        taken = need < there ? need : there;
        before = count(chunk).fetch_sub(taken, exec::relaxed);
        held = {static_cast<std::uint32_t>(chunk), 0, before > taken, false};
        if (held.is_there) try_put(c, held);  // others wait for it
        if (before == pages) full(c).fetch_sub(1, exec::relaxed);
      }
      if (t.any(taken > 0)) take_bits(t, mine, chunk, pages, pages - before, taken, had, n > 0, page);
      had += taken;
      need -= taken;
      if (held.is_there) try_put(c, held);
      if (!got) exec::pause(attempt);
    }
    return page;
  }

  /// Frees one page for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void put(Tile const& t, chunk_pool_ref const&, detail::page_class_state* states, unsigned c,
                   std::uint64_t page, bool has) const {
    std::uint32_t const pages = has ? detail::pages_a_chunk(c) : 1;
    auto const chunk = static_cast<std::uint32_t>(page / pages);
    detail::lane_group const mine = detail::group_by(t, chunk, has);
    auto const bit = static_cast<std::uint32_t>(page % pages);
    // What its user did is ordered before the bit, and what the next one does after it.
    if (has) mask(chunk, bit / 64).fetch_or(std::uint64_t{1} << bit % 64, exec::release);
    t.sync();
    token held;
    if (mine.led_by(t.rank())) {
      std::uint32_t const before = count(chunk).fetch_add(mine.size, exec::acq_rel);
      if (before == 0) held = {chunk, 0, true, false};
      if (before + mine.size == pages) full(c).fetch_add(1, exec::relaxed);
    }
    for (unsigned attempt = 0; t.any(held.is_there); ++attempt) {
      if (attempt > 0) exec::pause(attempt);
      if (held.is_there) try_put(c, held);
    }
    detail::lane_group const same = detail::group_by(t, c, has);
    if (same.led_by(t.rank())) (void)states[c].pages.claim_back(same.size);
  }

  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t take_spilled(Tile const&, unsigned, unsigned, std::uint32_t, std::uint32_t,
                                                   std::uint64_t&) const {
    return 0;
  }
  [[nodiscard]] WYRM_HD bool has_spilled(unsigned) const { return false; }

  /// Chunks that become class c's; collective. Returns how many of the first of them become nodes of the queue instead,
  /// so that it has room for the others; no_room, and all are back in the pool, if the queue can have no more of them.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t keep(Tile const& t, chunk_pool_ref const& pool, std::uint64_t& chunks, unsigned c,
                                           unsigned leader, std::uint32_t first, std::uint32_t count) const {
    bool const leads = t.rank() == leader;
    std::uint32_t const each = queues_.entries_a_node(c);
    std::uint32_t const run = detail::run_chunks(c);
    exec::atomic_ref<std::uint64_t> carved(chunks);
    exec::atomic_ref<std::uint32_t> nodes(states_[c].nodes);
    std::uint64_t all = 0;
    if (leads) all = carved.fetch_add(count, exec::relaxed) + count;
    all = t.shfl(all, leader);
    std::uint32_t kept = 0;
    while (each > 0 && kept < count) {
      bool lacks = false;
      if (leads) {
        std::uint64_t const wanted = (all + each - 1) / each + 1;
        lacks = nodes.load(exec::relaxed) < wanted;
        if (lacks && nodes.fetch_add(1, exec::relaxed) >= wanted) {
          nodes.fetch_sub(1, exec::relaxed);
          lacks = false;
        }
      }
      if (!t.shfl(lacks, leader)) break;
      // A node is one chunk; rather another one than a part of a run.
      chunk_range other{0, 0};
      if (leads && run > 1) other = pool.take(1);
      bool const own = t.shfl(other.count, leader) == 0;
      std::uint32_t const node = own ? first + kept * run : t.shfl(other.first, leader);
      if (!queues_.add_node(t, pool, c, leader, node)) {
        // The queue can have no more: these chunks go back.
        if (leads) {
          nodes.fetch_sub(1, exec::relaxed);
          if (!own) pool.give(&node, 1);
          for (std::uint32_t k = kept; k < count; ++k) pool.give_run(first + k * run, run);
          carved.fetch_sub(count, exec::relaxed);
        }
        return detail::no_room;
      }
      if (own && leads && run > 1) pool.memory().give(node + 1, run - 1);
      kept += own;
    }
    if (leads && kept > 0) carved.fetch_sub(kept, exec::relaxed);
    return kept;
  }
  /// A chunk begins, with no page free: those that nobody has had yet are not the store's.
  WYRM_HD void start(std::uint32_t chunk) const {
    count(chunk).store(0, exec::relaxed);
    for (unsigned w = 0; w < detail::mask_words; ++w) mask(chunk, w).store(0, exec::relaxed);
  }

  /// One thread gives the pool a chunk all of whose pages are free, whichever class has one. False if none was found.
  [[nodiscard]] WYRM_HD bool reclaim(chunk_pool_ref const& pool, detail::page_class_state* states) const {
    for (unsigned c = detail::page_classes; c-- > 0;)
      for (std::uint32_t left = states_[c].chunks.length(); left > 0 && full(c).load(exec::relaxed) > 0; --left)
        if (take_full(pool, states[c], c)) return true;
    return false;
  }

 private:
  /// A chunk with free pages, on its way into the queue.
  struct token {
    std::uint32_t chunk = 0;
    std::uint32_t position = 0;
    bool is_there = false;
    bool has_position = false;
  };

  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> count(std::uint64_t chunk) const {
    return exec::atomic_ref<std::uint32_t>(counts_[chunk]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> mask(std::uint64_t chunk, unsigned word) const {
    return exec::atomic_ref<std::uint64_t>(masks_[chunk * detail::mask_words + word]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> full(unsigned c) const {
    return exec::atomic_ref<std::uint32_t>(states_[c].full);
  }

  WYRM_HD void try_claim(unsigned c, token& held) const {
    if (held.has_position || !queues_.try_room(c)) return;
    held.position = states_[c].chunks.claim_back_uncounted(1);
    held.has_position = true;
  }
  WYRM_HD void try_put(unsigned c, token& held) const {
    try_claim(c, held);
    if (held.has_position) held.is_there = !queues_.try_put(c, held.position, held.chunk);
  }

  // The leaders of groups have counted `taken` pages of a chunk for their groups, which had `had` before: finds them in
  // the mask; collective. There are as many set bits as the count says, and those that were counted for somebody and
  // not found yet: who frees sets the bit first. So everybody finds his, though others may be faster at the bits he
  // sees. They begin where nobody else does if the chunk was all free.
  template <class Tile>
  WYRM_HD void take_bits(Tile const& t, detail::lane_group const& mine, std::uint64_t chunk, std::uint32_t pages,
                         std::uint32_t begin, std::uint32_t taken, std::uint32_t had, bool member,
                         std::uint64_t& page) const {
    std::uint64_t const from = t.shfl(chunk, mine.leader);
    std::uint32_t first = t.shfl(had, mine.leader);
    std::uint32_t left = taken;
    unsigned const words = (pages + 63) / 64;
    for (unsigned skip = begin % 64; t.any(left > 0); skip = 0) {
      std::uint64_t seen[detail::mask_words];  // read all at once: no word waits for another
      for (unsigned i = 0; i < detail::mask_words; ++i)
        seen[i] = left > 0 && i < words ? mask(chunk, (begin / 64 + i) % words).load(exec::relaxed) : 0;
      seen[0] &= ~std::uint64_t{0} << skip;
      for (unsigned i = 0; i < detail::mask_words && t.any(left > 0); ++i) {
        unsigned const w = (begin / 64 + i) % words;
        std::uint64_t bits = detail::lowest_bits(seen[i], left);
        // What the last user of these pages did is ordered before what ours do.
        if (bits != 0) bits &= mask(chunk, w).fetch_and(~bits, exec::acquire);
        left -= static_cast<std::uint32_t>(cuda::std::popcount(bits));
        bits = t.shfl(bits, mine.leader);
        auto const found = static_cast<std::uint32_t>(cuda::std::popcount(bits));
        unsigned const word = t.shfl(w, mine.leader);
        if (member && mine.rank >= first && mine.rank - first < found)
          page = from * pages + word * 64 + detail::select_bit(bits, mine.rank - first);
        first += found;
      }
    }
  }

  // One thread takes a chunk of class c out of the queue, and gives it to the pool if all its pages are free.
  [[nodiscard]] WYRM_HD bool take_full(chunk_pool_ref const& pool, detail::page_class_state& state, unsigned c) const {
    std::uint32_t const pages = detail::pages_a_chunk(c);
    if (state.pages.take(pages) < pages) {
      state.pages.give_back(pages);
      return false;
    }
    std::uint32_t const position = states_[c].chunks.claim_front(1);
    std::uint64_t chunk = 0;
    std::uint32_t node = 0;
    for (unsigned attempt = 0; !queues_.try_take(c, position, chunk, node); ++attempt) exec::pause(attempt);
    queues_.finish(exec::scalar_tile{}, pool, c, node, position, 0, 1);
    if (count(chunk).load(exec::acquire) != pages) {
      token held{static_cast<std::uint32_t>(chunk), 0, true, false};
      for (unsigned attempt = 0; held.is_there; ++attempt) {
        if (attempt > 0) exec::pause(attempt);
        try_put(c, held);
      }
      state.pages.give_back(pages);
      return false;
    }
    (void)state.pages.claim_front(pages);
    full(c).fetch_sub(1, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(state.chunks).fetch_sub(1, exec::relaxed);
    pool.give_run(static_cast<std::uint32_t>(chunk), detail::run_chunks(c));
    return true;
  }

  detail::chunk_queue_state* states_;
  std::uint32_t* counts_;  // of a chunk: how many pages are free
  std::uint64_t* masks_;   // of a chunk, mask_words: which
  Queues queues_;
};

template <class Space, class Queues>
class chunk_store {
 public:
  using ref_type = chunk_store_ref<typename Queues::ref_type>;
  static constexpr char const* queue_kind = Queues::kind;
  static constexpr char kind = 'c';
  static constexpr std::size_t bytes_a_class = sizeof(detail::chunk_queue_state) + Queues::bytes_a_class;

  chunk_store(Space const& space, chunk_pool<Space> const& pool, unsigned node_log2)
      : space_(space),
        pool_(pool),
        states_(space, detail::page_classes),
        counts_(space, pool.memory().capacity() / chunk_bytes),
        masks_(space, pool.memory().capacity() / chunk_bytes * detail::mask_words),
        queues_(space, pool.memory(), node_log2, true) {
    restart();
  }

  [[nodiscard]] ref_type ref() const { return {states_.data(), counts_.data(), masks_.data(), queues_.ref()}; }
  [[nodiscard]] std::size_t bytes() const {
    return states_.bytes() + counts_.bytes() + masks_.bytes() + queues_.bytes();
  }
  void reset(std::vector<detail::page_class_state> const&) {
    auto const before = exec::copy_out(space_, states_.data(), detail::page_classes);
    queues_.reset(pool_.chunks(), [&](unsigned c) -> queue_ends const& { return before[c].chunks; });
    restart();
    cover(pool_.chunks());
  }
  [[nodiscard]] auto prepare(std::uint32_t chunks) {
    cover(chunks);
    return queues_.prepare(chunks);
  }
  template <class Prepared, class Ends>
  void grow(Prepared prepared, Ends const&) {
    queues_.grow(std::move(prepared), [this](unsigned c) { return &states_.data()[c].chunks; });
  }

  void compact(chunk_pool_ref const&, detail::page_class_state*, unsigned) {}  // reclaim() does
  [[nodiscard]] std::size_t spilled(unsigned) const { return 0; }

  /// Calls take(page, where) for each page of class c in the store.
  template <class Take>
  void check(char const* who, std::string const& what, unsigned c, detail::page_class_state const& state,
             std::vector<std::uint8_t> const& uses, Take const& take) const {
    std::uint32_t const pages = detail::pages_a_chunk(c);
    std::vector<std::uint32_t> const counts = exec::copy_out(space_, counts_.data(), uses.size());
    std::vector<std::uint64_t> const masks = exec::copy_out(space_, masks_.data(), uses.size() * detail::mask_words);
    detail::chunk_queue_state const queue = exec::read(space_, states_.data() + c);
    std::vector<bool> queued(uses.size());
    for (std::uint64_t const chunk : queues_.entries(c, queue.chunks, who, what)) {
      ensure(chunk < uses.size() && uses[chunk] == c, who, what + "a queued chunk is not of this class");
      ensure(!queued[chunk], who, what + "chunk " + std::to_string(chunk) + " is queued twice");
      queued[chunk] = true;
    }
    std::size_t stored = 0;
    std::size_t full = 0;
    for (std::size_t chunk = 0; chunk < uses.size(); ++chunk) {
      if (uses[chunk] != c) continue;
      std::string const name = what + "chunk " + std::to_string(chunk);
      std::size_t bits = 0;
      for (std::uint32_t p = 0; p < pages; ++p) {
        if ((masks[chunk * detail::mask_words + p / 64] >> p % 64 & 1) == 0) continue;
        take(chunk * pages + p, "stored");
        ++bits;
      }
      ensure(bits == counts[chunk], who,
             name + " has " + std::to_string(bits) + " free pages, but counts " + std::to_string(counts[chunk]));
      ensure(queued[chunk] == (bits > 0), who, name + (bits > 0 ? " is not queued" : " is queued without a free page"));
      stored += bits;
      full += bits == pages;
    }
    ensure(stored == state.pages.size(), who, what + "free pages are not counted");
    ensure(full == queue.full, who, what + "chunks whose pages are all free are not counted");
  }
  void check_queues(char const* who, std::vector<detail::page_class_state> const&) const {
    auto const states = exec::copy_out(space_, states_.data(), detail::page_classes);
    queues_.check(who, pool_, [&](unsigned c) -> queue_ends const& { return states[c].chunks; });
  }

 private:
  void restart() {
    std::vector<detail::chunk_queue_state> const fresh(detail::page_classes);
    exec::copy_in<detail::chunk_queue_state>(space_, states_.data(), fresh);
  }
  void cover(std::uint32_t chunks) {
    counts_.cover(chunks);
    masks_.cover(std::size_t{chunks} * detail::mask_words);
  }

  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<detail::chunk_queue_state, Space> states_;
  pool_table<std::uint32_t, Space> counts_;
  pool_table<std::uint64_t, Space> masks_;
  Queues queues_;
};

}  // namespace wyrm::alloc
