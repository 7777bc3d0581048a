// SPDX-License-Identifier: Apache-2.0
// The two measures of GDM (SIGMETRICS 2014, sections 6.1 and 6.4).
#pragma once

#include <cstddef>
#include <span>

namespace wyrm::bench::gdm {

/// Of a program alone, and beside others.
struct solo_and_combo {
  double solo_seconds;
  double combo_seconds;
};
/// The sum of solo time / combo time over the programs, which the paper calls the throughput: 1 as if they ran one
/// after the other, n for n programs that do not disturb each other.
[[nodiscard]] inline double weighted_speedup(std::span<solo_and_combo const> programs) {
  double sum = 0;
  for (solo_and_combo const& p : programs) sum += p.solo_seconds / p.combo_seconds;
  return sum;
}

/// Repetitions of a program beside others, and what one takes alone of the time of the GPU: kernels and moves.
struct work_done {
  double repetitions;
  double solo_seconds;
};
/// (a x + b y) / c: c is the time of the GPU for kernels and moves while the programs ran beside each other. 1 without
/// any work.
[[nodiscard]] inline double work_efficiency(std::span<work_done const> programs, double gpu_seconds) {
  double useful = 0;
  for (work_done const& p : programs) useful += p.repetitions * p.solo_seconds;
  return gpu_seconds > 0 ? useful / gpu_seconds : 1;
}

}  // namespace wyrm::bench::gdm
