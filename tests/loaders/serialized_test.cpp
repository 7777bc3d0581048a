// SPDX-License-Identifier: Apache-2.0
// Tests files of the GAP benchmark suite against independent readers, damaged ones byte by byte, and compressed output
// of all formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/loaders.hpp"
#include "../../loaders/writers.hpp"
#include "../support/seed.hpp"
#include "any_bytes.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

namespace fs = std::filesystem;
using arc = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // source, target, weight

/// The content of a serialized graph, read number by number in the order of the specification.
struct gap_graph {
  bool directed = false;
  std::int64_t vertices = 0;
  std::vector<arc> out;
  std::vector<arc> in;
};

class number_stream {
 public:
  explicit number_stream(std::string const& bytes) : bytes_(bytes) {}
  std::int64_t next(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes_.at(at_ + i))} << (8 * i);
    at_ += size;
    return size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
  }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string const& bytes_;
  std::size_t at_ = 0;
};

gap_graph read_serialized(std::string const& bytes, bool weighted) {
  number_stream numbers(bytes);
  gap_graph g;
  g.directed = numbers.next(1) == 1;
  auto const arcs = numbers.next(8);
  g.vertices = numbers.next(8);
  for (auto* const rows : {&g.out, &g.in}) {
    if (rows == &g.in && !g.directed) break;
    std::vector<std::int64_t> offsets;
    for (std::int64_t v = 0; v <= g.vertices; ++v) offsets.push_back(numbers.next(8));
    EXPECT_EQ(offsets.front(), 0);
    EXPECT_EQ(offsets.back(), arcs);
    for (std::int64_t v = 0; v < g.vertices; ++v) {
      auto const first = rows->size();
      for (auto i = offsets.at(static_cast<std::size_t>(v)); i < offsets.at(static_cast<std::size_t>(v) + 1); ++i) {
        auto const target = numbers.next(4);
        rows->emplace_back(v, target, weighted ? numbers.next(4) : 0);
      }
      EXPECT_TRUE(std::is_sorted(rows->begin() + static_cast<std::ptrdiff_t>(first), rows->end(),
                                 [](arc const& a, arc const& b) { return std::get<1>(a) < std::get<1>(b); }));
    }
    std::sort(rows->begin(), rows->end());
  }
  EXPECT_TRUE(numbers.at_end());
  return g;
}

graph::edge_list sample(bool directed, bool weighted, std::size_t edges = 400) {
  std::mt19937 random(seeded(281));
  graph::edge_list list;
  list.vertices = 60;
  list.directed = directed;
  auto const vertex = [&] { return static_cast<graph::vertex_id>(random() % 60); };
  for (std::size_t i = 0; i < edges; ++i) list.edges.push_back({vertex(), vertex()});
  if (weighted)
    for (std::size_t i = 0; i < edges; ++i) list.weights.push_back(static_cast<std::int32_t>(random()));
  if (weighted && edges > 3) {
    list.weights[0] = std::numeric_limits<std::int32_t>::min();
    list.weights[1] = std::numeric_limits<std::int32_t>::max();
    list.weights[2] = 100000;  // 1e+05 in the shortest form of a double
  }
  list.edges.back().target = 59;
  return list;
}

std::vector<arc> arcs_of(graph::edge_list const& list, bool both, bool reversed = false) {
  std::vector<arc> all;
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    auto const [source, target] = list.edges[i];
    auto const weight = list.weights.empty() ? 0 : static_cast<std::int64_t>(list.weights[i]);
    if (!reversed) all.emplace_back(source, target, weight);
    if (reversed || (both && source != target)) all.emplace_back(target, source, weight);
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(serialized, has_the_rows_of_the_graph) {
  temporary_folder const folder;
  for (bool const directed : {false, true}) {
    for (bool const weighted : {false, true}) {
      SCOPED_TRACE(std::string(directed ? "directed " : "") + (weighted ? "weighted" : ""));
      auto const list = sample(directed, weighted);
      auto const path = folder / (weighted ? "g.wsg" : "g.sg");
      auto const written = loaders::write(list, path);
      EXPECT_EQ(written, fs::file_size(path));
      auto const g = read_serialized(read_file(path), weighted);
      EXPECT_EQ(g.directed, directed);
      EXPECT_EQ(g.vertices, 60);
      EXPECT_EQ(g.out, arcs_of(list, !directed));
      EXPECT_EQ(g.in, directed ? arcs_of(list, false, true) : std::vector<arc>());
      auto const back = loaders::load(path);
      EXPECT_EQ(back.directed, directed);
      EXPECT_EQ(back.vertices, 60U);
      EXPECT_EQ(back.edges.size(), list.edges.size());
      EXPECT_EQ(back.weights.size(), list.weights.size());
      EXPECT_EQ(arcs_of(back, !directed), arcs_of(list, !directed));
      loaders::options const firsts{.remove_duplicates = true};  // of equal edges the first has the weight that counts
      EXPECT_EQ(arcs_of(loaders::adjusted(back, firsts), !directed),
                arcs_of(loaders::adjusted(list, firsts), !directed));
    }
  }
}

TEST(serialized, may_be_empty) {
  temporary_folder const folder;
  for (std::size_t const vertices : {0U, 1U, 2U}) {
    for (bool const directed : {false, true}) {
      graph::edge_list list;
      list.vertices = vertices;
      list.directed = directed;
      for (char const* const name : {"g.sg", "g.wsg"}) {
        loaders::write(list, folder / name);
        auto const back = loaders::load(folder / name);
        EXPECT_EQ(back.vertices, vertices);
        EXPECT_EQ(back.directed, directed);
        EXPECT_TRUE(back.edges.empty());
      }
    }
  }
}

std::string refusal(std::string const& bytes) {
  try {
    (void)loaders::parse("g.sg", bytes, loaders::file_format::serialized);
    return "";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_input) << e.what();
    return e.what();
  }
}

