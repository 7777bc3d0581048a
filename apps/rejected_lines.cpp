// SPDX-License-Identifier: Apache-2.0
#include "rejected_lines.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"

namespace wyrm::apps {

rejected_lines::rejected_lines(on_error policy, std::string path) : policy_(policy), path_(std::move(path)) {
  if (policy_ != on_error::file) return;
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) fail();
}

void rejected_lines::add_header(std::string_view line) { write(std::string(line) + '\n'); }

void rejected_lines::add(std::string_view reason, std::string_view line) {
  ++count_;
  write("# " + std::string(reason) + '\n' + std::string(line) + (line.empty() ? "" : "\n"));
}

void rejected_lines::write(std::string const& text) {
  if (policy_ != on_error::file) return;
  file_ << text << std::flush;
  if (!file_) fail();
}

void rejected_lines::fail() const {
  throw error(error_code::io, path_ + ": cannot be written: " + std::generic_category().message(errno) +
                                  "; free some room, or name another file with --rejected");
}

}  // namespace wyrm::apps
