// SPDX-License-Identifier: Apache-2.0
#include "output_target.hpp"

#include <charconv>
#include <string>
#include <system_error>

namespace wyrm::loaders::detail {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as in Linux

fs::path folder_of(fs::path const& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// The number of the open descriptor that is named `name` in `folder`; -1 if the file is no descriptor.
int descriptor_named(fs::path const& folder, std::string const& name) {
  std::error_code failed;
  auto const own = fs::canonical("/proc/self/fd", failed);
  if (folder != "/dev/fd" && (failed || folder != own)) return -1;
  int number = -1;
  auto const* const end = name.data() + name.size();
  return std::from_chars(name.data(), end, number).ptr == end ? number : -1;
}

/// Follows the links by hand, because those to missing files and to descriptors have no canonical path.
output_target resolved(fs::path path) {
  std::error_code failed;
  for (int links = 0; links < most_links; ++links) {
    auto const folder = fs::canonical(folder_of(path), failed);
    if (failed) return {path};  // opening it reports the reason
    if (int const number = descriptor_named(folder, path.filename().string()); number >= 0) return {path, number, true};
    path = folder / path.filename();
    if (!fs::is_symlink(fs::symlink_status(path, failed))) return {path};
    path = folder / fs::read_symlink(path);
  }
  throw fs::filesystem_error("", path, std::make_error_code(std::errc::too_many_symbolic_link_levels));
}

}  // namespace

output_target find_output_target(fs::path const& path) {
  std::error_code failed;
  auto const there = fs::status(path, failed);
  if (there.type() == fs::file_type::none) throw fs::filesystem_error("", path, failed);
  if (fs::is_directory(there)) throw fs::filesystem_error("", path, std::make_error_code(std::errc::is_a_directory));
  auto target = resolved(path);
  target.direct = target.direct || (fs::exists(there) && !fs::is_regular_file(there));
  return target;
}

}  // namespace wyrm::loaders::detail
