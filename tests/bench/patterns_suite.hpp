// SPDX-License-Identifier: Apache-2.0
// The patterns of access on any space, on each kind of array, compared with their serial programs.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "../../alloc/baseline/bump.hpp"
#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../../bench/patterns/arrays.hpp"
#include "../../bench/patterns/reference.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

/// Copies an array, and writes to each element the number of the element.
template <class Array>
struct exchange_elements {
  Array array;
  bench::word* copied;
  WYRM_HD void operator()(std::size_t i) const {
    copied[i] = array[i];
    array[i] = static_cast<bench::word>(i);
  }
};

template <class Space>
class patterns_test : public space_fixture<Space> {
 protected:
  /// Of a whole number of warps; and of a warp that is not full, with a size that is not a power of two.
  static std::vector<bench::extent> extents() { return {{64, 16 << 10}, {40, 48 << 10}}; }

  /// Calls f(arrays) for each kind of arrays, with memory for p. The kind is in SCOPED_TRACE.
  template <class Pattern, class F>
  void on_each_kind_of_array(Pattern const& p, F const& f) const {
    {
      SCOPED_TRACE("plain");
      with_memory<bench::plain_arrays<Space>>(p, f);
    }
    {
      SCOPED_TRACE("interleaved");
      with_memory<bench::interleaved_arrays<Space>>(p, f);
    }
    SCOPED_TRACE("rows");
    using arrays = bench::rows_arrays<alloc::ouroboros_va_p<Space>>;
    std::size_t const bytes = bench::bytes_for<arrays>(p);
    arrays made(this->space(), {.pool_bytes = bytes, .reserve_bytes = bytes, .checked = false});
    f(made);
  }
  template <class Arrays, class Pattern, class F>
  void with_memory(Pattern const& p, F const& f) const {
    exec::buffer<std::byte, Space> memory(this->space(), bench::bytes_for<Arrays>(p));
    Arrays made(this->space(), {memory.data(), memory.size()});
    f(made);
  }
  /// Two runs, each from the initial values.
  template <class Pattern>
  void expect_results(Pattern const& p) const {
    auto const expected = bench::expected(p);
    on_each_kind_of_array(p, [&]<class Arrays>(Arrays& arrays) {
      bench::workload<Pattern, Arrays> const work(p, arrays);
      for (int run = 0; run < 2; ++run) {
        work.fill();
        work.run();
        EXPECT_EQ(work.result(), expected) << Pattern::name << ", run " << run;
      }
    });
  }
};
TYPED_TEST_SUITE_P(patterns_test);

TYPED_TEST_P(patterns_test, results_of_applications) {
  for (bench::extent const& e : this->extents())
    bench::for_each_application([&]<class Pattern>() { this->expect_results(Pattern{e}); });
}

TYPED_TEST_P(patterns_test, results_of_accesses_to_own_memory) {
  for (bool const in_step : {false, true})
    for (std::uint64_t const words : {128u, 1024u, 5u << 12})
      this->expect_results(bench::own_memory{{96, words}, 100, in_step});
}

// No two elements have the same place.
TYPED_TEST_P(patterns_test, arrays_keep_all_elements) {
  auto const& space = this->space();
  for (bench::extent const& e : this->extents()) {
    bench::sparse_product const p{e};
    this->on_each_kind_of_array(p, [&]<class Arrays>(Arrays& arrays) {
      bench::workload<bench::sparse_product, Arrays> const work(p, arrays);
      for (unsigned a = 0; a < p.arrays; ++a) {
        std::size_t const n = bench::own_words(p, a) * e.threads;
        exec::buffer<bench::word, TypeParam> copied(space, n);
        std::vector<bench::word> numbers(n);
        std::iota(numbers.begin(), numbers.end(), bench::word{0});
        exchange_elements<typename Arrays::array_type> const exchange{work.memory().arrays[a], copied.data()};
        exec::for_each(space, n, exchange);
        exec::for_each(space, n, exchange);
        EXPECT_EQ(exec::copy_out(space, copied.data(), n), numbers) << "array " << a;
      }
      work.fill();  // all arrays, after each of them had other values
      work.run();
      EXPECT_EQ(work.result(), bench::expected(p));
    });
  }
}

TYPED_TEST_P(patterns_test, wrong_words_change_results) {
  bench::matrix_product const p{this->extents()[0]};
  this->on_each_kind_of_array(p, [&]<class Arrays>(Arrays& arrays) {
    bench::workload<bench::matrix_product, Arrays> const work(p, arrays);
    work.fill();
    auto const last = work.memory().arrays[0];
    exec::for_each(this->space(), 1, exchange_elements<typename Arrays::array_type>{last, work.memory().table()});
    work.run();
    auto expected = bench::expected(p);
    auto const result = work.result();
    EXPECT_NE(result[0], expected[0]);
    expected[0] = result[0];
    EXPECT_EQ(result, expected);
  });
}

TYPED_TEST_P(patterns_test, too_little_memory_is_refused) {
  bench::stencil const p{this->extents()[0]};
  exec::buffer<std::byte, TypeParam> memory(this->space(), p.size.bytes() - 1);
  std::span<std::byte> const range(memory.data(), memory.size());
  auto const refuse = [&](auto&& arrays) {
    using kind = std::remove_reference_t<decltype(arrays)>;
    try {
      bench::workload<bench::stencil, kind> const work(p, arrays);
      ADD_FAILURE() << "there are arrays in too little memory";
    } catch (error const& refused) {
      EXPECT_EQ(refused.code(), error_code::out_of_memory) << refused.what();
    }
  };
  refuse(bench::plain_arrays<TypeParam>(this->space(), range));
  refuse(bench::interleaved_arrays<TypeParam>(this->space(), range));
  std::size_t const bytes = p.size.bytes() - 1;
  refuse(bench::rows_arrays<alloc::bump<TypeParam>>(
      this->space(), {.pool_bytes = bytes / 2, .reserve_bytes = bytes / 2, .checked = false}));
}

REGISTER_TYPED_TEST_SUITE_P(patterns_test, results_of_applications, results_of_accesses_to_own_memory,
                            arrays_keep_all_elements, wrong_words_change_results, too_little_memory_is_refused);

}  // namespace wyrm::tests
