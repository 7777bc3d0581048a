// SPDX-License-Identifier: Apache-2.0
// Clients that compete: together they need more device memory than there is. A launch whose blocks do not fit runs in
// place, but it takes much longer, and the bus and the device that it occupies are not free for others. So clients have
// the device in turn:
//
// - Their launches run one after the other, and the next one is of the client that has used the device least
//   (start-time fair queueing, in time times memory), see await_turn(). Transfers over the bus and moves count as well.
// - A launch takes the room that it needs from any client, and its client then keeps the turn for as long as that took.
//   So about half of the time goes into launches, and not all of it into exchanges.
// - A launch waits a little while another client is enqueuing one, whose blocks cannot be evicted.
// - Transfers go to host memory, so that they hold no device memory while another client has its turn.
#include <algorithm>
#include <cmath>

#include "../../exec/error.hpp"
#include "core.hpp"

namespace wyrm::alloc::residency::detail {

namespace {
using clock = std::chrono::steady_clock;
clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}
}  // namespace

/// Whether several clients that are not idle need more than there is.
bool core::is_contended() const {
  time_point const now = clock::now();
  std::size_t needed = 0;
  std::size_t clients = 0;
  for (client_state const& c : clients_) {
    if (!c.is_busy(now) || c.need() == 0) continue;
    needed += c.need();
    ++clients;
  }
  std::size_t const limit = options_.budget->limit();
  std::size_t const available = (limit - std::min(limit, arrays_)) / block_bytes();
  return clients > 1 && needed > (others_have_rest_ ? device_blocks_ : available);
}

/// Whether transfers go to host memory: always, or while others need the device memory, which a transfer would hold for
/// long, because most callers' memory is pageable.
bool core::stages() const { return options_.lazy_transfers || (options_.in_place && is_contended()); }

/// Whether launches of the clients disturb each other; also if one lacks room because of arrays, or of clients of
/// higher priority.
bool core::compete(client_state const& a, client_state const& b) const {
  return &a != &b && !a.is_closed && !b.is_closed && (a.lacks_room() || b.lacks_room() || is_contended());
}

/// Whether the next turn is that of a, not that of b.
bool core::precedes(client_state const& a, client_state const& b, time_point now) {
  bool const a_keeps = a.keeps_turn(now);
  bool const b_keeps = b.keeps_turn(now);
  return a_keeps == b_keeps ? a.turn < b.turn : a_keeps;
}

/// Until when a client that began to wait at `start` waits for what clients that precede it do next. A time that has
/// passed: it does not wait. used_before: used_by_others() at `start`.
time_point core::end_of_wait(client_state const& c, time_point start, double used_before) const {
  time_point const now = clock::now();
  double const patience = patience_of(c);
  // Not longer, for clients that use the device for less than half of the time.
  time_point const last = start + duration_of(patience + 2 * (used_by_others(c) - used_before));
  time_point end{};
  for (client_state const& other : clients_) {
    if (!compete(c, other) || !precedes(other, c, now)) continue;
    bool const copies = c.lacks_room() && other.transfers > 0;
    time_point const latest = other.keeps_turn(now) ? std::max(last, other.kept_time) : last;
    end = std::max(end, other.waiting > 0 ? now + std::chrono::milliseconds(100)
                        : copies          ? latest
                                          : std::min(other.last_active + duration_of(patience), latest));
  }
  return end;
}
/// How long a launch of c waits for what others may do next: an eighth of the time that it takes with its moves.
double core::patience_of(client_state const& c) const {
  double const moves = move_seconds_ * static_cast<double>(c.demand - std::min(c.demand, c.resident));
  return (c.launch_seconds + moves) / 8;
}
double core::used_by_others(client_state const& c) const {
  double sum = 0;
  for (client_state const& other : clients_)
    if (&other != &c) sum += other.used;
  return sum;
}
/// Whether another thread is enqueuing a launch of a competitor, whose blocks cannot be evicted.
bool core::is_enqueuing_beside(client_state const& c) const {
  return std::any_of(uses_.begin(), uses_.end(), [&](std::shared_ptr<use_state> const& u) {
    return u->work && !u->is_finished && compete(c, *u->owner) && !u->is_mine();
  });
}

/// A launch that is enqueued, and that must be done before the next one of c begins: one of a competitor; or, where
/// there are competitors that are not idle, all but the last one of c itself, which could otherwise enqueue any number
/// of launches before others get a turn.
std::shared_ptr<use_state> core::launch_before(client_state const& c) const {
  time_point const now = clock::now();
  bool const has_company = std::any_of(clients_.begin(), clients_.end(), [&](client_state const& other) {
    return compete(c, other) && other.is_busy(now);
  });
  std::shared_ptr<use_state> own;
  for (std::shared_ptr<use_state> const& u : uses_) {
    if (!u->is_finished || !u->work) continue;
    if (compete(c, *u->owner)) return u;
    if (u->owner != &c || !has_company) continue;
    if (own != nullptr) return own;
    own = u;
  }
  return nullptr;
}

