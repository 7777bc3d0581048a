// SPDX-License-Identifier: Apache-2.0
// The node-link parser. It reads the text twice with the events of RapidJSON: first for the nodes, then for the links,
// in whichever order the text has them.
#include "node_link.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <charconv>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "detail/parallel_lines.hpp"
#include "quoted.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr std::string_view comment_marks;  // there are none

/// Null, an array or an object.
struct other_value {
  std::string_view kind;
};
constexpr other_value an_array{"an array"};
constexpr other_value an_object{"an object"};
using value = std::variant<other_value, bool, std::uint64_t, double, std::string>;

bool is_array(value const& v) {
  auto const* const other = std::get_if<other_value>(&v);
  return other != nullptr && other->kind == an_array.kind;
}

/// For messages.
std::string shown_value(value const& v) {
  struct {
    std::string operator()(other_value other) const { return std::string(other.kind); }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return shown(number); }
    std::string operator()(std::string const& text) const { return loaders::quoted(text); }
  } constexpr show;
  return std::visit(show, v);
}

/// Tracks the position in the JSON value. Derived classes receive the members of the root object, and the members of
/// each object in an array of the root. The depth is 1 in the root, 2 in an array of the root, 3 in an object of that
/// array.
class node_link_events : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, node_link_events> {
 public:
  node_link_events(source const& in, rapidjson::MemoryStream const& text) : in_(in), text_(text) {}
  virtual ~node_link_events() = default;

  bool Null() { return scalar(other_value{"null"}); }
  bool Bool(bool b) { return scalar(b); }
  // Numbers are converted here, because the conversion of RapidJSON has undefined behaviour for 0e99.
  bool RawNumber(char const* text, rapidjson::SizeType size, bool) {
    auto const* const end = text + size;
    std::uint64_t whole = 0;
    if (auto const read = std::from_chars(text, end, whole); read.ec == std::errc{} && read.ptr == end)
      return scalar(whole);
    double real = 0;
    if (std::from_chars(text, end, real).ec != std::errc{})
      fail("a number that a double can hold", quoted({text, size}), "correct the number");
    return scalar(real);
  }
  bool String(char const* text, rapidjson::SizeType size, bool) { return scalar(std::string(text, size)); }
  bool Key(char const* text, rapidjson::SizeType size, bool) {
    key_.assign(text, size);
    if (depth_ == 1) root_key_ = key_;
    return true;
  }
  bool StartObject() {
    open(an_object);
    if (depth_ == 3 && in_array_) start_element();
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    if (depth_ == 3 && in_array_) end_element();
    --depth_;
    return true;
  }
  bool StartArray() {
    open(an_array);
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    --depth_;
    return true;
  }

 protected:
  [[noreturn]] void fail(std::string_view expected, std::string_view found, std::string_view advice) const {
    text_reader const here(in_, in_.begin() + text_.Tell(), comment_marks);
    here.fail_at(here.line(), expected, std::string(found) + " near byte " + std::to_string(in_.skipped + text_.Tell()),
                 advice);
  }
  [[nodiscard]] std::string const& root_key() const { return root_key_; }
  [[nodiscard]] std::string const& key() const { return key_; }

  virtual void root_member(value const& v) = 0;
  virtual void start_element() = 0;
  virtual void element_member(value const& v) = 0;
  virtual void end_element() = 0;

 private:
  void open(value const& v) {
    see(v, !is_array(v));
    if (depth_ == 1) in_array_ = is_array(v);
    ++depth_;
  }
  bool scalar(value const& v) {
    see(v, false);
    return true;
  }
  void see(value const& v, bool object) {
    if (depth_ == 0 && !object)
      fail("an object", shown_value(v), "the graph is an object with \"nodes\" and \"links\"");
    if (depth_ == 1) root_member(v);
    if (depth_ == 2 && in_array_ && !object) wrong_element(v);
    if (depth_ == 3 && in_array_) element_member(v);
  }
  void wrong_element(value const& v) const {
    if (root_key_ == "nodes" || root_key_ == "links" || root_key_ == "edges")
      fail("an object in \"" + root_key_ + "\"", shown_value(v), "each node and each link is an object");
  }

