// SPDX-License-Identifier: Apache-2.0
// Tests the limits of files: the number of vertices that a small file may promise, and the length of a line; which of
// several defects is reported; and files that are cut while they are loaded.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/binary.hpp"
#include "../../loaders/detail/input.hpp"
#include "../../loaders/loaders.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

using loaders::file_format;

std::string refusal(std::string const& text, file_format format, loaders::options const& settings = {}) {
  try {
    (void)loaders::parse("text", text, format, settings);
  } catch (error const& refused) {
    EXPECT_EQ(refused.code(), error_code::bad_input) << refused.what();
    return refused.what();
  }
  return "it was loaded";
}

/// A file of a few bytes with this number of vertices, of each format in which a number determines that of vertices.
std::vector<std::pair<file_format, std::string>> files_of(std::uint64_t vertices) {
  auto const n = std::to_string(vertices);
  auto const last = std::to_string(vertices - 1);
  return {{file_format::matrix_market, "%%MatrixMarket matrix coordinate pattern general\n" + n + " " + n + " 0\n"},
          {file_format::dimacs, "p sp " + n + " 0\n"},
          {file_format::gap, "0 " + last + "\n"},
          {file_format::edge_list, "0 " + last + "\n"}};
}

/// Edge lists number the ids that occur, unless a base is set, which no other text format of these has.
loaders::options with_base(file_format format, std::size_t most = 0) {
  loaders::options settings{.max_vertices = most};
  if (format == file_format::edge_list) settings.vertex_base = 0;
  return settings;
}

constexpr std::size_t free_vertices = std::size_t{1} << 24;

TEST(vertex_limit, is_in_proportion_to_the_file) {
  for (auto const& [format, text] : files_of(free_vertices))
    EXPECT_EQ(loaders::parse("text", text, format, with_base(format)).vertices, free_vertices);
  for (auto const vertices : {free_vertices + 1, std::size_t{4294967295}})
    for (auto const& [format, text] : files_of(vertices)) {
      EXPECT_EQ(refusal(text, format, with_base(format)),
                "text: expected at most 16777216 vertices in a file of " + std::to_string(text.size()) +
                    " bytes, found " + std::to_string(vertices) +
                    "; if the file is right, allow them with --max-vertices (loaders::options::max_vertices)");
    }
  // Beyond 2^24, 64 vertices for each byte.
  auto const padded = [](std::string const& vertices) {
    std::string text = "p sp " + vertices + " 0\nc";
    text.resize(300000, ' ');
    return text;
  };
  EXPECT_EQ(loaders::parse("text", padded("19200000"), file_format::dimacs).vertices, 19200000U);
  EXPECT_NE(
      refusal(padded("19200001"), file_format::dimacs).find("at most 19200000 vertices in a file of 300000 bytes"),
      std::string::npos);
}

TEST(vertex_limit, can_be_set) {
  for (std::size_t const most : {std::size_t{100}, std::size_t{4294967295}}) {
    for (auto const& [format, text] : files_of(most))
      EXPECT_EQ(loaders::parse("text", text, format, with_base(format, most)).vertices, most);
    if (most == 100) {
      for (auto const& [format, text] : files_of(101))
        EXPECT_EQ(
            refusal(text, format, with_base(format, most)).find("text: expected at most 100 vertices, found 101; "),
            0U);
    }
  }
  // Also where each vertex has bytes in the file.
  loaders::options const one{.max_vertices = 1};
  EXPECT_NE(refusal("2 1\n2\n1\n", file_format::metis, one).find("at most 1 vertices, found 2"), std::string::npos);
  EXPECT_NE(refusal("5 7\n", file_format::edge_list, one).find("at most 1 vertices, found 2"), std::string::npos);
  EXPECT_NE(refusal(R"({"nodes": [{}, {}], "links": []})", file_format::node_link, one).find("at most 1 vertices"),
            std::string::npos);
}

TEST(vertex_limit, holds_for_files_of_wyrm_graphalytics_and_caches) {
  temporary_folder const folder;
  graph::edge_list list;
  list.vertices = free_vertices + 1;
  loaders::write_binary(list, folder / "g.wyrm");
  EXPECT_THROW((void)loaders::load(folder / "g.wyrm"), error);
  EXPECT_EQ(loaders::load(folder / "g.wyrm", {.max_vertices = list.vertices}).vertices, list.vertices);

  (void)folder.write("g.v", "1\n2\n3\n");
  auto const edges = folder.write("g.e", "1 2\n");
  EXPECT_EQ(loaders::load(edges).vertices, 3U);
  EXPECT_THROW((void)loaders::load(edges, {.max_vertices = 2}), error);

  auto const sparse = folder.write("g.gr", "p sp 20000000 0\n");
  EXPECT_EQ(loaders::load(sparse, {.max_vertices = 20000000, .cache = true}).vertices, 20000000U);
  EXPECT_THROW((void)loaders::load(sparse, {.cache = true}), error) << "the cache has another limit";
}

constexpr std::size_t longest = std::size_t{1} << 24;

TEST(line_limit, refuses_a_line_without_an_end) {
  std::string const line = "expected a line of at most 16777216 bytes, found a longer one; ";
  for (char const c : {'7', ' ', '#'}) {
    std::string const endless(longest + 100, c);
    if (c != ' ') {  // blanks at the end of a file are skipped
      EXPECT_EQ(refusal(endless, file_format::edge_list).find("text:1: " + line), 0U) << c;
    }
    EXPECT_EQ(refusal("1 2\n# x\n2 3\n" + endless, file_format::edge_list).find("text:4: " + line), 0U) << c;
    EXPECT_EQ(refusal("1 2\n" + endless + "\n2 3\n", file_format::edge_list).find("text:2: " + line), 0U) << c;
    EXPECT_EQ(refusal("1 y\n" + endless + "\n2 3\n", file_format::edge_list).find("text:1: expected the id"), 0U) << c;
    EXPECT_EQ(refusal("p sp 2 0\n" + endless, file_format::dimacs).find("text:2: " + line), 0U) << c;
  }
  std::string const comment = "#" + std::string(longest - 1, ' ');
  for (std::string const end : {"\n", "\r\n"}) {
    std::string const text = comment + "\n0 1" + end + comment + "\n1 0" + end + comment;
    EXPECT_EQ(loaders::parse("text", text, file_format::edge_list).edges.size(), 2U);
  }
}

