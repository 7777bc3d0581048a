// SPDX-License-Identifier: Apache-2.0
#include "datasets.hpp"

#include <fnmatch.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <ostream>
#include <set>
#include <system_error>

#include "../exec/error.hpp"
#include "catalogue.hpp"
#include "load.hpp"

namespace wyrm::apps {

namespace {

[[noreturn]] void fail_unknown(std::string const& what, std::string const& word, std::set<std::string> const& known) {
  std::string all;
  for (auto const& one : known) all += (all.empty() ? "" : ", ") + one;
  throw error(error_code::bad_argument,
              "no graph of the catalogue has the " + what + " '" + word + "'; there are " + all);
}

// All are known, or the argument is a mistake.
void check_words(datasets_command const& c) {
  std::set<std::string> kinds;
  std::set<std::string> sets;
  for (dataset const& d : catalogue()) {
    kinds.insert(d.kind);
    sets.insert(d.sets.begin(), d.sets.end());
  }
  if (!c.kind.empty() && !kinds.contains(c.kind)) fail_unknown("kind", c.kind, kinds);
  if (!c.set.empty() && !sets.contains(c.set)) fail_unknown("set", c.set, sets);
}

bool is_selected(datasets_command const& c, dataset const& d) {
  if (!c.kind.empty() && d.kind != c.kind) return false;
  if (!c.set.empty() && std::find(d.sets.begin(), d.sets.end(), c.set) == d.sets.end()) return false;
  if (c.max_edges && d.edges > *c.max_edges) return false;
  return fnmatch(c.pattern.c_str(), d.name.c_str(), FNM_CASEFOLD) == 0;
}

// The path of the fetched file; nothing if there is none.
std::optional<std::string> fetched(dataset const& d) {
  try {
    std::error_code ignored;
    auto path = cache_folder() / d.file();
    if (std::filesystem::exists(path, ignored)) return path.string();
  } catch (error const&) {  // no folder: nothing is fetched
  }
  return std::nullopt;
}

void print_table(std::ostream& out, std::vector<dataset const*> const& selected) {
  auto const line = [&](std::string const& name, std::string const& kind, auto vertices, auto edges,
                        std::string const& counts, std::string const& is_fetched, std::string const& sets) {
    out << std::left << std::setw(27) << name << ' ' << std::setw(13) << kind << ' ' << std::right << std::setw(12)
        << vertices << ' ' << std::setw(13) << edges << "  " << std::left << std::setw(8) << counts << std::setw(8)
        << is_fetched << sets << '\n';
  };
  line("name", "kind", "vertices", "edges", "counts", "fetched", "sets");
  for (dataset const* d : selected) {
    std::string sets;
    for (auto const& set : d->sets) sets += (sets.empty() ? "" : ",") + set;
    line(d->name, d->kind, d->vertices, d->edges, d->counts, fetched(*d) ? "yes" : "no", sets);
  }
  out << std::right;
}

class json_list {
 public:
  json_list() { writer_.StartArray(); }

  void add(dataset const& d) {
    writer_.StartObject();
    text("name", d.name);
    writer_.Key("sets");
    writer_.StartArray();
    for (auto const& set : d.sets) writer_.String(set.c_str());
    writer_.EndArray();
    text("kind", d.kind);
    writer_.Key("directed");
    if (d.directed)
      writer_.Bool(*d.directed);
    else
      writer_.Null();
    count("vertices", d.vertices);
    count("edges", d.edges);
    text("counts", d.counts);
    text("url", d.url);
    count("bytes", d.bytes);
    text("sha256", d.sha256);
    text("licence", d.licence);
    count("triangles", d.triangles);
    text("triangles_source", d.triangles_source);
    text("source", d.source);
    text("generator", d.generator);
    text("path", fetched(d));
    writer_.EndObject();
  }
  [[nodiscard]] std::string finish() {
    writer_.EndArray();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  void text(char const* key, std::optional<std::string> const& value) {
    writer_.Key(key);
    if (value)
      writer_.String(value->data(), static_cast<rapidjson::SizeType>(value->size()));
    else
      writer_.Null();
  }
  void count(char const* key, std::optional<std::uint64_t> value) {
    writer_.Key(key);
    if (value)
      writer_.Uint64(*value);
    else
      writer_.Null();
  }

  rapidjson::StringBuffer buffer_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace

void list_datasets(datasets_command const& c, std::ostream& out) {
  check_words(c);
  std::vector<dataset const*> selected;
  for (dataset const& d : catalogue())
    if (is_selected(c, d)) selected.push_back(&d);
  if (!c.json) return print_table(out, selected);
  json_list list;
  for (dataset const* d : selected) list.add(*d);
  out << list.finish() << '\n';
}

void add_datasets(CLI::App& program, datasets_command& c) {
  CLI::App* const datasets = program.add_subcommand("datasets", "List public graphs that `wyrm fetch` downloads");
  datasets->add_option("PATTERN", c.pattern, "Names, with * ? and [...], in upper or lower case")->check(not_empty);
  datasets->add_option("--kind", c.kind, "Only this kind, such as road, social or web")->check(not_empty);
  datasets->add_option("--set", c.set, "Only this collection, such as DIMACS10, SNAP or Ouroboros")->check(not_empty);
  datasets
      ->add_option_function<std::uint64_t>(
          "--max-edges", [&c](std::uint64_t edges) { c.max_edges = edges; }, "Only graphs with at most so many edges")
      ->check(decimal);
  datasets
      ->add_option_function<std::string>(
          "--format", [&c](std::string const& format) { c.json = format == "json"; }, "text or json [text]")
      ->check(CLI::IsMember({"text", "json"}));
  datasets->callback([&c] { list_datasets(c, std::cout); });
}

void add_fetch(CLI::App& program, fetch_command& c) {
  CLI::App* const command = program.add_subcommand("fetch", "Download public graphs; then FILE may be their name");
  command->add_option("NAME", c.names, "Names that `wyrm datasets` lists")->required()->check(not_empty);
  command->add_option("--to", c.folder, "The folder [$XDG_CACHE_HOME/wyrm, or ~/.cache/wyrm]")
      ->check(not_empty)
      ->type_name("DIR");
  command->callback([&c] { fetch(c, std::cout); });
}

}  // namespace wyrm::apps
