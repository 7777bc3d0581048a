// SPDX-License-Identifier: Apache-2.0
// The locally optimal power method for the greatest eigenvalue of a symmetric matrix M (Knyazev, SIAM J. Sci. Comput.
// 2001, LOBPCG with one vector and without a preconditioner). The power method only looks at the product of the last
// vector. This method takes, of all combinations of
//   x  the vector so far,
//   r  its residual M x - theta x, where theta = x.Mx / x.x,
//   p  the last change of x,
// the one with the greatest theta. It needs one product per iteration, M r: those of x and p follow from the
// combination. Where eigenvalues are close, the number of iterations is about the square root of that of the power
// method. All vectors are polynomials of M times the first vector, so both methods have the same limit: the part of the
// first vector in the space of eigenvectors for the greatest eigenvalue.
//
// The residual is rounded to floats, which take less time to read at random: the method may try any vector, and of this
// one it computes the product without further errors. Dot products are those of the residual before it is rounded.
//
// An iteration is the product, after which one thread finds the best combination from the dot products, and a pass over
// the vectors that computes the next ones and their dot products. Sums are added in a fixed order.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "power_steps.hpp"
#include "tile_sums.hpp"

namespace wyrm::algorithms::detail {

/// Of each vertex.
struct optimal_vectors {
  double* x;
  double* mx;  // M x
  float* r;
  double* mr;
  double* p;
  double* mp;
};

/// In device memory; the host reads it.
struct optimal_state {
  static constexpr unsigned sums = 11;
  power_state power;                          // of the products
  double xx, xp, pp, xr, pr, rr, r_mp, p_mp;  // dot products
  double sum;                                 // of the values of x
  double theta;
  double x_share, r_share, p_share;  // the combination that is the next x
  double least_change;
  std::uint32_t least_at;  // the iteration with the least change so far
};

/// The symmetric matrix of a quadratic form over the coefficients of x, r and p.
struct form_of_three {
  double of[3][3];
  [[nodiscard]] WYRM_HD double operator()(double const (&a)[3], double const (&b)[3]) const {
    double all = 0;
    for (unsigned i = 0; i < 3; ++i)
      for (unsigned j = 0; j < 3; ++j) all += a[i] * of[i][j] * b[j];
    return all;
  }
};

/// The combination of x, r and p, of length 1, that has the greatest theta; by one thread. `lengths` has the dot
/// products; `gains` has those of a and M b - theta b, so that no digits cancel where r is short. Vectors that depend
/// on those before them are left out. Returns how much greater its theta is; `best` is 0 if all vectors are.
[[nodiscard]] WYRM_HD inline double best_combination(form_of_three const& lengths, form_of_three const& gains,
                                                     double (&best)[3]) {
  constexpr double independent = 1e-8;  // the least part of the square of a length that is new
  double basis[3][3];
  unsigned n = 0;
  for (unsigned i = 0; i < 3; ++i) {
    double const whole = lengths.of[i][i];
    if (!(whole > 0)) continue;
    double next[3] = {0, 0, 0};
    next[i] = 1;
    for (unsigned b = 0; b < n; ++b) {
      double const shared = lengths(basis[b], next);
      for (unsigned k = 0; k < 3; ++k) next[k] -= shared * basis[b][k];
    }
    double const square = lengths(next, next);
    if (!(square > independent * whole)) continue;
    double const scale = 1 / std::sqrt(square);
    for (unsigned k = 0; k < 3; ++k) basis[n][k] = scale * next[k];
    ++n;
  }
  for (double& share : best) share = 0;
  if (n == 0) return 0;
  double m[3][3];
  double vectors[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};  // columns become the eigenvectors
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j) m[i][j] = gains(basis[i], basis[j]);
  // Jacobi's rotations (1846) converge quadratically. Three sweeps are enough: an error in the combination makes theta
  // smaller by its square only.
  for (unsigned sweep = 0; sweep < 3; ++sweep)
    for (unsigned i = 0; i + 1 < n; ++i)
      for (unsigned j = i + 1; j < n; ++j) {
        if (m[i][j] == 0) continue;
        double const ratio = (m[j][j] - m[i][i]) / (2 * m[i][j]);
        double const tangent = (ratio < 0 ? -1 : 1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
        double const cosine = 1 / std::sqrt(tangent * tangent + 1);
        double const sine = tangent * cosine;
        double const change = tangent * m[i][j];
        m[i][i] -= change;
        m[j][j] += change;
        m[i][j] = m[j][i] = 0;
        for (unsigned k = 0; k < n; ++k) {
          if (k != i && k != j) {
            double const a = m[k][i];
            double const b = m[k][j];
            m[k][i] = m[i][k] = cosine * a - sine * b;
            m[k][j] = m[j][k] = sine * a + cosine * b;
          }
          double const a = vectors[k][i];
          double const b = vectors[k][j];
          vectors[k][i] = cosine * a - sine * b;
          vectors[k][j] = sine * a + cosine * b;
        }
      }
  unsigned greatest = 0;
  for (unsigned i = 1; i < n; ++i)
    if (m[i][i] > m[greatest][greatest]) greatest = i;
  for (unsigned k = 0; k < 3; ++k)
    for (unsigned i = 0; i < n; ++i) best[k] += vectors[i][greatest] * basis[i][k];
  return m[greatest][greatest];
}

/// After the product M r: finds the next x.
struct choose_combination {
  optimal_state* of;
  bool square;  // whether M is the square of a matrix, the first product with which has the norm that is stored
  WYRM_HD void operator()(double sum) const {
    optimal_state& s = *of;
    double const r_mr = square ? s.power.norms[0] * s.power.norms[0] : sum;
    form_of_three const lengths{{{s.xx, s.xr, s.xp}, {s.xr, s.rr, s.pr}, {s.xp, s.pr, s.pp}}};
    double const rr = r_mr - s.theta * s.rr;
    double const rp = s.r_mp - s.theta * s.pr;
    double const xr = s.xx > 0 ? s.rr : 0;  // before the first iteration there is no x
    form_of_three const gains{{{s.xr, xr, s.pr}, {xr, rr, rp}, {s.pr, rp, s.p_mp - s.theta * s.pp}}};
    double best[3];
    s.theta += best_combination(lengths, gains, best);
    double const sign = best[0] < 0 ? -1 : 1;  // x keeps its direction
    s.x_share = sign * best[0];
    s.r_share = sign * best[1];
    s.p_share = sign * best[2];
  }
};

/// Computes the next vectors and their dot products, and decides whether the iteration is the last one. Each tile has a
/// share of consecutive blocks of 32 vertices.
struct combine_vectors {
  optimal_vectors vectors;
  std::size_t n;
  std::uint32_t tiles;
  double own;        // that a step of the power method adds to M
  double tolerance;  // of the change that such a step would make, in the L1 norm and relative to that of x
  double* totals;
  optimal_state* of;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    constexpr std::uint32_t patience = 100;  // iterations without a smaller change, before the method gives up
    optimal_state& s = *of;
    if (s.power.done != 0) return;
    double all[optimal_state::sums] = {};
    std::size_t const blocks = (n + 31) / 32;
    std::size_t const end = blocks * (tile + 1) / tiles;
    for (std::size_t block = blocks * tile / tiles; block < end; block += at_once)
      for (unsigned k = 0; k < 32; k += Tile::size()) {
        values loaded[at_once] = {};
        for (unsigned b = 0; b < at_once; ++b)
          if (std::size_t const v = (block + b) * 32 + k + t.rank(); block + b < end && v < n) loaded[b] = load(v);
        for (unsigned b = 0; b < at_once; ++b)
          if (std::size_t const v = (block + b) * 32 + k + t.rank(); block + b < end && v < n)
            combine(v, loaded[b], s, all);
      }
    if (!tile_sums<optimal_state::sums>{totals, &s.power.arrived}.add_up(t, tile, tiles, all) || t.rank() != 0) return;
    s.xx = all[0];
    s.xp = all[1];
    s.pp = all[2];
    s.xr = all[3];
    s.pr = all[4];
    s.rr = all[5];
    s.r_mp = all[6];
    s.p_mp = all[7];
    s.sum = all[10];
    double const whole = (s.theta + own) * all[9];
    s.power.change = whole > 0 ? all[8] / whole : 0;
    ++s.power.iterations;
    if (s.power.change < s.least_change) {
      s.least_change = s.power.change;
      s.least_at = s.power.iterations;
    }
    bool const goes_on = s.power.change >= tolerance && s.rr > 0 && s.power.iterations - s.least_at < patience;
    s.power.done = goes_on ? 0 : 1;
  }

