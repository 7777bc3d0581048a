// SPDX-License-Identifier: Apache-2.0
// Tests buffer, reservation, and the copies between host and space: the host checks sizes and addresses, device code
// writes contents.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

/// Word i becomes factor * i.
struct write_multiples {
  std::uint64_t* words;
  std::uint64_t factor;
  WYRM_HD void operator()(std::size_t i) const { words[i] = factor * i; }
};

template <class Space>
void expect_multiples(Space const& space, std::uint64_t* words, std::size_t begin, std::size_t end,
                      std::uint64_t factor) {
  std::vector<std::uint64_t> const found = exec::copy_out(space, words + begin, end - begin);
  for (std::size_t i = begin; i < end; ++i) ASSERT_EQ(found[i - begin], factor * i) << "word " << i;
}

template <class F>
void expect_out_of_memory(F const& f) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
    EXPECT_FALSE(std::string(e.what()).empty());
  }
}

template <class Space>
using memory = space_test<Space>;
TYPED_TEST_SUITE_P(memory);

TYPED_TEST_P(memory, buffer_reserves_and_moves) {
  using words = exec::buffer<std::uint64_t, TypeParam>;
  static_assert(!std::is_copy_constructible_v<words> && std::is_nothrow_move_constructible_v<words>);
  TypeParam const space = make_space<TypeParam>();
  words a(space);
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(a.size(), 0u);
  EXPECT_EQ(a.bytes(), 0u);
  a.reserve(1000);
  EXPECT_EQ(a.size(), 1000u);
  EXPECT_EQ(a.bytes(), 8000u);
  exec::for_each(space, a.size(), write_multiples{a.data(), 3});
  std::uint64_t* const before = a.data();
  a.reserve(1000);
  a.reserve(10);
  a.reserve(0);
  EXPECT_EQ(a.data(), before);
  EXPECT_EQ(a.size(), 1000u);
  expect_multiples(space, a.data(), 0, 1000, 3);

  words b(std::move(a));
  EXPECT_EQ(b.data(), before);
  EXPECT_EQ(b.size(), 1000u);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): a moved buffer is an empty one
  EXPECT_EQ(a.size(), 0u);

  b.reserve(1001);  // grows by a quarter
  EXPECT_EQ(b.size(), 1250u);
  exec::for_each(space, b.size(), write_multiples{b.data(), 5});
  expect_multiples(space, b.data(), 0, 1250, 5);
  b.reserve(5000);
  EXPECT_EQ(b.size(), 5000u);
  exec::for_each(space, b.size(), write_multiples{b.data(), 7});
  expect_multiples(space, b.data(), 0, 5000, 7);

  words c(space, 20);
  std::uint64_t* const larger = b.data();
  c = std::move(b);
  EXPECT_EQ(c.data(), larger);
  EXPECT_EQ(c.size(), 5000u);
  expect_multiples(space, c.data(), 0, 5000, 7);
}

TYPED_TEST_P(memory, copies_and_fills) {
  TypeParam const space = make_space<TypeParam>();
  exec::buffer<std::uint32_t, TypeParam> a(space, 100);
  exec::buffer<std::uint32_t, TypeParam> b(space, 100);
  std::vector<std::uint32_t> values(100);
  for (std::uint32_t i = 0; i < 100; ++i) values[i] = i * i + 1;
  exec::copy_in<std::uint32_t>(space, a.data(), values);
  EXPECT_EQ(exec::copy_out(space, a.data(), 100), values);
  EXPECT_EQ(exec::copy_out(space, a.data() + 7, 2), (std::vector<std::uint32_t>{50, 65}));
  EXPECT_EQ(exec::read(space, a.data() + 9), 82u);
  EXPECT_TRUE(exec::copy_out(space, a.data(), 0).empty());

  space.copy(b.data(), a.data(), a.bytes());
  exec::write(space, a.data() + 9, 5u);
  EXPECT_EQ(exec::read(space, a.data() + 9), 5u);
  EXPECT_EQ(exec::copy_out(space, b.data(), 100), values);

  space.fill(b.data(), 0xab, 40);
  std::vector<std::uint32_t> filled = values;
  for (std::size_t i = 0; i < 10; ++i) filled[i] = 0xabababab;
  EXPECT_EQ(exec::copy_out(space, b.data(), 100), filled);

  space.fill(b.data(), 0, 0);
  space.copy(b.data(), a.data(), 0);
  exec::copy_in(space, b.data(), std::span<std::uint32_t const>());
  EXPECT_EQ(exec::copy_out(space, b.data(), 100), filled);
}

