// SPDX-License-Identifier: Apache-2.0
// Allocators for any size over pools that threads search at random ("Dynamic Buffer Management in Massively Parallel
// Systems: The Power of Randomness", ACM TOPC 12(1), 2025): a pool for each size of pages, 16 bytes to 1 MiB, which
// grows by spans (spans.hpp) out of alloc/extent and gives them back; larger requests go there at once. The paper has
// pools of a fixed number of pages of one size.
//
// Who finds nothing after so many pages that less than 1 in 20 seems free (section 3.2.3) takes more memory, as long as
// there is some. After that it searches until less than 1 in 1000 seems free. Then the lock of the size decides: its
// holder sweeps over all pages, gives back spans of other sizes that are wholly free, and takes them; if there is
// nothing, that holds for all who waited.
//
// Who waits for whom: for the lock of a size, on its holder, who waits for the extent's lock at most; nobody waits with
// that. Searches and frees wait for nobody.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../extent/extent.hpp"
#include "../ledger.hpp"
#include "../pool_table.hpp"
#include "../sequence_lock.hpp"
#include "../size_classes.hpp"
#include "search.hpp"
#include "spans.hpp"
#include "theory.hpp"
#include "used_pages.hpp"
#include "walk.hpp"

namespace wyrm::alloc {

namespace detail {

/// Where the words of all sizes lie: for each 64 spans a group, in which a size has as many words as 64 of its spans
/// have pages, by the bits of a word. So the words grow with the pool, whatever sizes it will have.
struct in_groups {
  unsigned log2;         // words of this size in a group
  std::uint32_t offset;  // of the first
  std::uint32_t stride;  // words of all sizes in a group
  static constexpr unsigned spans = 64;
  /// Pages of a span, of all sizes below c.
  static constexpr std::uint32_t pages_below(unsigned c) {
    std::uint32_t sum = 0;
    for (unsigned k = 0; k < c; ++k) sum += pages_a_chunk(k);
    return sum;
  }
  template <class Used>
  WYRM_HD static in_groups of(unsigned c) {
    constexpr unsigned shared = spans / Used::bits;  // words for one page of each span
    constexpr std::uint32_t all = pages_below(page_classes);
    constexpr std::uint32_t smallest = pages_a_chunk(0);
    std::uint32_t const pages = pages_a_chunk(c);
    std::uint32_t const below =
        pages > 1 ? 2 * (smallest - pages) : 2 * smallest - 2 + (c - (chunk_log2 - smallest_page_log2));
    return {static_cast<unsigned>(cuda::std::countr_zero(pages * shared)), below * shared, all * shared};
  }
  WYRM_HD std::uint64_t operator()(std::uint64_t p) const {
    return (p >> log2) * stride + offset + (p & ((std::uint64_t{1} << log2) - 1));
  }
};

/// The pages that threads got last, and their sizes.
inline constexpr std::size_t last_pages = std::size_t{1} << 18;

}  // namespace detail

/// For kernels. Used: which pages are used, by layout.
template <template <class> class UsedOf, page_search How>
class random_walk_ref {
 public:
  using used_type = UsedOf<detail::in_groups>;
  using word = typename used_type::word;
  using pool_ref = page_pool_ref<used_type, How>;

  /// What the owner has for it.
  struct parts {
    extent_ref memory;
    ledger_ref ledger;
    detail::span_state* states;  // a size
    std::uint32_t* table;        // an entry for each span and size
    std::uint32_t* owners;
    word* used;
    word* lock_map;
    std::uint32_t* calls;
    std::uint64_t* last;
    std::uint64_t seed;
    std::uint32_t patience_to_grow;  // pages seen in vain
    std::uint32_t patience;          // the same, when there is no memory to grow
  };

  explicit random_walk_ref(parts const& p) : parts_(p) {}

