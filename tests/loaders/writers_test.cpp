// SPDX-License-Identifier: Apache-2.0
// Tests that written files read back as the same graph with equal numbers, and that a graph that the format cannot
// represent is refused without creating a file; what output files do with links, pipes, modes and other writers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/loaders.hpp"
#include "../../loaders/output_file.hpp"
#include "../../loaders/writers.hpp"
#include "../support/seed.hpp"
#include "../support/truth.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

namespace fs = std::filesystem;
using edges = std::vector<graph::edge>;

/// Edges with their weights, normalised: formats may change the direction and the order of undirected edges.
std::vector<std::pair<graph::edge, double>> content(graph::edge_list const& list, bool in_order) {
  std::vector<std::pair<graph::edge, double>> all;
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    auto [source, target] = list.edges[i];
    if (!list.directed && source > target) std::swap(source, target);
    all.push_back({{source, target}, list.weights.empty() ? 0 : list.weights[i]});
  }
  if (!in_order) std::sort(all.begin(), all.end());
  return all;
}

graph::edge_list sample(bool directed, bool weighted, bool loops) {
  std::mt19937 random(seeded(7));
  graph::edge_list list;
  list.vertices = 300;
  list.directed = directed;
  for (std::uint32_t v = 0; v < 300; ++v) list.edges.push_back({v, (v + 1) % 300});  // no vertex without edges
  while (list.edges.size() < 2000) {
    graph::edge const e{static_cast<std::uint32_t>(random() % 300), static_cast<std::uint32_t>(random() % 300)};
    if (loops || e.source != e.target) list.edges.push_back(e);
  }
  for (std::size_t i = 0; weighted && i < list.edges.size(); ++i)
    list.weights.push_back(std::ldexp(static_cast<double>(random()) + 1, static_cast<int>(random() % 60) - 40));
  if (weighted) list.weights[0] = std::numeric_limits<double>::denorm_min();
  if (weighted) list.weights[1] = std::numeric_limits<double>::max();
  return list;
}

TEST(writers, every_format_reads_back_the_same) {
  temporary_folder const folder;
  for (char const* const name : {"g.mtx", "g.graph", "g.txt", "g.wyrm"}) {
    bool const metis = fs::path(name).extension() == ".graph";
    for (bool const directed : {false, true}) {
      if (metis && directed) continue;
      for (bool const weighted : {false, true}) {
        SCOPED_TRACE(std::string(name) + (directed ? " directed" : "") + (weighted ? " weighted" : ""));
        auto const list = sample(directed, weighted, !metis);
        loaders::write(list, folder / name);
        auto const back = loaders::load(folder / name);
        EXPECT_EQ(back.vertices, list.vertices);
        EXPECT_EQ(back.directed, list.directed);
        EXPECT_EQ(content(back, !metis), content(list, !metis));
        EXPECT_EQ(back.weights.size(), list.weights.size());
        EXPECT_TRUE(back.ids.empty());
      }
    }
  }
}

TEST(writers, keep_times_ids_and_names_if_the_format_has_them) {
  temporary_folder const folder;
  graph::edge_list list;
  list.vertices = 3;
  list.directed = true;
  list.edges = {{2, 0}, {0, 1}};
  list.times = {1.25e9, -3};
  list.ids = {5, 8, 18446744073709551615U};
  loaders::write(list, folder / "g.wyrm");
  loaders::write(list, folder / "g.txt");
  EXPECT_EQ(read_file(folder / "g.txt"), "18446744073709551615\t5\t1.25e+09\n5\t8\t-3\n");
  for (char const* const name : {"g.wyrm", "g.txt"}) {
    loaders::options settings;
    if (std::string(name) == "g.txt") settings.third = loaders::third_column::time;
    auto const back = loaders::load(folder / name, settings);
    EXPECT_EQ(back.edges, list.edges);
    EXPECT_EQ(back.times, list.times);
    EXPECT_EQ(back.ids, list.ids);
  }
  list.ids = {};
  list.names = {"a", "", "two words"};
  loaders::write(list, folder / "g.wyrm");
  EXPECT_EQ(loaders::load(folder / "g.wyrm").names, list.names);
}

