// SPDX-License-Identifier: Apache-2.0
// The ids by which commands name vertices in all that they read and write: those of the graph file, or internal numbers
// (--ids internal).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "../graph/types.hpp"
#include "number_index.hpp"

namespace wyrm::apps {

/// The ids in the file, or the numbers of vertices from 0.
enum class id_kind { file, internal };

/// Maps vertices to ids, and ids to vertices. Of equal ids, the first vertex is found. Consecutive numbers need no
/// memory, and ids that do not ascend need 4 bytes per vertex besides the ids. add() and remove() follow a graph whose
/// vertices come and go; all other members but the constructor and index() are thread-safe beside each other.
class vertex_ids {
 public:
  vertex_ids() = default;
  /// Moves ids and names out of the list. O(n), or O(n log n) for ids that do not ascend.
  vertex_ids(graph::edge_list& list, id_kind kind);

  /// The number of vertices that find() can find.
  [[nodiscard]] std::size_t size() const noexcept { return vertices_ - removed_ + added_.size(); }

  /// The id: a number, or a name in quotation marks, complete and escaped like text in messages (loaders::quoted).
  [[nodiscard]] std::string text(graph::vertex_id v) const;

  /// The vertex of an id: a number, or a name, with quotation marks as in text(), or without. Nothing if there is none.
  /// O(log n).
  [[nodiscard]] std::optional<graph::vertex_id> find(std::string_view word) const;

  /// The same for a number; nothing if ids are names. O(1) for consecutive numbers, and after index().
  [[nodiscard]] std::optional<graph::vertex_id> find(std::uint64_t number) const;

  /// The vertex with the i-th smallest id, from 0, of the graph as loaded. O(1).
  [[nodiscard]] graph::vertex_id by_rank(std::size_t i) const {
    return order_.empty() ? static_cast<graph::vertex_id>(i) : order_[i];
  }

  /// For many calls of find(): builds an index of the numbers in the file, unless they are consecutive. O(n). Memory:
  /// at most 16 bytes per vertex.
  void index();

  /// Adds a vertex with an id that find() does not find, and returns its number: that which add_vertices() of a graph
  /// gives it, if all changes are made there, too, in the same order, and the same vertices are removed by one call.
  /// Nothing, and no effect, for a word that is no id of this kind; with internal numbers only next() is one.
  [[nodiscard]] std::optional<graph::vertex_id> add(std::string_view word);
  /// The graph has made the additions of the first `n` calls of add() that had an effect: undo_adds() needs no memory
  /// for these.
  void settle_adds(std::uint64_t n);
  /// The graph has made those of the first `n` calls only: numbers that others use again have their former ids in
  /// text() and in_file(). Nothing may be found, added or removed any more.
  void undo_adds(std::uint64_t n);
  /// Whether add() accepts the word, if find() does not find it.
  [[nodiscard]] bool is_new(std::string_view word) const;
  /// The number of the next vertex that is added; no_vertex if there is no more room.
  [[nodiscard]] graph::vertex_id next() const;
  /// The number of calls of remove(). A vertex that find() has found is found until the next one.
  [[nodiscard]] std::uint64_t removals() const noexcept { return removals_; }
  /// Removes a vertex that find() has found. text() and in_file() still have its id, until its number is used again.
  /// `same_call`: the graph removes it by the same call as the vertex before.
  void remove(graph::vertex_id v, bool same_call);

  /// All ids, for messages: "0 to 5", "3 ids from 10 to 70", "3 names", "none".
  [[nodiscard]] std::string range() const;

  /// The id in the file, of either kind: a number or a name.
  [[nodiscard]] std::variant<std::uint64_t, std::string_view> in_file(graph::vertex_id v) const;

 private:
  using id = std::variant<std::uint64_t, std::string>;
  [[nodiscard]] std::optional<graph::vertex_id> find_loaded(std::string_view word) const;
  [[nodiscard]] std::optional<graph::vertex_id> find_number(std::uint64_t number) const;
  // The id that a word is, quoted or not; nothing if it is of another kind.
  [[nodiscard]] std::optional<id> id_of(std::string_view word) const;

  id_kind kind_ = id_kind::file;
  std::size_t vertices_ = 0;
  std::uint64_t first_ = 0;              // of consecutive numbers in the file
  std::vector<std::uint64_t> ids_;       // other numbers in the file; empty, or one per vertex
  std::vector<std::string> names_;       // the names in the file; empty, or one per vertex
  std::vector<graph::vertex_id> order_;  // the vertices by ascending ids or names; empty if these ascend
  number_index index_;                   // of ids_; empty before index()

  // Changes since loading. A vertex that was removed, or has a number that is used again, is in `changed_`.
  std::unordered_map<graph::vertex_id, id> changed_;
  std::unordered_map<id, graph::vertex_id> added_;  // present vertices that were added
  std::vector<std::set<graph::vertex_id>> absent_;  // vertices that were removed, by calls
  std::size_t removed_ = 0;                         // number of loaded vertices that were removed
  std::size_t numbers_ = 0;                         // of vertices, present or absent
  std::uint64_t adds_ = 0;                          // number of calls of add() with an effect
  std::uint64_t removals_ = 0;                      // number of calls of remove()
  struct former {
    std::uint64_t add;  // number of the call, from 0
    graph::vertex_id vertex;
    id of;
  };
  std::deque<former> former_;  // ids of numbers that were used again by the last calls
};

/// Removes the first word of a text, and the separators before it; empty without a word. If the word begins with a
/// quotation mark, separators up to the closing one belong to it.
[[nodiscard]] std::string_view take_word(std::string_view& text, std::string_view separators = " \t\r");

}  // namespace wyrm::apps
