// SPDX-License-Identifier: Apache-2.0
// The books of a broker, compared with a model that counts shares upwards, one level at a time.
#include "../../alloc/residency/lease_ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "../support/seed.hpp"

namespace wyrm::tests {

namespace {

using alloc::residency::lease_ledger;
using id = lease_ledger::client_id;

struct member {
  std::size_t priority;
  std::size_t least;
  std::size_t held = 0;
  std::size_t waits = 0;
  std::size_t step = 1;
  std::uint64_t deadline = 0;
  bool reserved = false;
};

class model {
 public:
  explicit model(std::size_t total) : total_(total) {}

  std::map<id, member> members;
  std::deque<id> queue;

  [[nodiscard]] std::size_t unused() const {
    std::size_t held = 0;
    for (auto const& [i, m] : members) held += m.held;
    return total_ - held;
  }
  [[nodiscard]] std::size_t missing() const {
    std::size_t all = 0;
    for (auto const& [i, m] : members) all += m.waits;
    return all > unused() ? all - unused() : 0;
  }
  // What each can be asked for.
  [[nodiscard]] std::map<id, std::size_t> excess() const {
    std::size_t const level = fair_level();
    std::map<id, std::size_t> all;
    for (auto const& [i, m] : members) {
      std::size_t const keeps = std::max(m.least, share(m, level));
      std::size_t const beyond = m.held > keeps ? m.held - keeps : 0;
      // A step that is more than its share is no reason to keep it.
      all[i] = m.step > std::min(keeps, m.held) ? beyond : beyond / m.step * m.step;
    }
    return all;
  }
  [[nodiscard]] std::size_t asked() const {
    std::size_t all = 0;
    for (auto const& [i, bytes] : excess()) all += bytes;
    return std::min(all, missing());
  }
  std::vector<std::pair<id, std::size_t>> settle(std::uint64_t now) {
    std::vector<std::pair<id, std::size_t>> grants;
    while (!queue.empty()) {
      member& m = members.at(queue.front());
      std::size_t const bytes = std::min(m.waits, unused()) / m.step * m.step;
      bool const enough = bytes == m.waits || (asked() == 0 && (bytes > 0 || m.held + m.step > share(m, fair_level())));
      if (!enough && now < m.deadline) break;
      grants.emplace_back(queue.front(), bytes);
      m.held += bytes;
      m.waits = 0;
      queue.pop_front();
    }
    for (id const i : std::deque<id>(queue)) {
      if (i == queue.front() || now < members.at(i).deadline) continue;
      grants.emplace_back(i, 0);
      members.at(i).waits = 0;
      std::erase(queue, i);
    }
    return grants;
  }

