// SPDX-License-Identifier: Apache-2.0
// Tests valid edge lists, GAP, DIMACS 9 and Graphalytics files, and compares random ones with a naive parser.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/loaders.hpp"
#include "../support/seed.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

using edges = std::vector<graph::edge>;
using numbers = std::vector<double>;
using id_list = std::vector<std::uint64_t>;
using loaders::file_format;

graph::edge_list parsed(std::string const& text, loaders::options const& settings = {},
                        file_format format = file_format::edge_list) {
  return loaders::parse("text", text, format, settings);
}

TEST(edge_list, renumbers_ids_in_ascending_order_and_keeps_them) {
  auto const list = parsed("# SNAP\n% KONECT\n\n30 7\r\n7\t1000\n 18446744073709551615 30 \n");
  EXPECT_TRUE(list.directed);
  EXPECT_EQ(list.vertices, 4U);
  EXPECT_EQ(list.edges, (edges{{1, 0}, {0, 2}, {3, 1}}));
  EXPECT_EQ(list.ids, (id_list{7, 30, 1000, 18446744073709551615U}));
  EXPECT_TRUE(list.weights.empty());
  EXPECT_TRUE(list.times.empty());
}

TEST(edge_list, ids_from_0_without_gaps_are_the_vertices) {
  auto const list = parsed("2 0\n1 1");
  EXPECT_EQ(list.vertices, 3U);
  EXPECT_EQ(list.edges, (edges{{2, 0}, {1, 1}}));
  EXPECT_TRUE(list.ids.empty());
  EXPECT_EQ(list.first_id, 0U);
}

TEST(edge_list, takes_a_base_from_the_options) {
  auto const list = parsed("2 5\n5 7\n", {.vertex_base = 1});
  EXPECT_EQ(list.vertices, 7U);
  EXPECT_EQ(list.edges, (edges{{1, 4}, {4, 6}}));
  EXPECT_TRUE(list.ids.empty());
  EXPECT_EQ(list.first_id, 1U);
}

TEST(edge_list, ids_must_fit_a_base) {
  auto const refused = [](std::string const& text, std::uint64_t base, std::string const& message) {
    try {
      (void)parsed(text, {.vertex_base = base});
      ADD_FAILURE() << text << " was loaded";
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_input);
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
    }
  };
  refused("1 2\n0 1\n", 1, "text:2: expected the id of the source (1 to 4294967295), found \"0\"");
  refused("0 4294967295\n", 0, "text:1: expected the id of the target (0 to 4294967294), found \"4294967295\"");
  EXPECT_EQ(parsed("0 4294967294\n", {.vertex_base = 0, .max_vertices = graph::max_vertices}).vertices,
            graph::max_vertices);
  EXPECT_EQ(parsed("18446744073709551615 18446744073709551614\n", {.vertex_base = 18446744073709551614U}).edges,
            (edges{{1, 0}}));
}

// Numbers of 20 digits and more: leading zeros, the greatest number of 64 bits, and those that exceed it.
TEST(edge_list, ids_of_many_digits_are_read_exactly) {
  auto const ids = [](std::string const& a, std::string const& b) { return parsed(a + ' ' + b + '\n').ids; };
  EXPECT_EQ(ids("9999999999999999999", "10000000000000000000"), (id_list{9999999999999999999U, 10000000000000000000U}));
  EXPECT_EQ(ids("18446744073709551614", "18446744073709551615"), (id_list{~std::uint64_t{1}, ~std::uint64_t{0}}));
  EXPECT_EQ(ids("00000000000000000007", "000000000000000000000000000000009"), (id_list{7, 9}));
  EXPECT_EQ(ids("0000018446744073709551615", "3"), (id_list{3, ~std::uint64_t{0}}));
  for (std::string const large :
       {"18446744073709551616", "18446744073709551617", "20000000000000000000", "36893488147419103233",
        "99999999999999999999", "184467440737095516160", "340282366920938463463374607431768211457"}) {
    try {
      (void)parsed("5 6\n" + large + " 1\n");
      ADD_FAILURE() << large << " was read";
    } catch (error const& e) {
      EXPECT_EQ(std::string(e.what()).rfind("text:2: expected the id of the source (0 to 18446744073709551615)", 0), 0U)
          << e.what();
    }
  }
}