/// Waits for the turn of a client: until the launches of its competitors are done, and none of these precedes it that
/// waits for its turn, or copies while the client itself lacks room. Others that precede it may launch soon; for these
/// it waits an eighth of the time that its own launch and moves take, or longer if they use the device for half of this
/// time. Terminates: the client that precedes all others waits only for work that is enqueued, and once for a short
/// time for a launch that is being enqueued.
///
/// Without options::in_place: waits until no launch waits for its blocks.
void core::await_turn(lock& l, client_state& c) {
  if (!options_.in_place) {
    refuse_to_wait_for_itself(c, "a launch");
    changed_.wait(l, [&] { return !is_loading_; });
    return;
  }
  collect();
  for (auto const& u : uses_)  // a launch may have continued for long, and is not charged yet
    if (u->work && u->owner != &c)
      turn_ = std::max(turn_, u->owner->turn + u->watch.seconds() - u->owner->launch_seconds);
  for (client_state& one : clients_) one.turn = std::max(one.turn, turn_);  // so that only use counts from now on
  ++c.waiting;
  time_point const start = clock::now();
  double const used_before = used_by_others(c);
  time_point end_of_enqueuing = time_point::max();
  for (;; collect()) {
    if (std::shared_ptr<use_state> const earlier = launch_before(c)) {
      await_work(l, earlier);
      continue;
    }
    time_point end = end_of_wait(c, start, used_before);
    time_point const now = clock::now();
    if (end <= now) {
      if (!is_enqueuing_beside(c)) break;
      auto const wait = std::max<clock::duration>(duration_of(patience_of(c)), std::chrono::milliseconds(1));
      end = end_of_enqueuing = std::min(end_of_enqueuing, now + wait);
      if (end <= now) break;
    }
    changed_.wait_until(l, end);
  }
  --c.waiting;
  turn_ = std::max(turn_, c.turn);
  c.last_active = clock::now();
  changed_.notify_all();
}

/// Counts the time of a launch that is done, times the memory that its client has or needs, relative to an equal share:
/// a client that needs little gets more of the time than one that takes all memory.
void core::charge(use_state const& u) noexcept {
  client_state& c = *u.owner;
  double const seconds = u.work->seconds();
  c.launch_seconds = std::isfinite(seconds) ? std::max(seconds, 0.0) : 0;
  c.counters.launch_seconds += c.launch_seconds;
  c.last_active = clock::now();
  auto const share = static_cast<double>(std::max<std::size_t>(fair_share(c.last_active), 1));
  double const memory = static_cast<double>(std::max(c.need(), c.resident)) / share;
  c.used += c.launch_seconds;
  constexpr double least = 1e-5;  // a launch that takes no time takes a turn, too
  c.turn += std::max(c.launch_seconds, least) * std::max(memory, 1.0 / 16);
}

/// A transfer begins or ends. Counts its time on the bus, but not how long it waits for the mutex, or copies within
/// host memory.
void core::count_transfer(client_state& c) {
  c.activity.note(clock::now());
  c.turn = std::max(c.turn, turn_);
  if (!has_competitor(c)) turn_ = c.turn;
}
void core::charge_transfer(use_state const& u) noexcept {
  client_state& c = *u.owner;
  c.last_active = clock::now();
  c.activity.note(c.last_active);
  c.used += u.bus_seconds;
  c.turn += u.bus_seconds;
  c.transfers -= u.takes_bus;
}

/// Whether other clients have launches that wait for their turn, or run, and that c competes with.
bool core::has_competitor(client_state const& c) const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [&](client_state const& other) { return other.waiting > 0 && compete(c, other); }) ||
         std::any_of(uses_.begin(), uses_.end(), [&](auto const& u) {
           return u->work && compete(c, *u->owner) && !(u->is_finished && u->work->is_done());
         });
}

/// Device blocks for each client, if all that are not idle have the same.
std::size_t core::fair_share(time_point now) const {
  auto const busy = std::count_if(clients_.begin(), clients_.end(),
                                  [&](client_state const& c) { return c.need() > 0 && c.is_busy(now); });
  return device_blocks_ / static_cast<std::size_t>(std::max<std::ptrdiff_t>(busy, 1));
}

/// After moves for a launch, which took so long, and loaded this number of blocks. has_taken: blocks of other clients
/// were evicted for that. Then the client keeps its turn until it has used the device for as long again, and for twice
/// that time at most.
void core::charge_moves(client_state& c, double seconds, std::size_t blocks, bool has_taken) noexcept {
  c.used += seconds;
  c.turn += seconds;
  if (blocks > 0) move_seconds_ = (move_seconds_ + seconds / static_cast<double>(blocks)) / 2;
  if (!has_taken) return;
  for (client_state& other : clients_)
    if (&other != &c) other.kept_until = 0;
  c.kept_until = std::max(c.kept_until, c.used + seconds);
  c.kept_time = std::max(c.kept_time, clock::now() + duration_of(2 * seconds));
}

}  // namespace wyrm::alloc::residency::detail
