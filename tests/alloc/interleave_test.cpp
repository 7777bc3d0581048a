// SPDX-License-Identifier: Apache-2.0
// The index queue, Ouroboros and the extent in every interleaving of a few threads with a few preemptions.
#include "../support/interleave.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../../exec/host_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

namespace {

using alloc::index_queue;
using bodies = std::vector<std::function<void()>>;

// A ring, so many readers and writers, each of them several times. Entries and readers are as many, if need be by
// readers that write for those who wait, as Ouroboros does it.
class ring {
 public:
  ring(std::uint32_t size, unsigned readers, unsigned writers) : slots_(size), readers_(readers), writers_(writers) {}

  bodies threads() {
    bodies all;
    for (unsigned i = 0; i < readers_; ++i) all.emplace_back([this] { read(); });
    for (unsigned i = 0; i < writers_; ++i) all.emplace_back([this, i] { write(i + 1); });
    return all;
  }
  [[nodiscard]] bool sound() const {
    std::vector<std::uint32_t> left;
    for (std::uint32_t const slot : slots_)
      if (slot != index_queue::empty) left.push_back(slot - 1);
    std::vector<std::uint32_t> seen = taken_;
    seen.insert(seen.end(), left.begin(), left.end());
    std::erase(seen, index_queue::nothing);
    std::sort(seen.begin(), seen.end());
    bool good = taken_.size() == readers_ && seen.size() == writers_;
    for (unsigned i = 0; good && i < writers_; ++i) good = seen[i] == i + 1;
    return good && state_.back - state_.front == left.size();
  }

 private:
  [[nodiscard]] index_queue queue() { return {&state_, slots_.data(), static_cast<std::uint32_t>(slots_.size())}; }
  void write(std::uint32_t index) { queue().put(queue().claim_back(1), index); }
  void read() {
    std::uint64_t const position = queue().claim_front(1);
    std::uint32_t index = 0;
    for (unsigned attempt = 1; !queue().try_take(position, index); ++attempt) {
      exec::pause(attempt);
      if (attempt % 4 != 0 || queue().back() != position) continue;
      bool taken = false;  // while we write for others, what is in the way may be our own
      for (std::uint64_t at = 0, waiting = queue().front(); queue().claim_back_below(waiting, at);)
        for (unsigned tries = 0; !queue().try_put(at, index_queue::nothing); ++tries) {
          if (!taken) taken = queue().try_take(position, index);
          exec::pause(tries);
        }
      if (taken) break;
    }
    taken_.push_back(index);  // one thread runs at a time
  }

  alloc::index_queue_state state_{0, 0};
  std::vector<std::uint32_t> slots_;
  unsigned readers_;
  unsigned writers_;
  std::vector<std::uint32_t> taken_;
};

TEST(interleave, every_reader_of_the_queue_gets_an_entry) {
  std::size_t all = 0;
  for (std::uint32_t const size : {1u, 2u})
    for (unsigned readers = 1; readers <= 3; ++readers)
      for (unsigned writers = 0; writers <= std::min(size, readers < 3 ? 2u : 1u); ++writers) {
        SCOPED_TRACE(std::to_string(size) + " slots, " + std::to_string(readers) + " readers, " +
                     std::to_string(writers) + " writers");
        std::unique_ptr<ring> r;
        std::size_t const n = interleavings(3, scaled(readers + writers < 4 ? 60 : 30, 15))
                                  .explore(
                                      [&] {
                                        r = std::make_unique<ring>(size, readers, writers);
                                        return r->threads();
                                      },
                                      [&] { return r->sound(); });
        EXPECT_GT(n, 0u) << "somebody waits for ever";
        EXPECT_TRUE(r->sound());
        all += n;
      }
  EXPECT_GT(all, 1000u);
}

// Requests of so many bytes, one a thread, after so many pages of 8 KiB were taken; 0: the thread frees one of these.
class pool_under_test {
 public:
  pool_under_test(std::size_t units, std::size_t taken, std::vector<std::size_t> requests)
      : pool_(exec::host_space(1),
              {.pool_bytes = units * alloc::unit_bytes, .reserve_bytes = units * alloc::unit_bytes}),
        requests_(std::move(requests)),
        answers_(requests_.size()) {
    for (std::size_t i = 0; i < taken; ++i) taken_.push_back(pool_.ref().malloc(alloc::chunk_bytes));
  }
  bodies threads() {
    bodies all;
    for (std::size_t i = 0; i < requests_.size(); ++i)
      all.emplace_back([this, i] {
        if (requests_[i] == 0)
          pool_.ref().free(taken_[i]);
        else
          answers_[i] = static_cast<std::byte*>(pool_.ref().malloc(requests_[i]));
      });
    return all;
  }
  [[nodiscard]] std::size_t served() const {
    return static_cast<std::size_t>(
        std::count_if(answers_.begin(), answers_.end(), [](auto* p) { return p != nullptr; }));
  }
  [[nodiscard]] bool apart() const {
    for (std::size_t i = 0; i < answers_.size(); ++i)
      for (std::size_t j = 0; j < answers_.size(); ++j)
        if (i != j && answers_[i] != nullptr && answers_[j] != nullptr && answers_[i] <= answers_[j] &&
            answers_[i] + requests_[i] > answers_[j])
          return false;
    return true;
  }
  void check() const { pool_.check(); }

