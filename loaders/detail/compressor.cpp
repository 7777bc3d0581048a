// SPDX-License-Identifier: Apache-2.0
#include "compressor.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include "../../exec/error.hpp"
#include "same_word.hpp"

namespace wyrm::loaders::detail {

std::optional<compression> compression_of(std::filesystem::path const& filename) {
  constexpr std::pair<std::string_view, compression> known[] = {
      {".gz", compression::gzip}, {".bz2", compression::bzip2}, {".xz", compression::xz}, {".zst", compression::zstd}};
  auto const extension = filename.extension().string();
  for (auto const& [name, kind] : known)
    if (same_word(extension, name)) return kind;
  return std::nullopt;
}

compressor::compressor(compression kind, std::FILE* file)
    : sink_(std::make_unique<sink>(sink{file})), archive_(archive_write_new()) {
  if (archive_ == nullptr) throw std::bad_alloc();
  constexpr int (*filters[])(::archive*) = {archive_write_add_filter_gzip, archive_write_add_filter_bzip2,
                                            archive_write_add_filter_xz, archive_write_add_filter_zstd};
  auto const put = [](::archive*, void* to, void const* bytes, std::size_t size) -> la_ssize_t {
    auto& s = *static_cast<sink*>(to);
    if (s.failure == 0 && std::fwrite(bytes, 1, size, s.file) != size) s.failure = errno;
    return s.failure == 0 ? static_cast<la_ssize_t>(size) : -1;
  };
  std::unique_ptr<archive_entry, void (*)(archive_entry*)> const entry(archive_entry_new(), &archive_entry_free);
  bool good = entry != nullptr && filters[static_cast<std::size_t>(kind)](archive_) == ARCHIVE_OK &&
              archive_write_set_format_raw(archive_) == ARCHIVE_OK &&
              archive_write_set_bytes_in_last_block(archive_, 1) == ARCHIVE_OK &&  // no padding
              (kind != compression::gzip || archive_write_set_options(archive_, "gzip:!timestamp") == ARCHIVE_OK);
  if (good) {
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    good = archive_write_open(archive_, sink_.get(), nullptr, put, nullptr) == ARCHIVE_OK &&
           archive_write_header(archive_, entry.get()) == ARCHIVE_OK;
  }
  if (good) return;
  char const* const reason = archive_error_string(archive_);
  error const failed(error_code::io, std::string("cannot compress: ") + (reason == nullptr ? "no memory" : reason) +
                                         "; choose another compression, or none");
  sink_->failure = ECANCELED;
  archive_write_free(archive_);
  throw failed;
}

compressor::~compressor() {
  if (sink_->failure == 0) sink_->failure = ECANCELED;  // a file that is not finished is removed: nothing to write
  archive_write_free(archive_);
}

bool compressor::write(std::string_view bytes) {
  while (!bytes.empty()) {
    auto const taken = archive_write_data(archive_, bytes.data(), bytes.size());
    if (!ok(taken > 0)) return false;
    bytes.remove_prefix(static_cast<std::size_t>(taken));
  }
  return true;
}

bool compressor::finish() { return ok(archive_write_close(archive_) == ARCHIVE_OK); }

bool compressor::ok(bool good) {
  if (good && sink_->failure == 0) return true;
  int const reason = sink_->failure != 0 ? sink_->failure : archive_errno(archive_);
  errno = reason > 0 ? reason : EIO;
  return false;
}

}  // namespace wyrm::loaders::detail
