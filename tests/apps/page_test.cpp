// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm report`: the page is well-formed and refers to nothing outside, charts have a point for each value, and
// files that are no reports are refused.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "graphs.hpp"
#include "markup.hpp"
#include "program.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;
using point = std::pair<double, double>;

/// A report as text, of which values can be replaced. Paths have slashes: "graph/edges".
class draft {
 public:
  explicit draft(std::string const& text) { json_.Parse(text.c_str()); }
  template <class T>
  draft& set(std::string const& path, T const& value) {
    rapidjson::Pointer(("/" + path).c_str()).Set(json_, value);
    return *this;
  }
  draft& set_all(std::string const& path, std::vector<double> const& values) {
    rapidjson::Value list(rapidjson::kArrayType);
    for (double const value : values) list.PushBack(value, json_.GetAllocator());
    rapidjson::Pointer(("/" + path).c_str()).Set(json_, list);
    return *this;
  }
  draft& set_all(std::string const& path, std::vector<std::uint64_t> const& values) {
    rapidjson::Value list(rapidjson::kArrayType);
    for (std::uint64_t const value : values) list.PushBack(value, json_.GetAllocator());
    rapidjson::Pointer(("/" + path).c_str()).Set(json_, list);
    return *this;
  }
  draft& erase(std::string const& path) {
    rapidjson::Pointer(("/" + path).c_str()).Erase(json_);
    return *this;
  }
  [[nodiscard]] std::string text() const {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
    json_.Accept(writer);
    return buffer.GetString();
  }

 private:
  rapidjson::Document json_;
};

class page_test : public program_test {
 protected:
  page_test() {
    write("k5.graph", k5);
    (void)output(
        {"run", path("k5.graph"), "--device", "cpu", "--rounds", "3", "--batch", "4", "--report", path("run.json")});
    (void)output({"stream", path("k5.graph"), "--device", "cpu", "--report", path("stream.json")},
                 "+ 1 6\n\n- 1 6\n\n- 1 2\n");
    (void)output({"cluster", path("k5.graph"), "--device", "cpu", "--report", path("cluster.json")});
  }

  /// The page of these reports, whose form is checked.
  [[nodiscard]] markup page(strings const& reports) const {
    strings arguments{"report", "-o", path("page.html")};
    for (std::string const& report : reports) arguments.push_back(path(report));
    EXPECT_EQ(output(arguments), "");
    std::string const text = read("page.html");
    EXPECT_LE(text.size(), 200'000u);
    std::string const first = "<!DOCTYPE html>\n";
    EXPECT_TRUE(text.starts_with(first));
    for (std::string const outside :
         {"<script", "<link", "<img", "url(", "@import", "src=", "href=", "http:", "https:"})
      EXPECT_EQ(text.find(outside), std::string::npos) << outside;
    EXPECT_EQ(parts(), 0);
    return markup(text.substr(first.size()));
  }
  void write_draft(std::string const& name, draft const& d) const { write(name, d.text()); }
  [[nodiscard]] draft from(std::string const& name) const { return draft(read(name)); }
};

/// The titles of the charts.
strings charts_of(markup const& page) {
  strings titles;
  for (element const& e : page.named("title")) titles.push_back(e.text);
  titles.erase(titles.begin());  // that of the page
  return titles;
}

/// The points of the lines with this class.
std::vector<std::vector<point>> lines_of(markup const& page, std::string const& kind) {
  std::vector<std::vector<point>> lines;
  for (element const& e : page.named("polyline")) {
    if (e.attributes.at("class") != kind) continue;
    std::istringstream in(e.attributes.at("points"));
    lines.emplace_back();
    char comma = 0;
    for (point p; in >> p.first >> comma >> p.second;) lines.back().push_back(p);
  }
  return lines;
}

/// The cells of the row of the table with this name.
strings cells(markup const& page, std::string const& name) {
  strings found;
  auto const& all = page.all();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == "th" && all[i].text == name)
      for (std::size_t j = i + 1; j < all.size() && all[j].name == "td"; ++j) found.push_back(all[j].text);
  return found;
}

