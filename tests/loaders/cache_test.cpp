// SPDX-License-Identifier: Apache-2.0
// Tests caches of graph files: what makes them outdated, which files they replace, and what happens when they cannot be
// written. options_test has those that belong to options, writers_test those with many writers.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/binary.hpp"
#include "../../loaders/loaders.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

namespace fs = std::filesystem;
using edges = std::vector<graph::edge>;

/// The list of a load with a cache, and its warnings.
struct loaded {
  graph::edge_list list;
  std::vector<std::string> warnings;
};

loaded load_cached(fs::path const& file, loaders::options settings = {}) {
  settings.cache = true;
  loaded result;
  auto const warn = [&](std::string const& message) { result.warnings.push_back(message); };
  result.list = loaders::load(file, settings, {}, warn);
  return result;
}

void expect_warning(loaded const& got, std::string const& part) {
  ASSERT_EQ(got.warnings.size(), 1U) << part;
  EXPECT_NE(got.warnings[0].find(part), std::string::npos) << got.warnings[0];
}

std::ptrdiff_t files_in(fs::path const& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

timespec change_time(fs::path const& file) {
  struct stat about {};
  EXPECT_EQ(stat(file.c_str(), &about), 0);
  return about.st_ctim;
}

TEST(cache, is_outdated_by_a_change_that_keeps_size_and_time) {
  temporary_folder const folder;
  auto const file = folder.write("g.gr", "p sp 3 1\na 1 2 5\n");
  auto const time = fs::last_write_time(file);
  auto const before = change_time(file);
  EXPECT_EQ(load_cached(file).list.edges, (edges{{0, 1}}));
  do {  // clocks of file systems tick every few milliseconds
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    write_file(file, "p sp 3 1\na 1 3 5\n");
    fs::last_write_time(file, time);
  } while (change_time(file).tv_sec == before.tv_sec && change_time(file).tv_nsec == before.tv_nsec);
  ASSERT_EQ(fs::last_write_time(file), time);
  EXPECT_EQ(load_cached(file).list.edges, (edges{{0, 2}}));
  EXPECT_EQ(load_cached(file).list.edges, (edges{{0, 2}}));

  (void)folder.write("other.gr", "p sp 3 1\na 2 3 5\n");
  fs::last_write_time(folder / "other.gr", time);
  fs::rename(folder / "other.gr", file);
  EXPECT_EQ(load_cached(file).list.edges, (edges{{1, 2}}));
}

TEST(cache, keeps_the_first_id) {
  temporary_folder const folder;
  struct given {
    std::string name, text;
    loaders::options settings;
    std::uint64_t first_id;
  };
  for (auto const& [name, text, settings, first_id] :
       {given{"g.gr", "p sp 3 1\na 1 2 5\n", {}, 1}, given{"g.el", "0 1\n", {}, 0},
        given{"g.txt", "70000000000 70000000001\n", {.vertex_base = 70000000000}, 70000000000}}) {
    auto const file = folder.write(name, text);
    EXPECT_EQ(load_cached(file, settings).list.first_id, first_id) << name;
    auto const cache = loaders::cache_of(file, settings);
    auto changed = loaders::load(cache);
    EXPECT_EQ(changed.first_id, first_id) << name;
    changed.edges = {{1, 1}};
    loaders::write_binary(changed, cache, loaders::detail::binary_stamp(read_file(cache)));
    auto const again = load_cached(file, settings);
    EXPECT_EQ(again.list.edges, changed.edges) << "it is loaded from the cache";
    EXPECT_EQ(again.list.first_id, first_id) << name;
    EXPECT_TRUE(again.warnings.empty());
  }
}

/// A flag that the format does not use is refused with and without a cache.
TEST(cache, does_not_hide_a_flag_without_effect) {
  temporary_folder const folder;
  auto const file = folder.write("g.gr", "p sp 3 1\na 1 2 5\n");
  EXPECT_EQ(load_cached(file).list.edges, (edges{{0, 1}}));
  for (auto const third : {loaders::third_column::weight, loaders::third_column::time})
    EXPECT_THROW((void)load_cached(file, {.third = third}), error);
}

TEST(cache, replaces_no_other_file) {
  temporary_folder const folder;
  auto const file = folder.write("g.gr", "p sp 3 1\na 1 2 5\n");
  auto const cache = folder / "g.gr.wyrm";
  graph::edge_list other;
  other.vertices = 9;
  other.edges = {{7, 8}};
  auto const expect_left = [&](std::string const& content) {
    write_file(cache, content);
    auto const got = load_cached(file);
    EXPECT_EQ(got.list.edges, (edges{{0, 1}}));
    EXPECT_EQ(got.list.first_id, 1U);
    expect_warning(got, cache.string() + ": another file has this name; remove it, or");
    EXPECT_EQ(read_file(cache), content);
    EXPECT_EQ(files_in(folder / ""), 2);
    fs::remove(cache);
  };
  expect_left("");
  expect_left("my notes");
  expect_left(std::string(200, 'x'));
  loaders::write_binary(other, folder / "plain.wyrm");
  auto const plain = read_file(folder / "plain.wyrm");
  // Caches of earlier versions have another number of 64 bits in the place of the two hashes, and a hash of their name,
  // or 0, in that of the first id.
  (void)load_cached(file);
  auto const name = loaders::detail::binary_stamp(read_file(cache)).name;
  other.first_id = name;
  loaders::write_binary(other, folder / "plain.wyrm", {7, 8});
  auto const hashed = read_file(folder / "plain.wyrm");
  other.first_id = 0;
  loaders::write_binary(other, folder / "plain.wyrm", {7, 0});
  auto const earlier = read_file(folder / "plain.wyrm");
  EXPECT_EQ(loaders::load(folder / "plain.wyrm").edges, other.edges);
  fs::remove(folder / "plain.wyrm");
  expect_left(plain);
  expect_left(earlier);
  expect_left(hashed);
  // The cache of another graph, renamed.
  EXPECT_EQ(load_cached(folder.write("h.gr", "p sp 9 1\na 8 9 5\n")).list.edges, other.edges);
  auto const renamed = read_file(folder / "h.gr.wyrm");
  fs::remove(folder / "h.gr.wyrm");
  fs::remove(folder / "h.gr");
  expect_left(renamed);

  fs::create_directory(cache);
  expect_warning(load_cached(file), "another file has this name");
  fs::remove(cache);
  ASSERT_EQ(mkfifo(cache.c_str(), 0600), 0);
  expect_warning(load_cached(file), "another file has this name");
  EXPECT_TRUE(fs::is_fifo(cache));
}

TEST(cache, that_cannot_be_written_is_a_warning) {
  temporary_folder const folder;
  auto const file = folder.write("g.gr", "p sp 3 1\na 1 2 5\n");
  for (auto const& [dir, reason] : {std::pair{file, "Not a directory"}, {folder / "none", "No such file"}}) {
    auto const got = load_cached(file, {.cache_dir = dir});
    EXPECT_EQ(got.list.edges, (edges{{0, 1}}));
    expect_warning(got, file.string() + ": the graph is loaded, but not its cache kept: cannot write the graph " +
                            dir.string() + "/g.gr.");
    expect_warning(got, reason);
    EXPECT_EQ(loaders::load(file, {.cache = true, .cache_dir = dir}).edges, (edges{{0, 1}})) << "nobody takes warnings";
  }
  auto const longest = folder.write(std::string(252, 'n') + ".gr", "p sp 3 1\na 1 2 5\n");
  auto const got = load_cached(longest);
  EXPECT_EQ(got.list.edges, (edges{{0, 1}}));
  expect_warning(got, "File name too long");
  EXPECT_EQ(files_in(folder / ""), 2);
}

TEST(cache, is_kept_in_another_folder) {
  temporary_folder const folder;
  fs::create_directory(folder / "caches");
  for (auto const* const part : {"a", "b"}) fs::create_directory(folder / part);
  loaders::options const settings{.cache_dir = folder / "caches"};
  auto const first = folder.write("a/g.gr", "p sp 3 1\na 1 2 5\n");
  auto const second = folder.write("b/g.gr", "p sp 3 1\na 1 3 5\n");
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(load_cached(first, settings).list.edges, (edges{{0, 1}}));
    EXPECT_EQ(load_cached(second, settings).list.edges, (edges{{0, 2}}));
  }
  EXPECT_EQ(files_in(folder / "caches"), 2);
  EXPECT_EQ(load_cached(folder / "a/../b/g.gr", settings).list.edges, (edges{{0, 2}}));
  EXPECT_EQ(files_in(folder / "caches"), 2) << "a cache for each file, however its path is spelled";
  EXPECT_EQ(files_in(folder / "b"), 1);

  // It is loaded instead of the file.
  auto const cache = loaders::cache_of(first, settings);
  EXPECT_EQ(cache.parent_path(), folder / "caches");
  auto other = loaders::load(cache);
  other.edges = {{2, 2}};
  loaders::write_binary(other, cache, loaders::detail::binary_stamp(read_file(cache)));
  auto const got = load_cached(first, settings);
  EXPECT_EQ(got.list.edges, other.edges);
  EXPECT_TRUE(got.warnings.empty());

  auto const longest = folder.write(std::string(252, 'n') + ".gr", "p sp 3 1\na 1 2 5\n");
  EXPECT_TRUE(load_cached(longest, settings).warnings.empty());
  EXPECT_EQ(files_in(folder / "caches"), 3);
}

}  // namespace
}  // namespace wyrm::tests
