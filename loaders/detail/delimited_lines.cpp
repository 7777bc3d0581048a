// SPDX-License-Identifier: Apache-2.0
#include "delimited_lines.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "../../exec/error.hpp"
#include "../quoted.hpp"
#include "same_word.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr std::string_view quote_advice =
    "close each quotation mark on its line before a delimiter; fields with line breaks are not read";

bool is_number(std::string_view field) {
  if (field.starts_with('"')) field.remove_prefix(1);
  auto const at = field.find_first_not_of("+-.");
  return at != std::string_view::npos && field[at] >= '0' && field[at] <= '9';
}

char delimiter_of(std::string_view line) {
  constexpr std::string_view delimiters = ",;\t";
  std::array<std::size_t, delimiters.size()> counts{};
  bool in_quotes = false;
  for (char const c : line) {
    if (c == '"') in_quotes = !in_quotes;
    if (auto const i = delimiters.find(c); i != std::string_view::npos && !in_quotes) ++counts[i];
  }
  auto const most = std::max_element(counts.begin(), counts.end());
  return *most == 0 ? ' ' : delimiters[static_cast<std::size_t>(most - counts.begin())];
}

/// The line at the cursor, with the blanks before the cursor: a tab there may be a delimiter, after an empty field.
std::string_view whole_line(text_reader const& reader) {
  auto const rest = reader.rest_of_line();
  return {reader.before_blanks(), rest.data() + rest.size()};
}

/// The fields of the line at the cursor.
std::vector<std::string_view> fields_of(text_reader const& reader, char delimiter) {
  std::vector<std::string_view> fields;
  for (auto line = whole_line(reader); line.data() != nullptr;) {
    auto const field = take_field(line, delimiter);
    if (!field) {
      reader.fail_at(reader.line(), "fields, quoted or not", loaders::quoted(line), quote_advice);
    }
    fields.push_back(*field);
  }
  return fields;
}

bool has_names(std::vector<std::string_view> const& fields) {
  return fields.size() > 1 && std::none_of(fields.begin(), fields.end(), is_number);
}

/// What the columns of a file mean.
class layout {
 public:
  layout(text_reader& reader, std::size_t most_columns) {
    delimiter_ = delimiter_of(whole_line(reader));
    auto const fields = fields_of(reader, delimiter_);
    columns_ = fields.size();
    auto const& settings = reader.in().settings;
    if (settings.columns || has_names(fields)) {
      if (settings.third)
        throw error(error_code::bad_argument, reader.in().name +
                                                  ": --third-column (loaders::options::third) has no "
                                                  "effect on a file whose first line names its columns; leave it out");
      find_names(reader, fields);
      reader.skip_line();
    } else {
      number_columns(reader, most_columns);
    }
  }

  [[nodiscard]] columns has() const { return {!what_[weight].empty(), !what_[time].empty()}; }

  void read(text_reader& reader, std::uint64_t least, std::uint64_t most, id_piece& part) const {
    std::array<std::string_view, kinds> found;
    std::size_t column = 0;
    for (auto line = whole_line(reader); line.data() != nullptr; ++column) {
      auto const field = take_field(line, delimiter_);
      if (!field) reader.fail_at(reader.line(), "fields, quoted or not", loaders::quoted(line), quote_advice);
      for (std::size_t kind = 0; kind < kinds; ++kind)
        if (at_[kind] == column) found[kind] = *field;
    }
    if (column != columns_) {
      reader.fail_at(reader.line(), std::to_string(columns_) + " columns", std::to_string(column),
                     "every line has the columns of the first");
    }
    auto const number = [&](std::size_t kind, auto const& read_from) {
      auto field = found[kind];
      if (field.starts_with('"')) field = field.substr(1, field.size() - 2);
      expectation const expected{what_[kind], "ids, weights and times are numbers; --columns names other columns"};
      if (field.empty()) reader.fail_at(reader.line(), expected.what, "an empty field", expected.advice);
      text_reader cell(reader.in(), field, "");
      auto const value = read_from(cell, expected);
      if (!cell.end_of_line()) cell.fail({"the end of the field", expected.advice});
      return value;
    };
    auto const id = [&](text_reader& cell, expectation const& e) { return cell.read_unsigned(least, most, e); };
    auto const real = [&](text_reader& cell, expectation const& e) { return cell.read_real(e); };
    auto const from = number(source, id);
    auto const to = number(target, id);
    if (!what_[weight].empty()) part.weights.push_back(number(weight, real));
    if (!what_[time].empty()) part.times.push_back(number(time, real));
    part.add(from, to);
  }

 private:
  enum kind : std::size_t { source, target, weight, time, kinds };
  static constexpr auto nowhere = static_cast<std::size_t>(-1);
  static constexpr std::array<std::string_view, kinds> meaning{"the id of the source", "the id of the target",
                                                               "a weight, a finite number", "a time, a finite number"};

