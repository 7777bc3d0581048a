// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "../exec/error.hpp"
#include "../loaders/output_file.hpp"
#include "chart.hpp"
#include "load.hpp"
#include "page_style.hpp"
#include "page_table.hpp"

namespace wyrm::apps {

namespace {

using reports = std::vector<report_file>;

// The batches of a chart: each is the sum of so many batches that a line has at most most_points points.
struct batch_group {
  double end_ms = 0;  // time of the updates until the end of the group
  double edges = 0;
  double ms = 0;
  double greatest_ms = 0;
};
std::size_t group_size(batch_series const& s) { return (s.ms.size() + most_points - 1) / most_points; }
std::vector<batch_group> groups_of(batch_series const& s) {
  std::vector<batch_group> groups;
  std::size_t const size = group_size(s);
  double time = 0;
  for (std::size_t i = 0; i < s.ms.size(); ++i) {
    if (i % size == 0) groups.emplace_back();
    batch_group& g = groups.back();
    time += s.ms[i];
    g.end_ms = time;
    g.edges += s.edges[i];
    g.ms += s.ms[i];
    g.greatest_ms = std::max(g.greatest_ms, s.ms[i]);
  }
  return groups;
}

struct drawn_line {
  std::size_t run = 0;
  bool is_dashed = false;
  std::vector<point> points;
};

double greatest(std::vector<drawn_line> const& lines, double point::*coordinate) {
  double most = 0;
  for (drawn_line const& line : lines)
    for (point const& p : line.points) most = std::max(most, p.*coordinate);
  return most;
}
double least(std::vector<drawn_line> const& lines, double point::*coordinate) {
  double low = INFINITY;
  for (drawn_line const& line : lines)
    for (point const& p : line.points) low = std::min(low, p.*coordinate);
  return low;
}

std::string draw(std::string const& title, axis x, axis y, std::vector<drawn_line> const& lines) {
  constexpr std::size_t few = 64;  // points that are distinct
  chart c(title, std::move(x), std::move(y));
  for (drawn_line const& line : lines) {
    c.line(line.run, line.is_dashed, line.points);
    if (line.points.size() <= few) c.dots(line.run, line.points);
  }
  return c.finish();
}

std::vector<drawn_line> lines_of(reports const& runs, std::function<double(batch_group const&)> const& value) {
  std::vector<drawn_line> lines;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (batch_series const& s : runs[i].batches) {
      drawn_line line{i, s.name == "erasures", {}};
      for (batch_group const& g : groups_of(s)) line.points.emplace_back(g.end_ms, value(g));
      if (!line.points.empty()) lines.push_back(std::move(line));
    }
  return lines;
}

std::string key_of(reports const& runs) {
  std::string key = "<p class=\"key\">";
  for (std::size_t i = 0; i < runs.size(); ++i)
    key += "<span><i class=\"b" + std::to_string(i) + "\"></i>run " + std::to_string(i + 1) + "</span>";
  return key + "</p>\n";
}

std::string section(std::string const& title, std::string const& note, std::string const& content) {
  return "<section><h2>" + title + "</h2>\n<p class=\"note\">" + note + "</p>\n" + content + "</section>\n";
}

std::string batch_sections(reports const& runs) {
  auto const rates = lines_of(runs, [](batch_group const& g) { return g.edges / g.ms * 1000; });
  if (rates.empty()) return {};
  auto const times = lines_of(runs, [](batch_group const& g) { return g.greatest_ms; });
  std::size_t most = 1;
  bool erases = false;
  for (report_file const& run : runs)
    for (batch_series const& s : run.batches) {
      most = std::max(most, group_size(s));
      erases = erases || s.name == "erasures";
    }
  std::string const dashes = erases ? " Dashed lines are erasures." : "";
  std::string const points = most > 1 ? " A point stands for at most " + std::to_string(most) + " batches: " : "";
  axis const time = linear_axis("time of the updates in milliseconds", greatest(rates, &point::first));
  return section("Throughput",
                 "Requested edges per second of each batch." + dashes +
                     (most > 1 ? points + "their edges over their time." : ""),
                 key_of(runs) + draw("Throughput over time", time,
                                     linear_axis("edges per second", greatest(rates, &point::second)), rates)) +
         section("Latency", "Time of each batch." + dashes + (most > 1 ? points + "the longest of them." : ""),
                 key_of(runs) + draw("Latency over time", time,
                                     logarithmic_axis("milliseconds per batch", least(times, &point::second),
                                                      greatest(times, &point::second)),
                                     times));
}

std::string memory_section(reports const& runs) {
  std::vector<bar> bars;
  double most = 0;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t when = 0; when < runs[i].memory.size(); ++when) {
      bar b{"run " + std::to_string(i + 1) + (when == 0 ? " before" : " after"), {}};
      for (double const bytes : runs[i].memory[when].bytes) b.parts.push_back(bytes / (1 << 20));
      most = std::max(most, runs[i].memory[when].total() / (1 << 20));
      bars.push_back(std::move(b));
    }
  if (bars.empty()) return {};
  constexpr std::array colours{0, 2, 4, 7, 3, 1};  // of m0 to m5
  std::string key = "<p class=\"key\">";
  for (std::size_t part = 0; part < memory_parts::names.size(); ++part)
    key += "<span><i class=\"b" + std::to_string(colours[part]) + "\"></i>" + memory_parts::names[part] + "</span>";
  return section("Memory by purpose", "Memory of the graph before and after the updates.",
                 key + "</p>\n" + bar_chart("Memory by purpose", linear_axis("MiB", most), bars));
}

std::string distribution_section(reports const& runs, std::string const& what, std::string const& title,
                                 std::string const& of) {
  std::vector<drawn_line> lines;
  std::string zeros;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].histogram_of != what) continue;
    drawn_line line{i, false, {}};
    auto const& histogram = runs[i].histogram;
    for (std::size_t k = 1; k < histogram.size(); ++k)
      if (histogram[k] > 0)
        line.points.emplace_back(std::ldexp(1.0, static_cast<int>(k) - 1), static_cast<double>(histogram[k]));
    if (!histogram.empty() && histogram[0] > 0)
      zeros += " Run " + std::to_string(i + 1) + " has " + grouped_number(histogram[0]) + " of " + what +
               " 0, which are not drawn.";
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  if (lines.empty()) return {};
  return section(title, "A point at x counts the " + of + " of " + what + " x to 2x - 1." + zeros,
                 key_of(runs) + draw(title, logarithmic_axis(what, 1, greatest(lines, &point::first)),
                                     logarithmic_axis("number of " + of, 1, greatest(lines, &point::second)), lines));
}

}  // namespace

