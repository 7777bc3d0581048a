// SPDX-License-Identifier: Apache-2.0
// The replacement policy of GDM-Base, the baseline of "GDM: Device Memory Management for GPGPU Computing" (SIGMETRICS
// 2014, section 6.4): traditional LRU, and every victim is written back. It has no COST section, signatures, heuristics
// or hints. GDM-Base also transfers data to the device at once instead of when a launch needs them; this is a task of
// the manager.
#pragma once

#include "lru.hpp"

namespace wyrm::alloc::residency {

class gdm_base final : public lru {
 public:
  static constexpr char const* name = "gdm-base";
  gdm_base() : lru({.writes = write_back::always, .use_hints = false}) {}
};

}  // namespace wyrm::alloc::residency
