// SPDX-License-Identifier: Apache-2.0
#include "walk.hpp"

#include <cstdint>
#include <iostream>

#include "../exec/device.hpp"
#include "../graph/any_graph.hpp"
#include "../loaders/output_file.hpp"
#include "../loaders/quoted.hpp"
#include "insertion.hpp"
#include "loaded_graph.hpp"
#include "output_paths.hpp"

namespace wyrm::apps {

namespace {

std::vector<graph::vertex_id> find_starts(std::vector<std::string> const& lists, vertex_ids const& ids) {
  std::vector<graph::vertex_id> starts;
  for (std::string_view rest : lists) {
    for (bool more = true; more;) {
      std::string_view const word = rest.starts_with(',') ? std::string_view() : take_word(rest, ",");
      auto const start = ids.find(word);
      if (!start)
        throw error(error_code::bad_argument, "--starts: expected a vertex (" + ids.range() + "), found " +
                                                  loaders::quoted(word) + "; give ids with commas between them");
      starts.push_back(*start);
      more = rest.starts_with(',');
      if (more) rest.remove_prefix(1);
    }
  }
  return starts;
}

void write_walks(loaders::output_file& file, algorithms::walk_paths const& paths, vertex_ids const& ids) {
  for (std::size_t w = 0; w + 1 < paths.offsets.size(); ++w)
    for (std::uint64_t i = paths.offsets[w]; i < paths.offsets[w + 1]; ++i) {
      file.write(ids.text(paths.vertices[i]));
      file.write(i + 1 < paths.offsets[w + 1] ? " " : "\n");
    }
}

}  // namespace

void walk(walk_command const& c) {
  refuse_equal_paths(c.file, {{"--walks", c.walks}});
  loaders::output_file file("the walks", c.walks);
  auto const bound = c.bound();
  exec::any_space const space = c.space(bound.get());
  graph::edge_list list = load_file(c.file, c.generating_space(space));
  vertex_ids const ids(list, c.file.ids);
  if (c.weighted) prepare_weights(c.file, list, ids);
  graph::any_graph g(space, alloc::default_name, list.vertices, c.settings(list.directed, c.weighted));
  (void)insert_all(g, list.edges, c.weighted ? graph::host_numbers(list.weights) : graph::host_numbers(), bound.get());
  algorithms::random_walk_options o = c.walk;
  o.starts = find_starts(c.starts, ids);
  o.weighted = c.weighted;
  algorithms::walk_paths paths;
  double const ms = timed([&] { paths = algorithms::random_walks(g, o); });
  auto const walks = paths.offsets.size() - 1;
  auto const steps = paths.vertices.size() - walks;
  std::cout << c.file.name << " on " << exec::describe(space) << '\n'
            << "  vertices               " << g.vertices() << '\n'
            << "  edges                  " << g.edges() << (list.directed ? " (directed)" : " (undirected)") << '\n'
            << "  walks                  " << walks << '\n'
            << "  steps                  " << steps << '\n'
            << "  milliseconds           " << ms << " (transfer of paths to the host included)\n"
            << std::flush;  // the file may be /dev/stdout
  write_walks(file, paths, ids);
  file.finish();
  file.commit();
}

}  // namespace wyrm::apps
