// SPDX-License-Identifier: Apache-2.0
// Loads and evictions. Both copy first, and exchange the backings in runs of adjacent blocks then. Whatever fails, a
// block is backed by memory with its contents.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "core.hpp"

namespace wyrm::alloc::residency::detail {

namespace {
/// For lists of blocks, which a launch may name several times.
template <class T>
void sort_unique(std::vector<T>& x) {
  std::sort(x.begin(), x.end());
  x.erase(std::unique(x.begin(), x.end()), x.end());
}
}  // namespace

/// Measures the time of a dirty check for a client.
class core::timed_check final : public dirty_check {
 public:
  timed_check(dirty_check& check, double& seconds) : check_(check), seconds_(seconds) {}
  void check(std::span<block_number const> blocks, std::span<bool> dirty) override {
    stopwatch const watch;
    check_.check(blocks, dirty);
    seconds_ += watch.seconds();
  }

 private:
  dirty_check& check_;
  double& seconds_;
};

/// Maps the memory of the other side under each of the blocks, one call a run. exchanged(number) is called for each
/// block of a run as soon as it has the other backing; it must not throw. If this throws, the remaining runs have their
/// old backing.
template <class Exchanged>
void core::exchange(std::span<block_number const> numbers, exec::memory_side to, Exchanged const& exchanged) {
  std::vector<block_number> order(numbers.begin(), numbers.end());
  std::sort(order.begin(), order.end(),
            [&](block_number a, block_number b) { return address_of(blocks_[a]) < address_of(blocks_[b]); });
  std::vector<exec::physical_block> after;
  std::vector<exec::physical_block> before;
  bool const to_device = to == exec::memory_side::device;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    after.clear();
    before.clear();
    block const& first = blocks_[order[begin]];
    for (; end < order.size(); ++end) {
      block const& b = blocks_[order[end]];
      if (b.region != first.region || b.index != first.index + (end - begin) || b.is_usable != first.is_usable ||
          b.is_mapped != first.is_mapped)
        break;
      after.push_back(to_device ? b.device : b.host);
      if (b.is_mapped) before.push_back(to_device ? b.host : b.device);
    }
    ranges_->map(address_of(first), after, to, before, first.is_usable);
    for (; begin < end; ++begin) {
      block& b = blocks_[order[begin]];
      b.owner->unmapped -= !std::exchange(b.is_mapped, true);
      exchanged(order[begin]);
    }
  }
}

/// Whether a launch of the client may run at present.
bool core::has_launch(client_state const& c) const {
  return std::any_of(uses_.begin(), uses_.end(), [&](auto const& u) {
    return u->work && u->owner == &c && !(u->is_finished && u->work->is_done());
  });
}

/// Maps the host memory of a block that leaves the device if a launch of its client may run, which may access all of
/// the client's blocks. Returns whether it has done so.
bool core::map_in_place(block const& b) noexcept {
  if (!has_launch(*b.owner)) return false;
  try {
    ranges_->map(address_of(b), {&b.host, 1}, exec::memory_side::host, {&b.device, 1}, b.is_usable);
    return true;
  } catch (...) {  // the next launch maps it
    return false;
  }
}

/// A block in host memory that no launch uses: nothing is at its address until map_all().
void core::unmap(block& b) noexcept {
  if (!std::exchange(b.is_mapped, false)) return;
  ranges_->unmap(address_of(b), 1);
  ++b.owner->unmapped;
}

/// Before a launch of a client: maps its blocks that were evicted, and that it uses in place. To map a block of host
/// memory takes nearly as long as to copy it, and is not necessary if the block comes back before the next launch.
void core::map_all(client_state& c) {
  if (c.unmapped == 0) return;
  std::vector<block_number> numbers;
  for (block_number n = 0; n < blocks_.size(); ++n)
    if (blocks_[n].owner == &c && !blocks_[n].is_mapped) numbers.push_back(n);
  exchange(numbers, exec::memory_side::host, [](block_number) {});
}

