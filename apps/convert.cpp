// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "../loaders/writers.hpp"
#include "load.hpp"
#include "output_paths.hpp"
#include "run.hpp"

namespace wyrm::apps {

void convert(graph_file const& from, std::string const& to) {
  loaders::refuse_unwritable(to);
  refuse_equal_paths(from, {{"OUT", to}});
  graph::edge_list list = load_file(from);
  if (from.ids == id_kind::internal) {
    list.first_id = 0;
    list.ids = {};
    list.names = {};
  }
  write_with_advice(list, to);
}

void write_with_advice(graph::edge_list const& list, std::string const& to) {
  auto const bytes = loaders::write(list, to);
  if (list.vertices > loaders::vertex_limit(bytes))
    std::cerr << "wyrm: warning: " << to << " has many vertices for its size; to read it, give --max-vertices "
              << list.vertices << '\n';
}

}  // namespace wyrm::apps
