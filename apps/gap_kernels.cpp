// SPDX-License-Identifier: Apache-2.0
#include "gap_kernels.hpp"

#include <optional>
#include <variant>

#include "../algorithms/betweenness.hpp"
#include "../algorithms/bfs.hpp"
#include "../algorithms/components.hpp"
#include "../algorithms/pagerank.hpp"
#include "../algorithms/sssp.hpp"
#include "../algorithms/triangles.hpp"
#include "../exec/memory.hpp"

namespace wyrm::apps {

namespace {

template <class Space>
class gap_kernels_of final : public gap_kernels {
 public:
  gap_kernels_of(Space const& space, graph::any_graph const& g)
      : g_(g), space_(space), bfs_(space), sssp_(space), ranker_(space), betweenness_(space), counter_(space) {}

  void bfs(graph::vertex_id source) override {
    (void)bfs_.run(g_.view(), {&source, 1}, {.parents = true});
    space_.synchronize();
  }
  [[nodiscard]] std::vector<graph::vertex_id> parents() const override { return copy(bfs_.parent()); }
  void sssp(graph::vertex_id source) override {
    (void)sssp_.run(g_.view(), source);
    space_.synchronize();
  }
  [[nodiscard]] std::vector<double> distances() const override { return copy(sssp_.distance()); }
  void pagerank(double tolerance) override {
    using algorithms::rank_iteration;
    auto const iteration = g_.settings().directed ? rank_iteration::power : rank_iteration::chebyshev;
    (void)ranker_.run(g_.view(), {.tolerance = tolerance, .iteration = iteration});
    space_.synchronize();
  }
  [[nodiscard]] std::vector<double> ranks() const override {
    auto const ranks = copy(ranker_.rank());
    return {ranks.begin(), ranks.end()};
  }
  void components() override {
    components_.emplace(space_, g_.view());
    space_.synchronize();
  }
  [[nodiscard]] std::vector<graph::vertex_id> labels() const override { return components_->label(); }
  void betweenness(std::span<graph::vertex_id const> sources) override {
    betweenness_.run(g_.view(), sources, {.both_directions = true});
    space_.synchronize();
  }
  [[nodiscard]] std::vector<double> scores() const override { return copy(betweenness_.score()); }
  void triangles() override { total_ = counter_.count(g_.view()).total; }
  [[nodiscard]] std::uint64_t total() const override { return total_; }

 private:
  template <class T>
  [[nodiscard]] std::vector<T> copy(T const* values) const {
    return exec::copy_out(space_, values, g_.vertices());
  }

  graph::any_graph const& g_;
  Space space_;
  algorithms::bfs_searcher<Space> bfs_;
  algorithms::sssp_searcher<Space> sssp_;
  algorithms::pagerank_ranker<Space, float> ranker_;  // as in GAP's program
  algorithms::betweenness_scorer<Space> betweenness_;
  std::optional<algorithms::incremental_components<Space>> components_;
  algorithms::triangle_counter<Space> counter_;
  std::uint64_t total_ = 0;
};

}  // namespace

std::unique_ptr<gap_kernels> make_gap_kernels(graph::any_graph const& g) {
  return std::visit(
      [&]<class Space>(Space const& space) -> std::unique_ptr<gap_kernels> {
        return std::make_unique<gap_kernels_of<Space>>(space, g);
      },
      g.space());
}

}  // namespace wyrm::apps