/// Before the memory of copies that were given up is used again.
void core::drain_copies() noexcept {
  for (exec::memory_side const side : {exec::memory_side::device, exec::memory_side::host}) {
    try {
      ranges_->finish_copies(side);
    } catch (error const&) {  // what they copied to is not used
    }
  }
}

/// Takes up to `blocks` victims of a client from its policy. move() must follow.
std::size_t core::choose(client_state& c, std::size_t blocks, std::vector<eviction>& chosen) {
  chosen.reserve(chosen.size() + blocks);
  std::size_t found = 0;
  timed_check check(*check_, c.counters.signature_seconds);
  while (found < blocks && c.resident > 0) {
    std::optional<victim> const next = c.policy->next_victim(check);
    if (!next || blocks_[next->block].users > 0) break;
    c.policy->removed(next->block);
    blocks_[next->block].is_leaving = true;
    --c.resident;
    chosen.push_back({next->block, next->write_back || blocks_[next->block].is_changed, false});
    ++found;
  }
  return found;
}

/// Evicts blocks that choose() has taken from their policies, and loads `numbers`, which the host backs, into their
/// memory and that of the pool. Copies in both directions run at the same time: while some blocks are copied to the
/// host, others are copied into the memory of those before. Mappings change when all is copied. If this throws, a block
/// that was not evicted stays resident, and one that was not loaded stays in host memory.
void core::move(std::vector<eviction>& chosen, std::span<block_number const> numbers) {
  if (chosen.empty() && numbers.empty()) return;
  constexpr std::size_t at_once = 4;
  stopwatch const watch;
  client_state& owner = *blocks_[numbers.empty() ? chosen[0].number : numbers[0]].owner;
  double signature_seconds = 0;
  std::size_t evicted = 0;   // of `chosen`, from the first on: their memory is in the pool
  std::size_t placed = 0;    // of `numbers`: they have device memory
  std::size_t known = 0;     // of these: the policy was told of them
  std::size_t loaded = 0;    // of these: at their addresses
  std::size_t reloaded = 0;  // of these: once more
  auto const copy_out = [&](std::size_t first) {
    for (std::size_t i = first; i < std::min(first + at_once, chosen.size()); ++i)
      if (block const& b = blocks_[chosen[i].number]; chosen[i].write_back)
        ranges_->copy(exec::memory_side::host, b.host.home, b.device.home, block_bytes());
  };
  auto const leave = [&](eviction& e) {
    block& b = blocks_[e.number];
    e.is_in_place = map_in_place(b);
    device_pool_.push_back(std::exchange(b.device, {}));
    b.is_changed = b.is_leaving = false;
    statistics& s = b.owner->counters;
    s.wasted_moves += std::exchange(b.is_unused, false);
    ++(e.write_back ? s.dirty_evictions : s.clean_evictions);
    if (e.write_back) s.moved_out_bytes += block_bytes();
    ++evicted;
  };
  auto const copy_in = [&] {
    while (placed < numbers.size() && !device_pool_.empty()) {
      block& b = blocks_[numbers[placed++]];
      b.was_loaded_now = false;
      b.device = device_pool_.back();
      device_pool_.pop_back();
      if (b.has_contents) ranges_->copy(exec::memory_side::device, b.device.home, b.host.home, block_bytes());
    }
  };
  auto const unmap_evicted = [&] {
    for (eviction const& e : std::span(chosen).first(evicted))
      if (!e.is_in_place) unmap(blocks_[e.number]);
  };
  auto const count = [&] {
    double const seconds = watch.seconds() - signature_seconds;
    std::size_t written = 0;
    for (eviction const& e : std::span(chosen).first(evicted)) written += e.write_back;
    statistics& s = owner.counters;
    s.signature_seconds += signature_seconds;
    s.moved_in_bytes += loaded * block_bytes();
    s.reloaded_bytes += reloaded * block_bytes();
    s.move_seconds += seconds;
    if (loaded > 0)
      s.effective_move_seconds +=
          seconds * static_cast<double>(loaded - reloaded) / static_cast<double>(loaded + written);
  };
  auto const undo = [&] {
    drain_copies();
    unmap_evicted();
    for (eviction const& e : std::span(chosen).subspan(evicted)) {
      block& b = blocks_[e.number];
      b.is_leaving = false;
      if (e.takes_host && b.host) keep_host(std::exchange(b.host, {}));
      b.owner->policy->loaded(e.number, b.object);  // requests no memory, as it was resident before
      ++b.owner->resident;
      b.is_changed = true;  // a copy to the host may have been cut off
    }
    // Blocks that are not at their addresses have device memory no longer.
    for (block_number const n : numbers.first(known))
      if (!blocks_[n].was_loaded_now) owner.policy->removed(n);
    for (block_number const n : numbers.first(placed))
      if (block& b = blocks_[n]; !b.was_loaded_now) device_pool_.push_back(std::exchange(b.device, {}));
  };
  try {
    for (eviction& e : chosen) {
      block& b = blocks_[e.number];
      e.takes_host = !b.host;
      if (e.takes_host) b.host = take_host();
      e.write_back = (e.write_back || e.takes_host) && b.has_contents;
    }
    copy_out(0);
    copy_in();
    for (std::size_t first = 0; first < chosen.size(); first += at_once) {
      ranges_->finish_copies(exec::memory_side::host);
      copy_out(first + at_once);
      for (eviction& e : std::span(chosen).subspan(first, std::min(at_once, chosen.size() - first))) leave(e);
      copy_in();
    }
    unmap_evicted();
    numbers = numbers.first(placed);
    ranges_->finish_copies(exec::memory_side::device);
    if (options_.keep_host_copy && !numbers.empty()) {
      stopwatch const signing;
      check_->remember(numbers);
      signature_seconds = signing.seconds();
    }
    for (; known < placed; ++known) owner.policy->loaded(numbers[known], blocks_[numbers[known]].object);
    exchange(numbers, exec::memory_side::device, [&](block_number n) {
      block& b = blocks_[n];
      b.was_loaded_now = true;
      b.is_stale = false;
      if (!options_.keep_host_copy) keep_host(std::exchange(b.host, {}));
      ++owner.resident;
      ++loaded;
      reloaded += std::exchange(b.was_loaded, true);
      b.is_unused = b.users == 0;
    });
  } catch (...) {
    undo();
    count();
    throw;
  }
  count();
}

