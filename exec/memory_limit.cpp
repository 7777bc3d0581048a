// SPDX-License-Identifier: Apache-2.0
#include "memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace wyrm::exec {

namespace {

std::size_t number_in(std::filesystem::path const& file) {
  std::size_t bytes = 0;
  return std::ifstream(file) >> bytes ? bytes : no_limit;
}

// The least number in the files `name` of a group and of all groups above it.
std::size_t least_in(std::filesystem::path const& mount, std::string const& group, char const* name) {
  std::size_t least = number_in(mount / name);
  std::filesystem::path above = mount;
  for (auto const& part : std::filesystem::path("/" + group).lexically_normal().relative_path())
    least = std::min(least, number_in((above /= part) / name));
  return least;
}

// Whether a list, separated by commas, has the word "memory".
bool has_memory(std::string const& controllers) {
  return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

std::size_t control_group_limit(std::filesystem::path const& groups, std::filesystem::path const& mount) {
  std::size_t least = no_limit;
  std::ifstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "hierarchy:controllers:group"
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string const controllers = line.substr(first + 1, second - first - 1);
    std::string const group = line.substr(second + 1);
    if (line.starts_with("0::")) least = std::min(least, least_in(mount, group, "memory.max"));
    if (has_memory(controllers)) least = std::min(least, least_in(mount / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

std::size_t memory_available(std::filesystem::path const& information) {
  std::ifstream lines(information);
  for (std::string line; std::getline(lines, line);) {  // "MemAvailable:   12345 kB"
    std::istringstream words(line);
    std::string name;
    std::size_t kib = 0;
    if (words >> name >> kib && name == "MemAvailable:") return kib << 10;
  }
  return no_limit;
}

std::size_t addresses_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  std::size_t const used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace wyrm::exec
