// SPDX-License-Identifier: Apache-2.0
#include "vertex_ids.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <system_error>
#include <utility>

#include "../loaders/quoted.hpp"

namespace wyrm::apps {

namespace {

template <class T>
std::vector<graph::vertex_id> order_of(std::vector<T> const& keys) {
  if (std::is_sorted(keys.begin(), keys.end())) return {};
  std::vector<graph::vertex_id> order(keys.size());
  std::iota(order.begin(), order.end(), graph::vertex_id{0});
  std::sort(order.begin(), order.end(),
            [&](graph::vertex_id a, graph::vertex_id b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  return order;
}

template <class T>
std::optional<graph::vertex_id> find_key(std::vector<T> const& keys, std::vector<graph::vertex_id> const& order,
                                         T const& key) {
  if (order.empty()) {
    auto const at = std::lower_bound(keys.begin(), keys.end(), key);
    if (at == keys.end() || *at != key) return std::nullopt;
    return static_cast<graph::vertex_id>(at - keys.begin());
  }
  auto const at = std::lower_bound(order.begin(), order.end(), key,
                                   [&](graph::vertex_id v, T const& wanted) { return keys[v] < wanted; });
  if (at == order.end() || keys[*at] != key) return std::nullopt;
  return *at;
}

}  // namespace

vertex_ids::vertex_ids(graph::edge_list& list, id_kind kind)
    : kind_(kind),
      vertices_(list.vertices),
      first_(list.first_id),
      ids_(std::exchange(list.ids, {})),
      names_(std::exchange(list.names, {})),
      order_(kind == id_kind::internal ? std::vector<graph::vertex_id>()
             : names_.empty()          ? order_of(ids_)
                                       : order_of(names_)),
      numbers_(list.vertices) {}

std::variant<std::uint64_t, std::string_view> vertex_ids::in_file(graph::vertex_id v) const {
  if (auto const later = changed_.find(v); later != changed_.end()) {
    if (auto const* const number = std::get_if<std::uint64_t>(&later->second)) return *number;
    return std::string_view(std::get<std::string>(later->second));
  }
  if (!names_.empty()) return std::string_view(names_[v]);
  return ids_.empty() ? first_ + v : ids_[v];
}

std::string vertex_ids::text(graph::vertex_id v) const {
  if (kind_ == id_kind::internal) return std::to_string(v);
  auto const id = in_file(v);
  if (auto const* const number = std::get_if<std::uint64_t>(&id)) return std::to_string(*number);
  return loaders::quoted(std::get<std::string_view>(id), std::string_view::npos);
}

std::optional<graph::vertex_id> vertex_ids::find(std::string_view word) const {
  if (!added_.empty()) {
    auto const key = id_of(word);
    auto const found = key ? added_.find(*key) : added_.end();
    if (found != added_.end()) return found->second;
  }
  auto const found = find_loaded(word);
  return found && !changed_.empty() && changed_.contains(*found) ? std::nullopt : found;
}

std::optional<graph::vertex_id> vertex_ids::find(std::uint64_t number) const {
  if (kind_ == id_kind::file && !names_.empty()) return std::nullopt;
  if (!added_.empty())
    if (auto const found = added_.find(id(number)); found != added_.end()) return found->second;
  auto const found = find_number(number);
  return found && !changed_.empty() && changed_.contains(*found) ? std::nullopt : found;
}

std::optional<graph::vertex_id> vertex_ids::find_loaded(std::string_view word) const {
  if (word.empty()) return std::nullopt;
  if (kind_ == id_kind::file && !names_.empty()) {
    if (!word.starts_with('"')) return find_key(names_, order_, std::string(word));
    auto const name = loaders::unquoted(word);
    return name ? find_key(names_, order_, *name) : std::nullopt;
  }
  std::uint64_t number = 0;
  auto const [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failed != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return find_number(number);
}

std::optional<graph::vertex_id> vertex_ids::find_number(std::uint64_t number) const {
  if (kind_ == id_kind::file && !ids_.empty()) {
    return index_.empty() ? find_key(ids_, order_, number) : index_.find(ids_, number);
  }
  std::uint64_t const first = kind_ == id_kind::file ? first_ : 0;
  if (number < first || number - first >= vertices_) return std::nullopt;
  return static_cast<graph::vertex_id>(number - first);
}

void vertex_ids::index() {
  if (kind_ == id_kind::file) index_ = number_index(ids_);
}

std::optional<vertex_ids::id> vertex_ids::id_of(std::string_view word) const {
  if (word.empty()) return std::nullopt;
  if (kind_ == id_kind::file && !names_.empty()) {
    if (!word.starts_with('"')) return id(std::string(word));
    auto name = loaders::unquoted(word);
    return name ? std::optional(id(std::move(*name))) : std::nullopt;
  }
  std::uint64_t number = 0;
  auto const [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
  return failed == std::errc() && end == word.data() + word.size() ? std::optional(id(number)) : std::nullopt;
}

graph::vertex_id vertex_ids::next() const {
  if (!absent_.empty()) return *absent_.back().begin();
  return numbers_ < graph::max_vertices ? static_cast<graph::vertex_id>(numbers_) : graph::no_vertex;
}

bool vertex_ids::is_new(std::string_view word) const {
  auto const key = id_of(word);
  if (!key || next() == graph::no_vertex) return false;
  return kind_ == id_kind::file || std::get<std::uint64_t>(*key) == next();
}

std::optional<graph::vertex_id> vertex_ids::add(std::string_view word) {
  if (!is_new(word)) return std::nullopt;
  id const key = *id_of(word);
  graph::vertex_id const v = next();
  if (!absent_.empty()) former_.push_back({adds_, v, changed_.at(v)});
  ++adds_;
  added_.emplace(key, v);
  changed_.insert_or_assign(v, key);
  if (absent_.empty()) {
    ++numbers_;
    return v;
  }
  absent_.back().erase(v);
  if (absent_.back().empty()) absent_.pop_back();
  return v;
}

void vertex_ids::settle_adds(std::uint64_t n) {
  while (!former_.empty() && former_.front().add < n) former_.pop_front();
}

void vertex_ids::undo_adds(std::uint64_t n) {
  for (; !former_.empty() && former_.back().add >= n; former_.pop_back())
    changed_.insert_or_assign(former_.back().vertex, std::move(former_.back().of));
}

void vertex_ids::remove(graph::vertex_id v, bool same_call) {
  ++removals_;
  if (!same_call || absent_.empty()) absent_.emplace_back();
  absent_.back().insert(v);
  if (auto const later = changed_.find(v); later != changed_.end()) {
    added_.erase(later->second);
    return;
  }
  auto const text = in_file(v);
  auto const* const number = std::get_if<std::uint64_t>(&text);
  changed_.emplace(v, number != nullptr ? id(*number) : id(std::string(std::get<std::string_view>(text))));
  ++removed_;
}

std::string vertex_ids::range() const {
  if (size() == 0) return "none";
  if (!changed_.empty()) return std::to_string(size()) + (names_.empty() ? " ids" : " names");
  auto const count = std::to_string(vertices_);
  if (kind_ == id_kind::file && !names_.empty()) return count + " names";
  auto const last = static_cast<graph::vertex_id>(vertices_ - 1);
  auto const [low, high] =
      order_.empty() ? std::pair(graph::vertex_id{0}, last) : std::pair(order_.front(), order_.back());
  std::string const ends = text(low) + " to " + text(high);
  return kind_ == id_kind::file && !ids_.empty() ? count + " ids from " + ends : ends;
}

std::string_view take_word(std::string_view& text, std::string_view separators) {
  text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
  std::size_t quote = 0;  // the position of the closing quotation mark, or the end
  if (text.starts_with('"'))
    for (quote = 1; quote < text.size() && text[quote] != '"'; ++quote)
      if (text[quote] == '\\') ++quote;
  std::string_view const word = text.substr(0, text.find_first_of(separators, quote));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace wyrm::apps
