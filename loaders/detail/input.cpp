// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "../../exec/error.hpp"
#include "../quoted.hpp"
#include "unpack.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr std::size_t step = std::size_t{1} << 20;

[[noreturn]] void fail_io(std::string const& name, char const* action) {
  auto const reason = std::generic_category().message(errno);
  throw error(error_code::io,
              name + ": cannot be " + action + ": " + reason + "; check the name, the permissions and the disk");
}

struct descriptor {
  int file;
  ~descriptor() { close(file); }
};

}  // namespace

void fail_beyond_limit(std::string const& name, std::size_t limit) {
  throw error(error_code::bad_input, name + ": expected at most " + std::to_string(limit) +
                                         " bytes of content, found more; raise the limit if the file is to be trusted");
}

growing_text::growing_text(std::string name, std::size_t limit)
    : name_(std::move(name)), limit_(limit), memory_(exec::host_space(1), limit + step) {}

char* growing_text::room(std::size_t bytes) {
  if (size_ > limit_ || bytes > limit_ + step - size_) fail_beyond_limit(name_, limit_);
  if (size_ + bytes > memory_.committed()) memory_.commit(std::min(memory_.capacity(), size_ + bytes + size_ / 8));
  return reinterpret_cast<char*>(memory_.data()) + size_;
}

void growing_text::append(std::string_view bytes) {
  while (!bytes.empty()) {
    auto const part = bytes.substr(0, step);
    std::memcpy(room(part.size()), part.data(), part.size());
    grown(part.size());
    bytes.remove_prefix(part.size());
  }
  (void)room(0);
}

input::input(std::filesystem::path const& path, std::size_t limit)
    : name_(path.string()), graph_name_(path.filename()) {
  constexpr std::size_t most_addresses = std::size_t{1} << 45;
  limit = std::min(limit == 0 ? exec::host_space(1).memory_total() / 2 : limit, most_addresses);
  descriptor const opened{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (opened.file < 0) fail_io(name_, "opened");
  read(opened.file, limit);
  try {
    if (auto unpacked = unpack(name_, text_, limit)) {
      graph_name_ = unpacked->entry.empty() ? graph_name_.stem() : std::filesystem::path(unpacked->entry).filename();
      if (!unpacked->entry.empty()) name_ += "(" + escaped(graph_name_.string()) + ")";
      memory_.emplace(std::move(unpacked->text));
      text_ = memory_->text();
    }
  } catch (...) {
    if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
    throw;
  }
}

input::~input() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

void input::read(int file, std::size_t limit) {
  struct stat about {};
  if (fstat(file, &about) != 0) fail_io(name_, "opened");
  if (S_ISREG(about.st_mode) && about.st_size > 0) {
    auto const bytes = static_cast<std::size_t>(about.st_size);
    void* const at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (at != MAP_FAILED) {
      mapped_ = at;
      mapped_bytes_ = bytes;
      text_ = {static_cast<char const*>(at), bytes};
      return;
    }
  }
  memory_.emplace(name_, limit);
  while (true) {
    ssize_t const got = ::read(file, memory_->room(step), step);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io(name_, "read");
    if (got == 0) break;
    memory_->grown(static_cast<std::size_t>(got));
  }
  text_ = memory_->text();
}

}  // namespace wyrm::loaders::detail