TEST(edge_list, has_up_to_four_columns) {
  auto const three = parsed("0 1 2.5\n1 0 -3\n");
  EXPECT_EQ(three.weights, (numbers{2.5, -3}));
  EXPECT_TRUE(three.times.empty());
  auto const timed = parsed("0 1 1082040961\n1 0 7.5\n", {.third = loaders::third_column::time});
  EXPECT_EQ(timed.times, (numbers{1082040961, 7.5}));
  EXPECT_TRUE(timed.weights.empty());
  auto const four = parsed("0 1 -10 9\n1 0 0 8\n", {.third = loaders::third_column::time});
  EXPECT_EQ(four.weights, (numbers{-10, 0}));
  EXPECT_EQ(four.times, (numbers{9, 8}));
}

// As Fortran writes numbers: a plus sign, and D for the exponent.
TEST(edge_list, numbers_may_have_a_plus_sign_or_an_exponent_of_fortran) {
  auto const list = parsed("+1 +0 +2.5 +7\n+0 1 1.0D+00 -2.5d-3\n1 0 +.5E1 0D0\n");
  EXPECT_EQ(list.edges, (edges{{1, 0}, {0, 1}, {1, 0}}));
  EXPECT_EQ(list.weights, (numbers{2.5, 1, 5}));
  EXPECT_EQ(list.times, (numbers{7, -0.0025, 0}));
  EXPECT_EQ(parsed("p sp 2 +1\na 1 +2 +17\n", {}, file_format::dimacs).weights, (numbers{17}));
  for (std::string const word : {"+", "++1", "+-1", "-+1", "+inf", "+nan", "+1+", "1D", "D1", "1DD1", "1D1D1", "1e1D1",
                                 "1D400", "+1e400", "1d-400", "+x"})
    EXPECT_THROW((void)parsed("0 1 " + word + "\n"), error) << word;
  for (std::string const word : {"+", "++1", "+-1", "+ 1", "+18446744073709551616", "1D0"})
    EXPECT_THROW((void)parsed("0 " + word + "\n"), error) << word;
  EXPECT_EQ(parsed("+18446744073709551615 0\n").ids, (id_list{0, 18446744073709551615U}));
}

// The numbers below the smallest normal one, 2.2e-308.
TEST(edge_list, weights_may_be_subnormal) {
  EXPECT_EQ(parsed("0 1 4.9e-324\n1 0 -1.5e-310\n0 1 2.2250738585072011e-308\n").weights,
            (numbers{std::numeric_limits<double>::denorm_min(), -1.5e-310, 2.2250738585072011e-308}));
}

TEST(edge_list, takes_the_direction_from_comments) {
  EXPECT_FALSE(parsed("% sym unweighted\n% 1 2 2\n1 2\n").directed);
  EXPECT_TRUE(parsed("% asym positive\n1 2\n").directed);
  EXPECT_FALSE(parsed("# Undirected graph: com-amazon.txt\n1 2\n").directed);
  EXPECT_TRUE(parsed("# Directed graph (each unordered pair of nodes is saved once)\n1 2\n").directed);
}

// The comments above the edges decide, not those between them.
TEST(edge_list, takes_the_direction_from_the_comments_above_the_edges) {
  EXPECT_TRUE(parsed("# Nodes\n1 2\n# Undirected graph\n2 3\n").directed);
  EXPECT_TRUE(parsed("1 2\n% sym unweighted\n").directed);
  EXPECT_FALSE(parsed("\n# Nodes\n \n# Undirected graph\n1 2\n").directed);
  EXPECT_TRUE(parsed("% symmetric\n1 2\n").directed);
}

