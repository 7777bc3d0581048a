// SPDX-License-Identifier: Apache-2.0
// The checker of data races itself (tests/support/happens_before.hpp): the patterns of C++20 that make one access
// happen before another, each with a weaker one that does not.
#include "../support/interleave.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace wyrm::tests {
namespace {

using exec::acq_rel;
using exec::acquire;
using exec::relaxed;
using exec::release;

// Threads write the same data at the beginning and at the end; between them they use atomics as the test says.
class threads {
 public:
  explicit threads(std::size_t n) { order_.begin(n); }
  threads& store(unsigned t, int const& place, cuda::memory_order o) { return use(t, atomic_use::store, place, o); }
  threads& load(unsigned t, int const& place, cuda::memory_order o) { return use(t, atomic_use::load, place, o); }
  threads& update(unsigned t, int const& place, cuda::memory_order o) { return use(t, atomic_use::update, place, o); }
  threads& fence(unsigned t) { return order_.release_fence(t), *this; }
  threads& write(unsigned t) { return order_.touch(t, data_, sizeof(data_), data_use::write), *this; }
  threads& read(unsigned t) { return order_.touch(t, data_, sizeof(data_), data_use::read), *this; }
  threads& write_half(unsigned t, unsigned half) {
    return order_.touch(t, data_ + 4 * half, 4, data_use::write), *this;
  }
  [[nodiscard]] bool have_race() const { return !order_.race().empty(); }

 private:
  threads& use(unsigned t, atomic_use u, int const& place, cuda::memory_order o) {
    return order_.use(t, u, &place, o), *this;
  }
  happens_before order_;
  char data_[8] = {};
};

int const a = 0;  // places of atomics
int const b = 0;

TEST(happens_before, data_without_atomics) {
  EXPECT_FALSE(threads(2).write(0).write(0).read(0).have_race());
  EXPECT_TRUE(threads(2).write(0).write(1).have_race());
  EXPECT_TRUE(threads(2).write(0).read(1).have_race());
  EXPECT_TRUE(threads(2).read(0).write(1).have_race());
  EXPECT_FALSE(threads(2).read(0).read(1).have_race());
  EXPECT_FALSE(threads(2).write_half(0, 0).write_half(1, 1).have_race());
  EXPECT_TRUE(threads(2).write_half(0, 1).write(1).have_race());
}

TEST(happens_before, a_store_and_a_load) {
  EXPECT_FALSE(threads(2).write(0).store(0, a, release).load(1, a, acquire).write(1).have_race());
  EXPECT_TRUE(threads(2).write(0).store(0, a, relaxed).load(1, a, acquire).write(1).have_race());
  EXPECT_TRUE(threads(2).write(0).store(0, a, release).load(1, a, relaxed).write(1).have_race());
  EXPECT_TRUE(threads(2).write(0).store(0, a, release).load(1, b, acquire).write(1).have_race());
  EXPECT_TRUE(threads(2).store(0, a, release).write(0).load(1, a, acquire).write(1).have_race()) << "behind it";
  EXPECT_TRUE(threads(2).write(0).load(1, a, acquire).store(0, a, release).write(1).have_race()) << "too early";
  // By way of a third thread.
  EXPECT_FALSE(threads(3)
                   .write(0)
                   .store(0, a, release)
                   .load(1, a, acquire)
                   .store(1, b, release)
                   .load(2, b, acquire)
                   .write(2)
                   .have_race());
  EXPECT_TRUE(threads(3)
                  .write(0)
                  .store(0, a, release)
                  .load(1, a, relaxed)
                  .store(1, b, release)
                  .load(2, b, acquire)
                  .write(2)
                  .have_race());
}

TEST(happens_before, updates) {
  EXPECT_FALSE(threads(2).write(0).update(0, a, release).update(1, a, acquire).write(1).have_race());
  EXPECT_FALSE(threads(2).write(0).update(0, a, acq_rel).update(1, a, acq_rel).write(1).have_race());
  EXPECT_TRUE(threads(2).write(0).update(0, a, acquire).update(1, a, acquire).write(1).have_race());
  EXPECT_TRUE(threads(2).write(0).update(0, a, release).update(1, a, release).write(1).have_race());
  // A relaxed update continues a release sequence; a store, of whichever thread, ends it.
  EXPECT_FALSE(threads(3).write(0).store(0, a, release).update(1, a, relaxed).load(2, a, acquire).write(2).have_race());
  EXPECT_TRUE(threads(3).write(0).store(0, a, release).store(1, a, relaxed).load(2, a, acquire).write(2).have_race());
  EXPECT_TRUE(threads(2).write(0).store(0, a, release).store(0, a, relaxed).load(1, a, acquire).write(1).have_race());
  // An update does not make what its own thread did before visible if it is relaxed.
  EXPECT_TRUE(threads(3).store(0, a, release).write(1).update(1, a, relaxed).load(2, a, acquire).write(2).have_race());
  EXPECT_FALSE(threads(3).store(0, a, release).write(1).update(1, a, release).load(2, a, acquire).write(2).have_race());
}

TEST(happens_before, release_fences) {
  EXPECT_FALSE(threads(2).write(0).fence(0).store(0, a, relaxed).load(1, a, acquire).write(1).have_race());
  EXPECT_FALSE(threads(2)
                   .write(0)
                   .fence(0)
                   .update(0, b, relaxed)
                   .update(0, a, relaxed)
                   .load(1, a, acquire)
                   .write(1)
                   .have_race());
  EXPECT_TRUE(threads(2).fence(0).write(0).store(0, a, relaxed).load(1, a, acquire).write(1).have_race());
  EXPECT_TRUE(threads(2).write(0).fence(0).store(0, a, relaxed).load(1, a, relaxed).write(1).have_race());
  EXPECT_TRUE(threads(2).write(0).store(0, a, relaxed).fence(0).load(1, a, acquire).write(1).have_race());
}

// Through atomic_ref and an exploration: only some interleavings have the race.
TEST(happens_before, is_watched_in_explorations) {
  int flag = 0;
  int data = 0;
  bool was_read = false;
  auto const explore = [&](cuda::memory_order stored, cuda::memory_order loaded, bool has_fence) {
    return interleavings(2, 20).explore(
        [&] {
          flag = data = 0;
          return std::vector<std::function<void()>>{[&, stored] {
                                                      touch(&data, sizeof(data));
                                                      data = 1;
                                                      if (has_fence) exec::release_fence();
                                                      exec::atomic_ref<int>(flag).store(1, stored);
                                                    },
                                                    [&, loaded] {
                                                      if (exec::atomic_ref<int>(flag).load(loaded) == 0) return;
                                                      touch(&data, sizeof(data), data_use::read);
                                                      was_read = true;
                                                    }};
        },
        [] { return true; });
  };
  EXPECT_GT(explore(release, acquire, false), 1u);
  EXPECT_GT(explore(exec::after_fence, acquire, true), 1u);
  EXPECT_TRUE(was_read);
  auto const expect_race = [&](auto const&... orders) {
    testing::TestPartResultArray failures;
    {
      testing::ScopedFakeTestPartResultReporter const catcher(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
      (void)explore(orders...);
    }
    ASSERT_EQ(failures.size(), 1);
    EXPECT_NE(std::string(failures.GetTestPartResult(0).message()).find("a data race: thread 1 reads what thread 0"),
              std::string::npos)
        << failures.GetTestPartResult(0).message();
  };
  expect_race(relaxed, acquire, false);
  expect_race(release, relaxed, false);
  expect_race(relaxed, relaxed, true);
}

}  // namespace
}  // namespace wyrm::tests
