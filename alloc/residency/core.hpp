// SPDX-License-Identifier: Apache-2.0
// The state and the logic of a residency manager, independent of the type of the space, so that it is compiled once.
// `manager`, `client`, `region` and `use` are handles to it.
//
// One mutex guards everything but copies of transfers. A block that a launch or a transfer uses is pinned: its backing
// does not change. A call pins the blocks that it needs under the mutex; transfers then copy without the mutex. A use
// moves its blocks to the device under the mutex, so moves are in the order of the launches, while the kernels of
// earlier launches run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "../../exec/block_range.hpp"
#include "options.hpp"

namespace wyrm::alloc::residency::detail {

class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct client_state;
struct region_state;

/// A block that has memory: on the device if `device` is set, then `host` may be a copy; else on the host.
struct block {
  client_state* owner = nullptr;
  region_state* region = nullptr;
  std::size_t index = 0;  // in the region
  exec::physical_block device;
  exec::physical_block host;
  object_number object = 0;
  std::uint64_t written_at = 0;  // number of the last transfer from the host
  std::uint32_t users = 0;       // launches and transfers that pin it
  std::uint32_t writers = 0;     // of these
  bool has_contents = false;
  bool was_loaded = false;      // since it was last written by the host
  bool is_usable = true;        // in checked mode: a launch uses it
  bool was_loaded_now = false;  // move() has mapped its device memory
  bool is_mapped = true;        // at its address; an evicted block only from the next launch of its client on
  bool is_unused = false;       // was fetched while idle, and not used since
  bool is_leaving = false;      // is being evicted
  bool is_stale = false;        // a launch that named the block has written it since `host` was a copy of it
  bool is_changed = false;      // the next eviction copies it to the host, whatever its policy says
};

struct region_state {
  client_state* owner = nullptr;
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  bool is_pool = false;              // commit() backs its blocks
  use_hint hint = use_hint::normal;  // of launches that do not name the region
  bool is_released = false;
  std::size_t backed = 0;
  std::vector<block_number> blocks;  // `unbacked`: no memory
};
inline constexpr block_number unbacked = ~block_number{0};

using time_point = std::chrono::steady_clock::time_point;

/// How long a client has been idle, compared with its usual pauses between launches and transfers.
class activity {
 public:
  explicit activity(std::chrono::nanoseconds shortest_pause)
      : shortest_pause_(std::max(shortest_pause, std::chrono::nanoseconds(1))) {}
  void note(time_point now) {
    // A long pause is forgotten after some 100 short ones.
    std::chrono::nanoseconds const pause = std::min<std::chrono::nanoseconds>(now - last_, 64 * shortest_pause_);
    usual_pause_ = std::max(pause, usual_pause_ - usual_pause_ / 64);
    last_ = now;
  }
  /// 1, plus the number of usual pauses that have passed.
  [[nodiscard]] std::size_t age(time_point now) const {
    return 1 +
           static_cast<std::size_t>(std::max<std::int64_t>((now - last_) / std::max(usual_pause_, shortest_pause_), 0));
  }

 private:
  std::chrono::nanoseconds shortest_pause_;
  std::chrono::nanoseconds usual_pause_{};
  time_point last_ = std::chrono::steady_clock::now();
};

struct client_state {
  explicit client_state(std::chrono::nanoseconds shortest_pause) : activity(shortest_pause) {}

  client_options options;
  std::unique_ptr<residency::policy> policy;
  statistics counters;  // the figures that only grow
  std::size_t resident = 0;
  std::size_t arrays = 0;    // bytes beside the regions
  std::uint64_t layout = 0;  // counts regions that were made or released, and blocks that got memory
  detail::activity activity;
  // For its turns, see core_turns.cpp
  double used = 0;              // seconds of the device, and of the bus to it
  double turn = 0;              // the same times memory, see charge()
  double kept_until = 0;        // the client keeps its turn until `used` has this value
  time_point kept_time = {};    // and at most until this time
  std::size_t taken = 0;        // blocks of other clients that were evicted for this one
  double launch_seconds = 0;    // of the last launch that is done
  time_point last_active = {};  // when a launch or a transfer began or ended last
  unsigned waiting = 0;         // launches that wait for their turn
  unsigned uses = 0;            // launches and transfers that are not retired
  unsigned transfers = 0;       // over the bus
  std::size_t unmapped = 0;     // blocks that are not mapped
  std::size_t demand = 0;       // blocks that the last launch was to have on the device
  unsigned begun = 0;           // uses
  std::size_t needs[2] = {};    // the most of `demand`, of the last 8 to 16 of them
  std::size_t missing = 0;      // blocks of these that were not
  bool is_exhausted = false;    // while victims are chosen
  bool is_closed = false;
  std::list<region_state> regions;

