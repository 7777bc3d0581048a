// SPDX-License-Identifier: Apache-2.0
#include "update_reader.hpp"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "../datasets/decay.hpp"
#include "../datasets/read_ahead.hpp"
#include "../exec/error.hpp"
#include "../loaders/quoted.hpp"

namespace wyrm::apps {

namespace {

using datasets::update_action;

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// The usual names of columns and members.
std::vector<std::string_view> names_of(update_part part) {
  switch (part) {
    case update_part::operation: return {"operation", "op", "action"};
    case update_part::source: return {"source", "src", "from", "u", "vertex"};
    case update_part::target: return {"target", "dst", "destination", "to", "v"};
    case update_part::weight: return {"weight", "w", "rating", "value"};
    case update_part::time: return {"time", "t", "timestamp", "ts"};
  }
  return {};
}

update_format format_of(std::string_view name) {
  for (std::string_view const ending : {".gz", ".xz", ".zst"})
    if (name.ends_with(ending)) return format_of(name.substr(0, name.size() - ending.size()));
  if (name.ends_with(".csv")) return update_format::csv;
  for (char const* const ending : {".json", ".jsonl", ".ndjson"})
    if (name.ends_with(ending)) return update_format::json;
  return update_format::text;
}

}  // namespace

bool is_usable_weight(double weight) { return weight >= 0 && weight <= datasets::decayed_graph::largest_weight; }

void require_name_of_text(std::string const& option, std::string const& name) {
  if (format_of(name) == update_format::text && !name.ends_with(".bz2")) return;
  throw error(error_code::bad_argument,
              option + " (" + name +
                  "): updates are written as text, which wyrm stream would not read from a file of " +
                  "this name; end it with .txt, .gz, .xz or .zst");
}

namespace {

// A name as a word of text: find() takes quotation marks away.
std::string word_of(std::string_view name) {
  return name.starts_with('"') ? loaders::quoted(name, std::string_view::npos) : std::string(name);
}

// The cells of a line of CSV (RFC 4180, without line breaks in cells), as they stand; false if a quotation mark is not
// closed.
bool split(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  do {
    auto const cell = loaders::take_field(line, ',');
    if (!cell) return false;
    cells.push_back(*cell);
  } while (line.data() != nullptr);
  return true;
}

std::string shortest(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

// With the format that the name means. Throws error(bad_argument) for names of fields of a format that has none.
update_file complete(update_file file) {
  if (file.format == update_format::automatic) file.format = format_of(file.name);
  if (file.names_fields() && file.format == update_format::text)
    throw error(
        error_code::bad_argument,
        "--fields names columns of CSV and members of JSON, and the updates are text: leave --fields out, or add "
        "--updates-format");
  return file;
}

std::string rejected_name(update_file const& file) {
  if (file.policy != on_error::file || !file.rejected.empty()) return file.rejected;
  if (!line_input::is_file(file.name))
    throw error(error_code::bad_argument,
                "updates from standard input or a socket have no file name to derive one for refused lines; name it "
                "with --rejected");
  return file.name + ".rejected";
}

}  // namespace

void update_file::name_field(std::string const& text) {
  static constexpr std::array<std::string_view, update_parts> parts{"operation", "source", "target", "weight", "time"};
  std::size_t const equals = text.find('=');
  auto const part = std::ranges::find(parts, std::string_view(text).substr(0, equals));
  if (equals == std::string::npos || equals + 1 == text.size() || part == parts.end())
    throw error(error_code::bad_argument,
                "--fields: expected source=NAME, target=NAME, operation=NAME, weight=NAME or time=NAME, found " +
                    loaders::quoted(text));
  fields[static_cast<std::size_t>(part - parts.begin())] = text.substr(equals + 1);
}

bool update_file::names_fields() const {
  return std::ranges::any_of(fields, [](std::string const& name) { return !name.empty(); });
}

update_reader::update_reader(update_file const& file, vertex_ids& ids)
    : file_(complete(file)),
      ids_(ids),
      input_(file.name),
      rejected_(file.policy, rejected_name(file)),
      ahead_(ids, {.needs_time = file_.timed || file_.dated, .weighted = file_.weighted}, file_.threads) {}

bool update_reader::next(datasets::update& to) {
  bool const is_text = file_.format == update_format::text;
  while (ready_.empty()) {
    if (ended_) return false;
    std::string_view line;
    try {
      if (ahead_.empty() && is_text) ahead_.parse(input_.whole_lines(edge_parser::most_bytes));
      if (!ahead_.empty()) {
        line = input_.take(ahead_.bytes(1));
        bool const is_taken = !ahead_.is_outdated() && take(ahead_.front(), to);
        ahead_.pop(1);
        if (is_taken) return true;
      } else {
        bool const any = input_.next(line);
        if (input_.cut()) throw datasets::reading_stopped();
        ended_ = !any;
        if (!any) return false;
      }
      // Also a line that names a vertex which is new, or was removed, since the line was parsed.
      if (is_text && take(ahead_.parse_line(line), to)) return true;
      if (!read(line)) continue;
    } catch (error const& e) {
      ready_.clear();
      if (e.code() != error_code::bad_input || rejected_.stops()) throw;
      if (file_.format == update_format::csv && width_ == 0) throw;  // no line means anything without the header
      rejected_.add(e.what(), line);
    }
  }
  to = ready_.back();
  ready_.pop_back();
  removes_ = to.action == update_action::remove_vertex;
  return true;
}

void update_reader::take_edges(datasets::timed_batch& to, std::size_t most, bool keep_weights) {
  if (!ready_.empty() || ahead_.is_outdated()) return;
  while (most > 0 && !ahead_.empty()) {
    parsed_run const run = ahead_.front_run(most);
    std::size_t const n = take_times(run);
    if (n == 0) return;
    to.add(run.edges.first(n), run.operations.first(run.operations.empty() ? 0 : n));
    if (keep_weights && run.times.empty()) {
      to.weights.resize(to.edges.size(), 1);
      to.times.resize(to.edges.size(), newest_);
    } else if (keep_weights) {
      to.weights.insert(to.weights.end(), run.weights.begin(), run.weights.begin() + static_cast<std::ptrdiff_t>(n));
      to.times.insert(to.times.end(), run.times.begin(), run.times.begin() + static_cast<std::ptrdiff_t>(n));
    }
    (void)input_.take(ahead_.bytes(n), n);
    ahead_.pop(n);
    most -= n;
  }
}

bool update_reader::read(std::string_view line) {
  std::string_view const content = trimmed(line);
  if (content.empty()) {
    ready_.push_back({.action = update_action::end_batch});
    return true;
  }
  if (content.front() == '#' || (content.front() == '%' && file_.format == update_format::text)) return false;
  switch (file_.format) {
    case update_format::csv:
      if (width_ == 0) {
        read_header(content);
        return false;
      }
      read_csv(content);
      break;
    case update_format::json: read_json(content); break;
    default: read_text(content);
  }
  return true;
}

update_action update_reader::action_of(std::string_view word) const {
  if (word.empty() || word == "+" || word == "insert") return update_action::insert;
  if (word == "-" || word == "erase") return update_action::erase;
  if (word == "+v") return update_action::add_vertex;
  if (word == "-v") return update_action::remove_vertex;
  refuse("expected the operation '+', '-', '+v' or '-v', found " + loaders::quoted(word));
}

void update_reader::read_text(std::string_view line) {
  parts p;
  std::string_view word = take_word(line);
  p.sign = word == "+" || word == "-" || word == "+v" || word == "-v";
  if (p.sign) {
    p.action = action_of(word);
    word = take_word(line);
  }
  p.source = word;
  bool const of_vertex = p.action == update_action::add_vertex || p.action == update_action::remove_vertex;
  if (!of_vertex) {
    p.target = take_word(line);
    p.time = take_word(line);
    if (std::string_view const last = take_word(line); !last.empty()) p.weight = std::exchange(p.time, last);
  }
  word = take_word(line);
  if (!word.empty()) fail("the end of the line", word);
  accept(p);
}

std::string_view update_reader::field(update_part part) const { return file_.fields[static_cast<std::size_t>(part)]; }

void update_reader::read_header(std::string_view line) {
  if (!split(line, cells_))
    refuse("expected a closing quotation mark, and a comma or the end of the line behind it, in the header");
  std::array<std::size_t, update_parts> columns{};
  for (std::size_t i = 0; i < update_parts; ++i) {
    auto const part = static_cast<update_part>(i);
    auto names = names_of(part);
    if (!field(part).empty()) names = {field(part)};
    for (std::size_t c = cells_.size(); c > 0; --c)
      if (std::ranges::find(names, loaders::field_text(cells_[c - 1])) != names.end()) columns[i] = c;
    bool const needed = !field(part).empty() || part == update_part::source || part == update_part::target ||
                        (part == update_part::time && (file_.timed || file_.dated));
    if (!needed || columns[i] > 0) continue;
    std::string list;
    for (auto const name : names) list += (list.empty() ? "'" : "', '") + std::string(name);
    refuse("expected a header with a column " + list + "', found " + loaders::quoted(line, 100) +
           "; name the columns with --fields");
  }
  columns_ = columns;
  width_ = cells_.size();
  rejected_.add_header(line);
}

void update_reader::read_csv(std::string_view line) {
  if (!split(line, cells_)) refuse("expected a closing quotation mark, and a comma or the end of the line behind it");
  if (cells_.size() != width_)
    refuse("expected " + std::to_string(width_) + " columns as in the header, found " + std::to_string(cells_.size()));
  auto const cell = [&](update_part part) {
    std::size_t const column = columns_[static_cast<std::size_t>(part)];
    return column == 0 ? std::string() : loaders::field_text(cells_[column - 1]);
  };
  std::string const operation = cell(update_part::operation);
  std::string const weight = cell(update_part::weight);
  std::string const time = cell(update_part::time);
  std::string const source = word_of(cell(update_part::source));
  std::string const target = word_of(cell(update_part::target));
  accept({.action = action_of(operation),
          .sign = true,
          .source = source,
          .target = target,
          .weight = weight,
          .time = time});
}

void update_reader::read_json(std::string_view line) {
  rapidjson::Document object;
  // Iterative, so that deep nesting does not exhaust the stack.
  object.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag |
               rapidjson::kParseValidateEncodingFlag>(line.data(), line.size());
  if (object.HasParseError())
    refuse("expected a JSON object, found at byte " + std::to_string(object.GetErrorOffset() + 1) + ": " +
           rapidjson::GetParseError_En(object.GetParseError()));
  if (!object.IsObject()) refuse("expected a JSON object, found " + loaders::quoted(line));
  for (std::size_t i = 0; i < update_parts; ++i) {
    auto const part = static_cast<update_part>(i);
    auto names = names_of(part);
    if (!field(part).empty()) names = {field(part)};
    members_[i].clear();
    for (auto const name : names) {
      rapidjson::Value const key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
      if (!object.HasMember(key) || object[key].IsNull()) continue;
      rapidjson::Value const& value = object[key];
      if (!value.IsString()) refuse("expected a number or a string as '" + std::string(name) + "'");
      std::string_view const text(value.GetString(), value.GetStringLength());
      bool const is_id = part == update_part::source || part == update_part::target;
      members_[i] = is_id ? word_of(text) : std::string(text);
      break;
    }
  }
  auto const member = [&](update_part part) -> std::string_view { return members_[static_cast<std::size_t>(part)]; };
  accept({.action = action_of(member(update_part::operation)),
          .sign = true,
          .source = member(update_part::source),
          .target = member(update_part::target),
          .weight = member(update_part::weight),
          .time = member(update_part::time)});
}

void update_reader::accept(parts const& p) {
  bool const of_vertex = p.action == update_action::add_vertex || p.action == update_action::remove_vertex;
  if (of_vertex) return accept_vertex(p);
  bool const adds = file_.add_vertices && p.action == update_action::insert;
  auto source = vertex(p.source, adds, !p.sign);
  auto target = vertex(p.target, adds, false);
  double const weight = p.weight.empty() ? 1 : number("a weight", p.weight);
  if (file_.weighted && !is_usable_weight(weight))
    fail("a weight between 0 and 1e100, as PageRank and --decay need it", p.weight);
  double const at = time(p);
  if (!source && !target && p.source != p.target && ids_.next() + std::size_t{1} >= graph::max_vertices)
    refuse("the graph has no room for two more vertices");
  // No line is refused from here on.
  std::size_t const first = ready_.size();
  if (!source) source = added(p.source);
  if (!target) target = ids_.find(p.target);  // the same new vertex
  if (!target) target = added(p.target);
  ready_.push_back({.action = p.action, .source = *source, .target = *target, .weight = weight, .time = at});
  std::reverse(ready_.begin() + static_cast<std::ptrdiff_t>(first), ready_.end());
  take_time(at, !p.time.empty());
}

void update_reader::take_time(double time, bool given) {
  newest_ = timed_ ? std::max(newest_, time) : time;
  timed_ = timed_ || given;
}

std::size_t update_reader::take_times(parsed_run const& run) {
  std::size_t n = 0;
  if (run.times.empty() && !run.edges.empty()) take_time(timed_ ? newest_ : 0, false);
  if (run.times.empty()) n = run.edges.size();
  for (; n < run.times.size() && !is_too_early(run.times[n]); ++n) take_time(run.times[n], true);
  removes_ = removes_ && n == 0;
  return n;
}

bool update_reader::take(parsed_line const& line, datasets::update& to) {
  if (!line.is_edge) return false;
  double const time = line.is_timed ? line.update.time : timed_ ? newest_ : 0;
  if (is_too_early(time)) return false;
  take_time(time, line.is_timed);
  to = line.update;
  to.time = time;
  removes_ = false;
  return true;
}

void update_reader::accept_vertex(parts const& p) {
  if (!p.target.empty()) fail("no second vertex behind '+v' or '-v'", p.target);
  if (p.action == update_action::add_vertex) {
    if (ids_.find(p.source)) refuse("the vertex " + loaders::quoted(p.source) + " is in the graph already");
    if (!ids_.is_new(p.source)) {
      if (ids_.next() == graph::no_vertex) refuse("the graph has no room for another vertex");
      fail("the id of a new vertex, of the kind that the graph has (with --ids internal: " +
               std::to_string(ids_.next()) + ")",
           p.source);
    }
    (void)added(p.source);
    return;
  }
  auto const v = vertex(p.source, false, false);
  if (file_.late > 0) refuse("a vertex cannot be removed in a stream whose updates may be late; leave out --late");
  ids_.remove(*v, removes_);
  ready_.push_back({.action = p.action, .source = *v});
}

graph::vertex_id update_reader::added(std::string_view word) {
  ids_.settle_adds(in_graph_);
  auto const v = ids_.add(word);
  ready_.push_back({.action = update_action::add_vertex, .source = *v});
  if (keeps_names_) {
    std::lock_guard const lock(names_mutex_);
    names_.emplace_back(word);
  }
  return *v;
}

std::vector<std::string> update_reader::take_names(std::size_t n) {
  std::lock_guard const lock(names_mutex_);
  auto const end = names_.begin() + static_cast<std::ptrdiff_t>(n);
  std::vector<std::string> taken(std::make_move_iterator(names_.begin()), std::make_move_iterator(end));
  names_.erase(names_.begin(), end);
  return taken;
}

double update_reader::number(char const* what, std::string_view word) const {
  double value = 0;
  if (word.starts_with('+')) word.remove_prefix(1);
  auto const [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    fail(std::string(what) + ", a finite number", word);
  return value;
}

double update_reader::time(parts const& p) const {
  if (p.time.empty()) {
    if (file_.timed && !timed_) fail("a time, as a window needs one", {});
    if (file_.timed && p.action == update_action::insert) fail("a time, as a window needs one", {});
    if (file_.dated && p.action == update_action::insert) fail("a time, as --decay needs one", {});
    return timed_ ? newest_ : 0;
  }
  double const at = number("a time", p.time);
  if (std::abs(at) > datasets::longest_time) fail("a time between -2^53 and 2^53", p.time);
  if (is_too_early(at)) {
    std::string const allowed = file_.late > 0 ? "within --late of" : "not before";
    refuse("expected a time that is " + allowed + " the largest one of earlier lines, " + shortest(newest_) +
           ", found " + loaders::quoted(p.time) + "; sort the lines by time, or allow more with --late");
  }
  return at;
}

std::optional<graph::vertex_id> update_reader::vertex(std::string_view word, bool may_add, bool first) const {
  if (auto const found = ids_.find(word)) return found;
  if (may_add && ids_.is_new(word)) return std::nullopt;
  if (ids_.size() == 0) fail("no update, as the graph has no vertices", word);
  fail((first ? "'+', '-' or a vertex (" : "a vertex (") + ids_.range() + ")", word);
}

void update_reader::fail(std::string const& expected, std::string_view word) const {
  std::string what =
      "expected " + expected + ", found " +
      (word.empty() ? file_.format == update_format::text ? "the end of the line" : "nothing" : loaders::quoted(word));
  if (file_.format == update_format::text)
    what +=
        "; write each update as '+ u v', 'u v' or '- u v', with a time, or a weight and a time, behind it, or as "
        "'+v id' or '-v id'";
  refuse(what);
}

void update_reader::refuse(std::string const& what) const {
  throw error(error_code::bad_input, name() + ':' + std::to_string(input_.line()) + ": " + what);
}

}  // namespace wyrm::apps
