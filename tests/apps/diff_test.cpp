// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm diff`: its lines literally, a model that applies them, and `wyrm stream`, which applies them to a graph.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../../loaders/writers.hpp"
#include "../support/seed.hpp"
#include "program.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

/// A graph by the ids of its vertices, as updates have them: numbers, or names in quotation marks.
struct model {
  bool directed = false;
  std::set<std::string> vertices;
  std::map<std::pair<std::string, std::string>, double> edges;  // those of an undirected graph in both directions

  void set(std::string const& u, std::string const& v, double weight) {
    edges[{u, v}] = weight;
    if (!directed) edges[{v, u}] = weight;
  }
  void erase(std::string const& u, std::string const& v) {
    edges.erase({u, v});
    if (!directed) edges.erase({v, u});
  }
  void remove(std::string const& id) {
    vertices.erase(id);
    std::erase_if(edges, [&](auto const& e) { return e.first.first == id || e.first.second == id; });
  }
  /// Applies lines of updates, each of which must have an effect.
  void apply(std::string const& updates) {
    std::istringstream lines(updates);
    for (std::string line; std::getline(lines, line);) {
      SCOPED_TRACE(line);
      std::istringstream words(line);
      std::string sign, u, v;
      words >> sign >> u;
      if (sign == "+v") {
        EXPECT_TRUE(vertices.insert(u).second);
      } else if (sign == "-v") {
        EXPECT_TRUE(vertices.contains(u));
        remove(u);
      } else {
        words >> v;
        EXPECT_TRUE(vertices.contains(u) && vertices.contains(v));
        auto const found = edges.find({u, v});
        if (sign == "-") {
          EXPECT_NE(found, edges.end());
          erase(u, v);
        } else {
          EXPECT_EQ(sign, "+");
          double weight = 1;
          double time = 1;
          if (words >> weight) {
            words >> time;
            EXPECT_EQ(time, 0) << "a weight stands before a time";
          }
          EXPECT_TRUE(found == edges.end() || found->second != weight);
          set(u, v, weight);
        }
      }
      EXPECT_FALSE(words >> v);
    }
  }
  [[nodiscard]] std::string json(bool weighted) const {
    std::ostringstream text;
    text << R"({"directed": )" << (directed ? "true" : "false") << R"(, "nodes": [)";
    char const* before = "";
    for (std::string const& id : vertices) text << std::exchange(before, ", ") << R"({"id": )" << id << '}';
    text << R"(], "links": [)";
    before = "";
    for (auto const& [ends, weight] : edges) {
      if (!directed && ends.first > ends.second) continue;
      text << std::exchange(before, ", ") << R"({"source": )" << ends.first << R"(, "target": )" << ends.second;
      if (weighted) text << R"(, "weight": )" << weight;
      text << '}';
    }
    text << "]}\n";
    return text.str();
  }
};

class diff_test : public program_test {
 protected:
  /// The updates, which are on standard output.
  [[nodiscard]] std::string diff(std::string const& old, std::string const& later, strings const& options = {},
                                 std::string const& summary = {}) const {
    strings arguments{"diff", old, later};
    arguments.insert(arguments.end(), options.begin(), options.end());
    outcome const ran = run_program(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    if (!summary.empty()) {
      EXPECT_EQ(ran.err, summary);
    }
    return ran.out;
  }
};

model random_model(std::mt19937& random, bool directed, bool names, bool weighted) {
  model g;
  g.directed = directed;
  for (unsigned i = 0; i < 40; ++i) {
    if (random() % 4 == 0) continue;
    // Numbers that are not consecutive, or names, which may look like numbers.
    std::string const number = std::to_string(7 * i % 41 * 3);
    g.vertices.insert(names ? '"' + (i % 2 == 0 ? "n" + number : number) + '"' : number);
  }
  std::vector<std::string> const ids(g.vertices.begin(), g.vertices.end());
  for (unsigned i = 0; i < 150; ++i) {
    std::string const& u = ids[random() % ids.size()];
    std::string const& v = ids[random() % ids.size()];
    if (u != v) g.set(u, v, weighted ? static_cast<double>(1 + random() % 6) / 4 : 1);
  }
  return g;
}

}  // namespace

