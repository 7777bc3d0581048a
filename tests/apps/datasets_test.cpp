// SPDX-License-Identifier: Apache-2.0
// Tests the catalogue of graphs, `wyrm datasets` and `wyrm fetch`: with files of this machine, and with programs that
// stand in for curl.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../support/truth.hpp"
#include "graphs.hpp"
#include "program.hpp"
#include "running.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

/// Sets an environment variable, which programs inherit, until the end of the scope.
class environment {
 public:
  environment(char const* name, std::string const& value) : name_(name) {
    if (char const* const old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~environment() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }
  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;

 private:
  char const* name_;
  std::optional<std::string> old_;
};

/// The result of sha256sum, the program.
std::string sha256_of(std::string const& path) {
  stream_file const out;
  EXPECT_EQ(wait_for(start({"/usr/bin/sha256sum", path}, -1, out.descriptor(), STDERR_FILENO)), 0);
  return out.text().substr(0, 64);
}

class datasets_test : public program_test {
 protected:
  /// The entry of a catalogue for the file k5.graph of the test's folder, with other or more members.
  [[nodiscard]] std::string entry(std::map<std::string, std::string> const& others = {}) const {
    std::map<std::string, std::string> members{{"name", "\"k5\""},
                                               {"sets", "[\"tests\"]"},
                                               {"kind", "\"example\""},
                                               {"directed", "false"},
                                               {"vertices", "6"},
                                               {"edges", "10"},
                                               {"counts", "\"edges\""},
                                               {"url", "\"file://" + path("k5.graph") + '"'},
                                               {"bytes", "null"},
                                               {"sha256", "null"},
                                               {"licence", "null"},
                                               {"triangles", "null"},
                                               {"triangles_source", "null"},
                                               {"source", "\"tests\""},
                                               {"generator", "\"gen:grid,x=6\""}};
    for (auto const& [key, value] : others) members[key] = value;
    std::string text;
    for (auto const& [key, value] : members)
      if (!value.empty()) text += (text.empty() ? "{\"" : ", \"") + key + "\": " + value;
    return text + '}';
  }
  void use(std::map<std::string, std::string> const& others = {}) const {
    write("catalogue.json", '[' + entry(others) + ']');
  }

  /// A shell script that stands in for curl: $out and $url are its arguments.
  void replace_curl(std::string const& script) const {
    std::filesystem::create_directory(path("bin"));
    write("bin/curl",
          "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in --output) out=$2;; --url) url=${2#file://};; esac; "
          "shift; done\n" +
              script);
    chmod(path("bin/curl").c_str(), 0700);
  }

  [[nodiscard]] std::string sum_of(std::string const& name) const { return sha256_of(path(name)); }
  [[nodiscard]] std::string fetched(std::string const& suffix = {}) const { return "cache/wyrm/k5.graph" + suffix; }
  [[nodiscard]] bool exists(std::string const& name) const { return std::filesystem::exists(path(name)); }

  /// A run that must fail with this status and message.
  void expect_failure(int status, std::string const& message, strings const& arguments) const {
    outcome const ran = run_program(arguments);
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_NE(ran.err.find(message), std::string::npos) << "not \"" << message << "\" but:\n" << ran.err;
    EXPECT_EQ(ran.out, "");
  }

