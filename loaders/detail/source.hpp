// SPDX-License-Identifier: Apache-2.0
// The input of a parser: the whole content of a file in memory, and the options.
#pragma once

#include <string>
#include <string_view>

#include "../options.hpp"
#include "../progress.hpp"

namespace wyrm::loaders::detail {

struct source {
  std::string name;  // for messages
  std::string_view text;
  options const& settings;
  progress const& report;

  [[nodiscard]] char const* begin() const noexcept { return text.data(); }
  [[nodiscard]] char const* end() const noexcept { return text.data() + text.size(); }
};

}  // namespace wyrm::loaders::detail
