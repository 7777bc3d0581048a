// SPDX-License-Identifier: Apache-2.0
// The ids by which commands name vertices in all that they read and write: those of the graph file, or internal numbers
// (--ids internal).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../graph/types.hpp"

namespace wyrm::apps {

/// The ids in the file, or the numbers of vertices from 0.
enum class id_kind { file, internal };

/// Maps vertices to ids, and ids to vertices. Of equal ids, the first vertex is found. Consecutive numbers need no
/// memory, and ids that do not ascend need 4 bytes per vertex besides the ids. All members but the constructor are
/// thread-safe.
class vertex_ids {
 public:
  vertex_ids() = default;
  /// Moves ids and names out of the list. O(n), or O(n log n) for ids that do not ascend.
  vertex_ids(graph::edge_list& list, id_kind kind);

  [[nodiscard]] std::size_t size() const noexcept { return vertices_; }

  /// The id: a number, or a name in quotation marks, complete and escaped like text in messages (loaders::quoted).
  [[nodiscard]] std::string text(graph::vertex_id v) const;

  /// The vertex of an id: a number, or a name, with quotation marks as in text(), or without. Nothing if there is none.
  /// O(log n).
  [[nodiscard]] std::optional<graph::vertex_id> find(std::string_view word) const;

  /// All ids, for messages: "0 to 5", "3 ids from 10 to 70", "3 names", "none".
  [[nodiscard]] std::string range() const;

  /// The id in the file, of either kind: a number or a name.
  [[nodiscard]] std::variant<std::uint64_t, std::string_view> in_file(graph::vertex_id v) const;

 private:
  [[nodiscard]] std::optional<graph::vertex_id> find_number(std::uint64_t number) const;

  id_kind kind_ = id_kind::file;
  std::size_t vertices_ = 0;
  std::uint64_t first_ = 0;              // of consecutive numbers in the file
  std::vector<std::uint64_t> ids_;       // other numbers in the file; empty, or one per vertex
  std::vector<std::string> names_;       // the names in the file; empty, or one per vertex
  std::vector<graph::vertex_id> order_;  // the vertices by ascending ids or names; empty if these ascend
};

/// Removes the first word of a text, and the separators before it; empty without a word. If the word begins with a
/// quotation mark, separators up to the closing one belong to it.
[[nodiscard]] std::string_view take_word(std::string_view& text, std::string_view separators = " \t\r");

}  // namespace wyrm::apps
