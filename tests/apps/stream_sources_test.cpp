// SPDX-License-Identifier: Apache-2.0
// Tests where `wyrm stream` reads updates from, and where it writes them: compressed files, a Unix socket, saved
// streams, lines of any length. Expected results are those of the same updates as a plain file.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "../support/seed.hpp"
#include "program.hpp"
#include "report.hpp"
#include "running.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

/// A triangle 1 2 3 with a tail 3 4 5, and the isolated vertex 6.
constexpr char const* small_graph = "6 5\n2 3\n1 3\n1 2 4\n3 5\n4\n\n";

std::string gzip(std::string const& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// All kinds of lines; some are refused.
std::string random_lines(std::size_t n) {
  std::mt19937 random(seeded(61));
  std::string text;
  double time = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::string const u = std::to_string(1 + random() % 30), v = std::to_string(1 + random() % 30);
    time += static_cast<double>(random() % 3) / 2;
    std::ostringstream at;
    at << time;
    switch (random() % 10) {
      case 0: text += "- " + u + ' ' + v + '\n'; break;
      case 1: text += "-v " + u + '\n'; break;
      case 2: text += "\n"; break;
      case 3: text += "# " + u + '\n'; break;
      case 4: text += "+ " + u + ' ' + v + " 2.5 " + at.str() + '\n'; break;
      default: text += u + ' ' + v + ' ' + at.str() + '\n';
    }
  }
  return text;
}

