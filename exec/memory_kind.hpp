// SPDX-License-Identifier: Apache-2.0
// Kinds of memory of a space: where its pages are, and whether the host, the device or both can access them. On a CPU
// all kinds are the same memory.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "error.hpp"

namespace wyrm::exec {

enum class memory_kind : std::uint8_t {
  device,   // memory of the device; the host reads and writes it by copies
  managed,  // CUDA managed memory: pages move between device and host, to where they are accessed
  host,     // pinned memory of the host, mapped into the device, which accesses it over the bus
};
inline constexpr std::array memory_kinds{memory_kind::device, memory_kind::managed, memory_kind::host};

/// How often kernels touch a byte of a range, compared with other ranges of the same owner: if not all of them fit, a
/// memory manager prefers those of a high rate.
enum class use_rate : std::uint8_t { normal, high };

[[nodiscard]] constexpr char const* to_string(memory_kind kind) {
  switch (kind) {
    case memory_kind::device: return "device";
    case memory_kind::managed: return "managed";
    case memory_kind::host: return "host";
  }
  return "unknown";
}
/// The kind of that name. Throws error(bad_argument), which lists all names, if there is none.
[[nodiscard]] inline memory_kind memory_kind_named(std::string_view name) {
  for (memory_kind const kind : memory_kinds)
    if (name == to_string(kind)) return kind;
  throw error(error_code::bad_argument,
              "there is no kind of memory '" + std::string(name) + "'; there are: device, managed, host");
}

/// Where pages of managed memory can be.
enum class memory_location : std::uint8_t { device, host };

/// Hints on how managed memory will be used; they never change what it contains.
enum class memory_advice : std::uint8_t {
  read_mostly,            // pages may have a copy in each location; the location of this advice has no meaning
  no_read_mostly,         // cancels read_mostly
  preferred_location,     // pages stay in the location as long as others can access them there
  no_preferred_location,  // cancels preferred_location
  accessed_by,            // pages are mapped for the location wherever they are, so that its accesses do not fault
  not_accessed_by,        // cancels accessed_by
};

}  // namespace wyrm::exec