std::string page_of(std::vector<report_file> const& runs) {
  std::string const title = runs.size() == 1 ? "Report of wyrm " + runs[0].command
                                             : "Comparison of " + std::to_string(runs.size()) + " reports of wyrm";
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
         title + "</title>\n<style>" + page_style + "</style></head>\n<body><h1>" + title + "</h1>\n" + table_of(runs) +
         batch_sections(runs) + memory_section(runs) +
         distribution_section(runs, "degree", "Degree distribution", "vertices") +
         distribution_section(runs, "cluster size", "Sizes of clusters", "clusters") + "</body></html>\n";
}

void write_page(page_command const& c) {
  if (c.reports.size() > page_command::most_reports)
    throw error(error_code::bad_argument, "a page has at most " + std::to_string(page_command::most_reports) +
                                              " reports, and these are " + std::to_string(c.reports.size()) +
                                              "; write several pages");
  for (std::string const& report : c.reports)
    if (loaders::replaces(c.output, report))
      throw error(error_code::bad_argument, "the page (" + c.output + ") and the report " + report +
                                                " are the same file; give the page a file of its own");
  loaders::output_file page("the page", c.output);
  std::vector<report_file> read;
  for (std::string const& report : c.reports) read.push_back(read_report(report));
  page.write(page_of(read));
  page.finish();
  page.commit();
}

void add_page(CLI::App& program, page_command& c) {
  CLI::App* const report = program.add_subcommand("report", "Write a page with tables and charts of JSON reports");
  report->add_option("REPORT", c.reports, "Files of --report; several are compared")->required()->check(not_empty);
  report->add_option("-o,--output", c.output, "The page, an HTML file")
      ->required()
      ->check(not_empty)
      ->type_name("FILE");
  report->callback([&c] { write_page(c); });
}

}  // namespace wyrm::apps