// Numbers of vertices around the size of a word of the bitmap of ids.
TEST(edge_list, knows_whether_ids_are_the_vertices) {
  for (std::uint64_t const n : {2u, 3u, 63u, 64u, 65u, 127u, 128u, 129u}) {
    SCOPED_TRACE(n);
    auto const path = [n](auto const& id) {
      std::string text;
      for (std::uint64_t v = 0; v + 1 < n; ++v) text += std::to_string(id(v)) + ' ' + std::to_string(id(v + 1)) + '\n';
      return parsed(text);
    };
    edges want;
    for (graph::vertex_id v = 0; v + 1 < n; ++v) want.push_back({v, v + 1});
    id_list from_1(n);
    id_list gap(n);
    for (std::uint64_t v = 0; v < n; ++v) from_1[v] = v + 1, gap[v] = v + 1 < n ? v : n;
    auto const same = path([](std::uint64_t v) { return v; });
    EXPECT_TRUE(same.ids.empty());
    EXPECT_EQ(same.vertices, n);
    EXPECT_EQ(same.edges, want);
    for (id_list const& ids : {from_1, gap}) {
      auto const list = path([&](std::uint64_t v) { return ids[v]; });
      EXPECT_EQ(list.ids, ids);
      EXPECT_EQ(list.vertices, n);
      EXPECT_EQ(list.edges, want);
    }
  }
}

TEST(gap, has_weights_in_its_third_column) {
  auto const list = parsed("0 1 7\n", {}, file_format::gap);
  EXPECT_EQ(list.weights, (numbers{7}));
  EXPECT_TRUE(list.times.empty());
  EXPECT_EQ(parsed("5 6\n", {.vertex_base = 5}, file_format::gap).edges, (edges{{0, 1}}));
}

// A double has all integers up to 2^53.
TEST(dimacs, weights_are_exact) {
  EXPECT_EQ(parsed("p sp 2 2\na 1 2 9007199254740992\na 2 1 -9007199254740992\n", {}, file_format::dimacs).weights,
            (numbers{9007199254740992.0, -9007199254740992.0}));
  for (std::string const weight : {"9007199254740993", "-9007199254740993"})
    EXPECT_THROW((void)parsed("p sp 2 1\na 1 2 " + weight + "\n", {}, file_format::dimacs), error);
}

// Records are counted without comments and empty lines; lines with them.
TEST(dimacs, miscounted_arcs_are_reported_at_their_line) {
  auto const refused = [](std::string const& count, std::string const& message) {
    try {
      (void)parsed("c\np sp 3 " + count + "\nc\n\na 1 2 1\nc a\na 2 3 1\n\n\nc\na 3 1 1\nc\n\n", {},
                   file_format::dimacs);
      ADD_FAILURE() << count;
    } catch (error const& e) {
      EXPECT_EQ(std::string(e.what()).rfind("text:" + message, 0), 0U) << e.what();
    }
  };
  refused("2", "11: expected no arc after the last, 2, found \"a\"; correct the number of arcs on line 2");
  refused("1", "7: expected no arc after the last, 1, found \"a\"; correct the number of arcs on line 2");
  refused("0", "5: expected no arc after the last, 0, found \"a\"");
  refused("4", "14: expected arc 4 of 4, found the end of the file; correct the number of arcs on line 2");
}

TEST(gap, counts_from_0_and_keeps_gaps) {
  auto const list = parsed("3 1 7\n1 0 2\n", {}, file_format::gap);
  EXPECT_TRUE(list.directed);
  EXPECT_EQ(list.vertices, 4U);
  EXPECT_EQ(list.edges, (edges{{3, 1}, {1, 0}}));
  EXPECT_EQ(list.weights, (numbers{7, 2}));
  EXPECT_TRUE(list.ids.empty());
}

TEST(dimacs, reads_arcs_with_their_weights) {
  auto const list =
      parsed("c a comment\nc\n\np sp 4 3\na 1 2 17\nc another\na 2 1 -5\na 4 4 0", {}, file_format::dimacs);
  EXPECT_TRUE(list.directed);
  EXPECT_EQ(list.vertices, 4U);
  EXPECT_EQ(list.edges, (edges{{0, 1}, {1, 0}, {3, 3}}));
  EXPECT_EQ(list.weights, (numbers{17, -5, 0}));
  EXPECT_EQ(parsed("p sp 3 0\n", {}, file_format::dimacs).vertices, 3U);
  EXPECT_EQ(parsed("p sp 3 0\n", {}, file_format::dimacs).first_id, 1U);
}

