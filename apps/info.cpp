// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "../alloc/registry.hpp"
#include "../exec/host_space.hpp"
#include "../graph/any_graph.hpp"
#include "machine.hpp"
#include "report.hpp"
#include "run.hpp"

namespace wyrm::apps {

namespace {

void describe_program() {
  build const b = this_build();
  machine const m = this_machine();
  std::cout << "wyrm " << b.version << " (" << b.type << ", " << b.compiler << ", host threads: " << b.host_threads
            << ", CUDA: " << (b.cuda ? "yes" : "no") << ")\n"
            << "devices:    cpu (" << m.cpu << ", " << m.cores << " logical cores)\n";
  for (std::string const& gpu : m.gpus) std::cout << "            " << gpu << '\n';
  std::cout << "allocators:";
  for (std::string const& name : graph::any_graph::allocators()) std::cout << ' ' << name;
  std::cout
      << "\nformats:    METIS, DIMACS10 (.graph, .metis), Matrix Market coordinate (.mtx), edge lists (.txt, "
         ".tsv, .edges,\n"
         "            .edgelist), GAP (.el, .wel, .sg, .wsg), Wyrm (.wyrm): read and written; edge lists with names "
         "of\n"
         "            columns (.csv), KONECT (out.*), DIMACS 9 (.gr), Graphalytics (.v, .e), JSON node-link (.json):\n"
         "            read; .gz, .bz2, .xz, .zst: read and written; .tar: read\n";
}

void describe_file(graph_file const& file) {
  graph::edge_list list = load_file(file);
  vertex_ids const ids(list, file.ids);
  // Every build has this allocator (WYRM_GRAPH_ALLOCATORS).
  graph::any_graph g(exec::host_space(), "malloc", list.vertices, {.directed = list.directed, .in_neighbours = false});
  graph::update_report const built = g.insert(list.edges);
  std::cout << file.name << '\n'
            << "  vertices               " << list.vertices << '\n'
            << "  ids                    " << ids.range() << '\n'
            << "  edges                  " << g.edges() << (list.directed ? " (directed)" : " (undirected)") << '\n'
            << "  weights                " << (list.weights.empty() ? "no" : "yes") << '\n'
            << "  times                  " << (list.times.empty() ? "no" : "yes") << '\n'
            << "  self-loops             " << built.self_loops << '\n'
            << "  duplicates             " << built.duplicates << '\n';
  print_degrees(std::cout, summarize_degrees(g.to_csr()));
}

}  // namespace

void info(graph_file const& file) {
  if (file.name.empty())
    describe_program();
  else
    describe_file(file);
}

}  // namespace wyrm::apps
