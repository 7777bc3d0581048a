// SPDX-License-Identifier: Apache-2.0
// A broker and its clients are killed, or stopped, at any moment. The broker counts what the others hold, and the
// others lose nothing.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../alloc/residency/manager.hpp"
#include "../../exec/config.hpp"
#include "../support/seed.hpp"
#include "broker_processes.hpp"
#include "residency/random_client.hpp"

namespace wyrm::tests {

namespace {

constexpr std::size_t step = std::size_t{64} << 10;  // a block of a manager
/// After the end of a process the books of the broker are right within a second. Sanitizers make processes slower.
constexpr std::chrono::milliseconds soon = WYRM_THREAD_SANITIZER || WYRM_ADDRESS_SANITIZER ? 10s : 1s;

[[nodiscard]] std::chrono::milliseconds left_until(std::chrono::steady_clock::time_point end) {
  return std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
}

/// A residency manager whose budget is a lease, and a region of data beside a copy in the memory of the process.
class managed_data {
 public:
  managed_data(lease_options const& o, std::size_t count, std::uint64_t seed)
      : random_(seed),
        lease_(std::make_shared<lease>(o)),
        manager_(exec::host_space(1), options_with(lease_)),
        client_(manager_.make_client()),
        region_(client_.reserve(count * step)),
        words_(count * words_of_block) {
    for (std::uint64_t& word : words_) word = random_();
    region_.write(0, words_.data(), region_.bytes());
  }

  /// A launch that changes some blocks, or a transfer of one. Returns whether the data are right, as far as they are
  /// read, and the lease is as large as the memory of the manager.
  [[nodiscard]] bool act() {
    std::size_t const count = words_.size() / words_of_block;
    std::size_t const first = random_() % count;
    std::size_t const last = first + 1 + random_() % (count - first);
    std::uint64_t* const begin = words_.data() + first * words_of_block;
    switch (random_() % 8) {
      case 0: return is_right(first, first + 1);
      case 1:
        for (std::size_t i = 0; i < words_of_block; ++i) begin[i] = random_();
        region_.write(first * step, begin, step);
        break;
      case 2: manager_.give_back(); break;
      default: {
        std::size_t const items = (last - first) * words_of_block / stride_words;
        std::uint64_t const key = random_();
        client_.launch({{region_, first * step, (last - first) * step}}, [&](exec::host_space const& space) {
          exec::for_each(space, items, mix_words{reinterpret_cast<std::uint64_t*>(region_.data() + first * step), key});
        });
        for (std::size_t i = 0; i < items; ++i) begin[i * stride_words] = mixed(begin[i * stride_words], key);
      }
    }
    return manager_.counters().resident_bytes <= lease_->held();
  }
  [[nodiscard]] bool is_right() const { return is_right(0, words_.size() / words_of_block); }
  [[nodiscard]] std::size_t held() const { return lease_->held(); }
  [[nodiscard]] bool has_evicted() const {
    return manager_.counters().dirty_evictions > 0 && manager_.counters().reloaded_bytes > 0;
  }

 private:
  static constexpr std::size_t words_of_block = step / 8;

  [[nodiscard]] static options options_with(std::shared_ptr<lease> budget) {
    options o;
    o.budget = std::move(budget);
    o.block_bytes = step;
    return o;
  }
  [[nodiscard]] bool is_right(std::size_t first, std::size_t last) const {
    std::vector<std::uint64_t> found((last - first) * words_of_block);
    region_.read(first * step, found.data(), (last - first) * step);
    return std::equal(found.begin(), found.end(), words_.data() + first * words_of_block);
  }

