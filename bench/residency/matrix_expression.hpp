// SPDX-License-Identifier: Apache-2.0
// mpe: A x B + C x D of square matrices. The kernel of a product reads two matrices and writes a third; the last kernel
// reads two products and writes their sum, the only one that goes to the host. C and D are transferred after the first
// product is enqueued.
#pragma once

#include <algorithm>
#include <cmath>

#include "program.hpp"

namespace wyrm::bench::gdm {

namespace kernels {
/// A thread computes 8 elements of a column.
struct multiply {
  static constexpr std::size_t rows = 8;
  word const* a;
  word const* b;
  word* product;
  std::size_t order;
  WYRM_HD void operator()(std::size_t t) const {
    std::size_t const first = t / order * rows;
    std::size_t const j = t % order;
    word sums[rows] = {};
    std::size_t const n = order - first < rows ? order - first : rows;
    if (n == rows) {
      for (std::size_t k = 0; k < order; ++k) {
        word const factor = b[k * order + j];
        for (std::size_t i = 0; i < rows; ++i) sums[i] += a[(first + i) * order + k] * factor;
      }
    } else {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < order; ++k) sums[i] += a[(first + i) * order + k] * b[k * order + j];
    }
    for (std::size_t i = 0; i < n; ++i) product[(first + i) * order + j] = sums[i];
  }
};
struct add_words {
  word const* a;
  word const* b;
  word* sum;
  WYRM_HD void operator()(std::size_t i) const { sum[i] = a[i] + b[i]; }
};
}  // namespace kernels

class matrix_expression {
 public:
  static constexpr char const* name = "mpe";
  explicit matrix_expression(std::size_t bytes)
      : order_(std::max<std::size_t>(static_cast<std::size_t>(std::sqrt(static_cast<double>(bytes) / 7 / sizeof(word))),
                                     2)),
        result_(order_ * order_) {
    for (word m = 0; m < 4; ++m) factors_.push_back(drawn_words(m, order_ * order_));
  }

  template <class Space>
  void run(device_memory<Space>& memory) {
    std::size_t const n = order_ * order_;
    std::size_t const threads = (order_ + kernels::multiply::rows - 1) / kernels::multiply::rows * order_;
    std::vector<array> factors;
    std::vector<array> products;
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t f = 2 * p; f < 2 * p + 2; ++f) {
        factors.push_back(memory.make(n));
        factors[f]->write(factors_[f]);
      }
      products.push_back(memory.make(n));
      array const& a = factors[2 * p];
      array const& b = factors[2 * p + 1];
      memory.launch({{a, access::read}, {b, access::read}, {products[p], access::write}}, [&](Space const& space) {
        exec::for_each(space, threads, kernels::multiply{a->data(), b->data(), products[p]->data(), order_});
      });
    }
    array const sum = memory.make(n);
    memory.launch({{products[0], access::read}, {products[1], access::read}, {sum, access::write}},
                  [&](Space const& space) {
                    exec::for_each(space, n, kernels::add_words{products[0]->data(), products[1]->data(), sum->data()});
                  });
    sum->read(result_);
  }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_of(result_); }

  [[nodiscard]] std::uint64_t expected() const {
    std::vector<word> sum(order_ * order_);
    for (std::size_t p = 0; p < 4; p += 2)
      for (std::size_t i = 0; i < order_; ++i)
        for (std::size_t k = 0; k < order_; ++k)
          for (std::size_t j = 0; j < order_; ++j)
            sum[i * order_ + j] += factors_[p][i * order_ + k] * factors_[p + 1][k * order_ + j];
    return checksum_of(sum);
  }

 private:
  std::size_t order_;
  std::vector<std::vector<word>> factors_;
  std::vector<word> result_;
};

}  // namespace wyrm::bench::gdm