  /// Collective; one request a lane, 0 = none.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes) const {
    bool const is_paged = bytes > 0 && bytes <= detail::largest_page;
    unsigned const c = is_paged ? detail::class_for(bytes) : 0;
    std::uint64_t page = pool_ref::no_page;
    if (t.any(is_paged)) page = find(t, c, is_paged);
    void* result = nullptr;
    if (page != pool_ref::no_page) result = address(c, page);
    for (std::uint32_t lanes = t.ballot(bytes > detail::largest_page); lanes != 0; lanes &= lanes - 1) {
      unsigned const lane = exec::first_lane(lanes);
      void* const p = allocate_large(t, t.shfl(bytes, lane));
      if (t.rank() == lane) result = p;
    }
    if (bytes > 0 && result == nullptr) parts_.ledger.count_failures(1);
    parts_.ledger.note_allocation(result, bytes);
    return result;
  }

  /// Collective; one pointer a lane, nullptr = none.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    std::uint64_t page = 0;
    unsigned const c = class_of_live(p, page);
    if (c < detail::page_classes) used(c, 0).put(page);
    extent_ref::one_by_one(t, t.ballot(c == large), [&] {
      if (!parts_.memory.free(p)) parts_.ledger.count_bad_free();
    });
  }

  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes) const { return allocate(exec::scalar_tile{}, bytes); }
  WYRM_HD void free(void* p) const { deallocate(exec::scalar_tile{}, p); }

  /// Spans of any size but this one that are wholly free go to the extent, some of them; collective. False if there are
  /// none.
  template <class Tile>
  WYRM_HD bool reclaim(Tile const& t, unsigned but) const {
    for (unsigned c = 0; c < detail::page_classes; ++c)
      if (c != but && spans(c).give_back(t)) return true;
    return false;
  }

 private:
  static constexpr unsigned large = detail::page_classes;
  static constexpr unsigned no_class = detail::page_classes + 1;

  [[nodiscard]] WYRM_HD used_type used(unsigned c, std::uint32_t spans) const {
    return {parts_.used, parts_.lock_map, std::uint64_t{spans} * detail::pages_a_chunk(c),
            detail::in_groups::of<used_type>(c)};
  }
  [[nodiscard]] WYRM_HD spans_ref<used_type> spans(unsigned c) const {
    return {parts_.memory,
            parts_.states[c],
            {c, static_cast<unsigned>(cuda::std::countr_zero(detail::pages_a_chunk(c))), detail::run_chunks(c),
             parts_.table + c, detail::page_classes, parts_.owners},
            used(c, 0)};
  }
  [[nodiscard]] WYRM_HD void* address(unsigned c, std::uint64_t page) const {
    std::uint32_t const pages = detail::pages_a_chunk(c);
    std::uint64_t const chunk = spans(c).chunk(static_cast<std::uint32_t>(page / pages));
    return parts_.memory.base() + chunk * chunk_bytes + (page % pages) * detail::page_bytes(c);
  }

  // A page of class c for each lane that asks, or no_page; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t find(Tile const& t, unsigned c, bool asks) const {
    std::uint64_t page = pool_ref::no_page;
    walk w = begin(t, c);
    std::uint32_t left = t.ballot(asks);
    unsigned const first = t.shfl(c, exec::first_lane(left));
    if (t.any(asks && c != first)) {  // each for itself, to begin with
      if (std::uint32_t const n = spans(c).count(exec::scalar_tile{}); asks && n > 0)
        pool_ref(used(c, n), parts_.patience_to_grow).search_alone(w, asks, page);
    } else if (std::uint32_t const n = spans(first).count(t); n > 0) {
      pool_ref(used(first, n), parts_.patience_to_grow).search(t, w, asks, page);
    }
    for (left = t.ballot(asks); left != 0;) {
      unsigned const one = t.shfl(c, exec::first_lane(left));
      bool const mine = asks && c == one;
      page = serve(t, one, w, mine, page);
      left &= ~t.ballot(mine);
    }
    remember(t, c, page);
    return page;
  }

  // The same for lanes that want the same class, and did not find it easily. What is passed by value stays in
  // registers.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint64_t serve(Tile const t, unsigned c, walk w, bool asks,
                                                          std::uint64_t page) const {
    spans_ref<used_type> const all = spans(c);
    sequence_lock lock(all.lock());
    for (unsigned attempt = 0;; ++attempt) {
      std::uint32_t const n = all.count(t);
      bool const grows = !t.shfl(parts_.memory.looks_used_up(), 0);
      pool_ref const pool(used(c, n), grows ? parts_.patience_to_grow : parts_.patience);
      if (n > 0) pool.search(t, w, asks, page);
      // Lanes that fill spans take them at once; the others see that they are not too many who take more.
      if (std::uint32_t const whole = number(t.ballot(asks)) / all.pages(); grows && whole > 0)
        (void)all.append(t, whole, false, asks, page);
      if (!t.any(asks)) return page;
      sequence_lock::outcome turn = sequence_lock::outcome::wait;
      if (t.rank() == 0) turn = lock.try_take();
      turn = t.shfl(turn, 0);
      if (turn == sequence_lock::outcome::nothing_left) return page;
      if (turn == sequence_lock::outcome::wait) {
        t.backoff(attempt);
        continue;
      }
      bool const some = all.count(t) != n || grow(t, all, c, w, asks, page);
      t.sync();
      if (t.rank() == 0) {
        if (some)
          lock.unlock();
        else
          lock.unlock_with_nothing_left();
      }
      if (!some || !t.any(asks)) return page;
    }
  }
  WYRM_HD static std::uint32_t number(std::uint32_t lanes) {
    return static_cast<std::uint32_t>(cuda::std::popcount(lanes));
  }
  // By the tile that has the lock. False if there is nothing left.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool grow(Tile const& t, spans_ref<used_type> const& all, unsigned c, walk& w, bool& asks,
                                  std::uint64_t& page) const {
    for (bool swept = false;;) {
      if (all.append(t, t.shfl(all.batch(number(t.ballot(asks))), 0), true, asks, page).count > 0) return true;
      std::uint32_t const n = all.count(t);
      std::uint32_t const before = t.ballot(asks);
      if (!swept && n > 0) pool_ref(used(c, n), 0).sweep(t, w, asks, page);
      swept = true;
      if (t.ballot(asks) != before) return true;
      if (!reclaim(t, c)) return false;
    }
  }

  // One that no class serves; collective, one request for all lanes.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* allocate_large(Tile const t, std::size_t bytes) const {
    if (bytes > std::size_t{parts_.memory.chunks()} * chunk_bytes) return nullptr;
    for (;;) {
      void* p = nullptr;
      if (t.rank() == 0) p = parts_.memory.allocate(bytes);
      p = t.shfl(p, 0);
      if (p != nullptr || !reclaim(t, no_class)) return p;
    }
  }

  // The class of the page at p, and its number. A pointer that cannot be a page or a run is counted and left alone.
  WYRM_HD unsigned class_of_live(void* p, std::uint64_t& page) const {
    if (p == nullptr) return no_class;
    auto const offset = static_cast<std::uint64_t>(static_cast<std::byte*>(p) - parts_.memory.base());
    unsigned c = no_class;
    if (parts_.memory.contains(p) && offset % alignment == 0) {
      std::uint32_t const word =
          exec::atomic_ref<std::uint32_t>(parts_.owners[offset / chunk_bytes]).load(exec::relaxed);
      auto const [index, pool] = detail::span_owner::of(word);
      std::uint64_t const in_span = offset % chunk_bytes;
      if (word == detail::no_chunk_here) {
        c = large;
      } else if (in_span % detail::page_bytes(pool) == 0) {
        c = pool;
        page = std::uint64_t{index} * detail::pages_a_chunk(pool) + in_span / detail::page_bytes(pool);
      }
    }
    if (c == no_class) parts_.ledger.count_bad_free();
    return c != no_class && parts_.ledger.note_free(p) ? c : no_class;
  }

  // A walk that goes on where the thread's last one ended.
  template <class Tile>
  [[nodiscard]] WYRM_HD walk begin(Tile const& t, [[maybe_unused]] unsigned c) const {
    walk w = next_walk(t, parts_.seed, parts_.calls);
    if constexpr (How == page_search::nearby) {
      std::uint64_t const last =
          exec::atomic_ref<std::uint64_t>(parts_.last[exec::thread_number(t) % detail::last_pages]).load(exec::relaxed);
      if (last % detail::span_owner::pools == c) w.last = last / detail::span_owner::pools;
    }
    return w;
  }
  template <class Tile>
  WYRM_HD void remember([[maybe_unused]] Tile const& t, [[maybe_unused]] unsigned c,
                        [[maybe_unused]] std::uint64_t page) const {
    if constexpr (How == page_search::nearby) {
      if (page == pool_ref::no_page) return;
      exec::atomic_ref<std::uint64_t>(parts_.last[exec::thread_number(t) % detail::last_pages])
          .store(page * detail::span_owner::pools + c, exec::relaxed);
    }
  }

  parts parts_;
};

