// SPDX-License-Identifier: Apache-2.0
#include "rank_emitter.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace wyrm::apps {

void rank_emitter::follow(datasets::timed_batch const& batch, std::vector<std::string> const& names) {
  for (std::string const& name : names) (void)ids_.add(name);
  // The graph removes all vertices of a batch by one call.
  for (std::size_t i = 0; i < batch.removed.size(); ++i) {
    graph::vertex_id const v = batch.removed[i];
    // The number of the vertex may be that of another one when ranks are printed next.
    if (v < printed_.size() && std::exchange(printed_[v], 0) > 0) removed_.push_back(entry(v, 0));
    ids_.remove(v, i > 0);
  }
}

emitted_rank rank_emitter::entry(graph::vertex_id v, double rank) const {
  emitted_rank e{v, {}, rank > 0 ? std::optional(rank) : std::nullopt};
  auto const id = ids_.in_file(v);
  if (auto const* const number = std::get_if<std::uint64_t>(&id))
    e.id = *number;
  else
    e.id = std::string(std::get<std::string_view>(id));
  return e;
}

std::vector<emitted_rank> rank_emitter::select(std::vector<double> const& rank) {
  std::vector<emitted_rank> selected;
  if (what_ == emission::top) {
    for (auto const& [v, value] : largest(rank, top_))
      if (value > 0) selected.push_back(entry(v, value));
    return selected;
  }
  if (what_ == emission::changes) {
    selected = std::exchange(removed_, {});
    printed_.resize(rank.size());
  }
  for (graph::vertex_id v = 0; v < rank.size(); ++v) {
    if (what_ == emission::changes) {
      double& printed = printed_[v];
      bool const is_new = printed == 0 && rank[v] > 0;
      if (!is_new && std::abs(rank[v] - printed) <= tolerance_) continue;
      printed = rank[v];
    } else if (!(rank[v] > 0)) {
      continue;
    }
    selected.push_back(entry(v, rank[v]));
  }
  return selected;
}

}  // namespace wyrm::apps
