// SPDX-License-Identifier: Apache-2.0
// The base of the test suites whose graphs know the space on which algorithms read them.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "../support/graph_on.hpp"
#include "../support/spaces.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class graphs_test : public any_graph_test<Space> {
 protected:
  using graph_type = graph_on<Space>;

  /// The space for many small steps: on a host, waiting for other threads would take longer than their work.
  static Space one_thread() {
    if constexpr (std::is_same_v<Space, exec::host_space>)
      return exec::host_space(1);
    else
      return make_space<Space>();
  }
  static graph_type make(std::size_t n, std::vector<graph::edge> const& edges, bool directed = false,
                         bool loops = false, Space const& space = make_space<Space>()) {
    graph::options o{.directed = directed, .self_loops = loops};
    o.pool = any_graph_test<Space>::pool();
    graph_type g(space, n, o);
    g.insert(edges);
    return g;
  }
};

}  // namespace wyrm::tests
