// SPDX-License-Identifier: Apache-2.0
// Tests the program within limits: of addresses, of memory, of the number of vertices; and arguments and files that it
// refuses.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "../../apps/run.hpp"
#include "../../exec/config.hpp"
#include "../loaders/packing.hpp"
#include "graphs.hpp"
#include "program.hpp"

namespace wyrm::tests {

namespace {

constexpr bool sanitized = WYRM_ADDRESS_SANITIZER || WYRM_THREAD_SANITIZER;

// With the limit that a batch system or `ulimit -v` sets.
TEST_F(program_test, runs_where_addresses_are_limited) {
  if (sanitized) GTEST_SKIP() << "sanitizers need terabytes of addresses";
  std::string const k5_file = write("k5.graph", k5);
  std::string const packed = path("k5.graph.bz2");
  pack(packed, "bzip2", false, {{"k5.graph", k5}});
  for (std::string const kib : {"1048576", "2097152", "4000000"})
    for (std::string const& command :
         {"run " + k5_file, "stream " + k5_file + " " + write("updates.txt", "+ 1 6\n"), "walk " + k5_file,
          "cluster " + k5_file, "info " + packed, std::string("info"), "run " + packed + " --allocator bump"}) {
      SCOPED_TRACE(kib + " KiB: " + command);
      std::string const line =
          "ulimit -v " + kib + "; exec " WYRM_PROGRAM_PATH " " + command + " >" + path("out") + " 2>" + path("err");
      EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 0) << read("err");
    }
}

TEST_F(program_test, says_so_when_there_are_no_threads) {
  if (sanitized) GTEST_SKIP() << "sanitizers need terabytes of addresses";
  std::string const line = "ulimit -v 54000; exec " WYRM_PROGRAM_PATH " info >" + path("out") + " 2>" + path("err");
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 5);
  EXPECT_NE(read("err").find("refuses another thread"), std::string::npos) << read("err");
}

// A file of 17 MB with a vertex a byte, which Wyrm's own format holds in 64 bytes.
TEST_F(program_test, warns_of_a_file_that_needs_max_vertices) {
  if (sanitized) GTEST_SKIP() << "takes long";
  std::string const file = write("isolated.graph", "17000000 0\n" + std::string(17000000, '\n'));
  outcome const converted = run_program({"convert", file, path("isolated.wyrm")});
  EXPECT_EQ(converted.status, 0);
  EXPECT_NE(converted.err.find("to read it, give --max-vertices 17000000"), std::string::npos) << converted.err;
  EXPECT_EQ(run_program({"info", path("isolated.wyrm"), "--max-vertices", "17000000"}).status, 0);
}

TEST_F(program_test, limits_the_pool_on_request) {
  std::string const file = write("wheel.mtx", matrix_market(wheel_size, wheel()));
  report const small = run(file, {"--rounds", "0", "--pool-limit", "33554432"});
  EXPECT_EQ(small.count("memory/built/pool_reserved"), 33554432u);
  report const large = run(file, {"--rounds", "0", "--pool-limit", "0"});
  EXPECT_GT(large.count("memory/built/pool_reserved"), 33554432u);
  edge_set edges;  // 320,000 neighbours
  for (graph::vertex_id v = 8; v < 20008; ++v)
    for (graph::vertex_id step = 1; step <= 8; ++step) edges.insert({v - step, v});
  std::string const band = write("band.mtx", matrix_market(20008, edges));
  EXPECT_EQ(run(band, {"--rounds", "0", "--pool-limit", "33554432"}).count("graph/edges"), 160000u);
  outcome const refused = run_program({"run", band, "--rounds", "0", "--pool-limit", "65536"});
  EXPECT_EQ(refused.status, 5);
  EXPECT_NE(refused.err.find("cannot grow"), std::string::npos) << refused.err;
  for (char const* const command : {"run", "stream", "walk", "cluster"}) {
    SCOPED_TRACE(command);
    outcome const ran = run_program({command, band, "--pool-limit", "65536"});
    EXPECT_EQ(ran.status, 5);
    EXPECT_NE(ran.err.find("--pool-limit is 65536 bytes"), std::string::npos) << ran.err;
  }
  expect_refused(2, "--pool-limit", {"run", file, "--pool-limit", "-1"});
}