std::size_t count_in(std::string const& text, std::string const& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(page_test, shows_reports_of_all_commands) {
  strings const of_updates{"Throughput over time", "Latency over time", "Memory by purpose", "Degree distribution"};
  markup const run = page({"run.json"});
  EXPECT_EQ(charts_of(run), of_updates);
  EXPECT_EQ(run.named("h1").at(0).text, "Report of wyrm run");
  EXPECT_EQ(cells(run, "vertices"), strings{"6"});
  EXPECT_EQ(cells(run, "edges"), strings{"10"});
  EXPECT_EQ(cells(run, "triangles"), strings{"10"});
  EXPECT_EQ(cells(run, "insertions: batches"), strings{"3"});
  EXPECT_EQ(cells(run, "erasures: requested edges").size(), 1u);
  EXPECT_EQ(charts_of(page({"stream.json"})), of_updates);
  EXPECT_EQ(charts_of(page({"cluster.json"})), strings{"Sizes of clusters"});

  markup const all = page({"run.json", "stream.json", "cluster.json"});
  EXPECT_EQ(all.named("h1").at(0).text, "Comparison of 3 reports of wyrm");
  EXPECT_EQ(charts_of(all).size(), 5u);
  EXPECT_EQ(cells(all, "command"), (strings{"run", "stream", "cluster"}));
  EXPECT_EQ(cells(all, "updates: batches"), (strings{"-", "3", "-"}));
  EXPECT_EQ(cells(all, "edges"), (strings{"10", "10", "10"}));
}

TEST_F(page_test, has_a_point_for_each_batch) {
  markup const both = page({"run.json", "stream.json"});
  for (std::string const kind : {"s0", "s0 dashed", "s1"}) {
    auto const lines = lines_of(both, kind);
    EXPECT_EQ(lines.size(), kind == "s0" ? 3u : kind == "s1" ? 3u : 2u) << kind;  // with the distribution of degrees
    for (std::size_t i = 0; i < 2 && i < lines.size(); ++i) EXPECT_EQ(lines[i].size(), 3u) << kind;
  }
  draft d = from("stream.json");
  d.set_all("updates/batch_edges", std::vector<std::uint64_t>{100, 200, 400});
  write_draft("three.json", d.set_all("updates/batch_ms", std::vector<double>{1, 1, 2}));
  auto const lines = lines_of(page({"three.json"}), "s0");
  std::vector<point> const& rates = lines.at(0);  // 100,000 and twice 200,000 edges/s at 1, 2 and 4 ms
  EXPECT_NEAR(rates.at(2).first, 704, 0.1);
  EXPECT_NEAR(rates.at(0).first - 80, (704 - 80) / 4.0, 0.11);
  EXPECT_NEAR(rates.at(1).first - 80, (704 - 80) / 2.0, 0.11);
  EXPECT_NEAR(rates.at(1).second, 14, 0.1);
  EXPECT_NEAR(rates.at(2).second, 14, 0.1);
  EXPECT_NEAR(rates.at(0).second, (14 + 270) / 2.0, 0.11);
  std::vector<point> const& times = lines.at(1);  // a logarithmic axis from 1 to 10 ms
  EXPECT_NEAR(times.at(0).second, 270, 0.1);
  EXPECT_NEAR(times.at(2).second, 270 - 0.30103 * (270 - 14), 0.11);
}

TEST_F(page_test, draws_degrees_on_logarithmic_axes_without_zero) {
  write_draft("degrees.json",
              from("run.json").set_all("graph/degrees/histogram", std::vector<std::uint64_t>{7, 1, 0, 100}));
  markup const one = page({"degrees.json"});
  auto const points = lines_of(one, "s0").at(2);
  ASSERT_EQ(points.size(), 2u);  // degrees 1, and 4 to 7
  EXPECT_EQ(points[0], point(80, 270));
  EXPECT_NEAR(points[1].first, 80 + 0.60206 * (704 - 80), 0.1);
  EXPECT_NEAR(points[1].second, 14, 0.1);
  bool notes_zero = false;
  for (element const& e : one.named("p"))
    notes_zero = notes_zero || e.text.find("Run 1 has 7 of degree 0") != std::string::npos;
  EXPECT_TRUE(notes_zero);
}

TEST_F(page_test, stacks_memory_by_purpose) {
  draft d = from("run.json");
  double total = 0;
  double bytes = 1 << 20;
  for (std::string const part : {"vertex_table", "neighbours", "slack", "pool_free", "allocator_overhead", "scratch"}) {
    d.set("memory/built/" + part, static_cast<std::uint64_t>(bytes))
        .set("memory/after_updates/" + part, std::uint64_t{0});
    total += bytes;
    bytes *= 2;
  }
  write_draft("memory.json", d);
  markup const one = page({"memory.json"});
  auto const bars = one.named("rect");
  ASSERT_EQ(bars.size(), 12u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(bars[i].attributes.at("class"), "m" + std::to_string(i));
    EXPECT_NEAR(std::stod(bars[i].attributes.at("width")), (704 - 80) * static_cast<double>(1 << (20 + i)) / total,
                0.11);
    EXPECT_EQ(bars[i + 6].attributes.at("width"), "0.0");
  }
  EXPECT_EQ(cells(one, "memory as built"), strings{"63 MiB"});
}

TEST_F(page_test, is_small_whatever_the_number_of_batches) {
  constexpr std::size_t n = 20'001;
  std::vector<std::uint64_t> const edges(n, 1'000'000'000);
  std::vector<double> ms(n);
  for (std::size_t i = 0; i < n; ++i) ms[i] = 1.0 + static_cast<double>(i * 7919 % 1000);
  draft d = from("run.json");
  for (std::string const kind : {"updates/insert/", "updates/erase/"})
    d.set_all(kind + "batch_edges", edges).set_all(kind + "batch_ms", ms);
  std::string const name(5000, '<');
  d.set_all("graph/degrees/histogram", std::vector<std::uint64_t>(65, 9))
      .set("parameters/file", name.c_str())
      .set("device", name.c_str());
  d.set("parameters/allocator", name.c_str()).set("machine/cpu", name.c_str()).set("build/version", name.c_str());
  write_draft("long.json", d);
  markup const all = page(strings(8, "long.json"));
  for (std::string const kind : {"s0", "s7 dashed"}) {
    auto const line = lines_of(all, kind).at(0);
    EXPECT_LE(line.size(), 400u);
    EXPECT_GE(line.size(), 300u);
  }
  EXPECT_EQ(cells(all, "insertions: max"), strings(8, "1 s"));
  // The longest of 51 batches in a row takes at least 900 ms; the axis is from 1 to 1000 ms.
  auto times = lines_of(all, "s0").at(1);
  times.pop_back();  // of fewer batches
  for (point const& p : times) EXPECT_LT(p.second, 14 + (270 - 14) * 0.0153);
  expect_refused(2, "at most 8 reports, and these are 9", [&] {
    strings arguments{"report", "-o", path("page.html")};
    arguments.resize(12, path("long.json"));
    return arguments;
  }());
}

TEST_F(page_test, escapes_names) {
  std::string const name = "a<b>&\"'\x01\xef\xbf\xbf.graph";
  write_draft("names.json", from("run.json").set("parameters/file", name.c_str()));
  EXPECT_EQ(cells(page({"names.json"}), "graph"), strings{"a<b>&\"'\xef\xbf\xbd\xef\xbf\xbd.graph"});
  write("<i>.json", read("run.json"));
  EXPECT_EQ(cells(page({"<i>.json"}), "report"), strings{path("<i>.json")});
  // A long name is cut between characters.
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xc3\xa4";
  write_draft("long.json", from("run.json").set("parameters/file", ('x' + umlauts).c_str()));
  EXPECT_EQ(cells(page({"long.json"}), "graph"), strings{'x' + umlauts.substr(0, 120) + "\xe2\x80\xa6"});
}

TEST_F(page_test, accepts_reports_of_version_1_and_without_batches) {
  draft old = from("run.json");
  write_draft("old.json", old.set("schema_version", 1).erase("command").erase("output_lost").erase("residency"));
  EXPECT_EQ(cells(page({"old.json"}), "command"), strings{"run"});
  (void)output(
      {"run", write("none.graph", "1 0\n\n"), "--device", "cpu", "--rounds", "0", "--report", path("none.json")});
  markup const none = page({"none.json"});
  EXPECT_EQ(charts_of(none), strings{"Memory by purpose"});
  EXPECT_EQ(cells(none, "vertices"), strings{"1"});
  write_draft("stopped.json", from("stream.json").set("interrupted", true));
  EXPECT_EQ(cells(page({"stopped.json"}), "command"), strings{"stream (interrupted)"});
  write_draft("failed.json", from("stream.json").set("error", "updates:3: expected a vertex"));
  EXPECT_EQ(cells(page({"failed.json"}), "command"), strings{"stream (ended by an error)"});
  draft instant = from("stream.json");
  instant.set_all("updates/batch_edges", std::vector<std::uint64_t>{0, 0, 18446744073709551615u});
  write_draft("instant.json", instant.set_all("updates/batch_ms", std::vector<double>{0, 0, 0}));
  EXPECT_EQ(count_in(read("page.html"), "nan") + count_in(read("page.html"), "inf\""), 0u);
  (void)page({"instant.json"});
  for (std::string const bad : {"nan", "inf "}) EXPECT_EQ(count_in(read("page.html"), bad), 0u) << bad;
}

TEST_F(page_test, refuses_what_is_no_report) {
  auto const refused = [&](int status, std::string const& message, std::string const& text) {
    write("bad.json", text);
    expect_refused(status, path("bad.json") + ": " + message,
                   {"report", path("run.json"), path("bad.json"), "-o", path("page.html")});
  };
  auto const without = [&](std::string const& name, std::string const& at) { return from(name).erase(at).text(); };
  refused(3, "expected JSON in UTF-8, found a mistake at byte 1", "");
  refused(3, "expected JSON in UTF-8, found a mistake at byte", read("run.json").substr(0, 200));
  refused(3, "expected JSON in UTF-8, found a mistake at byte", "\"\xff\"");
  refused(3, "expected an object, found an array", "[]");
  refused(3, "schema_version: expected a value, found none", "{}");
  refused(3, "schema_version: expected 1 or 2, as in a report of this version of wyrm, found 3",
          from("run.json").set("schema_version", 3).text());
  refused(3, "command: expected run, stream or cluster, found \"walk\"",
          from("run.json").set("command", "walk").text());
  refused(3, "graph.vertices: expected a value, found none", without("run.json", "graph/vertices"));
  refused(3, "graph.edges: expected a whole number from 0, found -1", from("run.json").set("graph/edges", -1).text());
  refused(3, "updates.erase.batch_ms: expected a value, found none", without("run.json", "updates/erase/batch_ms"));
  refused(3, "updates.insert: expected a value, found none", without("run.json", "updates/insert"));
  refused(3, "updates.batch_ms: expected as many entries as batch_edges (3), found 2",
          without("stream.json", "updates/batch_ms/1"));
  refused(3, "updates.batch_ms[1]: expected a number from 0, found -1",
          from("stream.json").set("updates/batch_ms/1", -1.0).text());
  refused(3, "updates.batch_ms[1]: expected at most 1e15 milliseconds, found 1.0000000000000001e+300",
          from("stream.json").set("updates/batch_ms/1", 1e300).text());
  refused(3, "memory.built.slack: expected a whole number from 0, found true",
          from("run.json").set("memory/built/slack", true).text());
  refused(3, "graph.degrees.histogram: expected at most 65 entries, found 66",
          from("run.json").set_all("graph/degrees/histogram", std::vector<std::uint64_t>(66, 1)).text());
  refused(3, "clusters.sizes: expected a value, found none", without("cluster.json", "clusters/sizes"));
  refused(3, "expected JSON in UTF-8, found a mistake at byte", std::string(1'000'000, '['));  // deep, not recursive
  expect_refused(4, "cannot read " + path("missing.json") + ": No such file",
                 {"report", path("missing.json"), "-o", path("page.html")});
  expect_refused(4, "cannot read " + path("") + ": Is a directory", {"report", path(""), "-o", path("page.html")});
  expect_refused(2, "are the same file", {"report", path("run.json"), "-o", path("run.json")});
  expect_refused(4, "cannot write the page " + path("no/page.html"),
                 {"report", path("run.json"), "-o", path("no/page.html")});
  expect_refused(4, "cannot write the page /dev/full", {"report", path("run.json"), "-o", "/dev/full"});
  expect_refused(2, "REPORT", {"report", "-o", path("page.html")});
  expect_refused(2, "--output is required", {"report", path("run.json")});
  write("page.html", "old");
  expect_refused(3, "bad.json", {"report", path("bad.json"), "-o", path("page.html")});
  EXPECT_EQ(read("page.html"), "old");
}

}  // namespace

}  // namespace wyrm::tests
