// SPDX-License-Identifier: Apache-2.0
// A hash table with chaining that threads fill at the same time: each entry is an object from wyrm::make, pushed to the
// front of its bucket's list by compare-and-swap. Then threads look keys up, and a last kernel destroys all entries.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <wyrm/alloc.hpp>
#include <wyrm/exec/atomic.hpp>
#include <wyrm/exec/launch.hpp>
#include <wyrm/exec/memory.hpp>

#include "on_space.hpp"

namespace {

using wyrm::exec::atomic_ref;

struct entry {
  WYRM_HD entry(std::uint64_t k, std::uint64_t v) : key(k), value(v) {}
  std::uint64_t key;
  std::uint64_t value;
  entry* next = nullptr;
};

struct table {
  entry** buckets;
  std::size_t count;  // a power of two

  [[nodiscard]] WYRM_HD entry*& bucket(std::uint64_t key) const {
    return buckets[(key * 0x9e3779b97f4a7c15u >> 32) & (count - 1)];
  }
  // False if there is no memory for the entry. A key that is inserted twice has two entries; find() returns the last.
  WYRM_HD bool insert(std::uint64_t key, std::uint64_t value) const {
    entry* const e = wyrm::make<entry>(key, value);
    if (e == nullptr) return false;
    atomic_ref<entry*> head(bucket(key));
    entry* first = head.load(wyrm::exec::relaxed);
    do e->next = first;
    while (!head.compare_exchange_weak(first, e, wyrm::exec::release, wyrm::exec::relaxed));
    return true;
  }
  [[nodiscard]] WYRM_HD entry const* find(std::uint64_t key) const {
    entry const* e = atomic_ref<entry*>(bucket(key)).load(wyrm::exec::acquire);
    while (e != nullptr && e->key != key) e = e->next;
    return e;
  }
};

struct insert_squares {
  table t;
  WYRM_HD void operator()(std::size_t i) const { (void)t.insert(3 * i, i * i); }
};
struct look_up {
  table t;
  std::uint32_t* wrong;
  WYRM_HD void operator()(std::size_t i) const {
    entry const* const there = t.find(3 * i);
    bool const good = there != nullptr && there->value == i * i && t.find(3 * i + 1) == nullptr;
    if (!good) atomic_ref<std::uint32_t>(*wrong).fetch_add(1, wyrm::exec::relaxed);
  }
};
struct clear {
  table t;
  WYRM_HD void operator()(std::size_t i) const {
    entry* e = t.buckets[i];
    t.buckets[i] = nullptr;
    while (e != nullptr) {
      entry* const next = e->next;
      wyrm::destroy(e);
      e = next;
    }
  }
};

template <class Space>
int run(Space const& space) {
  constexpr std::size_t keys = 100'000;
  constexpr std::size_t buckets = std::size_t{1} << 16;
  wyrm::alloc::global_allocator<Space> pool(space, {.pool_bytes = std::size_t{16} << 20});
  wyrm::alloc::set_global(pool);
  wyrm::exec::buffer<entry*, Space> heads(space, buckets);
  wyrm::exec::buffer<std::uint32_t, Space> wrong(space, 1);
  space.fill(heads.data(), 0, heads.bytes());
  wyrm::exec::write(space, wrong.data(), 0u);

  table const t{heads.data(), buckets};
  wyrm::exec::for_each(space, keys, insert_squares{t});
  wyrm::exec::for_each(space, keys, look_up{t, wrong.data()});
  std::size_t const granted = pool.stats().granted;
  wyrm::exec::for_each(space, buckets, clear{t});

  std::uint32_t const bad = wyrm::exec::read(space, wrong.data());
  wyrm::alloc::statistics const s = pool.stats();
  std::printf("hash_table on %s: %zu entries had %zu KiB, %u wrong answers, %zu bytes are left\n", Space::name, keys,
              granted >> 10, bad, s.granted);
  wyrm::alloc::unset_global(pool);
  return bad == 0 && s.failures == 0 && s.granted == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return on_space(argc, argv, [](auto const& space) { return run(space); });
}
