// SPDX-License-Identifier: Apache-2.0
// Tests valid JSON node-link graphs.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../loaders/loaders.hpp"

namespace wyrm::tests {
namespace {

using edges = std::vector<graph::edge>;

graph::edge_list parsed(std::string const& text) {
  return loaders::parse("text", text, loaders::file_format::node_link);
}

TEST(node_link, as_networkx_writes_it) {
  auto const list = parsed(R"({"directed": true, "multigraph": false, "graph": {"nodes": [3]}, "nodes": [{"color":
    {"id": 8}, "id": 5}, {"id": 3, "list": [1, {"id": 2}]}, {"id": 18446744073709551615}], "links": [{"weight": 2.5,
    "source": 5, "target": 3, "key": 0}, {"source": 18446744073709551615, "target": 5, "weight": -1}]})");
  EXPECT_TRUE(list.directed);
  EXPECT_EQ(list.vertices, 3U);
  EXPECT_EQ(list.ids, (std::vector<std::uint64_t>{5, 3, 18446744073709551615U}));
  EXPECT_EQ(list.edges, (edges{{0, 1}, {2, 0}}));
  EXPECT_EQ(list.weights, (std::vector<double>{2.5, -1}));
}

TEST(node_link, as_d3_writes_it) {
  auto const list =
      parsed(R"({"links": [{"source": "b", "target": "\u00e9", "value": 1}, {"source": "a", "target": "a"}],
    "nodes": [{"id": "a"}, {"id": "b", "group": 1}, {"id": "\u00e9"}]})");
  EXPECT_FALSE(list.directed);
  EXPECT_EQ(list.names, (std::vector<std::string>{"a", "b", "\xc3\xa9"}));
  EXPECT_EQ(list.edges, (edges{{1, 2}, {0, 0}}));
  EXPECT_TRUE(list.ids.empty());
  EXPECT_TRUE(list.weights.empty());
}

TEST(node_link, numbers_nodes_without_ids) {
  auto const list = parsed(R"({"nodes": [{"name": "x"}, {}, {}], "edges": [{"source": 2, "target": 0}]})");
  EXPECT_EQ(list.vertices, 3U);
  EXPECT_EQ(list.edges, (edges{{2, 0}}));
  EXPECT_TRUE(list.ids.empty());
  EXPECT_EQ(parsed(R"({"nodes": [], "links": []})").vertices, 0U);
}

TEST(node_link, nests_as_deep_as_the_file) {
  auto const deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_EQ(parsed(R"({"x": )" + deep + R"(, "nodes": [{"id": 1}], "links": []})").vertices, 1U);
}

}  // namespace
}  // namespace wyrm::tests
