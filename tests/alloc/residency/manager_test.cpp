// SPDX-License-Identifier: Apache-2.0
// The residency manager on a CPU: the suite on host threads and on simulated warps, and what needs several threads or
// launches whose end is under control.
#include "manager_suite.hpp"

#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <thread>

#include "../../support/simt_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, residency_manager, spaces, by_name);

/// A space whose launches end when the test says so, or when they are waited for.
struct delayed_space : exec::host_space {
  struct span_state {
    std::atomic<bool> is_done = false;
    std::atomic<unsigned> waits = 0;
  };
  std::shared_ptr<std::vector<std::shared_ptr<span_state>>> spans =
      std::make_shared<std::vector<std::shared_ptr<span_state>>>();
  [[nodiscard]] delayed_space managed_by(exec::memory_manager* manager) const {
    delayed_space bound = *this;
    static_cast<exec::host_space&>(bound) = exec::host_space::managed_by(manager);
    return bound;
  }
};
class delayed_span final : public exec::work_span {
 public:
  explicit delayed_span(std::shared_ptr<delayed_space::span_state> state) : state_(std::move(state)) {}
  void start() override {}
  void stop() noexcept override {}
  bool is_done() const override { return state_->is_done; }
  void wait() const noexcept override {
    ++state_->waits;
    state_->is_done = true;
  }
  double seconds() const override { return 2; }

 private:
  std::shared_ptr<delayed_space::span_state> state_;
};
std::unique_ptr<exec::work_span> make_work_span(delayed_space const& space) {
  space.spans->push_back(std::make_shared<delayed_space::span_state>());
  return std::make_unique<delayed_span>(space.spans->back());
}

constexpr std::size_t block = std::size_t{64} << 10;
using host = exec::host_space;
auto const nothing = [](auto const&) {};

/// Eight blocks of device memory, and no client is ever idle.
residency::options never_idle() {
  residency::options o = options_with(std::make_shared<elastic_budget>(8 * block), block);
  o.idle_after = std::chrono::hours(1);
  return o;
}

TEST(residency, refuses_wrong_options) {
  residency::options o = options_with(std::make_shared<elastic_budget>(0), block);
  auto const expect_refused = [](residency::options const& wrong, char const* word) {
    try {
      residency::manager<host> const m(host(1), wrong);
      ADD_FAILURE() << word;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  for (std::size_t const bytes : {std::size_t{0}, block - 1, block + 4096}) {
    o.block_bytes = bytes;
    expect_refused(o, "multiple of 65536");
  }
  o.block_bytes = block;
  o = options_with(nullptr, block);
  expect_refused(o, "options.budget");
}

TEST(residency, refuses_wrong_ranges) {
  residency::manager<host> m(host(1), options_with(std::make_shared<elastic_budget>(block), block));
  auto a = m.make_client({"a"});
  auto b = m.make_client({"b"});
  residency::region r = a.reserve(block + 8);
  char bytes[16] = {};
  auto const expect_refused = [](auto const& f) {
    try {
      f();
      ADD_FAILURE();
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument) << e.what();
    }
  };
  expect_refused([&] { r.write(block, bytes, 9); });
  expect_refused([&] { r.write(~std::size_t{0}, bytes, 2); });
  expect_refused([&] { r.read(block + 9, bytes, 0); });
  expect_refused([&] { r.discard(0, block + 9); });
  expect_refused([&] { (void)a.use({{r, block + 9}}); });
  expect_refused([&] { (void)a.use({{r, 8, block + 1}}); });
  expect_refused([&] { (void)b.use({{r}}); });
  EXPECT_EQ(m.counters().host_bytes, 0u);
  EXPECT_THROW((void)a.reserve(~std::size_t{0}), error);
  r.write(block + 8, bytes, 0);
  r.write(block, bytes, 8);
  EXPECT_EQ(m.counters().host_bytes, block);
  // The own use, unfinished, is in the way.
  residency::use u = a.use();
  expect_refused([&] { r.write(0, bytes, 1); });
  expect_refused([&] { r.read(0, bytes, 1); });
  u.finish();
  u.finish();
  r.write(0, bytes, 1);
}

TEST(residency, clean_blocks_are_evicted_without_a_copy) {
  residency::manager<host> m(host(1), options_with(std::make_shared<elastic_budget>(2 * block), block));
  auto c = m.make_client({"c"});
  residency::region a = c.reserve(2 * block);
  residency::region b = c.reserve(2 * block);
  write_blocks(a, block, 1);
  write_blocks(b, block, 11);
  auto* const words = reinterpret_cast<std::uint64_t*>(a.data());
  c.launch({{a}}, [&](host const&) { words[0] = 77; });  // block 0 becomes dirty, block 1 does not
  c.launch({{b, 0, residency::unlimited, residency::access::read}}, nothing);
  residency::statistics s = m.counters();
  EXPECT_EQ(s.dirty_evictions, 1u);
  EXPECT_EQ(s.clean_evictions, 1u);
  EXPECT_EQ(s.moved_out_bytes, block);
  EXPECT_EQ(s.moved_in_bytes, 4 * block);
  EXPECT_EQ(s.reloaded_bytes, 0u);
  EXPECT_EQ(words[0], 77u);
  EXPECT_EQ(words[block / 8], 2u);
  // Reading a whole block makes it clean.
  c.launch({{a, 0, block}}, [&](host const&) { words[1] = 78; });
  EXPECT_EQ(m.counters().reloaded_bytes, block);
  std::vector<std::uint64_t> read(block / 8);
  a.read(0, read.data(), block);
  EXPECT_EQ(read[0], 77u);
  EXPECT_EQ(read[1], 78u);
  c.launch({{b}}, nothing);
  s = m.counters();
  EXPECT_EQ(s.dirty_evictions, 1u);
  EXPECT_EQ(s.clean_evictions, 3u);
  EXPECT_EQ(words[1], 78u);
  EXPECT_LT(s.work_efficiency(), 1);
}

/// Says dirty of every block, and counts. Finds its copies.
class suspicious_check final : public residency::contents_check {
 public:
  suspicious_check(residency::find_block find, unsigned& checks) : find_(std::move(find)), checks_(checks) {}
  void remember(std::span<residency::block_number const>) override {}
  void check(std::span<residency::block_number const> blocks, std::span<bool> dirty) override {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      residency::block_places const b = find_(blocks[i]);
      EXPECT_TRUE(b.device != nullptr && b.host != nullptr && b.device != b.host);
      dirty[i] = true;
      ++checks_;
    }
  }

 private:
  residency::find_block find_;
  unsigned& checks_;
};

