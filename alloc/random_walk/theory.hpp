// SPDX-License-Identifier: Apache-2.0
// How many steps random searches for free pages take, as derived in "Dynamic Buffer Management in Massively Parallel
// Systems: The Power of Randomness" (Pham, Yuan, Li, Mou, Tu, Xu, Meng; ACM TOPC 12(1), 2025), whose equations the
// comments name. A step is a look at one page, or at one word of w pages. TAS is the average number of steps of a
// thread; WAS is the average, over warps, of the most steps that one of the 32 threads takes: what the warp waits for.
// For the host.
#pragma once

#include <cmath>
#include <limits>

namespace wyrm::alloc::theory {

/// What is searched: `pages` in all, `free` of them when the search begins, and `threads` that want one page each; at
/// most as many as are free.
struct search {
  double pages;
  double free;
  double threads;
};

/// Eq. 1: the TAS of threads that take from a queue one after the other.
[[nodiscard]] inline double queue_average(double threads) { return (threads + 1) / 2; }

/// Eq. 2: its WAS. O(threads).
[[nodiscard]] inline double queue_warp_average(double threads) {
  double sum = 0;
  for (double k = 0; k < threads; ++k) sum += std::pow(k / threads, 32);
  return threads - sum;
}

/// Eq. 5: the TAS of RW-BM with w pages a word; w = 1 is Eq. 3, of RW. O(threads).
[[nodiscard]] inline double average(search const& s, unsigned w) {
  double sum = 0;
  for (double j = 0; j < s.threads; ++j) sum += 1 / (1 - std::pow((s.pages - s.free + j) / s.pages, w));
  return sum / s.threads;
}

/// What becomes of the words without the assumption behind Eq. 5 and 6 that free pages stay evenly spread. They do not:
/// a word with one free page is found as often as one with many, and so those with few are emptied first. A word with
/// C of its w pages free, C being binomial, that was drawn H times, H being Poisson, has given min(C, H) pages.
struct emptied_words {
  double draws;       // a word, on average, until all threads have their pages
  double empty_then;  // the share of words without a free page
};
[[nodiscard]] inline emptied_words empty_words(search const& s, unsigned w) {
  struct sums {
    double given;  // pages a word, on average: the sum over k of P(C >= k) P(H >= k)
    double empty;  // the sum over k of P(C = k) P(H >= k)
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

/// Eq. 5 so corrected. With half of 1 % free pages wanted it is 4 % (w = 32) or 7 % (w = 64) more.
[[nodiscard]] inline double average_as_words_empty(search const& s, unsigned w) {
  return empty_words(s, w).draws * s.pages / (w * s.threads);
}

/// Eq. 3 as the paper prints it: T/N ln(A / (A - N)), for more free pages than threads.
[[nodiscard]] inline double average_approximately(search const& s) {
  return s.pages / s.threads * std::log(s.free / (s.free - s.threads));
}

/// A bound of the WAS of searches whose steps fail with no more than this chance; infinite from 1 on.
[[nodiscard]] inline double warp_bound_for_failure(double chance) {
  if (!(chance < 1)) return std::numeric_limits<double>::infinity();
  double sum = 0;
  double term = 1;
  for (double none = 1; term > 1e-12; none *= chance) sum += term = 1 - std::pow(1 - none, 32);
  return sum;
}
/// Eq. 6: a bound of the WAS of RW-BM; w = 1 is Eq. 4, of RW. For more free pages than threads.
[[nodiscard]] inline double warp_bound(search const& s, unsigned w) {
  return warp_bound_for_failure(std::pow((s.pages - s.free + s.threads) / s.pages, w));
}
/// Eq. 6 corrected as Eq. 5 is.
[[nodiscard]] inline double warp_bound_as_words_empty(search const& s, unsigned w) {
  return warp_bound_for_failure(empty_words(s, w).empty_then);
}

/// Theorem 1: what the TAS of RW-BM tends to, given that of RW, as all free pages are wanted.
[[nodiscard]] inline double bitmap_average_limit(double of_rw, unsigned w) { return of_rw / w; }
/// Theorem 2: the same of the bounds of the WAS.
[[nodiscard]] inline double bitmap_bound_limit(double of_rw, unsigned w) { return of_rw / w + (w - 1) / (2.0 * w); }

/// Eq. 9: what the 32 lanes of a warp find in one step, at the end of the search; about normally distributed.
struct found {
  double mean;
  double deviation;
};
[[nodiscard]] inline found found_by_warp(search const& s, unsigned w) {
  double const chance = (s.free - s.threads) / s.pages;
  return {32 * w * chance, std::sqrt(32 * w * chance * (1 - chance))};
}
/// Eq. 11: a bound of TAS = WAS of CoRW: the mean of the inverse Gaussian distribution of Eq. 10, which is the ratio of
/// the 32 pages wanted to what a step finds. A search takes a step at least.
[[nodiscard]] inline double cooperative_bound(search const& s, unsigned w) {
  return std::fmax(1, 32 / found_by_warp(s, w).mean);
}

/// Eq. 13: the chance that the run of free pages that a thread took its last one from is used up, if there are so many
/// runs.
[[nodiscard]] inline double cluster_is_used_up(double free, double runs) { return (runs - 1) / (free + runs - 1); }
/// Eq. 14: the TAS of CRW.
[[nodiscard]] inline double clustered_average(search const& s, double runs) {
  return 1 + cluster_is_used_up(s.free, runs) * average_approximately(s);
}

/// Section 3.2.3, S_L: who has looked at so many pages and found none free knows, with 99 % confidence, that fewer than
/// this share is free (0 < share < 1).
[[nodiscard]] inline double pages_until_given_up(double share) {
  constexpr double quantile = 2.326;  // of the standard normal distribution, 99 %
  return quantile * quantile * (1 - share) / share;
}

}  // namespace wyrm::alloc::theory
