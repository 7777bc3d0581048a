// SPDX-License-Identifier: Apache-2.0
// Tests the effect of each option on a list, caches, and the recognition of formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/binary.hpp"
#include "../../loaders/detail/recognise.hpp"
#include "../../loaders/loaders.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

namespace fs = std::filesystem;
using edges = std::vector<graph::edge>;
using numbers = std::vector<double>;
using loaders::file_format;

std::string const text = "0 1 5\n2 2 6\n1 0 7\n0 1 8\n3 1 9\n";
graph::edge_list parsed(loaders::options const& settings, std::string const& content = text) {
  return loaders::parse("text", content, file_format::edge_list, settings);
}

TEST(options, remove_self_loops) {
  auto const list = parsed({.remove_self_loops = true});
  EXPECT_EQ(list.edges, (edges{{0, 1}, {1, 0}, {0, 1}, {3, 1}}));
  EXPECT_EQ(list.weights, (numbers{5, 7, 8, 9}));
  EXPECT_EQ(list.vertices, 4U);
}

TEST(options, remove_duplicates_keeps_the_first) {
  auto const directed = parsed({.remove_duplicates = true});
  EXPECT_EQ(directed.edges, (edges{{0, 1}, {1, 0}, {2, 2}, {3, 1}}));
  EXPECT_EQ(directed.weights, (numbers{5, 7, 6, 9}));
  auto const undirected = parsed({.directed = false, .remove_duplicates = true});
  EXPECT_FALSE(undirected.directed);
  EXPECT_EQ(undirected.edges, (edges{{0, 1}, {1, 3}, {2, 2}}));
  EXPECT_EQ(undirected.weights, (numbers{5, 9, 6}));
  auto const plain = parsed({.directed = false, .remove_duplicates = true}, "0 1\n2 2\n1 0\n0 1\n3 1\n");
  EXPECT_EQ(plain.edges, undirected.edges);
}

TEST(options, directed_makes_two_arcs_of_an_edge) {
  auto const list = parsed({.directed = true}, "# Undirected graph\n0 1 5\n2 2 6\n");
  EXPECT_TRUE(list.directed);
  EXPECT_EQ(list.edges, (edges{{0, 1}, {2, 2}, {1, 0}}));
  EXPECT_EQ(list.weights, (numbers{5, 6, 5}));
  EXPECT_EQ(parsed({.directed = true}).edges.size(), 5U) << "arcs are unchanged";
}

TEST(options, random_weights_are_a_function_of_edge_and_seed) {
  std::string many;
  for (int i = 0; i < 2000; ++i) many += std::to_string(i) + " " + std::to_string((i * 7 + 1) % 2000) + "\n";
  auto const draw = [&](std::uint64_t seed) {
    return parsed({.random_weights = loaders::weight_range{-2, 3, seed}}, many + "1 0\n0 1\n").weights;
  };
  auto const weights = draw(1);
  ASSERT_EQ(weights.size(), 2002U);
  EXPECT_TRUE(std::all_of(weights.begin(), weights.end(), [](double w) { return w >= -2 && w <= 3; }));
  std::vector<int> in_fifth(5);
  for (double const w : weights) ++in_fifth[static_cast<std::size_t>(std::min(w + 2, 4.999))];
  for (int const n : in_fifth) EXPECT_NEAR(n, 400, 100);
  EXPECT_EQ(weights[0], weights[2000]) << "in either direction";
  EXPECT_EQ(weights[0], weights[2001]);
  EXPECT_EQ(draw(1), weights);
  EXPECT_NE(draw(2), weights);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (auto const& [least, most] : {std::pair{3.0, 2.0},
                                    {-infinite, 0.0},
                                    {0.0, infinite},
                                    {-1e308, 1e308},
                                    {std::nan(""), 1.0},
                                    {0.0, std::nan("")}})
    EXPECT_THROW((void)parsed({.random_weights = loaders::weight_range{least, most, 1}}), error) << least;
  EXPECT_EQ(parsed({.random_weights = loaders::weight_range{4, 4, 1}}).weights, numbers(5, 4));
}

