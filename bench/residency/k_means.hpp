// SPDX-License-Identifier: Apache-2.0
// kmeans: points of 8 coordinates, 8 clusters, 10 iterations. The points are transferred once, and read by each
// launch, which writes the cluster of each point and sums for each cluster; the host computes the new centres.
#pragma once

#include <algorithm>

#include "program.hpp"

namespace wyrm::bench::gdm {

namespace kernels {
struct assign_points {
  static constexpr unsigned dimensions = 8;
  static constexpr unsigned clusters = 8;
  static constexpr unsigned fields = dimensions + 1;  // the last one is the number of points
  word const* points;                                 // of coordinate d of point i: d * count + i
  std::size_t count;
  std::size_t threads;
  word const* centres;
  word* labels;
  std::uint64_t* sums;  // of a cluster: `fields`
  WYRM_HD void operator()(std::size_t t) const {
    word centre[clusters][dimensions];
    std::uint64_t own[clusters][fields] = {};
    for (unsigned c = 0; c < clusters; ++c)
      for (unsigned d = 0; d < dimensions; ++d) centre[c][d] = centres[c * dimensions + d];
    for (std::size_t i = t; i < count; i += threads) {
      word x[dimensions];
      for (unsigned d = 0; d < dimensions; ++d) x[d] = points[d * count + i];
      unsigned nearest = 0;
      word least = ~word{0};
      for (unsigned c = 0; c < clusters; ++c) {
        word square = 0;
        for (unsigned d = 0; d < dimensions; ++d) square += (x[d] - centre[c][d]) * (x[d] - centre[c][d]);
        if (square < least) {
          least = square;
          nearest = c;
        }
      }
      labels[i] = nearest;
      for (unsigned d = 0; d < dimensions; ++d) own[nearest][d] += x[d];
      ++own[nearest][dimensions];
    }
    for (unsigned c = 0; c < clusters; ++c)
      for (unsigned f = 0; f < fields; ++f)
        if (own[c][f] != 0) add_to(sums[c * fields + f], own[c][f]);
  }
};
}  // namespace kernels

class k_means {
 public:
  static constexpr char const* name = "kmeans";
  static constexpr unsigned iterations = 10;
  explicit k_means(std::size_t bytes)
      : count_(std::max<std::size_t>(bytes / sizeof(word) / (dimensions + 1), clusters)),
        points_(drawn_words(1, count_ * dimensions, limit)),
        start_(drawn_words(2, clusters * dimensions, limit)),
        labels_(count_) {}

  template <class Space>
  void run(device_memory<Space>& memory) {
    array const points = memory.make(points_.size());
    array const labels = memory.make(count_);
    array const centres = memory.make(start_.size());
    array const sums = memory.make(2 * clusters * fields);
    points->write(points_);
    std::vector<word> current = start_;
    std::size_t const threads = summing_threads(count_);
    for (unsigned i = 0; i < iterations; ++i) {
      centres->write(current);
      sums->write(std::vector<word>(2 * clusters * fields));
      memory.launch({{points, access::read}, {centres, access::read}, {labels, access::write}, {sums, access::write}},
                    [&](Space const& space) {
                      exec::for_each(space, threads,
                                     kernels::assign_points{points->data(), count_, threads, centres->data(),
                                                            labels->data(), as_sums(sums->data())});
                    });
      move(current, read_sums(*sums, clusters * fields));
    }
    labels->read(labels_);
  }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_of(labels_); }

  [[nodiscard]] std::uint64_t expected() const {
    std::vector<word> current = start_;
    std::vector<word> labels(count_);
    for (unsigned s = 0; s < iterations; ++s) {
      std::vector<std::uint64_t> sums(clusters * fields);
      for (std::size_t i = 0; i < count_; ++i) {
        std::vector<std::uint64_t> squares(clusters);
        for (unsigned c = 0; c < clusters; ++c)
          for (unsigned d = 0; d < dimensions; ++d) {
            std::int64_t const gap = std::int64_t{points_[d * count_ + i]} - current[c * dimensions + d];
            squares[c] += static_cast<std::uint64_t>(gap * gap);
          }
        labels[i] = static_cast<word>(std::min_element(squares.begin(), squares.end()) - squares.begin());
        for (unsigned d = 0; d < dimensions; ++d) sums[labels[i] * fields + d] += points_[d * count_ + i];
        ++sums[labels[i] * fields + dimensions];
      }
      move(current, sums);
    }
    return checksum_of(labels);
  }

 private:
  static constexpr unsigned dimensions = kernels::assign_points::dimensions;
  static constexpr unsigned clusters = kernels::assign_points::clusters;
  static constexpr unsigned fields = kernels::assign_points::fields;
  static constexpr word limit = 1 << 14;  // squares of distances fit a word
  /// An empty cluster keeps its centre.
  static void move(std::vector<word>& centres, std::vector<std::uint64_t> const& sums) {
    for (unsigned c = 0; c < clusters; ++c)
      for (unsigned d = 0; d < dimensions; ++d)
        if (std::uint64_t const points = sums[c * fields + dimensions]; points > 0)
          centres[c * dimensions + d] = static_cast<word>(sums[c * fields + d] / points);
  }

  std::size_t count_;
  std::vector<word> points_;
  std::vector<word> start_;
  std::vector<word> labels_;
};

}  // namespace wyrm::bench::gdm
