// SPDX-License-Identifier: Apache-2.0
// The command lines of `wyrm bench`, and the reports of its commands (docs/benchmarks.md).
#pragma once

#include <iosfwd>
#include <string>

#include "bench_gap.hpp"
#include "bench_graphalytics.hpp"

namespace CLI {
class App;
}

namespace wyrm::apps {

/// The options must live until the command line is parsed.
struct bench_options {
  gap_options gap;
  graphalytics_options graphalytics;
};
void add_bench(CLI::App& program, bench_options& o);

/// The benchmarks print while they run; nothing is left to print.
inline void print_table(std::ostream&, gap_options const&, gap_result const&) {}
inline void print_table(std::ostream&, graphalytics_options const&, graphalytics_result const&) {}
[[nodiscard]] std::string json_report(gap_options const& o, gap_result const& r, bool lost);
[[nodiscard]] std::string json_report(graphalytics_options const& o, graphalytics_result const& r, bool lost);

}  // namespace wyrm::apps
