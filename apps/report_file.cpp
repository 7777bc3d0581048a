// SPDX-License-Identifier: Apache-2.0
#include "report_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"

namespace wyrm::apps {

report_file::report_file(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_.empty()) return;
  std::error_code failed;
  auto const there = std::filesystem::status(path_, failed);
  if (std::filesystem::is_directory(there)) fail(std::make_error_code(std::errc::is_a_directory).message());
  if (std::filesystem::exists(there)) {
    if (!std::filesystem::is_regular_file(there)) fail("it exists and is not a regular file");
    target_ = std::filesystem::canonical(path_, failed).string();
    if (failed) fail(failed.message());
  }
  errno = 0;
  file_.open(target_ + ".part", std::ios::binary);
  if (!file_) fail(std::generic_category().message(errno));
  part_ = target_ + ".part";
}

report_file::~report_file() {
  if (!part_.empty()) std::remove(part_.c_str());
}

void report_file::commit(std::string_view text) {
  if (path_.empty()) return;
  errno = 0;
  file_ << text;
  file_.close();
  if (!file_) fail(std::generic_category().message(errno));
  std::error_code failed;
  std::filesystem::rename(part_, target_, failed);
  if (failed) fail(failed.message());
  part_.clear();
}

void report_file::fail(std::string const& reason) const {
  throw error(error_code::io, "cannot write the report " + path_ + ": " + reason);
}

}  // namespace wyrm::apps
