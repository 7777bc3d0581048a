// SPDX-License-Identifier: Apache-2.0
// All patterns, in the order of Fig. 16 of AlignMalloc (TPDS 2025).
#pragma once

#include "b_plus_tree.hpp"
#include "breadth_first.hpp"
#include "convolution.hpp"
#include "graph_convolution.hpp"
#include "k_means.hpp"
#include "matrix_product.hpp"
#include "own_memory.hpp"
#include "sparse_product.hpp"
#include "stencil.hpp"

namespace wyrm::bench {

/// Calls f.template operator()<Pattern>() for each of the eight applications; Pattern is made from an extent.
template <class F>
void for_each_application(F const& f) {
  f.template operator()<matrix_product>();
  f.template operator()<stencil>();
  f.template operator()<k_means>();
  f.template operator()<breadth_first>();
  f.template operator()<sparse_product>();
  f.template operator()<b_plus_tree>();
  f.template operator()<convolution>();
  f.template operator()<graph_convolution>();
}

}  // namespace wyrm::bench