  std::mt19937_64 random_;
  std::shared_ptr<lease> lease_;
  manager<exec::host_space> manager_;
  alloc::residency::client<exec::host_space> client_;
  region region_;
  std::vector<std::uint64_t> words_;
};

class broker_kill_test : public broker_test {
 protected:
  /// Changes its data until the numbers say stop, and verifies all of them then. Pauses if the numbers say so.
  [[nodiscard]] int survive(std::size_t which, std::uint64_t seed) const {
    managed_data data(client(20ms), 12, seed);
    ++shared_->ready;
    while (!shared_->stop) {
      if (!data.act()) return 2;
      if (!shared_->pause) continue;
      shared_->held_by[which] = data.held();
      ++shared_->paused;
      while (shared_->pause) std::this_thread::sleep_for(100us);
      --shared_->paused;
    }
    if (!data.is_right()) return 3;
    return data.has_evicted() ? 0 : 4;
  }
  [[nodiscard]] std::string books() const {
    std::string all;
    for (auto const& c : status_of_broker(socket_).clients)
      all += std::to_string(c.pid) + " holds " + std::to_string(c.held) + ", waits for " + std::to_string(c.waits_for) +
             ", should release " + std::to_string(c.wanted) + "; ";
    all += "they say";
    for (std::size_t const held : shared_->held_by) all += ' ' + std::to_string(held);
    return all;
  }
  /// Whether the broker knows the processes that pause, and nobody else, with what they hold.
  [[nodiscard]] bool books_are_right() const {
    broker_status const status = status_of_broker(socket_);
    std::vector<std::size_t> found;
    std::size_t all = 0;
    for (auto const& c : status.clients) {
      found.push_back(c.held);
      all += c.held;
      if (c.pid == 0) return false;
    }
    std::vector<std::size_t> expected(shared_->held_by.begin(), shared_->held_by.end());
    std::ranges::sort(found);
    std::ranges::sort(expected);
    return found == expected && status.held == all && all <= status.budget;
  }
};

TEST_F(broker_kill_test, killed_processes_leave_their_bytes_at_100_moments) {
  process const server = start_broker(24 * step);
  std::vector<process> survivors;
  for (std::size_t i = 0; i < shared_->held_by.size(); ++i)
    survivors.emplace_back([this, i] { return survive(i, seeded(521 + i)); });
  ASSERT_TRUE(happens([&] { return shared_->ready == 3; }, 10s));
  std::mt19937_64 random(seeded(520));
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    std::uint64_t const seed = random();
    process victim([&] {
      if (i % 4 == 0) return churn(seed);
      managed_data data(client(20ms), 1 + seed % 16, seed);
      while (data.act()) {
      }
      return 1;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    victim.kill();
    auto const end = std::chrono::steady_clock::now() + soon;
    shared_->pause = true;
    ASSERT_TRUE(happens([&] { return shared_->paused == 3; }, left_until(end)));
    ASSERT_TRUE(happens([&] { return books_are_right(); }, left_until(end))) << books();
    shared_->pause = false;
    ASSERT_TRUE(happens([&] { return shared_->paused == 0; }, 10s));
  }
  shared_->stop = true;
  for (process& p : survivors) EXPECT_EQ(p.wait(), 0) << "it has all of its bytes";
}

TEST_F(broker_kill_test, killed_brokers_never_lead_to_more_than_the_budget) {
  process server = start_broker();
  std::vector<process> clients;
  for (std::uint64_t i = 0; i < 4; ++i) clients.emplace_back([&] { return churn(seeded(530 + i)); });
  std::mt19937_64 random(seeded(540));
  for (int i = 0; i < 25; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    server.kill();
    server = start_broker();
  }
  EXPECT_TRUE(happens([&] { return status_of_broker(socket_).clients.size() == 4; }, 10s)) << "all are back";
  std::this_thread::sleep_for(100ms);
  shared_->stop = true;
  for (process& p : clients) EXPECT_EQ(p.wait(), 0);
  EXPECT_EQ(shared_->held, 0u);
  EXPECT_GT(shared_->most, budget_bytes / 2);
  EXPECT_LE(shared_->most, budget_bytes);
  EXPECT_TRUE(happens([&] { return status_of_broker(socket_).held == 0; }, 10s));
}

// A client that is stopped cannot tell the next broker what it holds.
TEST_F(broker_kill_test, next_broker_reserves_what_a_stopped_client_holds) {
  process server = start_broker();
  process stopped = holder(20);
  process running = holder(10);
  stopped.signal(SIGSTOP);
  server.kill();
  server = start_broker();
  process greedy([&] {
    lease l(client(100ms));
    std::size_t const got = l.acquire(budget_bytes, block);
    return got == budget_bytes - 30 * block ? 0 : 1;
  });
  EXPECT_EQ(greedy.wait(), 0);
  auto const has_back = [&](std::size_t bytes, std::size_t connected) {
    return happens(
        [&] {
          broker_status const s = status_of_broker(socket_);
          return s.held == bytes && std::ranges::count_if(s.clients, [](auto const& c) { return c.pid != 0; }) ==
                                        std::ptrdiff_t(connected);
        },
        1s);
  };
  EXPECT_TRUE(has_back(30 * block, 1)) << "one is back, one is not";
  stopped.signal(SIGCONT);
  EXPECT_TRUE(has_back(30 * block, 2));
  stopped.signal(SIGSTOP);
  server.kill();
  server = start_broker();
  EXPECT_TRUE(has_back(30 * block, 1));
  stopped.kill();
  EXPECT_TRUE(has_back(10 * block, 1)) << "the stopped one is dead";
  shared_->stop = true;
  EXPECT_EQ(running.wait(), 0);
}

// They hold everything, but only the second was promised anything.
TEST_F(broker_kill_test, next_broker_keeps_promises_of_stopped_clients_and_no_others) {
  process server = start_broker();
  process all = holder(blocks);
  process promised = holder(0, 20 * block);
  lease_options o = client(100ms);
  o.least = 44 * block;
  EXPECT_TRUE(lease(o).is_connected());
  all.signal(SIGSTOP);
  promised.signal(SIGSTOP);
  server.kill();
  server = start_broker();
  broker_status const status = status_of_broker(socket_);
  ASSERT_EQ(status.clients.size(), 2u);
  EXPECT_EQ(status.held, budget_bytes);
  EXPECT_EQ(status.clients[0].least + status.clients[1].least, 20 * block);
  lease l(o);
  EXPECT_EQ(l.acquire(block, block), 0u) << "nobody can be asked";
  o.least = 1;
  EXPECT_NE(message_of([&] { lease made(o); }, error_code::io).find("least"), std::string::npos);
  all.signal(SIGCONT);
  promised.signal(SIGCONT);
  EXPECT_TRUE(happens(
      [&] { return std::ranges::all_of(status_of_broker(socket_).clients, [](auto const& c) { return c.pid != 0; }); },
      5s))
      << "both are back";
  EXPECT_EQ(status_of_broker(socket_).clients.size(), 3u);
  shared_->stop = true;
  EXPECT_EQ(all.wait(), 0);
  EXPECT_EQ(promised.wait(), 0);
}

}  // namespace

}  // namespace wyrm::tests
