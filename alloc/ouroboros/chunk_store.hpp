// SPDX-License-Identifier: Apache-2.0
// Queues that hold chunks with free pages (Ouroboros, ICS 2020, section 4.2, Algorithms 4 and 5). A bit mask says which
// pages of a chunk are free, and a word how many, whose the chunk is, and which queues it is in. A chunk is in the
// queue of its class, once, while it has free pages; who takes it out is alone with it, takes pages, and puts it back
// if some are left. The two stages of the paper: first the count of all free pages of a class says that there are some
// for us, then we look for the chunks that have them.
//
// Departures. In the paper everybody looks at the chunk in front, which many threads empty at once, and walks on from
// there; here every chunk that is taken out yields a page at least, so nobody walks. That a chunk is not in the queue
// and must be put there is said by its word alone: who frees the first page, and who leaves some, puts it there; nobody
// re-enqueues for somebody else. Pages are counted for who takes them before they are looked up in the mask, so that
// the chunk can go back at once. Chunks that are wholly free stay with their class until the pool is used up; then any
// class takes them, wherever in the queue they are: who fills a chunk leaves a hint, and a queued chunk that has been
// taken away is no longer its class's when it comes to the front, and is dropped. Whose a chunk is, its word says from
// the first page on that is freed into it: chunks that nobody has freed a page of cost nothing here. Every queue has
// room for all the chunks of its class and for those taken away: the nodes are brought when chunks are carved, and
// emptied ones are used again by their queue.
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

#include "../bits.hpp"
#include "manager.hpp"

namespace wyrm::alloc {

namespace detail {

/// What changes on the device, a class.
struct alignas(64) chunk_queue_state {
  queue_ends chunks;
  std::uint32_t nodes;  // of the queue
  std::int32_t gone;    // chunks that are in the queue, but not of the class
};

/// What is to know of a chunk, in one word.
struct chunk_word {
  static constexpr std::uint64_t counts = 0xffff;                   // how many pages are free
  static constexpr std::uint64_t owners = std::uint64_t{31} << 16;  // its class + 1; 0: none, or no page is free yet
  static constexpr std::uint64_t hinted = std::uint64_t{1} << 21;   // it is among the hints
  static constexpr WYRM_HD std::uint64_t owner(unsigned c) { return std::uint64_t{c + 1} << 16; }
  static constexpr WYRM_HD std::uint64_t queued(unsigned c) { return std::uint64_t{1} << (24 + c); }
  static constexpr WYRM_HD std::uint32_t count(std::uint64_t word) { return static_cast<std::uint32_t>(word & counts); }
  static constexpr WYRM_HD bool is_of(std::uint64_t word, unsigned c) { return (word & owners) == owner(c); }
  static constexpr WYRM_HD bool is_in_queue_of(std::uint64_t word, unsigned c) {
    return is_of(word, c) && (word & queued(c)) != 0;
  }
};

inline constexpr unsigned mask_words = pages_a_chunk(0) / 64;

}  // namespace detail

template <class Queues>
class chunk_store_ref {
 public:
  using ends_type = page_counts;
  chunk_store_ref(detail::chunk_queue_state* states, std::uint64_t* words, std::uint64_t* masks, queue_ends* hint_ends,
                  index_ring const& hints, Queues const& queues, std::uint32_t chunks)
      : states_(states),
        words_(words),
        masks_(masks),
        hint_ends_(hint_ends),
        hints_(hints),
        queues_(queues),
        chunks_(chunks) {}

