// SPDX-License-Identifier: Apache-2.0
#include "../loaders/writers.hpp"
#include "load.hpp"
#include "output_paths.hpp"
#include "run.hpp"

namespace wyrm::apps {

void convert(graph_file const& from, std::string const& to) {
  loaders::refuse_unwritten_format(to);
  refuse_equal_paths(from, {{"OUT", to}});
  loaders::write(load_file(from), to);
}

}  // namespace wyrm::apps
