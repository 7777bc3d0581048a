// SPDX-License-Identifier: Apache-2.0
// Teams: tiles that run at the same time and can wait for each other, so that one launch does many small steps of which
// each needs the results of the one before. See for_team() in launch.hpp.
#pragma once

#include <concepts>

namespace wyrm::exec {

/// What a tile knows of its team. Tiles are numbered 0 ... tiles()-1. sync() waits until all tiles have called it; all
/// memory accesses of the team before the call happen before those after it, also plain ones. All lanes of all tiles
/// call sync() equally often.
template <class T>
concept team = requires(T const& t) {
  { t.rank() } -> std::convertible_to<unsigned>;
  { t.tiles() } -> std::convertible_to<unsigned>;
  t.sync();
};

/// The team of one tile of one lane, on a host.
class scalar_team {
 public:
  static constexpr unsigned rank() { return 0; }
  static constexpr unsigned tiles() { return 1; }
  static void sync() {}
};
static_assert(team<scalar_team>);

}  // namespace wyrm::exec
