// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm generate`, and names of generated graphs in place of files.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "program.hpp"

namespace wyrm::tests {

TEST_F(program_test, generate_lists_families) {
  std::string const text = output({"generate"});
  for (char const* line :
       {"\nrmat: ", "\nlfr: ", "\n    scale=16 ", "\n    seed=1 ", "\n    degrees ", "; has labels\n", "gen:FAMILY"})
    EXPECT_NE(text.find(line), std::string::npos) << line;
  EXPECT_NE(text.find("KKT system of a control problem in a cube; on a GPU, too\n"), std::string::npos) << text;
  EXPECT_NE(text.find("triangulation of random points\n"), std::string::npos) << text;
}

TEST_F(program_test, generate_writes_graphs) {
  std::string const line = output({"generate", "grid", "x=3", "y=2", "-o", path("g.mtx"), "--device", "cpu"});
  std::string const start = path("g.mtx") + ": grid, 6 vertices, 7 edges; generated on cpu (";
  EXPECT_EQ(line.substr(0, start.size()), start);
  double seconds = -1;
  std::istringstream(line.substr(line.find(" in ") + 4)) >> seconds;
  EXPECT_GE(seconds, 0);
  EXPECT_TRUE(line.ends_with(" s\n")) << line;
  EXPECT_EQ(read("g.mtx").substr(0, 14), "%%MatrixMarket");
  EXPECT_NE(output({"info", path("g.mtx")}).find("edges                  7 (undirected)"), std::string::npos);
  // The same graph by its name, and from files of other formats.
  std::string const by_name = output({"info", "gen:rmat,scale=8,seed=3"});
  EXPECT_NE(by_name.find("vertices               256"), std::string::npos) << by_name;
  for (char const* file : {"r.mtx", "r.wyrm"}) {
    (void)output({"generate", "rmat", "scale=8", "seed=3", "-o", path(file), "--threads", "1"});
    std::string const from_file = output({"info", path(file)});
    EXPECT_EQ(from_file.substr(from_file.find("edges")), by_name.substr(by_name.find("edges")));
  }
  (void)output({"convert", "gen:rmat,scale=8,seed=3", path("c.mtx")});
  EXPECT_EQ(read("c.mtx"), read("r.mtx"));
  EXPECT_EQ(run("gen:grid,x=4,y=4").count("graph/edges"), 24u);
  EXPECT_EQ(run("gen:delaunay,scale=4").count("graph/vertices"), 16u);
  EXPECT_EQ(run("gen:delaunay,n=3").count("graph/edges"), 3u);
}

TEST_F(program_test, generate_writes_labels_by_the_ids_of_the_file) {
  for (auto const& [file, first] : {std::pair{"p.graph", 1}, {"p.METIS.GZ", 1}, {"p.wyrm", 0}}) {
    (void)output(
        {"generate", "planted", "n=5", "groups=2", "p_in=1", "p_out=0", "-o", path(file), "--labels", path("l")});
    std::istringstream lines(read("l"));
    int id = 0;
    int label = 0;
    for (int v = 0; v < 5; ++v) {
      ASSERT_TRUE(lines >> id >> label);
      EXPECT_EQ(id, v + first);
      EXPECT_EQ(label, v < 3 ? 0 : 1);
    }
    EXPECT_FALSE(lines >> id);
  }
}

// The default device is a GPU where there is one; families without a kernel are generated on the CPU there, too.
TEST_F(program_test, generated_graphs_are_the_same_on_every_device) {
  for (char const* const family : {"rmat", "kronecker", "rgg", "torus", "dual", "nlpkkt", "gnp", "planted", "lfr"}) {
    (void)output({"generate", family, "-o", path("auto.wyrm")});
    (void)output({"generate", family, "-o", path("cpu.wyrm"), "--device", "cpu", "--threads", "1"});
    EXPECT_EQ(read("auto.wyrm"), read("cpu.wyrm")) << family;
  }
  EXPECT_NE(output({"generate", "lfr", "-o", path("l.mtx")}).find("generated on cpu ("), std::string::npos);
}

TEST_F(program_test, reports_say_where_a_graph_was_generated) {
  report const made = run("gen:grid,x=4,y=4");
  EXPECT_EQ(made.text("generated_on"), made.text("device"));
  EXPECT_EQ(run("gen:road,rows=9,columns=9").text("generated_on").substr(0, 5), "cpu (");
  EXPECT_EQ(run("gen:grid,x=4,y=4", {"--memory", "host"}).text("generated_on").substr(0, 5), "cpu (");
  EXPECT_NE(output({"run", "gen:ba,n=99"}).find(" ms (generated on cpu ("), std::string::npos);
}

TEST_F(program_test, generate_refuses) {
  std::string const out = path("g.mtx");
  expect_refused(2, "there is no device 'gpu'", {"generate", "rmat", "-o", out, "--device", "gpu"});
  expect_refused(6, "CUDA", {"generate", "rmat", "-o", out, "--device", "cuda:99"});
  expect_refused(2, "no family of graphs 'tree'", {"generate", "tree", "-o", out});
  expect_refused(2, "no parameter 'size'", {"generate", "rmat", "size=3", "-o", out});
  expect_refused(2, "scale: 99 is not in the range 1 to 31", {"generate", "rmat", "scale=99", "-o", out});
  expect_refused(2, "give -o FILE", {"generate", "rmat"});
  expect_refused(2, "there is no FAMILY", {"generate", "-o", out});
  expect_refused(2, "has no labels", {"generate", "rmat", "-o", out, "--labels", path("l")});
  expect_refused(2, "are the same file", {"generate", "planted", "-o", out, "--labels", out});
  std::string const degrees = write("d.txt", "1\n1\n");
  expect_refused(2, "are the same file", {"generate", "configuration", "degrees=" + degrees, "-o", degrees});
  expect_refused(2, "are the same file", {"convert", "gen:configuration,degrees=" + degrees, degrees});
  expect_refused(2, "are the same file", {"run", "gen:configuration,degrees=" + degrees, "--report", degrees});
  EXPECT_EQ(read("d.txt"), "1\n1\n");
  expect_refused(2, "g.xyz", {"generate", "rmat", "-o", path("g.xyz")});
  // Before the graph is generated, which would fail.
  expect_refused(4, "there is no folder",
                 {"generate", "rmat", "scale=31", "edge_factor=100000", "-o", path("none/g.mtx")});
  expect_refused(4, "/dev/full", {"generate", "planted", "n=2000", "-o", out, "--labels", "/dev/full"});
  expect_refused(5, "MiB are available", {"generate", "rmat", "scale=31", "edge_factor=100000", "-o", out});
  expect_refused(2, "no family of graphs ''", {"info", "gen:"});
  expect_refused(2, "expected NAME=VALUE, found 'scale'", {"info", "gen:rmat,scale"});
  expect_refused(2, "leave out --cache", {"info", "gen:rmat", "--cache"});
  expect_refused(2, "leave out --format", {"info", "gen:rmat", "--format", "mtx"});
  expect_refused(2, "leave out --third-column", {"info", "gen:rmat", "--third-column", "time"});
  expect_refused(2, "leave out --columns", {"info", "gen:rmat", "--columns", "source=a,target=b"});
  expect_refused(2, "name two columns", {"info", "gen:rmat", "--columns", "source=a,target=a"});
  expect_refused(2, "leave out --vertex-base", {"info", "gen:rmat", "--vertex-base", "1"});
  expect_refused(2, "allow them with --max-vertices", {"info", "gen:rmat,scale=4", "--max-vertices", "15"});
}

}  // namespace wyrm::tests
