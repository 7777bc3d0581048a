// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm walk`: its walks, on graphs that permit few of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

// With weights, walks only go around the ring, because the other arc has weight 0. Without weights they use that arc,
// too.
TEST_F(program_test, walks) {
  std::string const file =
      write("ring.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 2.5\n2 3 1\n3 1 1\n1 3 0\n");
  std::string const table =
      output({"walk", file, "--weighted", "--steps", "4", "--starts", "1,3", "--walks", path("w")});
  EXPECT_EQ(row(table, "walks"), "2");
  EXPECT_EQ(row(table, "steps"), "8");
  EXPECT_EQ(read("w"), "1 2 3 1 2\n3 1 2 3 1\n");
  EXPECT_EQ(row(output({"walk", file, "--steps", "50", "--per-vertex", "20", "--walks", path("w")}), "steps"), "3000");
  EXPECT_NE(read("w").find("1 3"), std::string::npos);
  EXPECT_EQ(row(output({"walk", file, "--steps", "0"}), "steps"), "0");

  expect_refused(2, "--starts: expected a vertex (1 to 3), found \"4\"", {"walk", file, "--starts", "4"});
  expect_refused(2, "p and q must be", {"walk", file, "-p", "0"});
  expect_refused(2, "has no weights", {"walk", write("plain.graph", "2 1\n2\n1\n"), "--weighted"});
  expect_refused(4, "cannot write the walks", {"walk", file, "--walks", path("none/w")});
}

// Each option changes the walks: on a ring a walk goes on, or returns at once, depending on p and q.
TEST_F(program_test, walks_by_their_options) {
  std::string const file = write("ring.graph", "6 6\n2 6\n1 3\n2 4\n3 5\n4 6\n1 5\n");
  auto const walks = [&](strings options) {
    options.insert(options.begin(), {"walk", file, "--walks", path("w")});
    (void)output(options);
    std::istringstream lines(read("w"));
    std::vector<std::vector<int>> all;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      all.emplace_back(std::istream_iterator<int>(words), std::istream_iterator<int>());
    }
    return all;
  };
  for (bool const returns : {false, true}) {
    auto const all =
        walks({"-p", returns ? "0.01" : "100", "-q", returns ? "100" : "0.01", "--steps", "8", "--per-vertex", "2"});
    ASSERT_EQ(all.size(), 12u);
    std::size_t same = 0;
    for (auto const& walk : all) {
      ASSERT_EQ(walk.size(), 9u);
      for (std::size_t i = 2; i < 9; ++i) same += walk[i] == walk[i - 2] ? 1u : 0u;
    }
    EXPECT_EQ(same, returns ? 84u : 0u) << "an exception has a probability of 0.01 % each";
  }
  EXPECT_EQ(walks({"--restart", "1", "--steps", "3", "--starts", "4"}), (std::vector<std::vector<int>>{{4, 4, 4, 4}}));
  EXPECT_NE(walks({"--seed", "2"}), walks({"--seed", "3"}));
  EXPECT_EQ(walks({"--seed", "3"}), walks({"--seed", "3"}));
  EXPECT_EQ(walks({}).front().size(), 81u);
  std::size_t vertices = 0;
  for (auto const& walk : walks({"--stop", "0.5", "--steps", "4294967295", "--per-vertex", "500"}))
    vertices += walk.size();
  EXPECT_NEAR(static_cast<double>(vertices), 6000, 6 * std::sqrt(3000 * 2)) << "a walk has two vertices on average";
}

}  // namespace

}  // namespace wyrm::tests
