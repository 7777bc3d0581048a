// SPDX-License-Identifier: Apache-2.0
// Traces of the calls of a residency manager to its replacement policy, as text: recorded by recording_policy, and
// played by play.hpp. The first line is `wyrm-residency-trace 1`; each other line is an event:
//   load OBJECT BLOCK...                                           blocks of an object become resident
//   use LAUNCH read|write normal|once|hot BLOCK...                 a launch is issued that uses blocks
//   finish LAUNCH
//   overwrite BLOCK...                                             a transfer from the host replaced them
//   copy-out BLOCK...                                              a transfer to the host brought copies up to date
//   release BLOCK...                                               their owner released them
//   evict BLOCK...     write-back BLOCK...                         they were evicted, without or with a copy
//   clean BLOCK...     dirty BLOCK...                              their contents were compared
// Numbers are decimal. `load`, `evict` and `write-back` depend on the policy that was recorded; play() only takes the
// objects from them. `clean` says that no use of the block, since its last load, overwrite, copy-out or comparison,
// changed it, although it was said to write; without such a line a use that writes changes all its blocks.
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "policy.hpp"

namespace wyrm::alloc::residency {

enum class event_kind : std::uint8_t {
  load,
  use,
  finish,
  overwrite,
  copy_out,
  release,
  evict,
  write_back,
  clean,
  dirty,
};

struct event {
  event_kind kind;
  std::vector<block_number> blocks;  // none for finish
  std::uint64_t number = 0;          // the object for load, the launch for use and finish
  bool writes = false;               // for use
  use_hint hint = use_hint::normal;  // for use
  bool operator==(event const&) const = default;
};

using trace = std::vector<event>;

namespace detail {

inline constexpr std::string_view trace_title = "wyrm-residency-trace 1";
inline constexpr std::array<std::string_view, 10> event_names{"load",    "use",   "finish",     "overwrite", "copy-out",
                                                              "release", "evict", "write-back", "clean",     "dirty"};
inline constexpr std::array<std::string_view, 2> write_names{"read", "write"};
inline constexpr std::array<std::string_view, 3> hint_names{"normal", "once", "hot"};

inline void print(std::ostream& to, event const& e) {
  to << event_names[static_cast<std::size_t>(e.kind)];
  if (e.kind == event_kind::load || e.kind == event_kind::use || e.kind == event_kind::finish) to << ' ' << e.number;
  if (e.kind == event_kind::use)
    to << ' ' << write_names[e.writes ? 1 : 0] << ' ' << hint_names[static_cast<std::size_t>(e.hint)];
  for (block_number const b : e.blocks) to << ' ' << b;
  to << '\n';
}

/// The words of one line of a trace.
class trace_line {
 public:
  trace_line(std::string const& text, std::size_t line) : words_(text), line_(line) {}

  [[nodiscard]] event parse() {
    event e{static_cast<event_kind>(one_of(event_names, "an event")), {}};
    if (e.kind == event_kind::load) e.number = number(std::numeric_limits<object_number>::max());
    if (e.kind == event_kind::use || e.kind == event_kind::finish)
      e.number = number(std::numeric_limits<launch_number>::max());
    if (e.kind == event_kind::use) {
      e.writes = one_of(write_names, "read or write") == 1;
      e.hint = static_cast<use_hint>(one_of(hint_names, "a hint"));
    }
    if (e.kind != event_kind::finish)
      while (!at_end())
        e.blocks.push_back(static_cast<block_number>(number(std::numeric_limits<block_number>::max() - 1)));
    if (!at_end()) refuse("there is text after the launch; remove it");
    return e;
  }

 private:
  [[nodiscard]] bool at_end() { return (words_ >> std::ws).eof(); }
  std::string word(char const* what) {
    std::string w;
    if (!(words_ >> w)) refuse("the line ends where " + std::string(what) + " should be; add it");
    return w;
  }
  std::uint64_t number(std::uint64_t most) {
    std::string const w = word("a number");
    std::uint64_t n = 0;
    for (char const c : w) {
      auto const digit = static_cast<std::uint64_t>(c - '0');
      if (c < '0' || c > '9' || n > (most - digit) / 10)
        refuse("'" + w + "' is not a number up to " + std::to_string(most) + "; give one");
      n = n * 10 + digit;
    }
    return n;
  }
  template <std::size_t n>
  std::size_t one_of(std::array<std::string_view, n> const& names, char const* what) {
    std::string const w = word(what);
    for (std::size_t i = 0; i < n; ++i)
      if (names[i] == w) return i;
    std::string known;
    for (std::string_view const name : names) known += (known.empty() ? "" : ", ") + std::string(name);
    refuse("'" + w + "' is not " + what + "; there are: " + known);
  }
  [[noreturn]] void refuse(std::string const& reason) const {
    throw error(error_code::bad_input, "residency trace, line " + std::to_string(line_) + ": " + reason);
  }

