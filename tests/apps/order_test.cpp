// SPDX-License-Identifier: Apache-2.0
// Tests that --order changes no result of the program, and no id: results of all algorithms with each order are
// compared, by id, with those without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../support/seed.hpp"
#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;
using lines = std::map<std::string, strings>;  // by id: the other words

strings const orders{"by-degree", "by-locality"};

/// A text without its comments, by the first word of each line; by the first two, in ascending order, if `of_edges`.
lines by_id(std::string const& text, bool of_edges = false) {
  lines all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string id;
    words >> id;
    if (of_edges) {
      std::string other;
      words >> other;
      id = std::min(id, other) + ' ' + std::max(id, other);
    }
    strings& values = all[id];
    EXPECT_TRUE(values.empty()) << id << " repeats";
    for (std::string word; words >> word;) values.push_back(word);
  }
  return all;
}

void expect_near(lines const& got, lines const& want) {
  ASSERT_EQ(got.size(), want.size());
  for (auto const& [id, words] : want) {
    ASSERT_TRUE(got.contains(id)) << id;
    ASSERT_EQ(got.at(id).size(), words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      double const value = std::strtod(words[i].c_str(), nullptr);
      EXPECT_NEAR(std::strtod(got.at(id)[i].c_str(), nullptr), value, 1e-7 * (1 + value)) << id;
    }
  }
}

/// The sets of ids with the same label.
std::set<std::set<std::string>> groups(lines const& labels) {
  std::map<std::string, std::set<std::string>> by_label;
  for (auto const& [id, words] : labels) by_label[words.at(0)].insert(id);
  std::set<std::set<std::string>> all;
  for (auto const& [label, ids] : by_label) all.insert(ids);
  return all;
}

/// Edges with distinct weights between sparse ids, in two components, with a hub, a self-loop and a repeated edge.
std::string random_edges(std::uint64_t seed, bool directed) {
  std::mt19937_64 random(seeded(seed));
  std::string text = directed ? "" : "# Undirected graph\n";
  std::size_t weight = 1;
  auto const add = [&](std::uint64_t u, std::uint64_t v) {
    text += std::to_string(7 * u + 1000) + ' ' + std::to_string(7 * v + 1000) + ' ' + std::to_string(++weight) + '\n';
  };
  for (int i = 0; i < 300; ++i) {
    auto const part = random() % 3;
    std::uint64_t const u = random() % 60;
    std::uint64_t const v = part == 0 ? 11 : random() % 60;
    if (part == 1)
      add(100 + u, 100 + v);
    else
      add(u, v);
  }
  add(3, 3);
  add(11, 12);
  add(11, 12);
  return text;
}

class order_test : public program_test {
 protected:
  order_test() { std::filesystem::create_directory(path("v")); }

  /// The files of --output.
  [[nodiscard]] std::map<std::string, std::string> outputs(strings arguments, std::string const& order,
                                                           std::string const& updates = {}) const {
    std::filesystem::remove_all(path("v"));
    std::filesystem::create_directory(path("v"));
    arguments.insert(arguments.end(), {"--output", path("v")});
    if (!order.empty()) arguments.insert(arguments.end(), {"--order", order});
    (void)output(arguments, updates);
    std::map<std::string, std::string> all;
    for (auto const& entry : std::filesystem::directory_iterator(path("v")))
      all[entry.path().stem().string()] = read("v/" + entry.path().filename().string());
    return all;
  }

  /// Compares the results of all algorithms, as far as they are determined: where ties are broken by numbers of
  /// vertices, only the number of lines, and the ids of vertices, are.
  static void expect_same(std::map<std::string, std::string> const& got, std::map<std::string, std::string> const& want,
                          bool weighted) {
    std::set<std::string> const equal{"bfs", "core-numbers", "sssp", "triangles", "lcc", "truss"};
    std::set<std::string> const partitions{"components", "scc"};
    std::set<std::string> const of_ties{"clustering",        "colouring", "independent-set",
                                        "label-propagation", "leiden",    "louvain"};
    ASSERT_EQ(got.size(), want.size());
    for (auto const& [name, text] : want) {
      SCOPED_TRACE(name);
      ASSERT_TRUE(got.contains(name));
      bool const of_edges = name == "spanning-forest" || name == "truss";
      lines const now = by_id(got.at(name), of_edges);
      lines const before = by_id(text, of_edges);
      EXPECT_FALSE(before.empty());
      ASSERT_EQ(now.size(), before.size());
      if (name == "spanning-forest" && !weighted) continue;
      if (equal.contains(name) || of_edges)
        EXPECT_EQ(now, before);
      else if (partitions.contains(name))
        EXPECT_EQ(groups(now), groups(before));
      else if (!of_ties.contains(name))
        expect_near(now, before);
      for (auto const& [id, words] : before) EXPECT_TRUE(now.contains(id)) << id;
    }
  }
};

