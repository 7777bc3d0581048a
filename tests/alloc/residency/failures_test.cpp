// SPDX-License-Identifier: Apache-2.0
// The residency manager where calls to the device fail, early and late in an operation: a block that was not moved
// stays where it is, no bytes are lost, and later operations work.
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../../../alloc/residency/signature_check.hpp"
#include "../../support/seed.hpp"
#include "../../support/spaces.hpp"
#include "checked_lru.hpp"
#include "failing_space.hpp"
#include "random_client.hpp"
#include "region_blocks.hpp"

namespace wyrm::tests {

namespace {

constexpr std::size_t block = std::size_t{64} << 10;
using manager = residency::manager<failing_space>;
auto const nothing = [](auto const&) {};

struct failing_options {
  char const* name;
  bool keep_host_copy = true;
  bool checked = false;
  bool lazy = true;
  bool signs = false;
  bool is_lru_cost = false;
};
constexpr failing_options all_options[] = {
    {.name = "lazy"},
    {.name = "checked", .checked = true},
    {.name = "without_host_copies", .keep_host_copy = false, .checked = true, .lazy = false},
    {.name = "signatures", .lazy = false, .signs = true},
    {.name = "lru_cost", .checked = true, .signs = true, .is_lru_cost = true},
};

class residency_failures : public testing::TestWithParam<failing_options> {
 protected:
  [[nodiscard]] residency::options settings(std::shared_ptr<residency::budget> budget) const {
    failing_options const& p = GetParam();
    residency::options o = options_with(std::move(budget), block);
    o.keep_host_copy = p.keep_host_copy;
    o.checked = p.checked;
    o.lazy_transfers = p.lazy;
    o.pooled_host_bytes = 3 * block;
    if (p.is_lru_cost) o.make_policy = nullptr;
    if (p.signs)
      o.make_dirty_check = [calls = calls_, by = residency::by_signatures(exec::host_space(1), block)](
                               residency::find_block find) -> std::unique_ptr<residency::contents_check> {
        return std::make_unique<failing_check>(by(std::move(find)), calls);
      };
    return o;
  }

  std::shared_ptr<failing_calls> calls_ = std::make_shared<failing_calls>(seeded(31));
};

/// Two regions, of which one is resident, has copies in host memory, and was written since; and their model.
struct two_regions {
  static constexpr std::size_t blocks = 6;

  two_regions(failing_space const& space, residency::options const& o)
      : all(space, o),
        client(all.make_client({"client"})),
        a(client.reserve(blocks * block)),
        b(client.reserve(a.bytes())) {
    write_blocks(a, block, 1);
    write_blocks(b, block, 11);
    client.launch({{b}}, nothing);
    client.launch({{a}}, nothing);
    client.launch({{b}}, nothing);
    change({{a}}, a, 3);
  }
  /// A launch that names ranges, and changes the words of one region.
  void change(std::initializer_list<residency::used_range> ranges, residency::region const& r, std::uint64_t key) {
    auto* const words = reinterpret_cast<std::uint64_t*>(r.data());
    client.launch(ranges, [&](failing_space const& on) {
      exec::for_each(on, r.bytes() / 8 / stride_words, mix_words{words, key});
    });
    for (std::uint64_t& word : &r == &a ? of_a : of_b) word = mixed(word, key);
  }
  void expect_right(bool is_b_defined = true) const {
    expect_same(a, of_a);
    if (is_b_defined) expect_same(b, of_b);
  }
  /// All words that kernels change.
  static void expect_same(residency::region const& r, std::vector<std::uint64_t> const& expected) {
    std::vector<std::uint64_t> words(r.bytes() / 8);
    r.read(0, words.data(), r.bytes());
    for (std::size_t i = 0; i < words.size(); i += stride_words) ASSERT_EQ(words[i], expected[i * 8 / block]) << i;
  }
  [[nodiscard]] std::vector<bool> places() const {
    std::vector<bool> resident;
    for (residency::region const* r : {&a, &b})
      for (std::size_t i = 0; i < blocks; ++i) resident.push_back(r->is_resident(i * block));
    return resident;
  }