 private:
  [[nodiscard]] std::size_t fair_level() const {
    std::size_t level = 0;
    while (level < total_ && sum_of_shares(level + 1) <= total_) ++level;
    return level;
  }
  [[nodiscard]] static std::size_t share(member const& m, std::size_t level) {
    if (m.reserved) return m.held;
    return std::min(m.held + m.waits, std::max(m.least, level * m.priority));
  }
  [[nodiscard]] std::size_t sum_of_shares(std::size_t level) const {
    std::size_t all = 0;
    for (auto const& [i, m] : members) all += share(m, level);
    return all;
  }
  std::size_t total_;
};

void expect_equal(lease_ledger const& books, model const& m) {
  ASSERT_EQ(books.clients().size(), m.members.size());
  ASSERT_EQ(books.unused(), m.unused());
  ASSERT_LE(books.held(), books.total());
  auto const excess = m.excess();
  std::size_t wanted = 0;
  for (auto const& [i, c] : books.clients()) {
    ASSERT_EQ(c.held, m.members.at(i).held) << i;
    ASSERT_EQ(c.waits_for, m.members.at(i).waits) << i;
    ASSERT_LE(c.wanted, excess.at(i)) << i;
    wanted += c.wanted;
    if (c.wanted == 0) continue;
    for (auto const& [j, other] : books.clients()) {
      if (excess.at(j) > excess.at(i)) {
        ASSERT_EQ(other.wanted, excess.at(j)) << "those with the most give first";
      }
    }
  }
  ASSERT_EQ(wanted, m.asked());
}

TEST(lease_ledger, random_sequences_agree_with_a_model) {
  std::mt19937_64 random(seeded(501));
  auto const below = [&](std::size_t n) { return random() % n; };
  for (int run = 0; run < 200; ++run) {
    std::size_t const total = 1 + below(60);
    lease_ledger books(total);
    model m(total);
    std::uint64_t now = 0;
    id next = 1;
    for (int step = 0; step < 200; ++step) {
      now += below(3);
      auto const any = [&] {
        return std::next(m.members.begin(), static_cast<std::ptrdiff_t>(below(m.members.size())));
      };
      if (m.members.size() < 2 || below(12) == 0) {
        std::size_t const least = below(2) * below(total / 4 + 1);
        std::size_t promised = least;
        for (auto const& [i, c] : m.members) promised += c.least;
        ASSERT_EQ(books.can_promise(least), promised <= total);
        std::size_t const held = below(3) == 0 ? below(m.unused() + 1) : 0;
        auto const priority = static_cast<std::uint32_t>(1 + below(4));
        bool const reserved = below(4) == 0;
        if (reserved)
          books.reserve(next, least, held);
        else
          books.join(next, priority, least, held);
        m.members[next++] = {.priority = priority, .least = least, .held = held, .reserved = reserved};
      } else if (below(15) == 0) {
        id const gone = any()->first;
        books.leave(gone);
        m.members.erase(gone);
        std::erase(m.queue, gone);
      } else if (below(2) == 0) {
        auto& [i, c] = *any();
        if (c.reserved) continue;
        std::size_t const bytes = below(total + 3);
        std::size_t const unit = below(6);
        bool const good = c.waits == 0 && unit > 0 && unit <= bytes;
        ASSERT_EQ(books.request(i, bytes, unit, now + 5), good);
        if (good) {
          c.waits = bytes / unit * unit;
          c.step = unit;
          c.deadline = now + 5;
          m.queue.push_back(i);
        }
      } else {
        auto& [i, c] = *any();
        std::size_t const bytes = below(c.held + 2);
        ASSERT_EQ(books.give_back(i, bytes), bytes <= c.held);
        if (bytes <= c.held) c.held -= bytes;
      }
      auto const expected = m.settle(now);
      auto const grants = books.settle(now);
      ASSERT_EQ(grants.size(), expected.size());
      for (std::size_t k = 0; k < grants.size(); ++k) {
        ASSERT_EQ(grants[k].to, expected[k].first);
        ASSERT_EQ(grants[k].bytes, expected[k].second);
      }
      expect_equal(books, m);
      if (HasFatalFailure()) return;
      ASSERT_EQ(books.next_deadline().has_value(), !m.queue.empty());
    }
  }
}

// Each wants all, and gives back what it is asked for.
TEST(lease_ledger, two_that_want_everything_get_parts_by_priority_and_keep_them) {
  lease_ledger books(400);
  books.join(1, 1, 0, 0);
  books.join(2, 3, 0, 0);
  std::uint64_t now = 0;
  ASSERT_TRUE(books.request(1, 400, 10, now + 10));
  ASSERT_EQ(books.settle(now).size(), 1u);
  std::size_t moved = 0;
  for (int turn = 0; turn < 100; ++turn) {
    for (id const i : {id{2}, id{1}}) {
      (void)books.request(i, 400, 10, now + 10);
      (void)books.settle(++now);
      for (id const j : {id{1}, id{2}}) {
        std::size_t const wanted = books.clients().at(j).wanted;
        moved += wanted;
        ASSERT_TRUE(books.give_back(j, wanted));
        (void)books.settle(now);
      }
    }
  }
  EXPECT_EQ(books.clients().at(1).held, 100u);
  EXPECT_EQ(books.clients().at(2).held, 300u);
  EXPECT_EQ(moved, 300u) << "no byte changes its holder twice";
}

// 20 blocks of 10 bytes and 5 bytes more do not divide by two.
TEST(lease_ledger, part_of_a_block_does_not_go_back_and_forth) {
  lease_ledger books(205);
  books.join(1, 1, 0, 0);
  books.join(2, 1, 0, 0);
  ASSERT_TRUE(books.request(1, 110, 10, 0));
  ASSERT_TRUE(books.request(2, 90, 10, 0));
  ASSERT_EQ(books.settle(0).size(), 2u);
  ASSERT_TRUE(books.request(2, 10, 10, 5));
  EXPECT_TRUE(books.settle(0).empty()) << "nothing is free, and its patience lasts";
  EXPECT_EQ(books.clients().at(1).wanted, 0u) << "5 bytes beyond its share are no block";
  ASSERT_TRUE(books.give_back(1, 10));
  ASSERT_EQ(books.settle(0).size(), 1u);
  ASSERT_TRUE(books.request(1, 10, 10, 5));
  auto const grants = books.settle(0);
  ASSERT_EQ(grants.size(), 1u) << "it has all blocks of its share, and does not wait";
  EXPECT_EQ(grants[0].bytes, 0u);
  EXPECT_EQ(books.clients().at(2).wanted, 0u);
}

// A client below its share waits; one at its share is answered at once, however long its patience lasts.
TEST(lease_ledger, client_that_has_its_share_does_not_wait) {
  lease_ledger books(200);
  books.join(1, 1, 0, 0);
  books.join(2, 1, 0, 0);
  ASSERT_TRUE(books.request(1, 200, 10, 0));
  ASSERT_EQ(books.settle(0).size(), 1u);
  ASSERT_TRUE(books.request(2, 200, 10, 1000));
  EXPECT_TRUE(books.settle(0).empty()) << "100 bytes are to come";
  ASSERT_TRUE(books.give_back(1, books.clients().at(1).wanted));
  ASSERT_EQ(books.settle(0).size(), 1u);
  for (id const i : {id{1}, id{2}}) {
    EXPECT_EQ(books.clients().at(i).held, 100u);
    ASSERT_TRUE(books.request(i, 10, 10, 1000));
    auto const grants = books.settle(0);
    ASSERT_EQ(grants.size(), 1u);
    EXPECT_EQ(grants[0].to, i);
    EXPECT_EQ(grants[0].bytes, 0u);
  }
  EXPECT_FALSE(books.next_deadline().has_value());
}

// One array of 120 bytes, acquired as a whole; the other's blocks have 10 bytes.
TEST(lease_ledger, step_that_exceeds_a_share_does_not_keep_it_from_others) {
  for (std::size_t const least : {0u, 100u}) {
    lease_ledger books(120);
    books.join(1, 1, least, 0);
    books.join(2, 1, 0, 0);
    ASSERT_TRUE(books.request(1, 120, 120, 0));
    ASSERT_EQ(books.settle(0).size(), 1u);
    ASSERT_TRUE(books.request(2, 120, 10, 5));
    EXPECT_TRUE(books.settle(0).empty());
    std::size_t const part = least == 0 ? 60 : 20;
    EXPECT_EQ(books.clients().at(1).wanted, part);
    ASSERT_TRUE(books.give_back(1, part));
    auto const grants = books.settle(0);
    ASSERT_EQ(grants.size(), 1u);
    EXPECT_EQ(grants[0].bytes, part);
    ASSERT_TRUE(books.request(1, 120, 120, 5));
    auto const none = books.settle(0);
    ASSERT_EQ(none.size(), 1u);
    EXPECT_EQ(none[0].bytes, 0u);
    EXPECT_EQ(books.clients().at(2).wanted, 0u) << "it does not go back";
  }
}

TEST(lease_ledger, reservation_is_not_asked_and_is_no_promise) {
  lease_ledger books(120);
  books.reserve(1, 20, 110);
  EXPECT_TRUE(books.can_promise(100));
  EXPECT_FALSE(books.can_promise(101)) << "what it was promised counts";
  books.join(2, 1, 100, 0);
  ASSERT_TRUE(books.request(2, 100, 10, 5));
  auto const grants = books.settle(0);
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_EQ(grants[0].bytes, 10u);
  EXPECT_EQ(books.clients().at(1).wanted, 0u);
}

TEST(lease_ledger, huge_numbers_do_not_wrap) {
  std::size_t const total = std::size_t{1} << 62;
  std::size_t const huge = ~std::size_t{0};
  lease_ledger books(total);
  books.join(1, ~0u, 0, total);
  books.join(2, ~0u, total, 0);
  EXPECT_FALSE(books.can_promise(1));
  EXPECT_FALSE(books.can_promise(huge));
  ASSERT_TRUE(books.request(2, huge, 1, 5));
  EXPECT_TRUE(books.settle(0).empty());
  EXPECT_EQ(books.clients().at(1).wanted, total) << "the other was promised everything";
  EXPECT_FALSE(books.give_back(2, 1));
  ASSERT_TRUE(books.give_back(1, total));
  ASSERT_EQ(books.settle(0).size(), 1u);
  EXPECT_EQ(books.clients().at(2).held, total);

  lease_ledger halves(total);
  halves.join(1, 4, 0, total);
  halves.join(2, 4, 0, 0);
  ASSERT_TRUE(halves.request(2, huge, 1, 5));
  EXPECT_TRUE(halves.settle(0).empty());
  EXPECT_EQ(halves.clients().at(1).wanted, total / 2);
}

}  // namespace

}  // namespace wyrm::tests