/// Bytes of the budget that blocks leave to arrays: what arrays had beyond the present in the last one to two periods.
/// Otherwise blocks would move in whenever an operation has freed its arrays, and out for those of the next one.
std::size_t core::kept_for_arrays() const { return std::max({most_arrays_[0], most_arrays_[1], arrays_}) - arrays_; }

/// Acquires memory for more device blocks, and puts them into the pool. may_wait: the budget may ask others for memory,
/// and wait. Returns how many blocks it acquired.
std::size_t core::grow(std::size_t blocks, bool may_wait) {
  if (blocks == 0 || options_.budget->wanted_back() > 0) return 0;
  std::size_t const limit = options_.budget->limit();
  std::size_t const kept = options_.in_place ? kept_for_arrays() : 0;
  std::size_t const taken = device_blocks_ * block_bytes() + arrays_ + kept;
  blocks = std::min(blocks, (limit - std::min(limit, taken)) / block_bytes());
  if (blocks == 0) return 0;
  device_pool_.reserve(device_blocks_ + blocks);  // so that a block can be returned without memory
  budget& from = *options_.budget;
  std::size_t const bytes = blocks * block_bytes();
  std::size_t const granted =
      (may_wait ? from.acquire(bytes, block_bytes()) : from.try_acquire(bytes, block_bytes())) / block_bytes();
  others_have_rest_ = granted < blocks;
  std::size_t made = 0;
  auto const keep_made = [&] {
    device_blocks_ += made;
    from.give_back((granted - made) * block_bytes());
  };
  try {
    for (; made < granted; ++made) device_pool_.push_back(ranges_->create(exec::memory_side::device));
  } catch (error const& failed) {  // other programs may have taken the memory: evictions have to do
    keep_made();
    if (failed.code() != error_code::out_of_memory) throw;
    return made;
  } catch (...) {
    keep_made();
    throw;
  }
  device_blocks_ += made;
  return made;
}