  std::istringstream words_;
  std::size_t line_;
};

}  // namespace detail

/// Throws error(io) if the stream fails.
inline void write_trace(std::ostream& to, trace const& events) {
  to << detail::trace_title << '\n';
  for (event const& e : events) detail::print(to, e);
  if (!to.flush()) throw error(error_code::io, "a residency trace cannot be written; look for a full disk");
}

/// Throws error(bad_input), with the line and the reason, for text that is no trace.
[[nodiscard]] inline trace read_trace(std::istream& from) {
  std::string text;
  if (!std::getline(from, text) || text != detail::trace_title)
    throw error(error_code::bad_input,
                "residency trace, line 1: it is not '" + std::string(detail::trace_title) + "'; give a recorded trace");
  trace events;
  for (std::size_t line = 2; std::getline(from, text); ++line) events.push_back(detail::trace_line(text, line).parse());
  if (from.bad()) throw error(error_code::io, "a residency trace cannot be read to its end");
  return events;
}

/// Passes all calls to a policy, and writes each that succeeded to a stream, which must outlive it. What the stream
/// thinks of that, it says itself (std::ostream::good); a stream that fails does not disturb the policy.
class recording_policy final : public policy {
 public:
  recording_policy(std::unique_ptr<policy> recorded, std::ostream& to) : policy_(std::move(recorded)), to_(to) {
    to_ << detail::trace_title << '\n';
  }

  void loaded(block_number b, object_number object) override {
    policy_->loaded(b, object);
    offered_.reset();
    try {
      detail::print(to_, {event_kind::load, {b}, object});
    } catch (std::bad_alloc const&) {
      to_.setstate(std::ios::badbit);  // as for other events that are lost
    }
  }
  void used(std::span<block_number const> blocks, launch_number launch, bool writes, use_hint hint) override {
    policy_->used(blocks, launch, writes, hint);
    detail::print(to_, {event_kind::use, {blocks.begin(), blocks.end()}, launch, writes, hint});
  }
  /// Not recorded: whoever plays the trace has nothing to keep.
  void keep(std::span<block_number const> blocks, launch_number launch) override {
    policy_->keep(blocks, launch);
    kept_ = launch;
  }
  void finished(launch_number launch) override {
    policy_->finished(launch);
    if (launch != kept_) detail::print(to_, {event_kind::finish, {}, launch});
  }
  void overwritten(block_number b) override {
    policy_->overwritten(b);
    detail::print(to_, {event_kind::overwrite, {b}});
  }
  void copied_out(block_number b) override {
    policy_->copied_out(b);
    detail::print(to_, {event_kind::copy_out, {b}});
  }
  void removed(block_number b) override {
    policy_->removed(b);
    event_kind kind = event_kind::release;
    if (offered_ && offered_->block == b) kind = offered_->write_back ? event_kind::write_back : event_kind::evict;
    offered_.reset();
    detail::print(to_, {kind, {b}});
  }
  [[nodiscard]] std::optional<victim> next_victim(dirty_check& check) override {
    recording_check recorded(check, to_);
    offered_ = policy_->next_victim(recorded);
    return offered_;
  }
  [[nodiscard]] policy_statistics statistics() const override { return policy_->statistics(); }

 private:
  class recording_check final : public dirty_check {
   public:
    recording_check(dirty_check& recorded, std::ostream& to) : check_(recorded), to_(to) {}
    void check(std::span<block_number const> blocks, std::span<bool> dirty) override {
      check_.check(blocks, dirty);
      for (std::size_t i = 0; i < blocks.size(); ++i)
        detail::print(to_, {dirty[i] ? event_kind::dirty : event_kind::clean, {blocks[i]}});
    }

   private:
    dirty_check& check_;
    std::ostream& to_;
  };

  std::unique_ptr<policy> policy_;
  std::ostream& to_;
  std::optional<victim> offered_;      // what next_victim() said last, if no block was removed or loaded since
  std::optional<launch_number> kept_;  // the last one of keep()
};

}  // namespace wyrm::alloc::residency
