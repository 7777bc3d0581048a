// SPDX-License-Identifier: Apache-2.0
// The mailbox of align-malloc in every interleaving of a few clients with the host, with few preemptions. The host has
// two spaces. Clients write to their spaces, so a hand-over that orders too little is a data race.
#include "../support/interleave.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../alloc/align/mailbox.hpp"
#include "../../exec/host_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using alloc::mail;
using alloc::mailbox_ref;
using host = exec::host_space;

constexpr std::uint32_t spaces = 2;
constexpr std::uint64_t for_ever = ~std::uint64_t{0} / 2;
constexpr std::uint64_t not_at_all = 0;  // a client looks for the answer once

struct stage {
  stage(std::uint32_t slots, std::uint64_t limit, std::size_t clients)
      : box(host(1), slots, limit), has(clients, mailbox_ref::no_slot), clients_left(clients) {
    box.set_serving(true);
  }

  // The host.
  void serve() {
    box.serve([&](mail const& m) -> mail {
      if (m.what() == mail::kind::free) {
        EXPECT_TRUE(taken[m.value()]) << "a space is freed twice";
        taken[m.value()] = false;
        return {0, mail::kind::done, 0};
      }
      EXPECT_EQ(m.what(), mail::kind::allocate);
      EXPECT_EQ(m.value(), 7u);
      for (std::uint32_t s = 0; s < spaces; ++s)
        if (!taken[s]) return taken[s] = true, mail(0, mail::kind::space, s);
      return {0, mail::kind::refused, 0};
    });
  }
  void serve_until_all_are_done() {
    while (clients_left > 0) {
      serve();
      exec::pause(0);
    }
  }

  // Clients. They pause after so many slots that they find taken.
  [[nodiscard]] mailbox_ref client() const {
    alloc::mailbox_words words = box.words();
    words.slots_of_one = slots_at_once;
    return mailbox_ref(words);
  }
  void allocate(std::size_t self) {
    mail const m = client().ask(mail::kind::allocate, 7);
    if (m.what() != mail::kind::space) return;
    has[self] = m.value();
    touch(&memory[m.value()], sizeof(int));
  }
  void free(std::size_t self) {
    if (has[self] == mailbox_ref::no_slot) return;
    touch(&memory[has[self]], sizeof(int));
    mailbox_ref::ticket const t = client().post(mail::kind::free, has[self]);
    if (t.slot == mailbox_ref::no_slot) return;  // the client still has the space
    mail const m = client().wait(t);
    EXPECT_TRUE(m.what() == mail::kind::done || m.what() == mail::kind::none);
    has[self] = mailbox_ref::no_slot;
  }
  [[nodiscard]] unsigned held() const {
    unsigned n = 0;
    for (std::uint32_t const s : has) n += s != mailbox_ref::no_slot;
    return n;
  }

  // No two clients have the same space. After the host has answered all, each other space can be allocated, or is in an
  // answer that came too late, in a slot that no client has used since.
  void verify() {
    unsigned owners[spaces] = {};
    for (std::uint32_t const s : has)
      if (s != mailbox_ref::no_slot) ++owners[s];
    for (std::uint32_t s = 0; s < spaces; ++s) EXPECT_LE(owners[s], 1u) << "a space has two owners";
    box.set_serving(true);
    alloc::mailbox_words words = box.words();
    words.limit = not_at_all;
    mailbox_ref const client(words);
    unsigned found = 0;
    for (int attempt = 0; attempt < 12; ++attempt) {
      serve();
      mailbox_ref::ticket const t = client.post(mail::kind::allocate, 7);
      serve();
      if (mail const m = client.wait(t); m.what() == mail::kind::space) ++owners[m.value()], ++found;
    }
    for (std::uint32_t slot = 0; slot < words.slots; ++slot)
      if (mail const late(words.answers[slot]);
          mailbox_ref::is_abandoned(words.owners[slot]) && late.what() == mail::kind::space)
        ++owners[late.value()];
    for (std::uint32_t s = 0; s < spaces; ++s) EXPECT_EQ(owners[s], 1u) << "space " << s;
    EXPECT_TRUE(found == spaces - held() || words.slots > 1);
  }

