// SPDX-License-Identifier: Apache-2.0
#include "numbering.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "../../exec/bulk.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"

namespace wyrm::loaders::detail {

numbering::numbering(exec::host_space const& space, std::string const& file, std::span<std::uint64_t const> ids) {
  build(space, file, ids.size(), [=](std::size_t i) { return ids[i]; });
}

numbering::numbering(exec::host_space const& space, std::string const& file, std::span<graph::edge const> edges) {
  build(space, file, 2 * edges.size(),
        [=](std::size_t i) { return std::uint64_t{i % 2 == 0 ? edges[i / 2].source : edges[i / 2].target}; });
}

template <class F>
void numbering::build(exec::host_space const& space, std::string const& file, std::size_t ids, F const& id) {
  if (ids == 0) return;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < ids; ++i) largest = std::max(largest, id(i));
  if (largest / 64 <= ids) {
    bits_.resize(largest / 64 + 1);
    mark(space, ids, id);
  } else {
    ascending_.resize(ids);
    exec::for_each(space, ids, [&](std::size_t i) { ascending_[i] = id(i); });
    exec::host_bulk bulk(space);
    (void)bulk.sort(ascending_.data(), nullptr, ascending_.size(), 64);
    ascending_.erase(std::unique(ascending_.begin(), ascending_.end()), ascending_.end());
    size_ = ascending_.size();
  }
  if (size_ > graph::max_vertices) {
    throw error(error_code::bad_input, file + ": expected at most " + std::to_string(graph::max_vertices) +
                                           " different ids, found " + std::to_string(size_) +
                                           "; ids have 32 bits: take a part of the graph");
  }
}

template <class F>
void numbering::mark(exec::host_space const& space, std::size_t ids, F const& id) {
  exec::for_each(space, ids, [&](std::size_t i) {
    auto const value = id(i);
    std::atomic_ref<std::uint64_t> const word(bits_[value / 64]);
    auto const bit = std::uint64_t{1} << (value % 64);
    if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
  });
  ones_.reserve(bits_.size());
  for (auto const word : bits_) {
    ones_.push_back(size_);
    size_ += static_cast<std::size_t>(std::popcount(word));
  }
}

graph::vertex_id numbering::find(std::uint64_t id) const noexcept {
  if (bits_.empty()) {
    auto const at = std::lower_bound(ascending_.begin(), ascending_.end(), id);
    bool const found = at != ascending_.end() && *at == id;
    return found ? static_cast<graph::vertex_id>(at - ascending_.begin()) : no_vertex;
  }
  auto const word = id / 64;
  auto const bit = std::uint64_t{1} << (id % 64);
  if (word >= bits_.size() || (bits_[word] & bit) == 0) return no_vertex;
  return static_cast<graph::vertex_id>(ones_[word]) +
         static_cast<graph::vertex_id>(std::popcount(bits_[word] & (bit - 1)));
}

std::vector<std::uint64_t> numbering::ids() const {
  if (bits_.empty()) {
    bool const same = ascending_.empty() || ascending_.back() == size_ - 1;
    return same ? std::vector<std::uint64_t>() : ascending_;
  }
  std::vector<std::uint64_t> ids;
  if (bits_.size() == (size_ + 63) / 64 && find(size_ - 1) == size_ - 1) return ids;  // 0 ... size - 1
  ids.reserve(size_);
  for (std::size_t word = 0; word < bits_.size(); ++word)
    for (auto left = bits_[word]; left != 0; left &= left - 1)
      ids.push_back(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
  return ids;
}

}  // namespace wyrm::loaders::detail
