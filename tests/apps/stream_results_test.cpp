// SPDX-License-Identifier: Apache-2.0
// Tests the results of `wyrm stream` as a program: weights that decay, ranks that are printed with batches, and the
// status line. Ranks are those of the serial verifier for weights that a model computes from their definition.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

std::vector<report> json_lines(std::string const& out) {
  std::istringstream in(out);
  std::vector<report> all;
  for (std::string line; std::getline(in, line);) all.emplace_back(line);
  return all;
}

/// The ranks of a line by the ids of vertices; 0 for null.
std::map<std::uint64_t, double> ranks_of(report const& line) {
  std::map<std::uint64_t, double> ranks;
  for (auto const& one : line.at("ranks").GetArray())
    ranks[one["id"].GetUint64()] = one["rank"].IsNull() ? 0 : one["rank"].GetDouble();
  return ranks;
}

struct timed_insertion {
  unsigned source, target;
  double weight, time;
};

/// Insertions among the vertices 0 to n - 1 at ascending times.
std::vector<timed_insertion> random_insertions(std::size_t count, unsigned n, std::uint32_t seed) {
  std::mt19937 random(seeded(seed));
  std::vector<timed_insertion> all;
  double time = 1.6e9;
  for (std::size_t i = 0; i < count; ++i) {
    time += static_cast<double>(random() % 3) + (random() % 100 == 0 ? 20'000 : 0);
    all.push_back({static_cast<unsigned>(random() % n), static_cast<unsigned>(random() % n),
                   static_cast<double>(1 + random() % 50) / 10, time});
  }
  return all;
}

std::string text_of(std::vector<timed_insertion> const& all) {
  std::ostringstream text;
  text.precision(17);
  for (auto const& [u, v, w, t] : all) text << u << ' ' << v << ' ' << w << ' ' << t << '\n';
  return text.str();
}

using arc_weights = std::map<std::pair<unsigned, unsigned>, double>;

/// The last weight of each arc.
arc_weights last_weights(std::vector<timed_insertion> const& all) {
  arc_weights weights;
  for (auto const& [u, v, w, t] : all)
    if (u != v) weights[{u, v}] = w;
  return weights;
}

/// The weights at the time `end` of a slide of 60 s of the arcs in a window of 20 slides.
arc_weights decayed_weights(std::vector<timed_insertion> const& all, double end, double half_life) {
  std::map<std::pair<unsigned, unsigned>, std::pair<double, double>> state;  // last time, weight at it
  for (auto const& [u, v, w, t] : all) {
    if (t >= end || u == v) continue;
    auto const [at, fresh] = state.try_emplace({u, v}, t, w);
    if (fresh) continue;
    auto& [last, weight] = at->second;
    bool const left = std::floor(t / 60) - std::floor(last / 60) > 20;  // it begins anew
    weight = left ? w : w + weight * std::exp2((last - t) / half_life);
    last = t;
  }
  arc_weights weights;
  for (auto const& [arc, one] : state)
    if (one.first >= end - 1200) weights[arc] = one.second * std::exp2((one.first - end) / half_life);
  return weights;
}

void expect_ranks(std::map<std::uint64_t, double> const& ranks, unsigned n, arc_weights const& weights) {
  graph::csr rows;
  rows.offsets.push_back(0);
  double largest = 0;
  for (auto const& [arc, w] : weights) largest = std::max(largest, w);
  std::vector<float> values;
  for (unsigned v = 0; v < n; ++v) {
    for (auto const& [arc, w] : weights) {
      if (arc.first != v) continue;
      rows.targets.push_back(arc.second);
      values.push_back(static_cast<float>(w / largest));
    }
    rows.offsets.push_back(rows.targets.size());
  }
  std::vector<double> const want = serial_pagerank(rows, 0.85, {}, false, values);
  ASSERT_EQ(ranks.size(), n);
  for (auto const& [v, rank] : ranks) ASSERT_NEAR(rank, want[v], 2e-6) << v;
}

std::string const no_arcs = "%%MatrixMarket matrix coordinate pattern general\n12 12 0\n";

TEST_F(program_test, weighted_ranks_follow_the_last_weights) {
  auto const all = random_insertions(600, 12, 41);
  std::string const file = write("none.mtx", no_arcs);
  std::string const out = output({"stream", file, write("updates.txt", text_of(all)), "--ids", "internal", "--directed",
                                  "--weighted", "--batch", "50", "--print", "json", "--emit", "all", "--check"});
  std::vector<report> const batches = json_lines(out);
  ASSERT_EQ(batches.size(), 12u);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    std::vector<timed_insertion> const so_far(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(50 * (b + 1)));
    auto ranks = ranks_of(batches[b]);
    std::map<std::uint64_t, double> from_zero;  // ids in the file begin with 1
    for (auto const& [id, rank] : ranks) from_zero[id - 1] = rank;
    ASSERT_NO_FATAL_FAILURE(expect_ranks(from_zero, 12, last_weights(so_far))) << b;
  }
}

