// SPDX-License-Identifier: Apache-2.0
// Serial programs for the patterns: expected(p) is what workload::result() returns after a run. They share the inputs
// with the patterns, and nothing else; where there is a different way to compute the same, they take it. They need as
// much host memory as the pattern, and as much time as one core takes; that of own_memory needs neither.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "all.hpp"

namespace wyrm::bench {

namespace detail {
/// An array with its initial values.
template <class Pattern>
[[nodiscard]] std::vector<word> initial_array(Pattern const& p, unsigned array) {
  std::vector<word> values(own_words(p, array) * p.size.threads);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = p.initial(array, i);
  return values;
}
/// The numbers of all threads.
[[nodiscard]] inline std::vector<std::uint64_t> weighted_sums(std::vector<word> const& values, std::uint64_t threads) {
  std::vector<std::uint64_t> sums(threads);
  for (std::size_t i = 0; i < values.size(); ++i)
    sums[i / (values.size() / threads)] += std::uint64_t{values[i]} * (2 * i + 1);
  return sums;
}
[[nodiscard]] inline word positive_part(std::int64_t x) {
  return static_cast<word>(std::max<std::int64_t>(static_cast<std::int32_t>(static_cast<word>(x)), 0));
}
}  // namespace detail

[[nodiscard]] inline std::vector<std::uint64_t> expected(matrix_product const& p) {
  auto const a = detail::initial_array(p, 0);
  std::vector<word> c(a.size() / p.inner * p.columns);
  for (unsigned j = 0; j < p.columns; ++j) {
    std::vector<word> column;
    for (unsigned k = 0; k < p.inner; ++k) column.push_back(p.factor(k, j));
    for (std::size_t row = 0; row < c.size() / p.columns; ++row)
      for (unsigned k = 0; k < p.inner; ++k) c[row * p.columns + j] += a[row * p.inner + k] * column[k];
  }
  return detail::weighted_sums(c, p.size.threads);
}

/// Each cell is added to its neighbours.
[[nodiscard]] inline std::vector<std::uint64_t> expected(stencil const& p) {
  auto cells = detail::initial_array(p, 0);
  std::size_t const height = cells.size() / p.width;
  for (unsigned s = 0; s < p.sweeps; ++s) {
    std::vector<word> next(cells);
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < p.width; ++x) {
        word const cell = cells[y * p.width + x];
        next[(y + 1) % height * p.width + x] += cell;
        next[(y + height - 1) % height * p.width + x] += cell;
        next[y * p.width + (x + 1) % p.width] += cell;
        next[y * p.width + (x + p.width - 1) % p.width] += cell;
      }
    cells = std::move(next);
  }
  return detail::weighted_sums(cells, p.size.threads);
}

[[nodiscard]] inline std::vector<std::uint64_t> expected(k_means const& p) {
  using point = std::array<std::int64_t, k_means::dimensions>;
  auto const words = detail::initial_array(p, 0);
  std::vector<point> points(words.size() / p.dimensions);
  for (std::size_t i = 0; i < words.size(); ++i) points[i / p.dimensions][i % p.dimensions] = words[i];
  std::vector<point> centroids(p.clusters);
  for (unsigned c = 0; c < p.clusters; ++c)
    for (unsigned d = 0; d < p.dimensions; ++d) centroids[c][d] = p.centroid(c, d);
  auto const nearest = [&](point const& x) {
    std::vector<std::int64_t> squares;
    for (point const& y : centroids) {
      std::int64_t square = 0;
      for (unsigned d = 0; d < p.dimensions; ++d) square += (x[d] - y[d]) * (x[d] - y[d]);
      squares.push_back(square);
    }
    return static_cast<std::size_t>(std::min_element(squares.begin(), squares.end()) - squares.begin());
  };
  for (unsigned iteration = 0; iteration < p.iterations; ++iteration) {
    std::vector<std::vector<point>> members(p.clusters);
    for (std::size_t i = 0; i < points.size(); ++i)
      if (p.uses(iteration, i / p.group)) members[nearest(points[i])].push_back(points[i]);
    for (unsigned c = 0; c < p.clusters; ++c) {
      if (members[c].empty()) continue;
      point sum{};
      for (point const& x : members[c])
        for (unsigned d = 0; d < p.dimensions; ++d) sum[d] += x[d];
      for (unsigned d = 0; d < p.dimensions; ++d)
        centroids[c][d] = sum[d] / static_cast<std::int64_t>(members[c].size());
    }
  }
  std::vector<word> labels;
  for (point const& x : points) labels.push_back(static_cast<word>(nearest(x)));
  return detail::weighted_sums(labels, p.size.threads);
}

/// With a queue.
[[nodiscard]] inline std::vector<std::uint64_t> expected(breadth_first const& p) {
  auto const targets = detail::initial_array(p, 0);
  std::vector<word> distances(p.vertices(), p.unreached);
  distances[0] = 0;
  for (std::deque<std::size_t> queue{0}; !queue.empty(); queue.pop_front())
    for (unsigned k = 0; k < p.degree; ++k) {
      word const v = targets[queue.front() * p.degree + k];
      if (distances[v] != p.unreached) continue;
      distances[v] = distances[queue.front()] + 1;
      queue.push_back(v);
    }
  return detail::weighted_sums(distances, p.size.threads);
}

