// SPDX-License-Identifier: Apache-2.0
// The mailbox through which running kernels send requests to a host thread (AlignMalloc, TPDS 2025, section VI-A). A
// slot is two words in host memory that is mapped into the device: a request, which only the device writes, and an
// answer, which only the host writes. Each is written by one store, so a message is always read completely. A third
// word, in device memory, records the owner of the slot; only the device uses it.
//
// Why an answer belongs to its request: both carry the number of the request in its slot. The owner of a slot posts the
// number after the last one, and accepts only an answer of this number.
//
// Why nothing is lost: a request that is not answered in time, or after the host has stopped, leaves its slot
// `abandoned`. The host may answer it later. Such a slot has an owner again only after its answer has come. This owner
// reads the answer first, and if that is a space, frees it. Until then, or until the pool looks for such spaces while
// no kernel runs, the space is not free.
//
// Why nothing waits forever: the host never waits for the device. The device waits for a slot, and for an answer, up to
// a time limit. A slot is held by a thread that waits for the host, or that is about to, never for another slot. Lanes
// of a warp that have slots and lanes that look for one take turns in the loop of ask(); in two loops, the first might
// have to wait until the last leave theirs, and would hold the slots meanwhile. When the host stops, it writes this
// into every answer. One word for all slots would be simpler, but an H200 serves loads of the same word of host memory
// one after the other, in more than 1 us each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/clock.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"

#include <nv/target>

namespace wyrm::alloc {

/// A message of a mailbox, as one word.
class mail {
 public:
  enum class kind : std::uint8_t {
    none,
    allocate,  // request: a space of `value` pages
    free,      // request: free the space that begins at page `value`
    space,     // answer: it begins at page `value`
    refused,   // answer: there is no such space
    done,      // answer: it is free
  };
  static constexpr std::uint32_t numbers = std::uint32_t{1} << 24;

  WYRM_HD explicit mail(std::uint64_t bits = 0) : bits_(bits) {}
  WYRM_HD mail(std::uint32_t number, kind what, std::uint32_t value, bool host_is_stopped = false)
      : bits_(std::uint64_t{number} << 40 | (host_is_stopped ? stopped : 0) |
              std::uint64_t{static_cast<std::uint8_t>(what)} << 32 | value) {}
  [[nodiscard]] WYRM_HD std::uint64_t bits() const { return bits_; }
  [[nodiscard]] WYRM_HD std::uint32_t number() const { return static_cast<std::uint32_t>(bits_ >> 40); }
  [[nodiscard]] WYRM_HD kind what() const { return static_cast<kind>(bits_ >> 32 & 0x7f); }
  [[nodiscard]] WYRM_HD std::uint32_t value() const { return static_cast<std::uint32_t>(bits_); }
  /// Of the last answer in a slot: whether the host has stopped since.
  [[nodiscard]] WYRM_HD bool host_is_stopped() const { return (bits_ & stopped) != 0; }

 private:
  static constexpr std::uint64_t stopped = std::uint64_t{1} << 39;

  std::uint64_t bits_;
};

/// The words of a mailbox.
struct mailbox_words {
  std::uint32_t slots;
  std::uint32_t slots_of_one;  // with so many slots the warps of a multiprocessor begin
  std::uint64_t* requests;     // host memory, written by the device
  std::uint64_t* answers;      // host memory, written by the host
  std::uint32_t* owners;       // device memory
  std::uint64_t* unanswered;   // device memory: requests that were given up
  std::uint64_t limit;         // nanoseconds that a thread waits for a slot, and for an answer; 0: it looks once
};

/// The side of the device. Thread-safe.
class mailbox_ref {
 public:
  explicit mailbox_ref(mailbox_words const& words) : words_(words) {}

