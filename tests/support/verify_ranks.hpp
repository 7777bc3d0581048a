// SPDX-License-Identifier: Apache-2.0
// Serial verifiers of centralities, on dense matrices: eigenvectors by squaring a matrix, Katz centrality by
// elimination.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../graph/types.hpp"

namespace wyrm::tests {

using dense_vector = std::vector<double>;
using dense_matrix = std::vector<dense_vector>;

/// m[u][v]: the weight of the arc u -> v. Weights are in the order of the arcs; none: 1 each.
inline dense_matrix matrix_of(graph::csr const& g, std::vector<double> const& weights) {
  std::size_t const n = g.offsets.size() - 1;
  dense_matrix m(n, dense_vector(n));
  for (std::size_t u = 0; u < n; ++u)
    for (std::uint64_t i = g.offsets[u]; i < g.offsets[u + 1]; ++i)
      m[u][g.targets[i]] = weights.empty() ? 1.0 : weights[i];
  return m;
}
inline dense_matrix transposed(dense_matrix const& m) {
  dense_matrix t(m.size(), dense_vector(m.size()));
  for (std::size_t u = 0; u < m.size(); ++u)
    for (std::size_t v = 0; v < m.size(); ++v) t[v][u] = m[u][v];
  return t;
}
inline dense_matrix product(dense_matrix const& a, dense_matrix const& b) {
  dense_matrix c(a.size(), dense_vector(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a.size(); ++k)
      for (std::size_t j = 0; a[i][k] != 0 && j < a.size(); ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}
inline dense_vector product(dense_matrix const& a, dense_vector const& x) {
  dense_vector y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += a[i][j] * x[j];
  return y;
}
/// x, scaled so that the sum of value^power is 1.
inline dense_vector scaled(dense_vector x, double power) {
  double sum = 0;
  for (double const value : x) sum += std::pow(value, power);
  for (double& value : x) value /= std::pow(sum, 1 / power);
  return x;
}
/// m^(2^40) x, up to a factor.
inline dense_vector much_multiplied(dense_matrix m, dense_vector const& x) {
  for (int i = 0; i < 40; ++i) {
    double most = 0;
    for (dense_vector const& row : m) most = std::max(most, *std::max_element(row.begin(), row.end()));
    for (dense_vector& row : m)
      for (double& value : row) value = value / most < 1e-150 ? 0 : value / most;
    m = product(m, m);
  }
  return product(m, x);
}

/// Hubs and authorities, from equal values.
inline std::pair<dense_vector, dense_vector> serial_hits(dense_matrix const& arcs) {
  dense_matrix const back = transposed(arcs);
  dense_vector const hubs = scaled(much_multiplied(product(arcs, back), dense_vector(arcs.size(), 1.0)), 1);
  return {hubs, scaled(product(back, hubs), 1)};
}
/// The eigenvector for the greatest eigenvalue of the transposed matrix, from equal values of the vertices `present`.
inline dense_vector serial_eigenvector(dense_matrix const& arcs, dense_vector const& present) {
  double most = 0;
  for (dense_vector const& row : arcs) most = std::max(most, *std::max_element(row.begin(), row.end()));
  dense_matrix m = transposed(arcs);
  for (std::size_t v = 0; v < m.size(); ++v) m[v][v] += most;
  return scaled(much_multiplied(std::move(m), present), 2);
}
/// Solves x = alpha A^T x + beta.
inline dense_vector serial_katz(dense_matrix const& arcs, double alpha, double beta) {
  std::size_t const n = arcs.size();
  dense_matrix m = transposed(arcs);
  for (std::size_t v = 0; v < n; ++v) {
    for (double& value : m[v]) value *= -alpha;
    m[v][v] += 1;
    m[v].push_back(beta);
  }
  for (std::size_t k = 0; k < n; ++k)  // the matrix is an M-matrix: pivots are positive
    for (std::size_t v = 0; v < n; ++v) {
      double const factor = m[v][k] / m[k][k];
      if (v == k || factor == 0) continue;
      for (std::size_t j = k; j <= n; ++j) m[v][j] -= factor * m[k][j];
    }
  dense_vector x(n);
  for (std::size_t v = 0; v < n; ++v) x[v] = m[v][n] / m[v][v];
  return x;
}

}  // namespace wyrm::tests
