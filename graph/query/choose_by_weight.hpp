// SPDX-License-Identifier: Apache-2.0
// Policies that choose samples of one vertex by the weights of its edges. As in choose.hpp, random numbers are
// functions of the seed, the hop, the position of the vertex in its frontier, and the number of the draw or of the
// neighbour. Only integers are summed, and floating-point numbers are only compared, so tiles of any size, on any
// space, choose the same samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <type_traits>

#include "../../exec/config.hpp"
#include "../../exec/tile.hpp"
#include "choose.hpp"
#include "exponential.hpp"

namespace wyrm::graph::detail {

/// The weight of an edge with this value: 0 if the value is negative, or not a number. Other weights are at least
/// 2^-960 and at most 2^960, so that the computations with them neither overflow nor underflow.
template <class Value>
[[nodiscard]] WYRM_HD double weight_of(Value value) {
  auto const w = static_cast<double>(value);
  return !(w > 0) ? 0 : w < 0x1p-960 ? 0x1p-960 : w > 0x1p960 ? 0x1p960 : w;
}

/// The maximum over all lanes; collective.
template <class Tile>
[[nodiscard]] WYRM_HD double maximum(Tile const& t, double value) {
  for (unsigned step = Tile::size() / 2; step > 0; step /= 2) {
    double const other = t.shfl(value, t.rank() ^ step);
    value = value < other ? other : value;
  }
  return value;
}

/// Weights as integers that are proportional to the weights, with a sum of less than 2^64. Weights that are integers
/// are exact. Others are scaled by a power of two, so that the greatest of n weights is more than 2^61 / n, and are
/// rounded down, but not to 0.
template <class Value>
class integer_weights {
 public:
  /// Collective.
  template <class Tile>
  WYRM_HD integer_weights(Tile const& t, Value const* values, std::uint32_t n) : values_(values) {
    if constexpr (!std::is_integral_v<Value>) {
      double greatest = 0;
      for (std::uint32_t i = t.rank(); i < n; i += Tile::size()) {
        double const w = weight_of(values[i]);
        greatest = greatest < w ? w : greatest;
      }
      greatest = maximum(t, greatest);
      // 2^exponent is at most the greatest weight, and 2^(62 - bits - exponent) is the factor.
      auto const exponent = static_cast<int>(cuda::std::bit_cast<std::uint64_t>(greatest) >> 52) - 1023;
      int const bits = 32 - cuda::std::countl_zero(n - 1);
      if (greatest > 0)
        factor_ = cuda::std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 62 - bits - exponent) << 52);
    }
  }
  [[nodiscard]] WYRM_HD std::uint64_t operator[](std::uint32_t i) const {
    if constexpr (std::is_integral_v<Value>) {
      return values_[i];
    } else {
      double const w = weight_of(values_[i]);
      if (w == 0) return 0;
      auto const integer = static_cast<std::uint64_t>(w * factor_);
      return integer == 0 ? 1 : integer;
    }
  }

 private:
  Value const* values_;
  double factor_ = 0;
};

/// The scratch memory of one tile.
struct weight_table {
  std::uint64_t* keys;
  std::uint32_t* indices;
  std::uint64_t size;
};

/// k independent draws: a search in the prefix sums of weights. The table has prefix sums of at most 512 blocks of the
/// row; a block of more than one neighbour is searched once more. O(degree + k (log 512 + degree / 512)).
struct draw_by_weight {
  static constexpr std::uint32_t max_blocks = 512;
  [[nodiscard]] static std::uint64_t table_size(std::uint32_t) { return max_blocks; }
  static constexpr bool is_subset = false;
  /// The number of samples; positive: the number of positive weights, or any number above `enough` if there are more.
  [[nodiscard]] WYRM_HD static std::uint32_t count(std::uint32_t positive, std::uint32_t k) {
    return positive > 0 ? k : 0;
  }
  [[nodiscard]] WYRM_HD static std::uint32_t enough(std::uint32_t) { return 0; }

  /// Calls emit(j, index in the row) for j = 0 ... count - 1; collective. count > 0.
  template <class Tile, class Value, class Emit>
  WYRM_HD void operator()(Tile const& t, sample_draws const& draws, std::uint64_t position, Value const* values,
                          std::uint32_t degree, std::uint32_t count, weight_table const& table,
                          Emit const& emit) const {
    integer_weights<Value> const weights(t, values, degree);
    std::uint32_t const length = (degree - 1) / max_blocks + 1;
    std::uint32_t const blocks = (degree - 1) / length + 1;
    std::uint64_t total = 0;
    for (std::uint32_t begin = 0; begin < blocks; begin += Tile::size()) {
      std::uint32_t const block = begin + t.rank();
      std::uint64_t in_block = 0;
      if (block < blocks) {
        std::uint32_t const first = block * length;
        std::uint32_t const n = degree - first < length ? degree - first : length;
        for (std::uint32_t i = 0; i < n; ++i) in_block += weights[first + i];
      }
      std::uint64_t const upto = total + exec::sum_below(t, in_block) + in_block;
      if (block < blocks) table.keys[block] = upto;
      total = t.shfl(upto, Tile::size() - 1);
    }
    t.sync();
    for (std::uint64_t i = t.rank(); i < count; i += Tile::size()) {
      auto const j = static_cast<std::uint32_t>(i);
      std::uint64_t drawn = draws.wide_below(total, position, j);
      std::uint32_t block = 0;  // the first block with a sum above the drawn number
      for (std::uint32_t left = blocks; left > 1;) {
        std::uint32_t const half = left / 2;
        if (table.keys[block + half - 1] <= drawn) block += half;
        left -= half;
      }
      if (block > 0) drawn -= table.keys[block - 1];
      std::uint32_t index = block * length;
      for (std::uint64_t w = weights[index]; w <= drawn; w = weights[index]) {
        drawn -= w;
        ++index;
      }
      emit(j, index);
    }
    t.sync();  // the table is used for the next vertex
  }
};