  /// Posts a request, and waits for the answer. An answer of kind `none`: there was none in time. Per thread.
  [[nodiscard]] WYRM_HD mail ask(mail::kind what, std::uint32_t value) const {
    ticket t{no_slot, 0};
    mail found;
    search looking{first_slot(), 0, {}};
    delay waiting;
    for (;;) {
      if (t.slot == no_slot) {
        if (look(looking, t) == progress::over) {
          count_unanswered();
          return found;
        }
        if (t.slot != no_slot) send(t, what, value);
      } else if (poll(t, waiting, found) != progress::none) {
        return found;
      }
    }
  }

  /// A request that is posted; slot no_slot: it is not.
  struct ticket {
    std::uint32_t slot;
    std::uint32_t number;
  };
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  /// The two parts of ask(), for one thread of a warp at a time. wait() must follow, with the ticket.
  [[nodiscard]] WYRM_HD ticket post(mail::kind what, std::uint32_t value) const {
    ticket t{no_slot, 0};
    search looking{first_slot(), 0, {}};
    while (t.slot == no_slot) {
      if (look(looking, t) == progress::over) {
        count_unanswered();
        return t;
      }
    }
    send(t, what, value);
    return t;
  }
  [[nodiscard]] WYRM_HD mail wait(ticket const& t) const {
    mail found;
    delay waiting;
    while (t.slot != no_slot && poll(t, waiting, found) == progress::none) continue;
    return found;
  }

  // For the owner of the words: whether this word of a slot says that it is abandoned, and the same without an owner.
  [[nodiscard]] static bool is_abandoned(std::uint32_t owner) { return (owner & state_mask) == abandoned; }
  [[nodiscard]] static std::uint32_t without_owner(std::uint32_t owner) { return owner & ~state_mask; }

 private:
  // The state of a slot, in the low bits of its owner word; above them, the number of its last request.
  static constexpr std::uint32_t unclaimed = 0;
  static constexpr std::uint32_t claimed = 1;
  static constexpr std::uint32_t abandoned = 2;
  static constexpr unsigned state_bits = 2;
  static constexpr std::uint32_t state_mask = (1u << state_bits) - 1;

  static constexpr unsigned look_every = 16;  // polls

  using owner_ref = exec::atomic_ref<std::uint32_t>;

  enum class progress : std::uint8_t { none, done, over };  // over: it is too late
  struct delay {
    unsigned attempt = 0;
    std::uint64_t start = 0;
  };
  struct search {
    std::uint32_t slot;  // the next one
    std::uint32_t looked;
    delay waiting;
  };

  [[nodiscard]] WYRM_HD exec::system_ref<std::uint64_t> request(std::uint32_t slot) const {
    return exec::system_ref<std::uint64_t>(words_.requests[slot]);
  }
  [[nodiscard]] WYRM_HD mail answer(std::uint32_t slot) const {
    return mail(exec::system_ref<std::uint64_t>(words_.answers[slot]).load(exec::acquire));
  }
  WYRM_HD void set_owner(ticket const& t, std::uint32_t state) const {
    owner_ref(words_.owners[t.slot]).store(t.number << state_bits | state, exec::release);
  }
  WYRM_HD void send(ticket const& t, mail::kind what, std::uint32_t value) const {
    request(t.slot).store(mail(t.number, what, value).bits(), exec::release);
  }
  WYRM_HD void count_unanswered() const {
    exec::atomic_ref<std::uint64_t>(*words_.unanswered).fetch_add(1, exec::relaxed);
  }
  // Looks for the answer once; if there is none, pauses or gives up.
  [[nodiscard]] WYRM_HD progress poll(ticket const& t, delay& waiting, mail& found) const {
    mail const m = answer(t.slot);
    if (m.number() == t.number) {
      set_owner(t, unclaimed);
      found = m;
      return progress::done;
    }
    if (!m.host_is_stopped() && !is_over(waiting.attempt, waiting.start)) {
      pause(waiting.attempt++);
      return progress::none;
    }
    count_unanswered();
    set_owner(t, abandoned);
    return progress::over;
  }

