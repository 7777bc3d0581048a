// SPDX-License-Identifier: Apache-2.0
#include "catalogue.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"
#include "json_input.hpp"

namespace wyrm::apps {

extern std::string_view const catalogue_text;  // generated from datasets/catalogue.json

namespace {

namespace fs = std::filesystem;

constexpr std::array fields{"name",   "sets",    "kind",      "directed",         "vertices",
                            "edges",  "counts",  "url",       "source",           "bytes",
                            "sha256", "licence", "triangles", "triangles_source", "generator"};

// Names are words on the command line and parts of paths.
std::string plain_name(json_input const& from, std::string const& text) {
  constexpr auto plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  constexpr std::size_t most = 200;
  bool const good = !text.empty() && text.size() <= most && text[0] != '.' && text[0] != '-' &&
                    text.find_first_not_of(plain) == std::string::npos;
  if (!good) from.fail("1 to 200 letters, digits and ._- that begin with a letter or a digit");
  return text;
}

std::string one_of(json_input const& from, std::vector<std::string> const& words) {
  std::string text = from.text();
  if (std::find(words.begin(), words.end(), text) != words.end()) return text;
  std::string all;
  for (auto const& word : words) all += (all.empty() ? "" : ", ") + word;
  from.fail("one of " + all);
}

std::string url_of(json_input const& from) {
  std::string url = from.text();
  bool const known = url.starts_with("https://") || url.starts_with("http://") || url.starts_with("file:///");
  if (!known || url.find_first_of(" \t\n\r\"\\") != std::string::npos) from.fail("a URL: https, http or file");
  return url;
}

std::string checksum_of(json_input const& from) {
  std::string text = from.text();
  if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    from.fail("64 lower-case hexadecimal digits");
  return text;
}

dataset parse_dataset(json_input const& in) {
  in.refuse_others({fields.begin(), fields.end()});
  dataset d;
  d.name = plain_name(in.at("name"), in.at("name").text());
  for (json_input const& set : in.at("sets").items()) d.sets.push_back(plain_name(set, set.text()));
  if (d.sets.empty()) in.at("sets").fail("at least one set");
  d.kind = plain_name(in.at("kind"), in.at("kind").text());
  if (auto const directed = in.find("directed")) d.directed = directed->flag();
  d.vertices = in.at("vertices").count();
  d.edges = in.at("edges").count();
  d.counts = one_of(in.at("counts"), {"edges", "arcs", "entries", "listed"});
  if (d.directed && (d.counts == "arcs") != *d.directed) in.at("counts").fail("arcs if directed is true, else edges");
  d.url = url_of(in.at("url"));
  (void)plain_name(in.at("url"), d.file());
  d.source = in.at("source").text();
  if (auto const bytes = in.find("bytes")) d.bytes = bytes->count();
  if (auto const sha256 = in.find("sha256")) d.sha256 = checksum_of(*sha256);
  if (auto const licence = in.find("licence")) d.licence = licence->text();
  if (auto const triangles = in.find("triangles")) d.triangles = triangles->count();
  if (auto const source = in.find("triangles_source")) d.triangles_source = source->text();
  if (d.triangles && !d.triangles_source) in.at("triangles_source").fail("the source of the number of triangles");
  if (auto const generator = in.find("generator")) {
    d.generator = generator->text();
    if (!d.generator->starts_with("gen:")) generator->fail("a text that begins with gen:");
  }
  return d;
}

// An environment variable that is set to more than an empty text.
std::optional<std::string> variable(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

std::vector<dataset> parse_catalogue(std::string const& name, std::string_view text) {
  auto const document = parse_json(name, text);
  std::vector<dataset> all;
  std::set<std::string> names;
  std::set<std::string> files;
  for (json_input const& one : json_input(name, document).items()) {
    all.push_back(parse_dataset(one));
    if (!names.insert(all.back().name).second) one.at("name").fail("a name that no other graph has");
    if (!files.insert(all.back().file()).second) one.at("url").fail("a file name that no other graph has");
  }
  return all;
}

std::vector<dataset> const& catalogue() {
  static std::vector<dataset> const all = [] {
    if (auto const file = variable("WYRM_CATALOGUE")) return parse_catalogue(*file, read_text(*file));
    return parse_catalogue("datasets/catalogue.json", catalogue_text);
  }();
  return all;
}

dataset const* find_dataset(std::string_view name) {
  auto const& all = catalogue();
  auto const found = std::find_if(all.begin(), all.end(), [&](dataset const& d) { return d.name == name; });
  return found == all.end() ? nullptr : &*found;
}

fs::path cache_folder() {
  if (auto const cache = variable("XDG_CACHE_HOME"); cache && fs::path(*cache).is_absolute())
    return fs::path(*cache) / "wyrm";
  if (auto const home = variable("HOME")) return fs::path(*home) / ".cache/wyrm";
  throw error(
      error_code::bad_argument,
      "there is no folder for fetched graphs: neither XDG_CACHE_HOME nor HOME is set; set one, or give --to DIR");
}

std::string graph_path(std::string const& name) {
  std::error_code ignored;
  if (name.find_first_of("/:") != std::string::npos || fs::exists(fs::symlink_status(name, ignored))) return name;
  dataset const* const d = find_dataset(name);
  if (d == nullptr) return name;
  fs::path path = cache_folder() / d->file();
  if (fs::exists(path, ignored)) return path.string();
  throw error(error_code::io, name + ": there is no such file, and the graph of this name is not in " +
                                  path.parent_path().string() + ": run `wyrm fetch " + name + "`" + stand_in(*d));
}

std::string stand_in(dataset const& d) {
  return d.generator ? ", or use " + *d.generator + ", a generated graph of this kind" : std::string();
}

}  // namespace wyrm::apps
