// SPDX-License-Identifier: Apache-2.0
// Tests edge lists with names of columns or with commas, semicolons and tabs; weights that are not finite; and options
// that a format does not use.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/loaders.hpp"
#include "../../loaders/writers.hpp"
#include "../support/seed.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

using edges = std::vector<graph::edge>;
using numbers = std::vector<double>;
using ids = std::vector<std::uint64_t>;
using loaders::column_names;
using loaders::file_format;

graph::edge_list parsed(std::string const& text, loaders::options const& settings = {}) {
  return loaders::parse("text", text, file_format::edge_list, settings);
}

std::string refusal(std::string const& text, loaders::options const& settings, error_code code = error_code::bad_input,
                    file_format format = file_format::edge_list) {
  try {
    (void)loaders::parse("text", text, format, settings);
    return "it was loaded";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
}

TEST(delimited, columns_may_have_names) {
  auto const list = parsed("kind,Target,w,SOURCE,t\n\"a,b\",7,\"2.5\",5,100\nc , 5 ,-1, 7, 3\n");
  EXPECT_EQ(list.edges, (edges{{0, 1}, {1, 0}}));
  EXPECT_EQ(list.ids, (ids{5, 7}));
  EXPECT_EQ(list.weights, (numbers{2.5, -1}));
  EXPECT_EQ(list.times, (numbers{100, 3}));
  EXPECT_TRUE(list.directed);
  for (std::string const text : {"FromNodeId ToNodeId\n5 7\n", "src\tdst\r\n5\t7\r\n", "from;to\n\n# a comment\n5;7"})
    EXPECT_EQ(parsed(text).ids, (ids{5, 7})) << text;
  EXPECT_FALSE(parsed("# Undirected graph\nsrc,dst\n5,7\n").directed);
}

/// Blanks at the start of a line do not count, but a tab that delimits ends an empty field.
TEST(delimited, the_first_field_may_be_empty) {
  for (std::string const text : {"\tsource\ttarget\n0\t5\t7\n1\t7\t5\n", "note\tsource\ttarget\n\t5\t7\nx\t7\t5\n",
                                 "# a comment\n \tsource\ttarget\n\n \t5\t7\n# a comment\n\t7\t5\n"}) {
    auto const list = parsed(text);
    EXPECT_EQ(list.ids, (ids{5, 7})) << text;
    EXPECT_EQ(list.edges, (edges{{0, 1}, {1, 0}})) << text;
  }
  EXPECT_NE(refusal("source\ttarget\n\t7\n", {}).find(":2: expected the id of the source, in column \"source\""),
            std::string::npos);
}

TEST(delimited, columns_may_be_chosen) {
  std::string const text = "a,\"b \"\"q\"\"\",c,d\n1,2,3,4\n";
  auto const list = parsed(text, {.columns = column_names{"d", "b \"q\"", "a", "c"}, .vertex_base = 0});
  EXPECT_EQ(list.edges, (edges{{4, 2}}));
  EXPECT_EQ(list.weights, (numbers{1}));
  EXPECT_EQ(list.times, (numbers{3}));
  auto const few = parsed("1,2,3\n9,8,7\n", {.columns = column_names{"3", "1"}, .vertex_base = 0});
  EXPECT_EQ(few.edges, (edges{{7, 9}})) << "with --columns the first line has names, also when these are numbers";
  EXPECT_TRUE(few.weights.empty());
  EXPECT_EQ(
      refusal(text, {.columns = column_names{"a", "x"}}).rfind("text:1: expected a column \"x\" in the first line", 0),
      0U);
  EXPECT_NE(refusal(text, {.columns = column_names{"a", "c", "y"}}).find("expected a column \"y\""), std::string::npos);
}

TEST(delimited, columns_without_names_have_an_order) {
  for (std::string const text : {"5,7,2,9\n", "5;7;2;9\n", "\"5\",7, 2 ,\"9\"\n"}) {
    auto const list = parsed(text);
    EXPECT_EQ(list.ids, (ids{5, 7})) << text;
    EXPECT_EQ(list.weights, (numbers{2}));
    EXPECT_EQ(list.times, (numbers{9}));
  }
  EXPECT_EQ(parsed("5,7,9\n", {.third = loaders::third_column::time}).times, (numbers{9}));
  EXPECT_NE(refusal("source,target,t\n5,7,9\n", {.third = loaders::third_column::time}, error_code::bad_argument)
                .find("names its columns"),
            std::string::npos);
}

TEST(delimited, errors_have_the_line_and_the_column) {
  auto const expect = [](std::string const& text, std::string const& message) {
    EXPECT_EQ(refusal(text, {}).rfind("text:" + message, 0), 0U) << refusal(text, {});
  };
  expect("source,target\n1,2\n1,bob\n",
         "3: expected the id of the target, in column \"target\" (0 to 18446744073709551615), "
         "found \"bob\"; ids, weights and times are numbers");
  expect("source,target\n1 2,3\n", "2: expected the end of the field, found \"2\"");
  expect("source,target\n1,\"2\n\"\n", "2: expected fields, quoted or not");
  expect("source,target,weight\n1,2,nan\n", "2: expected a weight, a finite number");
  expect("source,target\n1,2\n3\n", "3: expected 2 columns, found 1");
  expect("source,target\n1,2\n\"\",3\n",
         "3: expected the id of the source, in column \"source\", found an empty field");
}

/// Many pieces, with ids of more than 32 bits from some line on, in both forms of edge lists.
TEST(edge_list, ids_may_grow_beyond_32_bits) {
  std::mt19937_64 random(seeded(282));
  for (bool const comma : {false, true}) {
    for (std::size_t const wide_from : {0U, 1U, 9'000U, 19'999U, 20'000U}) {
      std::string text;
      std::vector<std::uint64_t> want;
      for (std::size_t i = 0; i < 20'000; ++i) {
        for (int end = 0; end < 2; ++end) {
          want.push_back(i < wide_from ? random() % 5000 : (std::uint64_t{1} << 32) - 1 + random() % 5000);
          text += std::to_string(want.back()) + (end == 1 ? "\n" : comma ? "," : " ");
        }
      }
      for (unsigned const threads : {1U, 3U}) {
        auto const list = parsed(text, {.threads = threads});
        ASSERT_EQ(2 * list.edges.size(), want.size());
        bool same = true;
        auto const id = [&](graph::vertex_id v) { return list.ids.empty() ? v : list.ids[v]; };
        for (std::size_t i = 0; i < list.edges.size(); ++i)
          same = same && id(list.edges[i].source) == want[2 * i] && id(list.edges[i].target) == want[2 * i + 1];
        EXPECT_TRUE(same) << wide_from;
        EXPECT_TRUE(std::is_sorted(list.ids.begin(), list.ids.end()));
      }
    }
  }
}

/// Text is freed while it is parsed, and read again to count its lines; waves have 8 MiB for each thread.
TEST(large_file, errors_have_the_line_after_memory_is_freed) {
  temporary_folder const folder;
  constexpr std::size_t lines = 1'300'000;  // 10.4 MB
  for (std::string const name : {"g.txt", "g.mtx"}) {
    SCOPED_TRACE(name);
    std::string text = name == "g.txt"
                           ? "\n"
                           : "%%MatrixMarket matrix coordinate pattern general\n30 30 " + std::to_string(lines) + "\n";
    auto const above = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    for (std::size_t i = 0; i < lines; ++i) text += "0012 13\n";
    for (bool const map : {false, true}) {
      loaders::options const settings{.map = map, .threads = 1};
      auto const path = folder.write(name, text);
      EXPECT_EQ(loaders::load(path, settings).edges.size(), lines);
      auto const expect = [&](std::string const& content, std::size_t line) {
        try {
          (void)loaders::load(folder.write(name, content), settings);
          ADD_FAILURE() << "it was loaded";
        } catch (error const& e) {
          EXPECT_EQ(std::string(e.what()).rfind(path.string() + ":" + std::to_string(line) + ": ", 0), 0U) << e.what();
        }
      };
      expect(text + "x y z\n", above + lines + 1);
      if (name == "g.mtx") expect(text.substr(0, text.size() - 8), above + lines);
    }
  }
}

TEST(matrix_market, weights_may_be_infinite_or_nan) {
  temporary_folder const folder;
  auto const path =
      folder.write("g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 NaN\n2 3 -inf\n3 1 2\n");
  auto const same = [](graph::edge_list const& list) {
    return list.weights.size() == 3 && std::isnan(list.weights[0]) &&
           list.weights[1] == -std::numeric_limits<double>::infinity() && list.weights[2] == 2;
  };
  auto const list = loaders::load(path, {.cache = true});
  EXPECT_TRUE(same(list));
  auto const cached = read_file(folder / "g.mtx.wyrm");
  EXPECT_TRUE(same(loaders::load(path, {.cache = true})));
  EXPECT_EQ(read_file(folder / "g.mtx.wyrm"), cached);
  for (char const* const name : {"h.mtx", "h.wyrm"}) {
    loaders::write(list, folder / name);
    EXPECT_TRUE(same(loaders::load(folder / name))) << name;
  }
  try {
    loaders::write(list, folder / "h.txt");
    ADD_FAILURE();
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_argument);
    EXPECT_NE(std::string(e.what()).find("not finite, such as nan of the edge 1 -> 2"), std::string::npos) << e.what();
  }
  EXPECT_NE(refusal("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1e999\n", {}, error_code::bad_input,
                    file_format::matrix_market)
                .find("found \"1e999\""),
            std::string::npos);
}

TEST(options, that_a_format_does_not_use_are_refused) {
  std::string const mtx = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
  auto const refused = [&](loaders::options const& settings, std::string const& flag) {
    EXPECT_EQ(
        refusal(mtx, settings, error_code::bad_argument, file_format::matrix_market).rfind("text: " + flag + " ", 0),
        0U);
  };
  refused({.third = loaders::third_column::weight}, "--third-column");
  refused({.columns = column_names{"a", "b"}}, "--columns");
  refused({.vertex_base = 1}, "--vertex-base");
  EXPECT_EQ(loaders::parse("text", "3 4\n", file_format::gap, {.vertex_base = 3}).vertices, 2U);
  EXPECT_NE(refusal("3 4\n", {.third = loaders::third_column::time}, error_code::bad_argument, file_format::gap)
                .find("edge lists use it"),
            std::string::npos);
}

TEST(node_link, bytes_count_from_the_start_of_the_file) {
  std::string const text = R"({"nodes":[{"id":-1}],"links":[]})";
  auto const plain = refusal(text, {}, error_code::bad_input, file_format::node_link);
  auto const marked = refusal("\xef\xbb\xbf" + text, {}, error_code::bad_input, file_format::node_link);
  EXPECT_NE(plain.find("near byte 18"), std::string::npos) << plain;
  EXPECT_NE(marked.find("near byte 21"), std::string::npos) << marked;
}

}  // namespace
}  // namespace wyrm::tests