  std::string const k5_path_ = write("k5.graph", k5);
  environment const cache_{"XDG_CACHE_HOME", path("cache")};
  environment const catalogue_{"WYRM_CATALOGUE", path("catalogue.json")};
  environment const path_{"PATH", path("bin") + ":/usr/bin:/bin"};
};

/// The catalogue of the program itself.
class catalogue_test : public program_test {
 protected:
  catalogue_test() { json_.Parse(output({"datasets", "--format", "json"}).c_str()); }
  [[nodiscard]] rapidjson::Value const& find(std::string const& name) const {
    for (auto const& one : json_.GetArray())
      if (name == one["name"].GetString()) return one;
    throw std::runtime_error("the catalogue has no " + name);
  }
  environment const none_{"WYRM_CATALOGUE", ""};
  environment const cache_{"XDG_CACHE_HOME", path("cache")};
  rapidjson::Document json_;
};

TEST_F(catalogue_test, has_all_documented_fields) {
  ASSERT_TRUE(json_.IsArray());
  EXPECT_GE(json_.Size(), 150u);
  std::set<std::string> names;
  for (auto const& one : json_.GetArray()) {
    std::string const name = one["name"].GetString();
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(one.MemberCount(), 16u) << name;
    EXPECT_GT(one["vertices"].GetUint64(), 0u) << name;
    EXPECT_GT(one["edges"].GetUint64(), 0u) << name;
    EXPECT_GT(one["sets"].Size(), 0u) << name;
    EXPECT_TRUE(one["path"].IsNull()) << name;
    std::string const url = one["url"].GetString();
    EXPECT_TRUE(url.starts_with("https://") || url.starts_with("http://")) << name;
    EXPECT_TRUE(std::string(one["source"].GetString()).starts_with("http")) << name;
    EXPECT_EQ(one["sha256"].IsNull(), one["bytes"].IsNull()) << name;
    EXPECT_EQ(one["triangles"].IsNull(), one["triangles_source"].IsNull()) << name;
  }
}

// Table 1 of "Ouroboros: Virtualized Queues for Dynamic Memory Management on GPUs": vertices, and adjacencies, which
// for matrices contain the diagonal. The paper prints 229067 vertices of coAuthorsDBLP, which has 299067.
TEST_F(catalogue_test, has_the_graphs_of_the_Ouroboros_paper) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> const table{
      {"luxembourg_osm", {114599, 239332}},   {"coAuthorsCiteseer", {227320, 1628268}},
      {"coAuthorsDBLP", {299067, 1955352}},   {"ldoor", {952203, 46522475}},
      {"audikw_1", {943695, 77651847}},       {"delaunay_n20", {1048576, 6291372}},
      {"rgg_n_2_20_s0", {1048576, 13783240}}, {"hugetric-00000", {5824554, 17467046}},
      {"delaunay_n23", {8388608, 50331568}},  {"germany_osm", {11548845, 24738362}},
      {"nlpkkt120", {3542400, 96845792}},     {"nlpkkt200", {16240000, 448225632}},
      {"nlpkkt240", {27993600, 774472352}},   {"europe_osm", {50912018, 108109320}}};
  std::set<std::string> const matrices{"ldoor", "audikw_1", "nlpkkt120", "nlpkkt200", "nlpkkt240"};
  for (auto const& [name, size] : table) {
    auto const& one = find(name);
    auto const [vertices, adjacencies] = size;
    EXPECT_EQ(one["vertices"].GetUint64(), vertices) << name;
    EXPECT_EQ(2 * one["edges"].GetUint64() + (matrices.contains(name) ? vertices : 0), adjacencies) << name;
    EXPECT_FALSE(one["directed"].GetBool()) << name;
  }
  report const selected("{\"all\":" + output({"datasets", "--set", "Ouroboros", "--format", "json"}) + '}');
  EXPECT_EQ(selected.at("all").Size(), table.size());
}

TEST_F(catalogue_test, agrees_with_reference_values) {
  std::map<std::string, rapidjson::Value const*> entries;
  for (auto const& one : json_.GetArray()) entries[one["name"].GetString()] = &one;
  bool const has_originals = data_folder() != std::filesystem::path(WYRM_TEST_DATA) / "graphs";
  std::size_t compared = 0;
  for (truth_row const& row : read_truth(data_folder())) {
    std::filesystem::path const file = row.file;
    auto const entry = entries.find(file.stem());
    if (entry == entries.end()) continue;
    ++compared;
    auto const& one = *entry->second;
    EXPECT_EQ(one["vertices"].GetUint64(), row.vertices) << file;
    bool const has_edges = std::string(one["counts"].GetString()) == "edges";
    EXPECT_EQ(has_edges ? one["edges"].GetUint64() : row.undirected_edges, row.undirected_edges) << file;
    EXPECT_EQ(one["triangles"].IsNull() ? row.triangles : one["triangles"].GetUint64(), row.triangles) << file;
    auto const path = data_folder() / file;
    if (!has_originals || one["sha256"].IsNull() || !std::filesystem::exists(path)) continue;
    EXPECT_EQ(one["sha256"].GetString(), sha256_of(path)) << file;
    EXPECT_EQ(one["bytes"].GetUint64(), std::filesystem::file_size(path)) << file;
  }
  EXPECT_GT(compared, 0u);
}

