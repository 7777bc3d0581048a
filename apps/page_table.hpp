// SPDX-License-Identifier: Apache-2.0
// The table of the page of `wyrm report`: a column for each report.
#pragma once

#include <string>
#include <vector>

#include "report_file.hpp"

namespace wyrm::apps {

/// A row is left out when no report has its value.
[[nodiscard]] std::string table_of(std::vector<report_file> const& runs);

}  // namespace wyrm::apps
