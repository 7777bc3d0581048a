// SPDX-License-Identifier: Apache-2.0
// AlignMalloc ("AlignMalloc: Warp-Aware Memory Rearrangement Aligned With UVM Prefetching for Large-Scale GPU Dynamic
// Allocations", TPDS 2025): a host thread serves the requests of warps while kernels run, and places the memory of each
// warp so that the prefetching of unified memory does not mix warps. align_ref.hpp describes the device side,
// mailbox.hpp the communication, and portion_space.hpp the placement and its differences from the paper. This file
// contains the owner.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../fragmentation.hpp"
#include "../ledger.hpp"
#include "../pool_table.hpp"
#include "../shared_view.hpp"
#include "align_ref.hpp"
#include "mailbox.hpp"
#include "portion_space.hpp"
#include "service.hpp"

namespace wyrm::alloc {

/// Parameters of AlignMalloc.
struct align_parameters {
  bool pack = true;         // if no place keeps warps apart: use the padding between them; false: refuse
  std::uint32_t slots = 0;  // requests under way at the same time, up to 65536; 0: 16 per multiprocessor
  std::chrono::nanoseconds limit = std::chrono::seconds(10);  // that a request waits for the host; then it is refused
};

namespace detail {

/// What the thread of the host serves: the mailbox of a pool, from the spaces of the pool.
template <class Space>
class align_host final : public served_by_host {
 public:
  align_host(Space const& space, std::uint32_t pages, std::uint32_t slots, align_parameters const& p)
      : service_(host_service::instance()),
        mailbox_(space, slots, static_cast<std::uint64_t>(p.limit.count())),
        spaces_(pages, p.pack) {}
  ~align_host() { stop(); }
  align_host(align_host const&) = delete;
  align_host& operator=(align_host const&) = delete;

  void start() {
    if (is_serving_) return;
    // Who made the requests that are there has given them up.
    use([this](auto& box, auto&) {
      box.serve([this](mail const& m) {
        return m.what() == mail::kind::allocate ? mail(0, mail::kind::refused, 0) : answer(m);
      });
      box.set_serving(true);
    });
    try {
      service_.add(*this);
    } catch (...) {
      use([](auto& box, auto&) { box.set_serving(false); });
      throw;
    }
    is_serving_ = true;
  }
  void stop() noexcept {
    if (!is_serving_) return;
    service_.remove(*this);
    use([](auto& box, auto&) { box.set_serving(false); });
    is_serving_ = false;
  }
  [[nodiscard]] bool is_serving() const { return is_serving_; }

  bool serve() noexcept override {
    if (waiting_.load() > 0) return false;
    std::unique_lock const lock(mutex_, std::try_to_lock);  // other pools do not wait while the owner of this one works
    return lock.owns_lock() && answer_all();
  }
  /// The same at once, for the owner.
  void settle() {
    std::unique_lock const lock = stop_serving();
    (void)answer_all();
  }
  /// Calls f(mailbox, spaces), with no request being served meanwhile. So f must not wait for kernels, which may wait
  /// for an answer.
  template <class F>
  auto use(F const& f) {
    std::unique_lock const lock = stop_serving();
    return f(mailbox_, spaces_);
  }
  // What does not change, or is in memory of the device.
  [[nodiscard]] mailbox_ref ref() const { return mailbox_.ref(); }
  [[nodiscard]] std::uint64_t unanswered() const { return mailbox_.unanswered(); }
  void unclaim_all() { mailbox_.unclaim_all(); }
  [[nodiscard]] std::size_t bytes() const { return mailbox_.bytes(); }

 private:
  // A mutex is not fair, so the thread that polls leaves it alone while others want it.
  [[nodiscard]] std::unique_lock<std::mutex> stop_serving() {
    waiting_.fetch_add(1);
    std::unique_lock lock(mutex_);
    waiting_.fetch_sub(1);
    return lock;
  }
  bool answer_all() {
    return mailbox_.serve([this](mail const& m) { return answer(m); });
  }
  [[nodiscard]] mail answer(mail const& m) {
    if (m.what() == mail::kind::free) {
      bool const is_freed = spaces_.free(m.value());
      return {0, is_freed ? mail::kind::done : mail::kind::refused, 0};
    }
    std::uint32_t const first = m.value() > 0 ? spaces_.allocate(m.value()) : portion_space::none;
    return {0, first != portion_space::none ? mail::kind::space : mail::kind::refused, first};
  }

