// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm stream` as a program: the output for each batch, the output at the end, and errors. Expected values are
// literals, a model that applies updates one by one, and the serial verifiers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

/// A triangle 0 1 2 with a tail 2 3 4, and the isolated vertex 5, by internal ids; the file has ids from 1.
constexpr char const* tail = "6 5\n2 3\n1 3\n1 2 4\n3 5\n4\n\n";

/// Behind a refused line of text.
constexpr char const* how_to_write =
    "; write each update as '+ u v', 'u v' or '- u v', with a time, or a weight and a time, behind it, or as '+v id' "
    "or "
    "'-v id'";

/// The printed batches of a run: for each a map from column names to text.
std::vector<std::map<std::string, std::string>> batches_in(std::string const& out) {
  std::istringstream lines(out);
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("updates from ")) continue;
  auto const words = [](std::string const& text) {
    std::istringstream in(text);
    return strings{std::istream_iterator<std::string>(in), {}};
  };
  std::getline(lines, line);
  strings const columns = words(line);
  std::vector<std::map<std::string, std::string>> batches;
  while (std::getline(lines, line) && !line.empty()) {
    strings const values = words(line);
    EXPECT_EQ(values.size(), columns.size()) << line;
    if (values.size() != columns.size()) continue;
    batches.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) batches.back()[columns[i]] = values[i];
  }
  return batches;
}

/// One column of all batches.
strings column(std::string const& out, std::string const& name) {
  strings values;
  for (auto const& batch : batches_in(out)) values.push_back(batch.contains(name) ? batch.at(name) : "none");
  return values;
}

/// A graph to which updates are applied one by one.
class model {
 public:
  model(std::size_t vertices, bool directed, edge_set edges)
      : vertices_(vertices), directed_(directed), edges_(std::move(edges)) {}

  /// Whether the graph changes.
  bool update(bool insertion, graph::vertex_id u, graph::vertex_id v) {
    if (u == v) return false;
    std::pair<graph::vertex_id, graph::vertex_id> e(u, v);
    if (!directed_) e = std::minmax(u, v);
    return insertion ? edges_.insert(e).second : edges_.erase(e) > 0;
  }
  [[nodiscard]] std::size_t edges() const { return edges_.size(); }
  /// The number of edges that are not in the other set.
  [[nodiscard]] std::size_t without(edge_set const& other) const {
    return static_cast<std::size_t>(std::ranges::count_if(edges_, [&](auto const& e) { return !other.contains(e); }));
  }
  [[nodiscard]] edge_set const& all() const { return edges_; }
  [[nodiscard]] graph::csr rows() const { return rows_of(vertices_, directed_, edges_); }

 private:
  std::size_t vertices_;
  bool directed_;
  edge_set edges_;
};

std::uint64_t total(std::vector<std::uint64_t> const& per_vertex) {
  return std::accumulate(per_vertex.begin(), per_vertex.end(), std::uint64_t{0}) / 3;
}

/// Random updates in random batches, as text, and the expected output for each batch.
struct random_updates {
  std::string text;
  strings inserted, erased, edges, triangles;
  std::uint64_t requested = 0;

  random_updates(model& g, std::size_t vertices, bool directed) {
    std::mt19937 random(seeded(7));
    auto const below = [&](std::size_t n) { return static_cast<graph::vertex_id>(random() % n); };
    for (int batch = 0; batch < 10; ++batch) {
      model const before = g;
      // Few vertices, so that edges repeat, and are inserted and erased in one batch.
      for (graph::vertex_id n = 1 + below(20), span = 2 + below(vertices - 1); n > 0; --n, ++requested) {
        bool const insertion = below(5) < 3;
        graph::vertex_id const u = below(span);
        graph::vertex_id const v = below(span);
        char const* const sign = !insertion ? "- " : below(2) == 0 ? "+ " : "";
        text += sign + std::to_string(u) + ' ' + std::to_string(v) + '\n';
        g.update(insertion, u, v);
      }
      text += '\n';
      inserted.push_back(std::to_string(g.without(before.all())));
      erased.push_back(std::to_string(before.without(g.all())));
      edges.push_back(std::to_string(g.edges()));
      triangles.push_back(directed ? "none" : std::to_string(total(serial_triangles(g.rows()))));
    }
  }
};

