// SPDX-License-Identifier: Apache-2.0
// Runs the hash join and the group-by on a device, with an allocator of the registry, and checks their results against
// serial versions. Runs on a GPU if there is one and the project is compiled with CUDA, otherwise on the CPU.
// relational [ALLOCATOR] [TUPLES]
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>
#include <wyrm/alloc/registry.hpp>
#include <wyrm/exec/device.hpp>

#include "group_by.hpp"
#include "hash_join.hpp"
#include "reference.hpp"

namespace {

using namespace relational;

template <class Space>
exec::buffer<tuple, Space> upload(Space const& space, std::vector<tuple> const& tuples) {
  exec::buffer<tuple, Space> copy(space, tuples.size());
  exec::copy_in<tuple>(space, copy.data(), tuples);
  return copy;
}
template <class T, class Space>
std::vector<T> download(Space const& space, exec::buffer<T, Space> const& values) {
  return exec::copy_out(space, values.data(), values.size());
}

template <class Allocator>
bool join(typename Allocator::space_type const& space, Allocator& pool, std::size_t n) {
  std::vector<tuple> const r = uniform_tuples(n, static_cast<std::uint32_t>(n), 1);
  std::vector<tuple> const s = uniform_tuples(n, static_cast<std::uint32_t>(n), 2);
  auto const on_r = upload(space, r);
  auto const on_s = upload(space, s);
  join_memory memory(space, n, n);
  result_lists<joined, typename Allocator::space_type> results(space, memory.tiles(), 256);
  hash_join(memory, on_r.data(), n, on_s.data(), n, pool, results);
  std::vector<joined> const pairs = download(space, results.gather());
  bool const all = results.lost() == 0;
  results.free(pool);
  bool const is_right = all && same_pairs(pairs, serial_join(r, s));
  std::printf("join of %zu and %zu tuples: %zu pairs, %s\n", n, n, pairs.size(), is_right ? "as expected" : "wrong");
  return is_right;
}

template <class Allocator>
bool group_tuples(typename Allocator::space_type const& space, Allocator& pool, std::size_t n) {
  std::vector<tuple> const tuples = normal_tuples(n, 1e5, 3);
  auto const on_device = upload(space, tuples);
  grouping by_key(space, n);
  result_lists<group, typename Allocator::space_type> results(space, by_key.tiles(), 512);
  bool const all = by_key.run(on_device.data(), n, pool, results) == 0 && results.lost() == 0;
  std::vector<group> const groups = download(space, results.gather());
  results.free(pool);
  bool const is_right = all && same_groups(groups, serial_group_by(tuples));
  std::printf("group-by of %zu tuples: %zu groups, %s\n", n, groups.size(), is_right ? "as expected" : "wrong");
  return is_right;
}

template <class Allocator>
bool run(typename Allocator::space_type const& space, std::size_t n) {
  Allocator pool(space, {.pool_bytes = (std::size_t{64} << 20) + 64 * n});
  std::printf("%s on %s\n", Allocator::name, Allocator::space_type::name);
  return join(space, pool, n) && group_tuples(space, pool, n);
}

// RELATIONAL_ALLOCATOR: the only allocator that the program is compiled for.
template <class Space>
bool run_named(Space const& space, std::string_view name, std::size_t n) {
#if defined(RELATIONAL_ALLOCATOR)
  using only = wyrm::alloc::RELATIONAL_ALLOCATOR<Space>;
  if (name != only::name)
    throw wyrm::error(wyrm::error_code::bad_argument, std::string("compiled for the allocator ") + only::name);
  return run<only>(space, n);
#else
  bool is_right = false;
  wyrm::alloc::visit<Space>(name, [&]<class Allocator>() { is_right = run<Allocator>(space, n); });
  return is_right;
#endif
}

}  // namespace

int main(int argc, char** argv) try {
  std::string_view const name = argc > 1 ? argv[1] : "corw";
  std::size_t n = 100'000;
  if (argc > 2) {
    char const* const end = argv[2] + std::strlen(argv[2]);
    auto const [at, status] = std::from_chars(argv[2], end, n);
    if (status != std::errc() || at != end) n = 0;
  }
  if (n == 0 || n > std::size_t{1} << 26) {
    std::fprintf(stderr, "expected 1 to 67108864 tuples, not '%s'\n", argv[2]);
    return 1;
  }
  bool const is_right =
      std::visit([&](auto const& space) { return run_named(space, name, n); }, exec::make_space("auto"));
  return is_right ? 0 : 1;
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