TEST(serialized, damage_is_refused_or_another_graph) {
  temporary_folder const folder;
  for (bool const directed : {false, true}) {
    for (bool const weighted : {false, true}) {
      auto const path = folder / (weighted ? "g.wsg" : "g.sg");
      auto list = sample(directed, weighted, 40);
      for (auto& [source, target] : list.edges) target += source == target ? (source > 0 ? -1U : 1U) : 0U;
      loaders::write(list, path);
      auto const bytes = read_file(path);
      for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_NE(refusal(bytes.substr(0, size)), "") << size;
      EXPECT_NE(refusal(bytes + '\0'), "");
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (int const flip : {1, 0x40, 0x80, 0xff}) {
          auto damaged = bytes;
          damaged[i] = static_cast<char>(damaged[i] ^ flip);
          EXPECT_EQ(load_any_bytes("serialized", damaged), "") << i;
          if (i == 0) continue;
          EXPECT_NE(refusal(damaged), "") << "each edge, no self-loop, is in the file twice; byte " << i;
        }
      }
    }
  }
}

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

TEST(serialized, errors_have_the_byte) {
  temporary_folder const folder;
  graph::edge_list list;
  list.vertices = 3;
  list.edges = {{0, 1}, {1, 2}};
  loaders::write(list, folder / "g.sg");
  auto const bytes = read_file(folder / "g.sg");
  ASSERT_EQ(bytes.size(), 17U + 4 * 8 + 4 * 4);
  auto const broken = [&](auto const& change, std::string const& message) {
    auto other = bytes;
    change(other);
    EXPECT_EQ(refusal(other).rfind("g.sg: byte " + message, 0), 0U) << refusal(other);
  };
  broken([](auto& b) { b.resize(16); }, "16: expected a header of 17 bytes, found the end of the file; ");
  broken([](auto& b) { b[0] = 2; }, "0: expected 1 for a directed graph, or 0, found 2; ");
  broken([](auto& b) { put(b, 1, std::int64_t{-1}); },
         "1: expected a number of arcs that a file of this size can hold");
  broken([](auto& b) { put(b, 1, std::int64_t{1} << 62); }, "1: expected a number of arcs");
  broken([](auto& b) { put(b, 9, std::int64_t{-5}); }, "9: expected a number of vertices that a file of this size");
  broken([](auto& b) { put(b, 9, std::int64_t{1} << 61); }, "9: expected a number of vertices");
  broken([](auto& b) { b += "1234"; }, "69: expected 65 bytes, or 81 with weights, as the header says, found 69; ");
  broken([](auto& b) { put(b, 17, std::int64_t{1}); }, "17: expected an offset from 0 to 0, found 1; ");
  broken([](auto& b) { put(b, 33, std::int64_t{0}); }, "33: expected an offset from 1 to 4, found 0; ");
  broken([](auto& b) { put(b, 41, std::int64_t{3}); }, "41: expected an offset from 4 to 4, found 3; ");
  broken([](auto& b) { put(b, 49, std::int32_t{3}); }, "49: expected an id below 3, found 3; ");
  broken([](auto& b) { put(b, 49, std::int32_t{-1}); }, "49: expected an id below 3, found -1; ");
  broken([](auto& b) { put(b, 61, std::int32_t{0}); },
         "49: expected each edge of an undirected graph in the rows of both");
  list.directed = true;
  loaders::write(list, folder / "d.sg");
  auto directed = read_file(folder / "d.sg");
  put(directed, directed.size() - 4, std::int32_t{0});
  EXPECT_NE(refusal(directed).find("rows of in-neighbours that are the opposite"), std::string::npos);
}

std::string write_refusal(graph::edge_list const& list, fs::path const& path) {
  try {
    loaders::write(list, path);
    return "";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_argument) << e.what();
    EXPECT_FALSE(fs::exists(path));
    return e.what();
  }
}

