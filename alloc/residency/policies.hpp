// SPDX-License-Identifier: Apache-2.0
// All replacement policies by name, for managers, tests and benchmarks.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "../../exec/error.hpp"
#include "gdm_base.hpp"
#include "lru.hpp"
#include "lru_cost.hpp"
#include "policy.hpp"

namespace wyrm::alloc::residency {

inline constexpr std::array<char const*, 3> policy_names{lru_cost::name, lru::name, gdm_base::name};

/// A policy of gdm-base has no options.
struct policy_options {
  lru_cost_options for_lru_cost;
  lru_options for_lru;
};

/// Throws error(bad_argument), which lists all names, if there is no policy of that name; and for invalid options.
[[nodiscard]] inline std::unique_ptr<policy> make_policy(std::string_view name, policy_options const& o = {}) {
  if (name == lru_cost::name) return std::make_unique<lru_cost>(o.for_lru_cost);
  if (name == lru::name) return std::make_unique<lru>(o.for_lru);
  if (name == gdm_base::name) return std::make_unique<gdm_base>();
  std::string known;
  for (char const* const one : policy_names) known += (known.empty() ? "" : ", ") + std::string(one);
  throw error(error_code::bad_argument,
              "there is no replacement policy '" + std::string(name) + "'; there are: " + known);
}

}  // namespace wyrm::alloc::residency