TEST_F(program_test, maintains_results_through_updates) {
  constexpr std::size_t vertices = 50;
  edge_set edges;
  for (graph::vertex_id v = 1; v < vertices; ++v) edges.insert({v / 2, v});
  std::filesystem::create_directory(path("values"));
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    model g(vertices, directed, edges);
    if (directed)
      for (auto const& [u, v] : edges) g.update(true, v, u);
    random_updates const updates(g, vertices, directed);
    std::string const out =
        output({"stream", write("tree.mtx", matrix_market(vertices, edges)), write("updates.txt", updates.text),
                directed ? "--directed" : "--undirected", "--ids", "internal", "--tolerance", "1e-12", "--check",
                "--top", "3", "--output", path("values"), "--report", path("report.json")});
    EXPECT_EQ(column(out, "inserted"), updates.inserted);
    EXPECT_EQ(column(out, "erased"), updates.erased);
    EXPECT_EQ(column(out, "edges"), updates.edges);
    EXPECT_EQ(column(out, "triangles"), updates.triangles);
    EXPECT_EQ(column(out, "converged"), strings(10, "yes"));

    report const r(read("report.json"));
    std::vector<double> const want = serial_pagerank(g.rows(), 0.85);
    std::vector<double> const rank = values<double>("values/pagerank.txt", 0);
    ASSERT_EQ(rank.size(), vertices);
    for (std::size_t v = 0; v < vertices; ++v) EXPECT_NEAR(rank[v], want[v], 1e-11) << v;
    EXPECT_EQ(r.number("algorithms/pagerank/max"), *std::max_element(rank.begin(), rank.end()));
    EXPECT_EQ(r.number("algorithms/pagerank/top/0/rank"), r.number("algorithms/pagerank/max"));
    EXPECT_NEAR(r.number("algorithms/pagerank/sum"), 1.0, 1e-12);
    EXPECT_EQ(r.count("updates/batches"), 10u);
    EXPECT_EQ(r.count("updates/edges"), updates.requested);
    EXPECT_EQ(r.count("updates/graph_edges"), g.edges());
    EXPECT_EQ(r.flag("graph/directed"), directed);
    if (directed) {
      EXPECT_TRUE(r.at("algorithms/triangles").IsNull());
      continue;
    }
    std::vector<std::uint64_t> const triangles = serial_triangles(g.rows());
    expect_vertex_triangles(values<vertex_triangles>("values/triangles.txt", 0), g.rows(), triangles);
    EXPECT_EQ(r.count("algorithms/triangles/total"), total(triangles));
    EXPECT_EQ(r.count("algorithms/triangles/top/0/triangles"), *std::max_element(triangles.begin(), triangles.end()));
    std::map<std::string, std::string> fields;
    add_fields(r.all(), "", fields);
    EXPECT_EQ(fields, documented_fields("stream"));
    EXPECT_EQ(r.text("command"), "stream");
    EXPECT_EQ(r.text("parameters/updates"), path("updates.txt"));
  }
}

TEST_F(program_test, applies_updates_in_order) {
  std::string const file = write("tail.graph", tail);
  // A new edge is inserted and erased; an existing one is erased and inserted; a new one is inserted, erased and
  // inserted. The batch is one update of the graph, and its report counts what is different in the end.
  std::string const out =
      output({"stream", file, "--ids", "internal"}, "+ 0 3\n- 0 3\n- 0 1\n+ 0 1\n4 5\n- 5 4\n+ 4 5");
  EXPECT_EQ(column(out, "inserted"), strings{"1"});
  EXPECT_EQ(column(out, "erased"), strings{"0"});
  EXPECT_EQ(column(out, "edges"), strings{"6"});
  EXPECT_EQ(column(out, "triangles"), strings{"1"});
  EXPECT_NE(out.find("\nupdates from standard input\n"), std::string::npos);
  EXPECT_NE(row(out, "updates").find("; 7 edges in "), std::string::npos);
}

