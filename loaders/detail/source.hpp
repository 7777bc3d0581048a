// SPDX-License-Identifier: Apache-2.0
// What a parser is given: the whole content of a file in memory, and what is wanted of it.
#pragma once

#include <string>
#include <string_view>

#include "../options.hpp"
#include "../progress.hpp"

namespace wyrm::loaders::detail {

struct source {
  std::string name;  // which messages give it
  std::string_view text;
  options const& wanted;
  progress const& report;

  [[nodiscard]] char const* begin() const noexcept { return text.data(); }
  [[nodiscard]] char const* end() const noexcept { return text.data() + text.size(); }
};

}  // namespace wyrm::loaders::detail
