// SPDX-License-Identifier: Apache-2.0
// nn: the 10 points nearest to a target, for each of 4 targets. The points are transferred once, and read by each
// launch, which writes all distances; the host copies these, and selects.
#pragma once

#include <algorithm>
#include <utility>

#include "program.hpp"

namespace wyrm::bench::gdm {

namespace kernels {
struct distances {
  word const* points;  // x and y of each
  word x;
  word y;
  word* squares;
  WYRM_HD void operator()(std::size_t i) const {
    word const dx = points[2 * i] - x;
    word const dy = points[2 * i + 1] - y;
    squares[i] = dx * dx + dy * dy;
  }
};
}  // namespace kernels

class nearest {
 public:
  static constexpr char const* name = "nn";
  static constexpr std::size_t targets = 4;
  static constexpr std::size_t neighbours = 10;
  explicit nearest(std::size_t bytes)
      : points_(drawn_words(1, std::max<std::size_t>(bytes / sizeof(word) / 3, neighbours) * 2, limit)),
        targets_(drawn_words(2, 2 * targets, limit)),
        squares_(points_.size() / 2) {}

  template <class Space>
  void run(device_memory<Space>& memory) {
    std::size_t const n = squares_.size();
    array const points = memory.make(points_.size());
    array const squares = memory.make(n);
    points->write(points_);
    found_.clear();
    for (std::size_t t = 0; t < targets; ++t) {
      memory.launch({{points, access::read}, {squares, access::write}}, [&](Space const& space) {
        exec::for_each(space, n,
                       kernels::distances{points->data(), targets_[2 * t], targets_[2 * t + 1], squares->data()});
      });
      squares->read(squares_);
      select();
    }
  }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_of(found_); }

  /// Sorts all points.
  [[nodiscard]] std::uint64_t expected() const {
    std::vector<word> found;
    for (std::size_t t = 0; t < targets; ++t) {
      std::vector<std::pair<std::uint64_t, word>> all;
      for (std::size_t i = 0; i < squares_.size(); ++i) {
        std::int64_t const dx = std::int64_t{points_[2 * i]} - targets_[2 * t];
        std::int64_t const dy = std::int64_t{points_[2 * i + 1]} - targets_[2 * t + 1];
        all.emplace_back(dx * dx + dy * dy, static_cast<word>(i));
      }
      std::sort(all.begin(), all.end());
      for (std::size_t i = 0; i < neighbours; ++i) found.push_back(all[i].second);
    }
    return checksum_of(found);
  }

 private:
  static constexpr word limit = 1 << 15;  // squares of distances fit a word

  /// Appends the points of the least distances, in ascending order of the distance, then of the number.
  void select() {
    std::vector<std::pair<word, word>> best;
    for (std::size_t i = 0; i < squares_.size(); ++i) {
      if (best.size() == neighbours && squares_[i] >= best.back().first) continue;
      std::pair<word, word> const one(squares_[i], static_cast<word>(i));
      if (best.size() == neighbours) best.pop_back();
      best.insert(std::upper_bound(best.begin(), best.end(), one), one);
    }
    for (auto const& [square, point] : best) found_.push_back(point);
  }

  std::vector<word> points_;
  std::vector<word> targets_;
  std::vector<word> squares_;
  std::vector<word> found_;
};

}  // namespace wyrm::bench::gdm
