// SPDX-License-Identifier: Apache-2.0
#include "vertex_values.hpp"

#include <cmath>
#include <filesystem>
#include <system_error>
#include <type_traits>
#include <variant>

#include "../exec/error.hpp"

namespace wyrm::apps {

rank_summary summarize_ranks(std::vector<double> const& rank, std::size_t top) {
  rank_summary s;
  auto const max = std::max_element(rank.begin(), rank.end());
  if (max != rank.end() && *max > 0) {  // vertices that were removed have the rank 0
    s.max = *max;
    s.argmax = static_cast<graph::vertex_id>(max - rank.begin());
  }
  s.l2 = std::sqrt(std::inner_product(rank.begin(), rank.end(), rank.begin(), 0.0));
  s.sum = std::accumulate(rank.begin(), rank.end(), 0.0);
  s.top = largest(rank, top);
  return s;
}

triangles_summary::by_vertex summarize_triangles(algorithms::triangles_result const& r, std::size_t top) {
  return {r.average_clustering, r.global_clustering, largest(r.per_vertex, top)};
}

std::string value_files::path_of(graph_options const& o, std::string const& algorithm) {
  if (o.output.empty()) return {};
  std::error_code failed;
  if (!std::filesystem::is_directory(o.output, failed))
    throw error(error_code::io,
                "cannot write to the folder " + o.output + ": there is no such folder; create it first");
  return (std::filesystem::path(o.output) / (algorithm + ".txt")).string();
}

value_files::value_files(graph_options const& o) {
  if (o.output.empty()) return;
  for (algorithm const* const a : o.selected()) files_.try_emplace(a->name, a->what, path_of(o, a->name));
}

namespace {

void write_value(loaders::output_file& file, value_column const& column, std::size_t i, vertex_ids const& ids) {
  std::visit(
      [&]<class T>(std::vector<T> const& values) {
        constexpr std::uint64_t no_distance = 9223372036854775807;
        T const value = values[i];
        if constexpr (std::is_same_v<T, double>) {
          if (std::isinf(value) && value > 0)
            file.write("Infinity");
          else
            file.write(value);
        } else if (column.is == value_column::kind::vertex) {
          file.write(ids.text(static_cast<graph::vertex_id>(value)));
        } else {
          bool const unreached = column.is == value_column::kind::distance && value == static_cast<T>(~T{0});
          file.write(unreached ? no_distance : std::uint64_t{value});
        }
      },
      column.values);
}

}  // namespace

void value_files::write(std::vector<named_values> const& values, vertex_ids const& ids) {
  for (auto const& [name, table] : values) {
    auto const found = files_.find(name);
    if (found == files_.end()) continue;
    loaders::output_file& file = found->second;
    file.write(table.head);
    std::size_t const lines =
        table.columns.empty() ? 0 : std::visit([](auto const& all) { return all.size(); }, table.columns[0].values);
    for (std::size_t i = 0; i < lines; ++i) {
      if (table.edges) {
        file.write(ids.text((*table.edges)[i].source));
        file.write(" ");
        file.write(ids.text((*table.edges)[i].target));
      } else {
        file.write(ids.text(static_cast<graph::vertex_id>(i)));
      }
      for (value_column const& column : table.columns) {
        file.write(" ");
        write_value(file, column, i, ids);
      }
      file.write("\n");
    }
    file.finish();
  }
}

void value_files::commit() {
  for (auto& [name, file] : files_) file.commit();
}

}  // namespace wyrm::apps
