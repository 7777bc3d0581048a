// SPDX-License-Identifier: Apache-2.0
// Tests the streams of `wyrm stream` as a program: times, windows, vertices that come and go, formats, lines that are
// refused, and its lines of JSON. Expected values are literals, and a model that keeps the last time of each edge.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../support/seed.hpp"
#include "../support/truth.hpp"
#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"
#include "running.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

/// A triangle 1 2 3 with a tail 3 4 5, and the isolated vertex 6.
constexpr char const* tail = "6 5\n2 3\n1 3\n1 2 4\n3 5\n4\n\n";

std::vector<report> lines_of(std::string const& out) {
  std::istringstream in(out);
  std::vector<report> all;
  for (std::string line; std::getline(in, line);) all.emplace_back(line);
  return all;
}

/// One number of all batches.
std::vector<std::uint64_t> counts(std::string const& out, std::string const& field) {
  std::vector<std::uint64_t> all;
  for (report const& one : lines_of(out)) all.push_back(one.count(field));
  return all;
}

using numbers = std::vector<std::uint64_t>;

/// Edges with times, in ascending order.
struct timed_edges {
  std::vector<std::pair<std::pair<unsigned, unsigned>, double>> all;

  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out.precision(17);
    for (auto const& [e, time] : all) out << e.first << ' ' << e.second << ' ' << time << '\n';
    return out.str();
  }
  /// The number of undirected edges whose last time is in [begin, end).
  [[nodiscard]] std::size_t in_window(double begin, double end) const {
    std::map<std::pair<unsigned, unsigned>, double> last;
    for (auto const& [e, time] : all)
      if (time < end && e.first != e.second) last[std::minmax(e.first, e.second)] = time;
    return static_cast<std::size_t>(std::ranges::count_if(last, [&](auto const& one) { return one.second >= begin; }));
  }
};

timed_edges random_edges(std::size_t n, unsigned vertices) {
  std::mt19937 random(seeded(21));
  timed_edges edges;
  double time = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (random() % 3 == 0) time += static_cast<double>(random() % 50);
    edges.all.push_back(
        {{static_cast<unsigned>(random() % vertices), static_cast<unsigned>(random() % vertices)}, time});
  }
  return edges;
}

void expect_windows(std::string const& out, timed_edges const& edges, double length) {
  std::vector<report> const batches = lines_of(out);
  ASSERT_GT(batches.size(), 5u);
  for (report const& b : batches) {
    double const end = b.number("end");
    ASSERT_EQ(b.count("edges"), edges.in_window(end - length, end)) << end;
  }
}

TEST_F(program_test, window_has_the_edges_of_its_time) {
  timed_edges const edges = random_edges(4000, 30);
  std::string const none = write("none.graph", "0 0\n");
  std::string const updates = write("updates.txt", edges.text());
  for (strings const& window :
       {strings{"--window", "2m"}, strings{"--window", "2m", "--slide", "30"},
        strings{"--window", "0.05h", "--slide", "60s"}, strings{"--window", "1d", "--slide", "1h"}}) {
    SCOPED_TRACE(window.back());
    strings arguments{"stream", none,      updates,    "--add-vertices",   "--print",
                      "json",   "--check", "--report", path("report.json")};
    arguments.insert(arguments.end(), window.begin(), window.end());
    std::string const length = window[1];
    double const seconds = length == "2m" ? 120 : length == "1d" ? 86400 : 180;
    expect_windows(output(arguments), edges, seconds);
    report const r(read("report.json"));
    EXPECT_EQ(r.number("parameters/window"), seconds);
    EXPECT_EQ(r.count("updates/vertices_added"), 30u);
    EXPECT_EQ(r.count("updates/graph_vertices"), 30u);
  }
}