/// The client whose block goes next: of those with the lowest priority, at most `priority`, the one for which memory
/// times age is largest, see activity. `claim` is what the client that needs room adds to its memory. An idle client
/// loses its memory step by step, and a busy one that takes everything first evicts what it does not use itself.
client_state* core::victim_client(int priority, client_state const* claimant, std::size_t claim, time_point now) {
  client_state* best = nullptr;
  auto const weight = [&](client_state const& c) {
    return (c.resident + (&c == claimant ? claim : 0)) * c.activity.age(now);
  };
  for (client_state& c : clients_) {
    if (weight(c) == 0 || c.is_exhausted || c.options.priority > priority) continue;
    if (best == nullptr || c.options.priority < best->options.priority ||
        (c.options.priority == best->options.priority && weight(c) > weight(*best)))
      best = &c;
  }
  return best;
}

/// Calls choose_all(chosen), which calls choose(), and returns what to load. Evicts what was chosen, also if the choice
/// of more fails, and loads.
void core::move_chosen(choices const& choose_all) {
  std::vector<eviction> chosen;
  std::vector<block_number> loads;
  try {
    loads = choose_all(chosen);
  } catch (...) {
    move(chosen, {});
    throw;
  }
  move(chosen, loads);
}

/// Chooses blocks one by one, from the client whose turn it is, until there are `blocks` of them. `claim`: what the
/// claimant has got beside its resident blocks.
void core::choose_among_clients(std::size_t blocks, int priority, client_state* claimant, std::size_t claim,
                                std::vector<eviction>& chosen) {
  for (client_state& c : clients_) c.is_exhausted = false;
  time_point const now = std::chrono::steady_clock::now();
  while (blocks > 0) {
    client_state* const from = victim_client(priority, claimant, claim + 1, now);
    if (from == nullptr) return;
    if (choose(*from, 1, chosen) > 0) {
      if (claimant != nullptr) claimant->taken += from != claimant;
      --blocks;
      ++claim;
      continue;
    }
    from->is_exhausted = true;
  }
}

/// Brings up to `blocks` free device blocks for a client into the pool, by growth and by evictions, and loads as many
/// of `loads` into them. Returns how many it may take from the pool then.
std::size_t core::make_room(client_state& c, std::size_t blocks, std::span<block_number const> loads) {
  std::size_t const most = c.options.limit / block_bytes();
  std::size_t wanted = std::min(blocks, most);
  std::size_t have = 0;
  move_chosen([&](std::vector<eviction>& chosen) {
    if (std::size_t const all = c.resident + wanted; all > most) {
      std::size_t const over = all - most;
      wanted -= over - choose(c, over, chosen);
    }
    have = device_pool_.size() + chosen.size();
    if (have < wanted) have += grow(wanted - have, true);
    std::size_t const before = chosen.size();
    if (have < wanted) choose_among_clients(wanted - have, c.options.priority, &c, have, chosen);
    have += chosen.size() - before;
    loads = loads.first(std::min({loads.size(), wanted, have, device_pool_.size() + chosen.size()}));
    return std::vector(loads.begin(), loads.end());
  });
  return std::min({wanted, have, device_pool_.size()});
}

/// Whether a client could load another block. Makes the room.
bool core::has_room(client_state& c) {
  try {
    return make_room(c, 1) > 0;
  } catch (error const& failed) {
    if (failed.code() != error_code::out_of_memory) throw;
    return false;
  }
}

