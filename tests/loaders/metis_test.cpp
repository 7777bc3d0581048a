// SPDX-License-Identifier: Apache-2.0
// Tests valid METIS files: every header format, and all variations that the format permits for the same graph.
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "../../loaders/loaders.hpp"

namespace wyrm::tests {
namespace {

using edges = std::vector<graph::edge>;
using weights = std::vector<double>;

std::filesystem::path const valid = std::filesystem::path(WYRM_TEST_DATA) / "valid";

struct variant {
  std::string_view file;
  bool weighted;
};

void PrintTo(variant const& file, std::ostream* out) { *out << file.file; }

class metis_variant : public testing::TestWithParam<variant> {};

TEST_P(metis_variant, holds_the_same_graph) {
  auto const& [file, weighted] = GetParam();
  auto const list = loaders::load(valid / file);
  EXPECT_EQ(list.vertices, 5U);
  EXPECT_EQ(list.first_id, 1U);
  EXPECT_FALSE(list.directed);
  EXPECT_EQ(list.edges, (edges{{0, 1}, {0, 2}, {1, 2}, {2, 4}}));
  EXPECT_EQ(list.weights, (weighted ? weights{7, 2, 0.5, 12} : weights{}));
}

constexpr variant variants[] = {
    {"metis_plain.graph", false},
    {"metis_fmt_0.graph", false},
    {"metis_fmt_000_ncon_0.graph", false},
    {"metis_fmt_1.graph", true},
    {"metis_fmt_01.graph", true},
    {"metis_fmt_001.graph", true},
    {"metis_fmt_10.graph", false},
    {"metis_fmt_010_ncon_3.graph", false},
    {"metis_fmt_11_ncon_1.graph", true},
    {"metis_fmt_011_ncon_2.graph", true},
    {"metis_fmt_100.graph", false},
    {"metis_fmt_101.graph", true},
    {"metis_fmt_110.graph", false},
    {"metis_fmt_110_ncon_2.graph", false},
    {"metis_fmt_111.graph", true},
    {"metis_fmt_111_ncon_2.graph", true},
    {"metis_unsorted.graph", false},
    {"metis_blanks.graph", false},
    {"metis_comments.graph", false},
    {"metis_crlf.graph", true},
    {"metis_no_newline.graph", false},
    {"metis_no_newline_cr.graph", false},
    {"metis_trailing_blank_lines.graph", false},
    {"metis_blank_before_header.graph", false},
    {"metis_upper_case.GRAPH", false},
    {"metis_other_name.metis", false},
};

INSTANTIATE_TEST_SUITE_P(files, metis_variant, testing::ValuesIn(variants), [](auto const& info) {
  return std::string(info.param.file.substr(0, info.param.file.find('.')));
});

TEST(metis, graph_without_vertices) {
  auto const list = loaders::load(valid / "metis_no_vertices.graph");
  EXPECT_EQ(list.vertices, 0U);
  EXPECT_FALSE(list.directed);
  EXPECT_TRUE(list.edges.empty());
}

TEST(metis, graph_without_edges) {
  auto const list = loaders::load(valid / "metis_no_edges.graph");
  EXPECT_EQ(list.vertices, 3U);
  EXPECT_TRUE(list.edges.empty());
}

TEST(metis, first_and_last_vertex_isolated) {
  auto const list = loaders::load(valid / "metis_isolated_ends.graph");
  EXPECT_EQ(list.vertices, 4U);
  EXPECT_EQ(list.edges, (edges{{1, 2}}));
}

TEST(metis, repeated_edges_stay_with_their_weights) {
  auto const list = loaders::load(valid / "metis_repeated.graph");
  EXPECT_EQ(list.vertices, 3U);
  EXPECT_EQ(list.edges, (edges{{0, 1}, {0, 1}, {0, 1}, {1, 2}}));
  EXPECT_EQ(list.weights, (weights{3, 5, 5, 1}));
}

}  // namespace
}  // namespace wyrm::tests
