// SPDX-License-Identifier: Apache-2.0
// The targets of the jumps of maintained ranks, see incremental_pagerank: given vertices with weights. A vertex that is
// removed from the graph leaves the set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/types.hpp"
#include "../../graph/update/vertices.hpp"
#include "../../graph/view.hpp"
#include "../pagerank.hpp"

namespace wyrm::algorithms::detail {

/// One thread per source.
struct set_bases {
  graph::vertex_id const* sources;
  std::int64_t const* values;
  std::int64_t* bases;
  WYRM_HD void operator()(std::size_t i) const { bases[sources[i]] = values[i]; }
};

/// Keeps the sources in the order of their ids, each once. 13 bytes of the space per source. Not thread-safe.
template <class Space>
class rank_sources {
 public:
  /// Throws error(bad_argument), which begins with `who`, for a source that is not in the graph, and for weights that
  /// are negative, not finite, or 0 in total.
  rank_sources(Space const& space, graph::graph_view const& g, std::vector<weighted_source> given,
               std::string const& who)
      : space_(space), is_given_(!given.empty()), vertices_(space), values_(space), absent_(space) {
    auto const refuse = [&](std::string const& why) { throw error(error_code::bad_argument, who + ": " + why); };
    auto const refuse_source = [&](weighted_source const& s, std::string const& why) {
      refuse("the source " + std::to_string(s.vertex) + " with the weight " + std::to_string(s.weight) + " " + why);
    };
    double sum = 0;
    for (weighted_source const& s : given) {
      if (s.vertex >= g.vertices())
        refuse_source(s, "is no vertex of the graph, which has " + std::to_string(g.vertices()));
      if (!(s.weight >= 0) || std::isinf(s.weight)) refuse_source(s, "must have a finite weight that is not negative");
      sum += s.weight;
    }
    if (is_given_ && (!(sum > 0) || std::isinf(sum)))
      refuse("the sum of the weights of sources must be positive and finite");
    std::ranges::stable_sort(given, {}, &weighted_source::vertex);
    for (weighted_source const& s : given) {
      if (s.weight == 0) continue;
      if (!all_.empty() && all_.back().vertex == s.vertex)
        all_.back().weight += s.weight;
      else
        all_.push_back(s);
    }
    vertices_.reserve(all_.size());
    values_.reserve(all_.size());
    absent_.reserve(all_.size());
    std::size_t const before = all_.size();
    std::vector<weighted_source> const listed = all_;
    drop_absent(g);
    if (all_.size() < before)
      refuse_source(*std::ranges::mismatch(listed, all_, {}, &weighted_source::vertex, &weighted_source::vertex).in1,
                    "was removed from the graph");
  }

  /// Whether there are sources, or jumps go to any vertex.
  [[nodiscard]] bool is_given() const { return is_given_; }
  /// The sources that are left.
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// Drops all sources.
  void clear() { all_.clear(); }

  /// Whether a source is among n vertices in memory of the space. Waits for the space.
  [[nodiscard]] bool has_any(graph::vertex_id const* vertices, std::size_t n) const {
    if (n == 0 || all_.empty()) return false;
    auto const listed = exec::copy_out(space_, vertices, n);
    return std::ranges::any_of(
        listed, [&](graph::vertex_id v) { return std::ranges::binary_search(all_, v, {}, &weighted_source::vertex); });
  }
  /// Drops sources that are not in the graph, and divides `unit` among the others: writes the base of each vertex.
  /// Requests no memory of the space.
  void write_bases(graph::graph_view const& g, double unit, std::int64_t* bases) {
    drop_absent(g);
    space_.fill(bases, 0, g.vertices() * sizeof(std::int64_t));
    double sum = 0;
    for (weighted_source const& s : all_) sum += s.weight;
    std::vector<std::int64_t> values;
    for (weighted_source const& s : all_) values.push_back(std::llround(s.weight / sum * unit));
    upload_vertices();
    if (!values.empty()) exec::copy_in<std::int64_t>(space_, values_.data(), values);
    exec::for_each(space_, all_.size(), set_bases{vertices_.data(), values_.data(), bases});
  }

 private:
  void upload_vertices() const {
    std::vector<graph::vertex_id> ids;
    for (weighted_source const& s : all_) ids.push_back(s.vertex);
    if (!ids.empty()) exec::copy_in<graph::vertex_id>(space_, vertices_.data(), ids);
  }
  void drop_absent(graph::graph_view const& g) {
    std::erase_if(all_, [&](weighted_source const& s) { return s.vertex >= g.vertices(); });
    if (all_.empty()) return;
    upload_vertices();
    exec::for_each(space_, all_.size(), graph::detail::find_absent{g.out_records(), vertices_.data(), absent_.data()});
    auto const absent = exec::copy_out(space_, absent_.data(), all_.size());
    auto at = absent.begin();
    std::erase_if(all_, [&](weighted_source const&) { return *at++ != 0; });
  }

  Space space_;
  bool is_given_;
  std::vector<weighted_source> all_;
  exec::buffer<graph::vertex_id, Space> vertices_;
  exec::buffer<std::int64_t, Space> values_;
  exec::buffer<std::uint8_t, Space> absent_;
};

}  // namespace wyrm::algorithms::detail