/// Before commit(), of a range that kernels touch at a high rate: evicts other blocks of the client for it, and waits
/// for the work of earlier launches that have ended if it uses them. False if other launches do.
bool core::make_room_for_commit(region_state* r, std::size_t from, std::size_t to) {
  if (r->hint != use_hint::hot || options_.lazy_transfers) return true;
  client_state& c = *r->owner;
  named_blocks const range = name(r, from, to - from, access::write, r->hint);
  lock l(mutex_);
  std::uint64_t const before = last_use_ + 1;
  for (;;) {
    collect();
    std::size_t idle = 0;
    std::size_t used = 0;
    for (block const& b : blocks_)
      if (b.owner == &c && b.device && b.region->hint != use_hint::hot) ++(b.users > 0 ? used : idle);
    std::size_t const wanted = without_memory(range);
    try {
      std::size_t const free = free_room(c, wanted);
      if (free == wanted || make_room(c, std::min(wanted, free + idle)) == wanted || used == 0) return true;
    } catch (error const& failed) {
      if (failed.code() != error_code::out_of_memory) throw;
      ++c.counters.failed_moves;
      return true;
    }
    if (!await_ended_use(l, before, &c, evicts_others(c))) return false;
  }
}

/// How long f() moves blocks, without the creation of host memory, which is only necessary the first time.
template <class F>
double core::seconds_of_moves(F const& f) const {
  stopwatch const watch;
  double const created_before = create_seconds_;
  f();
  return watch.seconds() - (create_seconds_ - created_before);
}

/// Makes room for blocks without memory, and loads others, while none of the resident blocks `kept` is evicted.
void core::make_room_beside(client_state& c, std::span<block_number const> kept, std::size_t blocks,
                            std::span<block_number const> loads) {
  struct launch {  // for the policy: the blocks are no victims until its end
    policy& of;
    launch_number number;
    launch(policy& p, std::span<block_number const> blocks, launch_number n) : of(p), number(n) {
      of.keep(blocks, number);
    }
    launch(launch const&) = delete;
    ~launch() { of.finished(number); }
  };
  std::optional<launch> scope;
  if (!kept.empty()) scope.emplace(*c.policy, kept, ++last_launch_);
  std::size_t const taken_before = c.taken;
  std::size_t const moved_before = c.counters.moved_in_bytes;
  try {
    double const seconds = seconds_of_moves([&] { (void)make_room(c, blocks, loads); });
    charge_moves(c, seconds, (c.counters.moved_in_bytes - moved_before) / block_bytes(), c.taken > taken_before);
  } catch (error const& failed) {
    if (failed.code() != error_code::out_of_memory) throw;
    ++c.counters.failed_moves;
  }
}

/// The blocks of a launch by where they are and whether they come first.
struct core::ranked_blocks {
  std::vector<block_number> first;         // of ranges that come first, on the device
  std::vector<block_number> others;        // on the device
  std::vector<block_number> in_host;       // of ranges that come first, unused
  std::vector<std::byte const*> unbacked;  // the addresses of blocks without memory, of ranges that come first
  bool are_others_used = false;
  bool is_used_in_host = false;  // a block of a range that comes first
};

core::ranked_blocks core::ranked(std::span<named_blocks const> names) const {
  ranked_blocks all;
  for (named_blocks const& name : names)
    for (std::size_t i = name.first; i < name.last; ++i) {
      block_number const n = name.region->blocks[i];
      bool const is_used = n != unbacked && blocks_[n].users > 0;
      if (n != unbacked && blocks_[n].device) {
        (name.comes_first ? all.first : all.others).push_back(n);
        all.are_others_used |= !name.comes_first && is_used;
      } else if (name.comes_first && n == unbacked) {
        all.unbacked.push_back(name.region->base + i * block_bytes());
      } else if (name.comes_first) {
        all.is_used_in_host |= is_used;
        if (!is_used) all.in_host.push_back(n);
      }
    }
  sort_unique(all.in_host);
  sort_unique(all.unbacked);
  return all;
}

