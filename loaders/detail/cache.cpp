// SPDX-License-Identifier: Apache-2.0
#include "cache.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../../exec/error.hpp"
#include "../loaders.hpp"
#include "input.hpp"
#include "recognise.hpp"

namespace wyrm::loaders {
namespace {

namespace fs = std::filesystem;

/// Not 0, which is the value in files that are no caches.
std::uint32_t stamp_hash(std::string_view text) {
  return std::max(static_cast<std::uint32_t>(detail::hash_of(0, text)), 1U);
}

/// Every change of a file gives it another change time, and a file that replaces it has another inode. Programs can set
/// the modification time to any value.
void add_file(std::vector<std::uint64_t>& words, fs::path const& file) {
  struct stat about {};
  words.push_back(stat(file.c_str(), &about) == 0 ? 1 : 0);
  words.push_back(static_cast<std::uint64_t>(about.st_size));
  words.push_back(std::uint64_t{about.st_ino});
  for (timespec const& time : {about.st_mtim, about.st_ctim}) {
    words.push_back(static_cast<std::uint64_t>(time.tv_sec));
    words.push_back(static_cast<std::uint64_t>(time.tv_nsec));
  }
}

/// The hash of what the parsed list depends on: the state of the files, and the options that affect parsing.
std::uint32_t content_of(fs::path const& source, options const& settings) {
  std::vector<std::uint64_t> words;
  add_file(words, source);
  if (settings.format.value_or(detail::format_of_name(source.filename()).value_or(file_format::binary)) ==
      file_format::graphalytics)
    for (auto const& file : graphalytics_files(source)) add_file(words, file);
  words.push_back(settings.format ? static_cast<std::uint64_t>(*settings.format) + 1 : 0);
  words.push_back(settings.third ? 1 : 0);
  words.push_back(static_cast<std::uint64_t>(settings.third.value_or(third_column::weight)));
  if (settings.columns)
    for (auto const* const name :
         {&settings.columns->source, &settings.columns->target, &settings.columns->weight, &settings.columns->time})
      words.push_back(detail::hash_of(words.size(), *name));
  words.push_back(settings.vertex_base ? 1 : 0);
  words.push_back(settings.vertex_base.value_or(0));
  words.push_back(settings.max_vertices);
  return stamp_hash({reinterpret_cast<char const*>(words.data()), words.size() * sizeof(std::uint64_t)});
}

/// The stamp in the header of a file; zeros for a file that is too short, cannot be read or is no Wyrm file.
cache_stamp stamp_in(fs::path const& file) {
  std::string header(detail::binary_header_bytes, '\0');
  std::ifstream(file, std::ios::binary).read(header.data(), static_cast<std::streamsize>(header.size()));
  return has_binary_signature(header) ? detail::binary_stamp(header) : cache_stamp{};
}

}  // namespace

fs::path cache_of(fs::path const& source, options const& settings) {
  if (settings.cache_dir.empty()) return fs::path(source) += ".wyrm";
  std::error_code failed;
  auto const path = fs::weakly_canonical(source, failed);
  std::array<char, 16> digits{};
  auto const hash = detail::hash_of(0, (failed ? source : path).string());
  auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
  // Shortened, because file systems limit names to 255 bytes.
  auto const name = source.filename().string().substr(0, 200) + "." + std::string(digits.data(), end) + ".wyrm";
  return settings.cache_dir / name;
}

namespace detail {

cache::cache(fs::path const& source, options const& settings)
    : path_(cache_of(source, settings)), stamp_{content_of(source, settings), stamp_hash(path_.filename().string())} {}

std::optional<graph::edge_list> cache::load(options const& settings, progress const& report) const {
  std::error_code ignored;
  if (!fs::is_regular_file(path_, ignored) || stamp_in(path_) != stamp_) return std::nullopt;
  try {
    input const file(path_, settings);
    auto list = parse_binary({file.name(), file.text(), settings, report});
    if (report) report(file.text().size(), file.text().size());
    return list;
  } catch (error const&) {
    return std::nullopt;  // damaged; the caller writes it again
  }
}

void cache::write(graph::edge_list const& list) const {
  std::error_code ignored;
  auto const there = fs::status(path_, ignored);
  if (fs::exists(there) && (!fs::is_regular_file(there) || stamp_in(path_).name != stamp_.name))
    throw error(error_code::io, "cannot write the cache " + path_.string() +
                                    ": another file has this name; remove it, or choose a folder for caches");
  write_binary(list, path_, stamp_);
}

}  // namespace detail
}  // namespace wyrm::loaders
