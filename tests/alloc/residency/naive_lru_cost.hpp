// SPDX-License-Identifier: Apache-2.0
// LRU-COST as the paper describes it (section 4.4), with lists that are searched and sorted each time.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "../../../alloc/residency/lru_cost.hpp"

namespace wyrm::tests {

using namespace alloc::residency;

class naive_lru_cost {
 public:
  explicit naive_lru_cost(lru_cost_options const& o) : options(o) {}

  std::set<block_number> resident;
  std::set<block_number> written;  // really, since the load
  policy_statistics counts;

  [[nodiscard]] bool in_use(block_number b) const {
    return std::any_of(launches.begin(), launches.end(), [&](auto const& l) { return l.second.contains(b); });
  }
  [[nodiscard]] std::vector<launch_number> running() const {
    std::vector<launch_number> all;
    for (auto const& l : launches) all.push_back(l.first);
    return all;
  }

  void load(block_number b, object_number object) {
    if (object_of.contains(b) && object_of[b] != object) last_found.erase(b);
    resident.insert(b);
    object_of[b] = object;
    time[b] = ++now;
    status[b] = block_contents::clean;
    by_copy.erase(b);
  }
  void use(std::vector<block_number> const& blocks, launch_number launch, bool writes, use_hint hint) {
    launches[launch];
    for (block_number const b : blocks) {
      launches[launch].insert(b);
      std::erase(cost_section, b);
      if (hint == use_hint::once)
        time[b] = ++now_once - 1'000'000'000;
      else
        time[b] = ++now + (hint == use_hint::hot ? static_cast<long>(resident.size()) : 0);
      if (writes && status[b] == block_contents::clean) {
        status[b] = block_contents::unknown;
        by_copy.erase(b);
      }
    }
  }
  void finish(launch_number launch) { launches.erase(launch); }
  void overwrite(block_number b) {
    if (options.overwrite_elimination) {
      if (in_cost(b) && status[b] == block_contents::unknown) ++counts.saved_by_overwrite;
      overwrite_history.insert(b);
    }
    leave(b);
  }
  void copy_out(block_number b) {
    if (!in_use(b)) written.erase(b);
    if (!options.double_transfer_avoidance) return;
    copy_history.insert(b);
    if (in_use(b)) return;
    if (status[b] == block_contents::unknown) {
      if (in_cost(b))
        ++counts.saved_by_copy;
      else
        by_copy.insert(b);
    }
    status[b] = block_contents::clean;
  }
  void evict(victim const& v) {
    ++(v.write_back ? counts.evictions_dirty : counts.evictions_clean);
    leave(v.block);
  }
  void leave(block_number b) {
    resident.erase(b);
    written.erase(b);
    std::erase(cost_section, b);
    for (auto& [launch, blocks] : launches) blocks.erase(b);
  }

  /// The victim, and the blocks that are compared to find it.
  std::pair<std::optional<victim>, std::set<block_number>> choose() {
    std::set<block_number> compared;
    auto const compare = [&](block_number b) {
      compared.insert(b);
      ++counts.signatures;
      status[b] = last_found[b] = written.contains(b) ? block_contents::dirty : block_contents::clean;
    };
    if (cost_section.empty()) fill(compare);
    if (cost_section.empty()) return {};
    std::sort(cost_section.begin(), cost_section.end(), [this](block_number a, block_number b) {
      return std::tuple(cost(a), time[a], a) < std::tuple(cost(b), time[b], b);
    });
    block_number const b = cost_section.front();
    bool const in_vain = cost(b) >= 2;
    if (status[b] == block_contents::unknown) compare(b);
    if (in_vain) {
      counts.mispredicted_overwrites += overwrite_history.erase(b);
      counts.mispredicted_copies += copy_history.erase(b);
    }
    return {victim{b, status[b] == block_contents::dirty}, compared};
  }

 private:
  template <class Compare>
  void fill(Compare const& compare) {
    std::vector<block_number> lru;
    for (block_number const b : resident)
      if (!in_use(b)) lru.push_back(b);
    std::sort(lru.begin(), lru.end(), [this](auto a, auto b) { return std::pair(time[a], a) < std::pair(time[b], b); });
    auto const most = static_cast<std::size_t>(options.selection_factor * static_cast<double>(resident.size()));
    lru.resize(std::min(lru.size(), std::max<std::size_t>(most, 1)));
    cost_section = lru;
    auto const to_compare = [this](block_number b) {
      return status[b] == block_contents::unknown && !copy_history.contains(b) && !overwrite_history.contains(b);
    };
    for (block_number const b : cost_section)
      if (status[b] == block_contents::clean) last_found[b] = block_contents::clean;
    for (block_number const b : cost_section)
      if (to_compare(b) && (!options.uniformity || is_sample(b))) compare(b);
    std::vector<block_number> assumed;
    for (block_number const b : cost_section)
      if (to_compare(b) && samples_are_dirty(object_of[b])) assumed.push_back(b);
    for (block_number const b : cost_section) {
      if (!to_compare(b)) continue;
      if (options.uniformity && std::find(assumed.begin(), assumed.end(), b) != assumed.end()) {
        ++counts.saved_by_uniformity;
        status[b] = block_contents::dirty;
      } else {
        compare(b);
      }
    }
    for (block_number const b : cost_section) counts.saved_by_copy += by_copy.erase(b);
  }

  [[nodiscard]] std::vector<block_number> samples(object_number o) const {
    std::vector<block_number> all;
    for (auto const& [b, object] : object_of)
      if (object == o) all.push_back(b);
    return {all.front(), all[all.size() / 2], all.back()};
  }
  [[nodiscard]] bool is_sample(block_number b) {
    auto const three = samples(object_of[b]);
    return std::find(three.begin(), three.end(), b) != three.end();
  }
  [[nodiscard]] bool samples_are_dirty(object_number o) {
    auto const three = samples(o);
    return std::all_of(three.begin(), three.end(),
                       [this](auto b) { return last_found.contains(b) && last_found[b] == block_contents::dirty; });
  }
  [[nodiscard]] bool in_cost(block_number b) const {
    return std::find(cost_section.begin(), cost_section.end(), b) != cost_section.end();
  }

  // 0 clean, 1 dirty, 2 a copy is expected, 3 an overwrite is expected.
  [[nodiscard]] int cost(block_number b) {
    if (status[b] == block_contents::clean) return 0;
    return overwrite_history.contains(b) ? 3 : copy_history.contains(b) ? 2 : 1;
  }

  lru_cost_options options;
  std::map<launch_number, std::set<block_number>> launches;
  std::map<block_number, object_number> object_of;
  std::map<block_number, long> time;
  std::map<block_number, block_contents> status;
  std::map<block_number, block_contents> last_found;
  std::set<block_number> by_copy;
  std::set<block_number> copy_history;
  std::set<block_number> overwrite_history;
  std::vector<block_number> cost_section;
  long now = 0;
  long now_once = 0;
};

}  // namespace wyrm::tests