/// Makes room for the ranges of a launch that come first, and loads them: in the place of its other blocks if there is
/// no other room. False if waiting for other launches can help, because they use what could move.
bool core::make_room_for_first(client_state& c, std::span<named_blocks const> names) {
  if (!options_.in_place) return true;  // all blocks of a launch must fit
  for (bool const keeps_others : {true, false}) {
    ranked_blocks const all = ranked(names);
    std::size_t const wanted = all.in_host.size() + all.unbacked.size();
    if (wanted == 0 && !all.is_used_in_host) return true;
    std::vector<block_number> kept = all.first;
    if (keeps_others) kept.insert(kept.end(), all.others.begin(), all.others.end());
    if (wanted > 0) make_room_beside(c, kept, wanted, all.in_host);
  }
  ranked_blocks const left = ranked(names);
  std::size_t const limit = c.options.limit / block_bytes();
  std::size_t const room = std::min(device_pool_.size(), limit - std::min(limit, c.resident));
  bool const is_missing = !left.in_host.empty() || left.unbacked.size() > room;
  return !(is_missing && left.are_others_used) && !(left.is_used_in_host && !left.others.empty());
}

/// Makes room for what a launch names and has no memory yet, so that it gets device memory at once.
void core::make_room_for_new(client_state& c, std::span<named_blocks const> names) {
  if (options_.lazy_transfers) return;
  std::vector<std::byte const*> unbacked_at;
  std::vector<block_number> resident;
  for (named_blocks const& name : names)
    for (std::size_t i = name.first; i < name.last; ++i) {
      block_number const n = name.region->blocks[i];
      if (n == unbacked && name.hint != use_hint::once) unbacked_at.push_back(name.region->base + i * block_bytes());
      if (n != unbacked && blocks_[n].device) resident.push_back(n);
    }
  sort_unique(unbacked_at);
  if (!unbacked_at.empty()) make_room_beside(c, resident, unbacked_at.size(), {});
}

/// Moves what a use names to the device, as far as there is room. Waits for launches that are finished but not done if
/// their blocks are room, or if there is room for blocks that they use in place. Returns how long it has moved
/// blocks.
double core::move_in(lock& l, use_state& u) {
  double seconds = 0;
  for (;;) {
    std::vector<used_block> wanted;
    bool is_used_in_place = false;
    for (bool const comes_first : {true, false})
      for (used_block const& b : u.blocks) {
        if (b.comes_first != comes_first || b.hint == use_hint::once || blocks_[b.number].device) continue;
        if (blocks_[b.number].users == 1)
          wanted.push_back(b);
        else
          is_used_in_place = true;
      }
    std::size_t const all = wanted.size();
    if (all == 0 && !is_used_in_place) return seconds;
    try {
      std::vector<block_number> numbers;
      for (used_block const& b : wanted) numbers.push_back(b.number);
      seconds += seconds_of_moves([&] { (void)make_room(*u.owner, all, numbers); });
    } catch (error const& failed) {
      if (failed.code() != error_code::out_of_memory) throw;
      ++u.owner->counters.failed_moves;
    }
    std::erase_if(wanted, [&](used_block const& b) { return !blocks_[b.number].device; });
    announce(u, wanted);
    if (!options_.in_place) {
      if (wanted.size() == all && !is_used_in_place) return seconds;
      await_other_use(l, u);
      continue;
    }
    bool has_more = false;
    if (wanted.size() == all && is_used_in_place) seconds += seconds_of_moves([&] { has_more = has_room(*u.owner); });
    if (wanted.size() == all && !has_more) return seconds;
    if (!await_ended_use(l, u.number, u.owner, evicts_others(*u.owner))) return seconds;
  }
}

/// The blocks that a launch was to have on the device, and that are not there.
std::vector<used_block> core::missing_blocks(use_state const& u) const {
  std::vector<used_block> missing;
  for (used_block const& b : u.blocks)
    if (b.hint != use_hint::once && !blocks_[b.number].device) missing.push_back(b);
  return missing;
}

/// Waits for the end of a use that may hold what a launch needs. Throws if there is none.
void core::await_other_use(lock& l, use_state const& u) {
  if (std::none_of(uses_.begin(), uses_.end(), [&](auto const& other) { return other.get() != &u; }))
    throw error(error_code::out_of_memory,
                "client '" + u.owner->options.name + "': a launch uses " +
                    std::to_string(u.blocks.size() * block_bytes()) + " bytes, which do not fit into the budget of " +
                    std::to_string(options_.budget->limit()) +
                    " bytes beside arrays and clients of higher priority; use less in a launch, or set "
                    "options.in_place");
  if (await_ended_use(l, ~std::uint64_t{0})) return;
  changed_.wait(l);
  collect();
}

