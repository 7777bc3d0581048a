// SPDX-License-Identifier: Apache-2.0
#include "recognise.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "../binary.hpp"
#include "../matrix_market.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr std::pair<std::string_view, file_format> extensions[] = {
    {".graph", file_format::metis},        {".metis", file_format::metis},     {".mtx", file_format::matrix_market},
    {".gr", file_format::dimacs},          {".el", file_format::gap},          {".wel", file_format::gap},
    {".v", file_format::graphalytics},     {".e", file_format::graphalytics},  {".json", file_format::node_link},
    {".wyrm", file_format::binary},        {".txt", file_format::edge_list},   {".tsv", file_format::edge_list},
    {".edgelist", file_format::edge_list}, {".edges", file_format::edge_list}, {".csv", file_format::edge_list},
    {".sg", file_format::serialized},      {".wsg", file_format::serialized},
};

std::string lower_case(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

/// Whether the first line that is not a comment (c) is a problem line (p).
bool is_dimacs(std::string_view text) {
  text = text.substr(0, std::size_t{1} << 16);
  while (text.starts_with("c ") || text.starts_with("c\n")) {
    text.remove_prefix(std::min(text.size(), text.find('\n')));
    text.remove_prefix(std::min<std::size_t>(text.size(), 1));
  }
  return text.starts_with("p sp ");
}

}  // namespace

std::optional<file_format> format_of_extension(std::filesystem::path const& filename) {
  auto const extension = lower_case(filename.extension().string());
  auto const* const found =
      std::find_if(std::begin(extensions), std::end(extensions), [&](auto const& e) { return e.first == extension; });
  if (found != std::end(extensions)) return found->second;
  return std::nullopt;
}

std::optional<file_format> format_of_name(std::filesystem::path const& filename) {
  if (auto const format = format_of_extension(filename)) return format;
  if (lower_case(filename.string()).starts_with("out.")) return file_format::edge_list;  // KONECT
  return std::nullopt;
}

std::optional<file_format> recognise(std::filesystem::path const& filename, std::string_view text) {
  if (has_binary_signature(text)) return file_format::binary;
  auto const named = format_of_name(filename);
  if (named && *named != file_format::edge_list) return named;
  if (has_matrix_market_banner(text)) return file_format::matrix_market;
  if (auto const at = text.find_first_not_of(" \t\r\n"); at != std::string_view::npos && text[at] == '{')
    return file_format::node_link;
  return is_dimacs(text) ? file_format::dimacs : named;
}

}  // namespace wyrm::loaders::detail
