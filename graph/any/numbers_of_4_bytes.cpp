// SPDX-License-Identifier: Apache-2.0
// any_graph with values of 4 bytes.
#include "body.hpp"

namespace wyrm::graph {

template std::unique_ptr<any_graph::face> any_graph::make<any_number<4>>(exec::any_space const&, std::string_view,
                                                                         std::size_t, options const&);

}  // namespace wyrm::graph