TEST_F(program_test, matches_the_example_in_the_readme) {
  std::string const file = write("tail.graph", "5 5\n2 3\n1 3\n1 2 4\n3 5\n4\n");
  std::string const out = output({"stream", file, "--device", "cpu", "--top", "2"}, "+ 2 4\n+ 1 4\n\n- 1 2\n");
  EXPECT_EQ(column(out, "inserted"), (strings{"2", "0"}));
  EXPECT_EQ(column(out, "erased"), (strings{"0", "1"}));
  EXPECT_EQ(column(out, "edges"), (strings{"7", "6"}));
  EXPECT_EQ(column(out, "triangles"), (strings{"4", "2"}));
  EXPECT_TRUE(row(out, "PageRank").starts_with("max 0.32484")) << out;
  EXPECT_EQ(row(out, "triangles"), "2");
  EXPECT_EQ(row(out, "clustering"), "average 0.6, global 0.545454545");
  EXPECT_TRUE(row(out, "largest ranks").ends_with(" at vertex 4")) << out;
  EXPECT_EQ(row(out, "most triangles"), "2 at vertex 3");
}

TEST_F(program_test, ends_a_batch_at_an_empty_line_or_when_it_is_full) {
  std::string const file = write("tail.graph", tail);
  std::string const updates = "# none yet\n\n \t\r\n0 3\r\n%0 4\n\t+  0\t4 \n0 5\n\n\n0 0\n  # more\n0 5\n";
  strings const stream{"stream", file, "-", "--ids", "internal", "--algorithms", "triangles"};
  std::string const out = output(stream, updates);
  EXPECT_EQ(column(out, "batch"), (strings{"1", "2"}));
  EXPECT_EQ(column(out, "inserted"), (strings{"3", "0"}));
  EXPECT_EQ(column(out, "edges"), (strings{"8", "8"}));
  EXPECT_EQ(column(out, "triangles"), (strings{"3", "3"}));
  EXPECT_EQ(column(out, "iterations"), (strings{"none", "none"}));

  strings full = stream;
  full.insert(full.end(), {"--batch", "2"});
  EXPECT_EQ(column(output(full, updates), "inserted"), (strings{"2", "1", "0"}));
}

// The counts at the end are sums over the batches; a batch that changes nothing adds nothing.
TEST_F(program_test, adds_up_the_work_of_all_batches) {
  std::string const file = write("wheel.mtx", matrix_market(wheel_size, wheel()));
  std::string const out =
      output({"stream", file, "--tolerance", "1e-9", "--ids", "internal", "--report", path("report.json")},
             "5 9\n- 1 2\n\n+ 0 1\n\n- 7 1000\n\n7 7\n\n+ 4 8\n- 4 8\n- 0 5\n");
  std::map<std::string, std::uint64_t> sum;
  for (std::string const name : {"iterations", "ranked", "inserted", "erased"})
    for (std::string const& value : column(out, name)) sum[name] += std::stoull(value);
  EXPECT_EQ(column(out, "batch"), (strings{"1", "2", "3", "4", "5"}));
  EXPECT_EQ(column(out, "inserted"), (strings{"1", "0", "0", "0", "0"}));
  EXPECT_EQ(column(out, "erased"), (strings{"1", "0", "0", "0", "1"}));
  EXPECT_EQ(column(out, "iterations")[2], "0");
  EXPECT_GT(sum["iterations"], 1u);
  report const r(read("report.json"));
  EXPECT_EQ(r.count("algorithms/pagerank/iterations"), sum["iterations"]);
  EXPECT_EQ(r.count("algorithms/pagerank/ranked"), sum["ranked"]);
  EXPECT_EQ(r.counts("updates/batch_edges"), (std::vector<std::uint64_t>{2, 1, 1, 1, 3}));
  EXPECT_EQ(r.count("updates/inserted"), 1u);
  EXPECT_EQ(r.count("updates/erased"), 2u);
  EXPECT_EQ(r.count("updates/missing"), 2u);
  EXPECT_EQ(r.count("updates/duplicates"), 2u);
  EXPECT_EQ(r.count("updates/self_loops"), 1u);
  EXPECT_EQ(r.count("updates/graph_edges"), 5997u);
  EXPECT_NE(row(out, "PageRank").find(", " + std::to_string(sum["iterations"]) + " iterations, "), std::string::npos);
}