TEST(options, order_is_the_last_change_and_keeps_ids) {
  std::string const hub = "7 9 1\n5 5 2\n8 9 3\n9 5 4\n9 5 5\n";
  auto const list = parsed({.remove_self_loops = true,
                            .directed = false,
                            .remove_duplicates = true,
                            .order = graph::vertex_order::by_degree},
                           hub);
  EXPECT_EQ(list.ids, (std::vector<std::uint64_t>{9, 5, 7, 8})) << "the loop at 5 does not count";
  EXPECT_EQ(list.edges, (edges{{1, 0}, {2, 0}, {3, 0}})) << "sorted by the ids of the file";
  EXPECT_EQ(list.weights, (numbers{4, 1, 3}));
  auto const local = parsed({.order = graph::vertex_order::by_locality}, "0 2\n2 1\n1 3\n");
  EXPECT_EQ(local.ids, (std::vector<std::uint64_t>{3, 1, 2, 0}));
  EXPECT_EQ(local.edges, (edges{{3, 2}, {2, 1}, {1, 0}}));
  auto const drawn = [&](graph::vertex_order order) {
    return parsed({.random_weights = loaders::weight_range{}, .order = order}, hub).weights;
  };
  EXPECT_EQ(drawn(graph::vertex_order::by_degree), drawn(graph::vertex_order::as_given));
  EXPECT_THROW((void)parsed({.order = static_cast<graph::vertex_order>(7)}), error);
  auto const adjusted = loaders::adjusted(parsed({}, hub), {.order = graph::vertex_order::by_degree});
  EXPECT_EQ(adjusted.ids, (std::vector<std::uint64_t>{5, 9, 7, 8})) << "the loop at 5 has two ends";
}

TEST(cache, is_loaded_while_the_file_is_unchanged) {
  temporary_folder const folder;
  auto const file = folder.write("g.txt", "10 20\n20 30\n");
  auto const cache = folder / "g.txt.wyrm";
  loaders::options const settings{.cache = true, .directed = false};
  auto const first = loaders::load(file, settings);
  ASSERT_TRUE(fs::exists(cache));
  auto const same = [](graph::edge_list const& a, graph::edge_list const& b) {
    return a.edges == b.edges && a.ids == b.ids && a.directed == b.directed && a.vertices == b.vertices;
  };
  EXPECT_TRUE(same(loaders::load(file, settings), first));

  // A cache with another graph and the correct stamp is loaded, so the file itself is not read again.
  auto other = first;
  other.edges = {{0, 0}};
  loaders::write_binary(other, cache, loaders::detail::binary_stamp(read_file(cache)));
  EXPECT_EQ(loaders::load(file, settings).edges, other.edges);
  EXPECT_EQ(loaders::load(file, {.directed = false}).edges, first.edges) << "without --cache";

  // With other options, another file, or damage, the cache is written again.
  EXPECT_EQ(loaders::load(file, {.vertex_base = 0, .cache = true}).vertices, 31U);
  EXPECT_TRUE(same(loaders::load(file, settings), first));
  auto damaged = read_file(cache);
  damaged[70] = static_cast<char>(damaged[70] ^ 1);
  write_file(cache, damaged);
  EXPECT_TRUE(same(loaders::load(file, settings), first));
  (void)folder.write("g.txt", "10 20\n20 30\n30 40\n");
  EXPECT_EQ(loaders::load(file, settings).edges.size(), 3U);
  EXPECT_FALSE(fs::exists(folder / "g.txt.wyrm.wyrm"));
}