TEST(residency, policies_learn_of_transfers) {
  residency::options o = options_with(std::make_shared<elastic_budget>(block), block);
  unsigned checks = 0;
  o.make_dirty_check = [&](residency::find_block find) {
    return std::make_unique<suspicious_check>(std::move(find), checks);
  };
  residency::manager<host> m(host(1), o);
  auto c = m.make_client({"c"});
  residency::region a = c.reserve(block);
  residency::region b = c.reserve(block);
  write_blocks(a, block, 1);
  c.launch({{a}}, nothing);
  std::vector<std::uint64_t> words(block / 8);
  a.read(0, words.data(), block);  // all of it: clean, without a check
  c.launch({{b}}, nothing);
  EXPECT_EQ(checks, 0u);
  EXPECT_EQ(m.counters().clean_evictions, 1u);
  c.launch({{a, 0, block, residency::access::read}}, nothing);  // evicts b, which was written
  EXPECT_EQ(checks, 1u);
  EXPECT_EQ(m.counters().dirty_evictions, 1u);
  EXPECT_GT(m.counters().signature_seconds, 0);
  std::uint64_t const word = 5;
  a.write(8, &word, sizeof(word));  // a part of a clean block: dirty
  c.launch({{b}}, nothing);
  EXPECT_EQ(m.counters().dirty_evictions, 2u);
  a.read(0, words.data(), 16);
  EXPECT_EQ(words[0], 1u);
  EXPECT_EQ(words[1], 5u);
}

TEST(residency, signatures_find_what_was_not_written) {
  residency::options o = options_with(std::make_shared<elastic_budget>(block), block);
  o.make_dirty_check = residency::by_signatures(host(1), block);
  residency::manager<host> m(host(1), o);
  auto c = m.make_client({"c"});
  residency::region a = c.reserve(block);
  residency::region b = c.reserve(block);
  write_blocks(a, block, 1);
  write_blocks(b, block, 2);
  auto* const words = reinterpret_cast<std::uint64_t*>(a.data());
  residency::used_range const other{b, 0, block, residency::access::read};
  c.launch({{a}}, nothing);  // might write it, and does not
  c.launch({other}, nothing);
  EXPECT_EQ(m.counters().clean_evictions, 1u);
  c.launch({{a}}, [&](host const&) { words[5] = 6; });
  std::vector<std::uint64_t> read(block / 8);
  a.read(0, read.data(), block);
  c.launch({{a}}, nothing);  // does not write it since it was read
  c.launch({other}, nothing);
  EXPECT_EQ(m.counters().clean_evictions, 3u);
  EXPECT_EQ(m.counters().dirty_evictions, 0u);
  EXPECT_EQ(words[5], 6u);
}

TEST(residency, a_use_may_name_a_block_twice) {
  residency::manager<host> m(host(1), options_with(std::make_shared<elastic_budget>(block), block));
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(2 * block);
  write_blocks(r, block, 1);
  auto* const words = reinterpret_cast<std::uint64_t*>(r.data());
  c.launch({{r, 0, 8}, {r, 8, 8, residency::access::read}}, [&](host const&) { words[0] = 9; });
  c.launch({{r, block, block}}, nothing);  // evicts it
  EXPECT_FALSE(r.is_resident(0));
  EXPECT_EQ(words[0], 9u);
}

// A budget may be shared: what a manager takes of it, and does not use, others miss.
TEST(residency, takes_memory_once_for_a_block_that_is_named_twice) {
  auto const budget = std::make_shared<elastic_budget>(8 * block);
  residency::options o = options_with(budget, block);
  o.lazy_transfers = false;
  residency::manager<host> m(host(1), o);
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(3 * block);
  c.launch({{r}, {r, 0, 2 * block}}, nothing);
  EXPECT_EQ(resident_blocks(r, block), 3u);
  EXPECT_EQ(budget->taken(), 3 * block);
}

// The host has memory for two of three blocks.
TEST(residency, changes_nothing_without_host_memory) {
  residency::manager<host> m(host(1), options_with(std::make_shared<elastic_budget>(block), block));
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(3 * block);
  auto const expect_refused = [&](auto const& f) {
    exec::injected_failure const failure(2);  // two blocks are created
    try {
      f();
      ADD_FAILURE();
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
      EXPECT_NE(std::string(e.what()).find("free regions"), std::string::npos) << e.what();
    }
    EXPECT_EQ(m.counters().host_bytes, 0u);
  };
  std::vector<char> const bytes(3 * block);
  expect_refused([&] { r.write(0, bytes.data(), bytes.size()); });
  {
    exec::injected_failure const failure(1);  // two blocks are in the pool, the third one is created; nothing is mapped
    EXPECT_THROW((void)c.use(), error);
  }
  EXPECT_EQ(m.counters().host_bytes, 0u);
  EXPECT_EQ(m.counters().launches, 0u);
}

/// A policy that runs out of memory when it is told of a block, once, and records the objects of the others.
class failing_policy final : public residency::policy {
 public:
  failing_policy(std::size_t before_failure, std::vector<residency::object_number>& objects)
      : left_(before_failure), objects_(objects) {}
  void loaded(residency::block_number n, residency::object_number object) override {
    if (left_-- == 0) throw std::bad_alloc();
    lru_.loaded(n, object);
    objects_.push_back(object);
  }
  void used(std::span<residency::block_number const> blocks, residency::launch_number launch, bool writes,
            residency::use_hint hint) override {
    lru_.used(blocks, launch, writes, hint);
  }
  void finished(residency::launch_number launch) override { lru_.finished(launch); }
  void overwritten(residency::block_number n) override { lru_.overwritten(n); }
  void copied_out(residency::block_number n) override { lru_.copied_out(n); }
  void removed(residency::block_number n) override { lru_.removed(n); }
  std::optional<residency::victim> next_victim(residency::dirty_check& check) override {
    return lru_.next_victim(check);
  }

 private:
  checked_lru lru_;
  std::size_t left_;
  std::vector<residency::object_number>& objects_;
};

