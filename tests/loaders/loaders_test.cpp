// SPDX-License-Identifier: Apache-2.0
// Tests what is common to all formats: unreadable files, unknown formats, progress reports, and that loading a damaged
// file has no other result than a valid list or an error.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../loaders/detail/recognise.hpp"
#include "../../loaders/loaders.hpp"
#include "../support/spaces.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

namespace fs = std::filesystem;

fs::path const corpus = fs::path(WYRM_TEST_DATA) / "invalid";
fs::path const valid = fs::path(WYRM_TEST_DATA) / "valid";

error_code code_of_loading(fs::path const& path, std::string& text) {
  try {
    (void)loaders::load(path);
  } catch (error const& refused) {
    text = refused.what();
    return refused.code();
  }
  ADD_FAILURE() << path << " was loaded";
  return error_code::corrupt;
}

TEST(unreadable_file, has_a_message_with_the_reason) {
  std::string text;
  for (auto const* name : {"missing.graph", "missing.mtx", "missing.unknown"}) {
    EXPECT_EQ(code_of_loading(corpus / name, text), error_code::io);
    EXPECT_EQ(text.rfind((corpus / name).string() + ": ", 0), 0U) << text;
    EXPECT_NE(text.find("No such file or directory"), std::string::npos) << text;
  }
  EXPECT_EQ(code_of_loading(corpus, text), error_code::io);
  EXPECT_NE(text.find("Is a directory"), std::string::npos) << text;
}

TEST(unknown_format, message_lists_known_formats) {
  std::string text;
  EXPECT_EQ(code_of_loading(valid / "unknown_format.dat", text), error_code::bad_argument);
  for (auto const* known : {"unknown_format.dat", ".graph", ".metis", ".mtx", "%%MatrixMarket"}) {
    EXPECT_NE(text.find(known), std::string::npos) << text;
  }
}

TEST(progress, grows_to_the_end) {
  // Large enough for intermediate reports: an isolated vertex is an empty line, and comments are skipped.
  std::size_t const vertices = 3000;
  auto text = std::to_string(vertices) + " 0\n";
  for (std::size_t i = 0; i < vertices; ++i) text += "%" + std::string(20000, ' ') + "\n\n";
  std::vector<std::size_t> reports;
  auto const report = [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, text.size());
    reports.push_back(done);
  };
  auto const list = loaders::parse("text", text, loaders::file_format::metis, {.threads = 1}, report);
  EXPECT_EQ(list.vertices, vertices);
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  EXPECT_EQ(reports.back(), text.size());
  EXPECT_GT(reports.size(), 3U);
  EXPECT_LT(reports.size(), 30U);
}

TEST(progress, is_called_once_for_a_small_file_and_may_cancel) {
  auto const path = valid / "metis_plain.graph";
  std::size_t calls = 0;
  (void)loaders::load(path, {}, [&](std::size_t done, std::size_t total) {
    ++calls;
    EXPECT_EQ(done, total);
    EXPECT_EQ(total, fs::file_size(path));
  });
  EXPECT_EQ(calls, 1U);
  struct cancelled {};
  EXPECT_THROW((void)loaders::load(path, {}, [](std::size_t, std::size_t) { throw cancelled(); }), cancelled);
}

// The editors of some systems begin a text with U+FEFF in UTF-8.
TEST(byte_order_mark, is_skipped_in_every_text_format) {
  temporary_folder const folder;
  std::string const mark = "\xef\xbb\xbf";
  for (auto const& [name, text] : std::map<std::string, std::string>{
           {"g.graph", "2 1\n2\n1\n"},
           {"g.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"},
           {"unnamed", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"},
           {"g.gr", "p sp 2 1\na 1 2 1\n"},
           {"sym.txt", "% sym unweighted\n0 1\n"},
           {"g.txt", "0 1\n"},
           {"g.el", "0 1\n"},
           {"g.v", "0\n1\n"},
           {"g.e", "0 1\n"},
           {"g.json", R"({"nodes": [{}, {}], "links": [{"source": 0, "target": 1}]})"}})
    (void)folder.write(name, mark + text);
  for (auto const* const name :
       {"g.graph", "g.mtx", "unnamed", "g.gr", "sym.txt", "g.txt", "g.el", "g.v", "g.e", "g.json"}) {
    SCOPED_TRACE(name);
    auto const list = loaders::load(folder / name);
    EXPECT_EQ(list.vertices, 2U);
    EXPECT_EQ(list.edges.size(), 1U);
    EXPECT_EQ(list.directed, std::string(name) != "g.graph" && std::string(name) != "g.mtx" &&
                                 std::string(name) != "unnamed" && std::string(name) != "sym.txt" &&
                                 std::string(name) != "g.json");
  }
  EXPECT_EQ(loaders::parse("text", mark + "0 1\n", loaders::file_format::edge_list).vertices, 2U);
  for (auto const& text : {mark + mark + "0 1\n", "0 1\n" + mark + "1 0\n", std::string("\xef\xbb")})
    EXPECT_THROW((void)loaders::parse("text", text, loaders::file_format::edge_list), error) << "one, at the start";
}

/// For any text the result must be a list with ids in range, or the error bad_input.
void expect_list_or_error(loaders::file_format format, std::string const& text) {
  try {
    auto const list = loaders::parse("text", text, format, {.threads = 1});
    for (auto const& [source, target] : list.edges) {
      ASSERT_LT(source, list.vertices) << text;
      ASSERT_LT(target, list.vertices) << text;
    }
    ASSERT_TRUE(list.weights.empty() || list.weights.size() == list.edges.size());
    ASSERT_TRUE(list.times.empty() || list.times.size() == list.edges.size());
    ASSERT_TRUE(list.ids.empty() || list.ids.size() == list.vertices);
    ASSERT_TRUE(list.names.empty() || list.names.size() == list.vertices);
  } catch (error const& refused) {
    ASSERT_EQ(refused.code(), error_code::bad_input) << refused.what();
  }
}

TEST(damaged_file, is_loaded_or_refused) {
  constexpr char junk[] = {'\0', '\r', '\n', ' ', '%', '-', '+', '.', '0', '9', 'e', '"', '{', '\xff'};
  for (auto const& folder : {corpus, valid}) {
    for (auto const& entry : fs::directory_iterator(folder)) {
      SCOPED_TRACE(entry.path());
      std::string const text = read_file(entry.path());
      auto const known = loaders::detail::recognise(entry.path().filename(), text);
      if (!known || *known == loaders::file_format::graphalytics) continue;
      for (std::size_t i = 0; i < text.size(); i += 100 / scaled(100)) {
        expect_list_or_error(*known, text.substr(0, i));
        expect_list_or_error(*known, text.substr(i));
        expect_list_or_error(*known, std::string(text).erase(i, 1));
        for (char const c : junk) {
          expect_list_or_error(*known, std::string(text).replace(i, 1, 1, c));
          expect_list_or_error(*known, std::string(text).insert(i, 1, c));
        }
      }
    }
  }
}

}  // namespace
}  // namespace wyrm::tests
