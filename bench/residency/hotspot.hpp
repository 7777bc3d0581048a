// SPDX-License-Identifier: Apache-2.0
// hotspot: temperatures on a grid. Each of 20 launches reads one grid of temperatures and the power, and writes the
// other grid; then the first one is read again.
#pragma once

#include <algorithm>
#include <utility>

#include "program.hpp"

namespace wyrm::bench::gdm {

namespace kernels {
/// Edges are joined.
struct heat {
  static constexpr std::size_t width = 256;
  word const* power;
  word const* from;
  word* to;
  std::size_t cells;
  WYRM_HD void operator()(std::size_t i) const {
    std::size_t const row = i - i % width;
    word const above = from[i < width ? i + cells - width : i - width];
    word const below = from[i + width < cells ? i + width : i + width - cells];
    word const left = from[row + (i + width - 1) % width];
    word const right = from[row + (i + 1) % width];
    to[i] = 5 * from[i] + above + below + left + right + power[i];
  }
};
}  // namespace kernels

class hotspot {
 public:
  static constexpr char const* name = "hotspot";
  static constexpr unsigned iterations = 20;
  explicit hotspot(std::size_t bytes)
      : power_(drawn_words(1, std::max<std::size_t>(bytes / sizeof(word) / 3 / width, 2) * width)),
        start_(drawn_words(2, power_.size())),
        result_(power_.size()) {}

  template <class Space>
  void run(device_memory<Space>& memory) {
    std::size_t const n = power_.size();
    array const power = memory.make(n);
    array from = memory.make(n);
    array to = memory.make(n);
    power->write(power_);
    from->write(start_);
    for (unsigned i = 0; i < iterations; ++i) {
      memory.launch({{power, access::read}, {from, access::read}, {to, access::write}}, [&](Space const& space) {
        exec::for_each(space, n, kernels::heat{power->data(), from->data(), to->data(), n});
      });
      std::swap(from, to);
    }
    from->read(result_);
  }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_of(result_); }

  /// Each cell is added to its neighbours.
  [[nodiscard]] std::uint64_t expected() const {
    std::vector<word> cells = start_;
    std::size_t const height = cells.size() / width;
    for (unsigned s = 0; s < iterations; ++s) {
      std::vector<word> next = power_;
      for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
          word const cell = cells[y * width + x];
          next[y * width + x] += 5 * cell;
          next[(y + 1) % height * width + x] += cell;
          next[(y + height - 1) % height * width + x] += cell;
          next[y * width + (x + 1) % width] += cell;
          next[y * width + (x + width - 1) % width] += cell;
        }
      cells = std::move(next);
    }
    return checksum_of(cells);
  }

 private:
  static constexpr std::size_t width = kernels::heat::width;
  std::vector<word> power_;
  std::vector<word> start_;
  std::vector<word> result_;
};

}  // namespace wyrm::bench::gdm
