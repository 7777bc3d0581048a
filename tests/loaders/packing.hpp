// SPDX-License-Identifier: Apache-2.0
// Writes compressed files and archives with libarchive, for tests.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace wyrm::tests {

struct packed_entry {
  std::string name;
  std::string content;
  std::string link = {};  // target of a symbolic link, which has no content
};

/// Writes one entry without an archive, or entries as a tar archive; `filter`: gzip, bzip2, xz, zstd or none.
inline void pack(std::filesystem::path const& path, std::string const& filter, bool tar,
                 std::vector<packed_entry> const& entries) {
  auto const check = [&](archive* a, int status) {
    if (status != ARCHIVE_OK) throw std::runtime_error(path.string() + ": " + archive_error_string(a));
  };
  archive* const a = archive_write_new();
  check(a, tar ? archive_write_set_format_ustar(a) : archive_write_set_format_raw(a));
  if (filter != "none") check(a, archive_write_add_filter_by_name(a, filter.c_str()));
  check(a, archive_write_open_filename(a, path.c_str()));
  for (auto const& [name, content, link] : entries) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_filetype(entry, link.empty() ? AE_IFREG : AE_IFLNK);
    if (link.empty())
      archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    else
      archive_entry_set_symlink(entry, link.c_str());
    check(a, archive_write_header(a, entry));
    if (link.empty() && archive_write_data(a, content.data(), content.size()) < 0) check(a, ARCHIVE_FATAL);
    archive_entry_free(entry);
  }
  check(a, archive_write_close(a));
  archive_write_free(a);
}

}  // namespace wyrm::tests