TEST_F(diff_test, lines_are_those_of_the_difference) {
  std::string const old = write("old.txt", "10 20 1.5\n20 30 2\n30 10 1\n40 10 7\n");
  std::string const later = write("new.txt", "20 30 2\n30 10 0.25\n10 30 3\n10 50 1\n");
  EXPECT_EQ(diff(old, later, {}, "vertices: 1 added, 1 removed; edges: 2 inserted, 2 erased, 1 with another weight\n"),
            "-v 40\n+v 50\n- 10 20\n+ 10 30 3 0\n+ 10 50\n+ 30 10 0.25 0\n");
  EXPECT_EQ(diff(later, old), "-v 50\n+v 40\n+ 10 20 1.5 0\n- 10 30\n+ 30 10 1 0\n+ 40 10 7 0\n");
  EXPECT_EQ(diff(old, old, {}, "vertices: 0 added, 0 removed; edges: 0 inserted, 0 erased, 0 with another weight\n"),
            "");
  EXPECT_EQ(diff(old, later, {"--undirected"}), "-v 40\n+v 50\n- 10 20\n+ 10 30 0.25 0\n+ 10 50\n");
  EXPECT_EQ(diff(old, later, {"--undirected", "--ids", "internal"}), "- 0 1\n+ 0 2 0.25 0\n+ 0 3 1 0\n");
}

TEST_F(diff_test, the_first_of_equal_edges_and_no_loop_counts) {
  std::string const old = write("old.txt", "1 2 5\n2 1 6\n1 1 8\n2 3 4\n");
  std::string const later = write("new.txt", "2 1 5\n1 2 7\n2 3 4\n3 3 1\n2 3 9\n");
  EXPECT_EQ(diff(old, later, {"--undirected"}), "");
  EXPECT_EQ(diff(old, later, {"--directed"}), "+ 1 2 7 0\n+ 2 1 5 0\n");
}

TEST_F(diff_test, a_file_without_weights_has_the_weight_1) {
  std::string const weighted = write("w.txt", "1 2 1\n2 3 4\n");
  std::string const plain = write("p.txt", "1 2\n2 3\n3 1\n");
  EXPECT_EQ(diff(weighted, plain), "+ 2 3 1 0\n+ 3 1\n");
  EXPECT_EQ(diff(plain, weighted), "+ 2 3 4 0\n- 3 1\n");
}

TEST_F(diff_test, equal_weights_give_no_line) {
  std::string const head = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 0.1\n";
  std::string const zero = write("zero.mtx", head + "2 1 0\n");
  EXPECT_EQ(diff(zero, write("negative_zero.mtx", head + "2 1 -0\n")), "");
}

TEST_F(diff_test, warns_of_weights_that_a_weighted_stream_refuses) {
  std::string const old = write("old.txt", "1 2 3\n2 3 4\n3 1 1\n");
  std::string const later = write("new.txt", "1 2 -3\n2 3 1e200\n3 1 1e100\n");
  EXPECT_EQ(diff(old, later, {},
                 "vertices: 0 added, 0 removed; edges: 0 inserted, 0 erased, 3 with another weight\n"
                 "warning: 2 weights are negative or greater than 1e100; wyrm stream --weighted refuses them\n"),
            "+ 1 2 -3 0\n+ 2 3 1e+200 0\n+ 3 1 1e+100 0\n");
}

TEST_F(diff_test, empty_graphs) {
  std::string const none = write("none.json", R"({"directed": true, "nodes": [], "links": []})");
  std::string const names = write(
      "names.json",
      R"({"directed": true, "nodes": [{"id": "a b"}, {"id": "c"}], "links": [{"source": "c", "target": "a b"}]})");
  EXPECT_EQ(diff(none, none), "");
  EXPECT_EQ(diff(names, none), "-v \"a b\"\n-v \"c\"\n");
  // A graph without names takes none in a stream.
  expect_refused(2, "vertices have names in " + names + ", and numbers in " + none, {"diff", none, names});
  EXPECT_EQ(diff(none, names, {"--ids", "internal"}), "+v 0\n+v 1\n+ 1 0\n");
}

