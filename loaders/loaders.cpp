// SPDX-License-Identifier: Apache-2.0
// Chooses the parser for a file.
#include "loaders.hpp"

#include <algorithm>
#include <string>

#include "detail/text_reader.hpp"
#include "matrix_market.hpp"
#include "metis.hpp"

namespace wyrm::loaders {

graph::edge_list load(std::filesystem::path const& path, progress const& report) {
  auto extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (extension == ".graph" || extension == ".metis") return load_metis(path, report);
  if (extension == ".mtx") return load_matrix_market(path, report);

  constexpr std::size_t banner_bytes = 16;
  if (has_matrix_market_banner(detail::read_text(path, banner_bytes).text)) return load_matrix_market(path, report);
  throw error(error_code::bad_argument,
              path.string() +
                  ": the format is not known; known are METIS or DIMACS10 (.graph, .metis) and Matrix "
                  "Market (.mtx, or a file that starts with %%MatrixMarket): rename or convert the file");
}

}  // namespace wyrm::loaders
