// SPDX-License-Identifier: Apache-2.0
// `wyrm report`: one HTML page with tables and charts of JSON reports. The page has no scripts and refers to no other
// resource. It is well-formed XML after its first line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report_file.hpp"

namespace CLI {
class App;
}

namespace wyrm::apps {

struct page_command {
  static constexpr std::size_t most_reports = 8;  // the number of colours
  std::vector<std::string> reports;
  std::string output;
};

/// The most points that a line of a chart has. A line of more batches has a point for every so many of them.
inline constexpr std::size_t most_points = 400;

/// The page for 1 to 8 reports, at most 200 KB.
[[nodiscard]] std::string page_of(std::vector<report_file> const& reports);

/// Reads the reports and writes the page. Throws the errors of read_report; error: bad_argument when the page would
/// replace a report, io when it cannot be written. Then an existing page is unchanged.
void write_page(page_command const& c);

void add_page(CLI::App& program, page_command& c);

}  // namespace wyrm::apps