template <class Space>
void expect_commits_in_steps(Space const& space, exec::memory_kind kind) {
  std::size_t const step = space.granularity();
  exec::reservation<Space> pool(space, 4 * step - 1, kind);
  EXPECT_EQ(pool.kind(), kind);
  EXPECT_EQ(pool.capacity(), 4 * step);
  EXPECT_EQ(pool.committed(), 0u);
  auto* const words = reinterpret_cast<std::uint64_t*>(pool.data());
  ASSERT_NE(words, nullptr);
  std::size_t const step_words = step / sizeof(std::uint64_t);

  pool.commit(1);
  EXPECT_EQ(pool.committed(), step);
  exec::for_each(space, step_words, write_multiples{words, 3});

  EXPECT_EQ(pool.committed_after(step), step);
  EXPECT_EQ(pool.committed_after(step + 1), 2 * step);
  EXPECT_EQ(pool.committed(), step);
  pool.commit(2 * step + 1);
  EXPECT_EQ(pool.committed(), 3 * step);
  EXPECT_EQ(reinterpret_cast<std::uint64_t*>(pool.data()), words);
  expect_multiples(space, words, 0, step_words, 3);
  exec::for_each(space, 2 * step_words, write_multiples{words + step_words, 5});
  expect_multiples(space, words + step_words, 0, 2 * step_words, 5);
  expect_multiples(space, words, 0, step_words, 3);

  pool.commit(step);  // committed already
  EXPECT_EQ(pool.committed(), 3 * step);
  expect_out_of_memory([&] { pool.commit(4 * step + 1); });
  expect_out_of_memory([&] { (void)pool.committed_after(SIZE_MAX); });
  EXPECT_EQ(pool.committed(), 3 * step);
  EXPECT_EQ(pool.capacity(), 4 * step);
  expect_multiples(space, words, 0, step_words, 3);
  expect_multiples(space, words + step_words, 0, 2 * step_words, 5);

  exec::reservation<Space> moved(std::move(pool));
  EXPECT_EQ(moved.kind(), kind);
  EXPECT_EQ(reinterpret_cast<std::uint64_t*>(moved.data()), words);
  EXPECT_EQ(moved.committed(), 3 * step);
  EXPECT_EQ(pool.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(pool.committed(), 0u);
  moved.commit(4 * step);
  exec::for_each(space, step_words, write_multiples{words + 3 * step_words, 7});
  expect_multiples(space, words + 3 * step_words, 0, step_words, 7);
  expect_multiples(space, words, 0, step_words, 3);

  // One copy and one fill over memory that was committed in three steps.
  std::vector<std::uint64_t> all = exec::copy_out(space, words, 4 * step_words);
  EXPECT_EQ(all[step_words - 1], 3 * (step_words - 1));
  EXPECT_EQ(all[2 * step_words], 5 * step_words);
  EXPECT_EQ(all[4 * step_words - 1], 7 * (step_words - 1));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = 9 * i;
  exec::copy_in<std::uint64_t>(space, words, all);
  expect_multiples(space, words, 0, all.size(), 9);
  space.fill(words, 0, 4 * step);
  expect_multiples(space, words, 0, all.size(), 0);
}

TYPED_TEST_P(memory, reservation_commits_in_steps) {
  TypeParam const space = make_space<TypeParam>();
  for (exec::memory_kind const kind : exec::memory_kinds) {
    SCOPED_TRACE(exec::to_string(kind));
    expect_commits_in_steps(space, kind);
  }
}

// Pages keep their contents wherever they move to.
TYPED_TEST_P(memory, prefetch_and_advice_change_no_contents) {
  using exec::memory_advice;
  using exec::memory_location;
  TypeParam const space = make_space<TypeParam>();
  std::size_t const step = space.granularity();
  std::size_t const step_words = step / sizeof(std::uint64_t);
  for (exec::memory_kind const kind : exec::memory_kinds) {
    SCOPED_TRACE(exec::to_string(kind));
    exec::reservation<TypeParam> pool(space, 3 * step, kind);
    pool.commit(2 * step);
    auto* const words = reinterpret_cast<std::uint64_t*>(pool.data());
    for (memory_advice const advice :
         {memory_advice::preferred_location, memory_advice::no_preferred_location, memory_advice::accessed_by,
          memory_advice::not_accessed_by, memory_advice::read_mostly, memory_advice::no_read_mostly}) {
      std::uint64_t const factor = 3 + static_cast<std::uint64_t>(advice);
      for (memory_location const where : {memory_location::device, memory_location::host})
        pool.advise(step, step, advice, where);
      exec::for_each(space, 2 * step_words, write_multiples{words, factor});
      pool.prefetch(0, 2 * step, memory_location::host);
      expect_multiples(space, words, 0, 2 * step_words, factor);
      pool.prefetch(step - 100, 200, memory_location::device);
      expect_multiples(space, words, 0, 2 * step_words, factor);
    }
    pool.prefetch(2 * step, 0, memory_location::device);
    for (auto const& [offset, bytes] : {std::pair(2 * step, std::size_t{1}),
                                        {std::size_t{1}, 2 * step},
                                        {SIZE_MAX, std::size_t{2}},
                                        {step, SIZE_MAX}}) {
      EXPECT_THROW(pool.prefetch(offset, bytes, memory_location::host), error) << offset << ", " << bytes;
      EXPECT_THROW(pool.advise(offset, bytes, memory_advice::read_mostly), error) << offset << ", " << bytes;
    }
  }
}

TYPED_TEST_P(memory, buffers_of_each_kind) {
  using words = exec::buffer<std::uint64_t, TypeParam>;
  TypeParam const space = make_space<TypeParam>();
  std::vector<std::uint64_t> values(3000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 11 * i;
  for (exec::memory_kind const kind : exec::memory_kinds) {
    SCOPED_TRACE(exec::to_string(kind));
    words a(space, 1000, kind);
    EXPECT_EQ(a.kind(), kind);
    exec::for_each(space, a.size(), write_multiples{a.data(), 3});
    expect_multiples(space, a.data(), 0, 1000, 3);
    a.reserve(3000);
    exec::copy_in<std::uint64_t>(space, a.data(), values);
    expect_multiples(space, a.data(), 0, 3000, 11);
    words b(space, 3000);
    space.copy(b.data(), a.data(), a.bytes());  // between kinds
    space.fill(a.data(), 0, a.bytes());
    expect_multiples(space, a.data(), 0, 3000, 0);
    space.copy(a.data(), b.data(), a.bytes());
    expect_multiples(space, a.data(), 0, 3000, 11);
    b = std::move(a);
    EXPECT_EQ(b.kind(), kind);
    b.reserve(4000);
    EXPECT_EQ(b.kind(), kind);
    words const c(std::move(b));
    EXPECT_EQ(c.kind(), kind);
    words const none(space, 0, kind);
    EXPECT_EQ(none.data(), nullptr);
  }
}

TYPED_TEST_P(memory, reservation_of_nothing_and_of_too_much) {
  TypeParam const space = make_space<TypeParam>();
  exec::reservation<TypeParam> none(space, 0);
  EXPECT_EQ(none.capacity(), 0u);
  EXPECT_EQ(none.data(), nullptr);
  none.commit(0);
  expect_out_of_memory([&] { none.commit(1); });
  for (exec::memory_kind const kind : exec::memory_kinds)
    for (std::size_t const capacity : {std::size_t{1} << 62, SIZE_MAX - 1, SIZE_MAX})
      expect_out_of_memory([&] { exec::reservation<TypeParam>(space, capacity, kind); });
  exec::buffer<std::uint64_t, TypeParam> words(space, 10);
  for (std::size_t const n : {SIZE_MAX / 8 + 2, SIZE_MAX / 8, SIZE_MAX / 8 - 1000}) {
    expect_out_of_memory([&] { words.reserve(n); });
    expect_out_of_memory([&] { exec::staging_buffer<std::uint64_t, TypeParam>(space, n); });
    words.reserve(10);
  }
  EXPECT_EQ(words.size(), 10u);
}

// The n-th request for memory of any kind fails, and all later ones; objects are in the state after a lack of memory.
TYPED_TEST_P(memory, requests_fail_from_the_nth_on) {
  TypeParam const space = make_space<TypeParam>();
  std::size_t const step = space.granularity();
  exec::buffer<std::uint64_t, TypeParam> array(space);
  exec::reservation<TypeParam> pool(space, 4 * step);
  {
    exec::injected_failure const failure(3);
    array.reserve(10);
    array.reserve(5);  // fits: no request
    EXPECT_EQ(failure.left(), 2u);
    { exec::staging_buffer<int, TypeParam> const host(space, 1); }
    pool.commit(step);
    EXPECT_EQ(failure.left(), 0u);
    expect_out_of_memory([&] { pool.commit(step + 1); });
    expect_out_of_memory([&] { exec::staging_buffer<int, TypeParam>(space, 1); });
    expect_out_of_memory([&] { exec::reservation<TypeParam>(space, step); });
    expect_out_of_memory([&] { array.reserve(11); });
    EXPECT_EQ(array.data(), nullptr);
    EXPECT_EQ(array.size(), 0u);
    EXPECT_EQ(pool.committed(), step);
  }
  {
    exec::injected_failure const strict(1);
    {
      exec::injected_failure const looser(5);
      EXPECT_EQ(looser.left(), 1u);
      exec::injected_failure const stricter(0);
      EXPECT_EQ(stricter.left(), 0u);
      expect_out_of_memory([&] { array.reserve(1); });
    }
    EXPECT_EQ(strict.left(), 1u);
  }
  for (exec::memory_kind const kind : exec::memory_kinds) {
    exec::injected_failure const failure(3);
    exec::buffer<std::uint64_t, TypeParam> const some(space, 1, kind);
    exec::reservation<TypeParam> range(space, 2 * step, kind);
    range.commit(step);
    EXPECT_EQ(failure.left(), 0u) << exec::to_string(kind);
    expect_out_of_memory([&] { range.commit(2 * step); });
    expect_out_of_memory([&] { exec::buffer<std::uint64_t, TypeParam>(space, 1, kind); });
    expect_out_of_memory([&] { exec::reservation<TypeParam>(space, step, kind); });
  }
  array.reserve(11);
  EXPECT_EQ(array.size(), 11u);
  pool.commit(2 * step);
  EXPECT_EQ(pool.committed(), 2 * step);
}

/// Word i grows by i.
struct add_index {
  std::uint64_t* words;
  WYRM_HD void operator()(std::size_t i) const { words[i] += i; }
};

// Asynchronous staged copies, and uploads that are concurrent with work of the space: each is complete before work that
// is enqueued after it.
TYPED_TEST_P(memory, staging_and_uploads) {
  TypeParam const space = make_space<TypeParam>();
  std::size_t const n = 100000;
  std::size_t const parts = 8;
  exec::staging_buffer<std::uint64_t, TypeParam> host(space, parts * n);
  EXPECT_EQ(host.size(), parts * n);
  EXPECT_EQ(host.bytes(), 8 * parts * n);
  for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] = 3 * (i % n);
  exec::buffer<std::uint64_t, TypeParam> there(space, parts * n);
  typename TypeParam::upload upload(space);
  for (int round = 0; round < 3; ++round) {
    exec::for_each(space, there.size(), write_multiples{there.data(), 9});
    upload.start();  // orders the copies after the kernel above
    for (std::size_t p = 0; p < parts; ++p) {
      upload.enqueue(there.data() + p * n, host.data() + p * n, n * sizeof(std::uint64_t));
      exec::for_each(space, n, add_index{there.data() + p * n});
    }
    exec::staging_buffer<std::uint64_t, TypeParam> back(space, there.size());
    space.enqueue_copy_out(back.data(), there.data(), there.bytes());
    space.synchronize();
    for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back.data()[i], 4 * (i % n)) << i;
  }
  typename TypeParam::upload moved(std::move(upload));
  moved.start();
  moved.enqueue(there.data(), host.data(), 80);
  expect_multiples(space, there.data(), 0, 10, 3);
  exec::staging_buffer<std::uint64_t, TypeParam> const other(std::move(host));
  EXPECT_EQ(other.data()[1], 3u);
  EXPECT_EQ(host.data(), nullptr);  // NOLINT(bugprone-use-after-move): a moved buffer is an empty one
}

REGISTER_TYPED_TEST_SUITE_P(memory, staging_and_uploads, buffer_reserves_and_moves, buffers_of_each_kind,
                            copies_and_fills, prefetch_and_advice_change_no_contents, reservation_commits_in_steps,
                            reservation_of_nothing_and_of_too_much, requests_fail_from_the_nth_on);

}  // namespace wyrm::tests