TEST(residency, policies_learn_of_new_blocks) {
  auto const budget = std::make_shared<elastic_budget>(3 * block);
  std::vector<residency::object_number> objects;
  residency::options o = options_with(budget, block);
  o.lazy_transfers = false;
  o.make_policy = [&] { return std::make_unique<failing_policy>(2, objects); };
  residency::manager<host> m(host(1), o);
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(3 * block);
  std::vector<char> const bytes(4 * block);
  EXPECT_THROW(r.write(0, bytes.data(), 3 * block), std::bad_alloc);  // the policy has forgotten two blocks
  EXPECT_EQ(m.counters().resident_bytes + m.counters().host_bytes, 0u);
  objects.clear();
  r.write(0, bytes.data(), 2 * block);
  residency::region more = c.reserve(4 * block);
  more.write(0, bytes.data(), 4 * block);  // one on the device
  EXPECT_EQ(resident_blocks(more, block), 1u);
  c.launch({{more, block}}, nothing);
  ASSERT_EQ(objects.size(), 6u);
  EXPECT_EQ(objects[0], objects[1]);
  EXPECT_NE(objects[1], objects[2]);
  for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(objects[i], objects[2]);
  EXPECT_EQ(m.counters().moved_in_bytes, 3 * block);
  EXPECT_EQ(m.counters().reloaded_bytes, 0u);
  c.launch({{r}}, nothing);  // has been on the device
  EXPECT_EQ(m.counters().reloaded_bytes, 2 * block);
}

// The policy fails at the second of three adjacent blocks, which would be mapped by one call.
TEST(residency, a_load_that_the_policy_refuses_changes_nothing) {
  std::vector<residency::object_number> objects;
  residency::options o = options_with(std::make_shared<elastic_budget>(4 * block), block);
  o.lazy_transfers = true;
  o.make_policy = [&] { return std::make_unique<failing_policy>(1, objects); };
  residency::manager<host> m(host(1), o);
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(3 * block);
  std::vector<char> bytes(3 * block);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(1 + i / block);
  r.write(0, bytes.data(), bytes.size());
  EXPECT_THROW(c.launch({{r}}, nothing), std::bad_alloc);
  EXPECT_EQ(resident_blocks(r, block), 0u);
  EXPECT_EQ(m.counters().resident_bytes, 0u);
  residency::region other = c.reserve(block);
  c.launch({{r}, {other}}, [&](host const&) { std::memset(other.data(), 9, block); });
  EXPECT_EQ(resident_blocks(r, block), 3u);
  std::vector<char> got(bytes.size());
  r.read(0, got.data(), got.size());
  EXPECT_EQ(got, bytes);
}

/// What was requested of ranges, by side.
struct range_counts {
  std::size_t requests[2] = {};
  std::size_t created[2] = {};
  std::size_t destroyed[2] = {};
  std::size_t mapped[2] = {};    // blocks
  std::size_t fails_at[2] = {};  // the number of the request for which there is no memory
};

/// Ranges of a host that count.
class counting_ranges final : public exec::block_ranges {
 public:
  explicit counting_ranges(range_counts& counts)
      : block_ranges(block), ranges_(make_block_ranges(host(1), block)), counts_(counts) {}
  bool is_device_readable() const override { return true; }
  std::byte* reserve(std::size_t blocks) override { return ranges_->reserve(blocks); }
  void unreserve(std::byte* base, std::size_t blocks) noexcept override { ranges_->unreserve(base, blocks); }
  exec::physical_block create(exec::memory_side side) override {
    if (++counts_.requests[number(side)] == counts_.fails_at[number(side)]) throw std::bad_alloc();
    ++counts_.created[number(side)];
    return ranges_->create(side);
  }
  void destroy(exec::memory_side side, exec::physical_block b) noexcept override {
    ++counts_.destroyed[number(side)];
    ranges_->destroy(side, b);
  }
  void map(std::byte* at, std::span<exec::physical_block const> blocks, exec::memory_side side,
           std::span<exec::physical_block const> before, bool is_usable) override {
    counts_.mapped[number(side)] += blocks.size();
    ranges_->map(at, blocks, side, before, is_usable);
  }
  void unmap(std::byte* at, std::size_t blocks) noexcept override { ranges_->unmap(at, blocks); }
  void protect(std::byte* at, std::size_t blocks, exec::memory_side side, bool is_usable) override {
    ranges_->protect(at, blocks, side, is_usable);
  }
  void copy(exec::memory_side to, std::byte* target, std::byte const* source, std::size_t bytes) override {
    ranges_->copy(to, target, source, bytes);
  }
  void finish_copies(exec::memory_side to) override { ranges_->finish_copies(to); }
  void copy_in(std::byte* home, exec::memory_side side, void const* from, std::size_t bytes) override {
    ranges_->copy_in(home, side, from, bytes);
  }
  void copy_out(void* to, std::byte const* home, exec::memory_side side, std::size_t bytes) override {
    ranges_->copy_out(to, home, side, bytes);
  }

  static std::size_t number(exec::memory_side side) { return static_cast<std::size_t>(side); }

 private:
  std::unique_ptr<exec::block_ranges> ranges_;
  range_counts& counts_;
};
constexpr std::size_t on_device = static_cast<std::size_t>(exec::memory_side::device);
constexpr std::size_t on_host = static_cast<std::size_t>(exec::memory_side::host);

struct counted_space : host {
  explicit counted_space(range_counts& all) : host(1), counts(&all) {}
  range_counts* counts;
};
std::unique_ptr<exec::block_ranges> make_block_ranges(counted_space const& space, std::size_t) {
  return std::make_unique<counting_ranges>(*space.counts);
}

// Host memory that is prepared with the manager serves evictions, and is freed with it, also if there is too little.
TEST(residency, prepares_host_memory) {
  range_counts counts;
  residency::options o = options_with(std::make_shared<elastic_budget>(2 * block), block);
  o.lazy_transfers = false;
  o.pooled_host_bytes = 0;
  o.prepared_host_bytes = 3 * block + 1;
  {
    residency::manager<counted_space> m(counted_space(counts), o);
    EXPECT_EQ(counts.created[on_host], 4u);
    auto c = m.make_client({"c"});
    for (int i = 0; i < 3; ++i) {
      residency::region r = c.reserve(5 * block);
      for (std::size_t k = 0; k < 5; ++k) c.launch({{r, k * block, block, residency::access::write}}, nothing);
    }
    EXPECT_EQ(counts.created[on_host], 4u);
  }
  EXPECT_EQ(counts.destroyed[on_host], 4u);
  counts = {};
  counts.fails_at[on_host] = 3;
  EXPECT_THROW(residency::manager<counted_space>(counted_space(counts), o), std::bad_alloc);
  EXPECT_EQ(counts.created[on_host], 2u);
  EXPECT_EQ(counts.destroyed[on_host], 2u);
}

