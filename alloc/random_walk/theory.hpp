// SPDX-License-Identifier: Apache-2.0
// The expected number of steps of random searches for free pages, as derived in "Dynamic Buffer Management in Massively
// Parallel Systems: The Power of Randomness" (Pham, Yuan, Li, Mou, Tu, Xu, Meng; ACM TOPC 12(1), 2025). The comments
// refer to the equations of that paper. A step probes one page, or one word of w pages. TAS is the average number of
// steps of a thread. WAS is the average, over warps, of the maximum number of steps among the 32 threads of a warp,
// which is the number of steps of the warp. For the host.
#pragma once

#include <cmath>
#include <limits>

namespace wyrm::alloc::theory {

/// A search: a pool of `pages` pages (T), `free` of which are free when it begins (A), and `threads` threads that need
/// one page each (N <= A).
struct search {
  double pages;
  double free;
  double threads;
};

/// Eq. 1: the TAS of a queue from which threads take pages one after the other.
[[nodiscard]] inline double queue_average(double threads) { return (threads + 1) / 2; }

/// Eq. 2: the WAS of that queue. O(threads).
[[nodiscard]] inline double queue_warp_average(double threads) {
  double sum = 0;
  for (double k = 0; k < threads; ++k) sum += std::pow(k / threads, 32);
  return threads - sum;
}

/// Eq. 5: the TAS of RW-BM with w pages per word; with w = 1 it is Eq. 3, the TAS of RW. O(threads).
[[nodiscard]] inline double average(search const& s, unsigned w) {
  double sum = 0;
  for (double j = 0; j < s.threads; ++j) sum += 1 / (1 - std::pow((s.pages - s.free + j) / s.pages, w));
  return sum / s.threads;
}

/// A model of the words without the assumption of Eq. 5 and 6 that free pages stay evenly distributed. They do not: a
/// word with one free page is drawn as often as a word with many, so the words with few free pages fill up first. A
/// word with C free pages (C is binomial) that was drawn H times (H is Poisson) has given min(C, H) pages.
struct emptied_words {
  double draws;       // average draws per word until all threads have their pages
  double empty_then;  // the fraction of words without a free page at that time
};
[[nodiscard]] inline emptied_words empty_words(search const& s, unsigned w) {
  struct sums {
    double given;  // average pages given per word: the sum over k of P(C >= k) P(H >= k)
    double empty;  // fraction of words: the sum over k of P(C = k) P(H >= k)
  };
  auto const after = [&](double draws) {
    double free_is = std::pow(1 - s.free / s.pages, w);
    double hit_is = std::exp(-draws);
    double free_more = 1 - free_is;
    double hit_more = 1 - hit_is;
    sums all{0, free_is};
    for (unsigned k = 1; k <= w; ++k) {
      free_is *= (w - k + 1) * s.free / (k * (s.pages - s.free));
      all.given += free_more * hit_more;
      all.empty += free_is * hit_more;
      hit_is *= draws / k;
      free_more = std::fmax(free_more - free_is, 0);
      hit_more = std::fmax(hit_more - hit_is, 0);
    }
    return all;
  };
  double low = 0;
  double high = 64 * w;
  for (unsigned i = 0; i < 100; ++i) {
    double const middle = (low + high) / 2;
    (after(middle).given < s.threads * w / s.pages ? low : high) = middle;
  }
  return {high, after(high).empty};
}

/// Eq. 5 with that correction. If 1 % of the pages is free and threads need half of these, it is 4 % (w = 32) or 7 %
/// (w = 64) more than Eq. 5.
[[nodiscard]] inline double average_as_words_empty(search const& s, unsigned w) {
  return empty_words(s, w).draws * s.pages / (w * s.threads);
}

/// Eq. 3 in the approximate form of the paper: T/N ln(A / (A - N)), for A > N.
[[nodiscard]] inline double average_approximately(search const& s) {
  return s.pages / s.threads * std::log(s.free / (s.free - s.threads));
}

/// An upper bound of the WAS if each step fails with at most this probability; infinite from 1 on.
[[nodiscard]] inline double warp_bound_for_failure(double chance) {
  if (!(chance < 1)) return std::numeric_limits<double>::infinity();
  double sum = 0;
  double term = 1;
  for (double none = 1; term > 1e-12; none *= chance) sum += term = 1 - std::pow(1 - none, 32);
  return sum;
}
/// Eq. 6: an upper bound of the WAS of RW-BM; with w = 1 it is Eq. 4, the bound of RW. For A > N.
[[nodiscard]] inline double warp_bound(search const& s, unsigned w) {
  return warp_bound_for_failure(std::pow((s.pages - s.free + s.threads) / s.pages, w));
}
/// Eq. 6 with the correction of empty_words().
[[nodiscard]] inline double warp_bound_as_words_empty(search const& s, unsigned w) {
  return warp_bound_for_failure(empty_words(s, w).empty_then);
}

/// Theorem 1: the limit of the TAS of RW-BM as A -> N, from the TAS of RW.
[[nodiscard]] inline double bitmap_average_limit(double of_rw, unsigned w) { return of_rw / w; }
/// Theorem 2: the same for the upper bounds of the WAS (Eq. 6 from Eq. 4).
[[nodiscard]] inline double bitmap_bound_limit(double of_rw, unsigned w) { return of_rw / w + (w - 1) / (2.0 * w); }

/// Eq. 9: the number of free pages that the 32 lanes of a warp find in one step at the end of the search; its
/// distribution is about normal.
struct found {
  double mean;
  double deviation;
};
[[nodiscard]] inline found found_by_warp(search const& s, unsigned w) {
  double const chance = (s.free - s.threads) / s.pages;
  return {32 * w * chance, std::sqrt(32 * w * chance * (1 - chance))};
}
/// Eq. 11: an upper bound of the TAS of CoRW, which is also its WAS: the mean of the inverse Gaussian distribution of
/// Eq.
/// 10. It is the 32 pages that a warp needs divided by the number of pages that a step finds; a search takes at least
/// one step.
[[nodiscard]] inline double cooperative_bound(search const& s, unsigned w) {
  return std::fmax(1, 32 / found_by_warp(s, w).mean);
}

/// Eq. 13: the probability that the cluster (a run of free pages) of a thread's last page is exhausted, with `runs`
/// clusters.
[[nodiscard]] inline double cluster_is_used_up(double free, double runs) { return (runs - 1) / (free + runs - 1); }
/// Eq. 14: the TAS of CRW.
[[nodiscard]] inline double clustered_average(search const& s, double runs) {
  return 1 + cluster_is_used_up(s.free, runs) * average_approximately(s);
}

/// Section 3.2.3, S_L: the number of probed pages, all of them used, from which it follows with 99 % confidence that
/// less than this fraction of the pages is free (0 < fraction < 1).
[[nodiscard]] inline double pages_until_given_up(double fraction) {
  constexpr double quantile = 2.326;  // of the standard normal distribution, 99 %
  return quantile * quantile * (1 - fraction) / fraction;
}

}  // namespace wyrm::alloc::theory