 private:
  static constexpr unsigned at_once = 2;  // blocks whose values are loaded before any is stored
  struct values {
    double x, mx;
    float r;
    double mr, p, mp;
  };

  [[nodiscard]] WYRM_HD values load(std::size_t v) const {
    return {vectors.x[v], vectors.mx[v], vectors.r[v], vectors.mr[v], vectors.p[v], vectors.mp[v]};
  }
  WYRM_HD void combine(std::size_t v, values const& of_v, optimal_state const& s,
                       double (&all)[optimal_state::sums]) const {
    double const p = s.r_share * static_cast<double>(of_v.r) + s.p_share * of_v.p;
    double const mp = s.r_share * of_v.mr + s.p_share * of_v.mp;
    double const x = s.x_share * of_v.x + p;
    double const mx = s.x_share * of_v.mx + mp;
    double const r = mx - s.theta * x;
    vectors.p[v] = p;
    vectors.mp[v] = mp;
    vectors.x[v] = x;
    vectors.mx[v] = mx;
    vectors.r[v] = static_cast<float>(r);
    all[0] += x * x;
    all[1] += x * p;
    all[2] += p * p;
    all[3] += x * r;
    all[4] += p * r;
    all[5] += r * r;
    all[6] += r * mp;
    all[7] += p * mp;
    all[8] += std::abs(r);
    all[9] += std::abs(x);
    all[10] += x;
  }
};

/// One thread per vertex. The limit has no negative values, but an approximation of values near 0 may have.
struct keep_positive {
  double* values;
  WYRM_HD void operator()(std::size_t v) const { values[v] = values[v] > 0 ? values[v] : 0; }
};

}  // namespace wyrm::algorithms::detail