// A hub with more neighbours than lines of other formats may list.
TEST(line_limit, lets_metis_files_have_long_rows) {
  constexpr std::size_t rim = 2300000;
  std::string text = std::to_string(rim + 1) + " " + std::to_string(rim) + "\n";
  for (std::size_t v = 2; v <= rim + 1; ++v) text += std::to_string(v) + " ";
  ASSERT_GT(text.size(), longest);
  text += "\n";
  for (std::size_t v = 0; v < rim; ++v) text += "1\n";
  EXPECT_EQ(loaders::parse("text", text, file_format::metis).edges.size(), rim);
  EXPECT_EQ(refusal("1 0\n" + std::string(300000000, ' '), file_format::metis)
                .find("text:2: expected a line of at most 268435456 bytes, found a longer one; "),
            0U);
}

TEST(nul_byte, is_reported_after_malformed_lines_above_it) {
  std::string const nul(1, '\0');
  auto const starts = [](std::string const& message, std::string const& start) {
    EXPECT_EQ(message.find(start), 0U) << message << "\nnot: " << start;
  };
  for (std::string const& end :
       {"\n" + nul, "\n" + nul + "\n", "\n1 " + nul + "2\n", "\n1 2" + nul, "\n1 2\n3 " + nul}) {
    starts(refusal("1 2\nx 3" + end, file_format::edge_list), "text:2: expected the id of the source");
    starts(refusal("1 2\nx 3" + end, file_format::gap), "text:2: expected the id of the source");
    starts(refusal("p sp 9 1\na 1 2 x" + end, file_format::dimacs), "text:2: expected an integer weight");
    starts(refusal("%%MatrixMarket matrix coordinate pattern general\n9 9 3\n1 x" + end, file_format::matrix_market),
           "text:3: expected a column");
    starts(refusal("3 1\nx" + end, file_format::metis), "text:2: expected the id of a neighbour");
    starts(refusal("{\"nodes\": [{}],\n \"links\": [,]}" + end, file_format::node_link), "text:2: expected JSON");
    starts(refusal("{\"nodes\": [{}],\n \"links\": [1]}" + end, file_format::node_link), "text:2: expected an object");
  }
  std::string const found = "expected text, found a NUL byte";
  starts(refusal("1 2\n3 " + nul + "4\nx", file_format::edge_list), "text:2: " + found);
  starts(refusal("1 2\n3 x" + nul + "\n", file_format::edge_list), "text:2: " + found);
  starts(refusal("3 1\n3\n\n2" + nul + "\n", file_format::metis), "text:4: " + found);
  std::string const json = R"({"nodes": [{"id": "a"}], "links": []})";
  for (std::size_t i = 0; i <= json.size(); ++i)
    starts(refusal("\n" + json.substr(0, i) + nul + json.substr(i), file_format::node_link), "text:2: " + found);
}

// The library has the whole content before it parses: a file that shrinks meanwhile cannot stop the process.
TEST(cut_file, is_loaded_as_it_was) {
  temporary_folder const folder;
  std::string text = "0 1\n";
  for (int i = 0; i < 2000; ++i) text += "#" + std::string(20000, ' ') + "\n";
  text += "1 2\n";
  auto const path = folder.write("g.txt", text);
  auto const list = loaders::load(path, {.threads = 1}, [&](std::size_t done, std::size_t all) {
    if (done < all) std::filesystem::resize_file(path, 0);
  });
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
  EXPECT_EQ(list.edges, (std::vector<graph::edge>{{0, 1}, {1, 2}}));
}

TEST(cut_file, is_refused_when_it_is_shorter_than_when_it_was_opened) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::tmpfile(), &std::fclose);
  ASSERT_TRUE(file);
  std::string const text(10000000, 'x');
  ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file.get()), text.size());
  std::fflush(file.get());
  for (unsigned const threads : {1U, 4U}) {
    std::string got(text.size(), '\0');
    loaders::detail::read_file("g.txt", fileno(file.get()), got, threads);
    EXPECT_EQ(got, text);
    std::string longer(text.size() + 1, '\0');
    try {
      loaders::detail::read_file("g.txt", fileno(file.get()), longer, threads);
      ADD_FAILURE() << "it was read";
    } catch (error const& refused) {
      EXPECT_EQ(refused.code(), error_code::io);
      EXPECT_EQ(std::string(refused.what()).find("g.txt: expected 10000001 bytes, as many as when it was opened"), 0U);
    }
  }
}

TEST(mapped_file, gives_the_same_graph) {
  temporary_folder const folder;
  auto const path = folder.write("g.txt", "\xef\xbb\xbf# sym\n5 7 0.5\n7 9 2\n");
  auto const read = loaders::load(path);
  auto const mapped = loaders::load(path, {.map = true});
  EXPECT_EQ(mapped.edges, (std::vector<graph::edge>{{0, 1}, {1, 2}}));
  EXPECT_EQ(mapped.edges, read.edges);
  EXPECT_EQ(mapped.ids, read.ids);
  EXPECT_EQ(mapped.weights, read.weights);
}

}  // namespace
}  // namespace wyrm::tests