  manager all;
  residency::client<failing_space> client;
  residency::region a;
  residency::region b;
  std::vector<std::uint64_t> of_a = {1, 2, 3, 4, 5, 6};  // a word of each block
  std::vector<std::uint64_t> of_b = {11, 12, 13, 14, 15, 16};
};

/// Calls f(plan) for each kind of failure, with `served` from 0 on, until it returns that no call has failed.
template <class F>
void for_each_failure(F const& f) {
  for (error_code const code : {error_code::out_of_memory, error_code::device})
    for (bool const all_later : {false, true})
      for (std::uint64_t served = 0;; ++served) {
        SCOPED_TRACE(std::string(code == error_code::device ? "device" : "memory") + (all_later ? ", all" : "") +
                     " from call " + std::to_string(served));
        ASSERT_LT(served, 500u);
        bool const has_failed = f(failure_plan{code, served, all_later});
        if (testing::Test::HasFailure()) return;
        if (!has_failed) break;
      }
}

TEST_P(residency_failures, launches) {
  std::uint64_t failed_launches = 0;
  for_each_failure([&](failure_plan const& plan) {
    auto const budget = std::make_shared<elastic_budget>(6 * block);
    two_regions x(failing_space(calls_), settings(budget));
    std::vector<bool> const before = x.places();
    residency::statistics const s = x.client.counters();
    calls_->arm(plan);
    try {
      x.change({{x.b}, {x.a, 0, 2 * block}}, x.b, 5);
    } catch (error const& e) {
      EXPECT_EQ(e.code(), plan.code) << e.what();
      ++failed_launches;
    }
    calls_->disarm();
    // What was moved is counted; all else is where it was.
    std::vector<bool> const after = x.places();
    std::size_t in = 0;
    std::size_t out = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      in += after[i] && !before[i];
      out += before[i] && !after[i];
    }
    residency::statistics const t = x.client.counters();
    EXPECT_EQ(t.moved_in_bytes - s.moved_in_bytes, in * block);
    EXPECT_EQ(t.clean_evictions + t.dirty_evictions - s.clean_evictions - s.dirty_evictions, out);
    EXPECT_LE(t.resident_bytes, 6 * block);
    if (!calls_->has_succeeded(device_call::finish_copies)) {
      EXPECT_EQ(after, before);
    }
    // Kernels find the bytes, too.
    x.change({{x.a}}, x.a, 7);
    x.change({{x.a}, {x.b}}, x.b, 9);
    x.expect_right();
    x.client.launch({{x.b}}, nothing);
    EXPECT_EQ(resident_blocks(x.b, block), two_regions::blocks);
    x.expect_right();
    return calls_->has_failed();
  });
  EXPECT_GT(failed_launches, 10u);
}

TEST_P(residency_failures, transfers) {
  for_each_failure([&](failure_plan const& plan) {
    auto const budget = std::make_shared<elastic_budget>(8 * block);
    two_regions x(failing_space(calls_), settings(budget));
    residency::region c = x.client.reserve(3 * block);
    bool has_failed = false;
    auto const succeeds = [&](auto const& f) {
      bool result = true;
      calls_->arm(plan);
      try {
        f();
      } catch (error const& e) {
        EXPECT_TRUE(calls_->has_failed()) << e.what();
        EXPECT_EQ(e.code(), plan.code) << e.what();
        result = false;
      }
      calls_->disarm();
      has_failed = has_failed || calls_->has_failed();
      return result;
    };
    std::vector<bool> const before = x.places();
    std::vector<std::uint64_t> words(x.a.bytes() / 8);
    if (succeeds([&] { x.a.read(0, words.data(), x.a.bytes()); })) {
      for (std::size_t i = 0; i < words.size(); i += stride_words) EXPECT_EQ(words[i], x.of_a[i * 8 / block]) << i;
    }
    EXPECT_EQ(x.places(), before);
    (void)succeeds([&] { write_blocks(c, block, 21); });
    x.expect_right();
    // All but the last word.
    bool const writes = succeeds([&] { x.b.write(0, words.data(), x.b.bytes() - 8); });
    bool const is_b_defined = !writes && !calls_->has_cut_off_write();
    x.expect_right(is_b_defined);
    x.change({{x.a}, {x.b}}, x.a, 7);
    x.expect_right(is_b_defined);
    std::uint64_t end = 0;
    x.b.read(x.b.bytes() - 8, &end, 8);
    EXPECT_EQ(end, 16u);
    write_blocks(x.b, block, 31);
    x.of_b = {31, 32, 33, 34, 35, 36};
    write_blocks(c, block, 41);
    x.change({{x.b}}, x.b, 9);
    x.expect_right();
    x.expect_same(c, {41, 42, 43});
    return has_failed;
  });
}

TEST_P(residency_failures, idle_moves) {
  for_each_failure([&](failure_plan const& plan) {
    auto const budget = std::make_shared<elastic_budget>(8 * block);
    two_regions x(failing_space(calls_), settings(budget));
    write_blocks(x.b, block, 31);
    x.of_b = {31, 32, 33, 34, 35, 36};
    calls_->arm(plan);
    std::size_t fetched = 0;
    try {
      fetched = x.all.fetch_idle();
    } catch (error const& e) {
      EXPECT_EQ(e.code(), plan.code) << e.what();
    }
    budget->set_limit(3 * block);
    x.all.give_back();  // what cannot be evicted stays
    calls_->disarm();
    x.expect_right();
    EXPECT_LE(fetched, 2u);
    x.all.give_back();
    EXPECT_EQ(budget->wanted_back(), 0u);
    EXPECT_LE(x.client.counters().resident_bytes, 3 * block);
    x.expect_right();
    x.change({{x.a}}, x.a, 7);
    x.change({{x.b}}, x.b, 9);
    x.expect_right();
    return calls_->has_failed();
  });
}

// Any operations of several clients, beside a model.
TEST_P(residency_failures, random_operations) {
  auto const budget = std::make_shared<elastic_budget>(8 * block);
  std::mt19937_64 random(seeded(41));
  failing_space const space(calls_);
  std::array<std::size_t, device_calls> failed = {};
  {
    manager m(space, settings(budget));
    std::vector<random_client<failing_space>> clients;
    clients.reserve(3);
    clients.emplace_back(m, residency::client_options{"low", 0, residency::unlimited}, random());
    clients.emplace_back(m, residency::client_options{"limited", 0, 3 * block}, random());
    clients.emplace_back(m, residency::client_options{"high", 1, residency::unlimited}, random());
    auto const operations = static_cast<std::size_t>(operations_or(static_cast<double>(scaled(3000, 300))));
    for (std::size_t i = 0; i < operations && !HasFailure(); ++i) {
      if (random() % 50 == 0) {
        budget->set_limit(random() % 10 * block);
        m.give_back();
        EXPECT_EQ(budget->wanted_back(), 0u);
      }
      random_client<failing_space>& c = clients[random() % 3];
      if (random() % 3 == 0) {
        c.step(false);
        continue;
      }
      failure_plan plan;
      plan.code = random() % 2 == 0 ? error_code::device : error_code::out_of_memory;
      plan.served = random() % (random() % 2 == 0 ? 4 : 30);
      plan.all_later = random() % 2 == 0;
      if (random() % 2 == 0) {  // so that rare calls fail, too
        plan.only = static_cast<device_call>(random() % device_calls);
        plan.served = random() % 4;
      }
      (void)c.step(*calls_, plan);
      for (std::size_t k = 0; k < device_calls; ++k) failed[k] += calls_->has_failed(static_cast<device_call>(k));
      if (random() % 16 == 0)
        for (auto& one : clients) one.check();
    }
    for (auto& c : clients) {
      c.check();
      EXPECT_GT(c.failures(), 0u);
    }
    EXPECT_GT(m.counters().moved_in_bytes, 0u);
    EXPECT_GT(m.counters().dirty_evictions, 0u);
    for (std::size_t i = 0; i < device_calls && operations >= 3000; ++i) {
      auto const call = static_cast<device_call>(i);
      bool exists = true;
      if (call == device_call::protect) exists = GetParam().checked;
      if (call == device_call::remember || call == device_call::check) exists = GetParam().signs;
      EXPECT_EQ(failed[i] > 0, exists) << i;
    }
  }
  EXPECT_EQ(budget->taken(), 0u);
}

INSTANTIATE_TEST_SUITE_P(with, residency_failures, testing::ValuesIn(all_options),
                         [](auto const& info) { return std::string(info.param.name); });

}  // namespace

}  // namespace wyrm::tests
