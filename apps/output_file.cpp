// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"

namespace wyrm::apps {

output_file::output_file(std::string what, std::string path)
    : what_(std::move(what)), path_(std::move(path)), target_(path_) {
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

output_file::~output_file() {
  if (!part_.empty()) std::remove(part_.c_str());
}

void output_file::finish() {
  file_.close();
  if (!file_) fail(std::generic_category().message(errno));
  written_ = true;
}

void output_file::commit() {
  if (!written_) return;
  std::error_code failed;
  std::filesystem::rename(part_, target_, failed);
  if (failed) fail(failed.message());
  part_.clear();
}

void output_file::fail(std::string const& reason) const {
  throw error(error_code::io, "cannot write " + what_ + " " + path_ + ": " + reason);
}

}  // namespace wyrm::apps