// Evicted blocks are mapped to host memory when their client launches again, unless they are loaded then.
TEST(residency, maps_evicted_blocks_late) {
  range_counts counts;
  residency::manager<counted_space> m(counted_space(counts),
                                      options_with(std::make_shared<elastic_budget>(4 * block), block));
  auto first = m.make_client({"first"});
  auto second = m.make_client({"second"});
  residency::region a = first.reserve(4 * block);
  residency::region b = second.reserve(4 * block);
  write_blocks(a, block, 1);
  write_blocks(b, block, 11);
  counts.mapped[on_host] = 0;
  for (int i = 0; i < 3; ++i) {
    first.launch(nothing);
    EXPECT_EQ(resident_blocks(a, block), 4u);
    second.launch(nothing);
    EXPECT_EQ(resident_blocks(b, block), 4u);
  }
  EXPECT_EQ(counts.mapped[on_host], 0u);
  std::uint64_t found[4] = {};
  first.launch({{a, 0, block}}, [&](auto const&) {  // also blocks that it does not name
    for (std::size_t i = 0; i < 4; ++i) std::memcpy(&found[i], a.data() + i * block, sizeof(found[i]));
  });
  EXPECT_EQ(std::vector<std::uint64_t>(found, found + 4), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(counts.mapped[on_host], 3u);
}

// While a launch runs, it may access all blocks of its client, whatever others evict.
TEST(residency, running_launches_reach_blocks_that_others_evict) {
  residency::manager<host> m(host(1), never_idle());
  auto first = m.make_client({"first"});
  auto second = m.make_client({"second"});
  residency::region a = first.reserve(6 * block);
  residency::region b = second.reserve(6 * block);
  write_blocks(a, block, 1);
  write_blocks(b, block, 11);
  first.launch(nothing);
  {
    residency::use const running = first.use({{a, 0, block}});
    second.launch({{b}}, nothing);
    EXPECT_EQ(resident_blocks(a, block), 2u);
    for (std::uint64_t i = 0; i < 6; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, a.data() + i * block, sizeof(word));
      EXPECT_EQ(word, i + 1);
      ++word;
      std::memcpy(a.data() + i * block, &word, sizeof(word));
    }
  }
  EXPECT_EQ((first_words<host>(a, block)), (std::vector<std::uint64_t>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ((first_words<host>(b, block)), (std::vector<std::uint64_t>{11, 12, 13, 14, 15, 16}));
}

// While several clients need more than there is, transfers do not hold device memory.
TEST(residency, transfers_wait_in_host_memory_while_others_need_the_device) {
  residency::options o = never_idle();
  o.lazy_transfers = false;
  residency::manager<host> m(host(1), o);
  auto first = m.make_client({"first"});
  residency::region a = first.reserve(6 * block);
  write_blocks(a, block, 1);
  first.launch(nothing);
  write_blocks(a, block, 2);
  EXPECT_EQ(resident_blocks(a, block), 6u);
  auto second = m.make_client({"second"});
  residency::region b = second.reserve(6 * block);
  write_blocks(b, block, 11);
  second.launch(nothing);
  first.launch(nothing);
  EXPECT_EQ(resident_blocks(a, block), 6u);
  write_blocks(a, block, 21);
  EXPECT_EQ(resident_blocks(a, block), 0u);
  residency::region more = second.reserve(block);
  write_blocks(more, block, 31);
  EXPECT_EQ(resident_blocks(more, block), 0u);
  first.launch(nothing);
  EXPECT_EQ(resident_blocks(a, block), 6u);
  EXPECT_EQ((first_words<host>(a, block)), (std::vector<std::uint64_t>{21, 22, 23, 24, 25, 26}));
  EXPECT_EQ((first_words<host>(b, block)), (std::vector<std::uint64_t>{11, 12, 13, 14, 15, 16}));
}

TEST(residency, keeps_count_of_the_budget_when_the_host_has_no_memory) {
  auto const budget = std::make_shared<elastic_budget>(3 * block);
  {
    residency::options o = options_with(budget, block);
    o.lazy_transfers = false;
    range_counts counts;
    counts.fails_at[on_device] = 2;
    residency::detail::core core(std::make_unique<counting_ranges>(counts), o);
    residency::detail::client_state* const c = core.open_client({});
    residency::detail::region_state* const r = core.reserve(c, 3 * block, false);
    std::vector<char> const bytes(3 * block);
    EXPECT_THROW(core.write(r, 0, bytes.data(), bytes.size()), std::bad_alloc);
    EXPECT_EQ(budget->taken(), block);  // the first one is kept for the next request
    core.write(r, 0, bytes.data(), bytes.size());
    EXPECT_EQ(core.of_all().resident_bytes, 3 * block);
    core.release(r);
  }
  EXPECT_EQ(budget->taken(), 0u);
}

TEST(residency, work_efficiency) {
  residency::statistics s;
  EXPECT_EQ(s.work_efficiency(), 1);
  s.launch_seconds = 4;
  s.move_seconds = 3;
  s.effective_move_seconds = 2;
  s.signature_seconds = 1;
  EXPECT_EQ(s.work_efficiency(), 6.0 / 8);
  residency::statistics sum = s;
  sum += s;
  EXPECT_EQ(sum.launch_seconds, 8);
  EXPECT_EQ(sum.work_efficiency(), s.work_efficiency());
}

TEST(residency, hints) {
  residency::manager<host> m(host(1), options_with(std::make_shared<elastic_budget>(2 * block), block));
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(4 * block);
  write_blocks(r, block, 1);
  c.launch({{r, 0, 2 * block, residency::access::read, residency::use_hint::once}}, nothing);
  EXPECT_EQ(resident_blocks(r, block), 0u);
  c.launch({{r}, {r, 2 * block, 2 * block, residency::access::read, residency::use_hint::hot}}, nothing);
  EXPECT_FALSE(r.is_resident(0));
  EXPECT_TRUE(r.is_resident(2 * block));
  EXPECT_TRUE(r.is_resident(4 * block - 1));
}

// Sums that all threads add to are slow in host memory. They are the last range that gets memory, and stay on the
// device.
TEST(residency, small_ranges_of_a_launch_come_first) {
  for (bool const is_lazy : {false, true}) {
    auto o = options_with(std::make_shared<elastic_budget>(3 * block), block);
    o.lazy_transfers = is_lazy;
    residency::manager<host> m(host(1), o);
    auto c = m.make_client({"c"});
    residency::region points = c.reserve(16 * block);
    residency::region sums = c.reserve(64);
    std::uint64_t const word = 9;
    write_blocks(points, block, 1);
    sums.write(0, &word, sizeof(word));
    residency::region labels = c.reserve(2 * block);
    auto const all_in_order = [&] {
      c.launch({{points, 0, residency::unlimited, residency::access::read}, {labels}, {sums}}, nothing);
    };
    all_in_order();
    EXPECT_TRUE(sums.is_resident(0));
    EXPECT_EQ(resident_blocks(labels, block), 2u);
    EXPECT_EQ(resident_blocks(points, block), 0u);
    std::uint64_t const moved = c.counters().moved_in_bytes;
    for (int i = 0; i < 3; ++i) all_in_order();
    EXPECT_EQ(c.counters().moved_in_bytes, moved);

    c.launch({{points}, {labels, 0, residency::unlimited, residency::access::read, residency::use_hint::once}},
             nothing);
    EXPECT_EQ(resident_blocks(points, block), 1u);  // in place of the sums
    c.launch(nothing);                              // all: the sums in place of points, though labels are used less
    EXPECT_TRUE(sums.is_resident(0));
    EXPECT_EQ(resident_blocks(labels, block), 2u);
    std::uint64_t sum = 0;
    sums.read(0, &sum, sizeof(sum));
    EXPECT_EQ(sum, word);
    std::vector<std::uint64_t> numbers(16);
    std::iota(numbers.begin(), numbers.end(), 1);
    EXPECT_EQ(first_words<host>(points, block), numbers);
  }
}

// Other blocks of the launch stay if other clients have room.
TEST(residency, small_ranges_take_room_of_other_clients_before_that_of_their_launch) {
  residency::manager<host> m(host(1), options_with(std::make_shared<elastic_budget>(10 * block), block));
  auto c = m.make_client({"c"});
  residency::region large = c.reserve(8 * block);
  write_blocks(large, block, 1);
  c.launch(nothing);
  auto idle = m.make_client({"idle"});
  residency::region other = idle.reserve(2 * block);
  write_blocks(other, block, 2);
  idle.launch(nothing);
  EXPECT_EQ(resident_blocks(other, block), 2u);
  residency::region small = c.reserve(64);
  std::uint64_t const moved = c.counters().moved_in_bytes;
  c.launch({{large}, {small}}, nothing);
  EXPECT_TRUE(small.is_resident(0));
  EXPECT_EQ(resident_blocks(large, block), 8u);
  EXPECT_EQ(c.counters().moved_in_bytes, moved + block);
}

TEST(residency, whole_transfers_go_to_host_memory) {
  residency::manager<host> m(host(1), options_with(std::make_shared<elastic_budget>(2 * block), block));
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(2 * block);
  write_blocks(r, block, 1);
  c.launch(nothing);
  std::uint64_t const word = 9;
  r.write(block, &word, sizeof(word));  // a part: into the resident block
  EXPECT_EQ(resident_blocks(r, block), 2u);
  std::vector<std::uint64_t> const words(block / 8, 8);
  r.write(0, words.data(), block);
  EXPECT_FALSE(r.is_resident(0));
  EXPECT_EQ((first_words<host>(r, block)), (std::vector<std::uint64_t>{8, 9}));
  EXPECT_EQ(c.counters().dirty_evictions + c.counters().clean_evictions, 0u);
  c.launch(nothing);
  EXPECT_EQ(c.counters().reloaded_bytes, 0u);  // the contents are new
  EXPECT_EQ((first_words<host>(r, block)), (std::vector<std::uint64_t>{8, 9}));
}

// A transfer of a few bytes, though of all of a region, moves no block, neither to host memory nor for a copy.
TEST(residency, small_transfers_move_nothing) {
  residency::manager<host> m(host(1), options_with(std::make_shared<elastic_budget>(2 * block), block));
  auto c = m.make_client({"c"});
  auto other = m.make_client({"other"});
  residency::region small = c.reserve(sizeof(std::uint64_t));
  residency::region half = c.reserve(block / 2);
  std::vector<std::uint64_t> words(block / 2 / sizeof(std::uint64_t), 1);
  small.write(0, words.data(), small.bytes());
  half.write(0, words.data(), half.bytes());
  c.launch([&](auto const&) {
    for (residency::region const* r : {&small, &half}) ++*reinterpret_cast<std::uint64_t*>(r->data());
  });
  for (residency::region* const r : {&small, &half}) {
    r->read(0, words.data(), r->bytes());
    EXPECT_EQ(words[0], 2u);
  }
  residency::region all = other.reserve(2 * block);
  write_blocks(all, block, 5);
  other.launch(nothing);
  EXPECT_EQ(c.counters().dirty_evictions, 1u);
  EXPECT_EQ(c.counters().clean_evictions, 1u);  // its copy is of the transfer
  c.launch(nothing);
  small.write(0, words.data(), small.bytes());
  half.write(0, words.data(), half.bytes());
  EXPECT_TRUE(small.is_resident(0));
  EXPECT_FALSE(half.is_resident(0));
}

TEST(residency, limits_and_priorities) {
  auto const budget = std::make_shared<elastic_budget>(6 * block);
  residency::options o = options_with(budget, block);
  o.idle_after = std::chrono::microseconds(1);
  residency::manager<host> m(host(1), o);
  auto low = m.make_client({"low", 0});
  auto limited = m.make_client({"limited", 0, 2 * block + 1});
  auto high = m.make_client({"high", 5});
  residency::region l = low.reserve(4 * block);
  residency::region s = limited.reserve(8 * block);
  residency::region h = high.reserve(4 * block);
  low.launch(nothing);
  EXPECT_EQ(resident_blocks(l, block), 4u);
  for (std::size_t i = 0; i < 8; ++i) {
    limited.launch({{s, i * block, block}}, nothing);
    EXPECT_TRUE(s.is_resident(i * block));  // its own block makes room
    EXPECT_EQ(resident_blocks(l, block), 4u);
  }
  EXPECT_EQ(resident_blocks(s, block), 2u);
  high.launch(nothing);
  EXPECT_EQ(resident_blocks(h, block), 4u);
  EXPECT_EQ(resident_blocks(l, block) + resident_blocks(s, block), 2u);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  low.launch(nothing);  // takes all from its equal, which is idle, and nothing from the high one
  EXPECT_EQ(resident_blocks(l, block), 2u);
  EXPECT_EQ(resident_blocks(h, block), 4u);
  EXPECT_EQ(budget->taken(), 6 * block);
}

// A client that uses all memory all the time evicts its own blocks.
TEST(residency, clients_that_take_everything_stop_nobody) {
  residency::manager<host> m(host(1), never_idle());
  auto attacker = m.make_client({"attacker"});
  auto small = m.make_client({"small"});
  residency::region everything = attacker.reserve(16 * block);
  residency::region r = small.reserve(2 * block);
  std::vector<residency::region> leaks;
  std::size_t moved = 0;
  for (std::size_t round = 0; round < 40; ++round) {
    leaks.push_back(attacker.reserve(block));
    attacker.launch({{everything, round % 3 * 5 * block, 5 * block}, {leaks.back()}}, nothing);
    small.launch(nothing);
    EXPECT_EQ(resident_blocks(r, block), 2u) << round;
    if (round == 4) moved = small.counters().moved_in_bytes;
  }
  EXPECT_EQ(small.counters().moved_in_bytes, moved);  // it stays resident
}

TEST(residency, idle_clients_lose_their_memory) {
  residency::options o = options_with(std::make_shared<elastic_budget>(4 * block), block);
  o.idle_after = std::chrono::microseconds(1);
  residency::manager<host> m(host(1), o);
  auto idle = m.make_client({"idle"});
  auto busy = m.make_client({"busy"});
  residency::region a = idle.reserve(4 * block);
  residency::region b = busy.reserve(4 * block);
  idle.launch(nothing);
  EXPECT_EQ(resident_blocks(a, block), 4u);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  busy.launch(nothing);
  EXPECT_EQ(resident_blocks(b, block), 4u);
}

TEST(residency, returns_wanted_memory) {
  auto const budget = std::make_shared<elastic_budget>(4 * block);
  residency::manager<host> m(host(1), options_with(budget, block));
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(4 * block);
  write_blocks(r, block, 5);
  c.launch(nothing);
  EXPECT_EQ(budget->taken(), 4 * block);
  residency::use u = c.use({{r, 0, 3 * block}});
  budget->set_limit(block);
  m.give_back();
  EXPECT_EQ(budget->taken(), 3 * block);  // a launch uses the others
  u.finish();
  EXPECT_EQ(budget->taken(), block);
  EXPECT_EQ(resident_blocks(r, block), 1u);
  EXPECT_EQ((first_words<host>(r, block)), (std::vector<std::uint64_t>{5, 6, 7, 8}));
  c.launch(nothing);
  EXPECT_EQ(budget->taken(), block);
}

TEST(residency, fetches_what_was_written_last) {
  residency::manager<host> m(host(1), options_with(std::make_shared<elastic_budget>(2 * block), block));
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(3 * block);
  write_blocks(r, block, 1);
  EXPECT_EQ(m.fetch_idle(), 1u);
  EXPECT_TRUE(r.is_resident(2 * block));
  EXPECT_EQ(m.fetch_idle(), 1u);
  EXPECT_EQ(m.fetch_idle(), 0u);  // memory is full
  EXPECT_FALSE(r.is_resident(0));
  c.launch({{r, 0, 2 * block}}, nothing);
  EXPECT_EQ(m.counters().wasted_moves, 1u);  // block 2 went unused
  EXPECT_EQ((first_words<host>(r, block)), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(residency, waits_for_launches) {
  delayed_space const space;
  auto& spans = *space.spans;
  auto const budget = std::make_shared<elastic_budget>(2 * block);
  residency::manager<delayed_space> m(space, options_with(budget, block));
  auto c = m.make_client({"c"});
  residency::region a = c.reserve(2 * block);
  residency::region b = c.reserve(2 * block);
  residency::region d = c.reserve(block);
  write_blocks(a, block, 1);
  write_blocks(b, block, 11);
  c.launch({{a}}, nothing);
  budget->set_limit(0);
  m.give_back();
  EXPECT_EQ(resident_blocks(a, block), 2u);  // its kernels may be running
  budget->set_limit(2 * block);
  c.launch({{a, 0, block, residency::access::read}}, nothing);
  EXPECT_EQ(spans[0]->waits, 0u);
  std::uint64_t word = 0;
  b.write(0, &word, sizeof(word));  // no launch uses it
  EXPECT_EQ(spans[0]->waits + spans[1]->waits, 0u);
  c.launch({{b}}, nothing);  // needs room
  EXPECT_EQ(spans[0]->waits, 1u);
  EXPECT_EQ(spans[1]->waits, 1u);
  EXPECT_EQ(resident_blocks(b, block), 2u);
  c.launch({{b, 0, block, residency::access::read}}, nothing);
  spans[2]->is_done = true;
  b.read(0, &word, sizeof(word));  // two readers
  EXPECT_EQ(spans[3]->waits, 0u);
  b.write(0, &word, sizeof(word));
  EXPECT_EQ(spans[3]->waits, 1u);
  EXPECT_EQ(c.counters().launch_seconds, 8);
  c.launch({{d}}, nothing);
  { residency::region const freed = std::move(d); }
  EXPECT_EQ(spans[4]->waits, 0u);
  residency::statistics s = c.counters();
  EXPECT_EQ(s.resident_bytes + s.staged_bytes, 5 * block);  // until the launch is done
  spans[4]->is_done = true;
  m.give_back();
  s = c.counters();
  EXPECT_EQ(s.resident_bytes + s.staged_bytes, 4 * block);
}

// Launches in place that follow each other without a pause must not keep a block in host memory for ever.
TEST(residency, moves_what_a_running_launch_uses_in_place) {
  delayed_space const space;
  auto& spans = *space.spans;
  residency::manager<delayed_space> m(space, options_with(std::make_shared<elastic_budget>(2 * block), block));
  auto c = m.make_client({"c"});
  residency::region a = c.reserve(block);
  residency::region b = c.reserve(2 * block);
  auto const in_place = [](residency::region const& r) {
    return residency::used_range{r, 0, residency::unlimited, residency::access::read, residency::use_hint::once};
  };
  c.launch({in_place(a)}, nothing);
  c.launch({in_place(a)}, nothing);
  EXPECT_EQ(spans[0]->waits, 0u);
  c.launch({{a}}, nothing);
  EXPECT_EQ(spans[0]->waits + spans[1]->waits, 2u);
  EXPECT_TRUE(a.is_resident(0));
  // Without room there is nothing to wait for but the launches that hold the room.
  residency::use const holds = c.use({{a}});
  c.launch({{b}}, nothing);
  EXPECT_EQ(resident_blocks(b, block), 1u);
  EXPECT_EQ(spans[2]->waits, 1u);
  c.launch({{b}}, nothing);
  EXPECT_EQ(spans[4]->waits, 0u);
}

/// Launches take many seconds by their own account, and no time.
struct slow_span final : exec::work_span {
  void start() override {}
  void stop() noexcept override {}
  bool is_done() const override { return true; }
  void wait() const noexcept override {}
  double seconds() const override { return seconds_; }
  explicit slow_span(double seconds) : seconds_(seconds) {}

 private:
  double seconds_;
};
struct slow_space : exec::host_space {
  explicit slow_space(double seconds) : seconds_of_launch(seconds) {}
  double seconds_of_launch;
};
std::unique_ptr<exec::work_span> make_work_span(slow_space const& space) {
  return std::make_unique<slow_span>(space.seconds_of_launch);
}

// A launch that lacks room takes long, so the next turns belong to the client that has used less time.
TEST(residency, clients_take_turns) {
  residency::manager<slow_space> m(slow_space(16), never_idle());
  auto large = m.make_client({"large"});
  auto small = m.make_client({"small"});
  residency::region everything = large.reserve(12 * block);
  residency::region r = small.reserve(2 * block);
  write_blocks(r, block, 1);
  write_blocks(everything, block, 11);
  small.launch(nothing);
  large.launch(nothing);  // is charged for more memory than the small client
  std::atomic<unsigned> launches = 0;
  std::atomic<unsigned> before = 0;
  {
    std::jthread const other([&] {
      large.launch(nothing);  // waits up to 2 s, unless the small client uses its turns
      before = launches.load();
    });
    while (before == 0 && launches < 100) {
      small.launch(nothing);
      ++launches;
    }
  }
  EXPECT_GT(before, 2u);  // for 12 blocks it is charged six times as much
  EXPECT_LT(before, 100u);
}

// Blocks of a launch that another thread is enqueuing cannot be evicted, so the next one waits for that, but not for
// ever.
TEST(residency, launches_wait_until_others_are_enqueued) {
  residency::manager<slow_space> m(slow_space(16), never_idle());
  auto first = m.make_client({"first"});
  auto second = m.make_client({"second"});
  residency::region a = first.reserve(8 * block);
  residency::region b = second.reserve(8 * block);
  write_blocks(a, block, 1);
  write_blocks(b, block, 11);
  second.launch(nothing);
  for (bool const is_short : {true, false}) {
    first.launch(nothing);
    std::size_t found = 0;
    std::optional<residency::use> enqueuing(first.use());
    std::jthread other([&] { second.launch([&](auto const&) { found = resident_blocks(b, block); }); });
    if (is_short) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      enqueuing.reset();
    }
    other.join();  // waits up to 2 s
    EXPECT_EQ(found, is_short ? 8u : 0u);
  }
}

// Clients that each need all of the memory have it in turn.
TEST(residency, large_clients_have_their_memory_in_turn) {
  residency::manager<slow_space> m(slow_space(1), never_idle());
  auto first = m.make_client({"first"});
  auto second = m.make_client({"second"});
  residency::region a = first.reserve(8 * block);
  residency::region b = second.reserve(8 * block);
  write_blocks(a, block, 1);
  write_blocks(b, block, 11);
  first.launch(nothing);
  for (unsigned i = 0; i < 4; ++i) {
    second.launch(nothing);
    EXPECT_EQ(resident_blocks(b, block), 8u);
    first.launch(nothing);
    EXPECT_EQ(resident_blocks(a, block), 8u);
  }
  EXPECT_EQ((first_words<host>(a, block)), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ((first_words<host>(b, block)), (std::vector<std::uint64_t>{11, 12, 13, 14, 15, 16, 17, 18}));
}

// Launches wait for all of their blocks, as in GDM.
TEST(residency, launches_that_may_not_run_in_place) {
  residency::options o = options_with(std::make_shared<elastic_budget>(4 * block), block);
  o.in_place = false;
  residency::manager<host> m(host(1), o);
  auto first = m.make_client({"first"});
  auto second = m.make_client({"second"});
  residency::region a = first.reserve(4 * block);
  residency::region b = second.reserve(4 * block);
  residency::region large = second.reserve(5 * block);
  write_blocks(a, block, 1);
  write_blocks(b, block, 11);
  for (int i = 0; i < 3; ++i) {
    first.launch({{a}}, nothing);
    EXPECT_EQ(resident_blocks(a, block), 4u);
    second.launch({{b}}, nothing);
    EXPECT_EQ(resident_blocks(b, block), 4u);
  }
  auto const code_of = [&](residency::used_range const& range) -> std::optional<error_code> {
    try {
      second.launch({range}, nothing);
    } catch (error const& e) {
      return e.code();
    }
    return std::nullopt;
  };
  EXPECT_EQ(code_of({large}), error_code::out_of_memory);
  EXPECT_THROW((void)first.space(), error);
  second.launch({{b}}, nothing);  // nothing is left of the launch that failed
  {
    residency::use const open = first.use({{a, 0, block}});
    EXPECT_EQ(code_of({b, 0, 3 * block}), error_code::bad_argument);  // it could wait for itself
    std::uint64_t word = 0;
    EXPECT_NO_THROW(a.read(block, &word, sizeof(word)));
    EXPECT_EQ(word, 2u);
  }
  EXPECT_EQ((first_words<host>(a, block)), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ((first_words<host>(b, block)), (std::vector<std::uint64_t>{11, 12, 13, 14}));
}

// A client that uses the device for a small part of the time does not keep another one waiting.
TEST(residency, clients_that_poll_stop_nobody) {
  residency::manager<slow_space> m(slow_space(0.04), never_idle());
  auto large = m.make_client({"large"});
  auto small = m.make_client({"small"});
  residency::region everything = large.reserve(16 * block);
  residency::region r = small.reserve(block);
  write_blocks(r, block, 1);
  write_blocks(everything, block, 11);
  large.launch(nothing);
  constexpr unsigned most = 2000;
  std::atomic<bool> is_done = false;
  std::atomic<unsigned> reads = 0;
  {
    std::jthread const other([&] {
      for (; !is_done && reads < most; ++reads) {
        std::uint64_t word = 0;
        r.read(0, &word, sizeof(word));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    while (reads == 0) std::this_thread::yield();
    for (int i = 0; i < 20; ++i) large.launch(nothing);  // each waits for about an eighth of 40 ms
    is_done = true;
  }
  EXPECT_LT(reads, most);
}

// A client that uses one block after the other does not keep what it does not need.
TEST(residency, clients_get_what_others_do_not_use) {
  residency::manager<slow_space> m(slow_space(1e-3), never_idle());
  auto first = m.make_client({"first"});
  auto second = m.make_client({"second"});
  residency::region a = first.reserve(8 * block);
  residency::region b = second.reserve(7 * block);
  write_blocks(a, block, 1);
  write_blocks(b, block, 11);
  first.launch(nothing);
  for (int i = 0; i < 100 && resident_blocks(b, block) < 7; ++i) {
    first.launch({{a, 0, block}}, nothing);
    second.launch(nothing);
  }
  EXPECT_EQ(resident_blocks(b, block), 7u);
  EXPECT_TRUE(a.is_resident(0));
}

// A launch evicts nothing that it needs itself for blocks that do not fit beside it, or that it uses in place.
TEST(residency, new_blocks_of_launches_evict_no_more_than_necessary) {
  residency::options o = options_with(std::make_shared<elastic_budget>(8 * block), block);
  o.lazy_transfers = false;
  residency::manager<host> m(host(1), o);
  auto c = m.make_client({"c"});
  residency::region a = c.reserve(8 * block);
  residency::region b = c.reserve(4 * block);
  residency::region d = c.reserve(4 * block);
  c.launch({{a}}, nothing);
  c.launch({{a}, {b}}, nothing);
  EXPECT_EQ(m.counters().dirty_evictions + m.counters().clean_evictions, 0u);
  c.launch({{b, 0, 4 * block, residency::access::read, residency::use_hint::once}, {d}}, nothing);
  EXPECT_EQ(resident_blocks(d, block), 4u);
  EXPECT_EQ(resident_blocks(b, block), 0u);
  EXPECT_EQ(m.counters().dirty_evictions + m.counters().clean_evictions, 4u);
}

// Without lazy transfers, evictions take the copies of resident blocks before they create host memory.
TEST(residency, evictions_reuse_copies) {
  residency::options o = options_with(std::make_shared<elastic_budget>(2 * block), block);
  o.lazy_transfers = false;
  residency::manager<host> m(host(1), o);
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(6 * block);
  write_blocks(r, block, 1);
  for (std::size_t i = 0; i < 24; ++i) c.launch({{r, i % 6 * block, block}}, nothing);
  residency::statistics const s = c.counters();
  EXPECT_EQ(s.staged_bytes, 4 * block);
  EXPECT_EQ(s.host_bytes, 5 * block);
  EXPECT_EQ((first_words<host>(r, block)), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(residency_death, checked_mode_finds_what_a_launch_did_not_name) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  residency::options o = options_with(std::make_shared<elastic_budget>(block), block);
  o.checked = true;
  residency::manager<host> m(host(1), o);
  auto c = m.make_client({"c"});
  residency::region r = c.reserve(3 * block);
  write_blocks(r, block, 1);
  auto* const bytes = reinterpret_cast<char volatile*>(r.data());
  c.launch({{r, 0, 2 * block}}, [&](host const&) {
    bytes[0] = 1;
    bytes[2 * block - 1] = 1;
    EXPECT_DEATH(bytes[2 * block] = 1, "");
  });
  EXPECT_DEATH(bytes[0] = 2, "");
  c.launch({{r, 2 * block, block}}, [&](host const&) { EXPECT_DEATH(bytes[0] = 2, ""); });
  c.launch([&](host const&) { EXPECT_EQ(bytes[0] + bytes[2 * block - 1], 2); });
}

// A client a thread, a thread that looks at figures and changes the budget, and the thread of the manager.
TEST(residency, serves_several_threads) {
  auto const budget = std::make_shared<elastic_budget>(8 * block);
  residency::options o = options_with(budget, block);
  o.idle_fetch = true;
  {
    residency::manager<host> m(host(1), o);
    std::atomic<unsigned> running = 3;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        random_client<host> c(m, {"thread", static_cast<int>(t % 2)}, seeded(100 + t));
        for (std::size_t i = 0; i < scaled(600, 100); ++i) c.step(t == 2);
        c.check();
        --running;
      });
    for (std::size_t i = 0; running > 0; ++i) {
      budget->set_limit(i % 9 * block);
      (void)m.counters();
      std::this_thread::yield();
    }
    for (std::thread& t : threads) t.join();
    EXPECT_GT(m.counters().moved_in_bytes, 0u);
  }
  EXPECT_EQ(budget->taken(), 0u);
}

// Handles may go in any order, and leave no mapping.
TEST(residency, frees_everything) {
  auto const budget = std::make_shared<elastic_budget>(4 * block);
  {
    std::optional<residency::region> r;
    {
      residency::manager<host> m(host(1), options_with(budget, block));
      auto c = m.make_client({"c"});
      r = c.reserve(5 * block);
      write_blocks(*r, block, 3);
      c.launch(nothing);
    }
    EXPECT_EQ((first_words<host>(*r, block)), (std::vector<std::uint64_t>{3, 4, 5, 6, 7}));
    EXPECT_EQ(budget->taken(), 4 * block);
  }
  EXPECT_EQ(budget->taken(), 0u);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) EXPECT_EQ(line.find("memfd:wyrm"), std::string::npos) << line;
}

TEST(residency, fixed_budget) {
  residency::fixed_budget budget(5 * block + 3);
  EXPECT_EQ(budget.limit(), 5 * block + 3);
  EXPECT_EQ(budget.acquire(3 * block + 1, block), 3 * block);
  EXPECT_EQ(budget.acquire(3 * block, block), 2 * block);
  EXPECT_EQ(budget.acquire(block, block), 0u);
  budget.give_back(block);
  EXPECT_EQ(budget.taken(), 4 * block);
  EXPECT_EQ(budget.acquire(9 * block, block), block);
  EXPECT_EQ(budget.wanted_back(), 0u);
}

// A launch that is still running goes on, but not without blocks that its client has got since.
TEST(residency, bound_launches_go_on_with_the_same_blocks_only) {
  delayed_space const space;
  residency::manager<delayed_space> m(space, options_with(std::make_shared<elastic_budget>(4 * block), block));
  auto c = m.make_client({"c"});
  delayed_space const bound = c.space();
  residency::region a = c.reserve(block);
  write_blocks(a, block, 1);
  for (int i = 0; i < 3; ++i) host::guard const launch(bound);
  EXPECT_EQ(space.spans->size(), 1u);  // one launch
  EXPECT_TRUE(a.is_resident(0));
  residency::region b = c.reserve(block);
  write_blocks(b, block, 2);
  EXPECT_FALSE(b.is_resident(0));
  { host::guard const launch(bound); }
  EXPECT_EQ(space.spans->size(), 2u);
  EXPECT_TRUE(b.is_resident(0));
  EXPECT_EQ(space.spans->front()->waits, 0u);
}

// The work of the launch that goes on is not done when another client frees memory.
TEST(residency, bound_launches_get_what_others_have_freed) {
  delayed_space const space;
  residency::manager<delayed_space> m(space, options_with(std::make_shared<elastic_budget>(4 * block), block));
  auto first = m.make_client({"first", 1});
  auto second = m.make_client({"second", 0});
  std::optional<residency::region> taken(first.reserve(3 * block));
  residency::region r = second.reserve(3 * block);
  write_blocks(r, block, 1);
  first.launch({{*taken}}, nothing);
  space.spans->back()->is_done = true;
  delayed_space const bound = second.space();
  for (int i = 0; i < 2; ++i) host::guard const launch(bound);
  EXPECT_EQ(space.spans->size(), 2u);
  EXPECT_EQ(resident_blocks(r, block), 1u);
  taken.reset();
  for (int i = 0; i < 2; ++i) host::guard const launch(bound);  // the other client might have needed it again
  EXPECT_EQ(resident_blocks(r, block), 3u);
}

}  // namespace wyrm::tests