 private:
  alloc::ouroboros<exec::host_space> pool_;
  std::vector<std::size_t> requests_;
  std::vector<std::byte*> answers_;
  std::vector<void*> taken_;
};

// In every interleaving the pool is sound, blocks are apart, and so many requests are served.
void expect_always(std::size_t units, std::size_t taken, std::vector<std::size_t> const& requests, std::size_t least,
                   std::size_t most, unsigned preemptions = 2) {
  std::string name;
  for (std::size_t const bytes : requests) name += std::to_string(bytes) + " ";
  SCOPED_TRACE(name + "of " + std::to_string(units) + " units, of which " + std::to_string(taken) + " chunks taken");
  std::unique_ptr<pool_under_test> p;
  std::size_t const n = interleavings(preemptions, scaled(60, 15))
                            .explore(
                                [&] {
                                  p = std::make_unique<pool_under_test>(units, taken, requests);
                                  return p->threads();
                                },
                                [&] {
                                  EXPECT_NO_THROW(p->check());
                                  EXPECT_TRUE(p->apart());
                                  EXPECT_GE(p->served(), least);
                                  EXPECT_LE(p->served(), most);
                                  return !testing::Test::HasFailure();
                                });
  EXPECT_GT(n, 20u) << (n == 0 ? "somebody waits for ever" : "there are more interleavings");
}

TEST(interleave, there_is_room_for_all) {
  expect_always(1, 0, {8192, 8192, 8192}, 3, 3);
  expect_always(1, 0, {4096, 4096, 4096}, 3, 3);
  expect_always(1, 0, {16, 16, 16}, 3, 3);
  expect_always(1, 0, {4096, 2048}, 2, 2, 3);
}

TEST(interleave, memory_runs_out) {
  expect_always(1, 7, {8192, 8192, 8192}, 1, 1);
  expect_always(1, 7, {4096, 4096, 4096}, 1, 2);
  expect_always(1, 8, {4096, 4096}, 0, 0);
  expect_always(1, 7, {4096, 8192, 4096}, 1, 2);
}

TEST(interleave, pages_come_back_meanwhile) {
  expect_always(1, 8, {0, 8192, 8192}, 0, 1);
  expect_always(1, 8, {0, 0, 8192}, 0, 1);
  expect_always(1, 7, {0, 4096, 4096}, 2, 2);
}

TEST(interleave, runs_of_units_and_chunks) {
  expect_always(2, 1, {65536, 8192}, 2, 2);
  expect_always(2, 1, {65536, 65536, 8192}, 2, 2);
  expect_always(1, 0, {65536, 8192}, 1, 1);
}

}  // namespace

}  // namespace wyrm::tests