TEST_F(order_test, changes_no_result_of_any_algorithm) {
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed);
    std::string const file = write("g.txt", random_edges(1, directed));
    for (strings const& more : {strings{}, strings{"--weighted"}, strings{"--rounds", "3", "--batch", "40"}}) {
      strings all{"run",         file,    "--algorithms", "all",  "--sources", "all",
                  "--tolerance", "1e-12", "--source",     "1077", "--check"};
      all.insert(all.end(), more.begin(), more.end());
      auto const want = outputs(all, "");
      EXPECT_GE(want.size(), directed ? 10u : 18u);
      for (std::string const& order : orders) {
        SCOPED_TRACE(order);
        expect_same(outputs(all, order), want, more == strings{"--weighted"});
      }
    }
  }
}

TEST_F(order_test, puts_hubs_or_neighbours_first) {
  // A path 9 - 2 - 7 - 4 with two more neighbours of 7.
  std::string const file = write("g.txt", "# Undirected graph\n9 2\n2 7\n7 4\n7 5\n7 6\n");
  auto const ids = [&](strings const& order) {
    strings arguments{"run", file, "--algorithms", "core-numbers", "--rounds", "0", "--output", path("v")};
    arguments.insert(arguments.end(), order.begin(), order.end());
    (void)output(arguments);
    return read("v/core-numbers.txt");
  };
  EXPECT_EQ(ids({}), "2 1\n4 1\n5 1\n6 1\n7 1\n9 1\n");
  EXPECT_EQ(ids({"--order", "as-given"}), ids({}));
  EXPECT_EQ(ids({"--order", "by-degree"}), "7 1\n2 1\n4 1\n5 1\n6 1\n9 1\n");
  // The farthest vertex from 4 is 9.
  EXPECT_EQ(ids({"--order", "by-locality"}), "9 1\n2 1\n7 1\n4 1\n5 1\n6 1\n");
  EXPECT_EQ(ids({"--order", "by-degree", "--ids", "internal"}), "0 1\n1 1\n2 1\n3 1\n4 1\n5 1\n");
}

TEST_F(order_test, keeps_the_default_source_and_reports_the_order) {
  // All vertices have the same degree, and the order begins at another vertex.
  std::string const ring = write("ring.graph", "5 5\n3 4\n3 5\n1 2\n1 5\n2 4\n");
  for (std::string const order : {"as-given", "by-degree", "by-locality"}) {
    report const r = run(ring, {"--algorithms", "bfs", "--rounds", "0", "--order", order});
    EXPECT_EQ(r.count("algorithms/bfs/source_id"), 1u) << order;
    EXPECT_EQ(r.text("parameters/order"), order);
  }
  EXPECT_EQ(run(ring).text("parameters/order"), "as-given");
  // By locality 4 and not 1, which have the same degree, comes first.
  std::string const path_of_4 = write("path.graph", "4 3\n2 3\n1 4\n1\n2\n");
  report const r = run(path_of_4, {"--algorithms", "bfs", "--rounds", "0", "--order", "by-locality"});
  EXPECT_EQ(r.count("algorithms/bfs/source_id"), 1u);
  EXPECT_NE(r.count("algorithms/bfs/source"), 0u);
}

TEST_F(order_test, of_a_stream_knows_the_ids_of_the_file_and_new_ones) {
  std::string const updates =
      "+ 1077 1021\n- 1077 1084\n+v 5\n+ 5 1077\n\n+ 1000 2000000\n+ 2000000 1\n- 1 2000000\n\n-v 1077\n+ 5 2000001\n\n"
      "+v 1077\n+ 1077 2000001\n+ 1077 1700\n";
  for (bool const directed : {false, true}) {
    std::string const file = write("g.txt", random_edges(2, directed));
    std::string const algorithms = "pagerank,bfs,sssp,components,label-propagation,clustering";
    strings stream{"stream",         file,           "-",
                   "--add-vertices", "--source",     "1021",
                   "--check",        "--algorithms", algorithms + (directed ? "" : ",triangles,core-numbers")};
    stream.insert(stream.end(), {"--tolerance", "1e-12", "--save", path("saved.txt")});
    auto const want = outputs(stream, "", updates);
    std::string const saved = read("saved.txt");
    EXPECT_GE(want.size(), directed ? 6u : 8u);
    for (std::string const& order : orders) {
      SCOPED_TRACE(order);
      expect_same(outputs(stream, order, updates), want, false);
      EXPECT_EQ(read("saved.txt"), saved);
    }
  }
}

