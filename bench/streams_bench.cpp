// SPDX-License-Identifier: Apache-2.0
// Times a stream of updates stage by stage; bench/streams.py runs it.
//   streams_bench write FILE VERTICES EDGES STEP [SEED] writes random edges, a line each, or without SEED a ring of
//                                                       all vertices; ids are multiples of STEP
//   streams_bench load FILE                             the parser of graph files alone
//   streams_bench read GRAPH UPDATES BATCH              the stream without a graph: reads updates, and groups them
//   streams_bench update GRAPH UPDATES BATCH DEVICE     the graph alone: applies batches that have been read before
//   streams_bench stream GRAPH UPDATES BATCH DEVICE     both at the same time, as `wyrm stream --algorithms none`
// UPDATES is a text, or gen:KIND,NAME=VALUE,... as for `wyrm stream`; DEVICE is cpu or cuda. Prints a line of JSON:
// seconds without loading and building GRAPH, the processor time in them, the numbers of updates and batches, the edges
// at the end, and the peak memory of the process in MiB.
#include <sys/resource.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../alloc/registry.hpp"
#include "../apps/update_reader.hpp"
#include "../apps/vertex_ids.hpp"
#include "../datasets/random.hpp"
#include "../datasets/read_ahead.hpp"
#include "../datasets/updates.hpp"
#include "../exec/device.hpp"
#include "../graph/any_graph.hpp"
#include "../loaders/loaders.hpp"

namespace {

using namespace wyrm;

struct figures {
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads
  std::uint64_t updates = 0;
  std::uint64_t batches = 0;
  std::uint64_t edges = 0;
};

template <class F>
void time_into(figures& of, F const& f) {
  auto const start = std::chrono::steady_clock::now();
  std::clock_t const cpu = std::clock();
  f();
  of.cpu_seconds += static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  of.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void apply(graph::any_graph& g, datasets::timed_batch const& batch) {
  (void)(batch.operations.empty() ? g.insert(batch.edges) : g.apply(batch.edges, batch.operations));
}

// A ring of all vertices, or random edges.
void write(std::string const& file, std::uint32_t vertices, std::uint64_t edges, std::uint64_t step,
           std::optional<std::uint64_t> seed) {
  std::ofstream out(file, std::ios::binary);
  datasets::random_numbers random(seed.value_or(0));
  auto const id = [&](std::uint64_t v) { return std::to_string(v * step); };
  std::string text;
  for (std::uint64_t i = 0; i < edges; ++i) {
    std::uint64_t const from = seed ? random.below(vertices) : i % vertices;
    std::uint64_t const to = seed ? random.below(vertices) : (i + 1) % vertices;
    text += id(from) + ' ' + id(to) + '\n';
    if (text.size() < 1 << 16 && i + 1 < edges) continue;
    out << text;
    text.clear();
  }
  if (!out.flush()) throw std::runtime_error(file + ": cannot be written");
}

figures load(std::string const& file) {
  figures f;
  time_into(f, [&] { f.updates = f.edges = loaders::load(file).edges.size(); });
  return f;
}

std::unique_ptr<datasets::update_source> source_of(std::string const& updates, graph::edge_list const& list,
                                                   apps::vertex_ids& ids) {
  constexpr std::string_view generated = "gen:";
  if (!updates.starts_with(generated))
    return std::make_unique<apps::update_reader>(apps::update_file{.name = updates, .fields = {}, .rejected = {}}, ids);
  std::vector<graph::vertex_id> targets;
  for (graph::edge const e : list.edges) targets.push_back(e.target);
  return std::make_unique<datasets::generated_updates>(
      datasets::generated_options::from(updates.substr(generated.size())), list.vertices, targets);
}

/// A graph, and the updates of its vertices.
struct stage {
  graph::edge_list list;
  apps::vertex_ids ids;
  std::unique_ptr<datasets::update_source> source;
  datasets::count_batches batches;

  stage(std::string const& graph, std::string const& updates, std::size_t batch)
      : list(loaders::load(graph)),
        ids(list, apps::id_kind::file),
        source(source_of(updates, list, ids)),
        batches(*source, batch) {
    ids.index();
  }
  [[nodiscard]] graph::any_graph build(std::string const& device) const {
    return graph::build(exec::make_space(device), alloc::default_name, list);
  }
};

void count(figures& f, datasets::timed_batch const& batch) {
  f.updates += batch.edges.size();
  ++f.batches;
}

figures read(stage& s) {
  figures f;
  time_into(f, [&] {
    datasets::read_ahead ahead(s.batches);
    for (datasets::timed_batch batch; ahead.next(batch);) count(f, batch);
  });
  return f;
}

figures update(stage& s, std::string const& device) {
  figures f;
  graph::any_graph g = s.build(device);
  std::vector<datasets::timed_batch> all(1);
  while (s.batches.next(all.back())) all.emplace_back();
  all.pop_back();
  time_into(f, [&] {
    for (datasets::timed_batch const& batch : all) apply(g, batch);
  });
  for (datasets::timed_batch const& batch : all) count(f, batch);
  f.edges = g.edges();
  return f;
}

figures stream(stage& s, std::string const& device) {
  figures f;
  graph::any_graph g = s.build(device);
  time_into(f, [&] {
    datasets::read_ahead ahead(s.batches);
    for (datasets::timed_batch batch; ahead.next(batch);) {
      apply(g, batch);
      count(f, batch);
    }
  });
  f.edges = g.edges();
  return f;
}

std::uint64_t number(std::string const& word) {
  std::uint64_t n = 0;
  auto const [end, failed] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (failed != std::errc() || end != word.data() + word.size()) throw std::runtime_error(word + " is not a number");
  return n;
}

bool run(std::span<std::string const> words) {
  std::string const what = words.empty() ? "" : words[0];
  if (what == "write" && (words.size() == 5 || words.size() == 6)) {
    write(words[1], static_cast<std::uint32_t>(number(words[2])), number(words[3]), number(words[4]),
          words.size() == 6 ? std::optional(number(words[5])) : std::nullopt);
    return true;
  }
  figures f;
  bool const updates = (what == "update" || what == "stream") && words.size() == 5;
  if (what == "load" && words.size() == 2) {
    f = load(words[1]);
  } else if (updates || (what == "read" && words.size() == 4)) {
    stage s(words[1], words[2], number(words[3]));
    f = what == "read" ? read(s) : what == "update" ? update(s, words[4]) : stream(s, words[4]);
  } else {
    return false;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"seconds\": %.3f, \"cpu_seconds\": %.3f, \"updates\": %llu, \"batches\": %llu, \"edges\": %llu, "
      "\"peak_mib\": %ld}\n",
      f.seconds, f.cpu_seconds, static_cast<unsigned long long>(f.updates), static_cast<unsigned long long>(f.batches),
      static_cast<unsigned long long>(f.edges), usage.ru_maxrss >> 10);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (run(std::vector<std::string>(argv + 1, argv + argc))) return 0;
    std::fprintf(stderr,
                 "usage: streams_bench write FILE VERTICES EDGES STEP [SEED] | load FILE | read GRAPH UPDATES BATCH | "
                 "update GRAPH UPDATES BATCH DEVICE | stream GRAPH UPDATES BATCH DEVICE\n");
    return 2;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
