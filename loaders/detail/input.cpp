// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../quoted.hpp"
#include "same_word.hpp"
#include "unpack.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr std::size_t step = std::size_t{1} << 20;

[[noreturn]] void fail_io(std::string const& name, char const* action, int number = errno) {
  auto const reason = std::generic_category().message(number);
  throw error(error_code::io,
              name + ": cannot be " + action + ": " + reason + "; check the name, the permissions and the disk");
}

struct descriptor {
  int file;
  ~descriptor() { close(file); }
};

// A file name without the extensions of compressed files.
std::filesystem::path without_compression(std::filesystem::path name) {
  for (;;) {
    std::string const extension = name.extension().string();
    auto const is = [&](char const* other) { return same_word(extension, other); };
    if (!is(".gz") && !is(".bz2") && !is(".xz") && !is(".zst")) return name;
    name = name.stem();
  }
}

}  // namespace

void fail_beyond_limit(std::string const& name, std::size_t limit) {
  throw error(error_code::bad_input, name + ": expected at most " + std::to_string(limit) +
                                         " bytes of content, found more; raise the limit if the file is to be trusted");
}

std::string_view without_byte_order_mark(std::string_view text) noexcept {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

void read_file(std::string const& name, int file, std::span<char> to, unsigned threads) {
  constexpr std::size_t block = std::size_t{4} << 20;
  constexpr int too_short = -1;
  std::atomic<int> failure = 0;
  exec::for_each_tile<1>(exec::host_space(threads), (to.size() + block - 1) / block,
                         [&](exec::scalar_tile, std::size_t i) {
                           auto const end = std::min(to.size(), (i + 1) * block);
                           for (auto at = i * block; at < end && failure == 0;) {
                             auto const got = pread(file, to.data() + at, end - at, static_cast<off_t>(at));
                             if (got > 0) at += static_cast<std::size_t>(got);
                             if (got == 0) failure = too_short;
                             if (got < 0 && errno != EINTR) failure = errno;
                           }
                         });
  if (failure == too_short) {
    throw error(error_code::io, name + ": expected " + std::to_string(to.size()) +
                                    " bytes, as many as when it was opened, found fewer; load it when it is complete");
  }
  if (failure != 0) fail_io(name, "read", failure);
}

growing_text::growing_text(std::string name, std::size_t limit)
    : name_(std::move(name)),
      limit_(limit),
      memory_(exec::reservation<exec::host_space>::between(exec::host_space(1), step, limit + step)) {}

char* growing_text::room(std::size_t bytes) {
  if (size_ > limit_ || bytes > limit_ + step - size_) fail_beyond_limit(name_, limit_);
  if (auto const least = size_ + bytes; least > memory_.committed())
    memory_.commit(std::max(least, std::min(memory_.capacity(), least + size_ / 8)));
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

input::input(std::filesystem::path const& path, options const& settings)
    : name_(path.string()), graph_name_(path.filename()) {
  constexpr std::size_t most_addresses = std::size_t{1} << 45;
  auto const wanted = settings.unpacked_limit;
  auto const limit = std::min(wanted == 0 ? exec::host_space(1).memory_limit() / 2 : wanted, most_addresses);
  descriptor const opened{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (opened.file < 0) fail_io(name_, "opened");
  read(opened.file, limit, settings);
  try {
    if (auto unpacked = unpack(name_, text_, limit)) {
      graph_name_ = unpacked->entry.empty() ? without_compression(std::move(graph_name_))
                                            : std::filesystem::path(unpacked->entry).filename();
      if (!unpacked->entry.empty()) name_ += "(" + escaped(graph_name_.string()) + ")";
      memory_.emplace(std::move(unpacked->text));
      text_ = memory_->text();
      content_ = exec::buffer<char, exec::host_space>(exec::host_space(1));
      forget_file();
    }
  } catch (...) {
    forget_file();
    throw;
  }
  auto const marked = text_.size();
  text_ = without_byte_order_mark(text_);
  skipped_ = marked - text_.size();
}

input::~input() { forget_file(); }

void input::forget_file() noexcept {
  if (mapped_ != nullptr) munmap(std::exchange(mapped_, nullptr), mapped_bytes_);
  if (file_ >= 0) close(std::exchange(file_, -1));
}

void input::release(char const* upto) noexcept {
  auto* const base = mapped_ != nullptr ? static_cast<char*>(mapped_) : content_.data();
  static auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto const address = [](char const* at) { return reinterpret_cast<std::uintptr_t>(at); };
  auto const begin = (address(base) + released_ + page - 1) / page * page;
  auto const end = address(upto) / page * page;
  if (end <= begin) return;
  // The range has only whole pages of the text, so no other memory is lost.
  if (madvise(base + (begin - address(base)), end - begin, MADV_DONTNEED) == 0) released_ = end - address(base);
}

void input::restore() noexcept {
  std::lock_guard const lock(restoring_);
  auto const bytes = std::exchange(released_, 0);
  for (std::size_t at = 0; file_ >= 0 && at < bytes;) {
    auto const got = pread(file_, content_.data() + at, bytes - at, static_cast<off_t>(at));
    if (got > 0) at += static_cast<std::size_t>(got);
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
}

void input::read(int file, std::size_t limit, options const& settings) {
  struct stat about {};
  if (fstat(file, &about) != 0) fail_io(name_, "opened");
  if (S_ISREG(about.st_mode) && about.st_size > 0) {
    auto const bytes = static_cast<std::size_t>(about.st_size);
    void* const at = settings.map ? mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (at != MAP_FAILED) {
      mapped_ = at;
      mapped_bytes_ = bytes;
      text_ = {static_cast<char const*>(at), bytes};
    } else {
      content_.reserve(bytes);
      read_file(name_, file, {content_.data(), bytes}, settings.threads);
      text_ = {content_.data(), bytes};
      file_ = fcntl(file, F_DUPFD_CLOEXEC, 0);
    }
    return;
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