  /// The bus is so much slower than device memory that a few blocks determine the time of a launch.
  [[nodiscard]] bool lacks_room() const { return missing > demand / 32; }
  [[nodiscard]] std::size_t need() const { return std::max(needs[0], needs[1]); }
  [[nodiscard]] bool keeps_turn(time_point now) const { return used < kept_until && now < kept_time; }
  [[nodiscard]] bool is_busy(time_point now) const {
    return !is_closed && (waiting > 0 || uses > 0 || activity.age(now) <= 4);
  }
};

struct used_block {
  block_number number;
  bool writes;
  use_hint hint;
  bool comes_first;  // as its range
};

/// A launch, or a transfer, and what it pins.
struct use_state {
  client_state* owner = nullptr;
  std::uint64_t number = 0;               // of core::last_use_ when its work began
  std::unique_ptr<exec::work_span> work;  // nullptr: a transfer
  std::vector<used_block> blocks;         // in ascending order of their numbers
  std::vector<launch_number> launches;    // as announced to the policy
  std::function<bool()> is_mine;          // whether the calling thread holds it, and would wait for itself
  std::uint64_t layout = 0;               // of the client when it began
  std::uint64_t room = 0;                 // core::room_ when its blocks were moved
  std::size_t missing = 0;                // blocks that are in host memory for want of room
  bool takes_bus = false;                 // a transfer to or from device memory
  double bus_seconds = 0;                 // of its copies
  stopwatch watch;                        // since its work began
  bool is_finished = false;
  bool is_retired = false;
};

/// The blocks [first, last) of a region.
struct named_blocks {
  region_state* region;
  std::size_t first;
  std::size_t last;
  bool writes;
  use_hint hint;
  std::size_t bytes;         // as named
  bool comes_first = false;  // see order_by_rank()
};

class core {
 public:
  core(std::unique_ptr<exec::block_ranges> ranges, options const& o);
  ~core();
  core(core const&) = delete;
  core& operator=(core const&) = delete;

  [[nodiscard]] client_state* open_client(client_options const& o);
  void close_client(client_state* c) noexcept;
  [[nodiscard]] statistics of_client(client_state const* c) const;
  [[nodiscard]] statistics of_all() const;

  [[nodiscard]] region_state* reserve(client_state* c, std::size_t bytes, bool is_pool,
                                      use_hint hint = use_hint::normal);
  void release(region_state* r) noexcept;
  void commit(region_state* r, std::size_t from, std::size_t to);
  [[nodiscard]] bool make_room_for_commit(region_state* r, std::size_t from, std::size_t to);
  void write(region_state* r, std::size_t offset, void const* from, std::size_t bytes);
  void read(region_state* r, std::size_t offset, void* to, std::size_t bytes);
  void discard(region_state* r, std::size_t offset, std::size_t bytes);
  [[nodiscard]] bool is_resident(region_state const* r, std::size_t offset) const;

  /// The blocks that [offset, offset + bytes) touches.
  [[nodiscard]] named_blocks name(region_state* r, std::size_t offset, std::size_t bytes, access how,
                                  use_hint hint) const;
  /// `names` empty: all regions of the client, written.
  [[nodiscard]] std::shared_ptr<use_state> begin_use(client_state* c, std::vector<named_blocks> names,
                                                     std::unique_ptr<exec::work_span> work);
  /// A use of all blocks of the client that have memory. is_mine: see use_state.
  [[nodiscard]] std::shared_ptr<use_state> begin_use_of_backed(client_state* c, std::unique_ptr<exec::work_span> work,
                                                               std::function<bool()> is_mine);
  void finish_use(std::shared_ptr<use_state> const& u) noexcept;
  /// The same for a use that may continue. It ends as soon as its work is done and the manager gets another call.
  void pause_use(std::shared_ptr<use_state> const& u) noexcept;
  /// Continues a paused use, unless it has ended, the client has got blocks since, some are not on the device although
  /// room may have been made since, or the budget wants memory back. O(blocks of the use).
  [[nodiscard]] bool resume_use(std::shared_ptr<use_state> const& u);

