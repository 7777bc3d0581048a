// SPDX-License-Identifier: Apache-2.0
// Tests how limits of memory and of addresses are found, and that a reservation makes do with fewer addresses.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "../../exec/config.hpp"
#include "../../exec/error.hpp"
#include "../../exec/host_space.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/memory_limit.hpp"

namespace wyrm::tests {

namespace {

namespace fs = std::filesystem;

// A temporary folder with the files of control groups.
class control_groups : public testing::Test {
 protected:
  control_groups() {
    std::string name = (fs::temp_directory_path() / "wyrm_groups_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    folder_ = name;
  }
  ~control_groups() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void write(std::string const& name, std::string const& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] std::size_t limit() const { return exec::control_group_limit(folder_ / "groups", folder_ / "fs"); }
  [[nodiscard]] fs::path file(char const* name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

TEST_F(control_groups, set_no_limit_without_files) {
  EXPECT_EQ(limit(), exec::no_limit);
  write("groups", "0::/a/b\n");
  EXPECT_EQ(limit(), exec::no_limit);
  write("fs/a/b/memory.max", "max\n");
  EXPECT_EQ(limit(), exec::no_limit);
  write("groups", "no colon\n0:\n\n");
  EXPECT_EQ(limit(), exec::no_limit);
}

TEST_F(control_groups, of_version_2_inherit_limits) {
  write("groups", "0::/a/b c:d\n");
  write("fs/a/b c:d/memory.max", "3000\n");
  EXPECT_EQ(limit(), 3000u);
  write("fs/a/memory.max", "2000\n");
  EXPECT_EQ(limit(), 2000u);
  write("fs/memory.max", "1000\n");
  EXPECT_EQ(limit(), 1000u) << "in a container the mount is the group of the container";
  write("fs/memory.max", "max\n");
  write("fs/a/memory.max", "5000\n");
  EXPECT_EQ(limit(), 3000u);
  write("fs/other/memory.max", "1\n");
  write("fs/a/b c:d/e/memory.max", "1\n");
  write("fs/memory/a/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(limit(), 3000u) << "of groups of other processes, and of another version";
  write("groups", "0::/\n");
  EXPECT_EQ(limit(), exec::no_limit);
  write("groups", "0::/../../a\n");
  EXPECT_EQ(limit(), 5000u) << "a group outside the namespace of the process";
}

TEST_F(control_groups, of_version_1_inherit_limits) {
  write("groups", "12:cpu,cpuacct:/c\n9:memory:/a/b\n1:name=systemd:/s\n0::/s\n");
  write("fs/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit(), 9223372036854771712u);
  write("fs/memory/a/b/memory.limit_in_bytes", "700\n");
  EXPECT_EQ(limit(), 700u);
  write("fs/memory/a/memory.limit_in_bytes", "600\n");
  EXPECT_EQ(limit(), 600u);
  write("fs/memory/c/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(limit(), 600u);
  write("groups", "4:cpuset,memory,pids:/a/b\n");
  EXPECT_EQ(limit(), 600u);
  write("groups", "4:cpuset,memory_other:/a/b\n");
  EXPECT_EQ(limit(), exec::no_limit);
}

TEST_F(control_groups, memory_that_the_machine_has_available) {
  write("information", "MemTotal:       9000 kB\nMemFree:        500 kB\nMemAvailable:   7000 kB\nBuffers:   1 kB\n");
  EXPECT_EQ(exec::memory_available(file("information")), std::size_t{7000} << 10);
  write("information", "MemTotal:       9000 kB\n");
  EXPECT_EQ(exec::memory_available(file("information")), exec::no_limit);
  EXPECT_EQ(exec::memory_available(file("missing")), exec::no_limit);
  EXPECT_LE(exec::memory_available(), exec::host_space(1).memory_total());
}

TEST(address_limit, is_that_of_the_process) {
  rlimit const before = [] {
    rlimit now{};
    getrlimit(RLIMIT_AS, &now);
    return now;
  }();
  if (before.rlim_cur == RLIM_INFINITY) {
    EXPECT_EQ(exec::addresses_left(), exec::no_limit);
  }
  std::size_t const total = exec::host_space(1).memory_total();
  EXPECT_LE(exec::host_space(1).memory_limit(), total);
  if (WYRM_ADDRESS_SANITIZER || WYRM_THREAD_SANITIZER) GTEST_SKIP() << "sanitizers need terabytes of addresses";
  rlimit lower = before;
  lower.rlim_cur = rlim_t{1} << 30;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &lower), 0);
  std::size_t const left = exec::addresses_left();
  std::size_t const limit = exec::host_space(1).memory_limit();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_LT(left, std::size_t{1} << 30);
  EXPECT_GT(left, std::size_t{1} << 28);
  EXPECT_LE(limit, left / 2 + (1 << 20));
}

// A space that has few addresses.
class narrow_space {
 public:
  narrow_space(std::size_t most, std::vector<std::size_t>& asked) : most_(most), asked_(&asked) {}
  [[nodiscard]] std::size_t granularity() const { return 16; }
  [[nodiscard]] void* reserve(std::size_t bytes, exec::memory_kind, exec::use_rate) const {
    asked_->push_back(bytes);
    if (bytes > most_) throw error(error_code::out_of_memory, "too many addresses");
    return asked_;
  }
  void unreserve(void*, std::size_t, std::size_t, exec::memory_kind) const noexcept {}

 private:
  std::size_t most_;
  std::vector<std::size_t>* asked_;
};

TEST(reservation, makes_do_with_fewer_addresses) {
  using sizes = std::vector<std::size_t>;
  auto const reserve = [](std::size_t have, std::size_t least, std::size_t most, sizes& asked) {
    return exec::reservation<narrow_space>::between(narrow_space(have, asked), least, most).capacity();
  };
  sizes asked;
  EXPECT_EQ(reserve(1024, 64, 1024, asked), 1024u);
  EXPECT_EQ(asked, (sizes{1024}));
  asked.clear();
  EXPECT_EQ(reserve(300, 64, 1024, asked), 256u);
  EXPECT_EQ(asked, (sizes{1024, 512, 256}));
  asked.clear();
  EXPECT_EQ(reserve(200, 160, 1024, asked), 160u);
  EXPECT_EQ(asked, (sizes{1024, 512, 256, 160}));
  asked.clear();
  EXPECT_THROW((void)reserve(100, 160, 1024, asked), error);
  EXPECT_EQ(asked, (sizes{1024, 512, 256, 160}));
  asked.clear();
  EXPECT_THROW((void)reserve(100, 1024, 1024, asked), error);
  EXPECT_EQ(asked, (sizes{1024}));
}

}  // namespace

}  // namespace wyrm::tests
