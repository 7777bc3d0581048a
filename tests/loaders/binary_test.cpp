// SPDX-License-Identifier: Apache-2.0
// Tests Wyrm's own files: the layout in docs/formats.md, and violations of each of its rules. The checksum detects
// damaged bytes; files that violate rules with a correct checksum are refused as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../../exec/error.hpp"
#include "../../loaders/binary.hpp"
#include "../../loaders/loaders.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

using loaders::file_format;

template <class T>
void put(std::string& file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof(T));
}
template <class T>
T get(std::string const& file, std::size_t at) {
  T value{};
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

// The positions in a file with three vertices, two edges and all arrays.
constexpr std::size_t version_at = 8, flags_at = 12, vertices_at = 16, edges_at = 24, name_bytes_at = 32, stamp_at = 40,
                      stamp_name_at = 44, first_id_at = 48;
constexpr std::size_t checksum_at = 56, edge_at = 64, weight_at = 80, time_at = 96, id_at = 112, name_at = 136;

std::string sample() {
  temporary_folder const folder;
  graph::edge_list list;
  list.vertices = 3;
  list.directed = true;
  list.edges = {{2, 0}, {0, 1}};
  list.weights = {0.5, -1};
  list.times = {7, 8};
  list.ids = {10, 20, 30};
  list.names = {"a", "", "b c"};
  loaders::write_binary(list, folder / "g.wyrm", {99, 98});
  return read_file(folder / "g.wyrm");
}

graph::edge_list parsed(std::string const& file) { return loaders::parse("g.wyrm", file, file_format::binary); }

void seal(std::string& file) {
  loaders::options const settings;
  loaders::progress const silent;
  put(file, checksum_at, loaders::detail::binary_checksum({"g.wyrm", file, settings, silent}));
}

void expect_refused(std::string const& file, std::string const& message) {
  try {
    (void)parsed(file);
    ADD_FAILURE() << "it was loaded, not refused with: " << message;
  } catch (error const& refused) {
    EXPECT_EQ(refused.code(), error_code::bad_input);
    EXPECT_EQ(std::string(refused.what()).rfind("g.wyrm: byte " + message, 0), 0U) << refused.what();
  }
}

TEST(binary_file, has_the_documented_layout) {
  auto const file = sample();
  EXPECT_EQ(file.substr(0, 8), "\x89WYRM\r\n\x1a");
  EXPECT_EQ(get<std::uint32_t>(file, version_at), 1U);
  EXPECT_EQ(get<std::uint32_t>(file, flags_at), 31U);
  EXPECT_EQ(get<std::uint64_t>(file, vertices_at), 3U);
  EXPECT_EQ(get<std::uint64_t>(file, edges_at), 2U);
  EXPECT_EQ(get<std::uint64_t>(file, name_bytes_at), 7U);
  EXPECT_EQ(get<std::uint32_t>(file, stamp_at), 99U);
  EXPECT_EQ(get<std::uint32_t>(file, stamp_name_at), 98U);
  EXPECT_EQ(get<std::uint32_t>(file, edge_at), 2U);
  EXPECT_EQ(get<std::uint32_t>(file, edge_at + 12), 1U);
  EXPECT_EQ(get<double>(file, weight_at + 8), -1);
  EXPECT_EQ(get<double>(file, time_at), 7);
  EXPECT_EQ(get<std::uint64_t>(file, id_at + 16), 30U);
  EXPECT_EQ(file.substr(name_at), std::string("a\0\0b c\0", 7));
  auto const list = parsed(file);
  EXPECT_EQ(list.names, (std::vector<std::string>{"a", "", "b c"}));
  EXPECT_EQ(list.ids, (std::vector<std::uint64_t>{10, 20, 30}));
}

// Ids that are consecutive in the source; files without a first id have 0 in its place.
TEST(binary_file, keeps_the_first_id) {
  temporary_folder const folder;
  graph::edge_list list;
  list.vertices = 2;
  list.edges = {{0, 1}};
  for (std::uint64_t const first : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{18446744073709551614U}}) {
    list.first_id = first;
    loaders::write_binary(list, folder / "g.wyrm");
    auto const file = read_file(folder / "g.wyrm");
    EXPECT_EQ(get<std::uint64_t>(file, first_id_at), first);
    EXPECT_EQ(parsed(file).first_id, first);
  }
}

TEST(binary_file, is_refused_when_any_byte_is_damaged_or_missing) {
  auto const file = sample();
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (char const flip : {'\x01', '\x80', '\xff'}) {
      auto damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      EXPECT_THROW((void)parsed(damaged), error) << "byte " << i;
    }
    EXPECT_THROW((void)parsed(file.substr(0, i)), error) << i << " bytes";
  }
  expect_refused(file + "x", "143: expected the end of the file, found 1 bytes more");
}

