// SPDX-License-Identifier: Apache-2.0
// Id maps on the CPU, and on simulated warps (simt_space).
#include <thread>

#include "../support/simt_space.hpp"
#include "id_map_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
using host_cases = testing::Types<id_case<exec::host_space, number_kind>, id_case<exec::host_space, string_kind>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, id_map_test, host_cases);
#endif
#if WYRM_TEST_SIMT
using simt_cases = testing::Types<id_case<simt_space, number_kind>, id_case<simt_space, string_kind>>;
INSTANTIATE_TYPED_TEST_SUITE_P(simt, id_map_test, simt_cases);
#endif

namespace {

// The values of CPython 3.11 with PYTHONHASHSEED=0, whose hash of bytes is SipHash-1-3 with the seed 0.
TEST(sip_hash, known_values) {
  auto const hash = [](std::string_view bytes) { return graph::detail::hash_of(bytes.data(), bytes.size(), {}); };
  using namespace std::string_view_literals;
  EXPECT_EQ(hash("a"), 0x407448d2b89b1813u);
  EXPECT_EQ(hash("abcdefg"), 0x6db12aae9070f506u);
  EXPECT_EQ(hash("abcdefgh"), 0x3f7b849c0b8e35eau);
  EXPECT_EQ(hash("abcdefghi"), 0xf89b34a3d11eb6e5u);
  EXPECT_EQ(hash("\xff\0\1\2\x80\7\10\11\0\0\0\0\xc8\1\2\3\4\5"sv), 0xfa95da62c847f2e0u);
  EXPECT_EQ(graph::detail::hash_of(0x0123456789abcdefu, {}), 0x8662046e52264db8u);
  EXPECT_NE(graph::detail::hash_of(5, {1, 0}), graph::detail::hash_of(5, {0, 1}));
}

template <class Kind>
void expect_same_ids_for_all_numbers_of_threads() {
  using map_type = typename Kind::template map<exec::host_space>;
  std::mt19937 random(seeded(6));
  std::vector<typename Kind::key> keys;
  for (std::size_t i = 0; i < scaled(50'000); ++i) keys.push_back(Kind::make(random() % 30'000));
  map_type one(exec::host_space(1));
  map_type many(exec::host_space(8));
  EXPECT_EQ(one.insert(keys), many.insert(keys));
  EXPECT_EQ(one.erase(keys).ids, many.erase(keys).ids);
}

TEST(id_map, does_not_depend_on_threads) {
  expect_same_ids_for_all_numbers_of_threads<number_kind>();
  expect_same_ids_for_all_numbers_of_threads<string_kind>();
}

TEST(id_map, several_threads_find) {
  graph::string_id_map<exec::host_space> map(exec::host_space(2));
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 2000; ++i) keys.push_back(string_kind::make(i));
  auto const ids = map.insert(keys);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      EXPECT_EQ(map.find(keys), ids);
      EXPECT_EQ(map.keys(ids), keys);
    });
  for (std::thread& t : threads) t.join();
}

// A string of 2^32 bytes is described, but not made: it is refused before its bytes are read.
TEST(string_id_map, strings_that_are_too_long) {
  std::uint64_t const offsets[] = {0, 2, 2 + (std::uint64_t{1} << 32)};
  char const bytes[] = {'a', 'b'};
  graph::string_id_map<exec::host_space> map(exec::host_space(1));
  graph::resident_strings const list(offsets, bytes, 2);
  try {
    map.insert(list);
    ADD_FAILURE() << "no error";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_argument);
    EXPECT_NE(std::string(e.what()).find("string 1"), std::string::npos) << e.what();
  }
  EXPECT_EQ(map.size(), 0u);
  map.insert({"ab"});
  EXPECT_EQ(map.find(list).to_host(), (std::vector<graph::vertex_id>{0, graph::no_vertex}));
  EXPECT_EQ(map.erase(list).missing, 1u);
  EXPECT_NO_THROW(map.check());
}

TEST(string_id_map, lists_of_strings) {
  graph::string_id_map<exec::host_space> map(exec::host_space(1));
  EXPECT_EQ(map.insert({"x", "", "y"}), (std::vector<graph::vertex_id>{0, 1, 2}));
  std::vector<std::string_view> const views{"", "y"};
  EXPECT_EQ(map.find(views), (std::vector<graph::vertex_id>{1, 2}));
  graph::packed_strings packed;
  packed.push_back("y");
  packed.push_back("z");
  EXPECT_EQ(map.find(packed), (std::vector<graph::vertex_id>{2, graph::no_vertex}));
}

// Arrays by id reach to the largest one.
TEST(id_map, ids_with_large_gaps) {
  graph::id_map<exec::host_space> map(exec::host_space(1));
  std::vector<std::uint64_t> const keys{1, 2, 3};
  map.insert(keys, [](std::size_t) { return std::vector<graph::vertex_id>{1, 6'000'000, 0}; });
  EXPECT_EQ(map.ids_end(), 6'000'001u);
  EXPECT_EQ(map.find(keys), (std::vector<graph::vertex_id>{1, 6'000'000, 0}));
}

}  // namespace

}  // namespace wyrm::tests