  // The pause doubles with each poll, because thousands of warps may wait, up to 4 us, which is faster than 16 on an
  // H200.
  WYRM_HD static void pause(unsigned attempt) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (__nanosleep(64u << (attempt < 6 ? attempt : 6));), (exec::host_sleep(attempt);))
  }
  // Whether a thread that waits gives up. It looks at the clock only now and then.
  [[nodiscard]] WYRM_HD bool is_over(unsigned attempt, std::uint64_t& start) const {
    if (words_.limit == 0) return true;
    if (attempt % look_every != look_every - 1) return false;
    std::uint64_t const now = exec::nanoseconds();
    if (start == 0) start = now;
    return now - start > words_.limit;
  }

  // A slot that few other warps of the device begin with.
  [[nodiscard]] WYRM_HD std::uint32_t first_slot() const {
    std::uint32_t const of_one = words_.slots_of_one;
    return (exec::multiprocessor_number() * of_one + exec::warp_on_multiprocessor() % of_one) % words_.slots;
  }
  // Claims the next slot, with the number of its next request, unless it is taken. Pauses after each slots_of_one slots
  // that are taken; may give up after all slots. Only one slot at a time, because lanes of the warp that wait for an
  // answer cannot look for it meanwhile.
  [[nodiscard]] WYRM_HD progress look(search& s, ticket& found) const {
    bool is_stopped = false;
    found = try_claim(s.slot, is_stopped);
    if (found.slot != no_slot) return progress::done;
    if (is_stopped) return progress::over;
    s.slot = s.slot + 1 < words_.slots ? s.slot + 1 : 0;
    if (++s.looked == words_.slots) {
      s.looked = 0;
      ++s.waiting.attempt;
      if (is_over(look_every - 1, s.waiting.start)) return progress::over;
    }
    if (s.looked % words_.slots_of_one == 0) pause(s.waiting.attempt);
    return progress::none;
  }
  // is_stopped: the slot waits for a late answer, and the host has stopped.
  [[nodiscard]] WYRM_HD ticket try_claim(std::uint32_t slot, bool& is_stopped) const {
    owner_ref const owner(words_.owners[slot]);
    for (;;) {
      std::uint32_t seen = owner.load(exec::acquire);
      std::uint32_t const last = seen >> state_bits;
      if ((seen & state_mask) == claimed) return {no_slot, 0};
      bool const is_late = (seen & state_mask) == abandoned;
      mail const late = is_late ? answer(slot) : mail();
      if (is_late && late.number() != last) {
        is_stopped = late.host_is_stopped();
        return {no_slot, 0};
      }
      // An answer with the number of the last request stays until the slot has an owner who posts the next one.
      ticket const t{slot, (last + 1) % mail::numbers};
      if (!owner.compare_exchange_strong(seen, t.number << state_bits | claimed, exec::acquire)) return {no_slot, 0};
      if (!is_late || late.what() != mail::kind::space) return t;
      request(slot).store(mail(t.number, mail::kind::free, late.value()).bits(), exec::release);
      if (wait(t).what() == mail::kind::none) return {no_slot, 0};
    }
  }

  mailbox_words words_;
};

/// Owner of the words, and the side of the host. Not thread-safe.
template <class Space>
class mailbox {
 public:
  /// slots: how many requests can be under way at the same time. limit: nanoseconds, see mailbox_words.
  mailbox(Space const& space, std::uint32_t slots, std::uint64_t limit)
      : space_(space),
        limit_(limit),
        slots_(slots),
        served_((std::size_t{slots} + line - 1) / line * line),
        mapped_(space, 2 * served_.size()),
        owners_(space, slots),
        unanswered_(space, 1) {
    std::fill_n(mapped_.data(), mapped_.size(), std::uint64_t{0});
    set_serving(false);
    space_.fill(owners_.data(), 0, owners_.bytes());
    space_.fill(unanswered_.data(), 0, unanswered_.bytes());
  }

