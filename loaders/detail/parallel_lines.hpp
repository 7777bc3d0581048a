// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a file on all cores. A piece is read up to a line with a NUL byte or of excessive length, which is
// then refused. The text is divided at line ends into pieces of 16 KiB. Threads parse the
// pieces of a wave in parallel, each into a result (Part) of its own; then the calling thread consumes the results in
// the order of the file. A wave has 8 MiB per thread, which limits the memory for results; progress is reported after
// each.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <exception>
#include <vector>

#include "../../exec/host_space.hpp"
#include "../../exec/launch.hpp"
#include "../../graph/types.hpp"
#include "text_reader.hpp"

namespace wyrm::loaders::detail {

/// The text from `from` to the first line end after at least `bytes` bytes, or to the end of the source. Text without a
/// newline is one line. A line of more than `longest` bytes is cut after more than `longest` bytes.
[[nodiscard]] inline std::string_view whole_lines(source const& in, char const* from, std::size_t bytes,
                                                  std::size_t longest = longest_line) {
  auto const left = static_cast<std::size_t>(in.end() - from);
  if (left <= bytes) return {from, left};
  auto const most = std::min(left - bytes, longest + 1);
  auto const* const newline = static_cast<char const*>(std::memchr(from + bytes, '\n', most));
  return {from, newline == nullptr ? bytes + most : static_cast<std::size_t>(newline + 1 - from)};
}

/// The lines before the first line with a NUL byte; also before the last line, if it has more than `longest` bytes.
[[nodiscard]] std::string_view sound_lines(std::string_view lines, std::size_t longest);

/// Calls read(reader, part) for each piece of the text from `from` on, in parallel, with a cleared Part; and then
/// take(part) for each piece in order, on the calling thread. The memory of the text is freed from wave to wave, if the
/// source permits that. When read fails for a piece, take is called for the
/// earlier pieces and for the partial result of that piece; then the error is thrown. So is that of a line with a NUL
/// byte, or of more than `longest` bytes. The error does not depend on the number of threads.
template <class Part, class Read, class Take>
void scan_lines(source const& in, char const* from, std::string_view comment_marks, Read const& read, Take const& take,
                std::size_t longest = longest_line) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 14;
  constexpr std::size_t pieces_per_thread = 512;
  struct piece {
    std::string_view text;
    Part part;
    std::exception_ptr failure;
  };
  exec::host_space const space(in.settings.threads);
  auto const most = (in.text.size() / piece_bytes) + 1;
  std::vector<piece> wave(std::min(most, pieces_per_thread * space.threads()));
  while (from != in.end()) {
    std::size_t pieces = 0;
    for (; pieces < wave.size() && from != in.end(); ++pieces) {
      wave[pieces].text = whole_lines(in, from, piece_bytes, longest);
      from += wave[pieces].text.size();
    }
    std::atomic<std::size_t> first_failed = pieces;
    exec::for_each_tile<1>(space, pieces, [&](exec::scalar_tile, std::size_t i) {
      if (i > first_failed.load(std::memory_order_relaxed)) return;
      wave[i].part.clear();
      try {
        auto const sound = sound_lines(wave[i].text, longest);
        text_reader reader(in, sound, comment_marks);
        read(reader, wave[i].part);
        if (sound.size() < wave[i].text.size()) reader.fail_line(longest);
      } catch (...) {
        wave[i].failure = std::current_exception();
        auto first = first_failed.load(std::memory_order_relaxed);
        while (i < first && !first_failed.compare_exchange_weak(first, i, std::memory_order_relaxed)) continue;
      }
    });
    for (std::size_t i = 0; i < pieces; ++i) {
      take(wave[i].part);
      if (wave[i].failure) std::rethrow_exception(wave[i].failure);
    }
    if (in.memory != nullptr) in.memory->release(from);
    if (in.report && from != in.end()) in.report(static_cast<std::size_t>(from - in.begin()), in.text.size());
  }
}

/// Moves to the line with number `index`, from 0, among the lines that are neither empty nor comments.
void go_to_record(text_reader& reader, std::size_t index);

/// The name of the records that a header counts (singular and plural), and the line of the header.
struct counted {
  std::string_view one;
  std::string_view many;
  std::size_t line;
};

/// Throws bad_input unless `found`, the number of records after the reader, equals the number in the header.
void expect_count(text_reader reader, std::size_t announced, std::size_t found, counted const& what);

/// The edges of a piece of a file, or of a whole file, with their weights and times.
template <class Edge>
struct edge_columns {
  std::vector<Edge> edges;
  std::vector<double> weights;
  std::vector<double> times;

  void clear() noexcept {
    edges.clear();
    weights.clear();
    times.clear();
  }
  void append(edge_columns const& more) {
    edges.insert(edges.end(), more.edges.begin(), more.edges.end());
    weights.insert(weights.end(), more.weights.begin(), more.weights.end());
    times.insert(times.end(), more.times.begin(), more.times.end());
  }
};

}  // namespace wyrm::loaders::detail