  /// Takes bytes of the budget for an array on the device, and evicts blocks to make room. Without room: returns
  /// false (give_up); throws error(out_of_memory) (refuse); or waits for launches of other threads, and throws it if
  /// that cannot help, or if this thread is in a launch (wait).
  enum class if_full : std::uint8_t { give_up, refuse, wait };
  bool take_array(client_state* c, std::size_t bytes, if_full then);
  void return_array(client_state* c, std::size_t bytes) noexcept;
  [[nodiscard]] std::size_t room_for_arrays(client_state const* c);
  [[nodiscard]] std::size_t in_host_memory(region_state const* r, std::size_t bytes) const;

  std::size_t fetch_idle();
  void give_back();
  [[nodiscard]] std::size_t block_bytes() const { return ranges_->block_bytes(); }
  [[nodiscard]] bool runs_in_place() const { return options_.in_place; }

 private:
  static constexpr std::uint64_t period = 64;  // uses
  static constexpr double bus_speed = 5e10;    // bytes a second, before anything was measured
  static constexpr std::uint64_t unknown_room = ~std::uint64_t{0};
  using lock = std::unique_lock<std::mutex>;
  struct eviction {
    block_number number;
    bool write_back;
    bool takes_host;           // its host memory is new
    bool is_in_place = false;  // it is mapped to its host memory
  };
  class comparison;
  class timed_check;

  // Blocks
  [[nodiscard]] std::byte* address_of(block const& b) const { return b.region->base + b.index * block_bytes(); }
  [[nodiscard]] exec::physical_block take_host();
  [[nodiscard]] exec::physical_block create_host();
  void destroy_pools() noexcept;
  void keep_host(exec::physical_block b) noexcept;
  [[nodiscard]] static std::size_t without_memory(named_blocks const& name);
  void back(std::span<named_blocks const> names, object_number object = 0);
  void back_run(region_state& r, std::size_t first, std::size_t count, exec::memory_side side, object_number object,
                std::vector<block_number>& made);
  [[nodiscard]] std::size_t free_room(client_state const& c, std::size_t blocks);
  void free_block(block_number n) noexcept;
  void forget_released(region_state* r) noexcept;
  void forget_clients() noexcept;
  void require_range(char const* call, region_state const* r, std::size_t offset, std::size_t bytes) const;

  // Uses
  [[nodiscard]] std::shared_ptr<use_state> begin(lock& l, client_state* c, std::span<named_blocks const> names,
                                                 std::unique_ptr<exec::work_span> work, std::function<bool()> is_mine);
  void pin(use_state& u);
  void protect(block& b, bool is_usable);
  [[nodiscard]] bool has_launch(client_state const& c) const;
  [[nodiscard]] bool map_in_place(block const& b) noexcept;
  void unmap(block& b) noexcept;
  void map_all(client_state& c);
  void announce(use_state& u, std::span<used_block const> blocks);
  void end_work(use_state& u) noexcept;
  void retire(use_state& u) noexcept;
  void collect() noexcept;
  void wait_until_unpinned(lock& l, named_blocks const& range);
  [[nodiscard]] std::size_t whole_block(region_state const& r, std::size_t i, std::size_t offset,
                                        std::size_t bytes) const;
  /// Whether a transfer of all `bytes` of a block costs more than the move of a block that it saves.
  [[nodiscard]] bool is_worth_a_move(std::size_t bytes) const { return bytes >= block_bytes() / 2; }
  [[nodiscard]] std::shared_ptr<use_state> begin_transfer(lock& l, named_blocks const& range);
  void announce_transfer(std::shared_ptr<use_state> const& transfer);
  void end_transfer(std::shared_ptr<use_state> const& u) noexcept;
  template <class F>
  void copy_unlocked(lock& l, std::shared_ptr<use_state> const& transfer, F const& copies);
  template <class F>
  void for_each_part(named_blocks const& range, std::size_t offset, std::size_t bytes, F const& f) const;

  static void await_work(lock& l, std::shared_ptr<use_state> u);
  bool await_ended_use(lock& l, std::uint64_t before, client_state const* evictor = nullptr, bool of_others = true);
  [[nodiscard]] bool evicts_others(client_state const& c) const { return c.resident < c.options.limit / block_bytes(); }