  source const& in_;
  rapidjson::MemoryStream const& text_;
  std::size_t depth_ = 0;
  bool in_array_ = false;  // whether the open member of the root is an array
  std::string root_key_;
  std::string key_;
};

/// The vertices of the ids in the file.
struct node_table {
  enum class kind { unknown, none, numbers, names } ids = kind::unknown;
  std::size_t size = 0;
  std::unordered_map<std::uint64_t, graph::vertex_id> numbers;
  std::unordered_map<std::string, graph::vertex_id> names;
};

/// First pass: reads nodes and direction, and checks that each member occurs once.
class node_events : public node_link_events {
 public:
  node_events(source const& in, rapidjson::MemoryStream const& text, node_table& nodes, graph::edge_list& list)
      : node_link_events(in, text), nodes_(nodes), list_(list) {}

  void finish() const {
    if (!seen_nodes_) fail("an array \"nodes\"", "none", "each vertex is an object in it");
    if (!seen_links_) fail("an array \"links\" or \"edges\"", "none", "each edge is an object in it");
  }

 private:
  void root_member(value const& v) override {
    bool const links = root_key() == "links" || root_key() == "edges";
    if (root_key() == "nodes") see(seen_nodes_, v);
    if (links) see(seen_links_, v);
    if (root_key() != "directed") return;
    if (std::exchange(seen_directed_, true))
      fail("\"directed\" once", shown_value(v) + " for it again", "remove one of the two");
    if (!std::holds_alternative<bool>(v)) fail("true or false for \"directed\"", shown_value(v), "correct the value");
    list_.directed = std::get<bool>(v);
  }
  void see(bool& seen, value const& v) const {
    if (!is_array(v)) fail("an array \"" + root_key() + "\"", shown_value(v), "its elements are objects");
    if (std::exchange(seen, true))
      fail("nodes once, and links or edges once", "\"" + root_key() + "\" again", "remove one of the two");
  }
  void start_element() override { has_id_ = false; }
  void element_member(value const& v) override {
    if (root_key() != "nodes" || key() != "id") return;
    if (std::exchange(has_id_, true))
      fail("one \"id\" of a node", "another one, " + shown_value(v) + ",", "remove one of the two");
    bool is_new = false;
    auto const vertex = static_cast<graph::vertex_id>(nodes_.size);
    if (auto const* const number = std::get_if<std::uint64_t>(&v)) {
      expect(node_table::kind::numbers, shown_value(v));
      is_new = nodes_.numbers.emplace(*number, vertex).second;
      list_.ids.push_back(*number);
    } else if (auto const* const name = std::get_if<std::string>(&v);
               name != nullptr && name->find('\0') == std::string::npos) {
      expect(node_table::kind::names, shown_value(v));
      is_new = nodes_.names.emplace(*name, vertex).second;
      list_.names.push_back(*name);
    } else {
      fail("an integer below 2^64 or a string without NUL as id", shown_value(v), "number or name the nodes");
    }
    if (!is_new)
      fail("an id of its own for each node", shown_value(v) + ", which another node has,", "number or name the nodes");
  }
  void end_element() override {
    if (root_key() != "nodes") return;
    if (!has_id_) expect(node_table::kind::none, "a node without id");
    if (nodes_.size == graph::max_vertices) fail("at most 4294967295 nodes", "more", "ids have 32 bits");
    ++nodes_.size;
  }
  /// `found`: the id, for a message.
  void expect(node_table::kind ids, std::string const& found) {
    if (nodes_.ids == node_table::kind::unknown) nodes_.ids = ids;
    if (nodes_.ids != ids)
      fail("integers as ids of all nodes, or strings, or no ids, as of the first node", found,
           "number or name all nodes alike");
  }

  node_table& nodes_;
  graph::edge_list& list_;
  bool seen_nodes_ = false;
  bool seen_links_ = false;
  bool seen_directed_ = false;
  bool has_id_ = false;
};

/// Second pass: reads links.
class link_events : public node_link_events {
 public:
  link_events(source const& in, rapidjson::MemoryStream const& text, node_table const& nodes, graph::edge_list& list)
      : node_link_events(in, text), nodes_(nodes), list_(list) {}

