// SPDX-License-Identifier: Apache-2.0
// Writes JSON, and the parts that all reports have (docs/report.md).
#pragma once

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "load.hpp"
#include "placement.hpp"
#include "vertex_ids.hpp"

namespace wyrm::apps {

/// Writes a number; null for one that is not finite, which JSON cannot have.
inline auto const write_number = [](auto& writer, auto value) {
  if constexpr (!std::is_same_v<decltype(value), double>)
    writer.Uint64(value);
  else
    std::isfinite(value) ? writer.Double(value) : writer.Null();
};
inline auto const write_string = [](auto& writer, std::string const& value) { writer.String(value.c_str()); };

// Writes a JSON object, member by member.
template <class Writer>
class json_object {
 public:
  json_object() { writer_.StartObject(); }

  void field(char const* name, std::string_view value) {
    writer_.Key(name);
    writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  void field(char const* name, char const* value) { field(name, std::string_view(value)); }
  void field(char const* name, double value) { writer_.Key(name), write_number(writer_, value); }
  void field(char const* name, std::uint64_t value) { writer_.Key(name), writer_.Uint64(value); }
  void field(char const* name, unsigned value) { field(name, std::uint64_t{value}); }
  void field(char const* name, bool value) { writer_.Key(name), writer_.Bool(value); }
  void null(char const* name) { writer_.Key(name), writer_.Null(); }
  template <class T, class F>
  void list(char const* name, std::vector<T> const& values, F const& write) {
    writer_.Key(name);
    writer_.StartArray();
    for (T const& value : values) write(writer_, value);
    writer_.EndArray();
  }
  template <class T, class F>
  void objects(char const* name, std::vector<T> const& values, F const& fill) {
    list(name, values, [&](auto&, T const& value) {
      writer_.StartObject();
      fill(value);
      writer_.EndObject();
    });
  }
  template <class F>
  void object(char const* name, F const& fill) {
    writer_.Key(name);
    writer_.StartObject();
    fill();
    writer_.EndObject();
  }
  [[nodiscard]] std::string_view finish() {
    writer_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  rapidjson::StringBuffer buffer_;
  Writer writer_{buffer_};
};
using json = json_object<rapidjson::PrettyWriter<rapidjson::StringBuffer>>;
using json_line = json_object<rapidjson::Writer<rapidjson::StringBuffer>>;

/// Replaces bytes that are not UTF-8 by U+FFFD: names can have any bytes, but JSON is UTF-8.
[[nodiscard]] std::string to_utf8(std::string_view text);

/// Writes the id of a vertex in the file: a number or a name.
template <class Writer>
void write_id(json_object<Writer>& j, char const* name, vertex_ids const& ids, std::size_t v) {
  auto const id = ids.in_file(static_cast<graph::vertex_id>(v));
  if (auto const* const number = std::get_if<std::uint64_t>(&id))
    j.field(name, *number);
  else
    j.field(name, to_utf8(std::get<std::string_view>(id)));
}

/// Writes the fields of each report that describe program and machine. `lost`: whether an output of the command, other
/// than the report, could not be written.
void write_surroundings(json& j, char const* command, bool lost);

/// Writes those of the parameters that describe the graph and where it is built.
void write_file_parameters(json& j, graph_file const& file, placement const& where);

}  // namespace wyrm::apps