namespace detail {
/// Whatever is wholly free goes to the extent.
template <class Ref>
struct give_back_all {
  Ref ref;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    while (ref.reclaim(t, page_classes)) continue;
  }
};
}  // namespace detail

/// Owns the memory, and what says which pages are used: 1 / 63 of the pool for bits, half as much as the pool for flags
/// (a word of 4 bytes for 16 bytes, and so on), 68 bytes a chunk for the tables.
template <class Space, template <class> class UsedOf, page_search How>
class random_walk {
 public:
  using space_type = Space;
  using ref_type = random_walk_ref<UsedOf, How>;
  static constexpr bool has_flags = ref_type::used_type::bits == 1;
  static constexpr char const* name = has_flags                      ? "rw"
                                      : How == page_search::alone    ? "rw-bm"
                                      : How == page_search::together ? "corw"
                                                                     : "crw";
  static constexpr traits family{};

  random_walk(Space const& space, options const& o)
      : space_(space),
        memory_(space, o),
        ledger_(space, memory_.base(), memory_.capacity(), o.checked),
        states_(space, detail::page_classes),
        table_(space, memory_.capacity() / chunk_bytes * detail::page_classes),
        owners_(space, memory_.capacity() / chunk_bytes),
        used_(space, words(static_cast<std::uint32_t>(memory_.capacity() / chunk_bytes))),
        lock_map_(space, lock_words(static_cast<std::uint32_t>(memory_.capacity() / chunk_bytes))),
        calls_(space, call_counters),
        last_(space, How == page_search::nearby ? detail::last_pages : 1) {
    cover(memory_.chunks());
    start(0);
    ledger_.cover(memory_.bytes());
    ledger_.reset();
    restart();
  }