// A strict model, and the program: the graph has the vertices, the edges and the weights of the new one.
TEST_F(diff_test, streaming_it_gives_the_new_graph) {
  std::mt19937 random(seeded(91));
  for (unsigned i = 0; i < 12; ++i) {
    bool const directed = i % 2 == 0;
    bool const names = i / 2 % 2 == 0;
    bool const weighted = i / 4 % 3 != 0;
    SCOPED_TRACE(i);
    model old = random_model(random, directed, names, weighted);
    model const later = random_model(random, directed, names, weighted);
    std::string const old_file = write("old.json", old.json(weighted));
    std::string const new_file = write("new.json", later.json(weighted));
    std::string const updates = diff(old_file, new_file);
    EXPECT_EQ(run_program({"diff", old_file, new_file, "-o", path("updates.txt.gz")}).out, "");
    old.apply(updates);
    EXPECT_EQ(old.vertices, later.vertices);
    EXPECT_EQ(old.edges, later.edges);

    (void)output({"stream", old_file, path("updates.txt.gz"), "--weighted", "--algorithms", "pagerank", "--tolerance",
                  "1e-13", "--report", path("report.json"), "--top", "100", "--check"});
    report const streamed(read("report.json"));
    EXPECT_EQ(streamed.count("updates/graph_vertices"), later.vertices.size());
    EXPECT_EQ(streamed.count("updates/graph_edges"), later.edges.size() / (directed ? 1 : 2));
    EXPECT_EQ(streamed.count("updates/missing"), 0u);
    strings options{"--algorithms", "pagerank", "--tolerance", "1e-13", "--rounds", "0"};
    if (weighted) options.push_back("--weighted");
    report const wanted = run(new_file, options);
    for (char const* const value : {"max", "l2", "sum"})
      EXPECT_NEAR(streamed.number(std::string("algorithms/pagerank/") + value),
                  wanted.number(std::string("algorithms/pagerank/") + value), 1e-10);
  }
}

TEST_F(diff_test, refuses) {
  std::string const directed = write("directed.txt", "1 2 3\n");
  std::string const undirected =
      write("undirected.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
  std::string const infinite =
      write("infinite.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n2 1 inf\n");
  expect_refused(2, "OLD is required", {"diff"});
  expect_refused(2, "NEW is required", {"diff", directed});
  expect_refused(4, "none.txt", {"diff", directed, path("none.txt"), "-o", path("u")});
  expect_refused(2, directed + " is directed, and " + undirected + " is undirected: add --directed or --undirected",
                 {"diff", undirected, directed, "-o", path("u")});
  EXPECT_EQ(diff(undirected, directed, {"--undirected"}), "+ 1 2 3 0\n");
  expect_refused(3, infinite + ": the weight inf of the edge 2 -> 1 is not finite",
                 {"diff", directed, infinite, "-o", path("u")});
  EXPECT_EQ(diff(infinite, directed), "- 2 1\n");
  EXPECT_EQ(diff(infinite, infinite), "");
  expect_refused(2, "are the same file", {"diff", directed, infinite, "-o", directed});
  expect_refused(2, "are the same file", {"diff", directed, infinite, "-o", infinite});
  // The cache of a file is an output, too.
  (void)output({"info", directed, "--cache"});
  expect_refused(2, "are the same file", {"diff", directed, directed + ".wyrm", "--cache", "-o", path("u")});
  expect_refused(2, "are the same file", {"diff", directed + ".wyrm", directed, "--cache", "-o", path("u")});
  for (std::string const name : {"u.csv", "u.json.gz", "u.txt.bz2"}) {
    expect_refused(2, "-o (" + path(name) + "): updates are written as text",
                   {"diff", directed, infinite, "-o", path(name)});
    expect_refused(2, "--save (" + path(name) + "): updates are written as text",
                   {"stream", directed, "/dev/null", "--save", path(name)});
  }
  expect_refused(2, "--random-weights draws weights by the numbers of vertices",
                 {"diff", directed, infinite, "--random-weights", "1", "9", "-o", path("u")});
  EXPECT_EQ(diff(directed, directed, {"--random-weights", "1", "9", "--ids", "internal"}), "");
  expect_refused(4, "none/u", {"diff", directed, directed, "-o", path("none/u")});
  expect_refused(4, "/dev/full", {"diff", infinite, directed, "-o", "/dev/full"});
  graph::edge_list twice;
  twice.vertices = 3;
  twice.directed = true;
  twice.ids = {1, 5, 5};
  (void)loaders::write(twice, path("twice.wyrm"));
  for (strings const& order : {strings{directed, path("twice.wyrm")}, {path("twice.wyrm"), directed}})
    expect_refused(3, path("twice.wyrm") + ": two vertices have the id 5", {"diff", order[0], order[1]});
}

}  // namespace wyrm::tests
