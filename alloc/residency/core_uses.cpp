// SPDX-License-Identifier: Apache-2.0
// Launches and transfers, and what they pin.
#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "../../exec/error.hpp"
#include "core.hpp"

namespace wyrm::alloc::residency::detail {

namespace {
/// Of a block that is named twice: what is touched more often counts.
use_hint merged(use_hint a, use_hint b) {
  if (a == use_hint::hot || b == use_hint::hot) return use_hint::hot;
  return a == use_hint::once ? b : a;
}
}  // namespace

/// Counts a use in its blocks. Kernels may touch the blocks then. Throws error(device), and pins nothing.
void core::pin(use_state& u) {
  ++u.owner->uses;
  std::size_t pinned = 0;
  try {
    for (; pinned < u.blocks.size(); ++pinned) {
      block& b = blocks_[u.blocks[pinned].number];
      if (u.work && !b.is_usable) protect(b, true);
      ++b.users;
      b.writers += u.blocks[pinned].writes;
    }
  } catch (...) {
    u.blocks.resize(pinned);
    retire(u);
    throw;
  }
}

void core::protect(block& b, bool is_usable) {
  if (b.is_mapped)
    ranges_->protect(address_of(b), 1, b.device ? exec::memory_side::device : exec::memory_side::host, is_usable);
  b.is_usable = is_usable;
}

/// Tells the policy which resident blocks the use reads and writes, as a launch for each kind of use.
void core::announce(use_state& u, std::span<used_block const> blocks) {
  for (use_hint const hint : {use_hint::once, use_hint::normal, use_hint::hot})
    for (bool const writes : {false, true}) {
      std::vector<block_number> numbers;
      for (used_block const& b : blocks)
        if (b.hint == hint && b.writes == writes && blocks_[b.number].device) numbers.push_back(b.number);
      if (numbers.empty()) continue;
      u.launches.reserve(u.launches.size() + 1);
      u.owner->policy->used(numbers, ++last_launch_, writes, hint);
      u.launches.push_back(last_launch_);
    }
}

/// The end of a use: what it pinned may move, or be freed.
void core::retire(use_state& u) noexcept {
  u.is_retired = true;
  --u.owner->uses;
  for (launch_number const launch : u.launches) u.owner->policy->finished(launch);
  for (used_block const& used : u.blocks) {
    block& b = blocks_[used.number];
    --b.users;
    b.writers -= used.writes;
    if (b.users > 0) continue;
    if (b.region->is_released) {
      free_block(used.number);
    } else if (options_.checked && b.is_usable) {
      try {
        protect(b, false);
      } catch (error const&) {  // this block is not checked until its next use
      }
    }
  }
  changed_.notify_all();
}

/// Retires the launches that are done.
void core::collect() noexcept {
  for (auto i = uses_.begin(); i != uses_.end();) {
    use_state& u = **i;
    if (!u.is_finished || !u.work || !u.work->is_done()) {
      ++i;
      continue;
    }
    charge(u);
    retire(u);
    i = uses_.erase(i);
  }
  forget_clients();
}

/// Waits for work that is enqueued, without the mutex.
void core::await_work(lock& l, std::shared_ptr<use_state> u) {
  l.unlock();
  u->work->wait();
  l.lock();
}

/// Waits for the work of a launch that has ended and that began before a use of this number, and retires it: without
/// the number, a caller could wait forever for others that launch without a pause. False if there is none. evictor: the
/// client that needs room; then only launches count whose blocks it may evict, or that are released. of_others: whether
/// blocks of other clients can become its own.
bool core::await_ended_use(lock& l, std::uint64_t before, client_state const* evictor, bool of_others) {
  auto const is_room = [&](use_state const& u) {
    client_state const& c = *u.owner;
    if (evictor == nullptr || &c == evictor) return true;
    if (!of_others || c.resident == 0) return false;
    return c.options.priority <= evictor->options.priority ||
           std::any_of(u.blocks.begin(), u.blocks.end(), [&](used_block const& b) {
             return blocks_[b.number].device && blocks_[b.number].region->is_released;
           });
  };
  auto const ended = std::find_if(uses_.begin(), uses_.end(), [&](auto const& u) {
    return u->number < before && u->is_finished && u->work && is_room(*u);
  });
  if (ended == uses_.end()) return false;
  await_work(l, *ended);
  collect();
  return true;
}

/// Waits until no use of any kind, or none that writes if the range is only read, pins a block of the range.
void core::wait_until_unpinned(lock& l, named_blocks const& range) {
  auto const is_pinned = [&](block_number n) {
    return n != unbacked && (range.writes ? blocks_[n].users : blocks_[n].writers) > 0;
  };
  for (;;) {
    collect();
    auto const first = range.region->blocks.begin();
    auto const found = std::find_if(first + static_cast<std::ptrdiff_t>(range.first),
                                    first + static_cast<std::ptrdiff_t>(range.last), is_pinned);
    if (found == first + static_cast<std::ptrdiff_t>(range.last)) return;
    auto const pins = [&](auto const& u) {
      auto const b = std::lower_bound(u->blocks.begin(), u->blocks.end(), *found,
                                      [](used_block const& x, block_number n) { return x.number < n; });
      return b != u->blocks.end() && b->number == *found && (range.writes || b->writes);
    };
    std::shared_ptr<use_state> const u = *std::find_if(uses_.begin(), uses_.end(), pins);
    if (u->is_finished) {
      await_work(l, u);
    } else {
      if (u->work && u->is_mine()) refuse_to_wait_for_itself(*u->owner, "a transfer");
      if (!options_.in_place) refuse_to_wait_for_itself(*range.region->owner, "a transfer");
      changed_.wait(l);
    }
  }
}

/// Without options::in_place: one launch at a time waits for its blocks, or two could wait for each other.
class core::loading {
 public:
  explicit loading(core& c) : core_(c) { core_.is_loading_ = true; }
  loading(loading const&) = delete;
  ~loading() {
    core_.is_loading_ = false;
    core_.changed_.notify_all();
  }