TEST_F(catalogue_test, lists_what_is_asked_for) {
  auto const names = [&](strings options) {
    options.insert(options.begin(), "datasets");
    std::istringstream lines(output(options));
    strings found;
    for (std::string line; std::getline(lines, line);) found.push_back(line.substr(0, line.find(' ')));
    EXPECT_FALSE(found.empty());
    if (!found.empty()) {
      EXPECT_EQ(found.front(), "name");
      found.erase(found.begin());
    }
    return found;
  };
  EXPECT_EQ(names({"LUXEMBOURG*"}), strings{"luxembourg_osm"});
  EXPECT_EQ(names({"*", "--kind", "road", "--max-edges", "119666"}), (strings{"luxembourg_osm", "rome99"}));
  EXPECT_EQ(names({"--kind", "road", "--max-edges", "119665"}), strings{"rome99"});
  EXPECT_EQ(names({"nlpkkt*", "--set", "Ouroboros"}), (strings{"nlpkkt120", "nlpkkt200", "nlpkkt240"}));
  EXPECT_EQ(names({"no such graph"}), strings{});
  EXPECT_EQ(names({"*"}).size(), json_.Size());
  expect_refused(2, "the kind 'rod'; there are biological,", {"datasets", "--kind", "rod"});
  expect_refused(2, "the set 'snap'; there are DIMACS10,", {"datasets", "--set", "snap"});
  expect_refused(2, "'-1' is not a whole number", {"datasets", "--max-edges", "-1"});
  expect_refused(2, "empty", {"datasets", ""});
}

TEST_F(catalogue_test, says_how_to_get_a_graph_that_is_named) {
  expect_refused(4, "run `wyrm fetch luxembourg_osm`, or use gen:road", {"info", "luxembourg_osm"});
  expect_refused(2, "the catalogue has no graph 'luxemburg_osm'", {"fetch", "luxemburg_osm"});
  expect_refused(4, "luxemburg_osm", {"info", "luxemburg_osm"});
}

TEST_F(datasets_test, fetches_a_file_and_takes_it_by_its_name) {
  use({{"bytes", std::to_string(std::string(k5).size())}, {"sha256", '"' + sum_of("k5.graph") + '"'}});
  EXPECT_EQ(output({"fetch", "k5"}), path(fetched()) + '\n');
  EXPECT_EQ(read(fetched()), k5);
  EXPECT_FALSE(exists(fetched(".part")));
  EXPECT_EQ(row(output({"info", "k5"}), "vertices"), "6");
  EXPECT_EQ(run("k5", {"--rounds", "0"}).count("graph/edges"), 10u);
  EXPECT_NE(output({"datasets"}).find(" yes "), std::string::npos);

  replace_curl("exit 1\n");
  EXPECT_EQ(output({"fetch", "k5"}), path(fetched()) + '\n') << "it is there";
  expect_failure(4, "curl ended with 1", {"fetch", "k5", "--to", path("other")});
  std::filesystem::remove(path("bin/curl"));
  EXPECT_EQ(output({"fetch", "k5", "--to", path("other")}), path("other/k5.graph") + '\n');
}

TEST_F(datasets_test, lists_long_names_as_words) {
  std::string const name(200, 'n');
  std::string const kind(40, 'k');
  use({{"name", '"' + name + '"'},
       {"kind", '"' + kind + '"'},
       {"vertices", "18446744073709551615"},
       {"edges", "18446744073709551614"}});
  std::istringstream words(output({"datasets", name}));
  std::string word;
  std::getline(words, word);
  for (std::string const& expected : {name, kind, std::string("18446744073709551615"),
                                      std::string("18446744073709551614"), std::string("edges"), std::string("no")}) {
    words >> word;
    EXPECT_EQ(word, expected);
  }
}

TEST_F(datasets_test, prefers_a_file_to_the_graph_of_the_same_name) {
  use();
  std::filesystem::create_directory(path("here"));
  write("here/k5", "1 2\n");
  std::string const program = std::filesystem::absolute(WYRM_PROGRAM_PATH).string();
  stream_file const out;
  ASSERT_EQ(wait_for(start({"/bin/sh", "-c", "cd " + path("here") + " && " + program + " info k5 --format edges"}, -1,
                           out.descriptor(), STDERR_FILENO)),
            0);
  EXPECT_EQ(row(out.text(), "vertices"), "2");
}

// The beginning is not fetched again: here it is another one, which without a checksum is taken.
TEST_F(datasets_test, goes_on_where_a_download_ended) {
  use();
  std::filesystem::create_directories(path("cache/wyrm"));
  std::string const begin = "% ";
  write(fetched(".part"), begin);
  EXPECT_EQ(output({"fetch", "k5"}), path(fetched()) + '\n');
  EXPECT_EQ(read(fetched()), begin + std::string(k5).substr(begin.size()));
}

TEST_F(datasets_test, starts_again_when_the_server_has_no_ranges) {
  use();
  std::filesystem::create_directories(path("cache/wyrm"));
  write(fetched(".part"), "begin");
  replace_curl("[ -s \"$out\" ] && exit 33\ncat \"$url\" > \"$out\"\n");
  EXPECT_EQ(output({"fetch", "k5"}), path(fetched()) + '\n');
  EXPECT_EQ(read(fetched()), k5);
}