/// Without options::in_place, a launch may wait for all others, so none may wait in a thread that holds one.
void core::refuse_to_wait_for_itself(client_state const& c, char const* what) const {
  for (auto const& u : uses_)
    if (!u->is_finished && u->work && u->is_mine())
      throw error(error_code::bad_argument,
                  "client '" + c.options.name + "': " + what +
                      " would wait for ever for a use that its own thread has not finished; call finish() first");
}

/// Before a transfer that replaces a whole resident block: backs it by its host memory, into which the transfer goes
/// then, and frees its device memory. The block stays resident if there is no memory for that.
void core::stage(block_number n) noexcept {
  block& b = blocks_[n];
  try {
    if (!b.host) b.host = take_host();
  } catch (...) {
    return;
  }
  if (!map_in_place(b)) unmap(b);
  device_pool_.push_back(std::exchange(b.device, {}));
  ++room_;
  b.is_changed = false;
  --b.owner->resident;
  b.owner->counters.wasted_moves += std::exchange(b.is_unused, false);
  b.owner->policy->overwritten(n);
}

/// Frees up to so many device blocks, and evicts blocks of clients up to a priority for that. Returns how many.
std::size_t core::free_device_blocks(std::size_t blocks, int priority) noexcept {
  blocks = std::min(blocks, device_blocks_);
  try {
    if (blocks > device_pool_.size())
      move_chosen([&](std::vector<eviction>& chosen) {
        choose_among_clients(blocks - device_pool_.size(), priority, nullptr, 0, chosen);
        return std::vector<block_number>();
      });
  } catch (...) {  // what is in the pool can go
  }
  std::size_t freed = 0;
  for (; freed < blocks && !device_pool_.empty(); ++freed) {
    ranges_->destroy(exec::memory_side::device, device_pool_.back());
    device_pool_.pop_back();
    --device_blocks_;
    options_.budget->give_back(block_bytes());
  }
  return freed;
}

void core::give_back_wanted() noexcept {
  std::size_t const wanted = options_.budget->wanted_back();
  if (wanted > 0) free_device_blocks((wanted - 1) / block_bytes() + 1, std::numeric_limits<int>::max());
}

bool core::take_array(client_state* c, std::size_t bytes, if_full then) {
  if (bytes == 0) return true;
  budget& all = *options_.budget;
  std::size_t const blocks = (bytes - 1) / block_bytes() + 1;
  lock l(mutex_);
  collect();
  // With if_full::wait all launches are waited for: whoever waits for changed_ must have retired those that have ended.
  bool const waits_for_all = then == if_full::wait;
  std::uint64_t const before = waits_for_all ? ~std::uint64_t{0} : last_use_ + 1;
  for (;;) {
    if (arrays_ + bytes <= all.limit()) {
      // In blocks, because the broker asks for multiples of the last step. What is left may be less than that.
      bool const may_fit = blocks <= all.limit() / block_bytes();
      std::size_t const got = may_fit ? all.acquire(blocks * block_bytes(), block_bytes()) : 0;
      if (got >= bytes) {
        all.give_back(got - bytes);
        break;
      }
      std::size_t const freed = free_device_blocks((bytes - got - 1) / block_bytes() + 1, c->options.priority);
      all.give_back(got);
      if (freed > 0) continue;
      if (all.acquire(bytes, bytes) == bytes) break;
      if (await_ended_use(l, before, waits_for_all ? nullptr : c)) continue;
    }
    if (then == if_full::give_up) return false;
    bool const may_wait = then == if_full::wait && std::none_of(uses_.begin(), uses_.end(), [](auto const& u) {
                            return u->work && !u->is_finished && u->is_mine();
                          });
    if (may_wait && !uses_.empty() && arrays_ + bytes <= all.limit()) {
      changed_.wait(l);
      collect();
      continue;
    }
    if (all.grow(arrays_ + bytes > all.limit() ? arrays_ + bytes - all.limit() : bytes)) continue;
    throw error(error_code::out_of_memory,
                "an array of " + std::to_string(bytes) + " bytes does not fit into the budget of device memory: " +
                    std::to_string(all.limit()) + " bytes, of which " + std::to_string(arrays_) +
                    " are in other arrays, and " + std::to_string(device_blocks_ * block_bytes()) +
                    " in blocks of launches that are not finished, or of clients of higher priority; " +
                    (arrays_ + bytes > all.limit()
                         ? "the budget must have " + std::to_string(arrays_ + bytes) + " bytes at least"
                     : arrays_ + bytes + device_blocks_ * block_bytes() <= all.limit()
                         ? std::string("others who share the budget hold the rest")
                         : std::string("finish these launches, or use a larger budget")));
  }
  c->arrays += bytes;
  arrays_ += bytes;
  most_arrays_[0] = std::max(most_arrays_[0], arrays_);
  return true;
}

