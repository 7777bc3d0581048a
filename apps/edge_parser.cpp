// SPDX-License-Identifier: Apache-2.0
#include "edge_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "../exec/launch.hpp"
#include "update_reader.hpp"

namespace wyrm::apps {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 13;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

parsed_line edge_parser::parse_line(std::string_view line) const {
  char const* at = line.data();
  char const* const end = at + line.size();
  auto const skip_blanks = [&] {
    while (at != end && is_blank(*at)) ++at;
  };
  auto const ends_word = [&] { return at == end || is_blank(*at); };
  parsed_line parsed;
  skip_blanks();
  if (at != end && (*at == '+' || *at == '-')) {
    if (*at++ == '-') parsed.update.action = datasets::update_action::erase;
    if (at == end || !ends_word()) return parsed;
    skip_blanks();
  }
  for (graph::vertex_id* const v : {&parsed.update.source, &parsed.update.target}) {
    constexpr std::ptrdiff_t safe_digits = 19;
    std::uint64_t number = 0;
    char const* const from = at;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) number = number * 10 + static_cast<unsigned>(*at - '0');
    if (at == from || at - from > safe_digits || !ends_word()) return parsed;
    auto const found = ids_.find(number);
    if (!found) return parsed;
    *v = *found;
    skip_blanks();
  }
  std::array<double, 2> values{};  // a time, or a weight and a time
  std::size_t given = 0;
  for (; at != end; ++given, skip_blanks()) {
    if (given == values.size()) return parsed;
    auto const [stop, failed] = std::from_chars(at, end, values[given]);
    at = stop;
    if (failed != std::errc() || !ends_word() || !std::isfinite(values[given])) return parsed;
  }
  if (given == 2) parsed.update.weight = values[0];
  if (rules_.weighted && !is_usable_weight(parsed.update.weight)) return parsed;
  parsed.is_timed = given > 0;
  if (!parsed.is_timed && rules_.needs_time) return parsed;
  if (parsed.is_timed) parsed.update.time = values[given - 1];
  parsed.is_edge = std::abs(parsed.update.time) <= datasets::longest_time;
  return parsed;
}

struct edge_parser::parse_piece {
  static constexpr std::size_t grain = 1;
  edge_parser* parser;
  void operator()(exec::scalar_tile /*tile*/, std::size_t i) const {
    piece& p = parser->wave_[i];
    try {
      p.lines.clear();
      for (std::string_view left = p.text; !left.empty();) {
        std::size_t const length = left.find('\n');
        p.lines.push_back(parser->parse_line(left.substr(0, length)));
        p.lines.back().bytes = static_cast<std::uint32_t>(length + 1);
        left.remove_prefix(length + 1);
      }
    } catch (...) {
      p.failure = std::current_exception();
    }
  }
};

void edge_parser::parse(std::string_view text) {
  pieces_ = piece_ = line_ = 0;
  std::size_t pieces = 0;
  for (; !text.empty(); ++pieces) {
    std::size_t const bytes = text.find('\n', std::min(piece_bytes, text.size()) - 1) + 1;
    if (pieces == wave_.size()) wave_.emplace_back();
    wave_[pieces].text = text.substr(0, bytes);
    wave_[pieces].failure = nullptr;
    text.remove_prefix(bytes);
  }
  removals_ = ids_.removals();
  exec::for_each_tile<1>(space_, pieces, parse_piece{this});
  for (std::size_t i = 0; i < pieces; ++i)
    if (wave_[i].failure) std::rethrow_exception(wave_[i].failure);
  pieces_ = pieces;
}

}  // namespace wyrm::apps
