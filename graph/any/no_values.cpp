// SPDX-License-Identifier: Apache-2.0
// any_graph without values.
#include "body.hpp"

namespace wyrm::graph {

template std::unique_ptr<any_graph::face> any_graph::make<no_value>(exec::any_space const&, std::string_view,
                                                                    std::size_t, options const&);

}  // namespace wyrm::graph