TEST(graphalytics, takes_vertices_edges_and_direction_from_three_files) {
  temporary_folder const folder;
  auto const vertices = folder.write("g.v", "10\n7\n\n1000000000000\n");
  auto const files = folder.write("g.e", "10 7 0.5\n1000000000000 10 2\n");
  for (auto const& path : {vertices, files}) {
    auto const list = loaders::load(path);
    EXPECT_TRUE(list.directed);
    EXPECT_EQ(list.ids, (id_list{7, 10, 1000000000000}));
    EXPECT_EQ(list.edges, (edges{{1, 0}, {2, 1}}));
    EXPECT_EQ(list.weights, (numbers{0.5, 2}));
  }
  (void)folder.write("g.properties", "# comment\ngraph.g.vertex-file = g.v\ngraph.g.directed = false\n");
  EXPECT_FALSE(loaders::load(files).directed);
  for (std::string const line : {"graph.g.directed = true", "graph.g.undirected = false", "# graph.g.directed = false",
                                 "other.directed = false", "graph.g.directed", "graph.g.directed = falsely",
                                 "graph.g.directed:TRUE", "graph.g.x = graph.g.directed: false"}) {
    (void)folder.write("g.properties", line + "\n");
    EXPECT_TRUE(loaders::load(files).directed) << line;
  }
  for (std::string const text :
       {"graph.g.directed=false", "\ngraph.g.meta.x = 1\r\ngraph.g.directed =\tfalse \r\n",
        "graph.g.directed = FALSE\n", "graph.g.directed: False\n", " graph.g.directed:false",
        "graph.g.directed :false\n", "graph.g.url = a:b\ngraph.g.note: x = y\ngraph.g.directed = false\n",
        "\xef\xbb\xbfgraph.g.directed = false\n"}) {
    (void)folder.write("g.properties", text);
    EXPECT_FALSE(loaders::load(files).directed) << text;
  }
  (void)folder.write("g.e", "");
  auto const none = loaders::load(files);
  EXPECT_EQ(none.vertices, 3U);
  EXPECT_TRUE(none.edges.empty());
  for (auto const& wrong : {folder.write("h.e", "1 2\n"), folder.write("g.txt", "1 2\n")})
    EXPECT_THROW((void)loaders::load(wrong, {.format = file_format::graphalytics}), error);
}

// Compares random lists, which are large enough for many pieces and several threads, with a parser of streams and
// std::map.
TEST(edge_list, agrees_with_a_naive_parser) {
  std::mt19937_64 random(seeded(1));
  for (std::uint64_t const largest : {std::uint64_t{50}, std::uint64_t{100000}, ~std::uint64_t{0} - 1}) {
    std::string text;
    for (int i = 0; i < 40000; ++i) {
      if (random() % 50 == 0) text += "# " + std::to_string(random()) + "\n";
      if (random() % 50 == 0) text += " \r\n";
      text += std::to_string(random() % (largest + 1)) + (random() % 2 == 0 ? " " : "\t") +
              std::to_string(random() % (largest + 1)) + "  " +
              std::to_string(static_cast<int>(random() % 2001) - 1000) + "." + std::to_string(random() % 1000) +
              (random() % 9 == 0 ? "\r\n" : "\n");
    }
    std::istringstream lines(text);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
    numbers weights;
    std::map<std::uint64_t, graph::vertex_id> number;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::uint64_t source = 0;
      std::uint64_t target = 0;
      std::string weight;
      if (line[0] == '#' || !(words >> source >> target >> weight)) continue;
      pairs.emplace_back(source, target);
      weights.push_back(std::stod(weight));
      number[source] = number[target] = 0;
    }
    graph::vertex_id next = 0;
    for (auto& [id, vertex] : number) vertex = next++;
    edges want;
    for (auto const& [source, target] : pairs) want.push_back({number[source], number[target]});
    for (unsigned const threads : {1U, 0U}) {
      auto const list = parsed(text, {.threads = threads});
      EXPECT_EQ(list.vertices, number.size());
      EXPECT_EQ(list.edges, want);
      EXPECT_EQ(list.weights, weights);
      for (std::size_t v = 0; v < list.ids.size(); ++v) ASSERT_EQ(number.at(list.ids[v]), v);
    }
  }
}

}  // namespace
}  // namespace wyrm::tests