  host_service& service_;
  bool is_serving_ = false;
  std::atomic<int> waiting_ = 0;
  std::mutex mutex_;  // of the host's side of the mailbox, and of the spaces
  mailbox<Space> mailbox_;
  portion_space spaces_;
};

}  // namespace detail

/// Owner of the pool. Beside the pool it has 12 bytes per page of 4 KiB and 4 bytes per slot in memory of the space,
/// and in host memory about .3 bytes per page, 5 more from the first packed space on, and 24 per slot. Blocks are
/// multiples of 4 KiB, and aligned to 4 KiB. Blocks that a tile requests together are adjacent; their memory is free
/// when all of them are.
template <class Space>
class align_malloc {
 public:
  using space_type = Space;
  using view_type = align_ref;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = "align-malloc";
  static constexpr traits family{.unit_bytes = align_page_bytes};

  /// Throws error(bad_argument) for impossible parameters.
  align_malloc(Space const& space, options const& o, align_parameters const& parameters = {})
      : space_(space),
        memory_(reserve_pool(space, o)),
        entries_(space),
        live_(space),
        ledger_(space, memory_.data(), memory_.capacity(), o),
        shared_(space) {
    memory_.commit(std::max<std::size_t>(o.pool_bytes, 1));
    bytes_ = memory_.committed();
    extend_tables(bytes_);
    host_ = std::make_unique<detail::align_host<Space>>(space, pages(), slots_for(space, parameters), parameters);
    shared_.write(view());
    start();
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const {
    return {memory_.data(), pages(), entries_.data(), live_.data(), host_->ref(), ledger_.ref()};
  }

  /// Whether the thread of the host serves this pool, as it does after the construction.
  [[nodiscard]] bool is_serving() const { return host_->is_serving(); }
  /// Serves the pool again. Throws error(out_of_memory) if the system refuses a thread.
  void start() {
    try {
      host_->start();
    } catch (std::system_error const& e) {
      throw error(error_code::out_of_memory,
                  std::string(name) + ": no thread for the requests of kernels: " + e.what());
    }
  }
  /// Ends serving the pool, also while kernels use it: their requests are refused, and what they free is free after
  /// the next call of any other function of the owner.
  void stop() noexcept { host_->stop(); }
  /// Requests, of memory and of frees, that the host did not answer in time or that came while it was stopped.
  [[nodiscard]] std::uint64_t unanswered() const { return host_->unanswered(); }

  /// O(pool / 4 KiB).
  void reset() {
    recover();
    host_->use([](auto&, portion_space& spaces) { spaces.reset(); });
    space_.fill(entries_.data(), 0, entries_.bytes());
    space_.fill(live_.data(), 0, live_.bytes());
    ledger_.reset();
  }
  /// Takes all memory of the space that grow(bytes) needs, so that it cannot be refused there. The pool stays as it is,
  /// also if this throws error(out_of_memory). O(pool / 4 KiB).
  void prepare(std::size_t bytes) {
    recover();
    auto const take = [&] {
      std::size_t const after = size_after(bytes);
      extend_tables(after);
      memory_.commit(after);
    };
    shared_.rewrite_after(take, [&] { return view(); });
  }
  /// O(pool / 4 KiB).
  void grow(std::size_t bytes) {
    prepare(bytes);
    std::size_t const after = size_after(bytes);
    host_->use([&](auto&, portion_space& spaces) { spaces = spaces.grown(pages_in(after)); });
    bytes_ = after;
    shared_.write(view());
  }
  /// Nothing to do: free memory belongs to no size class.
  void compact() { recover(); }

  [[nodiscard]] statistics stats() const {
    recover();
    statistics s;
    ledger_.report(s);
    s.committed = bytes_;
    s.reserved = memory_.capacity();
    host_->use([&](auto&, portion_space const& spaces) {
      s.granted = std::size_t{spaces.used()} * align_page_bytes;
      s.peak = std::size_t{spaces.peak()} * align_page_bytes;
    });
    s.overhead = entries_.bytes() + live_.bytes() + host_->bytes() + ledger_.bytes() + shared_.bytes();
    detail::add_fragmentation(space_, ledger_, view(), memory_.data(), s);
    return s;
  }

  /// Throws error(corrupt) unless each block is in a space of the host, each space has the blocks that it counts, and,
  /// in checked mode, exactly these blocks are live. O(pool / 4 KiB).
  void check() const {
    recover();
    std::vector<std::uint64_t> const entries = exec::copy_out(space_, entries_.data(), pages());
    std::vector<std::uint32_t> const live = exec::copy_out(space_, live_.data(), pages());
    std::vector<std::size_t> const blocks = host_->use([&](auto&, portion_space const& spaces) {
      spaces.check();
      return checked_blocks(spaces, entries, live);
    });
    ensure(!ledger_.checked() || ledger_.live_offsets() == blocks, name, "live blocks are not those of the table");
    ledger_.check_guards(name);
  }

 private:
  static constexpr std::size_t leaf_bytes = portion_space::leaf_pages * align_page_bytes;

  [[nodiscard]] static std::uint32_t slots_for(Space const& space, align_parameters const& p) {
    if (p.slots > 65536 || p.limit.count() < 0)
      throw error(error_code::bad_argument, std::string(name) + ": slots must be at most 65536, not " +
                                                std::to_string(p.slots) + ", and the limit not negative");
    if (p.slots > 0) return p.slots;
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(16 * space.multiprocessors(), 64, 16384));
  }
  [[nodiscard]] static std::uint32_t pages_in(std::size_t bytes) {
    return static_cast<std::uint32_t>(bytes / leaf_bytes * portion_space::leaf_pages);
  }
  [[nodiscard]] std::uint32_t pages() const { return pages_in(bytes_); }
  [[nodiscard]] std::size_t size_after(std::size_t more) const {
    return memory_.committed_after(grown_size(bytes_, more));
  }