// A cache belongs to the options that change how the file is parsed, and to the file; options that are applied later do
// not make it outdated.
TEST(cache, belongs_to_the_options_of_the_parser) {
  temporary_folder const folder;
  auto const file = folder.write("g.txt", "1 2 5\n2 2 6\n");
  auto const cache = folder / "g.txt.wyrm";
  auto const loaded = [&](loaders::options settings) {
    settings.cache = true;
    return loaders::load(file, settings);
  };
  auto const stamp = [&] { return loaders::detail::binary_stamp(read_file(cache)); };
  EXPECT_EQ(loaded({}).weights, (numbers{5, 6}));
  auto const first = stamp();
  auto const timed = loaded({.third = loaders::third_column::time});
  EXPECT_EQ(timed.times, (numbers{5, 6}));
  EXPECT_TRUE(timed.weights.empty());
  EXPECT_NE(stamp(), first);
  EXPECT_EQ(loaded({.third = loaders::third_column::weight}).weights, (numbers{5, 6}));
  EXPECT_EQ(loaded({}).weights, (numbers{5, 6}));
  EXPECT_EQ(stamp(), first);
  for (std::uint64_t const base : {0u, 1u, 0u}) {
    EXPECT_EQ(loaded({.vertex_base = base}).vertices, 3 - base);
    EXPECT_EQ(loaded({.vertex_base = base}).first_id, base) << "from the cache";
    EXPECT_NE(stamp(), first) << "a base of " << base << " is not the same as none";
  }
  EXPECT_EQ(loaded({.format = file_format::gap}).vertices, 3U);
  EXPECT_EQ(loaded({}).ids, (std::vector<std::uint64_t>{1, 2}));

  EXPECT_EQ(loaded({.remove_self_loops = true, .directed = false, .threads = 1}).edges, (edges{{0, 1}}));
  EXPECT_EQ(stamp(), first);
  EXPECT_EQ(loaded({}).edges, (edges{{0, 1}, {1, 1}})) << "the cache has the list before it is adjusted";

  EXPECT_EQ(loaded({.order = graph::vertex_order::by_degree}).ids, (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(stamp(), first);
  EXPECT_EQ(loaded({}).ids, (std::vector<std::uint64_t>{1, 2})) << "the cache has the vertices in their own order";

  // Equally long, but newer.
  auto const time = fs::last_write_time(file);
  write_file(file, "1 2 7\n2 2 8\n");
  fs::last_write_time(file, time + std::chrono::seconds(1));
  EXPECT_EQ(loaded({}).weights, (numbers{7, 8}));
}

// Each file of a Graphalytics graph is part of it.
TEST(cache, of_several_files_is_outdated_by_each) {
  temporary_folder const folder;
  (void)folder.write("g.v", "10\n20\n");
  auto const file = folder.write("g.e", "10 20\n");
  auto const load = [&] { return loaders::load(file, {.cache = true}); };
  EXPECT_TRUE(load().directed);
  (void)folder.write("g.properties", "graph.g.directed = false\n");
  EXPECT_FALSE(load().directed);
  (void)folder.write("g.v", "10\n20\n30\n");
  EXPECT_EQ(load().vertices, 3U);
  (void)folder.write("g.e", "10 20\n30 10\n");
  EXPECT_EQ(load().edges.size(), 2U);
}

TEST(format, is_recognised_by_name_and_content) {
  using loaders::detail::recognise;
  std::string const banner = "%%MatrixMarket matrix coordinate pattern general\n";
  std::string const binary("\x89WYRM\r\n\x1a", 8);
  struct row {
    char const* name;
    std::string content;
    std::optional<file_format> want;
  };
  std::vector<row> const rows{
      {"g.graph", "1 2\n", file_format::metis},
      {"g.METIS", "", file_format::metis},
      {"g.mtx", "1 2\n", file_format::matrix_market},
      {"g.gr", "", file_format::dimacs},
      {"g.el", "", file_format::gap},
      {"g.wel", "", file_format::gap},
      {"g.v", "", file_format::graphalytics},
      {"g.e", "", file_format::graphalytics},
      {"g.json", "", file_format::node_link},
      {"g.txt", "1 2\n", file_format::edge_list},
      {"g.tsv", "1 2\n", file_format::edge_list},
      {"g.edges", "1 2\n", file_format::edge_list},
      {"g.EdgeList", "1 2\n", file_format::edge_list},
      {"out.moreno", "% sym\n1 2\n", file_format::edge_list},
      {"g.wyrm", "", file_format::binary},
      {"g.txt", banner, file_format::matrix_market},
      {"g", banner, file_format::matrix_market},
      {"g.txt", "  {\"nodes\": []}", file_format::node_link},
      {"g.txt", "c x\nc\np sp 1 0\n", file_format::dimacs},
      {"g.mtx", binary, file_format::binary},
      {"g.dat", "1 2\n", std::nullopt},
      {"g", "", std::nullopt},
  };
  for (auto const& [name, content, want] : rows) EXPECT_EQ(recognise(name, content), want) << name << content;
}

// Four columns: weights and times both follow their edges.
std::string const timed_text = "0 1 5 10\n2 2 6 20\n1 0 7 30\n3 3 8 40\n0 1 9 50\n3 1 4 60\n";

TEST(options, remove_self_loops_keeps_the_times_of_the_other_edges) {
  auto const list = parsed({.remove_self_loops = true}, timed_text);
  EXPECT_EQ(list.edges, (edges{{0, 1}, {1, 0}, {0, 1}, {3, 1}}));
  EXPECT_EQ(list.weights, (numbers{5, 7, 9, 4}));
  EXPECT_EQ(list.times, (numbers{10, 30, 50, 60}));
  auto const unweighted = parsed({.third = loaders::third_column::time, .remove_self_loops = true}, text);
  EXPECT_TRUE(unweighted.weights.empty());
  EXPECT_EQ(unweighted.times, (numbers{5, 7, 8, 9}));
}

TEST(options, both_directions_of_an_edge_have_its_time) {
  auto const undirected = "# Undirected graph\n" + timed_text;
  auto const arcs = parsed({.directed = true}, undirected);
  EXPECT_TRUE(arcs.directed);
  EXPECT_EQ(arcs.edges, (edges{{0, 1}, {2, 2}, {1, 0}, {3, 3}, {0, 1}, {3, 1}, {1, 0}, {0, 1}, {1, 0}, {1, 3}}));
  EXPECT_EQ(arcs.weights, (numbers{5, 6, 7, 8, 9, 4, 5, 7, 9, 4}));
  EXPECT_EQ(arcs.times, (numbers{10, 20, 30, 40, 50, 60, 10, 30, 50, 60}));
  auto const unweighted =
      parsed({.third = loaders::third_column::time, .directed = true}, "# Undirected graph\n0 1 5\n2 2 6\n2 1 7\n");
  EXPECT_EQ(unweighted.edges, (edges{{0, 1}, {2, 2}, {2, 1}, {1, 0}, {1, 2}}));
  EXPECT_EQ(unweighted.times, (numbers{5, 6, 7, 5, 7}));

  // Edges that stay edges, arcs that stay arcs, and arcs that become edges keep one time each.
  for (auto const& [wanted, content] : {std::pair<std::optional<bool>, std::string>{false, undirected},
                                        {std::nullopt, undirected},
                                        {true, timed_text},
                                        {false, timed_text}}) {
    auto const list = parsed({.directed = wanted}, content);
    EXPECT_EQ(list.edges.size(), 6U);
    EXPECT_EQ(list.times, (numbers{10, 20, 30, 40, 50, 60}));
  }
}

TEST(options, self_loops_go_before_directions_and_repetitions) {
  loaders::options wanted{.remove_self_loops = true, .directed = true, .remove_duplicates = true};
  auto const arcs = parsed(wanted, "# Undirected graph\n" + timed_text);
  EXPECT_EQ(arcs.edges, (edges{{0, 1}, {1, 0}, {1, 3}, {3, 1}}));
  EXPECT_EQ(arcs.times, (numbers{10, 30, 60, 60}));
  wanted.directed = false;
  auto const list = parsed(wanted, timed_text);
  EXPECT_EQ(list.edges, (edges{{0, 1}, {1, 3}}));
  EXPECT_EQ(list.weights, (numbers{5, 4}));
  EXPECT_EQ(list.times, (numbers{10, 60}));
}

}  // namespace
}  // namespace wyrm::tests