  [[nodiscard]] ref_type ref() const {
    return ref_type({memory_.ref(), ledger_.ref(), states_.data(), table_.data(), owners_.data(), used_.data(),
                     lock_map_.data(), calls_.data(), last_.data(), 1, patience(0.05), patience(0.001)});
  }

  /// O(what was used).
  void reset() {
    space_.fill(owners_.data(), 0xff, memory_.touched() * sizeof(std::uint32_t));
    std::uint32_t most = 0;
    for (detail::span_state const& s : states()) most = std::max(most, s.count);
    clear(0, most);
    memory_.reset();
    ledger_.reset();
    restart();
  }

  void grow(std::size_t bytes) {
    std::uint32_t const before = memory_.chunks();
    std::uint32_t const after = memory_.chunks_after(bytes);
    cover(after);  // all that can fail comes before anything changes
    ledger_.cover(std::size_t{after} * chunk_bytes);
    memory_.grow(bytes);
    start(before);
  }

  void compact() { exec::for_each_tile<32>(space_, 1, detail::give_back_all<ref_type>{ref()}); }

  [[nodiscard]] statistics stats() const {
    statistics s;
    ledger_.report(s);
    s.committed = memory_.bytes();
    s.reserved = memory_.capacity();
    s.peak = memory_.peak();
    s.overhead = memory_.overhead() + ledger_.bytes() + states_.bytes() + table_.bytes() + owners_.bytes() +
                 used_.bytes() + lock_map_.bytes() + calls_.bytes() + last_.bytes();
    s.granted = memory_.allocated();
    contents const all = copy();
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      detail::span_state const& state = all.states[c];
      std::uint64_t const pages = std::uint64_t{state.count} * detail::pages_a_chunk(c);
      std::uint64_t const here = pages - std::uint64_t{state.holes} * detail::pages_a_chunk(c);
      class_statistics const k{detail::page_bytes(c), here, all.free(c, pages)};
      s.granted += (k.pages - k.free) * k.page_bytes;
      s.classes.push_back(k);
    }
    return s;
  }

  /// Each chunk has one owner, which knows it; holes are counted and have no free page; nobody is at work; in checked
  /// mode every used page is live, and nothing else is. O(pool).
  void check() const {
    contents const all = copy();
    std::vector<bool> carved(memory_.chunks());
    std::vector<bool> used(memory_.bytes() / alignment);  // by its first 16 bytes
    std::size_t owned = 0;
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      std::string const what = "class of " + std::to_string(detail::page_bytes(c)) + " bytes: ";
      detail::span_state const& state = all.states[c];
      ensure(state.lock % 2 == 0, name, what + "the lock is held although nobody is at work");
      std::uint32_t holes = 0;
      for (std::uint32_t span = 0; span < state.count; ++span) {
        std::uint32_t const chunk = all.chunk(c, span);
        bool const hole = chunk == detail::no_chunk_here;
        holes += hole;
        if (!hole) owned += take_span(all, c, span, chunk, carved, what);
        for (std::uint32_t i = 0; i < detail::pages_a_chunk(c); ++i) {
          bool const is_used = all.is_used(c, span, i);
          if (hole && !is_used) ensure(false, name, what + "a page of a hole is free");
          if (!hole && is_used) used[(chunk * chunk_bytes + i * detail::page_bytes(c)) / alignment] = true;
        }
      }
      ensure(holes == state.holes, name,
             what + std::to_string(holes) + " holes, " + std::to_string(state.holes) + " counted");
    }
    std::size_t const known = all.owners.size() - static_cast<std::size_t>(std::count(
                                                      all.owners.begin(), all.owners.end(), detail::no_chunk_here));
    ensure(known == owned, name, "chunks have owners that do not have them");
    memory_.check(carved);
    for (std::uint64_t const locks :
         exec::copy_out(space_, lock_map_.data(), used_type::locks ? all.used.size() / 64 : 0))
      ensure(locks == 0, name, "a word is locked although nobody is at work");
    if (ledger_.checked()) check_live(all, used);
  }

 private:
  using used_type = typename ref_type::used_type;
  using word = typename ref_type::word;

  // A copy of what is on the device.
  struct contents {
    std::vector<detail::span_state> states;
    std::vector<std::uint32_t> table;
    std::vector<std::uint32_t> owners;
    std::vector<word> used;
    [[nodiscard]] std::uint32_t chunk(unsigned c, std::uint32_t span) const {
      return table[std::size_t{span} * detail::page_classes + c];
    }
    // How many of a size; those beyond its last are used, and so are those of holes.
    [[nodiscard]] std::size_t free(unsigned c, std::uint64_t pages) const {
      detail::in_groups const place = detail::in_groups::of<used_type>(c);
      std::size_t n = 0;
      for (std::uint64_t p = 0; p * used_type::bits < pages; ++p)
        n += used_type::bits == 1 ? used[place(p)] == 0
                                  : static_cast<std::size_t>(std::popcount(static_cast<word>(~used[place(p)])));
      return n;
    }
    [[nodiscard]] bool is_used(unsigned c, std::uint32_t span, std::uint32_t i) const {
      std::uint64_t const page = std::uint64_t{span} * detail::pages_a_chunk(c) + i;
      return (used[detail::in_groups::of<used_type>(c)(page / used_type::bits)] >> page % used_type::bits & 1) != 0;
    }
  };
  [[nodiscard]] std::vector<detail::span_state> states() const {
    return exec::copy_out(space_, states_.data(), detail::page_classes);
  }
  [[nodiscard]] contents copy() const {
    contents all;
    all.states = states();
    std::uint32_t most = 0;
    for (detail::span_state const& s : all.states) most = std::max(most, s.count);
    all.table = exec::copy_out(space_, table_.data(), std::size_t{most} * detail::page_classes);
    all.owners = exec::copy_out(space_, owners_.data(), memory_.chunks());
    all.used = exec::copy_out(space_, used_.data(), words(most));
    return all;
  }

  // Marks the chunks of a span, which nobody else may have.
  [[nodiscard]] std::size_t take_span(contents const& all, unsigned c, std::uint32_t span, std::uint32_t chunk,
                                      std::vector<bool>& carved, std::string const& what) const {
    ensure(chunk + std::size_t{detail::run_chunks(c)} <= carved.size(), name, what + "a span goes beyond the pool");
    ensure(all.owners[chunk] == detail::span_owner{span, c}.word(), name,
           what + "chunk " + std::to_string(chunk) + " does not know its span");
    for (std::uint32_t k = 0; k < detail::run_chunks(c); ++k) {
      ensure(!carved[chunk + k], name, what + "chunk " + std::to_string(chunk + k) + " belongs to two spans");
      carved[chunk + k] = true;
    }
    return 1;
  }
  void check_live(contents const& all, std::vector<bool>& used) const {
    std::size_t runs = 0;
    for (std::size_t const offset : ledger_.live_offsets()) {
      if (all.owners[offset / chunk_bytes] == detail::no_chunk_here) {
        ++runs;  // whose chunks the extent has checked
        continue;
      }
      ensure(used[offset / alignment], name, "the live page at offset " + std::to_string(offset) + " is also free");
      used[offset / alignment] = false;
    }
    std::size_t const lost = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
    ensure(lost == 0, name, std::to_string(lost) + " pages are neither live nor free");
    ensure(runs == memory_.runs(), name, "a run of chunks is lost");
  }

  static std::uint32_t patience(double share) {
    return static_cast<std::uint32_t>(std::ceil(theory::pages_until_given_up(share)));
  }
  // Of a pool of so many chunks.
  static std::size_t words(std::uint32_t chunks) {
    constexpr unsigned spans = detail::in_groups::spans;
    std::size_t const groups = (chunks + spans - 1) / spans;
    return groups * detail::in_groups::pages_below(detail::page_classes) * spans / used_type::bits;
  }
  static std::size_t lock_words(std::uint32_t chunks) {
    return used_type::locks ? words(chunks) / used_type::bits + 1 : 1;
  }
  void cover(std::uint32_t chunks) {
    table_.cover(std::size_t{chunks} * detail::page_classes);
    owners_.cover(chunks);
    used_.cover(words(chunks));
    lock_map_.cover(lock_words(chunks));
  }
  // Chunks that are new, from here on.
  void start(std::uint32_t first) {
    std::uint32_t const chunks = memory_.chunks();
    static_assert(detail::no_chunk_here == 0xffffffff);
    space_.fill(owners_.data() + first, 0xff, (chunks - first) * sizeof(std::uint32_t));
    std::size_t const begin = first == 0 ? 0 : lock_words(first);
    if (lock_words(chunks) > begin)
      space_.fill(lock_map_.data() + begin, 0, (lock_words(chunks) - begin) * sizeof(word));
    clear(first, chunks);
  }
  // There are no spans from one to another.
  void clear(std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    space_.fill(table_.data() + std::size_t{from} * detail::page_classes, detail::not_yet,
                std::size_t{to - from} * detail::page_classes * sizeof(std::uint32_t));
    std::size_t const begin = from == 0 ? 0 : words(from);  // the last of a group may have been there before
    space_.fill(used_.data() + begin, detail::all_used, (words(to) - begin) * sizeof(word));
  }
  void restart() {
    space_.fill(states_.data(), 0, states_.bytes());
    space_.fill(calls_.data(), 0, calls_.bytes());
    space_.fill(last_.data(), 0xff, last_.bytes());
  }

  Space space_;
  extent<Space> memory_;
  ledger<Space> ledger_;
  exec::buffer<detail::span_state, Space> states_;
  pool_table<std::uint32_t, Space> table_;
  pool_table<std::uint32_t, Space> owners_;
  pool_table<word, Space> used_;
  pool_table<word, Space> lock_map_;
  exec::buffer<std::uint32_t, Space> calls_;
  exec::buffer<std::uint64_t, Space> last_;
};

namespace detail {
template <class Layout>
using unlocked_bits = used_bits_ref<std::uint64_t, false, Layout>;
template <class Layout>
using locked_bits = used_bits_ref<std::uint64_t, true, Layout>;
}  // namespace detail

template <class Space>
using rw = random_walk<Space, used_flags_ref, page_search::alone>;
template <class Space>
using rw_bm = random_walk<Space, detail::locked_bits, page_search::alone>;
template <class Space>
using corw = random_walk<Space, detail::unlocked_bits, page_search::together>;
template <class Space>
using crw = random_walk<Space, detail::unlocked_bits, page_search::nearby>;

}  // namespace wyrm::alloc
