// SPDX-License-Identifier: Apache-2.0
// Tests that the program names vertices by the ids of the file, or by internal numbers, in all that it reads and
// writes. One graph in several formats: only ids differ between them, so outputs are literals with ids filled in.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

/// Two triangles, 0 1 2 and 3 4 5, the edge 2 3, and the edge 3 6 to vertex 6.
std::string const metis = "7 8\n2 3\n1 3\n1 2 4\n3 5 6 7\n4 6\n4 5\n4\n";
std::string const matrix =
    "%%MatrixMarket matrix coordinate pattern symmetric\n7 7 8\n2 1\n3 1\n3 2\n4 3\n5 4\n6 4\n6 5\n7 4\n";
strings const internal{"0", "1", "2", "3", "4", "5", "6"};
strings const from_1{"1", "2", "3", "4", "5", "6", "7"};
strings const sparse{"3", "10", "20", "70", "500", "501", "18446744073709551615"};

/// Replaces $0 ... $6 by the ids of vertices.
std::string filled(std::string const& text, strings const& ids) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '$')
      all += ids.at(static_cast<std::size_t>(text[++i] - '0'));
    else
      all += text[i];
  return all;
}

std::string edge_list(strings const& ids) {
  return filled("# Undirected graph\n$3 $2\n$0 $1\n$2 $0\n$1 $2\n$3 $4\n$4 $5\n$5 $3\n$6 $3\n", ids);
}

std::string node_link(strings const& json_ids) {
  std::string text = "{\"nodes\": [";
  for (std::size_t v = 0; v < 7; ++v) text += (v > 0 ? ", {\"id\": " : "{\"id\": ") + json_ids[v] + "}";
  text += "], \"links\": [";
  for (std::string const edge : {"01", "02", "12", "23", "34", "35", "45", "36"}) {
    text += edge == "01" ? "" : ", ";
    text += "{\"source\": " + json_ids[static_cast<std::size_t>(edge[0] - '0')] +
            ", \"target\": " + json_ids[static_cast<std::size_t>(edge[1] - '0')] + "}";
  }
  return text + "]}";
}

struct graph_with_ids {
  std::string file;
  std::string content;
  strings ids;         // as the program writes them
  std::string json;    // of vertex 3, in the report
  std::string absent;  // an id that does not occur
  std::string range;   // as messages describe the ids
  strings options = {};
};