// The pool of 64 MiB and the arrays exceed the limit, and the results are those of a graph in plain memory.
TEST_F(program_test, limits_the_memory_of_the_device) {
  edge_set edges;
  for (graph::vertex_id v = 8; v < 5008; ++v)
    for (graph::vertex_id step = 1; step <= 8; ++step) edges.insert({v - step, v});
  std::string const file = write("band.mtx", matrix_market(5008, edges));
  report const plain = run(file, {"--rounds", "2", "--batch", "10000"});
  EXPECT_EQ(plain.count("parameters/device_memory"), 0u);
  EXPECT_TRUE(plain.at("residency").IsNull());
  report const bounded = run(file, {"--rounds", "2", "--batch", "10000", "--device-memory", "96M", "--check"});
  EXPECT_EQ(bounded.count("parameters/device_memory"), 96u << 20);
  EXPECT_GT(bounded.count("residency/resident_bytes"), 0u);
  EXPECT_LE(bounded.count("residency/resident_bytes"), 96u << 20);
  EXPECT_GT(bounded.count("residency/staged_bytes"), 0u);
  EXPECT_GE(bounded.count("residency/resident_bytes") + bounded.count("residency/staged_bytes"), 64u << 20);
  EXPECT_EQ(bounded.count("algorithms/triangles/total"), plain.count("algorithms/triangles/total"));
  EXPECT_EQ(bounded.number("algorithms/pagerank/max"), plain.number("algorithms/pagerank/max"));
  for (char const* const command : {"run", "stream", "walk", "cluster"}) {
    SCOPED_TRACE(command);
    EXPECT_EQ(run_program({command, file, "--device-memory", "160M"}).status, 0);  // checked pools have larger arrays
    outcome const ran = run_program({command, file, "--device-memory", "256K"});
    EXPECT_EQ(ran.status, 5);
    EXPECT_NE(ran.err.find("--device-memory is 262144 bytes"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("must have"), std::string::npos) << ran.err;
  }
  expect_refused(2, "leave one of both out", {"run", file, "--device-memory", "96M", "--memory", "managed"});
  expect_refused(2, "--device-memory", {"run", file, "--device-memory", "many"});
  expect_refused(2, "--device-memory", {"run", file, "--device-memory", "-1"});
}

// The message names a limit with which the same run succeeds; it fails with a quarter less.
TEST_F(program_test, names_the_device_memory_that_is_enough) {
  auto const run_with = [](std::size_t limit) {
    return run_program({"run", "gen:rmat,scale=12", "--rounds", "1", "--device-memory", std::to_string(limit)});
  };
  outcome const failed = run_with(256 << 10);
  EXPECT_EQ(failed.status, 5);
  std::string const before = "this run needs --device-memory ";
  std::size_t const at = failed.err.find(before);
  ASSERT_NE(at, std::string::npos) << failed.err;
  std::size_t const enough = std::stoull(failed.err.substr(at + before.size()));
  outcome const ran = run_with(enough);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(run_with(enough - enough / 4).status, 5);
}

// The edges of the file are inserted in several batches where memory is bounded, with the report of one.
TEST_F(program_test, bounded_graphs_are_built_in_batches) {
  std::string const graph = "gen:rmat,scale=14";  // 262,144 edges, of which some repeat
  report const plain = run(graph, {"--rounds", "0"});
  report const bounded = run(graph, {"--rounds", "0", "--device-memory", "192M"});
  for (std::string const count : {"graph/edges", "graph/duplicates_dropped", "graph/self_loops_dropped"})
    EXPECT_EQ(bounded.count(count), plain.count(count)) << count;
  EXPECT_GT(plain.count("graph/duplicates_dropped"), 0u);
  EXPECT_EQ(bounded.count("algorithms/triangles/total"), plain.count("algorithms/triangles/total"));
  EXPECT_EQ(bounded.number("algorithms/pagerank/max"), plain.number("algorithms/pagerank/max"));
}

TEST_F(program_test, chooses_the_memory_of_the_pool) {
  std::string const file = write("k5.graph", k5);
  EXPECT_EQ(run(file, {"--rounds", "0"}).text("parameters/memory"), "device");
  for (std::string const kind : {"device", "managed", "host"}) {
    SCOPED_TRACE(kind);
    report const r = run(file, {"--rounds", "1", "--check", "--memory", kind});
    EXPECT_EQ(r.text("parameters/memory"), kind);
    EXPECT_EQ(r.count("graph/edges"), 10u);
    for (char const* const command : {"stream", "walk", "cluster"})
      EXPECT_EQ(run_program({command, file, "--memory", kind}).status, 0) << command;
    // The system's allocator has no pool, so this also shows that the option reaches the allocator.
    outcome const system = run_program({"run", file, "--allocator", "malloc", "--memory", kind});
    EXPECT_EQ(system.status, kind == "device" ? 0 : 2) << system.err;
    EXPECT_EQ(system.err.find(kind + " memory") != std::string::npos, kind != "device") << system.err;
  }
  expect_refused(2, "--memory", {"run", file, "--memory", "unified"});
}

// One batch takes 4 MB; 24 of them must not be in memory together.
TEST_F(program_test, makes_batches_as_they_are_needed) {
  if (sanitized) GTEST_SKIP() << "sanitizers keep freed memory";
  std::string const file = write("k5.graph", k5);
  auto const peak = [&](std::string const& rounds) {
    outcome const ran =
        run_program({"run", file, "--batch", "500000", "--rounds", rounds, "--algorithms", "triangles"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.peak_kib;
  };
  EXPECT_LT(peak("24"), peak("2") + 40000);
}

TEST(update_rates, are_finite_for_batches_that_take_no_time) {
  apps::update_result const updates{.sum = {}, .batch_ms = {2, 0, 0}, .batch_edges = {8, 5, 0}};
  EXPECT_EQ(updates.rates(), (std::vector<double>{0, 4000, 5e9})) << "a clock has steps of a nanosecond";
}

TEST_F(program_test, limits_the_vertices_of_small_files) {
  std::string const file = write("wide.gr", "p sp 4294967295 0\n");
  expect_refused(3, file + ": expected at most 16777216 vertices in a file of 18 bytes, found 4294967295; ",
                 {"info", file});
  expect_refused(3, "--max-vertices", {"run", file, "--report", path("none.json")});
  std::string const sparse = write("sparse.gr", "p sp 17000000 0\n");
  EXPECT_EQ(row(output({"info", sparse, "--max-vertices", "17000000"}), "vertices"), "17000000");
  expect_refused(3, "at most 5 vertices, found 6", {"run", write("k5.graph", k5), "--max-vertices", "5"});
  expect_refused(2, "--max-vertices", {"info", sparse, "--max-vertices", "4294967296"});
}

// An empty value comes from a variable of a shell that is not set.
TEST_F(program_test, refuses_empty_values_and_numbers_beyond_64_bits) {
  std::string const file = write("k5.graph", k5);
  for (auto const& [command, option] : std::vector<std::pair<std::string, std::string>>{{"run", "--report"},
                                                                                        {"run", "--output"},
                                                                                        {"run", "--cache-dir"},
                                                                                        {"stream", "--report"},
                                                                                        {"cluster", "--truth"},
                                                                                        {"cluster", "--labels"},
                                                                                        {"walk", "--walks"},
                                                                                        {"walk", "--stop"},
                                                                                        {"walk", "-p"}})
    expect_refused(2, "the value is empty", {command, file, option, ""});
  expect_refused(2, "the value is empty", {"run", file, "--random-weights", "", ""});
  for (char const* const option : {"--seed", "--vertex-base", "--unpacked-limit"})
    expect_refused(2, "too large", {"run", file, option, "18446744073709551616"});
  EXPECT_EQ(run_program({"run", file, "--rounds", "0", "--seed", "18446744073709551615"}).status, 0);
}

TEST_F(program_test, refuses_an_empty_file_name) {
  for (std::string const command : {"info", "run", "stream", "walk", "cluster"})
    expect_refused(2, "FILE: the file name is empty", {command, ""});
}

}  // namespace

}  // namespace wyrm::tests
