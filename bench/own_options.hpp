// SPDX-License-Identifier: Apache-2.0
// The options that a benchmark has beside those of Google Benchmark, and their values: whole numbers, pairs of them,
// and lists. All functions throw error(bad_argument), whose text names the option, the value and the allowed range.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../exec/error.hpp"

namespace wyrm::bench {

/// A whole number from least to most.
[[nodiscard]] inline std::size_t number_of(std::string_view option, std::string_view text, std::size_t least,
                                           std::size_t most) {
  std::size_t value = 0;
  auto const [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw error(error_code::bad_argument, std::string(option) + ": '" + std::string(text) +
                                              "' is not a whole number from " + std::to_string(least) + " to " +
                                              std::to_string(most));
  return value;
}

/// SMALLEST:LARGEST, or one number for both, each from least to most.
[[nodiscard]] inline std::pair<std::size_t, std::size_t> range_of(std::string_view option, std::string_view text,
                                                                  std::size_t least, std::size_t most) {
  std::size_t const colon = text.find(':');
  std::size_t const smallest = number_of(option, text.substr(0, colon), least, most);
  if (colon == std::string_view::npos) return {smallest, smallest};
  std::size_t const largest = number_of(option, text.substr(colon + 1), least, most);
  if (largest < smallest)
    throw error(error_code::bad_argument, std::string(option) + ": '" + std::string(text) +
                                              "' begins with the larger number; write SMALLEST:LARGEST");
  return {smallest, largest};
}

/// The results of of_one(part) for the parts of a list, which are separated by commas.
template <class F>
[[nodiscard]] auto list_of(std::string_view text, F const& of_one) {
  std::vector<decltype(of_one(text))> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t const end = std::min(text.find(',', begin), text.size());
    all.push_back(of_one(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return all;
}
/// A list of whole numbers from least to most.
[[nodiscard]] inline std::vector<std::size_t> numbers_of(std::string_view option, std::string_view text,
                                                         std::size_t least, std::size_t most) {
  return list_of(text, [&](std::string_view part) { return number_of(option, part, least, most); });
}

/// Calls take(name, value) for each of the arguments `NAME VALUE` or `NAME=VALUE` with one of these names, and removes
/// them. The others stay, in their order, for Google Benchmark.
template <class F>
void take_options(int& argc, char** argv, std::initializer_list<std::string_view> names, F const& take) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view const argument = argv[i];
    bool is_own = false;
    for (std::string_view const name : names) {
      if (argument != name && !(argument.starts_with(name) && argument.substr(name.size()).starts_with('='))) continue;
      is_own = true;
      if (argument != name) {
        take(name, argument.substr(name.size() + 1));
      } else if (++i < argc) {
        take(name, std::string_view(argv[i]));
      } else {
        throw error(error_code::bad_argument, std::string(name) + " needs a value");
      }
    }
    if (!is_own) argv[kept++] = argv[i];
  }
  argc = std::min(argc, kept);
}

/// Runs f(), which returns the exit status of the program. An error is printed, and is exit status 2.
template <class F>
int exit_status(char const* program, F const& f) {
  try {
    return f();
  } catch (std::exception const& failed) {
    std::fprintf(stderr, "%s: %s\n", program, failed.what());
  }
  return 2;
}

}  // namespace wyrm::bench