 private:
  void root_member(value const&) override {}
  void start_element() override { source_ = target_ = weight_ = false; }
  void element_member(value const& v) override {
    if (root_key() != "links" && root_key() != "edges") return;
    if (key() == "source") see(source_, v), edge_.source = vertex(v);
    if (key() == "target") see(target_, v), edge_.target = vertex(v);
    if (key() == "weight") see(weight_, v), list_.weights.push_back(number(v));
  }
  void end_element() override {
    if (root_key() != "links" && root_key() != "edges") return;
    if (!source_ || !target_) {
      fail("\"source\" and \"target\" of a link",
           source_   ? "only \"source\""
           : target_ ? "only \"target\""
                     : "neither",
           "add what is missing");
    }
    list_.edges.push_back(edge_);
    if (!list_.weights.empty() && list_.weights.size() != list_.edges.size())
      fail("a weight of all links or of none", weight_ ? "the first link with a weight" : "a link without a weight",
           "add or remove weights");
  }
  void see(bool& seen, value const& v) const {
    if (std::exchange(seen, true))
      fail("one \"" + key() + "\" of a link", "another one, " + shown_value(v) + ",", "remove one of the two");
  }
  [[nodiscard]] graph::vertex_id vertex(value const& v) const {
    auto const* const number = std::get_if<std::uint64_t>(&v);
    auto const* const name = std::get_if<std::string>(&v);
    if (number != nullptr && nodes_.ids == node_table::kind::none && *number < nodes_.size)
      return static_cast<graph::vertex_id>(*number);
    if (number != nullptr)
      if (auto const at = nodes_.numbers.find(*number); at != nodes_.numbers.end()) return at->second;
    if (name != nullptr)
      if (auto const at = nodes_.names.find(*name); at != nodes_.names.end()) return at->second;
    fail("the id of a node as \"" + key() + "\"", shown_value(v), "add the node, or remove the link");
  }
  [[nodiscard]] double number(value const& v) const {
    if (auto const* const whole = std::get_if<std::uint64_t>(&v)) return static_cast<double>(*whole);
    if (auto const* const real = std::get_if<double>(&v); real != nullptr && std::isfinite(*real)) return *real;
    fail("a number as \"weight\"", shown_value(v), "correct the value");
  }

  node_table const& nodes_;
  graph::edge_list& list_;
  graph::edge edge_{};
  bool source_ = false;
  bool target_ = false;
  bool weight_ = false;
};

/// The text before the first NUL byte, at which RapidJSON stops.
std::string_view before_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

[[noreturn]] void fail_json(source const& in, std::size_t byte, std::string const& reason) {
  text_reader here(in, in.begin() + byte, comment_marks);
  auto const word = here.peek_word();
  auto const found = byte == in.text.size() ? "the end of the file" : word.empty() ? "a blank" : loaders::quoted(word);
  here.fail_at(here.line(), "JSON", found + " at byte " + std::to_string(in.skipped + byte) + " (" + reason + ")",
               "correct the file, or fetch it again if it is truncated");
}

void read(source const& in, rapidjson::MemoryStream& text, node_link_events& events) {
  constexpr unsigned strict =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::Reader reader;
  auto const result = reader.Parse<strict>(text, events);
  auto const sound = before_nul(in.text).size();
  if (sound < in.text.size() && (!result.IsError() || text.Tell() >= sound)) {
    text_reader const here(in, in.begin() + sound, comment_marks);
    here.fail_line(in.text.size());
  }
  if (result.IsError()) fail_json(in, std::min(result.Offset(), sound), rapidjson::GetParseError_En(result.Code()));
}

}  // namespace

graph::edge_list parse_node_link(source const& in) {
  graph::edge_list list;
  node_table nodes;
  auto const sound = before_nul(in.text);
  rapidjson::MemoryStream first(sound.data(), sound.size());
  node_events node_reader(in, first, nodes, list);
  read(in, first, node_reader);
  node_reader.finish();
  rapidjson::MemoryStream second(sound.data(), sound.size());
  link_events link_reader(in, second, nodes, list);
  read(in, second, link_reader);

  list.vertices = nodes.size;
  bool own_numbers = true;
  for (std::size_t v = 0; v < list.ids.size(); ++v) own_numbers = own_numbers && list.ids[v] == v;
  if (own_numbers) list.ids.clear();
  return list;
}

}  // namespace wyrm::loaders::detail
