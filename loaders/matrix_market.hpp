// SPDX-License-Identifier: Apache-2.0
// Reads graphs from sparse matrices in the Matrix Market exchange format (`.mtx`), as the SuiteSparse collection ships
// them. After R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935.
#pragma once

#include <string_view>

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders {
namespace detail {

/// Parses a square coordinate matrix: entry (i, j) is an arc from vertex i-1 to vertex j-1.
///
///   general         directed; one arc an entry
///   symmetric       undirected; one edge an entry, all in the lower triangle or on the diagonal
///   skew-symmetric  directed; entries below the diagonal only, two arcs each: (i, j) with the value, then (j, i) with
///                   its negative
///
/// Values of real and integer fields become weights, pattern matrices have none; an integer must be exact in a double
/// (magnitude at most 2^53). Order, repeats, diagonal entries and explicit zeros stay as the file has them.
///
/// Throws wyrm::error: bad_input with file and line when the file is malformed, not square, or of a kind that is not
/// read (array, complex, hermitian, vector); out_of_memory. Memory: the list; counts in the header are held against the
/// file's size before anything is allocated. Time: linear, on all cores. Safe to call from several threads.
[[nodiscard]] graph::edge_list parse_matrix_market(source const& in);

}  // namespace detail

/// Whether a file that starts with this text claims to be a Matrix Market file.
[[nodiscard]] bool has_matrix_market_banner(std::string_view text) noexcept;

}  // namespace wyrm::loaders
