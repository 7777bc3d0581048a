// SPDX-License-Identifier: Apache-2.0
// Tests compressed files: every filter, without and with an archive; damage and truncation at every byte; limits; and
// archives with no graph, with several graphs, or with paths out of the folder.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/loaders.hpp"
#include "files.hpp"
#include "packing.hpp"

namespace wyrm::tests {
namespace {

using edges = std::vector<graph::edge>;

struct filter {
  char const* name;
  char const* extension;
};
constexpr filter filters[] = {{"gzip", ".gz"}, {"bzip2", ".bz2"}, {"xz", ".xz"}, {"zstd", ".zst"}, {"none", ""}};
std::string const text = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n";
edges const want{{0, 1}, {2, 0}};

void expect_refused(std::filesystem::path const& path, std::string const& message,
                    loaders::options const& settings = {}) {
  try {
    (void)loaders::load(path, settings);
    ADD_FAILURE() << path << " was loaded";
  } catch (error const& refused) {
    EXPECT_EQ(refused.code(), error_code::bad_input) << refused.what();
    EXPECT_NE(std::string(refused.what()).find(message), std::string::npos) << refused.what();
    EXPECT_EQ(std::string(refused.what()).rfind(path.string(), 0), 0U) << refused.what();
  }
}

TEST(compressed_file, gives_the_same_graph) {
  temporary_folder const folder;
  for (auto const& [name, extension] : filters) {
    SCOPED_TRACE(name);
    auto const plain = folder / ("g.mtx" + std::string(extension));
    pack(plain, name, false, {{"g.mtx", text}});
    EXPECT_EQ(loaders::load(plain).edges, want);
    auto const archive = folder / ("g.tar" + std::string(extension));
    pack(archive, name, true, {{"g/README", "no graph"}, {"g/g.mtx", text}});
    EXPECT_EQ(loaders::load(archive).edges, want);
  }
}

TEST(compressed_file, is_recognised_by_its_content) {
  temporary_folder const folder;
  pack(folder / "g.mtx", "zstd", false, {{"g.mtx", text}});
  EXPECT_EQ(loaders::load(folder / "g.mtx", {.format = loaders::file_format::matrix_market}).edges, want);
  pack(folder / "two.mtx.gz", "gzip", false, {{"g.mtx", text.substr(0, 30)}});
  pack(folder / "rest.gz", "gzip", false, {{"g.mtx", text.substr(30)}});
  (void)folder.write("two.mtx.gz", read_file(folder / "two.mtx.gz") + read_file(folder / "rest.gz"));
  EXPECT_EQ(loaders::load(folder / "two.mtx.gz").edges, want) << "gzip files may be joined";
}

// A pipe has neither size nor mapping.
TEST(compressed_file, needs_no_extension_of_its_own) {
  temporary_folder const folder;
  pack(folder / "g.txt", "gzip", false, {{"g.txt", "0 1\n2 0\n"}});
  EXPECT_EQ(loaders::load(folder / "g.txt").edges, want);
}

TEST(compressed_file, may_be_read_from_a_pipe) {
  temporary_folder const folder;
  pack(folder / "packed", "xz", false, {{"g.mtx", text}});
  for (auto const& content : {text, read_file(folder / "packed")}) {
    auto const pipe = folder / "pipe.mtx.xz";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { write_file(pipe, content); });
    EXPECT_EQ(loaders::load(pipe, {.format = loaders::file_format::matrix_market}).edges, want);
    writer.join();
    std::filesystem::remove(pipe);
  }
}

// gzip, bzip2 and xz have a checksum of the content. The zstd files of libarchive have none.
TEST(compressed_file, is_refused_when_damaged_or_cut) {
  temporary_folder const folder;
  for (auto const& [name, extension] : filters) {
    if (*extension == '\0') continue;
    SCOPED_TRACE(name);
    pack(folder / "whole", name, false, {{"g.mtx", text}});
    auto const whole = read_file(folder / "whole");
    auto const path = folder / ("g.mtx" + std::string(extension));
    for (std::size_t size = 6; size < whole.size(); ++size) {
      write_file(path, whole.substr(0, size));
      expect_refused(path, "");
    }
    for (std::size_t i = 12; i < whole.size() && std::string(name) != "zstd"; ++i) {
      auto damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
      write_file(path, damaged);
      try {
        EXPECT_EQ(loaders::load(path).edges, want) << "byte " << i;
      } catch (error const& refused) {
        EXPECT_EQ(refused.code(), error_code::bad_input) << refused.what();
      }
    }
  }
}

// Tapes and some copies pad files with zeros.
TEST(compressed_file, may_end_with_zeros_and_nothing_else) {
  temporary_folder const folder;
  for (auto const& [name, extension] : filters) {
    if (*extension == '\0') continue;
    bool const is_padded = std::string(name) != "zstd";  // which has frames for padding
    for (bool const tar : {false, true}) {
      SCOPED_TRACE(std::string(name) + (tar ? " tar" : ""));
      auto const path = folder / ((tar ? "g.tar" : "g.mtx") + std::string(extension));
      pack(path, name, tar, {{"g.mtx", text}});
      auto const whole = read_file(path);
      for (std::size_t const zeros : {4U, 512U, 100000U}) {
        write_file(path, whole + std::string(zeros, '\0'));
        if (is_padded) {
          EXPECT_EQ(loaders::load(path).edges, want) << zeros;
        } else {
          expect_refused(path, "Zstandard");
        }
      }
      for (std::string const& more :
           {std::string("more"), std::string("BZ"), std::string("\0\0\0x", 4), std::string(70000, 'x')}) {
        write_file(path, whole + more);
        expect_refused(path, "");
        if (std::string(name) != "xz" && std::string(name) != "zstd")
          expect_refused(path, "expected the end of the file after the " + std::string(name) + " data, found " +
                                   std::to_string(more.size()) + " bytes more");
      }
    }
  }
}

TEST(compressed_file, unpacks_up_to_the_limit) {
  temporary_folder const folder;
  auto const large = text + std::string(5000000, '\n');
  for (auto const& [name, extension] : filters) {
    if (*extension == '\0') continue;
    for (bool const tar : {false, true}) {
      auto const path = folder / ((tar ? "g.tar" : "g.mtx") + std::string(extension));
      pack(path, name, tar, {{"g.mtx", large}});
      EXPECT_EQ(loaders::load(path, {.unpacked_limit = large.size() + (tar ? 20480 : 0)}).edges, want);
      expect_refused(path, "expected at most", {.unpacked_limit = large.size() - 1});
      expect_refused(path, "expected at most 100 bytes of content, found more", {.unpacked_limit = 100});
    }
  }
}

// Content is unpacked in steps of 256 KiB; the last step may be full, or hold one byte.
TEST(compressed_file, unpacks_any_number_of_bytes) {
  temporary_folder const folder;
  constexpr std::size_t step = std::size_t{1} << 18;
  for (std::size_t const size : {step - 1, step, step + 1, 2 * step, 3 * step + 1}) {
    // The last edge is in the last bytes.
    std::string const all = "# " + std::string(size - 11, 'x') + "\n0 1\n2 99";
    ASSERT_EQ(all.size(), size);
    for (auto const& [name, extension] : filters)
      for (bool const tar : {false, true}) {
        SCOPED_TRACE(std::to_string(size) + extension + (tar ? " tar" : ""));
        auto const path = folder / ((tar ? "g.tar" : "g.txt") + std::string(extension));
        pack(path, name, tar, {{"g.txt", all}});
        EXPECT_EQ(loaders::load(path).ids, (std::vector<std::uint64_t>{0, 1, 2, 99}));
      }
  }
}

TEST(archive, must_contain_one_graph) {
  temporary_folder const folder;
  auto const path = folder / "g.tar.gz";
  pack(path, "gzip", true, {{"README", "no graph"}, {"link.mtx", "", "/etc/passwd"}});
  expect_refused(path, "expected one graph in the archive, or one with its name, found 0 graphs");
  pack(path, "gzip", true, {{"a/a.mtx", text}, {"b.mtx", text}});
  expect_refused(path, "found 2 graphs (\"a/a.mtx\", \"b.mtx\"); unpack it and load the file you want");
  pack(path, "gzip", true, {{"../../../tmp/../away.mtx", text}, {"g.graph", "", "../g.graph"}});
  EXPECT_EQ(loaders::load(path).edges, want) << "paths are names, and nothing is written";
  pack(path, "gzip", true, {{"g/g.mtx", "x"}});
  expect_refused(path, "g.tar.gz(g.mtx):1: expected the banner");
}

// As SuiteSparse packs them: vectors and names accompany the matrix, before or after it.
TEST(archive, may_have_files_that_accompany_the_graph_of_its_name) {
  temporary_folder const folder;
  for (std::string const name : {"g.tar.gz", "g.tgz", "g.tar", "download.tsv.g.tar.gz"}) {
    auto const title = name.substr(0, name.rfind(".t"));
    std::vector<packed_entry> const files{{title + "/" + title + "_coord.mtx", "x"},
                                          {title + "/" + title + ".mtx", text},
                                          {title + "/" + title + "_nodename.txt", "x"}};
    pack(folder / name, name == "g.tar" ? "none" : "gzip", true, files);
    EXPECT_EQ(loaders::load(folder / name).edges, want) << name;
  }
}

TEST(archive, lists_members_when_several_have_its_name) {
  temporary_folder const folder;
  auto const path = folder / "g.tar.xz";
  pack(path, "xz", true, {{"g/g.mtx", text}, {"other.mtx", text}, {"h/g.txt", "5 6"}});
  expect_refused(path, "found 2 graphs (\"g/g.mtx\", \"h/g.txt\")");
  std::vector<packed_entry> many;
  for (int i = 10; i < 40; ++i) many.push_back({std::to_string(i) + ".mtx", text});
  pack(path, "xz", true, many);
  expect_refused(path, "\"16.mtx\", \"17.mtx\" and 22 more);");
}

// tar would keep the last one of these.
TEST(archive, has_one_member_of_a_name) {
  temporary_folder const folder;
  for (std::string const second : {"g/g.mtx", "./g/g.mtx", "g/../g//g.mtx", "/g/g.mtx"}) {
    pack(folder / "g.tar.zst", "zstd", true, {{"g/g.mtx", text}, {second, "5 6"}});
    expect_refused(folder / "g.tar.zst", "expected one member \"g/g.mtx\", found another one");
  }
  pack(folder / "g.tar", "none", true, {{"g.mtx", text}, {"g.mtx", "", "elsewhere"}});
  expect_refused(folder / "g.tar", "expected one member \"g.mtx\", found another one");
}

TEST(archive, of_graphalytics_is_refused_with_advice) {
  temporary_folder const folder;
  pack(folder / "x.tar.gz", "gzip", true, {{"g/g.v", "1\n2\n"}, {"g/g.e", "1 2\n"}, {"g/g.properties", ""}});
  try {
    (void)loaders::load(folder / "x.tar.gz");
    ADD_FAILURE() << "loaded";
  } catch (error const& refused) {
    EXPECT_NE(std::string(refused.what()).find("not compressed: unpack"), std::string::npos) << refused.what();
  }
}

TEST(archive, counts_skipped_members_against_the_limit) {
  temporary_folder const folder;
  std::string const zeros(5000000, '\0');
  for (auto const& [name, extension] : filters) {
    SCOPED_TRACE(name);
    auto const path = folder / ("g.tar" + std::string(extension));
    for (bool const first : {true, false}) {
      pack(path, name, true,
           {{first ? "a.bin" : "g.mtx", first ? zeros : text}, {first ? "g.mtx" : "z.bin", first ? text : zeros}});
      EXPECT_EQ(loaders::load(path, {.unpacked_limit = 5020480}).edges, want);
      expect_refused(path, "expected at most 5000000 bytes of content, found more", {.unpacked_limit = 5000000});
    }
    std::vector<packed_entry> many(100, {"empty", ""});
    many.push_back({"g.mtx", text});
    pack(path, name, true, many);
    expect_refused(path, "expected at most 40000 bytes of content, found more", {.unpacked_limit = 40000});
  }
}

// Terminals would interpret them.
TEST(archive, shows_control_characters_of_names_escaped) {
  temporary_folder const folder;
  auto const path = folder / "x.tar.gz";
  pack(path, "gzip", true, {{"g/\x1b[31mred\n.mtx", "x"}});
  expect_refused(path, "x.tar.gz(\\x1b[31mred\\x0a.mtx):1: expected the banner");
  pack(path, "gzip", true, {{"\x1b.mtx", text}, {"b.mtx", text}});
  expect_refused(path, "found 2 graphs (\"\\x1b.mtx\", \"b.mtx\")");
  pack(path, "gzip", true, {{"\x1b.mtx", text}, {"\x1b.mtx", text}});
  expect_refused(path, "expected one member \"\\x1b.mtx\"");
}

}  // namespace
}  // namespace wyrm::tests
