// SPDX-License-Identifier: Apache-2.0
// Reads JSON files whose content is checked: an error names the file, the path of the value, and what is expected.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wyrm::apps {

/// The content of a file of at most 256 MiB. Throws error: io with the message of the system, bad_input when it is
/// longer.
[[nodiscard]] std::string read_text(std::string const& path);

/// Parses JSON in UTF-8. `name` is for messages. Throws error(bad_input) with the position of the first mistake.
[[nodiscard]] rapidjson::Document parse_json(std::string const& name, std::string_view text);

/// A value in a JSON file, and its path such as graph.degrees.histogram[3]. Refers to name and value. All members throw
/// error(bad_input) when the value has another type.
class json_input {
 public:
  json_input(std::string const& name, rapidjson::Value const& value, std::string path = {})
      : name_(name), value_(value), path_(std::move(path)) {}

  /// The member of an object; `find` returns nothing for one that is missing or null.
  [[nodiscard]] json_input at(std::string const& key) const;
  [[nodiscard]] std::optional<json_input> find(std::string const& key) const;
  /// Refuses an object with other members than these.
  void refuse_others(std::vector<std::string_view> const& names) const;
  [[nodiscard]] std::vector<json_input> items() const;  // of an array
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::uint64_t count() const;  // a whole number below 2^64
  [[nodiscard]] double real() const;          // finite
  [[nodiscard]] double number() const;        // finite, and not below 0
  [[nodiscard]] bool flag() const;

  /// Throws the error that another value is expected; `found` describes this one.
  [[noreturn]] void fail(std::string const& expected) const;
  [[noreturn]] void fail_with(std::string const& expected, std::string const& found) const;

 private:
  [[nodiscard]] std::string path_of(std::string const& key) const { return path_.empty() ? key : path_ + '.' + key; }

  std::string const& name_;
  rapidjson::Value const& value_;
  std::string path_;
};

}  // namespace wyrm::apps