TEST(gap, weights_are_whole_numbers_of_32_bits) {
  temporary_folder const folder;
  for (char const* const name : {"g.wel", "g.wsg"}) {
    for (double const wrong :
         {0.5, 2147483648.0, -2147483649.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
      auto list = sample(true, true);
      list.first_id = 10;
      list.edges[7] = {3, 4};
      list.weights[7] = wrong;
      list.weights[9] = 0.25;
      EXPECT_NE(write_refusal(list, folder / name).find(" of the edge 13 -> 14; round the weights"), std::string::npos)
          << write_refusal(list, folder / name);
    }
    EXPECT_NE(write_refusal(sample(true, false), folder / name).find("edges without weights"), std::string::npos);
    auto timed = sample(true, true);
    timed.times.resize(timed.edges.size());
    EXPECT_NE(write_refusal(timed, folder / name).find("times"), std::string::npos);
  }
  for (char const* const name : {"g.el", "g.sg"})
    EXPECT_NE(write_refusal(sample(true, true), folder / name).find("weights; write .wel"), std::string::npos);
  auto large = sample(true, false);
  large.vertices = std::size_t{1} << 31;
  EXPECT_NE(write_refusal(large, folder / "g.sg").find("more than 2147483647 vertices"), std::string::npos);
}

TEST(gap, text_is_that_of_the_suite) {
  temporary_folder const folder;
  for (bool const weighted : {false, true}) {
    auto const list = sample(true, weighted);
    auto const path = folder / (weighted ? "g.wel" : "g.el");
    loaders::write(list, path);
    std::istringstream text(read_file(path));  // read as the suite does
    std::vector<arc> read;
    for (std::int32_t source = 0, target = 0, weight = 0; text >> source >> target && (!weighted || text >> weight);)
      read.emplace_back(source, target, weight);
    EXPECT_TRUE(text.eof());
    std::sort(read.begin(), read.end());
    EXPECT_EQ(read, arcs_of(list, false));
    auto const back = loaders::load(path);
    EXPECT_EQ(back.edges, list.edges);
    EXPECT_EQ(back.weights, list.weights);
  }
  auto lone = sample(true, false);
  ++lone.vertices;
  EXPECT_NE(write_refusal(lone, folder / "lone.el").find("a last vertex without edges, such as 60"), std::string::npos);
  EXPECT_NE(write_refusal(sample(false, false), folder / "u.el").find("undirected graphs"), std::string::npos);
  graph::edge_list none;
  none.vertices = 2;
  none.directed = true;
  EXPECT_NE(write_refusal(none, folder / "n.el").find("without edges"), std::string::npos);
}

std::string output_of(std::string const& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (auto const got = fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, got);
  return pclose(pipe) == 0 ? text : "the command failed";
}

TEST(compressed_output, unpacks_to_the_same_bytes) {
  temporary_folder const folder;
  auto list = sample(true, true);
  for (std::uint32_t v = 0; v < 60; ++v) list.edges.push_back({v, 59 - v}), list.weights.push_back(v);
  std::map<std::string, std::string> const programs{
      {".gz", "gzip"}, {".bz2", "bzip2"}, {".xz", "xz"}, {".ZST", "zstd"}};
  int unpacked = 0;
  for (auto const& [extension, program] : programs) {
    for (char const* const name : {"g.mtx", "g.txt", "g.wel", "g.wsg", "g.wyrm"}) {
      SCOPED_TRACE(name + extension);
      auto const path = folder / (name + extension);
      auto const plain = loaders::write(list, folder / name);
      EXPECT_EQ(loaders::write(list, path), plain);
      auto const bytes = read_file(path);
      EXPECT_NE(bytes, read_file(folder / name));
      auto const back = loaders::load(path);
      EXPECT_EQ(arcs_of(back, false), arcs_of(list, false));
      loaders::write(list, path);
      EXPECT_EQ(read_file(path), bytes) << "equal graphs, equal bytes";
      if (std::system(("command -v " + program + " >/dev/null").c_str()) != 0) continue;
      EXPECT_TRUE(output_of(program + " -dc < " + path.string()) == read_file(folder / name));
      ++unpacked;
    }
  }
  EXPECT_GT(unpacked, 0);
}

TEST(compressed_output, damage_is_refused) {
  temporary_folder const folder;
  auto const list = sample(true, false, 30);
  for (char const* const name : {"g.mtx.gz", "g.mtx.bz2", "g.mtx.xz", "g.mtx.zst"}) {
    loaders::write(list, folder / name);
    auto const bytes = read_file(folder / name);
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      auto const cut = folder.write("cut.mtx", bytes.substr(0, size));
      EXPECT_THROW((void)loaders::load(cut), error) << name << ' ' << size;
    }
  }
}

TEST(compressed_output, a_full_disk_is_an_error) {
  temporary_folder const folder;
  for (char const* const name : {"g.mtx.gz", "g.mtx.bz2", "g.mtx.xz", "g.mtx.zst"}) {
    fs::create_symlink("/dev/full", folder / name);
    try {
      loaders::write(sample(true, false), folder / name);
      ADD_FAILURE() << name;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::io);
      EXPECT_NE(std::string(e.what()).find("No space left on device"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace wyrm::tests
