// SPDX-License-Identifier: Apache-2.0
// The programs of Table 1 of GDM (SIGMETRICS 2014) by name, with their sizes.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "backprop.hpp"
#include "hash_join.hpp"
#include "hotspot.hpp"
#include "k_means.hpp"
#include "leak.hpp"
#include "matrix_expression.hpp"
#include "nearest.hpp"
#include "srad.hpp"

namespace wyrm::bench::gdm {

/// The device memory of the paper, in MB (section 6.1).
inline constexpr std::size_t paper_device = 1400;

struct table_entry {
  std::string_view name;
  std::size_t allocated;  // in all, in MB (Table 1)
  std::size_t footprint;  // at the same time, in MB
};
/// What theano allocates in all, in MB (Table 1).
inline constexpr std::size_t paper_leak = 4253;
/// Without theano.
inline constexpr std::array<table_entry, 7> paper_programs{{{backprop::name, 668, 668},
                                                            {hash_join::name, 2114, 2114 * 3 / 5},
                                                            {hotspot::name, 1316, 1316},
                                                            {k_means::name, 120, 120},
                                                            {matrix_expression::name, 658, 658},
                                                            {nearest::name, 1138, 1138},
                                                            {srad::name, 619, 619}}};

/// Whether two programs contend for memory, as the paper counts: by what they allocate. 14 of 21 pairs do.
[[nodiscard]] constexpr bool contend(table_entry const& a, table_entry const& b) {
  return a.allocated + b.allocated > paper_device;
}

/// The bytes that correspond to `megabytes` of the paper on a device with `device` bytes.
[[nodiscard]] constexpr std::size_t scaled(std::size_t megabytes, std::size_t device) {
  return device / paper_device * megabytes + device % paper_device * megabytes / paper_device;
}

/// Throws error(bad_argument) if there is no program of that name.
template <class Space>
[[nodiscard]] std::unique_ptr<any_program<Space>> make_program(std::string_view name, std::size_t bytes) {
  std::unique_ptr<any_program<Space>> made;
  auto const try_one = [&]<class Program>(std::type_identity<Program>) {
    if (name == Program::name) made = std::make_unique<program_on<Space, Program>>(bytes);
  };
  try_one(std::type_identity<backprop>{});
  try_one(std::type_identity<hash_join>{});
  try_one(std::type_identity<hotspot>{});
  try_one(std::type_identity<k_means>{});
  try_one(std::type_identity<matrix_expression>{});
  try_one(std::type_identity<nearest>{});
  try_one(std::type_identity<srad>{});
  if (!made) throw error(error_code::bad_argument, "there is no program '" + std::string(name) + "'");
  return made;
}

}  // namespace wyrm::bench::gdm
