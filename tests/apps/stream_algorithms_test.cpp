// SPDX-License-Identifier: Apache-2.0
// Tests the results of `wyrm stream --algorithms` beside PageRank and triangles. Expected values are literals, and
// those of `wyrm run` on the final graph, which a model of the updates writes to a file.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../support/seed.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

strings operator+(strings all, strings const& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<report> json_lines(std::string const& out) {
  std::istringstream in(out);
  std::vector<report> all;
  for (std::string line; std::getline(in, line);) all.emplace_back(line);
  return all;
}

/// One field of all lines; ~0 for null.
std::vector<std::uint64_t> field_of(std::vector<report> const& lines, std::string const& algorithm,
                                    std::string const& name) {
  std::vector<std::uint64_t> all;
  for (report const& line : lines)
    all.push_back(line.at(algorithm).IsNull() ? ~std::uint64_t{0} : line.count(algorithm + '/' + name));
  return all;
}

using counts = std::vector<std::uint64_t>;
constexpr std::uint64_t null = ~std::uint64_t{0};

/// Weighted edges; the last weight of an edge counts.
struct weighted_edges {
  bool directed;
  std::map<std::pair<unsigned, unsigned>, unsigned> all = {};

  /// Random updates of the vertices 1 to n, in batches of which only some erase.
  [[nodiscard]] std::string update(unsigned n, std::uint32_t seed) {
    std::mt19937 random(seeded(seed));
    std::ostringstream text;
    for (int batch = 0; batch < 12; ++batch, text << '\n')
      for (unsigned i = 0; i < 15; ++i) {
        std::pair<unsigned, unsigned> e{1 + random() % n, 1 + random() % n};
        auto const weight = static_cast<unsigned>(random() % 20);
        bool const erases = batch % 3 == 2 && random() % 2 == 0;
        text << (erases ? "- " : "+ ") << e.first << ' ' << e.second;
        if (!erases) text << ' ' << weight << " 0";
        text << '\n';
        if (e.first == e.second) continue;
        if (!directed && e.first < e.second) std::swap(e.first, e.second);
        erases ? (void)all.erase(e) : (void)all.insert_or_assign(e, weight);
      }
    return text.str();
  }
  [[nodiscard]] std::string matrix_market(unsigned n) const {
    std::ostringstream text;
    text << "%%MatrixMarket matrix coordinate real " << (directed ? "general" : "symmetric") << '\n'
         << n << ' ' << n << ' ' << all.size() << '\n';
    for (auto const& [e, weight] : all) text << e.first << ' ' << e.second << ' ' << weight << '\n';
    return text.str();
  }
};

TEST_F(program_test, maintained_results_equal_those_of_the_final_graph) {
  constexpr unsigned n = 40;
  std::filesystem::create_directory(path("stream"));
  std::filesystem::create_directory(path("run"));
  for (bool const directed : {false, true})
    for (bool const weighted : {false, true})
      for (char const* const every : {"1", "5"}) {
        SCOPED_TRACE(std::string(directed ? "directed" : "undirected") + (weighted ? ", weighted" : "") + ", " + every);
        strings names{"components", "bfs", "sssp"};
        if (!directed) names.emplace_back("core-numbers");
        std::string list;
        for (std::string const& name : names) list += (list.empty() ? "" : ",") + name;
        weighted_edges graph{directed, {{{2, 1}, 3}, {{4, 2}, 1}}};
        std::string const file = write("begin.mtx", graph.matrix_market(n));
        std::string const updates = write("updates.txt", graph.update(n, 53));
        strings more{"--algorithms", list, "--source", "7"};
        if (weighted) more.emplace_back("--weighted");
        std::string const out = output(strings{"stream", file, updates, "--every", every, "--check", "--top", "2",
                                               "--output", path("stream"), "--report", path("stream.json")} +
                                       more);
        report const maintained(read("stream.json"));
        report const computed = run(write("end.mtx", graph.matrix_market(n)),
                                    strings{"--rounds", "0", "--top", "2", "--output", path("run")} + more);
        for (std::string const& name : names) {
          EXPECT_EQ(read("stream/" + name + ".txt"), read("run/" + name + ".txt")) << name;
          auto fields = [&](report const& r) {
            std::map<std::string, std::string> all;
            add_fields(r.at("algorithms/" + name), "", all);
            all.erase("after_updates");
            return all;
          };
          EXPECT_EQ(fields(maintained), fields(computed)) << name;
          for (char const* const field : {"count", "largest", "degeneracy", "reached", "depth", "source", "source_id"})
            if (maintained.at("algorithms/" + name).HasMember(field)) {
              EXPECT_EQ(maintained.at("algorithms/" + name + '/' + field),
                        computed.at("algorithms/" + name + '/' + field))
                  << name << ' ' << field;
            }
        }
        EXPECT_EQ(row(out, "source"), "vertex 7");
        EXPECT_TRUE(maintained.at("algorithms/pagerank").IsNull());
      }
}

/// Two triangles with an edge between them, 3 - 4, and an isolated vertex.
constexpr char const* two_triangles = "7 7\n2 3\n1 3\n1 2 4\n3 5 6\n4 6\n4 5\n\n";
strings const all_names{"--algorithms", "components,core-numbers,bfs,sssp,label-propagation", "--check"};

TEST_F(program_test, prints_the_figures_of_maintained_results) {
  std::string const file = write("two.graph", two_triangles);
  std::string const updates = write("updates.txt", "- 3 4\n\n+ 1 4\n+ 2 4\n+ 3 4\n\n+ 6 7\n\n");
  strings const stream{"stream", file, updates, "--source", "1", "--print", "json"};
  auto const lines = json_lines(output(stream + all_names));
  EXPECT_EQ(field_of(lines, "components", "count"), (counts{3, 2, 1}));
  EXPECT_EQ(field_of(lines, "components", "largest"), (counts{3, 6, 7}));
  EXPECT_EQ(field_of(lines, "core-numbers", "degeneracy"), (counts{2, 3, 3}));
  EXPECT_EQ(field_of(lines, "bfs", "reached"), (counts{3, 6, 7}));
  EXPECT_EQ(field_of(lines, "bfs", "depth"), (counts{1, 2, 3}));
  EXPECT_EQ(field_of(lines, "sssp", "reached"), (counts{3, 6, 7}));
  EXPECT_EQ(lines.at(2).number("sssp/depth"), 3);
  EXPECT_EQ(lines.at(0).count("label-propagation/count"), 3u) << "two triangles and a vertex";
  EXPECT_EQ(lines.at(0).count("label-propagation/largest"), 3u);
  EXPECT_TRUE(lines.at(0).at("pagerank").IsNull());

  auto const seldom = json_lines(output(stream + strings{"--every", "2"} + all_names));
  EXPECT_EQ(field_of(seldom, "components", "count"), (counts{null, 2, null}));
  EXPECT_EQ(field_of(seldom, "core-numbers", "degeneracy"), (counts{null, 3, null}));
  EXPECT_EQ(field_of(seldom, "bfs", "depth"), (counts{null, 2, null}));
  EXPECT_TRUE(seldom.at(0).at("label-propagation").IsNull());

  std::string const table = output(strings{"stream", file, updates, "--source", "1", "--top", "1"} + all_names);
  EXPECT_EQ(row(table, "components"), "1, 7 vertices in the largest");
  EXPECT_EQ(row(table, "core numbers"), "greatest 3");
  EXPECT_EQ(row(table, "BFS"), "7 reached, greatest distance 3");
  EXPECT_EQ(row(table, "shortest paths"), "7 reached, greatest distance 3");
  EXPECT_EQ(row(table, "greatest core numbers"), "3 at vertex 1");
  EXPECT_EQ(row(table, "source"), "vertex 1");
}

TEST_F(program_test, maintains_clusters) {
  // Two triangles, which lose the edge between them; 7 is removed.
  std::string const file = write("two.graph", two_triangles);
  strings const stream{"stream", file, "--algorithms", "clustering"};
  auto const lines = json_lines(output(stream + strings{"--print", "json", "--check"}, "- 3 4\n\n-v 7\n\n"));
  EXPECT_EQ(field_of(lines, "clustering", "count"), (counts{3, 2}));
  EXPECT_NEAR(lines.at(1).number("clustering/modularity"), 0.5, 1e-12);
  std::string const seldom = output(stream + strings{"--every", "2"}, "- 3 4\n");
  EXPECT_TRUE(row(seldom, "clusters").starts_with("3, modularity 0.5, ")) << seldom;
  expect_refused(2, "the algorithm clustering cannot be maintained by weights",
                 stream + strings{"/dev/null", "--weighted"});
}

TEST_F(program_test, default_output_has_no_further_results) {
  std::string const file = write("two.graph", two_triangles);
  auto const lines = json_lines(output({"stream", file, "--print", "json"}, "1 4\n"));
  for (char const* const name : {"components", "core-numbers", "bfs", "sssp", "clustering", "label-propagation"})
    EXPECT_FALSE(lines.at(0).all().HasMember(name)) << name;
  EXPECT_FALSE(lines.at(0).at("pagerank").IsNull());
}

TEST_F(program_test, maintained_results_follow_vertices) {
  std::string const file = write("two.graph", two_triangles);
  // The neighbours of 5 keep a label, whichever it is.
  std::string const updates = "- 3 4\n\n-v 5\n\n-v 7\n\n90 4\n90 6\n\n-v 1\n\n";
  auto const lines = json_lines(output(strings{"stream", file, "--add-vertices", "--print", "json", "--source", "1",
                                               "--output", path(""), "--report", path("report.json")} +
                                           all_names,
                                       updates));
  EXPECT_EQ(field_of(lines, "components", "count"), (counts{3, 3, 2, 2, 2}));
  EXPECT_EQ(field_of(lines, "label-propagation", "count"), (counts{3, 3, 2, 2, 2}));
  EXPECT_EQ(field_of(lines, "label-propagation", "largest"), (counts{3, 3, 3, 3, 3}));
  EXPECT_EQ(field_of(lines, "core-numbers", "degeneracy"), (counts{2, 2, 2, 2, 2}));
  EXPECT_EQ(field_of(lines, "bfs", "depth"), (counts{1, 1, 1, 1, 0})) << "the source is removed";
  report const r(read("report.json"));
  EXPECT_EQ(r.count("algorithms/components/count"), 2u);
  EXPECT_EQ(r.count("algorithms/label-propagation/count"), 2u);
}

// Each label is among the most frequent ones of the neighbours.
TEST_F(program_test, maintains_labels) {
  constexpr unsigned n = 200;
  weighted_edges graph{false};
  std::string const file = write("begin.mtx", graph.matrix_market(n));
  std::string const updates = write("updates.txt", graph.update(n, 59));
  for (char const* const every : {"1", "4"}) {
    (void)output({"stream", file, updates, "--algorithms", "label-propagation", "--output", path(""), "--every", every,
                  "--report", path("report.json")});
    std::istringstream lines(read("label-propagation.txt"));
    std::map<unsigned, unsigned> label;
    for (unsigned v = 0, of = 0; lines >> v >> of;) label[v] = of;
    ASSERT_EQ(label.size(), n);
    std::map<unsigned, std::map<unsigned, unsigned>> votes;
    for (auto const& [e, weight] : graph.all) {
      ++votes[e.first][label.at(e.second)];
      ++votes[e.second][label.at(e.first)];
    }
    std::map<unsigned, unsigned> sizes;
    for (auto const& [v, of] : label) {
      ++sizes[of];
      if (!votes.contains(v)) {
        EXPECT_EQ(of, v) << "it has no neighbours";
        continue;
      }
      for (auto const& [other, number] : votes[v]) EXPECT_LE(number, votes[v][of]) << v << ' ' << other;
    }
    report const r(read("report.json"));
    EXPECT_EQ(r.count("algorithms/label-propagation/count"), sizes.size());
    EXPECT_LT(sizes.size(), n);
    EXPECT_GT(sizes.size(), 10u) << "some vertices have no neighbours";
  }
}

TEST_F(program_test, lengths_of_paths_use_weights_that_decay) {
  std::string const file = write("none.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 0\n");
  strings const stream{"stream", file,      "--decay", "10",      "--algorithms", "sssp",  "--source",
                       "1",      "--print", "json",    "--check", "--output",     path("")};
  for (char const* const every : {"1", "2"}) {
    // After 20 seconds 8 is 2. After 6000 seconds the unit of the stored weights has changed.
    std::string const begin = "1 2 8 0\n\n2 3 1 20\n\n";
    auto const lines = json_lines(output(stream + strings{"--every", every}, begin));
    if (*every == '1') {
      EXPECT_NEAR(lines.at(0).number("sssp/depth"), 8, 1e-9);
    }
    EXPECT_NEAR(lines.at(1).number("sssp/depth"), 3, 1e-9);
    EXPECT_EQ(lines.at(1).count("sssp/reached"), 3u);
    std::istringstream values(read("sssp.txt"));
    std::string id, length;
    for (char const* const want : {"0", "2", "3", "Infinity"}) {
      values >> id >> length;
      if (std::isinf(std::stod(want)))
        EXPECT_EQ(length, want) << id;
      else
        EXPECT_NEAR(std::stod(length), std::stod(want), 1e-9) << id;
    }
    auto const late = json_lines(output(stream + strings{"--every", every}, begin + "3 4 4 6000\n\n2 3 0 6010\n\n"));
    EXPECT_NEAR(late.at(3).number("sssp/depth"), 2, 1e-9);
    EXPECT_EQ(late.at(3).count("sssp/reached"), 4u);
  }
}

TEST_F(program_test, maintained_results_follow_windows_and_refused_lines) {
  std::string const file = write("two.graph", two_triangles);
  std::string const updates = write("updates.txt", "1 2 0\n2 3 5\nnonsense\n3 7 12\n6 7 25\n");
  auto const lines = json_lines(output(strings{"stream", file, updates, "--no-edges", "--window", "20", "--slide", "10",
                                               "--on-error", "skip", "--print", "json", "--source", "1"} +
                                       all_names));
  EXPECT_EQ(field_of(lines, "components", "largest"), (counts{3, 4, 3}));
  EXPECT_EQ(field_of(lines, "bfs", "reached"), (counts{3, 4, 1}));
  outcome const failed =
      run_program(strings{"stream", file, "--source", "1", "--report", path("report.json")} + all_names,
                  "- 3 4\n\n1 4\nnonsense\n");
  EXPECT_EQ(failed.status, 3) << failed.err;
  report const r(read("report.json"));
  EXPECT_EQ(r.count("algorithms/components/count"), 3u) << "of the graph before the batch that failed";
  EXPECT_EQ(r.count("algorithms/bfs/reached"), 3u);
}

TEST_F(program_test, begins_at_the_vertex_with_the_most_edges) {
  std::string const file = write("two.graph", two_triangles);
  (void)output({"stream", file, "--algorithms", "bfs", "--report", path("report.json")}, "6 7\n6 1\n6 2\n");
  report const r(read("report.json"));
  EXPECT_EQ(r.count("algorithms/bfs/source_id"), 3u) << "6 has more edges at the end only";
  EXPECT_EQ(r.count("algorithms/bfs/reached"), 7u);
}

TEST_F(program_test, refuses_algorithms_that_cannot_be_maintained) {
  std::string const file = write("two.graph", two_triangles);
  std::string const none = write("none.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n");
  for (std::string const name : {"painting", "betweenness", "all", "pagerank,louvain"})
    for (char const* const known :
         {"pagerank", "triangles", "bfs", "components", "core-numbers", "label-propagation", "sssp"})
      expect_refused(2, known, {"stream", file, "/dev/null", "--algorithms", name});
  expect_refused(2, "the algorithm core-numbers is for undirected graphs, and this one is directed; add --undirected",
                 {"stream", file, "/dev/null", "--directed", "--algorithms", "components,core-numbers"});
  for (std::string const name : {"bfs", "sssp"})
    expect_refused(2, "the algorithm " + name + " begins at a vertex, and the graph has none",
                   {"stream", none, "/dev/null", "--algorithms", name});
  expect_refused(2, "--source: expected a vertex (1 to 7), found \"8\"",
                 {"stream", file, "/dev/null", "--algorithms", "bfs", "--source", "8"});
  expect_refused(2, "--source: no selected algorithm begins at a vertex",
                 {"stream", file, "/dev/null", "--algorithms", "components", "--source", "1"});
}

}  // namespace

}  // namespace wyrm::tests
