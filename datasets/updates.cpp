// SPDX-License-Identifier: Apache-2.0
#include "updates.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "../exec/host_space.hpp"
#include "../exec/launch.hpp"
#include "families.hpp"

namespace wyrm::datasets {

namespace {
constexpr std::size_t most_at_once = std::size_t{1} << 16;  // the caller may end the stream in between
}

std::vector<graph::edge> update_batch(update_kind kind, std::size_t vertices, std::size_t count, std::uint64_t seed) {
  std::vector<graph::edge> batch;
  update_batch(kind, vertices, count, seed, batch);
  return batch;
}

void update_batch(update_kind kind, std::size_t vertices, std::size_t count, std::uint64_t seed,
                  std::vector<graph::edge>& to) {
  if (vertices < 2 || vertices > graph::max_vertices)
    throw error(error_code::bad_argument, "random updates need between 2 and 2^32 - 1 vertices");
  auto const n = static_cast<std::uint32_t>(vertices);
  random_numbers random(seed);
  std::uint32_t const range = kind == update_kind::pressure ? std::min<std::uint32_t>(n, 1000) : n;
  std::uint32_t const first = random.below(n - range + 1);
  to.resize(count);
  exec::for_each(exec::host_space(), count, [=, edges = to.data()](std::size_t i) {
    random_numbers of_edge = random;
    of_edge.skip(2 * i);
    graph::edge& e = edges[i];
    e.source = first + of_edge.below(range);
    e.target = of_edge.below(n - 1);
    if (e.target >= e.source) ++e.target;  // uniform over all vertices but the source
  });
}

generated_options generated_options::from(std::string_view words) {
  using enum parameter_kind;
  static constexpr parameter parameters[] = {
      {"batches", whole, "10", 0, 1e9, "number of batches"},
      {"batch", whole, "100000", 1, 1e9, "updates of a batch"},
      {"erase", real, "0", 0, 1, "probability that an update erases an edge that the stream has inserted"},
      {"seed", whole, "1", 0, 0x1p64, "seed of the random numbers"},
  };
  static constexpr std::pair<std::string_view, stream_kind> kinds[] = {{"random", stream_kind::random},
                                                                       {"pressure", stream_kind::pressure},
                                                                       {"preferential", stream_kind::preferential},
                                                                       {"mix", stream_kind::mix}};
  description const d(words);
  auto const* const kind = std::ranges::find_if(kinds, [&](auto const& k) { return k.first == d.name; });
  if (kind == std::end(kinds))
    throw error(error_code::bad_argument,
                "there are no generated updates '" + d.name + "'; they are random, pressure, preferential or mix");
  arguments const a(d.name, parameters, d.values);
  return {kind->second, a.whole("batches"), a.whole("batch"), a.real("erase"), a.whole("seed")};
}

generated_updates::generated_updates(generated_options const& o, std::size_t vertices,
                                     std::span<graph::vertex_id const> arcs)
    : options_(o), vertices_(static_cast<std::uint32_t>(vertices)), random_(o.seed) {
  if (vertices < 2 || vertices > graph::max_vertices || o.batch == 0 || !(o.erase >= 0 && o.erase <= 1))
    throw error(error_code::bad_argument,
                "generated updates need between 2 and 2^32 - 1 vertices, a batch of at least one update, and a "
                "probability of erasures from 0 to 1");
  if (o.kind == stream_kind::preferential || o.kind == stream_kind::mix) ends_.assign(arcs.begin(), arcs.end());
}

bool generated_updates::prefers() const {
  return options_.kind == stream_kind::preferential || (options_.kind == stream_kind::mix && batch_ % 3 == 2);
}

void generated_updates::prepare() {
  bool const presses = options_.kind == stream_kind::pressure || (options_.kind == stream_kind::mix && batch_ % 3 == 1);
  if (prefers()) return;
  update_batch(presses ? update_kind::pressure : update_kind::random, vertices_, options_.batch, random_.next(),
               edges_);
}

update generated_updates::draw() {
  auto const time = static_cast<double>(batch_);
  bool const erases = options_.erase > 0 && !inserted_.empty() && random_.below(1u << 30) < options_.erase * 0x1p30;
  if (erases) {
    graph::edge& chosen = inserted_[scaled(random_.next(), inserted_.size())];
    graph::edge const e = chosen;
    chosen = inserted_.back();
    inserted_.pop_back();
    return {update_action::erase, e.source, e.target, 1, time};
  }
  graph::edge e{};
  if (prefers()) {
    e.source = random_.below(vertices_);
    e.target = ends_.empty() ? e.source : ends_[scaled(random_.next(), ends_.size())];
    if (e.target == e.source) {
      e.target = random_.below(vertices_ - 1);
      if (e.target >= e.source) ++e.target;
    }
  } else {
    e = edges_[at_];
  }
  if (options_.kind == stream_kind::preferential || options_.kind == stream_kind::mix)
    ends_.insert(ends_.end(), {e.source, e.target});
  if (options_.erase > 0) inserted_.push_back(e);
  return {update_action::insert, e.source, e.target, 1, time};
}

void generated_updates::take_edges(timed_batch& to, std::size_t most, bool keep_weights) {
  if (batch_ == options_.batches || at_ == options_.batch || most == 0) return;
  if (at_ == 0) prepare();
  most = std::min(most, options_.batch - at_);
  bool const are_prepared = options_.kind == stream_kind::random || options_.kind == stream_kind::pressure;
  if (are_prepared && options_.erase == 0 && !keep_weights && most == options_.batch && to.edges.empty()) {
    to.edges.swap(edges_);
    at_ = most;
    return;
  }
  for (std::size_t const stop = at_ + std::min(most, most_at_once); at_ < stop; ++at_) to.add(draw(), keep_weights);
}

bool generated_updates::next(update& to) {
  if (batch_ == options_.batches) return false;
  if (at_ == 0) prepare();
  if (at_ == options_.batch) {
    to = {.action = update_action::end_batch};
    ++batch_;
    at_ = 0;
    return true;
  }
  to = draw();
  ++at_;
  return true;
}

}  // namespace wyrm::datasets