  /// A group of lanes takes n pages that are counted for it, mine the one of that rank; n is 0 for other lanes;
  /// collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t take(Tile const& t, chunk_pool_ref const&, unsigned c, std::uint32_t,
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
    detail::late_node late;
    for (unsigned attempt = 0; t.any(need > 0 || held.is_there || late.is_there); ++attempt) {
      bool const asks = need > 0 && !waits && !held.is_there && !late.is_there;
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
      queues_.finish_and_keep(t, c, node, position, got, late);
      std::uint32_t taken = 0;
      std::uint32_t there = 0;
      if (got) {
        waits = false;
        there = leave_queue(c, chunk);
        taken = need < there ? need : there;
        if (taken > 0 && lower(c, chunk, there, taken)) {
          held = {static_cast<std::uint32_t>(chunk), 0, true, false};
          try_put(c, held);  // others wait for it
        }
      }
      if (t.any(taken > 0)) take_bits(t, mine, chunk, pages, pages - there, taken, had, n > 0, page);
      had += taken;
      need -= taken;
      if (held.is_there) try_put(c, held);
      if (late.is_there) queues_.try_publish(c, late);
      if (!got) exec::pause(attempt);
    }
    return page;
  }

  /// Frees one page for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void put(Tile const& t, chunk_pool_ref const&, detail::class_states<page_counts> states, unsigned c,
                   std::uint64_t page, bool has) const {
    std::uint32_t const pages = has ? detail::pages_a_chunk(c) : 1;
    auto const chunk = static_cast<std::uint32_t>(page / pages);
    detail::lane_group const mine = detail::group_by(t, chunk, has);
    auto const bit = static_cast<std::uint32_t>(page % pages);
    // What its user did is ordered before the bit, and what the next one does after it.
    if (has) mask(chunk, bit / 64).fetch_or(std::uint64_t{1} << bit % 64, exec::release);
    t.sync();
    token held;
    bool hints = false;
    if (mine.led_by(t.rank())) {
      std::uint64_t now = word(chunk).fetch_add(mine.size, exec::acq_rel) + mine.size;
      if (detail::chunk_word::count(now) == mine.size && !detail::chunk_word::is_in_queue_of(now, c)) {
        now = word(chunk).fetch_or(detail::chunk_word::owner(c) | detail::chunk_word::queued(c), exec::acq_rel);
        if ((now & detail::chunk_word::queued(c)) == 0)
          held = {chunk, 0, true, false};
        else
          gone(c).fetch_sub(1, exec::relaxed);  // it has been in the queue since it was the class's before
      }
      hints = pages > 1 && detail::chunk_word::count(now) == pages && wants_hint(now, chunk);
    }
    hint(t, chunk, hints);
    claim_together(t, c, held);
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

  /// How many nodes a queue needs that may hold so many chunks.
  [[nodiscard]] WYRM_HD std::uint64_t nodes_for(unsigned c, std::uint64_t chunks) const {
    std::uint32_t const each = queues_.entries_a_node(c);
    return each == 0 || chunks == 0 ? 0 : (chunks + each - 1) / each + 1;
  }
  /// Counts chunks as class c's. False, and nothing happens, if the queue needs more nodes for them; see keep().
  [[nodiscard]] WYRM_HD bool count_carved(std::uint64_t& chunks, unsigned c, std::uint32_t count) const {
    std::uint32_t const each = queues_.entries_a_node(c);
    std::uint64_t const wanted = count_more(chunks, c, count);
    if (each == 0 || nodes(c).load(exec::relaxed) >= wanted) return true;
    exec::atomic_ref<std::uint64_t>(chunks).fetch_sub(count, exec::relaxed);
    return false;
  }
  /// Chunks, or runs, that become class c's; collective. Returns how many of the first of them become nodes of the
  /// queue instead, so that it has room for the others. A queue may have nodes for all chunks of the pool: class c may
  /// have any number of them.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint32_t keep(Tile const t, chunk_pool_ref const& pool,
                                                         std::uint64_t& chunks, unsigned c, unsigned leader,
                                                         std::uint32_t first, std::uint32_t count) const {
    bool const leads = t.rank() == leader;
    std::uint32_t const run = detail::run_chunks(c);
    exec::atomic_ref<std::uint64_t> carved(chunks);
    std::uint64_t const wanted = leads ? no_more_than_most(c, count_more(chunks, c, count)) : 0;
    std::uint32_t kept = 0;
    if (queues_.entries_a_node(c) == 0) return kept;
    while (kept < count) {
      bool lacks = false;
      if (leads) {
        // Never more than there will be: somebody else would see enough.
        std::uint32_t now = nodes(c).load(exec::relaxed);
        while (now < wanted && !lacks)
          lacks = nodes(c).compare_exchange_strong(now, now + 1, exec::relaxed, exec::relaxed);
      }
      if (!t.shfl(lacks, leader)) break;
      // A node is one chunk; rather another one than a part of a run.
      chunk_range other{0, 0};
      if (leads && run > 1) other = pool.take(1);
      bool const own = t.shfl(other.count, leader) == 0;
      std::uint32_t const node = own ? first + kept * run : t.shfl(other.first, leader);
      install(t, pool, c, leader, node);
      if (own && leads && run > 1) pool.memory().give(node + 1, run - 1);
      kept += own;
    }
    if (leads && kept > 0) carved.fetch_sub(kept, exec::relaxed);
    return kept;
  }
  /// How many nodes the queue lacks for so many chunks more, while nobody else uses it; in the pool as it is, or at the
  /// most in one that grows.
  [[nodiscard]] WYRM_HD std::uint32_t nodes_lacking(std::uint64_t& chunks, unsigned c, std::uint32_t count,
                                                    bool pool_grows) const {
    std::uint64_t const carved = exec::atomic_ref<std::uint64_t>(chunks).load(exec::relaxed) + count;
    std::uint64_t const gone_now = static_cast<std::uint64_t>(std::int64_t{gone(c).load(exec::relaxed)});
    std::uint64_t const entries = pool_grows ? carved + gone_now : most_entries(c, carved, gone_now);
    std::uint64_t const wanted = no_more_than_most(c, nodes_for(c, entries));
    std::uint32_t const now = nodes(c).load(exec::relaxed);
    return wanted > now ? static_cast<std::uint32_t>(wanted) - now : 0;
  }
  /// Chunks become these nodes; collective.
  template <class Tile>
  WYRM_HD void add_nodes(Tile const& t, chunk_pool_ref const& pool, unsigned c, unsigned leader, std::uint32_t first,
                         std::uint32_t count) const {
    if (t.rank() == leader) nodes(c).fetch_add(count, exec::relaxed);
    for (std::uint32_t k = 0; k < count; ++k) install(t, pool, c, leader, first + k);
  }
  /// Gives the pool chunks all of whose pages are free, one a lane at most, whichever class has some; collective. False
  /// if none was found.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool reclaim(Tile const t, chunk_pool_ref const& pool,
                                                   detail::class_states<page_counts> states) const {
    unsigned some = 0;
    if (t.rank() == 0)
      while (some < Tile::size() && reclaim_one(pool, states)) ++some;
    return t.shfl(some, 0) > 0;
  }

 private:
  /// A chunk with free pages, on its way into the queue.
  struct token {
    std::uint32_t chunk = 0;
    std::uint32_t position = 0;
    bool is_there = false;
    bool has_position = false;
  };

  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> word(std::uint64_t chunk) const {
    return exec::atomic_ref<std::uint64_t>(words_[chunk]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> mask(std::uint64_t chunk, unsigned word) const {
    return exec::atomic_ref<std::uint64_t>(masks_[chunk * detail::mask_words + word]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> nodes(unsigned c) const {
    return exec::atomic_ref<std::uint32_t>(states_[c].nodes);
  }
  // How many entries a queue may have. A chunk that was taken away and is the class's again is in both numbers, but
  // there are no more entries than chunks: those of the pool as it is, or as it must grow for so many.
  [[nodiscard]] WYRM_HD std::uint64_t most_entries(unsigned c, std::uint64_t carved, std::uint64_t gone_now) const {
    std::uint64_t const all = chunks_ / detail::run_chunks(c);
    std::uint64_t const most = carved < all ? all : carved;
    return carved + gone_now < most ? carved + gone_now : most;
  }
  template <class Tile>
  WYRM_HD void install(Tile const& t, chunk_pool_ref const& pool, unsigned c, unsigned leader,
                       std::uint32_t node) const {
    queues_.install(t, pool, c, leader, node);
    if (t.rank() == leader) queues_.keep_emptied(c);
  }
  // Counts chunks as class c's; how many nodes its queue must have then.
  [[nodiscard]] WYRM_HD std::uint64_t count_more(std::uint64_t& chunks, unsigned c, std::uint32_t count) const {
    std::uint64_t const carved = exec::atomic_ref<std::uint64_t>(chunks).fetch_add(count, exec::acq_rel) + count;
    auto const gone_now = static_cast<std::uint64_t>(std::int64_t{gone(c).load(exec::acquire)});
    return nodes_for(c, most_entries(c, carved, gone_now));
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::int32_t> gone(unsigned c) const {
    return exec::atomic_ref<std::int32_t>(states_[c].gone);
  }
  // The most nodes are enough for every chunk. Chunks that were counted and not allocated can make the need look
  // larger.
  [[nodiscard]] WYRM_HD std::uint64_t no_more_than_most(unsigned c, std::uint64_t wanted) const {
    return wanted < queues_.most_nodes(c) ? wanted : queues_.most_nodes(c);
  }

  // A chunk has come out of the queue of class c. How many free pages it has for that class; the caller alone may now
  // lower their number.
  [[nodiscard]] WYRM_HD std::uint32_t leave_queue(unsigned c, std::uint64_t chunk) const {
    std::uint64_t const before = word(chunk).fetch_and(~detail::chunk_word::queued(c), exec::acq_rel);
    if (detail::chunk_word::is_of(before, c)) return detail::chunk_word::count(before);
    gone(c).fetch_sub(1, exec::relaxed);
    return 0;
  }
  // The same caller takes pages of those it saw there. Whether others are left, so that it must put the chunk back.
  [[nodiscard]] WYRM_HD bool lower(unsigned c, std::uint64_t chunk, std::uint32_t there, std::uint32_t taken) const {
    std::uint64_t const queued = detail::chunk_word::queued(c);
    if (there > taken) {
      word(chunk).fetch_add(queued - taken, exec::acq_rel);
      return true;
    }
    std::uint64_t const before = word(chunk).fetch_sub(taken, exec::acq_rel);
    if (detail::chunk_word::count(before) == taken) return false;  // who frees the next one puts it there
    word(chunk).fetch_or(queued, exec::acq_rel);
    return true;
  }

  // Whether who has seen this word, of a chunk that is wholly free, must leave a hint.
  [[nodiscard]] WYRM_HD bool wants_hint(std::uint64_t seen, std::uint32_t chunk) const {
    constexpr std::uint64_t hinted = detail::chunk_word::hinted;
    return (seen & hinted) == 0 && (word(chunk).fetch_or(hinted, exec::acq_rel) & hinted) == 0;
  }
  template <class Tile>
  WYRM_HD void hint(Tile const& t, std::uint32_t chunk, bool hints) const {
    if (!t.any(hints)) return;
    detail::lane_group const all = detail::group_by(t, 0, hints);
    std::uint32_t first = 0;
    if (all.led_by(t.rank())) first = hint_ends_->claim_back(all.size);
    first = t.shfl(first, all.leader);
    if (hints) hints_.put(first + all.rank, chunk);
  }

  // Positions for all lanes of a tile that have a chunk, neighbouring ones for those of the same class, if there is
  // room for all of these; collective. Else each tries alone.
  template <class Tile>
  WYRM_HD void claim_together(Tile const& t, unsigned c, token& held) const {
    if (!t.any(held.is_there)) return;
    detail::lane_group const mine = detail::group_by(t, c, held.is_there);
    bool const room = mine.led_by(t.rank()) && queues_.try_room(c, mine.size);
    std::uint32_t first = 0;
    if (room) first = states_[c].chunks.claim_back_uncounted(mine.size);
    held.has_position = t.shfl(room, mine.leader) && held.is_there;
    held.position = t.shfl(first, mine.leader) + mine.rank;
  }
  WYRM_HD void try_claim(unsigned c, token& held) const {
    if (held.has_position || !queues_.try_room(c, 1)) return;
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
        std::uint64_t bits = lowest_set(seen[i], left);
        // What the last user of these pages did is ordered before what ours do.
        if (bits != 0) bits &= mask(chunk, w).fetch_and(~bits, exec::acquire);
        left -= static_cast<std::uint32_t>(cuda::std::popcount(bits));
        bits = t.shfl(bits, mine.leader);
        auto const found = static_cast<std::uint32_t>(cuda::std::popcount(bits));
        unsigned const word = t.shfl(w, mine.leader);
        if (member && mine.rank >= first && mine.rank - first < found)
          page = from * pages + word * 64 + find_kth_set(bits, mine.rank - first);
        first += found;
      }
    }
  }

  // One thread gives one chunk, or run.
  [[nodiscard]] WYRM_HD bool reclaim_one(chunk_pool_ref const& pool, detail::class_states<page_counts> states) const {
    for (unsigned c = detail::page_classes; c-- > 0 && detail::pages_a_chunk(c) == 1;)
      if (reclaim_front(pool, states[c], c)) return true;
    for (std::uint32_t left = hint_ends_->length(); left > 0; --left) {
      if (!hint_ends_->take_one()) break;
      if (reclaim_hinted(pool, states, static_cast<std::uint32_t>(hints_.take(hint_ends_->claim_front(1)))))
        return true;
    }
    return false;
  }

  // Of a class whose pages are chunks, or runs: every one in the queue is wholly free.
  [[nodiscard]] WYRM_HD bool reclaim_front(chunk_pool_ref const& pool, detail::page_class_state<page_counts>& state,
                                           unsigned c) const {
    if (!state.pages.take_one()) return false;
    (void)state.pages.claim_front(1);
    std::uint32_t const position = states_[c].chunks.claim_front(1);
    std::uint64_t chunk = 0;
    std::uint32_t node = 0;
    for (unsigned attempt = 0; !queues_.try_take(c, position, chunk, node); ++attempt) exec::pause(attempt);
    detail::late_node late;
    queues_.finish_and_keep(exec::scalar_tile{}, c, node, position, true, late);
    for (unsigned attempt = 0; late.is_there; ++attempt) {
      exec::pause(attempt);
      queues_.try_publish(c, late);
    }
    word(chunk).fetch_and(~(detail::chunk_word::queued(c) | detail::chunk_word::owners | detail::chunk_word::counts),
                          exec::acq_rel);
    leave(pool, state, c, static_cast<std::uint32_t>(chunk));
    return true;
  }

  // If the chunk is still wholly free: it stays in the queue of its class, but belongs to nobody.
  [[nodiscard]] WYRM_HD bool reclaim_hinted(chunk_pool_ref const& pool, detail::class_states<page_counts> states,
                                            std::uint32_t chunk) const {
    using w = detail::chunk_word;
    std::uint64_t now = word(chunk).fetch_and(~w::hinted, exec::acq_rel) & ~w::hinted;
    for (;;) {
      if ((now & w::owners) == 0) return false;
      auto const c = static_cast<unsigned>((now & w::owners) >> 16) - 1;
      std::uint32_t const pages = detail::pages_a_chunk(c);
      // Not in the queue: who puts it there leaves another hint if it must.
      if (w::count(now) != pages || (now & w::queued(c)) == 0) return false;
      if (states[c].pages.take(pages) < pages) {
        // Others have a claim on these pages, or on as many.
        states[c].pages.give_back(pages);
        hint(exec::scalar_tile{}, chunk, wants_hint(now, chunk));
        return false;
      }
      if (word(chunk).compare_exchange_strong(now, now & ~(w::owners | w::counts), exec::acq_rel, exec::acquire)) {
        (void)states[c].pages.claim_front(pages);
        gone(c).fetch_add(1, exec::release);
        leave(pool, states[c], c, chunk);
        return true;
      }
      states[c].pages.give_back(pages);
      if ((now & w::hinted) != 0) return false;  // somebody else's hint
    }
  }
  // All its pages are free, and nobody has a claim on one: so nobody looks at its masks either.
  WYRM_HD void leave(chunk_pool_ref const& pool, detail::page_class_state<page_counts>& state, unsigned c,
                     std::uint32_t chunk) const {
    for (unsigned w = 0; w < (detail::pages_a_chunk(c) + 63) / 64; ++w) mask(chunk, w).store(0, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(state.chunks).fetch_sub(1, exec::acq_rel);
    pool.give_run(chunk, detail::run_chunks(c));
  }

  detail::chunk_queue_state* states_;
  std::uint64_t* words_;  // chunk_word, a chunk
  std::uint64_t* masks_;  // of a chunk, mask_words: which pages are free; none if it is no class's
  queue_ends* hint_ends_;
  index_ring hints_;  // chunks that were wholly free, each at most once
  Queues queues_;
  std::uint32_t chunks_;  // of the pool
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
        words_(space),
        masks_(space),
        hint_ends_(space, 1),
        hints_(space),
        queues_(space, pool.memory(), node_log2, true) {
    restart();
  }

  [[nodiscard]] ref_type ref() const {
    return {states_.data(), words_.data(), masks_.data(), hint_ends_.data(),
            hints_.ring(),  queues_.ref(), pool_.chunks()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return states_.bytes() + words_.bytes() + masks_.bytes() + hints_.bytes() + queues_.bytes();
  }
  void reset(std::vector<detail::page_class_state<page_counts>> const&) {
    auto const before = exec::copy_out(space_, states_.data(), detail::page_classes);
    queues_.reset(pool_.chunks(), [&](unsigned c) -> queue_ends const& { return before[c].chunks; });
    hints_.reset(pool_.chunks(), false, exec::read(space_, hint_ends_.data()));
    restart();
    if (covered_ > 0) clear(0, pool_.memory().touched());
    cover(pool_.chunks());
  }
  /// What a pool of so many chunks needs, to be passed to grow(); may throw.
  [[nodiscard]] auto prepare(std::uint32_t chunks) {
    cover(chunks);
    return std::pair(hints_.longer(chunks), queues_.prepare(chunks));
  }
  template <class Prepared, class Ends>
  void grow(Prepared prepared, Ends const&) {
    queue_ends ends = exec::read(space_, hint_ends_.data());
    hints_.move_to(std::move(prepared.first), ends);
    exec::write(space_, hint_ends_.data(), ends);
    queues_.grow(std::move(prepared.second), [this](unsigned c) { return &states_.data()[c].chunks; });
  }

  void compact(chunk_pool_ref const&, detail::class_states<page_counts>) {}  // reclaim() does
  [[nodiscard]] std::size_t spilled(unsigned) const { return 0; }

  /// Calls take(page, where) for each page of class c in the store.
  template <class Take>
  void check(char const* who, std::string const& what, unsigned c, detail::page_class_state<page_counts> const& state,
             std::vector<std::uint32_t> const& uses, Take const& take) const {
    using w = detail::chunk_word;
    std::uint32_t const pages = detail::pages_a_chunk(c);
    detail::chunk_queue_state const queue = exec::read(space_, states_.data() + c);
    if (state.chunks == 0 && state.pages.size() == 0 && queue.chunks.size() == 0) return;
    std::vector<std::uint64_t> const words = exec::copy_out(space_, words_.data(), uses.size());
    std::vector<std::uint64_t> const masks = exec::copy_out(space_, masks_.data(), uses.size() * detail::mask_words);
    std::vector<bool> queued(uses.size());
    for (std::uint64_t const chunk : queues_.entries(c, queue.chunks, who, what)) {
      ensure(chunk < uses.size(), who, what + "a queued chunk is not of the pool");
      ensure(!queued[chunk], who, what + "chunk " + std::to_string(chunk) + " is queued twice");
      queued[chunk] = true;
    }
    std::size_t stored = 0;
    std::int32_t gone = 0;
    std::uint64_t others = 0;  // entries that are chunks of other classes
    for (std::size_t chunk = 0; chunk < uses.size(); ++chunk) {
      auto const fail = [&](std::string const& why) {
        ensure(false, who, what + "chunk " + std::to_string(chunk) + why);
      };
      if (queued[chunk] != ((words[chunk] & w::queued(c)) != 0))
        fail(queued[chunk] ? " is queued without knowing it" : " is not queued");
      bool const is_of_c = w::is_of(words[chunk], c);
      if (is_of_c && uses[chunk] != c) fail(" is used for something else");
      gone += queued[chunk] && !is_of_c;
      others += queued[chunk] && uses[chunk] != c;
      if (uses[chunk] != c) continue;
      std::size_t bits = 0;
      for (std::uint32_t p = 0; p < pages; ++p) {
        if ((masks[chunk * detail::mask_words + p / 64] >> p % 64 & 1) == 0) continue;
        take(chunk * pages + p, "stored");
        ++bits;
      }
      std::uint32_t const count = w::count(words[chunk]);
      if (count > 0 && !is_of_c) fail(" has free pages, but is not of the class");
      if (bits != count) fail(" has " + std::to_string(bits) + " free pages, but counts " + std::to_string(count));
      if (bits > 0 && !queued[chunk]) fail(" has free pages, but is not queued");
      if (bits == pages && pages > 1 && (words[chunk] & w::hinted) == 0) fail(" is free without a hint");
      stored += bits;
    }
    ensure(stored == state.pages.size(), who, what + "free pages are not counted");
    ensure(gone == queue.gone, who, what + "chunks that are gone, and still queued, are not counted");
    std::uint64_t const nodes = ref().nodes_for(c, state.chunks + others);
    ensure(queue.nodes >= nodes, who,
           what + "a queue of " + std::to_string(queue.nodes) + " nodes, which needs " + std::to_string(nodes));
  }
  void check_queues(char const* who, std::vector<detail::page_class_state<page_counts>> const&) const {
    auto const states = exec::copy_out(space_, states_.data(), detail::page_classes);
    queues_.check(who, pool_, [&](unsigned c) -> queue_ends const& { return states[c].chunks; });
    std::vector<std::uint64_t> words = exec::copy_out(space_, words_.data(), pool_.chunks());
    for (std::uint64_t const chunk : hints_.entries(exec::read(space_, hint_ends_.data()), who, "hints: ")) {
      ensure(chunk < words.size() && (words[chunk] & detail::chunk_word::hinted) != 0, who, "a hint is there twice");
      words[chunk] &= ~detail::chunk_word::hinted;
    }
    for (std::uint64_t const word : words) ensure((word & detail::chunk_word::hinted) == 0, who, "a hint is lost");
    std::vector<std::uint64_t> const masks = exec::copy_out(space_, masks_.data(), words.size() * detail::mask_words);
    for (std::size_t i = 0; i < masks.size(); ++i)
      ensure(masks[i] == 0 || (words[i / detail::mask_words] & detail::chunk_word::owners) != 0, who,
             "chunk " + std::to_string(i / detail::mask_words) + " has free pages, but no class");
  }

 private:
  void restart() {
    std::vector<detail::chunk_queue_state> const fresh(detail::page_classes);
    exec::copy_in<detail::chunk_queue_state>(space_, states_.data(), fresh);
    exec::write(space_, hint_ends_.data(), queue_ends{});
  }
  void cover(std::uint32_t chunks) {
    masks_.cover(std::size_t{chunks} * detail::mask_words);
    words_.cover(chunks);
    if (chunks <= covered_) return;
    clear(covered_, chunks - covered_);
    covered_ = chunks;
  }
  void clear(std::size_t first, std::size_t chunks) {
    space_.fill(words_.data() + first, 0, chunks * sizeof(std::uint64_t));
    space_.fill(masks_.data() + first * detail::mask_words, 0, chunks * detail::mask_words * sizeof(std::uint64_t));
  }

  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<detail::chunk_queue_state, Space> states_;
  pool_table<std::uint64_t, Space> words_;
  pool_table<std::uint64_t, Space> masks_;
  exec::buffer<queue_ends, Space> hint_ends_;
  ring_memory<Space> hints_;
  Queues queues_;
  std::uint32_t covered_ = 0;  // chunks whose words and masks are initialised
};

}  // namespace wyrm::alloc
