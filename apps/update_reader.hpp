// SPDX-License-Identifier: Apache-2.0
// Reads updates of a graph, one per line, from a file or incrementally from standard input: text, CSV with a header, or
// JSON lines. docs/streams.md describes the formats.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../datasets/stream.hpp"
#include "edge_parser.hpp"
#include "line_input.hpp"
#include "rejected_lines.hpp"
#include "update_stream.hpp"
#include "vertex_ids.hpp"

namespace wyrm::apps {

enum class update_format { automatic, text, csv, json };

/// Whether a weight may be used: it is between 0 and 1e100.
[[nodiscard]] bool is_usable_weight(double weight);

/// The name of a file to which updates are written as text. Throws error(bad_argument), which names the option, for a
/// name by which update_reader would read another format, or could not unpack the file.
void require_name_of_text(std::string const& option, std::string const& name);

/// The parts of an update in CSV and JSON.
enum class update_part { operation, source, target, weight, time };
inline constexpr std::size_t update_parts = 5;

struct update_file {
  std::string name = "-";                           // a file, or "-" for standard input
  update_format format = update_format::automatic;  // by the name of the file: .csv, .json, .jsonl, .ndjson, or text
  std::array<std::string, update_parts> fields;     // names of CSV columns and JSON members; empty: the usual ones
  bool timed = false;                               // whether each edge needs a time, in ascending order
  bool dated = false;                               // whether each insertion of an edge needs a time, in any order
  bool weighted = false;                            // whether weights are used, which then may not be negative
  double late = 0;                                  // how much a time may be before an earlier one
  unsigned threads = 0;                             // that parse a text; 0: one per core
  bool add_vertices = false;                        // whether the insertion of an edge adds unknown vertices
  on_error policy = on_error::stop;                 // what happens to lines that are refused
  std::string rejected;                             // on_error::file: the file for these lines; empty: name.rejected

  /// "source=NAME" and so on. Throws error(bad_argument) for other texts.
  void name_field(std::string const& text);
  [[nodiscard]] bool names_fields() const;
};

class update_reader : public update_stream {
 public:
  /// Opens the files. `ids` follows the vertices that come and go; it must outlive the reader, and nothing else may use
  /// it while a thread calls next(). Throws error(io); error(bad_argument) if the names of files do not fit together,
  /// and for names of fields in a text.
  update_reader(update_file const& file, vertex_ids& ids);

  [[nodiscard]] std::string const& name() const override { return input_.name(); }
  void begin(loaded_graph const& /*loaded*/) override { ids_.index(); }
  void stop() override { input_.stop(); }
  void added_to_graph(std::uint64_t n) override { in_graph_ = n; }
  void keep_names() override { keeps_names_ = true; }
  [[nodiscard]] std::vector<std::string> take_names(std::size_t n) override;
  [[nodiscard]] bool is_timed() const override { return timed_; }
  [[nodiscard]] std::uint64_t refused() const override { return rejected_.count(); }

  /// Throws error(bad_input), with the line, when a line is refused and the policy is `stop`; error(io);
  /// reading_stopped after stop() or a signal.
  bool next(datasets::update& to) override;
  void take_edges(datasets::timed_batch& to, std::size_t most, bool keep_weights) override;

 private:
  // The parts of a line. Words are as in text, with quotation marks around names that begin with one.
  struct parts {
    datasets::update_action action = datasets::update_action::insert;
    bool sign = false;  // whether the action was given
    std::string_view source, target, weight, time;
  };

  // Takes a line that is an edge, and may follow the lines before it. False, and no effect, for any other line.
  bool take(parsed_line const& line, datasets::update& to);
  // The number of edges of a run, from the first, that may follow the lines before; takes their times.
  [[nodiscard]] std::size_t take_times(parsed_run const& run);
  bool read(std::string_view line);  // false for a line without update
  void read_text(std::string_view line);
  void read_csv(std::string_view line);
  void read_json(std::string_view line);
  void read_header(std::string_view line);
  [[nodiscard]] datasets::update_action action_of(std::string_view word) const;
  void accept(parts const& p);
  void accept_vertex(parts const& p);
  [[nodiscard]] double number(char const* what, std::string_view word) const;
  [[nodiscard]] double time(parts const& p) const;
  [[nodiscard]] bool is_too_early(double time) const { return file_.timed && timed_ && time < newest_ - file_.late; }
  void take_time(double time, bool given);
  [[nodiscard]] std::optional<graph::vertex_id> vertex(std::string_view word, bool may_add, bool first) const;
  [[nodiscard]] graph::vertex_id added(std::string_view word);
  [[nodiscard]] std::string_view field(update_part part) const;
  [[noreturn]] void fail(std::string const& expected, std::string_view word) const;
  [[noreturn]] void refuse(std::string const& what) const;

  update_file file_;
  vertex_ids& ids_;
  line_input input_;
  rejected_lines rejected_;
  std::atomic<std::uint64_t> in_graph_ = 0;  // number of added vertices
  bool keeps_names_ = false;
  std::mutex names_mutex_;
  std::deque<std::string> names_;  // of added vertices
  bool ended_ = false;
  edge_parser ahead_;                                // of the next lines of a text
  std::array<std::size_t, update_parts> columns_{};  // of CSV, from 1; 0: none
  std::size_t width_ = 0;                            // number of columns; 0 before the header
  std::vector<std::string_view> cells_;              // of CSV, as they stand
  std::array<std::string, update_parts> members_;
  std::vector<datasets::update> ready_;  // of the last line, in reverse order
  bool removes_ = false;                 // whether the last update removes a vertex
  bool timed_ = false;                   // whether there was a time
  double newest_ = 0;                    // the largest time
};

}  // namespace wyrm::apps