  // Makes room for a pool of so many bytes.
  void extend_tables(std::size_t bytes) {
    entries_.cover_with_zeros(pages_in(bytes));
    live_.cover_with_zeros(pages_in(bytes));
    ledger_.cover(bytes);
  }

  // Frees spaces that kernels could not return, or did not get, because the host did not answer. While no kernel runs.
  void recover() const {
    std::uint64_t const now = unanswered();  // waits for kernels, which the host serves meanwhile
    if (now == recovered_) return;
    host_->settle();
    std::vector<std::uint32_t> const live = exec::copy_out(space_, live_.data(), pages());
    host_->unclaim_all();
    host_->use([&](auto&, portion_space& spaces) {
      for (std::uint32_t page = 0; page < live.size(); ++page)
        if (live[page] == 0) (void)spaces.free(page);
    });
    recovered_ = now;
  }

  // The offsets of all blocks, ascending.
  [[nodiscard]] std::vector<std::size_t> checked_blocks(portion_space const& spaces,
                                                        std::vector<std::uint64_t> const& entries,
                                                        std::vector<std::uint32_t> const& live) const {
    std::vector<std::size_t> offsets;
    std::vector<std::uint32_t> found(entries.size());
    std::size_t end = 0;  // of the blocks so far
    for (std::size_t page = 0; page < entries.size(); ++page) {
      align_entry const e(entries[page]);
      if (e.bits() == 0) continue;
      std::string const at = "the block at page " + std::to_string(page);
      bool const is_inside = e.space() <= page && spaces.length(e.space()) >= page - e.space() + e.pages();
      ensure(e.pages() > 0 && is_inside, name, at + " is not in its space");
      ensure(page >= end, name, at + " begins inside another");
      end = page + e.pages();
      ++found[e.space()];
      offsets.push_back(page * align_page_bytes);
    }
    for (std::uint32_t page = 0; page < entries.size(); ++page) {
      std::string const at = "the space at page " + std::to_string(page);
      ensure(live[page] == found[page], name, at + " has another number of blocks than it counts");
      ensure(found[page] > 0 || spaces.length(page) == 0, name, at + " has no blocks");
    }
    return offsets;
  }

  Space space_;
  exec::reservation<Space> memory_;
  std::size_t bytes_ = 0;  // the size of the pool; more may be committed after a prepare()

 protected:
  pool_table<std::uint64_t, Space> entries_;
  pool_table<std::uint32_t, Space> live_;
  std::unique_ptr<detail::align_host<Space>> host_;

 private:
  ledger<Space> ledger_;
  mutable std::uint64_t recovered_ = 0;  // requests without an answer whose spaces are free again
  shared_view<view_type, Space> shared_;
};

}  // namespace wyrm::alloc
