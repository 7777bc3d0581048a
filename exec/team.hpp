// SPDX-License-Identifier: Apache-2.0
// Teams: tiles that run at the same time and can wait for each other, so that one launch does many small steps of which
// each needs the results of the one before. See for_team() in launch.hpp.
#pragma once

#include <concepts>
#include <type_traits>

namespace wyrm::exec {

/// What a tile knows of its team. Tiles are numbered 0 ... tiles()-1. sync() waits until all tiles have called it; all
/// memory accesses of the team before the call happen before those after it, also plain ones. All lanes of all tiles
/// call sync() equally often.
template <class T>
concept simple_team = requires(T const& t) {
  { t.rank() } -> std::convertible_to<unsigned>;
  { t.tiles() } -> std::convertible_to<unsigned>;
  t.sync();
};

/// Some of the tiles of a team are a part, which is a team as well: on a device, those of one block, whose sync() takes
/// a fraction of the time. A tile of the part calls part(); the others may wait in sync() of the whole team meanwhile.
template <class T>
concept team = simple_team<T> && requires(T const& t) {
  { t.in_part() } -> std::convertible_to<bool>;
  requires simple_team<std::remove_cvref_t<decltype(t.part())>>;
  { t.tiles_of_part() } -> std::convertible_to<unsigned>;
};

/// The team of one tile of one lane, on a host.
class scalar_team {
 public:
  static constexpr unsigned rank() { return 0; }
  static constexpr unsigned tiles() { return 1; }
  static void sync() {}
  static constexpr bool in_part() { return true; }
  static constexpr scalar_team part() { return {}; }
  static constexpr unsigned tiles_of_part() { return 1; }
};
static_assert(team<scalar_team>);

}  // namespace wyrm::exec
