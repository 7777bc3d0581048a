// SPDX-License-Identifier: Apache-2.0
// The command lines of the benchmarks of residency, and what both of them compute.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "../../exec/error.hpp"
#include "../own_options.hpp"

namespace wyrm::bench::gdm {

[[nodiscard]] inline double mib_of(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
/// 0 if there are no values.
[[nodiscard]] inline double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

struct settings {
  std::size_t mib = 0;  // --size; 0: as usual
  std::string graph;    // --graph; empty: as usual
  unsigned repeats = 0;
  bool is_quick = false;
  std::string only;
  std::string space;  // cpu, cuda, or empty: cuda if there is one
  std::string json;
};

/// Throws error(bad_argument) for all but whole numbers from 1 to `most`.
[[nodiscard]] inline std::size_t number_of(std::string_view option, std::string_view text, std::size_t most) {
  return bench::number_of(option, text, 1, most);
}

/// own: the option that this program has beside the common ones, --size MIB or --graph NAME. Throws
/// error(bad_argument).
[[nodiscard]] inline settings parse(int argc, char const* const* argv, std::string const& program,
                                    std::string const& own, unsigned usual_repeats) {
  settings s;
  for (int i = 1; i < argc; ++i) {
    std::string const option = argv[i];
    auto const value = [&]() -> std::string {
      if (i + 1 == argc) throw error(error_code::bad_argument, option + " needs a value");
      return argv[++i];
    };
    if (option == "--quick") {
      s.is_quick = true;
    } else if (option == "--repeat") {
      s.repeats = static_cast<unsigned>(number_of(option, value(), 1000));
    } else if (option == "--only") {
      s.only = value();
    } else if (option == "--space") {
      s.space = value();
      if (s.space != "cpu" && s.space != "cuda")
        throw error(error_code::bad_argument, "--space: '" + s.space + "' is neither cpu nor cuda");
    } else if (option == "--json") {
      s.json = value();
    } else if (own.starts_with(option + " ") && option == "--size") {
      s.mib = number_of(option, value(), std::size_t{32} << 10);  // so that words have numbers of 32 bits
    } else if (own.starts_with(option + " ") && option == "--graph") {
      s.graph = value();
    } else {
      throw error(error_code::bad_argument, "unknown option '" + option + "'; usage: " + program + " [" + own +
                                                "] [--repeat N] [--only TEXT] [--quick] [--space cpu|cuda] "
                                                "[--json FILE]");
    }
  }
  if (s.repeats == 0) s.repeats = s.is_quick ? 1 : usual_repeats;
  return s;
}

/// Runs f(), which returns the exit status of the program. An error is printed, and is exit status 2. `size`: the
/// option that makes a run smaller.
template <class F>
int exit_status(char const* program, char const* size, F const& f) {
  try {
    return f();
  } catch (std::bad_alloc const&) {
    std::fprintf(stderr, "%s: the host has too little memory; use a smaller %s\n", program, size);
  } catch (std::exception const& failed) {
    std::fprintf(stderr, "%s: %s\n", program, failed.what());
  }
  return 2;
}

}  // namespace wyrm::bench::gdm