  alloc::mailbox<host> box;
  bool taken[spaces] = {};
  int memory[spaces] = {};
  std::vector<std::uint32_t> has;
  std::size_t clients_left;
  std::uint32_t slots_at_once = 1;
};

using action = std::function<void(stage&, std::size_t self)>;
action const takes = [](stage& s, std::size_t self) { s.allocate(self); };
action const takes_and_frees = [](stage& s, std::size_t self) { s.allocate(self), s.free(self); };
action const takes_twice = [](stage& s, std::size_t self) {
  s.allocate(self), s.free(self);
  if (s.has[self] == mailbox_ref::no_slot) s.allocate(self);
};

struct scenario {
  std::uint32_t slots;
  std::uint64_t limit;
  std::vector<action> clients;
  std::function<void(stage&)> host;
  std::function<void(stage const&)> expect;
  std::uint32_t slots_at_once = 1;
};

void explore(scenario const& s, unsigned preemptions, std::size_t horizon = 60) {
  std::unique_ptr<stage> now;
  auto const make = [&] {
    now = std::make_unique<stage>(s.slots, s.limit, s.clients.size());
    now->slots_at_once = s.slots_at_once;
    std::vector<std::function<void()>> bodies;
    for (std::size_t i = 0; i < s.clients.size(); ++i)
      bodies.emplace_back([&, i] {
        s.clients[i](*now, i);
        --now->clients_left;
      });
    bodies.emplace_back([&] { s.host(*now); });
    return bodies;
  };
  auto const check = [&] {
    s.expect(*now);
    now->verify();
    return !testing::Test::HasFailure();
  };
  std::size_t const n = interleavings(preemptions, scaled(horizon, 20)).explore(make, check);
  EXPECT_GT(n, 20u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
}

void serves_all(stage& s) { s.serve_until_all_are_done(); }
void serves_twice(stage& s) { s.serve(), s.serve(); }
void serves_thrice(stage& s) { s.serve(), s.serve(), s.serve(); }
void stops(stage& s) { s.serve(), s.box.set_serving(false), s.serve(); }
auto held(unsigned least, unsigned most) {
  return [=](stage const& s) {
    EXPECT_GE(s.held(), least);
    EXPECT_LE(s.held(), most);
  };
}

TEST(interleave_mailbox, each_answer_goes_to_its_request) {
  for (std::uint32_t const slots : {1u, 2u}) {
    explore({slots, for_ever, {takes, takes}, serves_all, held(2, 2)}, 3);
    explore({slots, for_ever, {takes_and_frees, takes_twice}, serves_all, held(1, 1)}, 2);
    explore({slots, for_ever, {takes, takes, takes}, serves_all, held(2, 2)}, 2);
    explore({slots, for_ever, {takes_and_frees, takes_and_frees, takes_twice}, serves_all, held(0, 1)}, 2);
  }
  explore({2, for_ever, {takes, takes}, serves_all, held(2, 2), 2}, 3);
}

TEST(interleave_mailbox, answers_that_come_too_late_are_not_lost) {
  for (std::uint32_t const slots : {1u, 2u}) {
    explore({slots, not_at_all, {takes}, serves_twice, held(0, 1)}, 5);
    explore({slots, not_at_all, {takes, takes}, serves_twice, held(0, 2)}, 4);
    explore({slots, not_at_all, {takes_twice}, serves_thrice, held(0, 1)}, 4);
    explore({slots, not_at_all, {takes_and_frees, takes_twice}, serves_thrice, held(0, 2)}, 3);
    explore({slots, not_at_all, {takes, takes, takes}, serves_twice, held(0, 2)}, 3);
  }
  explore({2, not_at_all, {takes, takes}, serves_twice, held(0, 2), 2}, 4);
}

TEST(interleave_mailbox, clients_end_when_the_host_stops) {
  for (std::uint32_t const slots : {1u, 2u}) {
    explore({slots, for_ever, {takes, takes}, stops, held(0, 2)}, 3);
    explore({slots, for_ever, {takes_twice, takes}, stops, held(0, 2)}, 2);
  }
}

}  // namespace
}  // namespace wyrm::tests
