// SPDX-License-Identifier: Apache-2.0
// k-means ("KMN") with mini-batches (D. Sculley, "Web-Scale K-Means Clustering", WWW 2010): in each iteration a random
// half of the groups of 64 points moves the centroids to the means of their clusters; a last pass labels all points.
// Access: part repetitive; parts of the points are read in some iterations, and not in others.
#pragma once

#include "../../exec/atomic.hpp"
#include "pattern.hpp"

namespace wyrm::bench {

struct k_means {
  static constexpr char const* name = "k_means";
  static constexpr char const* access = "part repetitive";
  static constexpr unsigned arrays = 2;  // points of `dimensions` words; a label per point
  static constexpr unsigned result = 1;
  static constexpr unsigned dimensions = 3;
  static constexpr unsigned clusters = 4;
  static constexpr unsigned iterations = 4;
  static constexpr std::uint64_t group = 64;
  static constexpr word limit = 1 << 14;  // of coordinates: squares of distances fit a word
  WYRM_HD static constexpr unsigned share(unsigned a) { return a == 0 ? 48 : 16; }

  extent size;

  [[nodiscard]] WYRM_HD std::uint64_t points_per_thread() const { return size.words / (dimensions + 1); }
  [[nodiscard]] WYRM_HD word initial(unsigned array, std::uint64_t i) const {
    return array == 0 ? drawn(0, i) % limit : 0;
  }
  /// The first centroids.
  [[nodiscard]] WYRM_HD word centroid(unsigned cluster, unsigned d) const {
    return drawn(1, cluster * dimensions + d) % limit;
  }
  /// Whether an iteration uses a group of points.
  [[nodiscard]] WYRM_HD bool uses(unsigned iteration, std::uint64_t g) const {
    return drawn(2 + iteration, g) % 2 == 0;
  }

  template <class Space, class Array>
  void run(Space const& space, pattern_memory<Array> const& m) const;
};

namespace detail {

/// The scratch: for each cluster the sums of its coordinates and the number of its points, and then the centroids.
template <class Array>
struct k_means_memory : pattern_memory<Array> {
  static constexpr unsigned fields = k_means::dimensions + 1;
  static constexpr unsigned first_centroid = k_means::clusters * fields;
  static_assert(first_centroid + k_means::clusters * k_means::dimensions <= scratch_words);
  [[nodiscard]] WYRM_HD std::uint64_t& sum(unsigned cluster, unsigned field) const {
    return this->scratch[cluster * fields + field];
  }
  [[nodiscard]] WYRM_HD std::uint64_t& centroid(unsigned cluster, unsigned d) const {
    return this->scratch[first_centroid + cluster * k_means::dimensions + d];
  }
};

template <class Array>
struct write_centroids {
  k_means p;
  k_means_memory<Array> m;
  WYRM_HD void operator()(std::uint64_t cluster) const {
    auto const c = static_cast<unsigned>(cluster);
    for (unsigned d = 0; d < p.dimensions; ++d) m.centroid(c, d) = p.centroid(c, d);
  }
};
/// Thread c moves centroid c. An empty cluster keeps its centroid.
template <class Array>
struct move_centroids {
  k_means_memory<Array> m;
  WYRM_HD void operator()(std::uint64_t cluster) const {
    auto const c = static_cast<unsigned>(cluster);
    std::uint64_t const points = m.sum(c, k_means::dimensions);
    for (unsigned d = 0; d < k_means::dimensions; ++d)
      if (points > 0) m.centroid(c, d) = m.sum(c, d) / points;
    for (unsigned field = 0; field < m.fields; ++field) m.sum(c, field) = 0;
  }
};
/// Thread t assigns its own points: to sums in registers, which it adds to those of all threads at the end; or, in the
/// last pass, to the labels.
template <class Array>
struct assign_points {
  k_means p;
  k_means_memory<Array> m;
  unsigned iteration;
  WYRM_HD void operator()(std::uint64_t t) const {
    bool const labels = iteration == p.iterations;
    word centroids[k_means::clusters][k_means::dimensions];
    for (unsigned c = 0; c < p.clusters; ++c)
      for (unsigned d = 0; d < p.dimensions; ++d) centroids[c][d] = static_cast<word>(m.centroid(c, d));
    std::uint64_t sums[k_means::clusters][k_means::dimensions + 1] = {};
    std::uint64_t const own = p.points_per_thread();
    for (std::uint64_t i = t * own; i < (t + 1) * own; ++i) {
      if (!labels && i % p.group == 0 && !p.uses(iteration, i / p.group)) {
        i += p.group - 1;
        continue;
      }
      word x[k_means::dimensions];
      for (unsigned d = 0; d < p.dimensions; ++d) x[d] = m.arrays[0][i * p.dimensions + d];
      unsigned nearest = 0;
      word least = ~word{0};
      for (unsigned c = 0; c < p.clusters; ++c) {
        word distance = 0;
        for (unsigned d = 0; d < p.dimensions; ++d) distance += (x[d] - centroids[c][d]) * (x[d] - centroids[c][d]);
        if (distance < least) {
          least = distance;
          nearest = c;
        }
      }
      if (labels) m.arrays[1][i] = nearest;
      for (unsigned c = 0; c < p.clusters;
           ++c) {  // no index that is only known at run time, so that sums stay in registers
        std::uint64_t const one = c == nearest ? 1 : 0;
        for (unsigned d = 0; d < p.dimensions; ++d) sums[c][d] += one * x[d];
        sums[c][p.dimensions] += one;
      }
    }
    if (labels) return;
    for (unsigned c = 0; c < p.clusters; ++c)
      for (unsigned field = 0; field < m.fields; ++field)
        exec::atomic_ref<std::uint64_t>(m.sum(c, field)).fetch_add(sums[c][field], exec::relaxed);
  }
};

}  // namespace detail

template <class Space, class Array>
void k_means::run(Space const& space, pattern_memory<Array> const& memory) const {
  detail::k_means_memory<Array> const m{memory};
  for_each_thread(space, clusters, detail::write_centroids<Array>{*this, m});
  for (unsigned i = 0; i <= iterations; ++i) {
    for_each_thread(space, size.threads, detail::assign_points<Array>{*this, m, i});
    if (i < iterations) for_each_thread(space, clusters, detail::move_centroids<Array>{m});
  }
}

}  // namespace wyrm::bench
