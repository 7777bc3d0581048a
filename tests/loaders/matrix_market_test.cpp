// SPDX-License-Identifier: Apache-2.0
// Tests valid Matrix Market files: every field with every symmetry, and all variations that the format permits.
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <vector>

#include "../../loaders/loaders.hpp"
#include "../../loaders/matrix_market.hpp"

namespace wyrm::tests {
namespace {

using edges = std::vector<graph::edge>;
using weights = std::vector<double>;

std::filesystem::path const valid = std::filesystem::path(WYRM_TEST_DATA) / "valid";

struct matrix {
  char const* file;
  std::size_t vertices;
  bool directed;
  edges arcs;
  weights values;
};

void PrintTo(matrix const& expected, std::ostream* out) { *out << expected.file; }

class matrix_market_file : public testing::TestWithParam<matrix> {};

TEST_P(matrix_market_file, holds_these_edges) {
  auto const& expected = GetParam();
  auto const list = loaders::load(valid / expected.file, {.max_vertices = graph::max_vertices});
  EXPECT_EQ(list.vertices, expected.vertices);
  EXPECT_EQ(list.first_id, 1U);
  EXPECT_EQ(list.directed, expected.directed);
  EXPECT_EQ(list.edges, expected.arcs);
  EXPECT_EQ(list.weights, expected.values);
}

edges const three{{2, 0}, {0, 2}, {1, 3}};

matrix const matrices[] = {
    {"mtx_pattern_general.mtx", 4, true, three, {}},
    {"mtx_pattern_symmetric.mtx", 4, false, {{2, 0}, {1, 1}, {3, 2}}, {}},
    {"mtx_integer_general.mtx", 4, true, {{2, 0}, {0, 2}, {1, 3}, {3, 0}}, {5, -2, 0, 9007199254740992.0}},
    {"mtx_integer_symmetric.mtx", 4, false, {{2, 0}, {1, 1}}, {5, -1}},
    {"mtx_integer_skew.mtx", 4, true, {{2, 0}, {0, 2}, {3, 1}, {1, 3}}, {5, -5, -6, 6}},
    {"mtx_real_general.mtx", 4, true, {{2, 0}, {0, 2}, {1, 3}, {3, 3}}, {5, -0.0025, 0.5, 100}},
    {"mtx_real_symmetric.mtx", 4, false, {{2, 0}, {1, 0}}, {0.1, 1e-320}},
    {"mtx_real_skew.mtx", 4, true, {{2, 0}, {0, 2}, {3, 1}, {1, 3}}, {0.25, -0.25, -6, 6}},
    {"mtx_banner_case.mtx", 4, true, three, {}},
    {"mtx_comments.mtx", 4, true, three, {}},
    {"mtx_crlf.mtx", 4, true, three, {}},
    {"mtx_no_newline.mtx", 4, true, three, {}},
    {"mtx_upper_case.MTX", 4, true, three, {}},
    {"mtx_other_name.txt", 4, true, three, {}},
    {"mtx_no_name_ending", 4, true, three, {}},
    {"mtx_repeated.mtx", 2, true, {{0, 1}, {0, 1}, {0, 1}}, {1, 1, 4}},
    {"mtx_no_rows.mtx", 0, true, {}, {}},
    {"mtx_no_entries.mtx", 3, false, {}, {}},
    {"mtx_most_vertices.mtx", graph::max_vertices, true, {{4294967294U, 0}}, {}},
};

INSTANTIATE_TEST_SUITE_P(files, matrix_market_file, testing::ValuesIn(matrices),
                         [](auto const& info) { return std::filesystem::path(info.param.file).stem().string(); });

TEST(matrix_market_banner, is_known_in_any_case) {
  EXPECT_TRUE(loaders::has_matrix_market_banner("%%MatrixMarket matrix"));
  EXPECT_TRUE(loaders::has_matrix_market_banner("%%matrixmarket"));
  EXPECT_FALSE(loaders::has_matrix_market_banner("%%MatrixMarke"));
  EXPECT_FALSE(loaders::has_matrix_market_banner("%MatrixMarket matrix"));
  EXPECT_FALSE(loaders::has_matrix_market_banner(""));
}

}  // namespace
}  // namespace wyrm::tests