/// Sorts `n` entries of the table, a power of two, by key and index: a bitonic network (Batcher, "Sorting networks and
/// their applications", AFIPS 1968).
template <class Tile>
WYRM_HD void sort_table(Tile const& t, weight_table const& table, std::uint32_t n) {
  for (std::uint32_t size = 2; size <= n; size *= 2)
    for (std::uint32_t step = size / 2; step > 0; step /= 2) {
      for (std::uint32_t pair = t.rank(); pair < n / 2; pair += Tile::size()) {
        std::uint32_t const a = (pair / step) * 2 * step + pair % step;
        std::uint32_t const b = a + step;
        bool const ascends = (a & size) == 0;
        std::uint64_t const key_a = table.keys[a];
        std::uint64_t const key_b = table.keys[b];
        std::uint32_t const index_a = table.indices[a];
        std::uint32_t const index_b = table.indices[b];
        bool const less = key_a < key_b || (key_a == key_b && index_a < index_b);
        if (less == ascends) continue;
        table.keys[a] = key_b;
        table.keys[b] = key_a;
        table.indices[a] = index_b;
        table.indices[b] = index_a;
      }
      t.sync();
    }
}

/// k distinct neighbours, in the order of the row; all neighbours with a positive weight if there are at most k. Each
/// neighbour gets the key E / weight, with E exponentially distributed. The neighbours with the k least keys are the
/// sample (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", IPL 2006, with -log(u) for log(u)). It
/// has the same distribution as k draws without replacement. The table contains candidates; when it is full, only the k
/// least remain. O(degree), and O(log^2 k) steps of the tile for each candidate. If weights are in random order, about
/// k log(degree / k) neighbours are candidates.
struct draw_subset_by_weight {
  static constexpr bool is_subset = true;
  [[nodiscard]] static std::uint64_t table_size(std::uint32_t k) {
    std::uint64_t size = 128;
    while (size < 2 * std::uint64_t{k}) size *= 2;
    return size;
  }
  [[nodiscard]] WYRM_HD static std::uint32_t count(std::uint32_t positive, std::uint32_t k) {
    return positive < k ? positive : k;
  }
  [[nodiscard]] WYRM_HD static std::uint32_t enough(std::uint32_t k) { return k; }

  /// See draw_by_weight. Without a table there are not more than `count` positive weights.
  template <class Tile, class Value, class Emit>
  WYRM_HD void operator()(Tile const& t, sample_draws const& draws, std::uint64_t position, Value const* values,
                          std::uint32_t degree, std::uint32_t count, weight_table const& table,
                          Emit const& emit) const {
    bool const takes_all = table.size == 0;
    double limit = 0x1.fffffffffffffp1023;  // no key is greater
    std::uint32_t held = 0;
    for (std::uint64_t begin = 0; begin < degree; begin += Tile::size()) {
      std::uint64_t const i = begin + t.rank();
      double const w = i < degree ? weight_of(values[i]) : 0;
      bool is_candidate = w > 0;
      double key = 0;
      if (is_candidate && !takes_all) {
        std::uint64_t const x = draws.bits(position, static_cast<std::uint32_t>(i), 0);
        is_candidate = negative_log2_is_at_least(x) <= limit * w;
        if (is_candidate) key = static_cast<double>(negative_log2(x)) / w;
        is_candidate = is_candidate && key <= limit;
      }
      std::uint32_t const candidates = t.ballot(is_candidate);
      std::uint32_t const at = held + exec::rank_in(t, candidates);
      held += static_cast<std::uint32_t>(cuda::std::popcount(candidates));
      if (takes_all) {
        if (is_candidate) emit(at, static_cast<std::uint32_t>(i));
        continue;
      }
      if (is_candidate) {
        table.keys[at] =
            cuda::std::bit_cast<std::uint64_t>(key);  // in the order of the keys, as these are not negative
        table.indices[at] = static_cast<std::uint32_t>(i);
      }
      if (held + Tile::size() <= table.size) continue;
      held = keep_least(t, table, held, count);
      limit = cuda::std::bit_cast<double>(table.keys[count - 1]);
      t.sync();
    }
    if (takes_all) return;
    keep_least(t, table, held, count);
    for (std::uint32_t j = t.rank(); j < count; j += Tile::size()) table.keys[j] = table.indices[j];
    std::uint32_t const size = fill_up(t, table, count);
    sort_table(t, table, size);
    for (std::uint32_t j = t.rank(); j < count; j += Tile::size()) emit(j, table.indices[j]);
    t.sync();  // the table is used for the next vertex
  }

 private:
  // Fills the table up to a power of two with entries that are greater than all others.
  template <class Tile>
  WYRM_HD static std::uint32_t fill_up(Tile const& t, weight_table const& table, std::uint32_t held) {
    std::uint32_t const size = cuda::std::bit_ceil(held);
    for (std::uint32_t j = held + t.rank(); j < size; j += Tile::size()) {
      table.keys[j] = ~std::uint64_t{0};
      table.indices[j] = ~std::uint32_t{0};
    }
    t.sync();
    return size;
  }
  template <class Tile>
  WYRM_HD static std::uint32_t keep_least(Tile const& t, weight_table const& table, std::uint32_t held,
                                          std::uint32_t count) {
    sort_table(t, table, fill_up(t, table, held));
    return held < count ? held : count;
  }
};

}  // namespace wyrm::graph::detail
