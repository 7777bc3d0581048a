// SPDX-License-Identifier: Apache-2.0
// A convolutional layer and a fully connected layer, as AlexNet has them: each image of 32 x 32 words becomes two maps
// of 16 x 16 (filters of 3 x 3, steps of 2, zeros around the image, negative results become 0); the second layer
// multiplies the maps of the first 4 images with a large matrix, each row of which is one output. Access: sequential in
// both layers.
#pragma once

#include "pattern.hpp"

namespace wyrm::bench {

struct convolution {
  static constexpr char const* name = "convolution";
  static constexpr char const* access = "sequential";
  static constexpr unsigned arrays = 3;  // images, maps, rows of the matrix
  static constexpr unsigned result = 1;  // `sums` has a sum of the outputs of the second layer
  static constexpr unsigned width = 32;  // of an image, and its height
  static constexpr unsigned map_width = width / 2;
  static constexpr unsigned filters = 2;
  static constexpr unsigned features = filters * map_width * map_width;  // words of the maps of an image
  static constexpr unsigned batch = 4;
  WYRM_HD static constexpr unsigned share(unsigned a) { return a == 0 ? 32 : 16; }

  extent size;

  [[nodiscard]] WYRM_HD std::uint64_t images_per_thread() const { return size.words / 2 / (width * width); }
  [[nodiscard]] WYRM_HD std::uint64_t rows_per_thread() const { return size.words / 4 / features; }
  /// Brightness from 0 to 255; weights from -8 to 7.
  [[nodiscard]] WYRM_HD word initial(unsigned array, std::uint64_t i) const {
    if (array == 1) return 0;
    return array == 0 ? drawn(0, i) % 256 : drawn(1, i) % 16 - 8;
  }
  /// A weight of a filter, from -3 to 3.
  [[nodiscard]] WYRM_HD static constexpr word weight(unsigned filter, unsigned y, unsigned x) {
    return (filter * 4 + y * 5 + x * 3) % 7 - 3;
  }
  [[nodiscard]] WYRM_HD static word positive(word x) { return x >> 31 == 0 ? x : 0; }

  template <class Space, class Array>
  void run(Space const& space, pattern_memory<Array> const& m) const;
};

namespace detail {
/// Thread t computes the maps of its own images.
template <class Array>
struct convolve_images {
  convolution p;
  pattern_memory<Array> m;
  WYRM_HD void operator()(std::uint64_t t) const {
    std::uint64_t const own = p.images_per_thread();
    for (std::uint64_t image = t * own; image < (t + 1) * own; ++image)
      for (unsigned y = 0; y < p.map_width; ++y)
        for (unsigned x = 0; x < p.map_width; ++x) convolve(image, y, x);
  }
  WYRM_HD void convolve(std::uint64_t image, unsigned y, unsigned x) const {
    word sums[convolution::filters] = {};
    for (unsigned i = 0; i < 3; ++i)
      for (unsigned j = 0; j < 3; ++j) {
        unsigned const from_y = 2 * y + i - 1;  // wraps around above and to the left of the image
        unsigned const from_x = 2 * x + j - 1;
        if (from_y >= p.width || from_x >= p.width) continue;
        word const pixel = m.arrays[0][(image * p.width + from_y) * p.width + from_x];
        for (unsigned f = 0; f < p.filters; ++f) sums[f] += pixel * p.weight(f, i, j);
      }
    for (unsigned f = 0; f < p.filters; ++f)
      m.arrays[1][image * p.features + (f * p.map_width + y) * p.map_width + x] = p.positive(sums[f]);
  }
};
/// Thread t multiplies its own rows of the matrix with the maps of each image of the batch.
template <class Array>
struct connect_fully {
  convolution p;
  pattern_memory<Array> m;
  WYRM_HD void operator()(std::uint64_t t) const {
    std::uint64_t sum = 0;
    std::uint64_t const own = p.rows_per_thread();
    for (std::uint64_t row = t * own; row < (t + 1) * own; ++row) {
      word outputs[convolution::batch] = {};
      for (unsigned k = 0; k < p.features; ++k) {
        word const weight = m.arrays[2][row * p.features + k];
        for (unsigned b = 0; b < p.batch; ++b) outputs[b] += weight * m.arrays[1][b * p.features + k];
      }
      for (unsigned b = 0; b < p.batch; ++b) sum += p.positive(outputs[b]) * (2 * (row * p.batch + b) + 1);
    }
    m.sums[t] = sum;
  }
};
}  // namespace detail

template <class Space, class Array>
void convolution::run(Space const& space, pattern_memory<Array> const& m) const {
  for_each_thread(space, size.threads, detail::convolve_images<Array>{*this, m});
  for_each_thread(space, size.threads, detail::connect_fully<Array>{*this, m});
}

}  // namespace wyrm::bench