  [[nodiscard]] mailbox_words words() const {
    // At least 8, so that threads do not pause after each slot; several multiprocessors may share them.
    auto const of_one = static_cast<std::uint32_t>(slots_ / space_.multiprocessors());
    return {
        slots_, std::max(of_one, std::min(slots_, 8u)), mapped_.data(), answers(), owners_.data(), unanswered_.data(),
        limit_};
  }
  [[nodiscard]] mailbox_ref ref() const { return mailbox_ref(words()); }
  /// In memory of the space.
  [[nodiscard]] std::size_t bytes() const { return owners_.bytes() + unanswered_.bytes(); }
  /// Requests since the construction that were given up. While no kernel runs.
  [[nodiscard]] std::uint64_t unanswered() const { return exec::read(space_, unanswered_.data()); }

  /// Tells kernels whether the host will answer. They give requests up when it will not. O(slots).
  void set_serving(bool serving) {
    is_serving_ = serving;
    for (std::uint32_t slot = 0; slot < slots_; ++slot) {
      mail const last(answers()[slot]);
      put_answer(slot, last.number(), last);
    }
  }
  /// Answers all requests that are posted: handle(mail) returns the kind and the value of the answer, as a mail of any
  /// number. Returns whether there were some. O(slots).
  template <class F>
  bool serve(F const& handle) {
    letter found[at_once];
    std::uint32_t n = 0;
    bool some = false;
    for (std::uint32_t first = 0; first < served_.size(); first += line) {
      std::uint64_t posted[line];
      std::uint64_t differs = 0;
      for (std::uint32_t i = 0; i < line; ++i) {
        posted[i] = request(first + i).load(exec::acquire);
        differs |= posted[i] ^ served_[first + i];
      }
      if (differs == 0) continue;
      some = true;
      __builtin_prefetch(answers() + first, 1);  // kernels have read it since the last answer
      for (std::uint32_t i = 0; i < line; ++i)
        if (posted[i] != served_[first + i]) found[n++] = {first + i, mail(posted[i])};
      if (n + line > at_once) answer(found, std::exchange(n, 0), handle);
    }
    answer(found, n, handle);
    return some;
  }
  /// While no kernel runs, after serve(): makes abandoned slots free. Spaces in their answers have no owner then.
  void unclaim_all() {
    std::vector<std::uint32_t> owners = exec::copy_out(space_, owners_.data(), owners_.size());
    for (std::uint32_t& owner : owners)
      if (mailbox_ref::is_abandoned(owner)) owner = mailbox_ref::without_owner(owner);
    exec::copy_in<std::uint32_t>(space_, owners_.data(), owners);
  }

 private:
  static constexpr std::uint32_t line = 8;      // slots of a cache line
  static constexpr std::uint32_t at_once = 32;  // answers whose cache lines are fetched together, at most

  struct letter {
    std::uint32_t slot;
    mail request;
  };
  [[nodiscard]] std::uint64_t* answers() const { return mapped_.data() + served_.size(); }
  [[nodiscard]] exec::system_ref<std::uint64_t> request(std::uint32_t slot) const {
    return exec::system_ref<std::uint64_t>(mapped_.data()[slot]);
  }
  void put_answer(std::uint32_t slot, std::uint32_t number, mail const& a) {
    exec::system_ref<std::uint64_t>(answers()[slot])
        .store(mail(number, a.what(), a.value(), !is_serving_).bits(), exec::release);
  }
  template <class F>
  void answer(letter const* letters, std::uint32_t n, F const& handle) {
    for (std::uint32_t i = 0; i < n; ++i) {
      auto const& [slot, m] = letters[i];
      mail const a = handle(m);
      served_[slot] = m.bits();
      put_answer(slot, m.number(), a);
    }
  }

  Space space_;
  std::uint64_t limit_;
  bool is_serving_ = false;
  std::uint32_t slots_;
  std::vector<std::uint64_t> served_;  // by slot, up to the end of the last cache line: the last request answered
  exec::staging_buffer<std::uint64_t, Space> mapped_;  // requests, then answers
  exec::buffer<std::uint32_t, Space> owners_;
  exec::buffer<std::uint64_t, Space> unanswered_;
};

}  // namespace wyrm::alloc
