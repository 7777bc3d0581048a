// SPDX-License-Identifier: Apache-2.0
// Clients, regions, their blocks, and transfers.
#include "core.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../../exec/error.hpp"
#include "policies.hpp"

namespace wyrm::alloc::residency {

statistics& statistics::operator+=(statistics const& other) {
  resident_bytes += other.resident_bytes;
  staged_bytes += other.staged_bytes;
  host_bytes += other.host_bytes;
  launches += other.launches;
  moved_in_bytes += other.moved_in_bytes;
  moved_out_bytes += other.moved_out_bytes;
  reloaded_bytes += other.reloaded_bytes;
  wasted_moves += other.wasted_moves;
  clean_evictions += other.clean_evictions;
  dirty_evictions += other.dirty_evictions;
  failed_moves += other.failed_moves;
  launch_seconds += other.launch_seconds;
  move_seconds += other.move_seconds;
  effective_move_seconds += other.effective_move_seconds;
  signature_seconds += other.signature_seconds;
  return *this;
}

namespace detail {

namespace {
std::string mib(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// Where a transfer finds a block.
struct place {
  std::byte* home = nullptr;
  exec::memory_side side = exec::memory_side::host;
};
place place_of(block const& b) {
  return b.device ? place{b.device.home, exec::memory_side::device} : place{b.host.home, exec::memory_side::host};
}
/// Counts a transfer, which the program would also make if it ran alone.
void count_effective(statistics& s, double seconds) {
  s.move_seconds += seconds;
  s.effective_move_seconds += seconds;
}
}  // namespace

/// Compares a block with its copy in host memory, byte by byte. Without a copy, or where the host cannot read the
/// device's memory, it says dirty.
class core::comparison final : public contents_check {
 public:
  comparison(find_block find, bool is_readable, std::size_t bytes)
      : find_(std::move(find)), is_readable_(is_readable), bytes_(bytes) {}
  void remember(std::span<block_number const>) override {}
  void check(std::span<block_number const> blocks, std::span<bool> dirty) override {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      block_places const b = find_(blocks[i]);
      dirty[i] = !is_readable_ || b.host == nullptr || std::memcmp(b.device, b.host, bytes_) != 0;
    }
  }