TEST(binary_file, breaks_every_rule_once) {
  auto const whole = sample();
  auto const broken = [&](auto const& change, std::string const& message, bool sealed = false) {
    auto file = whole;
    change(file);
    if (sealed) seal(file);
    expect_refused(file, message);
  };
  broken([](auto& f) { f.clear(); }, "0: expected the signature of a Wyrm file, found something else");
  broken([](auto& f) { f.resize(63); }, "63: expected a header of 64 bytes, found the end of the file");
  broken([](auto& f) { put(f, version_at, 2U); }, "8: expected version 1, found 2; write the file again");
  broken([](auto& f) { put(f, flags_at, 63U); }, "12: expected known flags, found 63");
  broken([](auto& f) { put(f, vertices_at, std::uint64_t{1} << 32); },
         "16: expected at most 4294967295 vertices, found 4294967296");
  broken([](auto& f) { put(f, first_id_at, std::uint64_t{18446744073709551614U}); },
         "48: expected a first id from which all ids are below 2^64, found 18446744073709551614");
  broken([](auto& f) { put(f, edges_at, std::uint64_t{1000000000000000000}); },
         "64: expected 1000000000000000000 values of 8 bytes, found 79 bytes to the end of the file");
  broken([](auto& f) { put(f, edges_at, ~std::uint64_t{0}); }, "64: expected 18446744073709551615 values of 8 bytes");
  broken([](auto& f) { put(f, vertices_at, std::uint64_t{4000000000}); }, "112: expected 4000000000 values of 8 bytes");
  broken([](auto& f) { put(f, name_bytes_at, std::uint64_t{8}); }, "136: expected 8 values of 1 bytes, found 7 bytes");
  broken([](auto& f) { put(f, name_bytes_at, std::uint64_t{0}); }, "32: expected names and the flag for them, found 0");
  broken([](auto& f) { put(f, weight_at, 3.0); }, "56: expected the checksum of the content, found another one");
  for (std::size_t const at : {stamp_at, stamp_name_at})
    broken([at](auto& f) { put(f, at, 3U); }, "56: expected the checksum of the content, found another one");
  broken([](auto& f) { put(f, edge_at + 4, 3U); }, "64: expected ids below 3, found a larger one", true);
  broken([](auto& f) { put(f, time_at, std::numeric_limits<double>::infinity()); },
         "64: expected finite times, found others", true);
  broken([](auto& f) { put(f, time_at, std::nan("")); }, "64: expected finite times, found others", true);
  broken([](auto& f) { f[name_at + 1] = 'x'; }, "136: expected 3 names, each followed by a NUL, found 2", true);
  broken([](auto& f) { f.back() = 'x'; }, "136: expected 3 names, each followed by a NUL, found 2", true);
}

// The checksum is computed over blocks of 64 KiB. Each array here has three, of which the last one is shorter.
TEST(binary_file, of_several_blocks_is_refused_when_a_bit_of_any_is_damaged) {
  constexpr std::size_t block = std::size_t{1} << 16;
  constexpr std::size_t edge_count = 20000;
  constexpr std::size_t edge_bytes = edge_count * 8;
  static_assert(edge_bytes > 2 * block && edge_bytes < 3 * block);
  temporary_folder const folder;
  graph::edge_list list;
  list.vertices = edge_count;
  list.directed = true;
  for (std::uint32_t i = 0; i < edge_count; ++i) {
    list.edges.push_back({i, (i * 7 + 1) % std::uint32_t{edge_count}});
    list.weights.push_back(i + 0.5);
    list.times.push_back(i + 1e6);
    list.ids.push_back(std::uint64_t{3} * i);
    list.names.push_back("v" + std::to_string(100000 + i));
  }
  loaders::write_binary(list, folder / "g.wyrm");
  auto const file = read_file(folder / "g.wyrm");
  ASSERT_EQ(file.size(), 64 + 4 * edge_bytes + edge_count * 8);
  EXPECT_EQ(parsed(file).edges, list.edges);
  EXPECT_EQ(parsed(file).names, list.names);

  std::string const message = "56: expected the checksum of the content, found another one";
  for (std::size_t array = 0; array < 5; ++array) {
    std::size_t const begin = 64 + array * edge_bytes;
    for (std::size_t const at : {std::size_t{0}, std::size_t{5}, block - 1, block, block + block / 2, 2 * block - 1,
                                 2 * block, edge_bytes - 9, edge_bytes - 1}) {
      SCOPED_TRACE("array " + std::to_string(array) + ", byte " + std::to_string(at));
      auto damaged = file;
      damaged[begin + at] = static_cast<char>(damaged[begin + at] ^ 1);
      expect_refused(damaged, message);
    }
    // Whole blocks in another order.
    auto damaged = file;
    std::swap_ranges(damaged.begin() + static_cast<std::ptrdiff_t>(begin),
                     damaged.begin() + static_cast<std::ptrdiff_t>(begin + block),
                     damaged.begin() + static_cast<std::ptrdiff_t>(begin + block));
    expect_refused(damaged, message);
  }
}

}  // namespace
}  // namespace wyrm::tests