std::vector<graph_with_ids> const graphs{
    {"plain.txt", edge_list(internal), internal, "3", "7", "0 to 6"},
    {"g.mtx", matrix, from_1, "4", "0", "1 to 7"},
    {"g.graph", metis, from_1, "4", "8", "1 to 7"},
    {"sparse.txt", edge_list(sparse), sparse, "70", "11", "7 ids from 3 to 18446744073709551615"},
    {"based.txt", edge_list(from_1), from_1, "4", "0", "1 to 7", {"--vertex-base", "1"}},
    {"numbers.json",
     node_link({"9", "3", "7", "1", "0", "4", "8"}),
     {"9", "3", "7", "1", "0", "4", "8"},
     "1",
     "2",
     "7 ids from 0 to 9"},
    {"names.json",
     node_link({R"("b")", R"("a b")", R"("+")", R"("#x, y")", R"("\"q\\")", R"("\u00e9")", R"("")"}),
     {R"("b")", R"("a b")", R"("+")", R"("#x, y")", R"("\"q\\")", R"("\xc3\xa9")", R"("")"},
     R"("#x, y")",
     R"("c")",
     "7 names"},
};

class ids_test : public program_test {
 protected:
  /// The file of a graph, and options to load it.
  [[nodiscard]] strings source(graph_with_ids const& g) const {
    strings source{write(g.file, g.content)};
    source.insert(source.end(), g.options.begin(), g.options.end());
    return source;
  }

  std::string ran(std::string const& command, strings const& source, strings const& options,
                  std::string const& input = {}) const {
    strings arguments{command};
    arguments.insert(arguments.end(), source.begin(), source.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    return output(arguments, input);
  }

  /// Checks all commands with a kind of ids.
  void check(graph_with_ids const& g, strings const& source, strings const& ids, strings const& options) const;
};

void ids_test::check(graph_with_ids const& g, strings const& source, strings const& ids, strings const& options) const {
  auto const with = [&](strings more) {
    more.insert(more.end(), options.begin(), options.end());
    return more;
  };
  // After the updates the triangles are 0 1 2, 0 2 3 and 3 4 5.
  std::string const streamed = ran(
      "stream", source, with({"--top", "1", "--output", path("values"), "--report", path("report.json"), "--check"}),
      filled("+ $0 $3\n- $6 $3\n", ids));
  EXPECT_EQ(read("values/triangles.txt"),
            filled("# id of the vertex, triangles, local clustering coefficient\n$0 2 0.6666666666666666\n$1 1 1\n"
                   "$2 2 0.6666666666666666\n$3 2 0.3333333333333333\n$4 1 1\n$5 1 1\n$6 0 0\n",
                   ids));
  EXPECT_EQ(row(streamed, "most triangles"), filled("2 at vertex $0", ids));
  EXPECT_TRUE(row(streamed, "largest ranks").ends_with(filled(" at vertex $3", ids))) << streamed;
  EXPECT_NE(row(streamed, "PageRank").find(filled(" at vertex $3, ", ids)), std::string::npos) << streamed;
  std::istringstream ranks(read("values/pagerank.txt"));
  std::string line;
  std::getline(ranks, line);
  EXPECT_EQ(line, "# id of the vertex, PageRank");
  for (std::size_t v = 0; v < 7; ++v) {
    std::getline(ranks, line);
    EXPECT_TRUE(line.starts_with(ids[v] + " 0.")) << line;
  }

  report const r(read("report.json"));
  EXPECT_EQ(r.text("parameters/ids"), options.empty() ? "file" : options.back());
  auto const expect_id = [&](std::string const& at) {
    if (g.json.starts_with('"'))
      EXPECT_EQ(r.text(at), g.json.substr(1, g.json.size() - 2));
    else
      EXPECT_EQ(std::to_string(r.count(at)), g.json);
  };
  EXPECT_EQ(r.count("algorithms/pagerank/argmax"), 3u);
  expect_id("algorithms/pagerank/argmax_id");
  EXPECT_EQ(r.count("algorithms/pagerank/top/0/vertex"), 3u);
  expect_id("algorithms/pagerank/top/0/id");
  EXPECT_EQ(r.count("algorithms/triangles/top/0/vertex"), 0u);

  // Vertex 6 has one neighbour, and 3 is where its walks go.
  (void)ran("walk", source,
            with({"--steps", "1", "--starts", filled("$6", ids) + "," + filled("$6", ids), "--walks", path("walks")}));
  EXPECT_EQ(read("walks"), filled("$6 $3\n$6 $3\n", ids));

  (void)ran("cluster", source, with({"--labels", path("labels")}));
  EXPECT_EQ(read("labels"), filled("# id of the vertex, cluster\n$0 0\n$1 0\n$2 0\n$3 1\n$4 1\n$5 1\n$6 1\n", ids));
  write("truth", filled("$6 5\n$1 2\n$5 5\n$0 2\n$4 5\n$2 2\n$3 5\n", ids));
  EXPECT_EQ(row(ran("cluster", source, with({"--truth", path("truth")})), "NMI"), "1.000000");
}

TEST_F(ids_test, are_those_of_the_file_or_internal_in_all_input_and_output) {
  std::filesystem::create_directory(path("values"));
  for (auto const& g : graphs) {
    SCOPED_TRACE(g.file);
    check(g, source(g), g.ids, {});
    if (g.ids.front() != internal.front()) check(g, source(g), internal, {"--ids", "internal"});
  }
}

TEST_F(ids_test, are_kept_by_caches_and_in_wyrm_files) {
  for (auto const& g : graphs) {
    SCOPED_TRACE(g.file);
    strings cached = source(g);
    strings convert = cached;
    convert.insert(convert.begin() + 1, path("converted.wyrm"));
    EXPECT_EQ(ran("convert", convert, {}), "");
    cached.push_back("--cache");
    for (strings const& from : {cached, cached, strings{path("converted.wyrm")}}) {
      strings const all{"--steps", "0", "--starts", filled("$6,$5,$4,$3,$2,$1,$0", g.ids), "--walks", path("walks")};
      (void)ran("walk", from, all);
      EXPECT_EQ(read("walks"), filled("$6\n$5\n$4\n$3\n$2\n$1\n$0\n", g.ids)) << from.front() << from.back();
    }
  }
}

TEST_F(ids_test, that_the_graph_lacks_are_refused_with_their_line) {
  for (auto const& g : graphs) {
    SCOPED_TRACE(g.file);
    strings arguments = source(g);
    arguments.insert(arguments.begin(), "stream");
    outcome const ran =
        run_program(arguments, filled("+ $0 $3\n\n- $1 $2\n", g.ids) + "+ " + g.ids[0] + ' ' + g.absent + "\n");
    EXPECT_EQ(ran.status, 3);
    std::string const found = g.absent.starts_with('"') ? R"("\"c\"")" : '"' + g.absent + '"';
    EXPECT_EQ(ran.err,
              "wyrm: standard input:4: expected a vertex (" + g.range + "), found " + found +
                  "; write each update as '+ u v', 'u v' or '- u v', with a time, or a weight and a time, behind "
                  "it, or as '+v id' or '-v id'\n");
    EXPECT_NE(ran.out.find("\n        1          1 "), std::string::npos) << ran.out;
    strings walk{"walk", path(g.file), "--starts", g.ids[0] + "," + g.absent};
    walk.insert(walk.end(), g.options.begin(), g.options.end());
    expect_refused(2, "--starts: expected a vertex (" + g.range + "), found ", walk);
  }
  for (std::string const missing : {"1,,2", ",1", "1,"})
    expect_refused(2, "--starts: expected a vertex (1 to 7), found \"\"", {"walk", path("g.mtx"), "--starts", missing});
  expect_refused(2, "--starts: expected a vertex (0 to 6), found \"7\"",
                 {"walk", path("sparse.txt"), "--ids", "internal", "--starts", "7"});
  (void)output({"walk", "--starts", "1", "--starts", "2,3", path("g.mtx"), "--steps", "0", "--walks", path("walks")});
  EXPECT_EQ(read("walks"), "1\n2\n3\n");
  for (std::string const bad : {"1,", "1 ", "1,x", "-1", "+1", "1.0"})
    expect_refused(2, "--starts: expected a vertex (1 to 7), found ", {"walk", path("g.mtx"), "--starts=" + bad});
  expect_refused(2, "--starts", {"walk", path("g.mtx"), "--starts", ""});
  expect_refused(2, "--ids", {"run", path("g.mtx"), "--ids", "other"});
}

// Names without quotation marks, where blanks and commas end them; with quotation marks they are complete, and may have
// the escapes of outputs or the bytes themselves.
TEST_F(ids_test, that_are_names_need_quotation_marks_only_for_blanks_and_marks) {
  auto const& names = graphs.back();
  std::string const file = write(names.file, names.content);
  std::string const out = output({"stream", file, "--algorithms", "triangles"},
                                 "b \xc3\xa9\n+ b \"\xc3\xa9\"\n- b \"\\xc3\\xa9\"\n+ + \"\"\n\"+\" b\n\"#x, y\" b\n");
  EXPECT_EQ(row(out.substr(out.find("\nin all")), "edges"), "10");  // new: + and the empty name, #x and b
  (void)output({"walk", file, "--steps", "0", "--starts", "b,\"#x, y\",a b,+,\"\\\"q\\\\\"", "--walks", path("walks")});
  EXPECT_EQ(read("walks"), "\"b\"\n\"#x, y\"\n\"a b\"\n\"+\"\n\"\\\"q\\\\\"\n");
  for (std::string const bad : {"\"b", "\"b\"x", "\"\\n\"", "B", "b\xc3"})
    EXPECT_EQ(run_program({"stream", file}, "b " + bad + "\n").status, 3) << bad;
}

TEST_F(ids_test, of_a_converted_file_are_kept_or_dropped) {
  std::string const sparse_file = write("sparse.txt", "70 10\n10 501\n");
  EXPECT_EQ(output({"convert", sparse_file, path("kept.txt")}), "");
  EXPECT_EQ(read("kept.txt"), "70\t10\n10\t501\n");
  EXPECT_EQ(output({"convert", sparse_file, path("dropped.txt"), "--ids", "internal"}), "");
  EXPECT_EQ(read("dropped.txt"), "1\t0\n0\t2\n");
  std::string const from_one = write("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
  EXPECT_EQ(output({"convert", from_one, path("one.txt")}), "");
  EXPECT_EQ(read("one.txt"), "1\t2\n");
  EXPECT_EQ(output({"convert", from_one, path("zero.txt"), "--ids", "internal"}), "");
  EXPECT_EQ(read("zero.txt"), "0\t1\n");
  EXPECT_EQ(
      output({"convert", write(graphs.back().file, graphs.back().content), path("numbered.wyrm"), "--ids", "internal"}),
      "");
  EXPECT_EQ(row(output({"info", path("numbered.wyrm")}), "ids"), "0 to 6");
  EXPECT_EQ(row(output({"info", path(graphs.back().file)}), "ids"), "7 names");
  EXPECT_EQ(row(output({"info", sparse_file}), "ids"), "3 ids from 10 to 501");
  EXPECT_EQ(row(output({"info", from_one}), "ids"), "1 to 2");
  EXPECT_EQ(row(output({"info", from_one, "--ids", "internal"}), "ids"), "0 to 1");
}

}  // namespace

}  // namespace wyrm::tests
