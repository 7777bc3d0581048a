// SPDX-License-Identifier: Apache-2.0
#include "unpack.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "../../exec/error.hpp"
#include "recognise.hpp"

namespace wyrm::loaders::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t step = std::size_t{1} << 18;

[[noreturn]] void fail(std::string const& name, std::string const& expected, std::string const& found,
                       std::string const& advice) {
  throw error(error_code::bad_input, name + ": expected " + expected + ", found " + found + "; " + advice);
}
[[noreturn]] void fail_damaged(std::string const& name, std::size_t byte, std::string const& kind, char const* reason) {
  fail(name, "whole " + kind + " data",
       (reason == nullptr ? std::string("damage") : reason) + " near byte " + std::to_string(byte),
       "fetch the file again");
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"sv); }
bool is_tar(std::string_view bytes) { return bytes.size() >= 512 && bytes.substr(257, 5) == "ustar"; }
bool is_other_filter(std::string_view bytes) {
  return bytes.starts_with("BZh"sv) ||
         bytes.starts_with(
             "\xfd"
             "7zXZ\0"sv) ||
         bytes.starts_with("\x28\xb5\x2f\xfd"sv);
}

growing_text gunzip(std::string const& name, std::string_view bytes, std::size_t limit) {
  growing_text text(name, limit);
  z_stream stream{};
  constexpr int gzip_only = 15 + 16;
  if (inflateInit2(&stream, gzip_only) != Z_OK) throw error(error_code::out_of_memory, name + ": no memory to unpack");
  std::unique_ptr<z_stream, int (*)(z_stream*)> const owner(&stream, &inflateEnd);
  auto rest = bytes;
  while (true) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    stream.avail_in = static_cast<uInt>(std::min(rest.size(), most));
    stream.next_out = reinterpret_cast<Bytef*>(text.room(step));
    stream.avail_out = step;
    auto const given = stream.avail_in;
    int const status = inflate(&stream, Z_NO_FLUSH);
    rest.remove_prefix(given - stream.avail_in);
    text.grown(step - stream.avail_out);
    if (status == Z_STREAM_END) {
      if (rest.empty()) break;
      if (!is_gzip(rest)) {
        fail(name, "the end of the file after the gzip data", std::to_string(rest.size()) + " bytes more",
             "remove them or fetch the file again");
      }
      inflateReset(&stream);
    } else if (status != Z_OK) {
      auto const* const reason = status == Z_BUF_ERROR && rest.empty() ? "the end of the file" : stream.msg;
      fail_damaged(name, bytes.size() - rest.size(), "gzip", reason);
    }
  }
  (void)text.room(0);
  return text;
}

/// Reads an archive in memory with libarchive.
class archive_reader {
 public:
  archive_reader(std::string const& name, std::string_view bytes)
      : name_(name), owner_(archive_read_new(), &archive_read_free), archive_(owner_.get()) {
    if (archive_ == nullptr) throw error(error_code::out_of_memory, name + ": no memory to unpack");
    archive_read_support_filter_bzip2(archive_);
    archive_read_support_filter_xz(archive_);
    archive_read_support_filter_zstd(archive_);
    archive_read_support_format_tar(archive_);
    archive_read_support_format_raw(archive_);
    archive_read_support_format_empty(archive_);
    check(archive_read_open_memory(archive_, bytes.data(), bytes.size()));
  }
  /// The next entry, or null after the last one.
  [[nodiscard]] archive_entry* next() {
    archive_entry* entry = nullptr;
    int const status = archive_read_next_header(archive_, &entry);
    if (status == ARCHIVE_EOF) return nullptr;
    check(status);
    return entry;
  }
  [[nodiscard]] bool is_tar() const {
    return (archive_format(archive_) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
  }

  /// The content of the current entry.
  void read(growing_text& text) {
    while (true) {
      auto const got = archive_read_data(archive_, text.room(step), step);
      if (got < 0) fail_here();
      if (got == 0) break;
      text.grown(static_cast<std::size_t>(got));
    }
    (void)text.room(0);
  }
  /// Fails if anything follows the content of a compressed file without an archive.
  void finish() {
    if (next() != nullptr) fail_here();
  }

 private:
  void check(int status) const {
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) fail_here();
  }
  [[noreturn]] void fail_here() const {
    auto const byte = archive_filter_bytes(archive_, -1);
    fail_damaged(name_, static_cast<std::size_t>(std::max<la_int64_t>(byte, 0)), "compressed or archived",
                 archive_error_string(archive_));
  }

  std::string const& name_;
  std::unique_ptr<archive, int (*)(archive*)> owner_;
  archive* archive_;
};

/// The path of an archive entry that is a regular file with the name of a graph format; empty for other entries.
std::string graph_entry(archive_entry* entry) {
  char const* const path = archive_entry_pathname(entry);
  bool const link = archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr;
  if (path == nullptr || link || archive_entry_filetype(entry) != AE_IFREG) return {};
  return format_of_name(std::filesystem::path(path).filename()) ? path : std::string();
}

/// The path of the entry of an archive that is the graph.
std::string choose_entry(std::string const& name, std::string_view bytes) {
  archive_reader archive(name, bytes);
  auto title = std::filesystem::path(name).filename().string();
  title.resize(std::min(title.find(".t"), title.size()));  // .tar.gz, .tgz
  std::string only;
  std::string named;
  std::size_t graphs = 0;
  while (auto* const entry = archive.next()) {
    auto const path = graph_entry(entry);
    if (path.empty()) continue;
    ++graphs;
    only = path;
    if (std::filesystem::path(path).stem() == title) named = path;
  }
  if (graphs == 1) return only;
  if (named.empty()) {
    fail(name, "one graph in the archive, or one with its name", std::to_string(graphs) + " graphs",
         "unpack it and load the file you want");
  }
  return named;
}

}  // namespace

std::optional<unpacked_file> unpack(std::string const& name, std::string_view bytes, std::size_t limit) {
  std::optional<unpacked_file> result;
  if (is_gzip(bytes)) {
    result.emplace(unpacked_file{{}, gunzip(name, bytes, limit)});
    bytes = result->text.text();
    if (!is_tar(bytes)) return result;
  }
  if (!is_tar(bytes) && !is_other_filter(bytes)) return result;

  unpacked_file file{{}, growing_text(name, limit)};
  {
    archive_reader archive(name, bytes);
    auto* entry = archive.next();
    if (entry == nullptr) return file;
    if (!archive.is_tar()) {
      archive.read(file.text);
      archive.finish();
      return file;
    }
  }
  file.entry = choose_entry(name, bytes);
  archive_reader archive(name, bytes);
  for (auto* entry = archive.next(); entry != nullptr; entry = archive.next()) {
    if (graph_entry(entry) != file.entry) continue;
    archive.read(file.text);
    return file;
  }
  return file;
}

}  // namespace wyrm::loaders::detail
