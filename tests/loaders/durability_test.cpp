// SPDX-License-Identifier: Apache-2.0
// Tests that an output file is on the disk before it gets its name, and its name before commit() returns. The program
// has its own fsync and rename, which the loaders and the C++ library then call, and which record the calls.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/output_file.hpp"
#include "files.hpp"

namespace {
std::vector<std::string> calls;
bool disk_fails = false;
}  // namespace

extern "C" int fsync(int descriptor) {
  struct stat about {};
  fstat(descriptor, &about);
  calls.push_back(S_ISDIR(about.st_mode) ? "fsync of a folder"
                                         : "fsync of " + std::to_string(about.st_size) + " bytes");
  if (!disk_fails) return static_cast<int>(syscall(SYS_fsync, descriptor));
  errno = EIO;
  return -1;
}

extern "C" int rename(char const* from, char const* to) noexcept {
  calls.emplace_back("rename");
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace wyrm::tests {
namespace {

TEST(durability, of_an_output_file) {
  temporary_folder const folder;
  loaders::output_file file("the file", folder / "out.txt");
  file.write("12345");
  calls.clear();
  file.finish();
  EXPECT_EQ(calls, (std::vector<std::string>{"fsync of 5 bytes"}));
  file.commit();
  EXPECT_EQ(calls, (std::vector<std::string>{"fsync of 5 bytes", "rename", "fsync of a folder"}));
  EXPECT_EQ(read_file(folder / "out.txt"), "12345");
}

TEST(durability, a_failing_disk_replaces_nothing) {
  temporary_folder const folder;
  write_file(folder / "out.txt", "old");
  {
    loaders::output_file file("the file", folder / "out.txt");
    file.write("new");
    disk_fails = true;
    EXPECT_THROW(file.finish(), error);
    disk_fails = false;
    file.commit();
  }
  EXPECT_EQ(read_file(folder / "out.txt"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1);
}

}  // namespace
}  // namespace wyrm::tests
