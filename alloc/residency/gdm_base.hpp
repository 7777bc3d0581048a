// SPDX-License-Identifier: Apache-2.0
// The replacement of GDM-Base, with which "GDM: Device Memory Management for GPGPU Computing" (SIGMETRICS 2014, section
// 6.4) compares itself: traditional LRU, and every victim is written back. It lacks the COST section, signatures, the
// three heuristics, and hints. What GDM-Base does besides, transfers to the device at once instead of when a launch
// needs them, is the manager's part.
#pragma once

#include "lru.hpp"

namespace wyrm::alloc::residency {

class gdm_base final : public lru {
 public:
  static constexpr char const* name = "gdm-base";
  gdm_base() : lru({.writes = write_back::always, .use_hints = false}) {}
};

}  // namespace wyrm::alloc::residency
