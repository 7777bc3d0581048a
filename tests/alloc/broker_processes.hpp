// SPDX-License-Identifier: Apache-2.0
// Processes for tests of the broker: they are forked from a process with one thread, and may be killed at any moment.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "../../alloc/residency/broker.hpp"
#include "../../alloc/residency/lease.hpp"
#include "../../exec/error.hpp"

namespace wyrm::tests {

using namespace std::chrono_literals;
using namespace alloc::residency;

inline constexpr std::size_t block = 4096;
inline constexpr std::size_t blocks = 64;
inline constexpr std::size_t budget_bytes = blocks * block;

/// What processes share with the test.
struct shared_numbers {
  std::atomic<std::size_t> held = 0;  // of all
  std::atomic<std::size_t> most = 0;
  std::atomic<int> ready = 0;
  std::atomic<bool> stop = false;
  std::atomic<bool> pause = false;
  std::atomic<int> paused = 0;
  std::array<std::atomic<std::size_t>, 3> held_by = {};  // of those that pause

  // After a grant.
  void add(std::size_t bytes) {
    std::size_t const now = held += bytes;
    for (std::size_t before = most; before < now && !most.compare_exchange_weak(before, now);) {
    }
  }
  // Called before the process gives bytes back to the broker.
  void subtract(std::size_t bytes) { held -= bytes; }
};

/// A forked process, which is killed in the end.
class process {
 public:
  template <class F>
  explicit process(F const& work) : pid_(::fork()) {
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ > 0) return;
    int status = 1;
    try {
      status = work();
    } catch (std::exception const& e) {
      (void)!::write(STDERR_FILENO, e.what(), std::string(e.what()).size());
    }
    ::_exit(status);
  }
  process(process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  process& operator=(process&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~process() {
    if (pid_ > 0) kill();
  }
  void kill() {
    signal(SIGKILL);
    (void)wait();
  }
  void signal(int number) const { ::kill(pid_, number); }
  [[nodiscard]] int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

template <class F>
[[nodiscard]] bool happens(F const& condition, std::chrono::milliseconds within) {
  auto const end = std::chrono::steady_clock::now() + within;
  do {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  } while (std::chrono::steady_clock::now() < end);
  return condition();
}

class broker_test : public testing::Test {
 protected:
  broker_test() {
    std::string name = (std::filesystem::temp_directory_path() / "wyrm_broker_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    folder_ = name;
    socket_ = folder_ + "/run/cpu.sock";
    void* const memory =
        ::mmap(nullptr, sizeof(shared_numbers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    shared_ = new (memory) shared_numbers;
  }
  ~broker_test() override {
    ::munmap(shared_, sizeof(shared_numbers));
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] broker_options settings(std::size_t memory = budget_bytes) const {
    return {.socket = socket_, .memory = memory};
  }
  [[nodiscard]] lease_options client(std::chrono::milliseconds patience = 1s) const {
    lease_options o;
    o.socket = socket_;
    o.patience = patience;
    o.start = {};
    return o;
  }
  /// A broker in a process of its own, which answers.
  [[nodiscard]] process start_broker(std::size_t memory = budget_bytes) const {
    process p([&] {
      broker b(settings(memory));
      b.run();
      return 0;
    });
    EXPECT_TRUE(happens([&] { return answers(); }, 10s));
    return p;
  }
  [[nodiscard]] bool answers() const {
    try {
      (void)status_of_broker(socket_);
      return true;
    } catch (error const&) {
      return false;
    }
  }
  /// A process that acquires blocks, and then waits for ever.
  [[nodiscard]] process holder(std::size_t number, std::size_t least = 0) const {
    int const before = shared_->ready;
    process p([&] {
      lease_options o = client(5s);
      o.least = least;
      lease l(o);
      if (l.acquire(number * block, block) != number * block) return 2;
      ++shared_->ready;
      while (!shared_->stop) std::this_thread::sleep_for(1ms);
      return l.held() == number * block ? 0 : 3;
    });
    EXPECT_TRUE(happens([&] { return shared_->ready == before + 1; }, 10s));
    return p;
  }
  /// Acquires or returns bytes in a loop. The number of bytes is random. If the broker asks for some back, it returns
  /// at least as many. The loop ends when another process sets `stop`, which is in shared memory.
  int churn(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    lease l(client(20ms));
    while (!shared_->stop) {
      if (random() % 2 == 0) {
        shared_->add(l.acquire((1 + random() % 40) * block, block));
      } else {
        std::size_t const wanted = (l.wanted_back() + block - 1) / block;
        std::size_t const bytes = std::min(l.held(), std::max(wanted, random() % 20) * block);
        shared_->subtract(bytes);
        l.give_back(bytes);
      }
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
    }
    shared_->subtract(l.held());
    return 0;
  }

  std::string folder_;
  std::string socket_;
  shared_numbers* shared_;
};

/// A broker in a thread.
class running_broker {
 public:
  explicit running_broker(broker_options o) : broker_(std::move(o)), thread_([this] { broker_.run(); }) {}
  ~running_broker() {
    broker_.stop();
    thread_.join();
  }

 private:
  broker broker_;
  std::thread thread_;
};

template <class F>
std::string message_of(F const& work, error_code expected) {
  try {
    work();
  } catch (error const& e) {
    EXPECT_EQ(e.code(), expected);
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace wyrm::tests
