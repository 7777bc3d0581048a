// SPDX-License-Identifier: Apache-2.0
// A strict reader of XML without comments, CDATA and processing instructions, for tests of HTML and SVG.
#pragma once

#include <cctype>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wyrm::tests {

struct element {
  std::string name;
  std::map<std::string, std::string> attributes;  // unescaped
  std::string text;                               // unescaped, of the element itself without its children
};

/// All elements of a document of one root, in the order of their begin. Throws std::runtime_error when the document is
/// not well-formed.
class markup {
 public:
  explicit markup(std::string text) : text_(std::move(text)) {
    while (at_ < text_.size()) {
      if (text_[at_] != '<')
        read_text();
      else if (text_.compare(at_, 2, "</") == 0)
        close();
      else
        open();
    }
    if (!stack_.empty()) fail("an element is not closed");
  }
  [[nodiscard]] std::vector<element> const& all() const { return elements_; }
  [[nodiscard]] std::vector<element> named(std::string const& name) const {
    std::vector<element> found;
    for (element const& e : elements_)
      if (e.name == name) found.push_back(e);
    return found;
  }

 private:
  [[noreturn]] void fail(std::string const& what) const {
    throw std::runtime_error(what + " near byte " + std::to_string(at_) + ": " +
                             text_.substr(at_ > 40 ? at_ - 40 : 0, 80));
  }
  std::string until(char end) {
    auto const last = text_.find(end, at_);
    if (last == std::string::npos) fail(std::string("no ") + end);
    std::string part = text_.substr(at_, last - at_);
    at_ = last + 1;
    return part;
  }
  std::string unescaped(std::string const& part) const {
    static std::map<std::string, std::string> const known{{"amp", "&"},   {"lt", "<"},  {"gt", ">"},
                                                          {"quot", "\""}, {"#39", "'"}, {"#8211", "-"}};
    std::string out;
    for (std::size_t i = 0; i < part.size(); ++i) {
      auto const byte = static_cast<unsigned char>(part[i]);
      if (byte == '<' || (byte < 0x20 && byte != '\n')) fail("a character that XML does not allow");
      if (byte != '&') {
        out += part[i];
        continue;
      }
      auto const end = part.find(';', i);
      auto const entity = known.find(part.substr(i + 1, end == std::string::npos ? 0 : end - i - 1));
      if (entity == known.end()) fail("an unknown entity");
      out += entity->second;
      i = end;
    }
    return out;
  }
  std::string word() {
    std::size_t const begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
      ++at_;
    if (at_ == begin) fail("no name");
    return text_.substr(begin, at_ - begin);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  void read_text() {
    auto const end = text_.find('<', at_);
    std::string const part = text_.substr(at_, end == std::string::npos ? end : end - at_);
    if (stack_.empty() && part.find_first_not_of(" \n") != std::string::npos) fail("text outside the root");
    std::string const plain = unescaped(part);
    if (!stack_.empty()) elements_[stack_.back()].text += plain;
    at_ += part.size();
  }
  void open() {
    ++at_;
    if (stack_.empty() && !elements_.empty()) fail("a second root");
    element e;
    e.name = word();
    for (skip_blanks(); text_[at_] != '>' && text_[at_] != '/'; skip_blanks()) {
      std::string const name = word();
      if (text_.compare(at_, 2, "=\"") != 0) fail("no value in quotation marks");
      at_ += 2;
      if (!e.attributes.emplace(name, unescaped(until('"'))).second) fail("an attribute is there twice");
    }
    elements_.push_back(e);
    if (text_[at_] == '/')
      ++at_;
    else
      stack_.push_back(elements_.size() - 1);
    if (text_[at_] != '>') fail("no >");
    ++at_;
  }
  void close() {
    at_ += 2;
    if (stack_.empty() || until('>') != elements_[stack_.back()].name) fail("another element is closed");
    stack_.pop_back();
  }

  std::string text_;
  std::size_t at_ = 0;
  std::vector<element> elements_;
  std::vector<std::size_t> stack_;
};

}  // namespace wyrm::tests