/// Blocks of clients of higher priority, and those that launches of other clients use, stay.
std::size_t core::room_for_arrays(client_state const* c) {
  lock const l(mutex_);
  collect();
  auto const stays = [&](block const& b) {
    return b.device && b.owner != c && (b.users > 0 || b.owner->options.priority > c->options.priority);
  };
  auto const staying = static_cast<std::size_t>(std::count_if(blocks_.begin(), blocks_.end(), stays));
  auto const left = [](std::size_t limit, std::size_t taken) { return limit - std::min(limit, taken); };
  return std::min(left(options_.budget->limit(), arrays_ + staying * block_bytes()), left(c->options.limit, c->arrays));
}

std::size_t core::in_host_memory(region_state const* r, std::size_t bytes) const {
  lock const l(mutex_);
  auto const is_on_host = [&](block_number n) { return n != unbacked && !blocks_[n].device; };
  std::size_t const blocks = std::min(r->blocks.size(), (bytes + block_bytes() - 1) / block_bytes());
  auto const first = r->blocks.begin();
  return static_cast<std::size_t>(std::count_if(first, first + static_cast<std::ptrdiff_t>(blocks), is_on_host)) *
         block_bytes();
}

void core::return_array(client_state* c, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  lock const l(mutex_);
  c->arrays -= bytes;
  arrays_ -= bytes;
  options_.budget->give_back(bytes);
  changed_.notify_all();
}

void core::give_back() {
  lock const l(mutex_);
  collect();
  give_back_wanted();
}

/// Fetches what was written last and is not resident, without evictions. Returns the number of blocks; 0 when memory is
/// full, nothing is left, or a launch waits.
std::size_t core::fetch_idle() {
  constexpr std::size_t most = 16;  // a launch that comes waits for so many
  if (waiting_launches_ > 0) return 0;
  lock const l(mutex_);
  collect();
  give_back_wanted();
  block const* newest = nullptr;
  for (block const& b : blocks_)
    if (b.owner != nullptr && !b.device && b.written_at > 0 && !b.was_loaded && b.users == 0 &&
        (b.owner->resident + 1) * block_bytes() <= b.owner->options.limit &&
        (newest == nullptr || b.written_at > newest->written_at))
      newest = &b;
  if (newest == nullptr) return 0;
  client_state& c = *newest->owner;
  std::vector<block_number> wanted;
  for (block_number n = 0; n < blocks_.size() && wanted.size() < most; ++n)
    if (block const& b = blocks_[n];
        b.owner == &c && !b.device && b.written_at == newest->written_at && !b.was_loaded && b.users == 0)
      wanted.push_back(n);
  std::size_t room = std::min(wanted.size(), c.options.limit / block_bytes() - c.resident);
  if (device_pool_.size() < room) (void)grow(room - device_pool_.size(), false);
  wanted.resize(std::min(room, device_pool_.size()));
  std::vector<eviction> none;
  move(none, wanted);
  return wanted.size();
}

}  // namespace wyrm::alloc::residency::detail
