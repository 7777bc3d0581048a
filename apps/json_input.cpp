// SPDX-License-Identifier: Apache-2.0
#include "json_input.hpp"

#include <rapidjson/error/en.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"
#include "../loaders/quoted.hpp"

namespace wyrm::apps {

namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20;

[[noreturn]] void fail_to_read(std::string const& path) {
  throw error(error_code::io, "cannot read " + path + ": " + std::generic_category().message(errno));
}

std::string describe(rapidjson::Value const& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType: return "null";
    case rapidjson::kFalseType: return "false";
    case rapidjson::kTrueType: return "true";
    case rapidjson::kObjectType: return "an object";
    case rapidjson::kArrayType: return "an array";
    case rapidjson::kStringType: return loaders::quoted({value.GetString(), value.GetStringLength()}, 40);
    case rapidjson::kNumberType: break;
  }
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value.GetDouble());
  return text.data();
}

}  // namespace

std::string read_text(std::string const& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) fail_to_read(path);
  std::string text;
  std::array<char, 1 << 16> block{};
  while (std::size_t const got = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), got);
    if (text.size() > most_bytes)
      throw error(error_code::bad_input, path + ": expected at most 256 MiB, found more; is it the right file?");
  }
  if (std::ferror(file.get()) != 0) fail_to_read(path);
  return text;
}

rapidjson::Document parse_json(std::string const& name, std::string_view text) {
  constexpr unsigned flags = rapidjson::kParseFullPrecisionFlag | rapidjson::kParseValidateEncodingFlag |
                             rapidjson::kParseIterativeFlag;  // nesting takes no stack
  rapidjson::Document document;
  document.Parse<flags>(text.data(), text.size());
  if (document.HasParseError())
    throw error(error_code::bad_input, name + ": expected JSON in UTF-8, found a mistake at byte " +
                                           std::to_string(document.GetErrorOffset() + 1) + ": " +
                                           rapidjson::GetParseError_En(document.GetParseError()));
  return document;
}

json_input json_input::at(std::string const& key) const {
  if (!value_.IsObject()) fail("an object");
  auto const member = value_.FindMember(key.c_str());
  if (member == value_.MemberEnd()) {
    json_input(name_, value_, path_of(key)).fail_with("a value", "none");
  }
  return {name_, member->value, path_of(key)};
}

std::optional<json_input> json_input::find(std::string const& key) const {
  if (!value_.IsObject()) fail("an object");
  auto const member = value_.FindMember(key.c_str());
  if (member == value_.MemberEnd() || member->value.IsNull()) return std::nullopt;
  return json_input(name_, member->value, path_of(key));
}

void json_input::refuse_others(std::vector<std::string_view> const& names) const {
  if (!value_.IsObject()) fail("an object");
  for (auto const& member : value_.GetObject()) {
    std::string_view const key(member.name.GetString(), member.name.GetStringLength());
    if (std::find(names.begin(), names.end(), key) == names.end())
      fail_with("only known members", loaders::quoted(key));
  }
}

std::vector<json_input> json_input::items() const {
  if (!value_.IsArray()) fail("an array");
  std::vector<json_input> all;
  all.reserve(value_.Size());
  for (rapidjson::SizeType i = 0; i < value_.Size(); ++i)
    all.emplace_back(name_, value_[i], path_ + '[' + std::to_string(i) + ']');
  return all;
}

std::string json_input::text() const {
  if (!value_.IsString()) fail("a string");
  return {value_.GetString(), value_.GetStringLength()};
}

std::uint64_t json_input::count() const {
  if (!value_.IsUint64()) fail("a whole number from 0");
  return value_.GetUint64();
}

double json_input::real() const {
  if (!value_.IsNumber() || !std::isfinite(value_.GetDouble())) fail("a number");
  return value_.GetDouble();
}

double json_input::number() const {
  if (!value_.IsNumber() || !std::isfinite(value_.GetDouble()) || value_.GetDouble() < 0) fail("a number from 0");
  return value_.GetDouble();
}

bool json_input::flag() const {
  if (!value_.IsBool()) fail("true or false");
  return value_.GetBool();
}

void json_input::fail(std::string const& expected) const { fail_with(expected, describe(value_)); }
void json_input::fail_with(std::string const& expected, std::string const& found) const {
  throw error(error_code::bad_input,
              name_ + ": " + (path_.empty() ? "" : path_ + ": ") + "expected " + expected + ", found " + found);
}

}  // namespace wyrm::apps