TEST_F(program_test, real_window_has_the_edges_of_its_time) {
  timed_edges edges;
  std::ifstream in(data_folder() / "CollegeMsg.txt");
  unsigned u = 0;
  unsigned v = 0;
  for (double time = 0; in >> u >> v >> time;) edges.all.push_back({{u, v}, time});
  if (edges.all.empty()) GTEST_SKIP() << "WYRM_DATA has no CollegeMsg.txt";
  std::string const updates = (data_folder() / "CollegeMsg.txt").string();
  constexpr double day = 86400;
  strings const arguments{"stream",  updates,   updates, "--third-column", "time", "--undirected", "--no-edges",
                          "--check", "--print", "json",  "--window",       "28d",  "--slide",      "7d"};
  expect_windows(output(arguments), edges, 28 * day);
  strings every = arguments;
  every.insert(every.end(), {"--every", "3", "--report", path("report.json")});
  std::string const out = output(every);  // --check compares the results at the end with recomputed ones
  for (report const& b : lines_of(out)) {
    EXPECT_EQ(b.at("triangles").IsNull(), b.count("batch") % 3 != 0);
    EXPECT_EQ(b.at("pagerank").IsNull(), b.count("batch") % 3 != 0);
  }
  // All at once, and without windows.
  (void)output(
      {"run", updates, "--third-column", "time", "--undirected", "--rounds", "0", "--report", path("loaded.json")});
  for (std::string const batch : {"1000", "1000000"}) {
    (void)output({"stream", updates, updates, "--third-column", "time", "--undirected", "--no-edges", "--batch", batch,
                  "--print", "json", "--report", path("report.json")});
    report const a(read("loaded.json"));
    report const b(read("report.json"));
    EXPECT_EQ(b.count("updates/graph_edges"), a.count("graph/edges"));
    EXPECT_EQ(b.count("algorithms/triangles/total"), a.count("algorithms/triangles/total"));
    EXPECT_NEAR(b.number("algorithms/pagerank/l2"), a.number("algorithms/pagerank/l2"), 1e-7);
  }
}

TEST_F(program_test, vertices_come_and_go) {
  std::string const file = write("tail.graph", tail);
  strings const stream{"stream", file,       "--print",          "json", "--check", "--output",
                       path(""), "--report", path("report.json")};
  // 3 is removed with its three edges; 70 and 80 get the numbers of 3 and 5, which come back with others.
  std::string const out = output(stream,
                                 "+v 10\n+ 10 1\n-v 3\n-v 5\n+v 70\n+ 70 1\n+ 70 6\n\n+v 80\n+ 80 70\n+v 3\n+ 3 80\n"
                                 "+v 5\n-v 5\n");
  EXPECT_EQ(counts(out, "vertices_added"), (numbers{1, 0, 1, 3, 0}));
  EXPECT_EQ(counts(out, "vertices_removed"), (numbers{0, 2, 0, 0, 1}));
  EXPECT_EQ(counts(out, "vertices"), (numbers{7, 5, 6, 9, 8}));
  EXPECT_EQ(counts(out, "edges"), (numbers{6, 2, 4, 6, 6}));
  EXPECT_EQ(counts(out, "erased"), (numbers{0, 4, 0, 0, 0}));
  std::map<std::string, double> ranks;
  std::istringstream in(read("pagerank.txt"));
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with('#')) ranks[line.substr(0, line.find(' '))] = std::stod(line.substr(line.find(' ')));
  EXPECT_EQ(ranks.size(), 9u);
  EXPECT_EQ(ranks["5"], 0.0);
  EXPECT_GT(ranks["70"], ranks["6"]);
  EXPECT_GT(ranks["80"], ranks["3"]);
  report const r(read("report.json"));
  EXPECT_EQ(r.count("updates/vertices_added"), 5u);
  EXPECT_EQ(r.count("updates/vertices_removed"), 3u);

  auto const refused = [&](std::string const& line, std::string const& message) {
    outcome const ran = run_program({"stream", file}, line);
    EXPECT_EQ(ran.status, 3) << line;
    EXPECT_NE(ran.err.find(message), std::string::npos) << ran.err;
  };
  refused("-v 3\n+ 3 1\n", "standard input:2: expected a vertex (5 ids), found \"3\"");
  refused("-v 3\n-v 3\n", "standard input:2: expected a vertex (5 ids), found \"3\"");
  refused("+v 3\n", "standard input:1: the vertex \"3\" is in the graph already");
  refused("+v x\n", "expected the id of a new vertex");
  refused("+v 18446744073709551616\n", "expected the id of a new vertex");
  refused("+ 1 7\n", "standard input:1: expected a vertex (1 to 6), found \"7\"");
}