// A complete file is left where curl ended after the program; a longer one, where the server has another file since.
TEST_F(datasets_test, starts_again_when_the_file_has_nothing_more) {
  use();
  replace_curl("[ -s \"$out\" ] && { printf 416; exit 22; }\ncat \"$url\" > \"$out\"\n");
  std::filesystem::create_directories(path("cache/wyrm"));
  for (std::string const& left : {std::string(k5), k5 + std::string("more")}) {
    write(fetched(".part"), left);
    EXPECT_EQ(output({"fetch", "k5"}), path(fetched()) + '\n');
    EXPECT_EQ(read(fetched()), k5);
    std::filesystem::remove(path(fetched()));
  }
  write(fetched(".part"), "begin");
  replace_curl("printf 404; exit 22\n");
  expect_failure(4, "the server refuses the file", {"fetch", "k5"});
  EXPECT_EQ(read(fetched(".part")), "begin") << "the next call goes on";
}

TEST_F(datasets_test, refuses_a_file_that_is_another) {
  auto const refused = [&](std::string const& message) {
    expect_failure(3, message, {"fetch", "k5"});
    EXPECT_FALSE(exists(fetched()) || exists(fetched(".part"))) << message;
  };
  use({{"sha256", '"' + std::string(64, '0') + '"'}});
  refused("expected the SHA-256 " + std::string(64, '0') + ", found " + sum_of("k5.graph"));
  use({{"bytes", "1"}});
  refused("expected 1 bytes, found " + std::to_string(std::string(k5).size()));
  use();
  write("k5.graph", "");
  refused("found an empty file");
  for (std::string const extension : {".gz", ".bz2", ".xz", ".zst"}) {
    auto const file = write("k5.graph" + extension, "<html>log in</html>");
    use({{"url", "\"file://" + file + '"'}});
    refused("expected a file in the form of " + extension);
    EXPECT_FALSE(exists(fetched(extension)) || exists(fetched(extension + ".part")));
  }
  for (std::string const begin : {"\x28\xb5\x2f\xfd", "\x50\x2a\x4d\x18"}) {
    write("k5.graph.zst", begin + " the rest");
    EXPECT_EQ(output({"fetch", "k5"}), path(fetched(".zst")) + '\n');
    std::filesystem::remove(path(fetched(".zst")));
  }
}

TEST_F(datasets_test, says_what_failed_and_what_stands_in) {
  use();
  auto const refused = [&](int status, std::string const& message) {
    replace_curl("exit " + std::to_string(status) + '\n');
    expect_failure(4, message + ": check the network, or use gen:grid,x=6", {"fetch", "k5"});
    EXPECT_FALSE(exists(fetched()) || exists(fetched(".part")));
  };
  refused(6, "the name of the server cannot be resolved");
  refused(7, "the server cannot be reached");
  use({{"url", "\"file:///no/k5.graph\""}, {"generator", "null"}});
  std::filesystem::remove(path("bin/curl"));
  expect_failure(4, "from file:///no/k5.graph: the file cannot be read\n", {"fetch", "k5"});
  {
    environment const empty("PATH", path("empty"));
    expect_failure(4, "cannot run curl: No such file or directory; install curl", {"fetch", "k5"});
  }
  write("taken", "");
  expect_failure(4, "cannot create the folder " + path("taken/wyrm"), {"fetch", "k5", "--to", path("taken/wyrm")});
}

TEST_F(datasets_test, replaces_links_that_lead_nowhere) {
  use();
  std::filesystem::create_directories(path("cache/wyrm"));
  for (char const* const target : {"nowhere", "k5.graph"}) {  // the second is a link to itself
    std::filesystem::create_symlink(target, path(fetched()));
    EXPECT_EQ(output({"fetch", "k5"}), path(fetched()) + '\n');
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path(fetched()))));
    EXPECT_EQ(read(fetched()), k5);
    std::filesystem::remove(path(fetched()));
  }
}

// Elsewhere curl takes braces and brackets for lists of URLs.
TEST_F(datasets_test, takes_a_url_as_it_is) {
  std::filesystem::create_directory(path("{a,b}[1-2]"));
  write("{a,b}[1-2]/k5.graph", k5);
  use({{"url", "\"file://" + path("{a,b}[1-2]/k5.graph") + '"'}});
  EXPECT_EQ(output({"fetch", "k5"}), path(fetched()) + '\n');
  EXPECT_EQ(read(fetched()), k5);
}

