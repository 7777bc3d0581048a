// SPDX-License-Identifier: Apache-2.0
#include "unpack.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "../../exec/error.hpp"
#include "../quoted.hpp"
#include "recognise.hpp"

namespace wyrm::loaders::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t inflated_step = std::size_t{1} << 18;

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
/// The name of the compression that libarchive undoes; empty for other bytes.
std::string filter_of(std::string_view bytes) {
  constexpr std::array filters{std::pair("BZh"sv, "bzip2"),
                               std::pair("\xfd"
                                         "7zXZ\0"sv,
                                         "xz"),
                               std::pair("\x28\xb5\x2f\xfd"sv, "Zstandard")};
  for (auto const& [signature, filter] : filters)
    if (bytes.starts_with(signature)) return filter;
  return {};
}

/// Fails unless the bytes after compressed data are zeros, with which tapes and some copies pad files.
void expect_padding(std::string const& name, std::string const& kind, std::string_view rest) {
  if (rest.find_first_not_of('\0') == std::string_view::npos) return;
  fail(name, "the end of the file after the " + kind + " data", std::to_string(rest.size()) + " bytes more",
       "remove them or fetch the file again");
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
    stream.next_out = reinterpret_cast<Bytef*>(text.room(inflated_step));
    stream.avail_out = inflated_step;
    auto const given = stream.avail_in;
    int const status = inflate(&stream, Z_NO_FLUSH);
    rest.remove_prefix(given - stream.avail_in);
    text.grown(inflated_step - stream.avail_out);
    if (status == Z_STREAM_END) {
      if (!is_gzip(rest)) {
        expect_padding(name, "gzip", rest);
        break;
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

/// Reads bytes in memory with libarchive: a tar archive, or compressed data, which have one entry. All bytes that are
/// unpacked count against the limit, also those of headers and of entries that are skipped.
class archive_reader {
 public:
  /// `kind`: "tar", or the name of the compression.
  archive_reader(std::string const& name, std::string const& kind, std::string_view bytes, std::size_t limit)
      : name_(name),
        kind_(kind),
        bytes_(bytes),
        limit_(limit),
        owner_(archive_read_new(), &archive_read_free),
        archive_(owner_.get()) {
    if (archive_ == nullptr) throw error(error_code::out_of_memory, name + ": no memory to unpack");
    if (kind == "tar") {
      archive_read_support_format_tar(archive_);
    } else {
      archive_read_support_filter_bzip2(archive_);
      archive_read_support_filter_xz(archive_);
      archive_read_support_filter_zstd(archive_);
      archive_read_support_format_raw(archive_);
      archive_read_support_format_empty(archive_);
    }
    check(archive_read_open_memory(archive_, bytes.data(), bytes.size()));
  }
  /// The next entry, or null after the last one.
  [[nodiscard]] archive_entry* next() {
    archive_entry* entry = nullptr;
    int const status = archive_read_next_header(archive_, &entry);
    if (status == ARCHIVE_EOF) return nullptr;
    check(status);
    // The size in the header counts before the entry is skipped, because skipping unpacks it.
    auto const before = bytes_through(0);
    auto const size = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
    if (before > limit_ || size > limit_ - before) fail_beyond_limit(name_, limit_);
    return entry;
  }
  /// The content of the current entry.
  void read(growing_text& text) {
    while (true) {
      auto const got = archive_read_data(archive_, text.room(inflated_step), inflated_step);
      if (got < 0) fail_here();
      if (got == 0) break;
      text.grown(static_cast<std::size_t>(got));
    }
    (void)text.room(0);
  }
  /// Fails if anything but zeros follows the compressed data.
  void finish() {
    if (next() != nullptr) fail_here();
    expect_padding(name_, kind_, bytes_.substr(std::min(bytes_through(-1), bytes_.size())));
  }

 private:
  void check(int status) const {
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) fail_here();
  }
  [[noreturn]] void fail_here() const { fail_damaged(name_, bytes_through(-1), kind_, archive_error_string(archive_)); }
  /// The number of bytes that a filter has passed on: 0 is the last one, whose bytes are unpacked, -1 the file.
  [[nodiscard]] std::size_t bytes_through(int filter) const {
    return static_cast<std::size_t>(std::max<la_int64_t>(archive_filter_bytes(archive_, filter), 0));
  }

  std::string const& name_;
  std::string const& kind_;
  std::string_view bytes_;
  std::size_t limit_;
  std::unique_ptr<archive, int (*)(archive*)> owner_;
  archive* archive_;
};

/// The normal form of a path in an archive: equal for entries that tar unpacks to the same file.
std::string path_of(archive_entry* entry) {
  char const* const path = archive_entry_pathname(entry);
  return path == nullptr ? std::string() : std::filesystem::path(path).lexically_normal().relative_path().string();
}

/// Whether an archive entry is a regular file with the name of a graph format.
bool is_graph(archive_entry* entry, std::filesystem::path const& path) {
  bool const link = archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr;
  return !link && archive_entry_filetype(entry) == AE_IFREG && format_of_name(path.filename());
}

/// The name of a file without the extensions of an archive: .tar, .tar.gz, .tgz, ...
std::string title_of(std::string const& name) {
  auto const file = std::filesystem::path(name).filename().string();
  return file.substr(0, file.rfind(".t"));
}

std::string quoted_member(std::string const& path) {
  constexpr std::size_t most = 200;  // bytes
  return loaders::quoted(path, most);
}

/// Finds the graph among the entries of an archive in one pass. It holds the content of one entry: the first with the
/// name of the archive, or before that entry the first that may be the graph.
class graph_search {
 public:
  graph_search(std::string const& name, std::size_t limit) : name_(name), limit_(limit), title_(title_of(name)) {}

  void see(archive_reader& archive, archive_entry* entry) {
    auto const path = path_of(entry);
    if (graphs_.contains(path)) {
      fail(name_, "one member " + quoted_member(path), "another one", "unpack it and load the file you want");
    }
    if (!is_graph(entry, path)) return;
    graphs_.insert(path);
    bool const has_title = std::filesystem::path(path).stem() == title_;
    if (has_title) titled_.insert(path);
    if (graphs_.size() == 1 || (has_title && titled_.size() == 1)) {
      found_ = path;
      archive.read(text_.emplace(name_, limit_));
    }
  }

  unpacked_file finish() {
    if (graphs_.empty()) fail_number(graphs_);
    auto const& candidates = titled_.empty() ? graphs_ : titled_;
    if (candidates.size() > 1 && !is_graphalytics(candidates)) fail_number(candidates);
    return {std::move(found_), *std::move(text_)};
  }

 private:
  /// Whether the paths are the two files of a Graphalytics graph, which the caller refuses with other advice.
  static bool is_graphalytics(std::set<std::string> const& paths) {
    auto const stem = std::filesystem::path(*paths.begin()).replace_extension();
    return std::all_of(paths.begin(), paths.end(), [&](std::filesystem::path path) {
      return format_of_name(path.filename()) == file_format::graphalytics && path.replace_extension() == stem;
    });
  }
  [[noreturn]] void fail_number(std::set<std::string> const& candidates) const {
    constexpr std::size_t most = 8;
    std::string list;
    std::size_t listed = 0;
    for (auto at = candidates.begin(); at != candidates.end() && listed < most; ++at)
      list += (listed++ == 0 ? " (" : ", ") + quoted_member(*at);
    if (candidates.size() > most) list += " and " + std::to_string(candidates.size() - most) + " more";
    fail(name_, "one graph in the archive, or one with its name",
         std::to_string(candidates.size()) + " graphs" + list + (list.empty() ? "" : ")"),
         "unpack it and load the file you want");
  }

  std::string const& name_;
  std::size_t limit_;
  std::string title_;
  std::string found_;
  std::optional<growing_text> text_;
  std::set<std::string> graphs_;  // paths of all entries that may be the graph
  std::set<std::string> titled_;  // those of them with the name of the archive
};

growing_text decompress(std::string const& name, std::string const& filter, std::string_view bytes, std::size_t limit) {
  growing_text text(name, limit);
  archive_reader reader(name, filter, bytes, limit);
  if (reader.next() == nullptr) return text;
  reader.read(text);
  reader.finish();
  return text;
}

unpacked_file unpack_archive(std::string const& name, std::string_view bytes, std::size_t limit) {
  std::string const kind = "tar";
  archive_reader archive(name, kind, bytes, limit);
  graph_search search(name, limit);
  while (auto* const entry = archive.next()) search.see(archive, entry);
  return search.finish();
}

}  // namespace

std::optional<unpacked_file> unpack(std::string const& name, std::string_view bytes, std::size_t limit) {
  std::optional<growing_text> text;
  auto const filter = filter_of(bytes);
  if (is_gzip(bytes)) text.emplace(gunzip(name, bytes, limit));
  if (!filter.empty()) text.emplace(decompress(name, filter, bytes, limit));
  if (text) bytes = text->text();
  if (is_tar(bytes)) return unpack_archive(name, bytes, limit);
  if (!text) return std::nullopt;
  return unpacked_file{{}, *std::move(text)};
}

}  // namespace wyrm::loaders::detail
