// SPDX-License-Identifier: Apache-2.0
// srad: removes speckles from an image. Each of 10 iterations has three launches: the sums of the image, which go to
// the host; the differences to the four neighbours and a coefficient for each pixel; and the new image from all of
// these. So it launches often, and each launch uses all or most of the memory, half of which it writes.
#pragma once

#include <algorithm>
#include <utility>

#include "program.hpp"

namespace wyrm::bench::gdm {

namespace kernels {
struct image_sums {
  word const* image;
  std::size_t pixels;
  std::size_t threads;
  std::uint64_t* sums;  // of words, and of their squares
  WYRM_HD void operator()(std::size_t t) const {
    std::uint64_t sum = 0;
    std::uint64_t squares = 0;
    for (std::size_t i = t; i < pixels; i += threads) {
      sum += image[i];
      squares += std::uint64_t{image[i]} * image[i];
    }
    add_to(sums[0], sum);
    add_to(sums[1], squares);
  }
};
/// The edges of the image are joined.
struct image_grid {
  static constexpr std::size_t width = 256;
  std::size_t pixels;
  [[nodiscard]] WYRM_HD std::size_t above(std::size_t i) const { return i < width ? i + pixels - width : i - width; }
  [[nodiscard]] WYRM_HD std::size_t below(std::size_t i) const {
    return i + width < pixels ? i + width : i + width - pixels;
  }
  [[nodiscard]] WYRM_HD std::size_t left(std::size_t i) const { return i % width == 0 ? i + width - 1 : i - 1; }
  [[nodiscard]] WYRM_HD std::size_t right(std::size_t i) const {
    return i % width == width - 1 ? i + 1 - width : i + 1;
  }
};
struct image_differences {
  image_grid grid;
  word scale;
  word const* image;
  word* differences;  // to the pixels above, below, left and right: an image each
  word* coefficients;
  WYRM_HD void operator()(std::size_t i) const {
    std::size_t const n = grid.pixels;
    word const own = image[i];
    word const d[4] = {image[grid.above(i)] - own, image[grid.below(i)] - own, image[grid.left(i)] - own,
                       image[grid.right(i)] - own};
    word sum = 0;
    for (unsigned k = 0; k < 4; ++k) {
      differences[k * n + i] = d[k];
      sum += d[k] * d[k];
    }
    coefficients[i] = (sum + scale) >> 24;
  }
};
struct diffuse {
  image_grid grid;
  word* image;
  word const* differences;
  word const* coefficients;
  WYRM_HD void operator()(std::size_t i) const {
    std::size_t const n = grid.pixels;
    word const own = coefficients[i];
    word const sum = own * differences[i] + coefficients[grid.below(i)] * differences[n + i] +
                     own * differences[2 * n + i] + coefficients[grid.right(i)] * differences[3 * n + i];
    image[i] += sum >> 2;
  }
};
}  // namespace kernels

class srad {
 public:
  static constexpr char const* name = "srad";
  static constexpr unsigned iterations = 10;
  explicit srad(std::size_t bytes)
      : start_(drawn_words(1, std::max<std::size_t>(bytes / sizeof(word) / 6 / width, 2) * width, 1 << 20)),
        result_(start_.size()) {}

  template <class Space>
  void run(device_memory<Space>& memory) {
    std::size_t const n = start_.size();
    array const image = memory.make(n);
    array const differences = memory.make(4 * n);
    array const coefficients = memory.make(n);
    array const sums = memory.make(4);
    image->write(start_);
    std::size_t const threads = summing_threads(n);
    kernels::image_grid const grid{n};
    for (unsigned i = 0; i < iterations; ++i) {
      sums->write(std::vector<word>(4));
      memory.launch({{image, access::read}, {sums, access::write}}, [&](Space const& space) {
        exec::for_each(space, threads, kernels::image_sums{image->data(), n, threads, as_sums(sums->data())});
      });
      word const scale = scale_of(read_sums(*sums, 2), n);
      memory.launch({{image, access::read}, {differences, access::write}, {coefficients, access::write}},
                    [&](Space const& space) {
                      exec::for_each(space, n,
                                     kernels::image_differences{grid, scale, image->data(), differences->data(),
                                                                coefficients->data()});
                    });
      memory.launch(
          {{image, access::write}, {differences, access::read}, {coefficients, access::read}}, [&](Space const& space) {
            exec::for_each(space, n, kernels::diffuse{grid, image->data(), differences->data(), coefficients->data()});
          });
    }
    image->read(result_);
  }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_of(result_); }

  [[nodiscard]] std::uint64_t expected() const {
    std::vector<word> image = start_;
    std::size_t const height = image.size() / width;
    auto const at = [](std::vector<word> const& v, std::size_t y, std::size_t x) { return v[y * width + x % width]; };
    for (unsigned s = 0; s < iterations; ++s) {
      std::vector<std::uint64_t> sums(2);
      for (word const pixel : image) {
        sums[0] += pixel;
        sums[1] += std::uint64_t{pixel} * pixel;
      }
      word const scale = scale_of(sums, image.size());
      auto const difference = [&](std::size_t y, std::size_t x, std::size_t to_y, std::size_t to_x) {
        return at(image, to_y % height, to_x) - at(image, y, x);
      };
      std::vector<word> coefficients(image.size());
      std::vector<word> next(image.size());
      for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
          word sum = scale;
          for (auto const& [to_y, to_x] :
               {std::pair(y + height - 1, x), std::pair(y + 1, x), std::pair(y, x + width - 1), std::pair(y, x + 1)})
            sum += difference(y, x, to_y, to_x) * difference(y, x, to_y, to_x);
          coefficients[y * width + x] = sum >> 24;
        }
      for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
          word const own = at(coefficients, y, x);
          word const sum = own * (difference(y, x, y + height - 1, x) + difference(y, x, y, x + width - 1)) +
                           at(coefficients, (y + 1) % height, x) * difference(y, x, y + 1, x) +
                           at(coefficients, y, x + 1) * difference(y, x, y, x + 1);
          next[y * width + x] = image[y * width + x] + (sum >> 2);
        }
      image = std::move(next);
    }
    return checksum_of(image);
  }

 private:
  static constexpr std::size_t width = kernels::image_grid::width;
  [[nodiscard]] static word scale_of(std::vector<std::uint64_t> const& sums, std::size_t n) {
    return static_cast<word>(sums[1] / n + sums[0]);
  }

  std::vector<word> start_;
  std::vector<word> result_;
};

}  // namespace wyrm::bench::gdm
