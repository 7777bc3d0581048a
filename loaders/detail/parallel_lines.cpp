// SPDX-License-Identifier: Apache-2.0
#include "parallel_lines.hpp"

#include <string>

namespace wyrm::loaders::detail {

std::string_view sound_lines(std::string_view lines, std::size_t longest) {
  auto const start_of_line = [&](std::size_t at) { return lines.substr(0, at).rfind('\n') + 1; };  // npos + 1 is 0
  auto const end = lines.size() - (lines.ends_with('\n') ? 1 : 0);
  if (auto const last = start_of_line(end); end - last > longest) lines = lines.substr(0, last);
  if (auto const nul = lines.find('\0'); nul != std::string_view::npos) lines = lines.substr(0, start_of_line(nul));
  return lines;
}

void go_to_record(text_reader& reader, std::size_t index) {
  reader.in().restore();
  reader.skip_comments();
  for (std::size_t i = 0; i < index; ++i) {
    reader.skip_line();
    reader.skip_comments();
  }
}

void expect_count(text_reader reader, std::size_t announced, std::size_t found, counted const& what) {
  auto const correct = "correct the number of " + std::string(what.many) + " on line " + std::to_string(what.line);
  if (found == announced) return;
  go_to_record(reader, std::min(announced, found));
  if (found < announced) {
    reader.fail({std::string(what.one) + " " + std::to_string(found + 1) + " of " + std::to_string(announced),
                 correct + ", or fetch the file again if it is truncated"});
  }
  reader.fail({"no " + std::string(what.one) + " after the last, " + std::to_string(announced),
               correct + " or remove the line"});
}

}  // namespace wyrm::loaders::detail
