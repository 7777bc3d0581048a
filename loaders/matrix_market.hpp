// SPDX-License-Identifier: Apache-2.0
// Reads graphs from sparse matrices in the Matrix Market exchange format (`.mtx`), which the SuiteSparse collection
// uses. Specification: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR
// 5935.
#pragma once

#include <string_view>

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders {
namespace detail {

/// Parses a square coordinate matrix: entry (i, j) is an arc from vertex i-1 to vertex j-1, and
/// edge_list.first_id is 1.
///
///   general         directed; one arc per entry
///   symmetric       undirected; one edge per entry, all in the lower triangle or on the diagonal
///   skew-symmetric  directed; entries below the diagonal only, two arcs per entry: (i, j) with the value, then (j, i)
///                   with the negative value
///
/// The values of real and integer matrices become weights; pattern matrices have none. An integer must be exact in a
/// double (magnitude at most 2^53). Order, duplicates, diagonal entries and explicit zeros are kept.
///
/// Throws wyrm::error: bad_input with file and line when the matrix is malformed, not square, or of an unsupported kind
/// (array, complex, hermitian, vector); out_of_memory. Memory: the list; the counts in the header are compared with the
/// size of the file before memory is allocated. Time: linear, on all cores. Thread-safe.
[[nodiscard]] graph::edge_list parse_matrix_market(source const& in);

}  // namespace detail

/// Whether a file that starts with this text has the banner of a Matrix Market file.
[[nodiscard]] bool has_matrix_market_banner(std::string_view text) noexcept;

}  // namespace wyrm::loaders