  void find_names(text_reader& reader, std::vector<std::string_view> const& fields) {
    constexpr std::array<std::array<std::string_view, 4>, kinds> known{{{"source", "src", "from", "fromnodeid"},
                                                                        {"target", "dst", "to", "tonodeid"},
                                                                        {"weight", "w"},
                                                                        {"time", "timestamp", "t"}}};
    std::vector<std::string> names;
    for (auto const field : fields) names.push_back(field_text(field));
    auto const& given = reader.in().settings.columns;
    auto const asked =
        given ? std::array{given->source, given->target, given->weight, given->time} : std::array<std::string, kinds>{};
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      auto const is_meant = [&](std::string const& name) {
        if (given) return !asked[kind].empty() && name == asked[kind];
        return std::any_of(known[kind].begin(), known[kind].end(),
                           [&](auto word) { return !word.empty() && same_word(word, name); });
      };
      auto const column = std::find_if(names.begin(), names.end(), is_meant);
      if (column == names.end()) {
        if (kind == source || kind == target || (given && !asked[kind].empty()))
          fail_name(reader, kind, asked[kind], names);
        continue;
      }
      if (std::find_if(column + 1, names.end(), is_meant) != names.end()) {
        reader.fail_at(reader.line(), std::string("one column for ") + std::string(meaning[kind]),
                       "several, such as " + loaders::quoted(*column), "name one of them with --columns");
      }
      set(static_cast<std::size_t>(column - names.begin()), kind, ", in column " + loaders::quoted(*column));
    }
  }
  [[noreturn]] static void fail_name(text_reader const& reader, std::size_t kind, std::string const& asked,
                                     std::vector<std::string> const& names) {
    constexpr std::size_t most = 6;
    std::string found;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
      found += (i == 0 ? "" : ", ") + loaders::quoted(names[i]);
    if (names.size() > most) found += " and " + std::to_string(names.size() - most) + " more";
    constexpr std::array<std::string_view, 2> usual{R"("source", "src" or "from")", R"("target", "dst" or "to")"};
    reader.fail_at(
        reader.line(),
        "a column " + (asked.empty() ? std::string(usual[kind]) : loaders::quoted(asked)) + " in the first line", found,
        "name the columns with --columns source=NAME,target=NAME");
  }

  void number_columns(text_reader& reader, std::size_t most_columns) {
    if (columns_ > most_columns || columns_ < 2) {
      reader.fail_at(reader.line(), "2 to " + std::to_string(most_columns) + " columns: source, target, weight, time",
                     std::to_string(columns_), "name the columns in the first line, or remove the others");
    }
    bool const only_time = columns_ == 3 && reader.in().settings.third == third_column::time;
    set(0, source, "");
    set(1, target, "");
    if (columns_ >= 3) set(2, only_time ? time : weight, "");
    if (columns_ == 4) set(3, time, "");
  }

  void set(std::size_t column, std::size_t kind, std::string const& where) {
    at_[kind] = column;
    what_[kind] = std::string(meaning[kind]) + where;
  }

  char delimiter_ = ' ';
  std::size_t columns_ = 0;
  std::array<std::size_t, kinds> at_{nowhere, nowhere, nowhere, nowhere};
  std::array<std::string, kinds> what_;  // for messages; empty where there is no such column
};

}  // namespace

bool is_delimited(text_reader reader) {
  if (reader.end_of_file()) return false;
  if (reader.in().settings.columns) return true;
  auto const line = whole_line(reader);
  if (line.find_first_of(",;") != std::string_view::npos) return true;
  std::vector<std::string_view> fields;
  auto const delimiter = delimiter_of(line);
  for (auto rest = line; rest.data() != nullptr;) {
    auto const field = take_field(rest, delimiter);
    if (!field) return false;
    fields.push_back(*field);
    if (is_number(*field)) return false;
  }
  return has_names(fields);
}

id_columns read_delimited_lines(text_reader& reader, std::string_view comment_marks, std::size_t most_columns,
                                std::uint64_t least, std::uint64_t most) {
  constexpr expectation any_edge{"an edge", "the file has none; it may be truncated"};
  layout const where(reader, most_columns);
  reader.skip_comments();
  if (reader.end_of_file()) reader.fail(any_edge);
  id_columns all;
  auto const* const from = reader.before_blanks();
  all.reserve(where.has(), reader.in(), from);
  scan_lines<id_piece>(
      reader.in(), from, comment_marks,
      [&](text_reader& lines, id_piece& part) {
        for (lines.skip_comments(); !lines.end_of_file(); lines.skip_comments()) {
          where.read(lines, least, most, part);
          lines.skip_line();
        }
      },
      [&](id_piece const& part) { all.append(part); });
  return all;
}

}  // namespace wyrm::loaders::detail