// A full run reads weights as floats. Of most of these weights a float is almost half a unit away.
TEST_F(program_test, a_check_allows_for_weights_that_no_float_has) {
  std::ostringstream edges;
  edges << std::setprecision(17) << "0 2 1\n2 0 1\n1 3 1\n3 1 1\n";
  for (unsigned v = 4; v < 204; ++v) edges << v << " 0 " << 1 + 0.99 * 0x1p-24 << '\n' << v << " 1 0.96875\n";
  for (char const* const tolerance : {"1e-9", "1e-12"})
    (void)output({"stream", write("floats.txt", edges.str()), write("updates.txt", "+ 4 5 1 0\n"), "--weighted",
                  "--check", "--algorithms", "pagerank", "--tolerance", tolerance});
}

TEST_F(program_test, decayed_ranks_equal_those_of_a_model_after_every_slide) {
  auto const all = random_insertions(800, 12, 43);
  std::string const file = write("none.mtx", no_arcs);
  std::string const updates = write("updates.txt", text_of(all));
  for (strings const& more : {strings{}, strings{"--every", "3"}}) {
    strings arguments{
        "stream",  file, updates,   "--ids", "internal", "--directed", "--window", "1200",     "--slide",          "60",
        "--decay", "2m", "--print", "json",  "--emit",   "all",        "--check",  "--report", path("report.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::size_t compared = 0;
    for (report const& b : json_lines(output(arguments))) {
      if (b.at("ranks").IsNull()) continue;
      double const end = b.number("end");
      arc_weights const weights = decayed_weights(all, end, 120);
      ASSERT_EQ(b.count("edges"), weights.size()) << end;
      std::map<std::uint64_t, double> from_zero;
      for (auto const& [id, rank] : ranks_of(b)) from_zero[id - 1] = rank;
      if (weights.empty()) continue;
      ASSERT_NO_FATAL_FAILURE(expect_ranks(from_zero, 12, weights)) << end;
      ++compared;
    }
    EXPECT_GT(compared, 3u);
    report const r(read("report.json"));
    EXPECT_EQ(r.number("parameters/decay"), 120);
    EXPECT_TRUE(r.flag("parameters/weighted"));
  }
}

TEST_F(program_test, forgets_edges_that_have_become_light) {
  std::string const file = write("none.mtx", no_arcs);
  std::string const updates = "1 2 8 0\n3 4 1 0\n\n1 3 1 20\n\n1 4 1 40\n";
  std::string const out = output({"stream", file, "--decay", "10", "--forget", "0.75", "--print", "json", "--report",
                                  path("report.json"), "--every", "2"},
                                 updates);
  std::vector<std::uint64_t> edges, forgotten;
  for (report const& b : json_lines(out)) {
    edges.push_back(b.count("edges"));
    forgotten.push_back(b.count("forgotten"));
  }
  EXPECT_EQ(edges, (std::vector<std::uint64_t>{2, 2, 1})) << "8 is 2 after 20 seconds, and 0.5 after 40";
  EXPECT_EQ(forgotten, (std::vector<std::uint64_t>{0, 1, 2}));
  report const r(read("report.json"));
  EXPECT_EQ(r.count("updates/forgotten"), 3u);
  EXPECT_EQ(r.count("updates/graph_edges"), 1u);
}

TEST_F(program_test, refuses_impossible_weights) {
  std::string const file = write("none.mtx", no_arcs);
  auto const refused = [&](int status, std::string const& message, strings const& more, std::string const& input) {
    strings arguments{"stream", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    outcome const ran = run_program(arguments, input);
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_NE(ran.err.find(message), std::string::npos) << ran.err;
  };
  refused(3, "standard input:1: expected a weight between 0 and 1e100", {"--weighted"}, "1 2 -1 5\n");
  refused(3, "standard input:1: expected a weight between 0 and 1e100", {"--decay", "1"}, "1 2 1e101 5\n");
  refused(3, "standard input:2: expected a time, as --decay needs one", {"--decay", "1"}, "1 2 5\n1 2\n");
  refused(2, "--decay", {"--forget", "1"}, "");
  for (std::string const wrong : {"-1", "nan", "inf", "1e101"})
    refused(2, "is not a number from 0 to 1e100", {"--decay", "1", "--forget", wrong}, "");
  refused(2, "'0' is not a time", {"--decay", "0"}, "");
  refused(2, "--print json", {"--emit", "all"}, "");
  refused(2, "--top", {"--emit", "top", "--print", "json"}, "");
  refused(2, "PageRank is not selected",
          {"--emit", "all", "--print", "json", "--algorithms", "triangles", "--undirected"}, "");
}

/// A triangle 1 2 3 with a tail 3 4 5, and the isolated vertex 6.
constexpr char const* with_tail = "6 5\n2 3\n1 3\n1 2 4\n3 5\n4\n\n";

// The sum of all printed changes is the ranks of all vertices, up to the tolerance.
TEST_F(program_test, changes_of_ranks_add_up_to_all) {
  std::mt19937 random(seeded(47));
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += (random() % 3 == 0 ? "- " : "+ ") + std::to_string(1 + random() % 30) + ' ' +
            std::to_string(1 + random() % 30) + '\n';
    if (random() % 40 == 0) text += "-v " + std::to_string(1 + random() % 30) + '\n';
  }
  std::string const file = write("tail.graph", with_tail);
  std::string const updates = write("updates.txt", text);
  auto const run = [&](strings const& more) {
    strings arguments{"stream",  file,   updates,      "--add-vertices", "--batch",      "20",
                      "--print", "json", "--on-error", "skip",           "--algorithms", "pagerank"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_lines(output(arguments));
  };
  for (char const* const every : {"1", "4"}) {
    auto const all = run({"--emit", "all", "--every", every});
    auto const changes = run({"--emit", "changes", "--tolerance", "5e-3", "--every", every});
    auto const exact = run({"--emit", "all", "--tolerance", "5e-3", "--every", every});
    auto const top = run({"--emit", "top", "--top", "3", "--every", every});
    ASSERT_EQ(all.size(), changes.size());
    std::map<std::uint64_t, double> known;
    std::size_t printed = 0, ranked = 0;
    for (std::size_t b = 0; b < all.size(); ++b) {
      bool const maintained = (b + 1) % std::stoul(every) == 0;
      ASSERT_EQ(changes[b].at("ranks").IsNull(), !maintained);
      if (!maintained) continue;
      for (auto const& [id, rank] : ranks_of(changes[b])) {
        ++printed;
        known[id] = rank;
        if (rank == 0) known.erase(id);
      }
      auto const want = ranks_of(exact[b]);
      ranked += want.size();
      ASSERT_EQ(known.size(), want.size()) << b;
      ASSERT_EQ(want.size(), all[b].count("vertices"));
      for (auto const& [id, rank] : want) ASSERT_NEAR(known.at(id), rank, 5.0001e-3) << b << ' ' << id;
      double sum = 0;
      for (auto const& [id, rank] : ranks_of(all[b])) sum += rank;
      ASSERT_NEAR(sum, 1, 1e-9);
      auto const& largest = top[b].at("ranks");
      ASSERT_EQ(largest.Size(), 3u);
      ASSERT_GE(largest[0]["rank"].GetDouble(), largest[1]["rank"].GetDouble());
      auto const all_ranks = ranks_of(all[b]);
      double most = 0;
      for (auto const& [id, rank] : all_ranks) most = std::max(most, rank);
      ASSERT_EQ(largest[0]["rank"].GetDouble(), most);
      ASSERT_EQ(all_ranks.at(largest[0]["id"].GetUint64()), most);
    }
    EXPECT_LT(printed, ranked);
  }
}

TEST_F(program_test, printed_ranks_have_the_ids_of_their_batch) {
  std::string const file = write("tail.graph", with_tail);
  std::string const out = output({"stream", file, "--add-vertices", "--print", "json", "--emit", "changes"},
                                 "-v 3\n\n50 1\n\n-v 50\n\n60 1\n\n");
  std::vector<report> const lines = json_lines(out);
  ASSERT_EQ(lines.size(), 4u);
  auto const has = [&](std::size_t line, std::uint64_t id) { return ranks_of(lines[line]).contains(id); };
  EXPECT_FALSE(has(0, 3)) << "it was never printed";
  EXPECT_TRUE(has(0, 1));
  EXPECT_TRUE(has(1, 50));
  EXPECT_EQ(ranks_of(lines[2]).at(50), 0) << "null, as it is removed";
  EXPECT_TRUE(has(3, 60)) << "it has the number that 50 had";
  EXPECT_FALSE(has(3, 50));
}

/// The side of a terminal that shows what the program writes.
class terminal {
 public:
  terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) return;
    name_ = ptsname(master_);
    winsize const size{.ws_row = 24, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
    (void)ioctl(master_, TIOCSWINSZ, &size);
    slave_ = open(name_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~terminal() {
    if (slave_ >= 0) close(slave_);
    if (master_ >= 0) close(master_);
  }
  terminal(terminal const&) = delete;
  terminal& operator=(terminal const&) = delete;
  [[nodiscard]] bool works() const { return slave_ >= 0; }
  [[nodiscard]] std::string const& name() const { return name_; }
  /// What has been written; not more than the terminal buffers.
  [[nodiscard]] std::string shown() const {
    std::string text;
    std::array<char, 4096> part;
    pollfd ready{master_, POLLIN, 0};
    while (poll(&ready, 1, 200) > 0) {  // the terminal delivers its output in several parts, and late
      ssize_t const got = ::read(master_, part.data(), part.size());
      if (got <= 0) break;
      text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int master_;
  int slave_ = -1;
  std::string name_;
};

TEST_F(program_test, shows_a_status_line_on_a_terminal_only) {
  terminal screen;
  if (!screen.works()) GTEST_SKIP() << "no pseudo terminals here";
  std::string const file = write("tail.graph", with_tail);
  std::string updates;
  for (int i = 0; i < 300; ++i) updates += "1 4\n- 1 4\n\n";
  std::string const run = std::string(WYRM_PROGRAM_PATH) + " stream " + file + ' ' + write("updates.txt", updates) +
                          " --print json >" + path("out") + " 2>" + screen.name();
  ASSERT_EQ(std::system(run.c_str()), 0);
  std::string const text = screen.shown();
  std::size_t const at = text.find("\033[Kbatch ");
  ASSERT_NE(at, std::string::npos) << text;
  for (char const* const part : {" edges, ", "/s, ms p50 ", ", p95 ", ", p99 ", ", max ", " MiB, ", " wait"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  EXPECT_TRUE(text.ends_with("\r\033[K")) << "it erases itself: " << text;
  EXPECT_EQ(json_lines(read("out")).size(), 300u);
  std::size_t lines = 0;
  for (std::size_t from = text.find("MiB"); from != std::string::npos; from = text.find("MiB", from + 1)) ++lines;
  EXPECT_LT(lines, 300u) << "not with every batch";
}

}  // namespace

}  // namespace wyrm::tests
