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

void rejected_lines::add(std::string_view reason, std::string_view line) {
  ++count_;
  if (policy_ != on_error::file) return;
  file_ << "# " << reason << '\n' << line << '\n' << std::flush;
  if (!file_) fail();
}

void rejected_lines::fail() const {
  throw error(error_code::io, path_ + ": cannot be written: " + std::generic_category().message(errno) +
                                  "; free some room, or name another file with --rejected");
}

}  // namespace wyrm::apps