 private:
  core& core_;
};

/// What a launch uses that names nothing.
std::vector<named_blocks> core::all_ranges(client_state& c) const {
  std::vector<named_blocks> all;
  for (region_state& r : c.regions)
    if (std::size_t const blocks = r.is_pool ? r.backed : r.blocks.size(); !r.is_released && blocks > 0)
      all.push_back({&r, 0, blocks, true, r.hint, r.is_pool ? blocks * block_bytes() : r.bytes});
  return all;
}

/// Puts the ranges in front that are to be on the device before the others: hot ones, and those of small regions. Small
/// arrays take little room, and are often used most, such as sums that all threads add to: in host memory a GPU does
/// about 10^6 such additions a second. A region is small if at most an eighth as many of its bytes are named as of the
/// largest region, and if these and those of smaller regions are at most a quarter.
void core::order_by_rank(std::vector<named_blocks>& names) {
  struct named_region {
    std::size_t bytes;
    std::size_t order;  // in which they are named
    bool operator<(named_region const& other) const {
      return bytes != other.bytes ? bytes < other.bytes : order < other.order;
    }
  };
  std::map<region_state const*, named_region> regions;
  for (named_blocks const& n : names)
    if (n.hint != use_hint::once) {
      named_region& r = regions.try_emplace(n.region, named_region{0, regions.size()}).first->second;
      r.bytes = std::min(r.bytes + n.bytes, n.region->bytes);  // a range may be named several times
    }
  std::vector<named_region> sizes;
  for (auto const& [region, size] : regions) sizes.push_back(size);
  std::sort(sizes.begin(), sizes.end());
  std::size_t const most = sizes.empty() ? 0 : sizes.back().bytes;
  std::size_t sum = 0;
  named_region first_large{};  // in the order of sizes
  for (named_region const& r : sizes) {
    sum += r.bytes;
    first_large = r;
    if (r.bytes > most / 8 || sum > most / 4) break;
  }
  for (named_blocks& n : names)
    n.comes_first = n.hint == use_hint::hot || (n.hint == use_hint::normal && regions.at(n.region) < first_large);
  std::stable_partition(names.begin(), names.end(), [](named_blocks const& n) { return n.comes_first; });
}

std::shared_ptr<use_state> core::begin_use(client_state* c, std::vector<named_blocks> names,
                                           std::unique_ptr<exec::work_span> work) {
  ++waiting_launches_;
  lock l(mutex_);
  --waiting_launches_;
  bool const is_named = !names.empty();
  std::uint64_t const before = last_use_ + 1;
  do {
    await_turn(l, *c);
    collect();
    give_back_wanted();
    if (!is_named) names = all_ranges(*c);
    order_by_rank(names);
  } while (!make_room_for_first(*c, names) && await_ended_use(l, before, c, evicts_others(*c)));
  loading const scope(*this);
  make_room_for_new(*c, names);
  back(names);
  auto const u = begin(l, c, names, std::move(work),
                       [thread = std::this_thread::get_id()] { return std::this_thread::get_id() == thread; });
  for (used_block const& b : u->blocks) blocks_[b.number].is_stale |= is_named && b.writes;
  return u;
}

std::shared_ptr<use_state> core::begin_use_of_backed(client_state* c, std::unique_ptr<exec::work_span> work,
                                                     std::function<bool()> is_mine) {
  ++waiting_launches_;
  lock l(mutex_);
  --waiting_launches_;
  await_turn(l, *c);
  loading const scope(*this);
  collect();
  give_back_wanted();
  std::vector<named_blocks> names;
  for (region_state& r : c->regions)
    for (std::size_t i = 0, left = r.is_released ? 0 : r.backed; left > 0; ++i)
      if (r.blocks[i] != unbacked) {
        names.push_back({&r, i, i + 1, true, r.hint, block_bytes(), r.hint == use_hint::hot});
        --left;
      }
  return begin(l, c, names, std::move(work), std::move(is_mine));
}

/// A use of blocks that have memory.
std::shared_ptr<use_state> core::begin(lock& l, client_state* c, std::span<named_blocks const> names,
                                       std::unique_ptr<exec::work_span> work, std::function<bool()> is_mine) {
  auto const u = std::make_shared<use_state>();
  u->owner = c;
  u->work = std::move(work);
  u->is_mine = std::move(is_mine);
  u->layout = c->layout;
  for (named_blocks const& name : names)
    for (std::size_t i = name.first; i < name.last; ++i)
      u->blocks.push_back({name.region->blocks[i], name.writes, name.hint, name.comes_first});
  std::sort(u->blocks.begin(), u->blocks.end(), [](auto const& a, auto const& b) { return a.number < b.number; });
  // A block may be named several times.
  std::size_t kept = 0;
  for (used_block const& b : u->blocks) {
    if (kept > 0 && u->blocks[kept - 1].number == b.number) {
      used_block& same = u->blocks[kept - 1];
      same.writes = same.writes || b.writes;
      same.hint = merged(same.hint, b.hint);
      same.comes_first = same.comes_first || b.comes_first;
    } else {
      u->blocks[kept++] = b;
    }
  }
  u->blocks.resize(kept);
  pin(*u);
  try {
    uses_.push_back(u);
  } catch (...) {
    retire(*u);
    throw;
  }
  try {
    count_use(*c);
    u->number = last_use_;
    announce(*u, u->blocks);
    u->room = room_;
    std::size_t const moved_before = c->counters.moved_in_bytes;
    std::size_t const taken_before = c->taken;
    double const seconds = move_in(l, *u);
    charge_moves(*c, seconds, (c->counters.moved_in_bytes - moved_before) / block_bytes(), c->taken > taken_before);
    map_all(*c);
    c->demand = static_cast<std::size_t>(std::count_if(u->blocks.begin(), u->blocks.end(),
                                                       [](used_block const& b) { return b.hint != use_hint::once; }));
    if (c->begun++ % 8 == 0) c->needs[1] = std::exchange(c->needs[0], 0);
    c->needs[0] = std::max(c->needs[0], c->demand);
    u->missing = missing_blocks(*u).size();
    c->missing = u->missing;
    if (u->missing > 0 && !device_pool_.empty() && c->resident < c->options.limit / block_bytes())
      u->room = unknown_room;  // the next launch may take the room
    u->watch = {};
    u->work->start();
  } catch (...) {
    uses_.remove(u);
    retire(*u);
    throw;
  }
  for (used_block const& b : u->blocks) {
    blocks_[b.number].is_unused = false;
    blocks_[b.number].has_contents |= b.writes;
  }
  ++c->counters.launches;
  return u;
}

/// Counts a use, and begins a new period when it is time: arrays may leave more room then, and so may others.
void core::count_use(client_state& c) {
  c.activity.note(std::chrono::steady_clock::now());
  if (++last_use_ < period_end_) return;
  period_end_ = last_use_ + period;
  most_arrays_[1] = std::exchange(most_arrays_[0], arrays_);
  ++room_;
}

/// After a launch: what it has held may be room for clients of higher priority. Its own client has no more room by
/// that.
void core::end_work(use_state& u) noexcept {
  u.is_finished = true;
  u.owner->last_active = std::chrono::steady_clock::now();
  client_state const& ended = *u.owner;
  if (ended.resident == 0 || std::none_of(clients_.begin(), clients_.end(), [&](client_state const& c) {
        return c.options.priority > ended.options.priority;
      }))
    return;
  bool const is_known = u.room == room_++;
  if (is_known) u.room = room_;
}

void core::finish_use(std::shared_ptr<use_state> const& u) noexcept {
  u->work->stop();
  lock const l(mutex_);
  end_work(*u);
  collect();
  give_back_wanted();
  changed_.notify_all();
}

void core::pause_use(std::shared_ptr<use_state> const& u) noexcept {
  u->work->stop();
  lock const l(mutex_);
  end_work(*u);
  if (u->layout != u->owner->layout || options_.budget->wanted_back() > 0 || waiting_launches_ > 0) {
    collect();
    give_back_wanted();
  }
  changed_.notify_all();
}

bool core::resume_use(std::shared_ptr<use_state> const& u) {
  lock const l(mutex_);
  if (u->is_retired || u->layout != u->owner->layout) return false;
  if (has_competitor(*u->owner)) return false;
  turn_ = std::max(turn_, u->owner->turn);
  if (options_.budget->wanted_back() > 0 && u->work->is_done()) return false;
  if (u->room != room_)
    for (used_block const& b : u->blocks)
      if (!blocks_[b.number].device) return false;
  u->room = room_;
  if (u->work->is_done()) {
    charge(*u);
    u->watch = {};
    u->work->start();
  }
  u->is_finished = false;
  count_use(*u->owner);
  u->number = last_use_;
  ++u->owner->counters.launches;
  return true;
}

/// Backs and pins the blocks of a transfer, when the launches that are in its way are done.
std::shared_ptr<use_state> core::begin_transfer(lock& l, named_blocks const& range) {
  wait_until_unpinned(l, range);
  if (range.writes) back({&range, 1}, static_cast<object_number>(last_transfer_ + 1));
  auto const u = std::make_shared<use_state>();
  u->owner = range.region->owner;
  for (std::size_t i = range.first; i < range.last; ++i)
    if (block_number const n = range.region->blocks[i]; n != unbacked)
      u->blocks.push_back({n, range.writes, range.hint, false});
  std::sort(u->blocks.begin(), u->blocks.end(), [](auto const& a, auto const& b) { return a.number < b.number; });
  pin(*u);
  try {
    uses_.push_back(u);
  } catch (...) {
    retire(*u);
    throw;
  }
  count_transfer(*u->owner);
  return u;
}

/// Under the mutex.
void core::end_transfer(std::shared_ptr<use_state> const& u) noexcept {
  charge_transfer(*u);
  uses_.remove(u);
  retire(*u);
}

}  // namespace wyrm::alloc::residency::detail
