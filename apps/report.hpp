// SPDX-License-Identifier: Apache-2.0
// The results of `wyrm run` for people (a table) and for programs (JSON; docs/report.md describes every field).
#pragma once

#include <iosfwd>
#include <string>

#include "run.hpp"

namespace wyrm::apps {

void print_table(std::ostream& out, run_options const& o, run_result const& r);

/// The degree distribution, as part of a table.
void print_degrees(std::ostream& out, degree_summary const& d);

[[nodiscard]] std::string json_report(run_options const& o, run_result const& r);

}  // namespace wyrm::apps