TEST_F(datasets_test, keeps_what_came_until_the_disk_was_full) {
  std::string const text(1 << 16, 'x');
  use({{"url", "\"file://" + write("k5.graph", text) + '"'}});
  stream_file const err;
  EXPECT_EQ(wait_for(start({"/bin/sh", "-c", "ulimit -f 16; exec " WYRM_PROGRAM_PATH " fetch k5"}, -1, STDOUT_FILENO,
                           err.descriptor())),
            4);
  EXPECT_NE(err.text().find("the file cannot be written: check the space on the disk"), std::string::npos)
      << err.text();
  EXPECT_FALSE(exists(fetched()));
  EXPECT_GT(std::filesystem::file_size(path(fetched(".part"))), 0u);
  EXPECT_EQ(output({"fetch", "k5"}), path(fetched()) + '\n');
  EXPECT_EQ(read(fetched()), text);
}

TEST_F(datasets_test, ends_curl_with_the_program_and_goes_on_later) {
  use();
  std::string const begin = std::string(k5).substr(0, 4);
  replace_curl("printf '%s' '" + begin + "' > \"$out\"\necho $$ > " + path("pid") + "\nexec sleep 60\n");
  running_program fetching({WYRM_PROGRAM_PATH, "fetch", "k5"}, path(""));
  wait_until([&] { return !read("pid").empty(); }, "curl runs");
  expect_failure(4, "another process fetches this file", {"fetch", "k5"});
  fetching.kill(SIGTERM);
  outcome const ended = fetching.wait();
  EXPECT_EQ(ended.status, 130);
  EXPECT_NE(ended.err.find("interrupted"), std::string::npos) << ended.err;
  auto const curl = static_cast<pid_t>(std::stol(read("pid")));
  wait_until([&] { return ::kill(curl, 0) != 0 && errno == ESRCH; }, "curl ends");
  EXPECT_EQ(read(fetched(".part")), begin);
  EXPECT_FALSE(exists(fetched()));
  std::filesystem::remove(path("bin/curl"));
  EXPECT_EQ(output({"fetch", "k5"}), path(fetched()) + '\n');
  EXPECT_EQ(read(fetched()), k5);
}

TEST_F(datasets_test, refuses_a_malformed_catalogue) {
  auto const refused = [&](std::string const& message, std::string const& text) {
    write("catalogue.json", text);
    expect_failure(3, path("catalogue.json") + ": " + message, {"datasets"});
  };
  auto const with = [&](std::string const& key, std::string const& value) { return '[' + entry({{key, value}}) + ']'; };
  refused("expected JSON in UTF-8, found a mistake at byte 1", "");
  refused("expected JSON in UTF-8, found a mistake at byte 2", "[");
  refused("expected an array, found an object", "{}");
  refused("[0]: expected an object, found 1", "[1]");
  refused("[0].name: expected a value, found none", with("name", ""));
  refused("[0].name: expected 1 to 200 letters", with("name", "\"a/b\""));
  refused("[0].name: expected 1 to 200 letters", with("name", "\"\""));
  refused("[0].name: expected a string, found 7", with("name", "7"));
  refused("[0].sets: expected at least one set", with("sets", "[]"));
  refused("[0].vertices: expected a whole number from 0, found -1", with("vertices", "-1"));
  refused("[0].edges: expected a whole number from 0, found 1.8446744073709552e+19",
          with("edges", "18446744073709551616"));
  refused("[0].counts: expected one of edges, arcs, entries, listed", with("counts", "\"pairs\""));
  refused("[0].counts: expected arcs if directed is true", with("directed", "true"));
  refused("[0].url: expected a URL", with("url", "\"ftp://a/b\""));
  refused("[0].url: expected 1 to 200 letters", with("url", "\"https://a/\""));
  refused("[0].url: expected 1 to 200 letters", with("url", "\"https://a/..\""));
  refused("[0].sha256: expected 64 lower-case", with("sha256", "\"12\""));
  refused("[0].triangles_source: expected the source", with("triangles", "1"));
  refused("[0].generator: expected a text that begins with gen:", with("generator", "\"grid\""));
  refused("[0]: expected only known members, found \"colour\"", with("colour", "1"));
  refused("[1].name: expected a name that no other graph has", '[' + entry() + ',' + entry() + ']');
  refused("[1].url: expected a file name that no other", '[' + entry() + ',' + entry({{"name", "\"b\""}}) + ']');
  std::filesystem::remove(path("catalogue.json"));
  expect_failure(4, "cannot read " + path("catalogue.json") + ": No such file", {"datasets"});
  EXPECT_EQ(row(output({"info", "gen:grid,x=6,y=6"}), "vertices"), "36") << "it is no name of the catalogue";
}

}  // namespace

}  // namespace wyrm::tests
