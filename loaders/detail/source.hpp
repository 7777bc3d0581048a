// SPDX-License-Identifier: Apache-2.0
// The input of a parser: the whole content of a file in memory, and the options.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../options.hpp"
#include "../progress.hpp"

namespace wyrm::loaders::detail {

/// The memory of a text, which is freed while the text is parsed.
class text_memory {
 public:
  /// Frees the text before `upto`. It must not be read until restore(). Not thread-safe.
  virtual void release(char const* upto) noexcept = 0;
  /// Makes the text readable again, for the message of an error. If its file has changed, the text may have, too.
  /// Thread-safe.
  virtual void restore() noexcept = 0;

 protected:
  ~text_memory() = default;
};

struct source {
  std::string name;  // for messages
  std::string_view text;
  options const& settings;
  progress const& report;
  std::size_t skipped = 0;        // bytes of the file before the text: a byte order mark
  text_memory* memory = nullptr;  // set if the parser reads the text once, from its start to its end

  void restore() const noexcept {
    if (memory != nullptr) memory->restore();
  }
  [[nodiscard]] char const* begin() const noexcept { return text.data(); }
  [[nodiscard]] char const* end() const noexcept { return text.data() + text.size(); }
};

}  // namespace wyrm::loaders::detail
