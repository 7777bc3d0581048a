// SPDX-License-Identifier: Apache-2.0
#include "unpacker.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "../exec/error.hpp"

namespace wyrm::apps {

namespace {

using namespace std::string_view_literals;

constexpr std::array signatures{"\x1f\x8b"sv,
                                "\xfd"
                                "7zXZ\0"sv,
                                "\x28\xb5\x2f\xfd"sv};

}  // namespace

bool unpacker::is_compressed(std::string_view bytes) {
  return std::ranges::any_of(signatures, [&](std::string_view s) { return bytes.starts_with(s); });
}

bool unpacker::may_be_compressed(std::string_view bytes) {
  return std::ranges::any_of(signatures, [&](std::string_view s) { return s.starts_with(bytes); });
}

unpacker::unpacker(std::string name, std::string_view begin, reader more)
    : name_(std::move(name)),
      more_(std::move(more)),
      packed_(std::max<std::size_t>(std::size_t{1} << 16, begin.size())),
      begun_(begin.size()),
      archive_(archive_read_new(), &archive_read_free) {
  if (archive_ == nullptr) throw std::bad_alloc();
  std::copy(begin.begin(), begin.end(), packed_.begin());
  archive_read_support_filter_gzip(archive_.get());
  archive_read_support_filter_xz(archive_.get());
  archive_read_support_filter_zstd(archive_.get());
  archive_read_support_format_raw(archive_.get());
  archive_read_support_format_empty(archive_.get());
  check(archive_read_open(archive_.get(), this, nullptr, &read_packed, nullptr));
  archive_entry* entry = nullptr;
  int const status = archive_read_next_header(archive_.get(), &entry);
  check(status);
  is_empty_ = status == ARCHIVE_EOF;
}

unpacker::~unpacker() = default;

std::ptrdiff_t unpacker::read_packed(archive*, void* self, void const** bytes) {
  auto& u = *static_cast<unpacker*>(self);
  *bytes = u.packed_.data();
  try {
    std::size_t const begun = std::exchange(u.begun_, 0);
    return static_cast<std::ptrdiff_t>(begun > 0 ? begun : u.more_(u.packed_.data(), u.packed_.size()));
  } catch (...) {  // not through code in C
    u.failure_ = std::current_exception();
    return -1;
  }
}

std::size_t unpacker::read(char* to, std::size_t n) {
  if (is_empty_) return 0;
  la_ssize_t const got = archive_read_data(archive_.get(), to, n);
  check(got);
  return static_cast<std::size_t>(got);
}

void unpacker::check(std::ptrdiff_t status) const {
  if (failure_) std::rethrow_exception(failure_);
  if (status >= 0 || status == ARCHIVE_WARN) return;
  char const* const reason = archive_error_string(archive_.get());
  throw error(error_code::io, name_ + ": cannot be unpacked: " + (reason != nullptr ? reason : "the data are damaged"));
}

}  // namespace wyrm::apps