 private:
  find_block find_;
  bool is_readable_;
  std::size_t bytes_;
};

core::core(std::unique_ptr<exec::block_ranges> ranges, options const& o) : options_(o), ranges_(std::move(ranges)) {
  if (!options_.budget) throw error(error_code::bad_argument, "a residency manager needs a budget; set options.budget");
  find_block find = [this](block_number n) { return block_places{blocks_[n].device.home, blocks_[n].host.home}; };
  check_ = options_.make_dirty_check
               ? options_.make_dirty_check(std::move(find))
               : std::make_unique<comparison>(std::move(find), ranges_->is_device_readable(), block_bytes());
  move_seconds_ = 2 * static_cast<double>(block_bytes()) / bus_speed;
  try {
    for (std::size_t bytes = 0; bytes < options_.prepared_host_bytes; bytes += block_bytes())
      host_pool_.push_back(create_host());
  } catch (...) {
    destroy_pools();
    throw;
  }
}

// No handle is left, so that no use is unfinished.
core::~core() {
  for (std::shared_ptr<use_state> const& u : uses_) u->work->wait();
  collect();
  destroy_pools();
  options_.budget->give_back(device_blocks_ * block_bytes());
}

void core::destroy_pools() noexcept {
  for (exec::physical_block const& b : device_pool_) ranges_->destroy(exec::memory_side::device, b);
  for (exec::physical_block const& b : host_pool_) ranges_->destroy(exec::memory_side::host, b);
}

client_state* core::open_client(client_options const& o) {
  std::unique_ptr<policy> made = options_.make_policy ? options_.make_policy() : make_policy(lru_cost::name);
  lock const l(mutex_);
  clients_.emplace_back(options_.idle_after);
  client_state& c = clients_.back();
  c.options = o;
  c.policy = std::move(made);
  return &c;
}

void core::close_client(client_state* c) noexcept {
  lock const l(mutex_);
  c->is_closed = true;
  collect();
  changed_.notify_all();
}

/// Forgets closed clients of which nothing is left.
void core::forget_clients() noexcept {
  clients_.remove_if([&](client_state const& c) {
    if (!c.is_closed || !c.regions.empty()) return false;
    for (auto const& u : uses_)
      if (u->owner == &c) return false;
    departed_ += c.counters;
    return true;
  });
}

statistics core::of_client(client_state const* c) const {
  lock const l(mutex_);
  statistics s = c->counters;
  for (block const& b : blocks_) {
    if (b.owner != c) continue;
    (b.device ? s.resident_bytes : s.staged_bytes) += block_bytes();
    if (b.host) s.host_bytes += block_bytes();
  }
  return s;
}

statistics core::of_all() const {
  lock const l(mutex_);
  statistics s = departed_;
  for (client_state const& c : clients_) s += c.counters;
  for (block const& b : blocks_) {
    if (b.owner == nullptr) continue;
    (b.device ? s.resident_bytes : s.staged_bytes) += block_bytes();
    if (b.host) s.host_bytes += block_bytes();
  }
  return s;
}

region_state* core::reserve(client_state* c, std::size_t bytes, bool is_pool, use_hint hint) {
  if (bytes > unlimited - block_bytes())
    throw error(error_code::out_of_memory, std::to_string(bytes) + " bytes are more than there are addresses");
  std::size_t const count = std::max<std::size_t>((bytes + block_bytes() - 1) / block_bytes(), 1);
  std::list<region_state> made(1);
  region_state& r = made.front();
  r.owner = c;
  r.bytes = bytes;
  r.is_pool = is_pool;
  r.hint = hint;
  r.blocks.assign(count, unbacked);
  lock const l(mutex_);
  r.base = ranges_->reserve(count);
  c->regions.splice(c->regions.end(), made);
  ++c->layout;
  return &r;
}

// Blocks that launches use are freed when these are done.
void core::release(region_state* r) noexcept {
  lock const l(mutex_);
  collect();
  r->is_released = true;
  ++r->owner->layout;
  ++r->backed;  // keeps the region until the loop is done
  for (block_number const n : r->blocks)
    if (n != unbacked && blocks_[n].users == 0) free_block(n);
  --r->backed;
  forget_released(r);
  forget_clients();
}

/// Frees the addresses of a released region, once no block is left.
void core::forget_released(region_state* r) noexcept {
  if (!r->is_released || r->backed > 0) return;
  ranges_->unreserve(r->base, r->blocks.size());
  client_state* const c = r->owner;
  c->regions.remove_if([&](region_state const& other) { return &other == r; });
}

/// From the pool, or else the stale copy of a resident block, which must be copied anyway when it is evicted: to create
/// host memory takes more time. (But not with options::lazy_transfers, where all new blocks take host memory.)
exec::physical_block core::take_host() {
  if (!host_pool_.empty()) {
    exec::physical_block const b = host_pool_.back();
    host_pool_.pop_back();
    return b;
  }
  for (std::size_t i = 0; i < blocks_.size() && !options_.lazy_transfers; ++i) {
    if (++last_taken_ >= blocks_.size()) last_taken_ = 0;
    if (block& b = blocks_[last_taken_]; b.device && b.host && b.is_stale && b.users == 0 && !b.is_leaving)
      return std::exchange(b.host, {});
  }
  return create_host();
}

exec::physical_block core::create_host() {
  stopwatch const watch;
  host_pool_.reserve(host_blocks_ + 1);  // so that a block can be returned without memory
  exec::physical_block const b = ranges_->create(exec::memory_side::host);
  ++host_blocks_;
  create_seconds_ += watch.seconds();
  return b;
}

void core::keep_host(exec::physical_block b) noexcept {
  if (host_pool_.size() * block_bytes() < std::max(options_.pooled_host_bytes, options_.prepared_host_bytes)) {
    host_pool_.push_back(b);
  } else {
    ranges_->destroy(exec::memory_side::host, b);
    --host_blocks_;
  }
}

/// Device blocks in the pool that a client may take for blocks without memory: what the budget has without evictions.
std::size_t core::free_room(client_state const& c, std::size_t blocks) {
  if (options_.lazy_transfers) return 0;
  std::size_t const most = c.options.limit / block_bytes();
  blocks = std::min(blocks, most - std::min(most, c.resident));
  if (device_pool_.size() < blocks) (void)grow(blocks - device_pool_.size(), false);
  return std::min(blocks, device_pool_.size());
}

/// Backs a run of blocks of a region that have no memory, and appends them to `made`.
void core::back_run(region_state& r, std::size_t first, std::size_t count, exec::memory_side side, object_number object,
                    std::vector<block_number>& made) {
  bool const on_device = side == exec::memory_side::device;
  std::vector<exec::physical_block> memory;
  memory.reserve(count);
  made.reserve(made.size() + count);
  while (free_numbers_.size() < count) {
    free_numbers_.reserve(blocks_.size() + 1);
    blocks_.emplace_back();
    free_numbers_.push_back(static_cast<block_number>(blocks_.size() - 1));
  }
  auto const number = [&](std::size_t i) { return free_numbers_[free_numbers_.size() - 1 - i]; };
  std::byte* const at = r.base + first * block_bytes();
  std::size_t known = 0;  // to the policy
  bool is_mapped = false;
  try {
    while (memory.size() < count) {
      memory.push_back(on_device ? device_pool_.back() : take_host());
      if (on_device) device_pool_.pop_back();
    }
    ranges_->map(at, memory, side, {}, !options_.checked);
    is_mapped = true;
    for (; on_device && known < count; ++known) r.owner->policy->loaded(number(known), object);
  } catch (...) {
    for (std::size_t i = 0; i < known; ++i) r.owner->policy->removed(number(i));
    if (is_mapped) ranges_->unmap(at, count);
    for (exec::physical_block const& b : memory) on_device ? device_pool_.push_back(b) : keep_host(b);
    throw;
  }
  for (std::size_t i = 0; i < count; ++i) {
    block_number const n = number(i);
    block& b = blocks_[n] = {};
    b.owner = r.owner;
    b.region = &r;
    b.index = first + i;
    (on_device ? b.device : b.host) = memory[i];
    b.object = object;
    b.was_loaded = on_device;
    b.is_usable = !options_.checked;
    r.blocks[first + i] = n;
    made.push_back(n);
  }
  free_numbers_.resize(free_numbers_.size() - count);
  r.backed += count;
  r.owner->resident += on_device ? count : 0;
  ++r.owner->layout;
}

std::size_t core::without_memory(named_blocks const& name) {
  auto const first = name.region->blocks.begin();
  return static_cast<std::size_t>(std::count(first + static_cast<std::ptrdiff_t>(name.first),
                                             first + static_cast<std::ptrdiff_t>(name.last), unbacked));
}

/// Backs blocks that have no memory: by device memory as far as there is free room, and by host memory. object: of a
/// transfer; 0: for a launch.
void core::back(std::span<named_blocks const> names, object_number object) {
  bool const is_staged = object != 0 && stages();
  std::vector<block_number> made;
  auto const undo = [&] {
    for (block_number const n : made) free_block(n);
  };
  // Ranges that are not to be moved come last.
  std::vector<named_blocks> order(names.begin(), names.end());
  std::stable_partition(order.begin(), order.end(), [](named_blocks const& n) { return n.hint != use_hint::once; });
  try {
    for (named_blocks const& name : order) {
      region_state& r = *name.region;
      std::size_t room = is_staged ? 0 : free_room(*r.owner, without_memory(name));
      for (std::size_t i = name.first; i < name.last;) {
        std::size_t const most = room > 0 ? std::min(name.last, i + room) : name.last;
        std::size_t end = i;
        while (end < most && r.blocks[end] == unbacked) ++end;
        if (end > i) {
          back_run(r, i, end - i, room > 0 ? exec::memory_side::device : exec::memory_side::host, object, made);
          room -= std::min(room, end - i);
        }
        i = std::max(end, i + 1);
      }
    }
  } catch (error const& failed) {
    std::size_t needed = made.size();
    for (named_blocks const& name : names) needed += without_memory(name);
    undo();
    throw error(failed.code(), "cannot back " + mib(needed * block_bytes()) + " beside the " +
                                   mib(host_blocks_ * block_bytes()) + " of host memory that the manager holds (" +
                                   failed.what() + "); free regions, or discard what is not needed");
  } catch (...) {
    undo();
    throw;
  }
}

/// Frees both memories of a block that nobody uses.
void core::free_block(block_number n) noexcept {
  block& b = blocks_[n];
  region_state* const r = b.region;
  if (b.is_mapped)
    ranges_->unmap(address_of(b), 1);
  else
    --b.owner->unmapped;
  if (b.device) {
    b.owner->policy->removed(n);
    --b.owner->resident;
    b.owner->counters.wasted_moves += b.is_unused;
    device_pool_.push_back(b.device);
    ++room_;
  }
  if (b.host) keep_host(b.host);
  r->blocks[b.index] = unbacked;
  --r->backed;
  b = {};
  free_numbers_.push_back(n);
  forget_released(r);
}

void core::require_range(char const* call, region_state const* r, std::size_t offset, std::size_t bytes) const {
  if (offset <= r->bytes && bytes <= r->bytes - offset) return;
  throw error(error_code::bad_argument, std::string(call) + ": " + std::to_string(bytes) + " bytes from offset " +
                                            std::to_string(offset) + " on are not within the " +
                                            std::to_string(r->bytes) + " bytes of the region of client '" +
                                            r->owner->options.name + "'");
}

named_blocks core::name(region_state* r, std::size_t offset, std::size_t bytes, access how, use_hint hint) const {
  require_range("use", r, offset, bytes);
  return {r,
          offset / block_bytes(),
          bytes == 0 ? offset / block_bytes() : (offset + bytes - 1) / block_bytes() + 1,
          how == access::write,
          hint,
          bytes};
}

void core::commit(region_state* r, std::size_t from, std::size_t to) {
  named_blocks const range = name(r, from, to - from, access::write, use_hint::normal);
  lock const l(mutex_);
  back({&range, 1});
}

/// The bytes of the i-th block of a region, if a transfer of [offset, offset + bytes) has all of them; else 0.
std::size_t core::whole_block(region_state const& r, std::size_t i, std::size_t offset, std::size_t bytes) const {
  std::size_t const begin = i * block_bytes();
  std::size_t const end = std::min(begin + block_bytes(), r.bytes);
  return offset <= begin && offset + bytes >= end ? end - begin : 0;
}

void core::write(region_state* r, std::size_t offset, void const* from, std::size_t bytes) {
  require_range("write", r, offset, bytes);
  if (bytes == 0) return;
  named_blocks const range = name(r, offset, bytes, access::write, use_hint::normal);
  std::vector<place> homes(range.last - range.first);
  lock l(mutex_);
  std::shared_ptr<use_state> const transfer = begin_transfer(l, range);
  bool const is_staged = stages();
  ++last_transfer_;
  for (std::size_t i = range.first; i < range.last; ++i) {
    block_number const n = r->blocks[i];
    block& b = blocks_[n];
    if (std::size_t const whole = whole_block(*r, i, offset, bytes); whole > 0) {
      if (!b.device && b.was_loaded) r->owner->policy->overwritten(n);
      if (b.device && is_staged && is_worth_a_move(whole)) stage(n);
      if (!b.device) b.object = static_cast<object_number>(last_transfer_);
    }
    b.has_contents = true;
    if (!b.device) b.was_loaded = false;
    b.written_at = last_transfer_;
    homes[i - range.first] = place_of(b);
  }
  announce_transfer(transfer);
  double seconds = 0;
  copy_unlocked(l, transfer, [&] {
    auto const* const source = static_cast<std::byte const*>(from);
    for_each_part(range, offset, bytes, [&](std::size_t i, std::size_t at, std::size_t done, std::size_t count) {
      stopwatch const watch;
      ranges_->copy_in(homes[i].home + at, homes[i].side, source + done, count);
      seconds += watch.seconds();
      if (homes[i].side == exec::memory_side::device) transfer->bus_seconds += watch.seconds();
    });
  });
  count_effective(transfer->owner->counters, seconds);  // the region may have been freed
}

void core::read(region_state* r, std::size_t offset, void* to, std::size_t bytes) {
  require_range("read", r, offset, bytes);
  if (bytes == 0) return;
  named_blocks const range = name(r, offset, bytes, access::read, use_hint::normal);
  std::vector<place> homes(range.last - range.first);
  lock l(mutex_);
  std::shared_ptr<use_state> const transfer = begin_transfer(l, range);
  std::vector<block_number> copied;
  try {
    stopwatch const watch;
    copied.reserve(homes.size());
    for (std::size_t i = range.first; i < range.last; ++i) {
      block_number const n = r->blocks[i];
      if (n == unbacked) continue;
      block const& b = blocks_[n];
      homes[i - range.first] = place_of(b);
      // Another reader may be reading the copy.
      if (!is_worth_a_move(whole_block(*r, i, offset, bytes)) || !b.device || !b.host || b.users > 1) continue;
      ranges_->copy(exec::memory_side::host, b.host.home, b.device.home, block_bytes());
      copied.push_back(n);
      homes[i - range.first] = {b.host.home, exec::memory_side::host};
    }
    ranges_->finish_copies(exec::memory_side::host);
    if (!copied.empty()) {
      transfer->bus_seconds = watch.seconds();
      check_->remember(copied);
      transfer->owner->counters.signature_seconds += watch.seconds() - transfer->bus_seconds;
    }
  } catch (...) {
    drain_copies();
    end_transfer(transfer);
    throw;
  }
  for (block_number const n : copied) {
    r->owner->policy->copied_out(n);  // clean, unless a launch may write it
    blocks_[n].is_stale = false;
  }
  announce_transfer(transfer);
  transfer->owner->counters.move_seconds += transfer->bus_seconds;
  double seconds = 0;
  copy_unlocked(l, transfer, [&] {
    auto* const target = static_cast<std::byte*>(to);
    for_each_part(range, offset, bytes, [&](std::size_t i, std::size_t at, std::size_t done, std::size_t count) {
      stopwatch const watch;
      if (homes[i].home != nullptr)
        ranges_->copy_out(target + done, homes[i].home + at, homes[i].side, count);
      else
        std::memset(target + done, 0, count);
      seconds += watch.seconds();
      if (homes[i].side == exec::memory_side::device) transfer->bus_seconds += watch.seconds();
    });
  });
  count_effective(transfer->owner->counters, seconds);
}

void core::announce_transfer(std::shared_ptr<use_state> const& transfer) {
  std::vector<used_block> const& blocks = transfer->blocks;
  transfer->takes_bus = std::any_of(blocks.begin(), blocks.end(),
                                    [&](used_block const& b) -> bool { return !!blocks_[b.number].device; });
  transfer->owner->transfers += transfer->takes_bus;
  try {
    announce(*transfer, blocks);
  } catch (...) {
    end_transfer(transfer);
    throw;
  }
}

/// Copies without the mutex what a transfer has pinned, and ends the transfer.
template <class F>
void core::copy_unlocked(lock& l, std::shared_ptr<use_state> const& transfer, F const& copies) {
  l.unlock();
  try {
    copies();
  } catch (...) {
    l.lock();
    end_transfer(transfer);
    throw;
  }
  l.lock();
  end_transfer(transfer);
}

/// Calls f(block - range.first, offset in the block, bytes before, bytes) for the part of [offset, offset + bytes) in
/// each block of the range.
template <class F>
void core::for_each_part(named_blocks const& range, std::size_t offset, std::size_t bytes, F const& f) const {
  for (std::size_t done = 0; done < bytes;) {
    std::size_t const place = offset + done;
    std::size_t const at = place % block_bytes();
    std::size_t const count = std::min(block_bytes() - at, bytes - done);
    f(place / block_bytes() - range.first, at, done, count);
    done += count;
  }
}

void core::discard(region_state* r, std::size_t offset, std::size_t bytes) {
  require_range("discard", r, offset, bytes);
  std::size_t const first = (offset + block_bytes() - 1) / block_bytes();
  std::size_t const end = offset + bytes == r->bytes ? r->blocks.size() : (offset + bytes) / block_bytes();
  if (first >= end) return;
  lock l(mutex_);
  wait_until_unpinned(l, {r, first, end, true, use_hint::normal, 0});
  for (std::size_t i = first; i < end; ++i)
    if (r->blocks[i] != unbacked) free_block(r->blocks[i]);
}

bool core::is_resident(region_state const* r, std::size_t offset) const {
  require_range("is_resident", r, offset, 1);
  lock const l(mutex_);
  block_number const n = r->blocks[offset / block_bytes()];
  return n != unbacked && blocks_[n].device;
}

}  // namespace detail
}  // namespace wyrm::alloc::residency