TEST_F(order_test, of_named_vertices) {
  std::string const file = write("n.json",
                                 R"({"nodes": [{"id": "b"}, {"id": "hub"}, {"id": "a"}, {"id": "c"}], "links": [
    {"source": "b", "target": "hub"}, {"source": "a", "target": "hub"}, {"source": "hub", "target": "c"}]})");
  std::string const names = "\"hub\" 0\n\"b\" 1\n\"a\" 1\n\"c\" 1\n";
  EXPECT_EQ(outputs({"run", file, "--algorithms", "bfs", "--rounds", "0", "--source", "hub"}, "by-degree").at("bfs"),
            names);
  std::string const in = "+ \"d\" \"c\"\n";
  EXPECT_EQ(outputs({"stream", file, "-", "--add-vertices", "--algorithms", "bfs", "--source", "hub"}, "by-degree", in)
                .at("bfs"),
            names + "\"d\" 2\n");
}

TEST_F(order_test, of_clusters_and_benchmarks_keeps_ids) {
  std::string const two = write("two.graph", "6 7\n2 3\n1 3\n1 2 4\n3 5 6\n4 6\n4 5\n");
  for (std::string const& order : orders) {
    (void)output({"cluster", two, "--order", order, "--labels", path("labels")});
    EXPECT_EQ(groups(by_id(read("labels"))), (std::set<std::set<std::string>>{{"1", "2", "3"}, {"4", "5", "6"}}));
  }
  std::string const file = write("g.txt", random_edges(3, false));
  auto const sources = [&](strings options) {
    options.insert(options.begin(), {"bench", "gap", file, "--kernels", "bfs,sssp", "--trials", "4", "--report",
                                     path("r"), "--seed", "5"});
    std::string const out = output(options);
    EXPECT_EQ(out.find("FAIL"), std::string::npos) << out;
    report const r(read("r"));
    std::vector<std::uint64_t> ids;
    for (int i = 0; i < 8; ++i)
      ids.push_back(r.count("kernels/" + std::to_string(i / 4) + "/trials/" + std::to_string(i % 4) + "/sources/0/id"));
    return ids;
  };
  auto const want = sources({});
  for (std::string const& order : orders) EXPECT_EQ(sources({"--order", order}), want);
}

TEST_F(order_test, of_a_converted_file) {
  std::string const file = write("g.txt", "# Undirected graph\n9 2\n2 7\n7 4\n7 5\n7 6\n");
  (void)output({"convert", file, path("o.wyrm"), "--order", "by-degree"});
  (void)output({"run", path("o.wyrm"), "--algorithms", "core-numbers", "--rounds", "0", "--output", path("v")});
  EXPECT_EQ(read("v/core-numbers.txt"), "7 1\n2 1\n4 1\n5 1\n6 1\n9 1\n");
  // Numbers in the new order, as the format has no ids.
  (void)output({"convert", file, path("o.graph"), "--order", "by-degree"});
  EXPECT_EQ(read("o.graph"), "6 5\n2 3 4 5\n1 6\n1\n1\n1\n2\n");
  // A message names a vertex by its id in the file.
  expect_refused(2, "vertices without edges, such as 0;",
                 {"convert", file, path("o.txt"), "--vertex-base", "0", "--order", "by-degree"});
}

TEST_F(order_test, of_a_generated_graph_and_of_none) {
  for (std::string const& order : orders) {
    report const r =
        run("gen:grid,x=9,y=7", {"--order", order, "--rounds", "0", "--algorithms", "bfs", "--source", "0"});
    EXPECT_EQ(r.count("algorithms/bfs/depth"), 14u);
    EXPECT_EQ(run(write("none.graph", "0 0\n"), {"--order", order, "--algorithms", "all"}).count("graph/vertices"), 0u);
  }
}

TEST_F(order_test, refuses_other_words) {
  std::string const file = write("k5.graph", k5);
  for (std::string const command : {"run", "stream", "cluster", "convert"}) {
    strings arguments{command, file};
    if (command == "convert") arguments.push_back(path("o.wyrm"));
    arguments.insert(arguments.end(), {"--order", "random"});
    expect_refused(2, "--order: random not in {as-given,by-degree,by-locality}", arguments);
  }
  expect_refused(2, "--order", {"bench", "gap", file, "--order", ""});
}

}  // namespace

}  // namespace wyrm::tests