[[nodiscard]] inline std::vector<std::uint64_t> expected(sparse_product const& p) {
  auto const columns = detail::initial_array(p, 0);
  auto const values = detail::initial_array(p, 1);
  auto x = detail::initial_array(p, 2);
  for (unsigned i = 0; i < p.products; ++i) {
    std::vector<word> y(x.size());
    for (std::size_t k = 0; k < columns.size(); ++k) y[k / p.entries] += values[k] * x[columns[k]];
    x = std::move(y);
  }
  return detail::weighted_sums(x, p.size.threads);
}

/// Without a tree: bisection in all keys.
[[nodiscard]] inline std::vector<std::uint64_t> expected(b_plus_tree const& p) {
  std::vector<word> keys;
  for (std::uint64_t i = 0; i < p.entries(); ++i) keys.push_back(p.key(i));
  std::vector<std::uint64_t> sums(p.size.threads);
  for (std::uint64_t t = 0; t < p.size.threads; ++t)
    for (std::uint64_t s = 0; s < p.searches_per_thread(); ++s) {
      auto const found = std::equal_range(keys.begin(), keys.end(), p.sought(t, s));
      if (found.first != found.second) sums[t] += p.value(static_cast<std::uint64_t>(found.first - keys.begin()));
    }
  return sums;
}

/// Each pixel is added to the features that it is in.
[[nodiscard]] inline std::vector<std::uint64_t> expected(convolution const& p) {
  auto const images = detail::initial_array(p, 0);
  auto const rows = detail::initial_array(p, 2);
  std::vector<std::int64_t> sums(images.size() / 2);
  for (std::size_t i = 0; i < images.size(); ++i) {
    std::size_t const image = i / (p.width * p.width);
    auto const y = static_cast<int>(i / p.width % p.width);
    auto const x = static_cast<int>(i % p.width);
    for (int down = -1; down <= 1; ++down)
      for (int right = -1; right <= 1; ++right) {
        int const centre_y = y - down;
        int const centre_x = x - right;
        if (centre_y < 0 || centre_x < 0 || centre_y % 2 != 0 || centre_x % 2 != 0) continue;
        if (centre_y >= static_cast<int>(p.width) || centre_x >= static_cast<int>(p.width)) continue;
        for (unsigned f = 0; f < p.filters; ++f) {
          auto const weight =
              static_cast<std::int32_t>(p.weight(f, static_cast<unsigned>(down + 1), static_cast<unsigned>(right + 1)));
          std::size_t const feature = (f * p.map_width + static_cast<std::size_t>(centre_y / 2)) * p.map_width +
                                      static_cast<std::size_t>(centre_x / 2);
          sums[image * p.features + feature] += std::int64_t{images[i]} * weight;
        }
      }
  }
  std::vector<word> maps;
  for (std::int64_t const sum : sums) maps.push_back(detail::positive_part(sum));
  auto results = detail::weighted_sums(maps, p.size.threads);
  std::size_t const outputs = rows.size() / p.features;
  for (std::size_t row = 0; row < outputs; ++row)
    for (unsigned b = 0; b < p.batch; ++b) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < p.features; ++k)
        sum += std::int64_t{static_cast<std::int32_t>(rows[row * p.features + k])} * maps[b * p.features + k];
      results[row / (outputs / p.size.threads)] += detail::positive_part(sum) * (2 * (row * p.batch + b) + 1);
    }
  return results;
}

/// Weights first, and then sums over neighbours: both are linear.
[[nodiscard]] inline std::vector<std::uint64_t> expected(graph_convolution const& p) {
  auto const targets = detail::initial_array(p, 0);
  auto features = detail::initial_array(p, 1);
  for (unsigned layer = 0; layer < p.layers; ++layer) {
    std::vector<std::int64_t> weighted(features.size());
    for (std::size_t i = 0; i < features.size(); ++i)
      for (unsigned from = 0; from < p.features; ++from)
        weighted[i] += std::int64_t{features[i / p.features * p.features + from]} *
                       static_cast<std::int32_t>(p.weight(layer, from, static_cast<unsigned>(i % p.features)));
    std::vector<std::int64_t> sums(weighted);
    for (std::size_t arc = 0; arc < targets.size(); ++arc)
      for (unsigned f = 0; f < p.features; ++f)
        sums[arc / p.degree * p.features + f] += weighted[targets[arc] * std::size_t{p.features} + f];
    for (std::size_t i = 0; i < sums.size(); ++i) features[i] = detail::positive_part(sums[i]);
  }
  return detail::weighted_sums(features, p.size.threads);
}

[[nodiscard]] inline std::vector<std::uint64_t> expected(own_memory const& p) {
  std::vector<std::uint64_t> sums(p.size.threads);
  for (std::uint64_t t = 0; t < p.size.threads; ++t)
    for (std::uint32_t k = 0; k < p.accesses; ++k)
      sums[t] += p.initial(0, t * p.size.words + p.offset(t, k)) * (2ull * k + 1);
  return sums;
}

}  // namespace wyrm::bench
