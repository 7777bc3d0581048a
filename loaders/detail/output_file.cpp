// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "../../exec/error.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

template <class T>
void append(std::string& to, T value) {
  std::array<char, 32> digits{};
  to.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

}  // namespace

// The process number keeps programs that write the same file apart: the last one to finish wins.
output_file::output_file(std::filesystem::path const& path)
    : path_(path), part_(path.string() + "." + std::to_string(getpid()) + ".part") {
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored))
    fail("it exists and is not a regular file");
  file_ = std::fopen(part_.c_str(), "wbe");
  if (file_ == nullptr) fail(std::generic_category().message(errno));
}

output_file::~output_file() {
  if (file_ != nullptr) std::fclose(file_);
  std::error_code ignored;
  if (!part_.empty()) std::filesystem::remove(part_, ignored);
}

void output_file::write(std::string_view bytes) {
  if (bytes.size() < buffer_bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= buffer_bytes) flush();
    return;
  }
  flush();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail(std::generic_category().message(errno));
}

void output_file::write(std::uint64_t number) {
  append(buffer_, number);
  if (buffer_.size() >= buffer_bytes) flush();
}

void output_file::write(double number) {
  append(buffer_, number);
  if (buffer_.size() >= buffer_bytes) flush();
}

void output_file::commit() {
  flush();
  auto* const file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) fail(std::generic_category().message(errno));
  std::error_code failed;
  std::filesystem::rename(part_, path_, failed);
  if (failed) fail(failed.message());
  part_.clear();
}

void output_file::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size())
    fail(std::generic_category().message(errno));
  buffer_.clear();
}

void output_file::fail(std::string const& reason) const {
  throw error(error_code::io,
              path_.string() + ": cannot be written: " + reason + "; check the name, the permissions and the disk");
}

}  // namespace wyrm::loaders::detail