TEST_F(program_test, compressed_updates_are_unpacked) {
  std::string const file = write("tail.graph", small_graph);
  std::string text;
  for (int i = 0; i < 50'000; ++i)
    text += "+ " + std::to_string(1 + i % 6) + ' ' + std::to_string(1 + i % 5) + ' ' + std::to_string(i) + '\n';
  strings const more{"--print", "json", "--batch", "7000", "--algorithms", "triangles"};
  auto const run = [&](std::string const& updates, std::string const& input = {}) {
    strings arguments{"stream", file, updates};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return without_times(output(arguments, input));
  };
  std::string const want = run(write("updates.txt", text));
  EXPECT_EQ(std::ranges::count(want, '\n'), 8);
  EXPECT_EQ(run(write("updates.txt.gz", gzip(text))), want);
  EXPECT_EQ(run(write("no_ending", gzip(text.substr(0, 1000)) + gzip(text.substr(1000)))), want) << "two members";
  EXPECT_EQ(run("-", gzip(text)), want);
  EXPECT_EQ(run("-", gzip("")), "");
  EXPECT_EQ(run(write("updates.csv.gz", gzip("source,target\n1,4\n"))), run(write("plain", "1 4\n")));
  std::string const whole = gzip(text);
  outcome const cut =
      run_program({"stream", file, write("cut.gz", whole.substr(0, whole.size() / 2)), "--on-error", "skip"});
  EXPECT_EQ(cut.status, 4) << cut.err;
  EXPECT_NE(cut.err.find("cut.gz: cannot be unpacked: "), std::string::npos) << cut.err;
}

// To the unpacker, input that a signal cuts looks truncated.
TEST_F(program_test, a_signal_ends_compressed_updates) {
  std::string const file = write("tail.graph", small_graph);
  running_program run({WYRM_PROGRAM_PATH, "stream", file}, path(""));
  std::string const whole = gzip("1 4\n\n1 5\n");
  run.send(whole.substr(0, whole.size() / 2));
  run.wait_for_output("updates from standard input");
  wait_until(
      [&] {
        run.kill(SIGUSR1);
        return read("running.err").find("wyrm: batch 0, ") != std::string::npos;
      },
      "the begin of the stream");
  run.kill(SIGINT);
  outcome const ran = run.wait();
  EXPECT_EQ(ran.status, 130) << ran.err;
  EXPECT_EQ(ran.err.find("cannot be unpacked"), std::string::npos) << ran.err;
}

TEST_F(program_test, saved_updates_give_the_same_batches) {
  std::string const file = write("tail.graph", small_graph);
  std::string const updates = write("updates.txt", random_lines(3000));
  for (strings const& options : {strings{"--batch", "40"}, strings{"--window", "20", "--slide", "5"},
                                 strings{"--batch", "100", "--decay", "30", "--forget", "0.1"}})
    for (std::string const name : {"saved.txt", "saved.zst"}) {
      strings first{"stream", file,     updates,    "--add-vertices", "--on-error",
                    "skip",   "--save", path(name), "--print",        "json"};
      strings again{"stream", file, path(name), "--print", "json"};
      for (strings* const all : {&first, &again}) all->insert(all->end(), options.begin(), options.end());
      std::string const want = without_times(output(first));
      EXPECT_GT(std::ranges::count(want, '\n'), 10);
      EXPECT_EQ(without_times(output(again)), want) << options[0] << ' ' << name;
    }
  expect_refused(2, "same file", {"stream", file, updates, "--save", updates});
  expect_refused(4, "cannot write the updates", {"stream", file, updates, "--save", path("no/such")});
  (void)output({"stream", file, "--save", path("small")}, "# no\n1 4\n\n1 6 0\n+ 1 5 3\n- 2 1\n+v 9\n4 6 2 0\n");
  EXPECT_EQ(read("small"), "+ 1 4\n\n+ 1 6 0\n+ 1 5 3\n- 2 1 3\n+v 9\n+ 4 6 2 0\n");
}

/// Connects to a socket; -1 if nobody listens.
int connect_to(std::string const& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  int const made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(made, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0) return made;
  close(made);
  return -1;
}

TEST_F(program_test, a_client_of_a_socket_sends_updates) {
  std::string const file = write("tail.graph", small_graph);
  std::string const at = path("socket");
  strings const arguments{WYRM_PROGRAM_PATH, "stream", file, "unix:" + at, "--print", "json"};
  for (bool const abandoned : {false, true}) {
    running_program run(arguments, path(""));
    int client = -1;
    wait_until([&] { return (client = connect_to(at)) >= 0; }, "a listening program");
    auto const send_text = [&](std::string const& text) {
      EXPECT_EQ(::write(client, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    };
    send_text("1 4\n\n");
    run.wait_for_output("\"batch\":1");
    EXPECT_EQ(connect_to(at), -1) << "one client";
    send_text("1 5\n2 4");
    close(client);
    outcome const ran = run.wait();
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("\"batch\":2,\"end\":null,\"updates\":2,\"inserted\":2,"), std::string::npos) << ran.out;
    EXPECT_FALSE(std::filesystem::exists(at));
    if (abandoned) continue;
    running_program killed(arguments, path(""));
    wait_until([&] { return std::filesystem::exists(at); }, "a listening program");
    killed.kill(SIGKILL);
    (void)killed.wait();
    EXPECT_TRUE(std::filesystem::exists(at));
  }
  running_program waits(arguments, path(""));
  wait_until([&] { return std::filesystem::exists(at); }, "a listening program");
  outcome const second = run_program({"stream", file, "unix:" + at});
  EXPECT_EQ(second.status, 4) << "another one listens";
  EXPECT_NE(second.err.find("cannot listen at " + at + ": "), std::string::npos) << second.err;
  struct stat about {};
  ASSERT_EQ(stat(at.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  wait_until(
      [&] {
        waits.kill(SIGUSR1);
        return read("running.err").find("wyrm: batch 0, ") != std::string::npos;
      },
      "the begin of the stream");
  waits.kill(SIGTERM);
  EXPECT_EQ(waits.wait().status, 130) << "without a client";
  EXPECT_FALSE(std::filesystem::exists(at));
  outcome const taken = run_program({"stream", file, "unix:" + write("file", "keep")});
  EXPECT_EQ(taken.status, 4);
  EXPECT_EQ(read("file"), "keep");
  EXPECT_EQ(run_program({"stream", file, "unix:"}).status, 2);
}

TEST_F(program_test, lines_that_are_too_long_are_passed_over) {
  std::string const file = write("tail.graph", small_graph);
  std::string const longest(std::size_t{1} << 24, ' ');
  std::string const updates = write("updates.txt", "1 4\n" + longest + " 2 4\n2 5\n" + longest.substr(4) + "2 6\n" +
                                                       longest + longest + longest + "\n" + longest + "1");
  std::string const out = output(
      {"stream", file, updates, "--print", "json", "--rejected", path("rejected"), "--report", path("report.json")});
  EXPECT_NE(out.find("\"inserted\":3,"), std::string::npos) << out;
  EXPECT_EQ(report(read("report.json")).count("updates/refused_lines"), 3u);
  std::string want;
  for (int const line : {2, 5, 6})
    want += "# " + updates + ':' + std::to_string(line) +
            ": expected a line of at most 16 MiB, found a longer one; check the file\n";
  EXPECT_TRUE(read("rejected") == want);
}

// Numbers are read by a way of their own: any other spelling must mean the same.
TEST_F(program_test, spellings_of_numbers_mean_the_same) {
  std::string const file = write("tail.graph", small_graph);
  auto const run = [&](std::string const& lines) {
    return without_times(output({"stream", file, "--print", "json", "--window", "10"}, lines));
  };
  std::string const want = run("+ 1 4 2 5\n+ 2 4 1 7.5\n- 1 2 8\n");
  EXPECT_NE(want.find("\"inserted\":2,\"erased\":1,"), std::string::npos) << want;
  EXPECT_EQ(run("+\t1  4 2.0 5e0\n 2 4 +1 75e-1 \r\n- 1 2 +8\n"), want);
  EXPECT_EQ(run("+ 01 4 2 5\n0000000000000000000000002 4 1 7.5\n-\t1 2 8.\n"), want);
  for (std::string const bad : {"+1 4 5", "1 4 5 6 7", "1 4 0x5", "1 4x 5", "1 4 5x", "1 18446744073709551617 5", "1 4",
                                "1 4 inf", "1 4 1e17", "1 4 4"})
    EXPECT_EQ(run_program({"stream", file, "--window", "10"}, "1 5 5\n" + bad + "\n").status, 3) << bad;
}

TEST_F(program_test, generated_updates_are_a_stream) {
  std::string const file = write("tail.graph", small_graph);
  strings const more{"--print", "json", "--check"};
  auto const run = [&](std::string const& updates, strings const& options = {}) {
    strings arguments{"stream", file, updates};
    for (strings const& all : {more, options}) arguments.insert(arguments.end(), all.begin(), all.end());
    return without_times(output(arguments));
  };
  std::string const mix = "gen:mix,batches=6,batch=20,erase=0.4,seed=3";
  std::string const want = run(mix, {"--save", path("saved")});
  EXPECT_EQ(std::ranges::count(want, '\n'), 6);
  EXPECT_EQ(run(path("saved")), want);
  strings const window{"--window", "2", "--slide", "1"};
  std::string const slides = run(mix, window);
  EXPECT_EQ(std::ranges::count(slides, '\n'), 6);
  EXPECT_EQ(run(path("saved"), window), slides) << "times are saved, also 0";
  expect_refused(2, "random, pressure, preferential or mix", {"stream", file, "gen:rmat"});
  expect_refused(2, "leave out --on-error", {"stream", file, mix, "--on-error", "skip"});
  expect_refused(2, "leave out --fields", {"stream", file, mix, "--fields", "source=a,target=b"});
  expect_refused(2, "leave out --updates-format", {"stream", file, mix, "--updates-format", "text"});
  expect_refused(2, "need between 2 and", {"stream", write("one.graph", "1 0\n\n"), mix});
}

}  // namespace

}  // namespace wyrm::tests
