// SPDX-License-Identifier: Apache-2.0
#include "update_reader.hpp"

#include "../exec/error.hpp"
#include "../loaders/quoted.hpp"

namespace wyrm::apps {

namespace {

constexpr std::string_view blanks = " \t\r";

}  // namespace

std::vector<update_run> update_reader::next(std::size_t most, vertex_ids const& ids) {
  std::vector<update_run> batch;
  std::string line;
  for (std::size_t n = 0; n < most && input_.next(line) && !input_.cut();) {
    std::size_t const begin = line.find_first_not_of(blanks);
    if (begin == std::string::npos) {
      if (n > 0) return batch;
    } else if (line[begin] != '#' && line[begin] != '%') {
      parse(line, ids, batch);
      ++n;
    }
  }
  if (input_.cut()) batch.clear();
  return batch;
}

void update_reader::parse(std::string_view line, vertex_ids const& ids, std::vector<update_run>& batch) const {
  std::string_view word = take_word(line);
  bool const sign = word == "+" || word == "-";
  auto const what = word == "-" ? graph::operation::erase : graph::operation::insert;
  if (sign) word = take_word(line);
  graph::vertex_id const source = vertex(word, ids, !sign);
  graph::vertex_id const target = vertex(take_word(line), ids, false);
  word = take_word(line);
  if (!word.empty()) fail("the end of the line", word);
  if (batch.empty() || batch.back().what != what) batch.push_back({what, {}});
  batch.back().edges.push_back({source, target});
}

graph::vertex_id update_reader::vertex(std::string_view word, vertex_ids const& ids, bool first) const {
  if (auto const found = ids.find(word)) return *found;
  if (ids.size() == 0) fail("no update, as the graph has no vertices", word);
  fail((first ? "'+', '-' or a vertex (" : "a vertex (") + ids.range() + ")", word);
}

void update_reader::fail(std::string const& expected, std::string_view word) const {
  throw error(error_code::bad_input, name() + ':' + std::to_string(input_.line()) + ": expected " + expected +
                                         ", found " + (word.empty() ? "the end of the line" : loaders::quoted(word)) +
                                         "; write each update as '+ u v', 'u v' or '- u v'; a stream adds no vertices");
}

}  // namespace wyrm::apps
