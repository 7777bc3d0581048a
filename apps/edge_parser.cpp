// SPDX-License-Identifier: Apache-2.0
#include "edge_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
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

void edge_parser::piece::clear() {
  ends.clear();
  edges.clear();
  operations.clear();
  weights.clear();
  times.clear();
  others = timed = 0;
}

void edge_parser::piece::add(parsed_line const& line, std::size_t end) {
  constexpr double no_time = std::numeric_limits<double>::quiet_NaN();
  std::size_t const before = ends.size();
  datasets::update const& one = line.update;
  ends.push_back(static_cast<std::uint32_t>(end));
  edges.push_back(line.is_edge ? graph::edge{one.source, one.target} : graph::edge{graph::no_vertex, graph::no_vertex});
  if (!line.is_edge) ++others;
  bool const erases = line.is_edge && one.action == datasets::update_action::erase;
  if (erases && operations.empty()) operations.assign(before, graph::operation::insert);
  if (erases || !operations.empty()) operations.push_back(erases ? graph::operation::erase : graph::operation::insert);
  bool const has_time = line.is_edge && line.is_timed;
  if (has_time && timed++ == 0) {
    weights.assign(before, 1);
    times.assign(before, no_time);
  }
  if (timed == 0) return;
  weights.push_back(one.weight);
  times.push_back(has_time ? one.time : no_time);
}

parsed_line edge_parser::piece::line(std::size_t i) const {
  parsed_line all;
  all.is_edge = is_edge(i);
  if (!all.is_edge) return all;
  all.update.source = edges[i].source;
  all.update.target = edges[i].target;
  if (!operations.empty() && operations[i] == graph::operation::erase)
    all.update.action = datasets::update_action::erase;
  all.is_timed = is_timed(i);
  if (!all.is_timed) return all;
  all.update.weight = weights[i];
  all.update.time = times[i];
  return all;
}

struct edge_parser::parse_piece {
  static constexpr std::size_t grain = 1;
  edge_parser* parser;
  void operator()(exec::scalar_tile /*tile*/, std::size_t i) const {
    piece& p = parser->wave_[i];
    try {
      p.clear();
      for (std::size_t at = 0; at < p.text.size();) {
        std::size_t const end = p.text.find('\n', at);
        p.add(parser->parse_line(p.text.substr(at, end - at)), end + 1);
        at = end + 1;
      }
    } catch (...) {
      p.failure = std::current_exception();
    }
  }
};

parsed_run edge_parser::front_run(std::size_t most) const {
  piece const& p = wave_[piece_];
  std::size_t const lines = p.ends.size();
  bool const is_timed = p.is_timed(line_);
  std::size_t n = std::min(most, lines - line_);
  if (p.others > 0 || (p.timed > 0 && p.timed < lines)) {
    std::size_t alike = 0;
    while (alike < n && p.is_edge(line_ + alike) && p.is_timed(line_ + alike) == is_timed) ++alike;
    n = alike;
  }
  auto const part = [&](auto const& all, bool has) { return std::span(all).subspan(has ? line_ : 0, has ? n : 0); };
  return {part(p.edges, true), part(p.operations, !p.operations.empty()), part(p.weights, is_timed),
          part(p.times, is_timed)};
}

std::size_t edge_parser::bytes(std::size_t n) const {
  std::vector<std::uint32_t> const& ends = wave_[piece_].ends;
  return ends[line_ + n - 1] - (line_ > 0 ? ends[line_ - 1] : 0);
}

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