  // Turns
  [[nodiscard]] bool stages() const;
  [[nodiscard]] bool is_contended() const;
  [[nodiscard]] bool compete(client_state const& a, client_state const& b) const;
  [[nodiscard]] static bool precedes(client_state const& a, client_state const& b, time_point now);
  [[nodiscard]] bool has_competitor(client_state const& c) const;
  [[nodiscard]] time_point end_of_wait(client_state const& c, time_point start, double used_before) const;
  [[nodiscard]] double patience_of(client_state const& c) const;
  [[nodiscard]] double used_by_others(client_state const& c) const;
  [[nodiscard]] bool is_enqueuing_beside(client_state const& c) const;
  [[nodiscard]] std::shared_ptr<use_state> launch_before(client_state const& c) const;
  void refuse_to_wait_for_itself(client_state const& c, char const* what) const;
  void await_turn(lock& l, client_state& c);
  void charge(use_state const& u) noexcept;
  void count_transfer(client_state& c);
  void charge_transfer(use_state const& u) noexcept;
  [[nodiscard]] std::size_t fair_share(time_point now) const;
  void charge_moves(client_state& c, double seconds, std::size_t blocks, bool has_taken) noexcept;

  // Moves
  [[nodiscard]] double move_in(lock& l, use_state& u);
  [[nodiscard]] std::vector<used_block> missing_blocks(use_state const& u) const;
  std::size_t make_room(client_state& c, std::size_t blocks, std::span<block_number const> loads = {});
  [[nodiscard]] std::vector<named_blocks> all_ranges(client_state& c) const;
  static void order_by_rank(std::vector<named_blocks>& names);
  struct ranked_blocks;
  [[nodiscard]] ranked_blocks ranked(std::span<named_blocks const> names) const;
  [[nodiscard]] bool make_room_for_first(client_state& c, std::span<named_blocks const> names);
  void make_room_for_new(client_state& c, std::span<named_blocks const> names);
  void make_room_beside(client_state& c, std::span<block_number const> kept, std::size_t blocks,
                        std::span<block_number const> loads);
  template <class F>
  [[nodiscard]] double seconds_of_moves(F const& f) const;
  [[nodiscard]] bool has_room(client_state& c);
  void await_other_use(lock& l, use_state const& u);
  [[nodiscard]] std::size_t grow(std::size_t blocks, bool may_wait);
  [[nodiscard]] std::size_t kept_for_arrays() const;
  void count_use(client_state& c);
  class loading;
  [[nodiscard]] client_state* victim_client(int priority, client_state const* claimant, std::size_t claim,
                                            time_point now);
  [[nodiscard]] std::size_t choose(client_state& c, std::size_t blocks, std::vector<eviction>& chosen);
  void choose_among_clients(std::size_t blocks, int priority, client_state* claimant, std::size_t claim,
                            std::vector<eviction>& chosen);
  using choices = std::function<std::vector<block_number>(std::vector<eviction>&)>;
  void move_chosen(choices const& choose_all);
  void move(std::vector<eviction>& chosen, std::span<block_number const> numbers);
  void drain_copies() noexcept;
  void stage(block_number n) noexcept;
  void give_back_wanted() noexcept;
  std::size_t free_device_blocks(std::size_t blocks, int priority) noexcept;
  template <class Exchanged>
  void exchange(std::span<block_number const> numbers, exec::memory_side to, Exchanged const& exchanged);

  options const options_;
  std::unique_ptr<exec::block_ranges> const ranges_;
  std::unique_ptr<contents_check> check_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // a use or a transfer has ended
  std::atomic<unsigned> waiting_launches_ = 0;
  std::list<client_state> clients_;
  statistics departed_;  // of clients that are closed
  std::vector<block> blocks_;
  std::vector<block_number> free_numbers_;
  std::vector<exec::physical_block> device_pool_;
  std::vector<exec::physical_block> host_pool_;
  std::size_t last_taken_ = 0;     // the block whose copy take_host() has taken last
  std::size_t device_blocks_ = 0;  // acquired from the budget
  bool others_have_rest_ = false;  // the budget had less than the last request
  std::size_t host_blocks_ = 0;
  std::size_t arrays_ = 0;                      // bytes, of all clients
  std::size_t most_arrays_[2] = {};             // of the present and the last period of `period` uses
  std::uint64_t period_end_ = period;           // a number of a use
  std::uint64_t room_ = 0;                      // counts what may have left room for blocks
  std::list<std::shared_ptr<use_state>> uses_;  // in the order in which they began
  launch_number last_launch_ = 0;
  std::uint64_t last_use_ = 0;
  std::uint64_t last_transfer_ = 0;
  double turn_ = 0;            // client_state::turn of the launch that began last
  double move_seconds_;        // of an exchange of two blocks
  double create_seconds_ = 0;  // of the creation of host memory, so far
  bool is_loading_ = false;    // without options::in_place: a launch waits for its blocks
};

}  // namespace wyrm::alloc::residency::detail