TEST_F(program_test, accepts_a_stream_without_updates) {
  std::string const out = output({"stream", write("k5.graph", k5), "--check", "--top", "1"});
  EXPECT_EQ(batches_in(out).size(), 0u);
  EXPECT_EQ(row(out, "updates"), "none");
  EXPECT_EQ(row(out, "most triangles"), "6 at vertex 1");
  EXPECT_TRUE(row(out, "PageRank").starts_with("max 0.19417")) << out;
  (void)output({"stream", write("none.graph", "0 0\n"), "--check", "--top", "1"}, "# nothing\n\n");
}

// The second batch is sent after the first one was printed. Otherwise the loop ends, and there is only one batch.
TEST_F(program_test, prints_a_batch_as_soon_as_it_is_applied) {
  std::string const file = write("tail.graph", tail);
  std::string const command = "( echo 0 3; echo; for i in $(seq 600); do if grep -q '^ *1  *1  *0 ' " + path("out") +
                              "; then echo - 0 3; break; fi; sleep 0.1; done ) | " + WYRM_PROGRAM_PATH + " stream " +
                              file + " --ids internal >" + path("out");
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(column(read("out"), "erased"), (strings{"0", "1"}));
}

TEST_F(program_test, refuses_malformed_updates_and_keeps_earlier_batches) {
  std::string const file = write("tail.graph", tail);
  auto const refused = [&](std::string const& message, std::string const& line) {
    SCOPED_TRACE(line);
    std::string const text = "0 3\n\n# the next batch\n+ 0 4\n" + line + "\n0 5\n";
    for (bool const from_file : {true, false}) {
      std::string const name = from_file ? write("updates.txt", text) : "standard input";
      outcome const ran = run_program({"stream", file, from_file ? name : "-", "--ids", "internal", "--report",
                                       path("report.json"), "--output", path("")},
                                      text);
      EXPECT_EQ(ran.status, 3);
      EXPECT_EQ(ran.err, "wyrm: " + name + ":5: expected " + message + how_to_write + "\n");
      EXPECT_EQ(column(ran.out, "edges"), strings{"6"}) << "the first batch, and not the second";
      EXPECT_EQ(row(ran.out, "failed"), "yes: an error ended the updates after 1 batches");
      report const r(read("report.json"));
      EXPECT_EQ("wyrm: " + r.text("error") + '\n', ran.err);
      EXPECT_EQ(r.count("updates/batches"), 1u);
      EXPECT_EQ(r.count("updates/graph_edges"), 6u);
      for (std::string const written : {"report.json", "pagerank.txt", "triangles.txt"})
        EXPECT_TRUE(std::filesystem::remove(path(written))) << written;
      EXPECT_EQ(parts(), 0);
    }
  };
  refused("a vertex (0 to 5), found \"6\"", "+ 0 6");
  refused("'+', '-' or a vertex (0 to 5), found \"6\"", "6 0");
  refused("a vertex (0 to 5), found \"99999999999999999999\"", "- 0 99999999999999999999");
  refused("a vertex (0 to 5), found \"-1\"", "0 -1");
  refused("'+', '-' or a vertex (0 to 5), found \"-1\"", "-1 0");
  refused("'+', '-' or a vertex (0 to 5), found \"*\"", "* 0 1");
  refused("a vertex (0 to 5), found \"0x1\"", "0 0x1");
  refused("a vertex (0 to 5), found \"1.5\"", "0 1.5");
  refused("a vertex (0 to 5), found the end of the line", "+ 1");
  refused("a vertex (0 to 5), found the end of the line", "+");
  refused("a time, a finite number, found \"0.25x\"", "0 1 0.25x");
  refused("a time, a finite number, found \"inf\"", "+ 0 1 inf");
  refused("a time, a finite number, found \"1e999\"", "+ 0 1 1e999");
  refused("a time between -2^53 and 2^53, found \"-1e16\"", "+ 0 1 -1e16");
  refused("a weight, a finite number, found \"nan\"", "+ 0 1 nan 5");
  refused("a weight, a finite number, found \"#\"", "0 1 # why");
  refused("the end of the line, found \"3\"", "0 1 1 2 3");
  refused("a vertex (0 to 5), found \"6\"", "-v 6");
  refused("a vertex (0 to 5), found the end of the line", "-v");
  refused("the end of the line, found \"1\"", "-v 0 1");
  refused("the id of a new vertex, of the kind that the graph has (with --ids internal: 6), found \"7\"", "+v 7");
  refused(R"(a vertex (0 to 5), found "1\x1b[2J\xff")", "0 1\x1b[2J\xff");
  refused("a vertex (0 to 5), found \"" + std::string(32, '1') + "...\"", "0 " + std::string(33, '1'));

  outcome const marked = run_program({"stream", file},
                                     "\xef\xbb\xbf"
                                     "1 4\n");
  EXPECT_EQ(marked.status, 0) << marked.err;
  outcome const endless =
      run_program({"stream", file}, "1 4\n\n#" + std::string(std::size_t{1} << 24, 'x') + "\n- 1 2\n");
  EXPECT_EQ(endless.status, 3);
  EXPECT_NE(endless.err.find("standard input:3: expected a line of at most 16 MiB"), std::string::npos) << endless.err;

  outcome const none = run_program({"stream", write("none.graph", "0 0\n")}, "0 1\n");
  EXPECT_EQ(none.status, 3);
  EXPECT_NE(none.err.find("standard input:1: expected no update, as the graph has no vertices, found \"0\""),
            std::string::npos);
}

TEST_F(program_test, a_graph_without_vertices_has_no_largest_rank) {
  std::string const none = write("none.graph", "0 0\n");
  strings const all{"--algorithms", "pagerank,personalised-pagerank", "--report", path("report.json")};
  for (strings arguments :
       {strings{"run", none}, strings{"stream", none, "/dev/null", "--algorithms", "pagerank"},
        // Each vertex is removed.
        strings{"stream", write("one.graph", "1 0\n\n"), write("updates.txt", "-v 1\n"), "--algorithms", "pagerank"}}) {
    SCOPED_TRACE(arguments[0] + ' ' + arguments[1]);
    if (arguments[0] == "run") arguments.insert(arguments.end(), all.begin(), all.begin() + 2);
    arguments.insert(arguments.end(), all.begin() + 2, all.end());
    std::string const table = output(arguments);
    EXPECT_TRUE(row(table, "PageRank").starts_with("no vertices, ")) << table;
    EXPECT_EQ(table.find("at vertex"), std::string::npos) << table;
    EXPECT_EQ(table.find("{}"), std::string::npos) << table;
    report const r(read("report.json"));
    for (std::string const name : {"pagerank", "personalised-pagerank"}) {
      if (name != "pagerank" && arguments[0] != "run") continue;
      EXPECT_EQ(r.number("algorithms/" + name + "/max"), 0);
      EXPECT_TRUE(r.at("algorithms/" + name + "/argmax").IsNull());
      EXPECT_TRUE(r.at("algorithms/" + name + "/argmax_id").IsNull());
      EXPECT_TRUE(r.at("algorithms/" + name + "/converged").GetBool());
    }
  }
}

TEST_F(program_test, refuses_a_stream_before_any_update) {
  std::string const file = write("tail.graph", tail);
  std::string const missing = path("missing.txt");
  expect_refused(4, missing + ": cannot be read: No such file or directory",
                 {"stream", path("missing.graph"), missing, "--report", path("none.json")});
  expect_refused(4, "cannot be read: Is a directory", {"stream", file, path("")});
  expect_refused(4, path("missing.graph") + ": cannot be opened", {"stream", path("missing.graph")});
  expect_refused(2, "--undirected", {"stream", file, "--directed", "--algorithms", "triangles"});
  expect_refused(2, "none cannot be combined with other names", {"stream", file, "--algorithms", "none,bfs"});
  expect_refused(2, "FILE", {"stream"});
  expect_refused(2, "--batch", {"stream", file, "--batch", "0"});
  expect_refused(2, "--rounds", {"stream", file, "--rounds", "1"});
  std::string const command =
      std::string("echo 1 2 | ") + WYRM_PROGRAM_PATH + " stream " + file + " >/dev/full 2>" + path("err");
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 4);
  EXPECT_NE(read("err").find("cannot write to standard output"), std::string::npos);
}

}  // namespace

}  // namespace wyrm::tests
