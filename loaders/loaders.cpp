// SPDX-License-Identifier: Apache-2.0
// Chooses the parser for a file, or loads its cache.
#include "loaders.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"
#include "binary.hpp"
#include "detail/adjust.hpp"
#include "detail/cache.hpp"
#include "detail/input.hpp"
#include "detail/recognise.hpp"
#include "dimacs.hpp"
#include "edge_list.hpp"
#include "graphalytics.hpp"
#include "matrix_market.hpp"
#include "metis.hpp"
#include "node_link.hpp"
#include "serialized.hpp"

namespace wyrm::loaders {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_memory(std::string const& name) {
  throw error(error_code::out_of_memory,
              name + ": loading it needs more memory than there is; use a machine with more memory");
}

/// Refuses more vertices than options.max_vertices allows in a file of `bytes` bytes.
graph::edge_list limited(graph::edge_list list, std::string const& name, std::size_t bytes, options const& settings) {
  bool const is_default = settings.max_vertices == 0;
  auto const most = is_default ? vertex_limit(bytes) : settings.max_vertices;
  if (list.vertices <= most) return list;
  throw error(error_code::bad_input,
              name + ": expected at most " + std::to_string(most) + " vertices" +
                  (is_default ? " in a file of " + std::to_string(bytes) + " bytes" : "") + ", found " +
                  std::to_string(list.vertices) +
                  "; if the file is right, allow them with --max-vertices (loaders::options::max_vertices)");
}

graph::edge_list parse_format(detail::source const& in, file_format format) {
  switch (format) {
    case file_format::metis: return detail::parse_metis(in);
    case file_format::matrix_market: return detail::parse_matrix_market(in);
    case file_format::dimacs: return detail::parse_dimacs(in);
    case file_format::edge_list: return detail::parse_edge_list(in);
    case file_format::gap: return detail::parse_gap(in);
    case file_format::node_link: return detail::parse_node_link(in);
    case file_format::binary: return detail::parse_binary(in);
    case file_format::serialized: return detail::parse_serialized(in);
    case file_format::graphalytics: break;
  }
  throw error(error_code::bad_argument,
              in.name + ": a Graphalytics graph is several files: name the .v or the .e file");
}

/// Refuses options that the format does not use: they would have no effect.
void refuse_unused(options const& settings, std::string const& name, file_format format) {
  auto const refuse = [&](char const* flag, char const* users) {
    throw error(error_code::bad_argument, name + ": " + flag + " has no effect on a file of this format; " + users +
                                              " use it: leave it out, or name the format with --format");
  };
  if (format == file_format::edge_list) return;
  if (settings.third) refuse("--third-column (loaders::options::third)", "edge lists");
  if (settings.columns) refuse("--columns (loaders::options::columns)", "edge lists");
  if (settings.vertex_base && format != file_format::gap)
    refuse("--vertex-base (loaders::options::vertex_base)", "edge lists, .el and .wel");
}

graph::edge_list parse_any(detail::source const& in, file_format format) {
  refuse_unused(in.settings, in.name, format);
  return limited(parse_format(in, format), in.name, in.text.size(), in.settings);
}

graph::edge_list parse_files(fs::path const& path, options const& settings, progress const& report) {
  if (detail::format_of_name(path.filename()) != file_format::graphalytics) {
    throw error(error_code::bad_argument, path.string() + ": Graphalytics files are NAME.v and NAME.e in one folder, " +
                                              "not compressed: unpack or rename them, and name one of the two");
  }
  refuse_unused(settings, path.string(), file_format::graphalytics);
  auto const files = graphalytics_files(path);
  detail::input const vertices(files[0], settings);
  detail::input const edges(files[1], settings);
  std::optional<detail::input> properties;
  if (std::error_code ignored; fs::exists(files[2], ignored)) properties.emplace(files[2], settings);
  progress const silent;
  auto list = detail::parse_graphalytics({vertices.name(), vertices.text(), settings, silent},
                                         {edges.name(), edges.text(), settings, report},
                                         properties ? properties->text() : std::string_view());
  if (report) report(edges.text().size(), edges.text().size());
  return limited(std::move(list), vertices.name(), vertices.text().size(), settings);
}

graph::edge_list parse_file(fs::path const& path, options const& settings, progress const& report) {
  detail::input file(path, settings);
  auto const format = settings.format ? settings.format : detail::recognise(file.graph_name(), file.text());
  if (!format) {
    throw error(
        error_code::bad_argument,
        file.name() +
            ": the format is not known; known are METIS or DIMACS10 (.graph, .metis), Matrix Market (.mtx, or a "
            "file that starts with %%MatrixMarket), DIMACS 9 (.gr), edge lists (.txt, .tsv, .csv, .edges, .edgelist, "
            "out.*), GAP (.el, .wel, .sg, .wsg), Graphalytics (.v, .e), JSON node-link (.json) and .wyrm: say which it "
            "is, "
            "or rename or convert the file");
  }
  if (*format == file_format::graphalytics) return parse_files(path, settings, report);
  // The other parsers read the text more than once.
  bool const once = *format == file_format::edge_list || *format == file_format::gap ||
                    *format == file_format::matrix_market || *format == file_format::dimacs;
  auto list =
      parse_any({file.name(), file.text(), settings, report, file.skipped(), once ? file.memory() : nullptr}, *format);
  if (report) report(file.text().size(), file.text().size());
  return list;
}

graph::edge_list load_cached(fs::path const& path, options const& settings, progress const& report,
                             warning const& warn) {
  detail::cache const cache(path, settings);
  if (auto list = cache.load(settings, report)) return *std::move(list);
  auto list = parse_file(path, settings, report);
  try {
    cache.write(list);
  } catch (error const& e) {
    if (warn) warn(path.string() + ": the graph is loaded, but not its cache kept: " + e.what());
  }
  return list;
}

template <class Parse>
graph::edge_list adjusted(std::string const& name, options const& settings, Parse const& parse) {
  try {
    auto list = parse();
    detail::adjust(list, settings);
    return list;
  } catch (std::bad_alloc const&) {
    fail_memory(name);
  } catch (std::length_error const&) {
    fail_memory(name);
  }
}

}  // namespace

