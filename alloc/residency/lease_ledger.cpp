// SPDX-License-Identifier: Apache-2.0
#include "lease_ledger.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace wyrm::alloc::residency {

namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t sum(std::size_t a, std::size_t b) { return a > unlimited - b ? unlimited : a + b; }
std::size_t product(std::size_t a, std::size_t b) { return b != 0 && a > unlimited / b ? unlimited : a * b; }

}  // namespace

bool lease_ledger::can_promise(std::size_t least) const {
  for (auto const& [id, c] : clients_) least = sum(least, c.least);
  return least <= total_;
}

void lease_ledger::join(client_id id, std::uint32_t priority, std::size_t least, std::size_t held) {
  clients_.insert({id, {.priority = priority, .least = least, .held = held}});
  held_ = sum(held_, held);
}

void lease_ledger::reserve(client_id id, std::size_t least, std::size_t held) {
  clients_.insert({id, {.least = least, .held = held, .reserved = true}});
  held_ = sum(held_, held);
}

void lease_ledger::leave(client_id id) {
  auto const at = clients_.find(id);
  held_ -= at->second.held;
  clients_.erase(at);
  std::erase(waiting_, id);
}

bool lease_ledger::request(client_id id, std::size_t bytes, std::size_t step, milliseconds deadline) {
  client& c = clients_.at(id);
  if (c.waits_for != 0 || step == 0 || step > bytes) return false;
  c.waits_for = bytes - bytes % step;
  c.step = step;
  c.deadline = deadline;
  waiting_.push_back(id);
  return true;
}

bool lease_ledger::give_back(client_id id, std::size_t bytes) {
  client& c = clients_.at(id);
  if (bytes > c.held) return false;
  c.held -= bytes;
  held_ -= bytes;
  return true;
}

std::size_t lease_ledger::share_at(std::size_t level, client const& c) {
  if (c.reserved) return c.held;
  return std::min(sum(c.held, c.waits_for), std::max(c.least, product(level, c.priority)));
}

// Shares grow with the level, so bisection finds it. At the level `total_` every share is its demand or exceeds all.
std::size_t lease_ledger::fair_level() const {
  auto const fits = [&](std::size_t level) {
    std::size_t all = 0;
    for (auto const& [id, c] : clients_) all = sum(all, share_at(level, c));
    return all <= total_;
  };
  if (fits(total_)) return total_;
  std::size_t low = 0;
  std::size_t high = total_;
  while (high - low > 1) {
    std::size_t const middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// Sets `wanted` of all clients: those with the most beyond their shares give first. It depends only on the present
// state, so a client is asked no longer when those who wait have left or got their bytes elsewhere. Returns the sum.
std::size_t lease_ledger::ask() {
  std::size_t missing = 0;
  for (auto& [id, c] : clients_) {
    missing = sum(missing, c.waits_for);
    c.wanted = 0;
  }
  std::size_t const available = unused();
  if (missing <= available) return 0;
  missing -= available;
  std::size_t const level = fair_level();
  std::vector<std::pair<std::size_t, client*>> excess;
  for (auto& [id, c] : clients_) {
    std::size_t const keeps = share_at(level, c);  // at least `least`, if it holds that
    if (c.held <= keeps) continue;
    std::size_t const bytes = c.held - keeps;
    // Less than a step would go back and forth for ever; but a client whose share has no whole step would keep it all.
    std::size_t const unit = c.step <= keeps ? c.step : 1;
    excess.emplace_back(bytes - bytes % unit, &c);
  }
  std::ranges::stable_sort(excess, std::ranges::greater(), [](auto const& e) { return e.first; });
  std::size_t asked = 0;
  for (auto const& [bytes, c] : excess) {
    c->wanted = std::min(bytes, missing);
    missing -= c->wanted;
    asked += c->wanted;
  }
  return asked;
}

std::size_t lease_ledger::serve_first(milliseconds now, bool& served) {
  client& first = clients_.at(waiting_.front());
  std::size_t const available = std::min(first.waits_for, unused());
  std::size_t const bytes = available - available % first.step;
  // Nobody is asked to give bytes to a client that has its share, so it does not wait for them.
  auto const has_share = [&] { return first.held + first.step > share_at(fair_level(), first); };
  served = bytes == first.waits_for || now >= first.deadline || (ask() == 0 && (bytes != 0 || has_share()));
  if (!served) return 0;
  first.held += bytes;
  held_ += bytes;
  first.waits_for = 0;
  waiting_.pop_front();
  return bytes;
}

std::vector<lease_ledger::grant> lease_ledger::settle(milliseconds now) {
  std::vector<grant> grants;
  for (bool served = true; served && !waiting_.empty();) {
    client_id const first = waiting_.front();
    std::size_t const bytes = serve_first(now, served);
    if (served) grants.push_back({first, bytes});
  }
  // Behind a first client that waits on, others reach their deadlines, too. They get nothing: it would overtake the
  // first.
  for (std::size_t i = 1; i < waiting_.size();) {
    client& c = clients_.at(waiting_[i]);
    if (now < c.deadline) {
      ++i;
      continue;
    }
    grants.push_back({waiting_[i], 0});
    c.waits_for = 0;
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  (void)ask();
  return grants;
}

std::optional<lease_ledger::milliseconds> lease_ledger::next_deadline() const {
  std::optional<milliseconds> next;
  for (client_id const id : waiting_) {
    milliseconds const deadline = clients_.at(id).deadline;
    next = next ? std::min(*next, deadline) : deadline;
  }
  return next;
}

}  // namespace wyrm::alloc::residency
