// SPDX-License-Identifier: Apache-2.0
// Where the updates of `wyrm stream` come from: lines that are read (update_reader.hpp), or a generator.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../datasets/read_ahead.hpp"
#include "../datasets/updates.hpp"
#include "loaded_graph.hpp"
#include "process.hpp"

namespace wyrm::apps {

class update_stream : public datasets::update_source {
 public:
  /// For tables.
  [[nodiscard]] virtual std::string const& name() const = 0;
  /// The graph is loaded, and next() is called from now on.
  virtual void begin(loaded_graph const&) {}
  /// Ends the input; next() throws then. For any thread.
  virtual void stop() {}
  /// The graph has the first `n` of the vertices that the stream adds. For any thread.
  virtual void added_to_graph(std::uint64_t) {}
  /// From now on the words of vertices that the stream adds are kept for take_names().
  virtual void keep_names() {}
  /// The words of the next `n` vertices that the stream has added, in their order. For any thread.
  [[nodiscard]] virtual std::vector<std::string> take_names(std::size_t) { return {}; }
  /// Whether the last update has a time, and so all that follow it. For the thread that calls next().
  [[nodiscard]] virtual bool is_timed() const { return true; }
  /// The number of lines that were refused. For any thread.
  [[nodiscard]] virtual std::uint64_t refused() const { return 0; }
};

/// Updates gen:KIND,NAME=VALUE,... of the vertices of the graph.
class generated_stream : public update_stream {
 public:
  /// Throws error(bad_argument).
  explicit generated_stream(std::string name)
      : name_(std::move(name)), options_(datasets::generated_options::from(name_.substr(name_.find(':') + 1))) {}

  [[nodiscard]] std::string const& name() const override { return name_; }
  /// Throws error(bad_argument) for a graph of less than two vertices.
  void begin(loaded_graph const& loaded) override {
    updates_.emplace(options_, loaded.g.vertices(), loaded.rows.targets);
  }
  void stop() override { stopped_ = true; }
  /// Throws reading_stopped after stop() or a signal.
  bool next(datasets::update& to) override {
    if (stopped_ || interrupted()) throw datasets::reading_stopped();
    return updates_->next(to);
  }
  void take_edges(datasets::timed_batch& to, std::size_t most, bool keep_weights) override {
    if (!stopped_ && !interrupted()) updates_->take_edges(to, most, keep_weights);
  }

 private:
  std::string name_;
  datasets::generated_options options_;
  std::optional<datasets::generated_updates> updates_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace wyrm::apps
