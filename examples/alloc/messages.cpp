// SPDX-License-Identifier: Apache-2.0
// Producers and consumers of messages in one kernel: a message is a block of any length that one thread allocates, and
// another thread reads and frees. A mailbox is a stack: producers push by compare-and-swap, and a consumer takes all
// messages by one exchange, so that no thread waits for another.
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
constexpr std::size_t mailboxes = 64;

// The text of the message follows.
struct message {
  message* next;
  std::uint32_t length;
  [[nodiscard]] WYRM_HD unsigned char* text() { return reinterpret_cast<unsigned char*>(this + 1); }
};

struct counters {
  std::uint64_t sent;
  std::uint64_t received;
  std::uint64_t sum_sent;  // of all bytes of all texts
  std::uint64_t sum_received;
  std::uint64_t refused;
};

WYRM_HD void add(std::uint64_t& counter, std::uint64_t n) {
  atomic_ref<std::uint64_t>(counter).fetch_add(n, wyrm::exec::relaxed);
}

struct exchange_messages {
  message** boxes;
  counters* count;
  std::size_t producers;

  // Every third item is a consumer; without producers all items are.
  WYRM_HD void operator()(std::size_t i) const {
    if (i % 3 == 2 || i >= producers)
      receive(i % mailboxes);
    else
      send(i);
  }
  WYRM_HD void send(std::size_t i) const {
    auto const length = static_cast<std::uint32_t>(1 + i * 37 % 500);
    auto* const m = static_cast<message*>(wyrm::malloc(sizeof(message) + length));
    if (m == nullptr) return add(count->refused, 1);
    m->length = length;
    std::uint64_t sum = 0;
    for (std::uint32_t k = 0; k < length; ++k) sum += m->text()[k] = static_cast<unsigned char>(i + k);
    add(count->sent, 1);
    add(count->sum_sent, sum);
    atomic_ref<message*> box(boxes[i * 7 % mailboxes]);
    message* first = box.load(wyrm::exec::relaxed);
    do m->next = first;
    while (!box.compare_exchange_weak(first, m, wyrm::exec::release, wyrm::exec::relaxed));
  }
  WYRM_HD void receive(std::size_t box) const {
    message* m = atomic_ref<message*>(boxes[box]).exchange(nullptr, wyrm::exec::acquire);
    while (m != nullptr) {
      std::uint64_t sum = 0;
      for (std::uint32_t k = 0; k < m->length; ++k) sum += m->text()[k];
      add(count->received, 1);
      add(count->sum_received, sum);
      message* const next = m->next;
      wyrm::free(m);
      m = next;
    }
  }
};

template <class Space>
int run(Space const& space) {
  constexpr std::size_t producers = 100'000;
  wyrm::alloc::global_allocator<Space> pool(space, {.pool_bytes = std::size_t{64} << 20});
  wyrm::alloc::set_global(pool);
  wyrm::exec::buffer<message*, Space> boxes(space, mailboxes);
  wyrm::exec::buffer<counters, Space> count(space, 1);
  space.fill(boxes.data(), 0, boxes.bytes());
  space.fill(count.data(), 0, count.bytes());
  exchange_messages const work{boxes.data(), count.data(), producers};
  wyrm::exec::for_each(space, producers, work);
  wyrm::exec::for_each(space, mailboxes, exchange_messages{boxes.data(), count.data(), 0});  // what is left

  counters const c = wyrm::exec::read(space, count.data());
  wyrm::alloc::statistics const s = pool.stats();
  std::printf("messages on %s: %llu sent, %llu received, %llu refused; %zu bytes are left\n", Space::name,
              static_cast<unsigned long long>(c.sent), static_cast<unsigned long long>(c.received),
              static_cast<unsigned long long>(c.refused), s.granted);
  wyrm::alloc::unset_global(pool);
  bool const all = c.sent + c.refused == producers - producers / 3 && c.received == c.sent;
  return all && c.sum_sent == c.sum_received && c.refused == 0 && s.granted == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return on_space(argc, argv, [](auto const& space) { return run(space); });
}