// Output is written in blocks of 1 MiB.
TEST(writers, write_large_files_completely) {
  temporary_folder const folder;
  graph::edge_list list;
  list.vertices = 200'000;
  list.directed = true;
  for (std::uint32_t v = 0; v < 200'000; ++v)
    list.edges.push_back({v, static_cast<std::uint32_t>((v * 77ull + 1) % 200'000)});
  for (char const* const name : {"g.mtx", "g.txt", "g.wyrm"}) {
    loaders::write(list, folder / name);
    EXPECT_GT(fs::file_size(folder / name), std::uintmax_t{1} << 20);
    EXPECT_EQ(loaders::load(folder / name).edges, list.edges) << name;
  }
}

// Ids that do not ascend would be renumbered when the file is read.
TEST(writers, number_vertices_whose_ids_do_not_ascend) {
  temporary_folder const folder;
  graph::edge_list list;
  list.vertices = 2;
  list.directed = true;
  list.edges = {{0, 1}};
  list.ids = {9, 3};
  loaders::write(list, folder / "g.txt");
  EXPECT_EQ(read_file(folder / "g.txt"), "0\t1\n");
  list.ids = {3, 9};
  loaders::write(list, folder / "g.txt");
  EXPECT_EQ(read_file(folder / "g.txt"), "3\t9\n");
}

// The ids of a file that counts from 1 are those of an edge list made from it.
TEST(writers, keep_consecutive_ids) {
  temporary_folder const folder;
  auto const list = loaders::load(folder.write("g.mtx",
                                               "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n"
                                               "1 2\n2 3\n3 1\n"));
  loaders::write(list, folder / "g.txt");
  EXPECT_EQ(read_file(folder / "g.txt"), "1\t2\n2\t3\n3\t1\n");
  loaders::write(list, folder / "g.wyrm");
  EXPECT_EQ(loaders::load(folder / "g.wyrm").first_id, 1U);
  auto lone = list;
  ++lone.vertices;
  try {
    loaders::write(lone, folder / "lone.txt");
    ADD_FAILURE() << "it was written";
  } catch (error const& e) {
    EXPECT_NE(std::string(e.what()).find("vertices without edges, such as 4"), std::string::npos) << e.what();
  }
}

TEST(writers, write_small_files_as_documented) {
  temporary_folder const folder;
  graph::edge_list list;
  list.vertices = 3;
  list.edges = {{0, 1}, {2, 1}};
  list.weights = {0.1, 2};
  loaders::write(list, folder / "g.mtx");
  EXPECT_EQ(read_file(folder / "g.mtx"), "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.1\n3 2 2\n");
  loaders::write(list, folder / "g.graph");
  EXPECT_EQ(read_file(folder / "g.graph"), "3 2 001\n2 0.1\n1 0.1 3 2\n2 2\n");
  loaders::write(list, folder / "g.txt");
  EXPECT_EQ(read_file(folder / "g.txt"), "# Undirected graph\n0\t1\t0.1\n2\t1\t2\n");
}

TEST(writers, refuse_what_the_format_cannot_represent) {
  temporary_folder const folder;
  auto const refused = [&](char const* name, graph::edge_list const& list, std::string const& what) {
    try {
      loaders::write(list, folder / name);
      ADD_FAILURE() << name << " was written";
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument) << e.what();
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
    EXPECT_FALSE(fs::exists(folder / name)) << name;
  };
  auto timed = sample(false, false, false);
  timed.times.resize(timed.edges.size());
  refused("g.mtx", timed, "times");
  refused("g.graph", timed, "times");
  refused("g.graph", sample(true, false, false), "directions");
  refused("g.graph", sample(false, false, true), "self-loops");
  auto negative = sample(false, true, false);
  negative.weights[5] = 0;
  refused("g.graph", negative, "not positive");
  auto lone = sample(true, false, false);
  ++lone.vertices;
  refused("g.txt", lone, "vertices without edges, such as 300");
  refused("g.json", lone, "not written");
  auto const written = sample(true, false, true);
  for (char const* const name : {"g.gr.gz", "g.mtx.gz.gz", "g.gz", "out.csv", "out.konect", "g", "g.gr"}) {
    refused(name, written, "not written");
    refused(name, written, loaders::written_formats);
  }
  auto short_column = sample(true, true, false);
  short_column.weights.pop_back();
  refused("g.wyrm", short_column, "one for each");
}

TEST(writers, keep_an_existing_file_when_they_fail) {
  temporary_folder const folder;
  (void)folder.write("g.graph", "old");
  EXPECT_THROW(loaders::write(sample(true, false, false), folder / "g.graph"), error);
  EXPECT_EQ(read_file(folder / "g.graph"), "old");
  fs::create_directory(folder / "d.mtx");
  for (auto const& path : {folder / "d.mtx", folder / "no/g.mtx"}) {
    try {
      loaders::write(sample(true, false, false), path);
      ADD_FAILURE() << path;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::io) << e.what();
    }
  }
}

void write_text(fs::path const& path, std::string const& text) {
  loaders::output_file file("the text", path);
  file.write(std::string_view(text));
  file.finish();
  file.commit();
}

std::ptrdiff_t files_in(fs::path const& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(output_file, does_not_follow_a_planted_link) {
  temporary_folder const folder;
  auto const victim = folder.write("victim", "old");
  auto const planted = folder / ("out.txt." + std::to_string(getpid()) + ".part");
  fs::create_symlink(victim, planted);
  write_text(folder / "out.txt", "new");
  EXPECT_EQ(read_file(victim), "old");
  EXPECT_EQ(read_file(folder / "out.txt"), "new");
  EXPECT_FALSE(fs::is_symlink(folder / "out.txt"));
  EXPECT_TRUE(fs::is_symlink(planted)) << "it belongs to somebody else";
}

TEST(output_file, is_independent_of_other_writers_of_its_name) {
  temporary_folder const folder;
  loaders::output_file first("the text", folder / "out.txt");
  loaders::output_file second("the text", folder / "out.txt");
  first.write("first");
  second.write("the second");
  for (auto* const file : {&first, &second}) file->finish();
  first.commit();
  EXPECT_EQ(read_file(folder / "out.txt"), "first");
  second.commit();
  EXPECT_EQ(read_file(folder / "out.txt"), "the second");
  EXPECT_EQ(files_in(folder / ""), 1);
}

TEST(output_file, keeps_the_mode_of_an_existing_file) {
  temporary_folder const folder;
  auto const path = folder.write("out.txt", "old");
  for (auto const mode : {fs::perms{0600}, fs::perms{0666}, fs::perms{0750}}) {
    fs::permissions(path, mode);
    write_text(path, "new");
    EXPECT_EQ(fs::status(path).permissions(), mode);
  }
  write_text(folder / std::string(255, 'n'), "the longest name that there is");
  write_file(folder / "as_usual", "");
  write_text(folder / "created", "");
  EXPECT_EQ(fs::status(folder / "created").permissions(), fs::status(folder / "as_usual").permissions());
}

TEST(output_file, keeps_links_and_replaces_the_files_they_name) {
  temporary_folder const folder;
  fs::create_directory(folder / "there");
  fs::create_symlink("there/file", folder / "near");
  fs::create_symlink(folder / "near", folder / "far");
  for (std::string const text : {"a file that does not exist yet", "a file that exists"}) {
    write_text(folder / "far", text);
    EXPECT_EQ(read_file(folder / "there/file"), text);
    EXPECT_TRUE(fs::is_symlink(folder / "far") && fs::is_symlink(folder / "near")) << text;
  }
  EXPECT_EQ(files_in(folder / "there"), 1);
  fs::create_symlink("circle", folder / "circle");
  EXPECT_THROW(write_text(folder / "circle", "text"), error);
  EXPECT_TRUE(fs::is_symlink(folder / "circle"));
}

TEST(output_file, writes_to_pipes_and_devices_directly) {
  temporary_folder const folder;
  auto const pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(pipe, folder / "link");
  for (auto const& path : {pipe, folder / "link"}) {
    int const kept = open(pipe.c_str(), O_RDWR | O_NONBLOCK);  // so that neither side waits for the other
    ASSERT_GE(kept, 0);
    EXPECT_NO_THROW(write_text(path, "through"));
    std::string text(100, ' ');
    auto const bytes = read(kept, text.data(), text.size());
    EXPECT_EQ(text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))), "through");
    close(kept);
    EXPECT_TRUE(fs::is_fifo(pipe));
  }
  EXPECT_EQ(files_in(folder / ""), 2);
  EXPECT_NO_THROW(write_text("/dev/null", "nothing"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// All threads find no cache, and write it at the same time.
TEST(cache, has_many_writers) {
  temporary_folder const folder;
  auto const list = sample(true, true, true);
  loaders::write(list, folder / "g.mtx");
  auto const load = [&] { return loaders::load(folder / "g.mtx", {.cache = true, .threads = 1}).edges == list.edges; };
  for (int round = 0; round < 20; ++round) {
    fs::remove(folder / "g.mtx.wyrm");
    std::vector<std::future<bool>> loads;
    for (int i = 0; i < 4; ++i) loads.push_back(std::async(std::launch::async, load));
    for (auto& result : loads) EXPECT_NO_THROW(EXPECT_TRUE(result.get()));
  }
  EXPECT_EQ(files_in(folder / ""), 2);
  EXPECT_TRUE(load());
}

TEST(output_file, is_removed_before_the_process_ends) {
  temporary_folder const folder;
  (void)folder.write("old.txt", "old");
  loaders::output_file committed("the text", folder / "committed.txt");
  loaders::output_file open("the text", folder / "old.txt");
  loaders::output_file finished("the text", folder / "new.txt");
  for (auto* const file : {&committed, &finished}) file->finish();
  committed.commit();
  EXPECT_EQ(files_in(folder / ""), 4);
  (void)loaders::remove_unfinished_files();
  EXPECT_EQ(files_in(folder / ""), 2);
  EXPECT_EQ(read_file(folder / "old.txt"), "old");
  EXPECT_THROW(finished.commit(), error);
  write_text(folder / "new.txt", "later");
  EXPECT_EQ(read_file(folder / "new.txt"), "later");
}

TEST(writers, real_graphs_survive_every_format) {
  auto const data = data_folder();
  temporary_folder const folder;
  int graphs = 0;
  for (char const* const name :
       {"karate.graph", "chesapeake.mtx", "ak2010.mtx", "wing.graph", "rome99.gr", "wiki-Vote.txt"}) {
    SCOPED_TRACE(name);
    if (!std::filesystem::exists(data / name)) continue;
    ++graphs;
    auto const list = loaders::load(data / name);
    for (char const* const out : {"g.mtx", "g.graph", "g.txt", "g.wyrm"}) {
      SCOPED_TRACE(out);
      try {
        loaders::write(list, folder / out);
      } catch (error const& e) {
        EXPECT_EQ(e.code(), error_code::bad_argument) << e.what();
        continue;
      }
      auto const back = loaders::load(folder / out);
      EXPECT_EQ(back.vertices, list.vertices);
      EXPECT_EQ(back.directed, list.directed);
      EXPECT_EQ(content(back, false), content(list, false));
    }
  }
  EXPECT_GT(graphs, 0) << "none of the graphs is in " << data;
}

}  // namespace
}  // namespace wyrm::tests