std::size_t vertex_limit(std::size_t bytes) {
  constexpr std::size_t any_file = std::size_t{1} << 24;
  constexpr std::size_t per_byte = 64;
  return std::max(any_file, per_byte * bytes);
}

std::array<fs::path, 3> graphalytics_files(fs::path const& path) {
  auto const extension = path.extension();
  bool const upper = extension == ".V" || extension == ".E";
  auto const with = [&](char const* other) { return fs::path(path).replace_extension(other); };
  auto properties = with(upper ? ".PROPERTIES" : ".properties");
  if (std::error_code ignored; upper && !fs::exists(properties, ignored)) properties = with(".properties");
  return {with(upper ? ".V" : ".v"), with(upper ? ".E" : ".e"), std::move(properties)};
}

graph::edge_list adjusted(graph::edge_list list, options const& settings) {
  if (settings.max_vertices != 0 && list.vertices > settings.max_vertices)
    throw error(error_code::bad_argument, "the graph has " + std::to_string(list.vertices) +
                                              " vertices; allow them with --max-vertices "
                                              "(loaders::options::max_vertices)");
  detail::adjust(list, settings);
  return list;
}

graph::edge_list load(fs::path const& path, options const& settings, progress const& report, warning const& warn) {
  return adjusted(path.string(), settings, [&] {
    std::error_code ignored;
    bool const keeps_cache = settings.cache && fs::is_regular_file(path, ignored) && path.extension() != ".wyrm";
    return keeps_cache ? load_cached(path, settings, report, warn) : parse_file(path, settings, report);
  });
}

graph::edge_list parse(std::string const& name, std::string_view text, file_format format, options const& settings,
                       progress const& report) {
  return adjusted(name, settings, [&] {
    auto const content = detail::without_byte_order_mark(text);
    auto list = parse_any({name, content, settings, report, text.size() - content.size()}, format);
    if (report) report(text.size(), text.size());
    return list;
  });
}

}  // namespace wyrm::loaders