// The reader, which is ahead of the graph, has given the number of 3 to 70; the graph has not.
TEST_F(program_test, ids_are_those_of_the_last_batch) {
  std::string const file = write("tail.graph", tail);
  strings const arguments{"stream", file, "--print", "json", "--output", path("")};
  auto const ids = [&] {
    strings all;
    std::istringstream in(read("pagerank.txt"));
    for (std::string line; std::getline(in, line);)
      if (!line.starts_with('#')) all.push_back(line.substr(0, line.find(' ')));
    return all;
  };
  outcome const failed = run_program(arguments, "-v 5\n-v 3\n+v 8\n\n-v 8\n+v 90\n+v 70\n+ 70 x\n");
  EXPECT_EQ(failed.status, 3);
  EXPECT_EQ(counts(failed.out, "vertices"), (numbers{4, 5, 4}));
  EXPECT_EQ(ids(), (strings{"1", "2", "8", "4", "5", "6"}));

  strings with_program{WYRM_PROGRAM_PATH};
  with_program.insert(with_program.end(), arguments.begin(), arguments.end());
  running_program run(with_program, path(""));
  run.send("-v 3\n+v 7\n+ 7 1\n\n-v 7\n+v 70\n+ 70 6\n");
  run.wait_for_output("\"batch\":3");
  run.kill(SIGTERM);
  EXPECT_EQ(run.wait().status, 130);
  EXPECT_EQ(ids(), (strings{"1", "2", "7", "4", "5", "6"}));
}

// Many vertices come and go in any order; the program checks that the graph numbers them as expected.
TEST_F(program_test, numbers_of_vertices_are_used_again) {
  std::mt19937 random(seeded(31));
  std::vector<bool> present(40, false);
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    std::size_t const v = random() % present.size();
    text += (present[v] ? "-v " : "+v ") + std::to_string(v) + '\n';
    present[v] = !present[v];
    if (random() % 5 == 0) text += '\n';
  }
  auto const left = static_cast<std::size_t>(std::ranges::count(present, true));
  for (strings const& window : {strings{}, strings{"--window", "10"}}) {
    strings arguments{"stream", write("none.graph", "0 0\n"), "--print", "json", "--check"};
    arguments.insert(arguments.end(), window.begin(), window.end());
    EXPECT_EQ(counts(output(arguments, text), "vertices").back(), left);
  }
}

