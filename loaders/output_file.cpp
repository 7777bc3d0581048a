// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"

namespace wyrm::loaders {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

}  // namespace

// The process id makes the names of programs that write the same file differ; the last one to finish wins.
output_file::output_file(std::string what, fs::path path)
    : what_(std::move(what)), path_(std::move(path)), target_(path_) {
  if (path_.empty()) return;
  std::error_code failed;
  auto const there = fs::status(path_, failed);
  if (fs::is_directory(there)) fail(std::make_error_code(std::errc::is_a_directory).message());
  if (fs::exists(there)) {
    if (!fs::is_regular_file(there)) fail("it exists and is not a regular file");
    target_ = fs::canonical(path_, failed);
    if (failed) fail(failed.message());
  }
  part_ = target_.string() + "." + std::to_string(getpid()) + ".part";
  file_ = std::fopen(part_.c_str(), "wbe");
  if (file_ == nullptr) fail(std::generic_category().message(errno));
}

output_file::~output_file() {
  if (file_ != nullptr) std::fclose(file_);
  std::error_code ignored;
  if (!part_.empty()) fs::remove(part_, ignored);
}

void output_file::write(std::string_view bytes) {
  if (file_ == nullptr) return;
  if (bytes.size() < buffer_bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= buffer_bytes) flush();
    return;
  }
  flush();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail(std::generic_category().message(errno));
}

void output_file::write(std::uint64_t number) { append(number); }
void output_file::write(double number) { append(number); }

template <class T>
void output_file::append(T number) {
  if (file_ == nullptr) return;
  std::array<char, 32> digits{};
  auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  write(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

void output_file::finish() {
  if (file_ == nullptr) return;
  flush();
  auto* const file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) fail(std::generic_category().message(errno));
  complete_ = true;
}

void output_file::commit() {
  if (!complete_) return;
  std::error_code failed;
  fs::rename(part_, target_, failed);
  if (failed) fail(failed.message());
  part_.clear();
}

void output_file::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size())
    fail(std::generic_category().message(errno));
  buffer_.clear();
}

void output_file::fail(std::string const& reason) const {
  throw error(error_code::io, "cannot write " + what_ + " " + path_.string() + ": " + reason +
                                  "; check the name, the permissions and the disk");
}

}  // namespace wyrm::loaders