TEST_F(program_test, formats_of_updates_mean_the_same) {
  std::string const file = write("tail.graph", tail);
  std::string const text = write("updates.txt", "+ 1 4 2.5 10\n- 1 2 11\n+v 7\n+ 7 1 12\n-v 6\n");
  std::string const csv =
      write("updates.csv",
            "op,source,\"target\",weight,time\r\n+,1,4,2.5,10\r\n# a comment\r\n-,1, 2 ,,11\r\n+v,7,,,\r\n"
            "+,\"7\",1,,12\r\n-v,6,,,\r\n");
  std::string const json = write("updates.jsonl",
                                 R"({"op":"+","source":1,"target":4,"weight":2.5,"time":10,"more":"x"}
{"op":"-","source":"1","target":2,"time":11}
{"op":"+v","vertex":7}
{"source":7,"target":1,"time":12}
{"op":"-v","vertex":6}
)");
  auto const run = [&](strings const& more) {
    strings arguments{"stream", file, "--print", "json", "--algorithms", "triangles"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::string const out = output(arguments);
    return std::vector{counts(out, "edges"), counts(out, "vertices"), counts(out, "triangles"),
                       counts(out, "inserted")};
  };
  std::vector<numbers> const want{{6, 6}, {7, 6}, {1, 1}, {2, 0}};
  EXPECT_EQ(run({text}), want);
  EXPECT_EQ(run({csv}), want);
  EXPECT_EQ(run({json}), want);
  std::string const named = write("named", "a;b,x,when,y\n0,1,10,4\n0,7,12,1\n");
  EXPECT_EQ(run({named, "--updates-format", "csv", "--fields", "source=x,target=y,time=when", "--add-vertices",
                 "--window", "100"})[0],
            numbers{7});

  auto const refused = [&](std::string const& name, std::string const& content, std::string const& message,
                           strings const& more = {}) {
    strings arguments{"stream", file, write(name, content)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    outcome const ran = run_program(arguments);
    EXPECT_EQ(ran.status, 3) << content;
    EXPECT_NE(ran.err.find(path(name) + message), std::string::npos) << ran.err;
  };
  refused("bad.csv", "1,2\n", ":1: expected a header with a column 'source', 'src', 'from', 'u', 'vertex'");
  refused("bad.csv", "u,v\n1\n", ":2: expected 2 columns as in the header, found 1");
  refused("bad.csv", "u,v\n1,\"2\n", ":2: expected a closing quotation mark");
  refused("bad.csv", "u,v\n1,\n", ":2: expected a vertex (1 to 6), found nothing");
  refused("bad.csv", "u,v\n1,2\n", ":1: expected a header with a column 'time'", {"--window", "1"});
  refused("bad.csv", "u,v,op\n1,2,*\n", ":2: expected the operation '+', '-', '+v' or '-v', found \"*\"");
  refused("bad.json", "{\"source\":1\n", ":1: expected a JSON object, found at byte 12");
  refused("bad.json", "[1,2]\n", ":1: expected a JSON object, found \"[1,2]\"");
  refused("bad.json", "{\"source\":1}\n", ":1: expected a vertex (1 to 6), found nothing");
  refused("bad.json", "{\"source\":[1],\"target\":2}\n", ":1: expected a number or a string as 'source'");
  refused("bad.json", std::string(100'000, '['), ":1: expected a JSON object");
  (void)output({"stream", file, write("empty.csv", ""), "--window", "1"});
  expect_refused(2, "--fields", {"stream", file, text, "--fields", "x=y"});
  expect_refused(2, "--fields", {"stream", file, text, "--fields", "source="});
  expect_refused(2, "the updates are text", {"stream", file, text, "--fields", "source=x"});
}

/// Lines of 200 vertices, most of them edges; the text is parsed in many pieces, and CSV line by line.
struct both_formats {
  std::string text;
  std::string csv = "op,u,v,weight,time\n";

  void add(std::string const& operation, std::string const& u, std::string const& v, std::string const& weight,
           std::string const& time) {
    text += operation + (operation.empty() ? "" : " ") + u;
    for (std::string const& word : {v, weight, time}) text += (word.empty() ? "" : "  ") + word;
    text += random() % 50 == 0 ? " \r\n" : "\n";
    csv += operation + ',' + u + ',' + v + ',' + weight + ',' + time + '\n';
  }
  void add_line(std::string const& line) {
    text += line + '\n';
    csv += line + '\n';
  }
  std::mt19937 random{seeded(22)};
};

both_formats random_updates(unsigned lines, unsigned step) {
  both_formats updates;
  std::mt19937& random = updates.random;
  auto const vertex = [&] { return std::to_string(7 + step * (random() % 200)); };
  double time = 0;
  for (unsigned i = 0; i < lines; ++i) {
    time += random() % 20 == 0 ? 1 : 0;
    std::string const at = random() % 3 == 0 ? "" : std::to_string(time - (random() % 2000 == 0 ? 100 : 0));
    std::string const weight = at.empty() || random() % 2 == 0 ? "" : std::to_string(random() % 9);
    switch (random() % 4000) {
      case 0: updates.add("-v", vertex(), "", "", ""); break;
      case 1: updates.add("+v", vertex(), "", "", ""); break;
      case 2: updates.add_line("# " + vertex()); break;
      case 3: updates.add_line(""); break;
      case 4: updates.add("+", vertex(), "x", "", ""); break;
      case 5: updates.add("", vertex(), "+" + vertex(), "", ""); break;
      default: {
        bool const erases = i / 3000 % 2 == 0 && random() % 8 == 0;  // so that some pieces only insert
        updates.add(erases ? "-" : random() % 2 == 0 ? "+" : "", vertex(), vertex(), weight, at);
      }
    }
  }
  return updates;
}

TEST_F(program_test, text_in_pieces_means_the_same_as_line_by_line) {
  for (unsigned const step : {1u, 3u, 1000u}) {
    std::string ids;
    for (unsigned v = 0; v < 150; ++v) ids += std::to_string(7 + step * v) + ' ' + std::to_string(7 + step * v) + '\n';
    std::string const file = write("ids.txt", ids);
    both_formats const updates = random_updates(20'000, step);
    std::string const text = write("updates.txt", updates.text);
    std::string const csv = write("updates.csv", updates.csv);
    for (strings const& options : {strings{"--batch", "999"}, strings{"--batch", "1000", "--add-vertices"},
                                   strings{"--window", "300", "--slide", "30", "--late", "20"},
                                   strings{"--batch", "2000", "--weighted", "--algorithms", "pagerank"}}) {
      auto const run = [&](std::string const& file_of_updates) {
        strings arguments{"stream",     file,   file_of_updates, "--undirected",
                          "--print",    "json", "--algorithms",  "components",
                          "--on-error", "skip", "--report",      path("report.json")};
        arguments.insert(arguments.end(), options.begin(), options.end());
        std::string const out = without_times(output(arguments));
        return out + std::to_string(report(read("report.json")).count("updates/refused_lines"));
      };
      std::string const want = run(csv);
      EXPECT_GT(std::ranges::count(want, '\n'), 3);  // batches; their number depends on the seed
      EXPECT_EQ(run(text), want) << step << ' ' << options[0] << ' ' << options.back();
    }
  }
}

TEST_F(program_test, a_refused_line_is_named_by_its_number_in_a_long_text) {
  std::string const file = write("tail.graph", tail);
  for (unsigned const line : {1u, 2u, 30'000u, 199'999u}) {
    std::string text;
    for (unsigned i = 1; i < 200'000; ++i) text += i == line ? "1 9\n" : i % 1000 == 0 ? "# 1 4\n" : "1 4\n";
    std::string const updates = write("updates.txt", text);
    outcome const stopped =
        run_program({"stream", file, updates, "--batch", "1000", "--print", "json", "--algorithms", "none"});
    EXPECT_EQ(stopped.status, 3);
    EXPECT_NE(stopped.err.find("updates.txt:" + std::to_string(line) + ": expected a vertex (1 to 6), found \"9\""),
              std::string::npos)
        << stopped.err;
    EXPECT_EQ(std::ranges::count(stopped.out, '\n'), (line - 1 - (line - 1) / 1000) / 1000);
  }
}

TEST_F(program_test, times_that_go_back_are_refused_or_sorted) {
  std::string const file = write("tail.graph", tail);
  std::string const updates = "1 4 10\n1 5 12\n2 4 11\n2 5 12\n";
  outcome const strict = run_program({"stream", file, "--window", "1", "--print", "json"}, updates);
  EXPECT_EQ(strict.status, 3);
  EXPECT_NE(
      strict.err.find("standard input:3: expected a time that is not before the largest one of earlier lines, 12, "
                      "found \"11\"; sort the lines by time, or allow more with --late"),
      std::string::npos)
      << strict.err;
  EXPECT_EQ(counts(strict.out, "edges"), (numbers{6, 5})) << "the slides before the time 12";
  std::string const sorted = output({"stream", file, "--window", "1", "--late", "1", "--print", "json"}, updates);
  EXPECT_EQ(counts(sorted, "inserted"), (numbers{1, 1, 2}));
  EXPECT_EQ(counts(sorted, "expired"), (numbers{0, 1, 1}));
  EXPECT_EQ(counts(sorted, "edges"), (numbers{6, 6, 7}));
  EXPECT_EQ(counts(output({"stream", file, "--print", "json"}, updates), "edges"), numbers{9}) << "no window, no order";
  std::string const before_zero = "1 4 -12\n1 5 -11\n2 4 -10.5\n2 5 -10.5\n";
  EXPECT_EQ(counts(output({"stream", file, "--window", "1", "--print", "json"}, before_zero), "inserted"),
            (numbers{1, 3}))
      << "times below 0";
  outcome const untimed = run_program({"stream", file, "--window", "1"}, "1 4\n");
  EXPECT_EQ(untimed.status, 3);
  EXPECT_NE(untimed.err.find("standard input:1: expected a time, as a window needs one"), std::string::npos);
  outcome const removal = run_program({"stream", file, "--window", "1", "--late", "1"}, "1 4 1\n-v 1\n");
  EXPECT_NE(removal.err.find("standard input:2: a vertex cannot be removed"), std::string::npos) << removal.err;
}

TEST_F(program_test, refused_lines_are_skipped_or_kept) {
  std::string const file = write("tail.graph", tail);
  std::string const updates = write("updates.txt", "1 4\nx 1\n1 5\n+ 1 99\n2 4\n2 2 2 2 2\n");
  auto const run = [&](strings const& more) {
    strings arguments{"stream", file, updates, "--batch", "2", "--print", "json", "--report", path("report.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  for (strings const& policy :
       {strings{"--on-error", "skip"}, strings{"--on-error", "file"}, strings{"--rejected", path("other")}}) {
    outcome const ran = run(policy);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(counts(ran.out, "edges"), (numbers{7, 8}));
    report const r(read("report.json"));
    EXPECT_EQ(r.count("updates/refused_lines"), 3u);
    EXPECT_TRUE(r.at("error").IsNull());
    EXPECT_EQ(std::filesystem::exists(updates + ".rejected"), policy.back() != "skip");
    if (policy.back() == "skip") continue;
    std::istringstream rejected(read(policy.back() == "file" ? "updates.txt.rejected" : "other"));
    strings lines;
    for (std::string line; std::getline(rejected, line);) lines.push_back(line);
    ASSERT_EQ(lines.size(), 6u);
    EXPECT_TRUE(lines[0].starts_with("# " + updates + ":2: expected '+', '-' or a vertex (1 to 6), found \"x\""))
        << lines[0];
    EXPECT_EQ(lines[1], "x 1");
    EXPECT_TRUE(lines[2].starts_with("# " + updates + ":4: ")) << lines[2];
    EXPECT_EQ(lines[3], "+ 1 99");
    EXPECT_EQ(lines[5], "2 2 2 2 2");
  }
  EXPECT_EQ(run({"--on-error", "stop"}).status, 3);
  std::string const csv = write("updates.csv", "\"source\",to\n1,4\nx,1\n1,5\n1,6,7\n");
  EXPECT_EQ(counts(output({"stream", file, csv, "--on-error", "file", "--print", "json"}), "edges"), numbers{7});
  std::string corrected = read("updates.csv.rejected");
  for (auto const& [wrong, right] : {std::pair("\nx,1\n", "\n2,4\n"), std::pair("\n1,6,7\n", "\n2,5\n")}) {
    ASSERT_NE(corrected.find(wrong), std::string::npos) << corrected;
    corrected.replace(corrected.find(wrong), std::string(wrong).size(), right);
  }
  EXPECT_EQ(counts(output({"stream", file, write("corrected.csv", corrected), "--print", "json"}), "inserted"),
            numbers{2});
  for (std::string const& unnamed : {std::string("-"), std::string("/dev/stdin"), "unix:" + path("socket")})
    expect_refused(2, "name it with --rejected", {"stream", file, unnamed, "--on-error", "file"});
  expect_refused(2, "same file", {"stream", file, updates, "--rejected", updates});
  expect_refused(2, "same file", {"stream", file, updates, "--rejected", file});
  expect_refused(4, "cannot be written", {"stream", file, updates, "--rejected", path("no/such")});
  outcome const full = run({"--rejected", "/dev/full"});
  EXPECT_EQ(full.status, 4);
  EXPECT_NE(full.err.find("/dev/full: cannot be written: No space left on device"), std::string::npos) << full.err;
  EXPECT_EQ(report(read("report.json")).count("updates/batches"), 0u);
}

TEST_F(program_test, refuses_impossible_windows) {
  std::string const file = write("tail.graph", tail);
  for (strings const& bad :
       {strings{"--window", "0"}, strings{"--window", "-1"}, strings{"--window", "x"}, strings{"--window", "1w"},
        strings{"--window", ""}, strings{"--window", "1e3"}, strings{"--window", "inf"}, strings{"--window", "nan"},
        strings{"--window", "9999999999999"}, strings{"--window", "5", "--slide", "2"},
        strings{"--window", "5", "--slide", "10"}, strings{"--slide", "5"}, strings{"--window", "5", "--batch", "5"},
        strings{"--every", "0"}, strings{"--late", "-1"}, strings{"--late", "5"}, strings{"--print", "xml"},
        strings{"--on-error", "x"}}) {
    strings arguments{"stream", file};
    arguments.insert(arguments.end(), bad.begin(), bad.end());
    outcome const ran = run_program(arguments);
    EXPECT_EQ(ran.status, 2) << bad[0] << ' ' << bad[1] << ran.err;
    EXPECT_NE(ran.err.find(bad[0].substr(2)), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "") << "before the graph is loaded";
  }
}

TEST_F(program_test, tells_its_status_when_asked) {
  std::string const file = write("tail.graph", tail);
  strings const arguments{WYRM_PROGRAM_PATH, "stream", file, "--print", "json"};
  running_program run(arguments, path(""));
  run.send("1 4\n1 5\n\n2 4\n2 5\n- 2");  // the second batch does not end
  run.wait_for_output("\"batch\":1");
  run.kill(SIGUSR1);
  wait_until([&] { return read("running.err").find('\n') != std::string::npos; }, "a status");
  EXPECT_TRUE(read("running.err").starts_with("wyrm: batch 1, 2 updates, 7 edges, 0 batches wait, 0 lines refused, "))
      << read("running.err");
  run.kill(SIGTERM);
  outcome const ran = run.wait();
  EXPECT_EQ(ran.status, 130);
  EXPECT_EQ(counts(ran.out, "edges"), numbers{7});

  running_program idle({WYRM_PROGRAM_PATH, "stream", file}, path(""));
  idle.wait_for_output("updates from standard input");
  wait_until(
      [&] {
        idle.kill(SIGUSR1);
        return read("running.err").find("wyrm: batch 0, 0 updates, 5 edges, 0 batches wait, 0 lines refused\n") !=
               std::string::npos;
      },
      "a status before the first batch");
}

// A reader that waits for input does not keep the program from ending when its output fails.
TEST_F(program_test, ends_when_its_output_is_closed) {
  std::string const file = write("tail.graph", tail);
  running_program run(
      {"/bin/sh", "-c", std::string(WYRM_PROGRAM_PATH) + " stream " + file + " --print json >/dev/full"}, path(""));
  run.send("1 4\n\n1 5\n\n");
  outcome const ran = run.wait();  // the input stays open
  EXPECT_EQ(ran.status, 4);
  EXPECT_NE(ran.err.find("cannot write to standard output"), std::string::npos) << ran.err;
}

}  // namespace

}  // namespace wyrm::tests
