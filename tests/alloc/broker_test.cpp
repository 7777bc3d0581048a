// SPDX-License-Identifier: Apache-2.0
// A broker and its clients, as threads and as processes that end at any moment. Processes are forked from a process
// with one thread.
#include "../../alloc/residency/broker.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../../alloc/residency/broker_protocol.hpp"
#include "../../alloc/residency/lease.hpp"
#include "../../alloc/residency/manager.hpp"
#include "../support/seed.hpp"

namespace wyrm::tests {

namespace {

using namespace std::chrono_literals;
using namespace alloc::residency;
using detail::channel;
using detail::message;
using detail::message_kind;

constexpr std::size_t block = 4096;
constexpr std::size_t blocks = 64;
constexpr std::size_t budget_bytes = blocks * block;

/// What processes share with the test.
struct shared_numbers {
  std::atomic<std::size_t> held = 0;  // of all
  std::atomic<std::size_t> most = 0;
  std::atomic<int> ready = 0;
  std::atomic<bool> stop = false;

  // After a grant.
  void add(std::size_t bytes) {
    std::size_t const now = held += bytes;
    for (std::size_t before = most; before < now && !most.compare_exchange_weak(before, now);) {
    }
  }
  // Before bytes are given back.
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

  [[nodiscard]] broker_options settings() const { return {.socket = socket_, .memory = budget_bytes}; }
  [[nodiscard]] lease_options client(std::chrono::milliseconds patience = 1s) const {
    lease_options o;
    o.socket = socket_;
    o.patience = patience;
    o.start = {};
    return o;
  }
  /// A broker in a process of its own, which answers.
  [[nodiscard]] process start_broker() const {
    process p([&] {
      broker b(settings());
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
  /// Acquires and gives back at random, and what it is asked for, until the numbers say stop.
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

TEST_F(broker_test, socket_and_folder_are_for_the_user_alone) {
  broker b(settings());
  struct stat found {};
  ASSERT_EQ(::stat((folder_ + "/run").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode, S_IFDIR | 0700u);
  ASSERT_EQ(::stat(socket_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode, S_IFSOCK | 0600u);
  ASSERT_EQ(::stat((socket_ + ".leases").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode, S_IFDIR | 0700u);

  std::filesystem::create_directory(folder_ + "/open");
  ASSERT_EQ(::chmod((folder_ + "/open").c_str(), 0777), 0);
  broker_options o = settings();
  o.socket = folder_ + "/open/cpu.sock";
  EXPECT_NE(message_of([&] { broker again(o); }, error_code::io).find("nobody else"), std::string::npos);
  std::filesystem::create_directory_symlink(folder_ + "/run", folder_ + "/link");
  o.socket = folder_ + "/link/other.sock";
  EXPECT_NE(message_of([&] { broker again(o); }, error_code::io).find("nobody else"), std::string::npos);
}

TEST_F(broker_test, wrong_options_are_refused) {
  broker_options o = settings();
  o.memory = 0;
  (void)message_of([&] { broker b(o); }, error_code::bad_argument);
  o.memory = ~std::size_t{0};
  (void)message_of([&] { broker b(o); }, error_code::bad_argument);
  o = settings();
  o.idle = -1ms;
  EXPECT_NE(message_of([&] { broker b(o); }, error_code::bad_argument).find("-1 ms"), std::string::npos);
  o = settings();
  o.socket = folder_ + "/" + std::string(108, 'x');
  (void)message_of([&] { broker b(o); }, error_code::bad_argument);
  lease_options l = client();
  l.priority = 0;
  (void)message_of([&] { lease made(l); }, error_code::bad_argument);
  l = client();
  l.start_patience = 0ms;  // one attempt
  EXPECT_NE(message_of([&] { lease made(l); }, error_code::io).find("wyrm broker"), std::string::npos);
  l.start = {folder_ + "/no such program"};
  l.start_patience = 1min;  // of which nothing is spent
  EXPECT_NE(message_of([&] { lease made(l); }, error_code::io).find("cannot be run"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)status_of_broker(socket_); }, error_code::io).find("no broker"), std::string::npos);
  for (std::string const name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1"})
    (void)message_of([&] { (void)broker_socket(name); }, error_code::bad_argument);
}

TEST_F(broker_test, huge_patience_does_not_overflow) {
  running_broker b(settings());
  lease_options o = client(std::chrono::milliseconds::max());
  o.start_patience = std::chrono::milliseconds::max();
  lease l(o);
  EXPECT_EQ(l.acquire(block, block), block);
}

TEST_F(broker_test, program_that_is_started_has_no_files_of_its_starter) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit const more{std::min<rlim_t>(before.rlim_max, 5000), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &more), 0);
  int const lowest = static_cast<int>(more.rlim_cur) - 10;
  detail::descriptor const mine(::fcntl(STDERR_FILENO, F_DUPFD, lowest));  // stays open in other programs
  ASSERT_TRUE(mine);
  lease_options o = client();
  std::string const list = folder_ + "/list";
  o.start = {"/bin/sh", "-c", "ls /proc/$$/fd > " + list + "_ && mv " + list + "_ " + list};
  o.start_patience = 100ms;
  (void)message_of([&] { lease made(o); }, error_code::io);
  ASSERT_TRUE(happens([&] { return std::filesystem::exists(list); }, 10s));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  std::ifstream in(list);
  int lines = 0;
  for (int number = 0; in >> number; ++lines) EXPECT_LT(number, lowest);
  EXPECT_GE(lines, 3);
}

// The first attempt to start a broker removes its program, and the next one has to say so.
TEST_F(broker_test, failed_start_is_told_without_standard_streams) {
  std::string const program = folder_ + "/once";
  std::ofstream(program) << "#!/bin/sh\nrm " << program << '\n';
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  process p([&] {
    std::thread closes([&] {
      while (std::filesystem::exists(program)) std::this_thread::sleep_for(1ms);
      for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
    });
    lease_options o = client();
    o.start = {program};
    o.start_patience = 5s;
    std::string const why = message_of([&] { lease made(o); }, error_code::io);
    closes.join();
    return why.find("cannot be run") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(p.wait(), 0);
}

TEST_F(broker_test, one_of_many_starters_serves) {
  std::vector<process> starters;
  for (int i = 0; i < 8; ++i)
    starters.emplace_back([&] {
      try {
        broker b(settings());
        ++shared_->ready;
        b.run();
      } catch (error const& e) {
        if (e.code() == error_code::io && std::string(e.what()).find("another broker") != std::string::npos) return 0;
      }
      return 1;
    });
  int refused = 0;
  EXPECT_TRUE(happens([&] { return shared_->ready == 1 && answers(); }, 10s));
  for (process& p : starters) {
    p.signal(SIGTERM);  // ends the one that serves
    int const status = p.wait();
    EXPECT_TRUE(status == 0 || status == 128 + SIGTERM) << status;
    refused += status == 0;
  }
  EXPECT_LE(shared_->ready, 8 - refused);
  running_broker next(settings());  // in spite of the socket that the killed one left
  EXPECT_TRUE(answers());
}

TEST_F(broker_test, idle_broker_ends) {
  broker_options o = settings();
  o.idle = 1s;  // enough for the client to come, also on a busy machine
  process p([&] {
    broker b(o);
    b.run();
    return 7;
  });
  EXPECT_TRUE(happens([&] { return answers(); }, 10s));
  {
    lease l(client());
    std::this_thread::sleep_for(1500ms);
    EXPECT_EQ(l.acquire(block, block), block) << "it stays as long as there is a client";
  }
  EXPECT_EQ(p.wait(), 7);
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(broker_test, leases_in_threads_never_exceed_the_budget) {
  running_broker b(settings());
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back([this, i] { (void)churn(seeded(510 + i)); });
  {
    lease one(client(20ms));  // which two threads use
    auto const use = [&] {
      for (int i = 0; i < 100; ++i) {
        std::size_t const got = one.acquire(3 * block, block);
        shared_->add(got);
        shared_->subtract(got);
        one.give_back(got);
      }
    };
    std::thread other(use);
    use();
    other.join();
    EXPECT_EQ(one.held(), 0u);
  }
  shared_->stop = true;
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(shared_->held, 0u);
  EXPECT_GT(shared_->most, budget_bytes / 2);
  EXPECT_LE(shared_->most, budget_bytes);
  EXPECT_TRUE(happens([&] { return status_of_broker(socket_).held == 0; }, 10s));
}

// As a residency manager uses its budget: it evicts what others want, and gives back whole blocks.
TEST_F(broker_test, manager_gives_back_down_to_its_fair_share) {
  running_broker b(settings());
  lease_options first = client();
  first.name = "first";
  first.least = 40 * block;
  lease holder(first);
  budget& manager = holder;
  EXPECT_EQ(manager.limit(), budget_bytes);
  EXPECT_EQ(manager.acquire(2 * budget_bytes, block), budget_bytes) << "what there is";
  std::atomic<bool> stop = false;
  std::thread evicts([&] {
    while (!stop) {
      for (std::size_t wanted = manager.wanted_back(); wanted != 0; wanted = manager.wanted_back()) {
        std::size_t const bytes = (wanted + block - 1) / block * block;
        manager.give_back(bytes);
      }
      std::this_thread::sleep_for(1ms);
    }
  });
  lease_options second = client(200ms);
  second.priority = 100;
  lease other(second);
  EXPECT_EQ(other.acquire(10 * block, block), 10 * block);
  EXPECT_EQ(holder.held(), 54 * block);
  EXPECT_EQ(other.acquire(budget_bytes, block), 14 * block) << "the first is not asked below its least";
  EXPECT_EQ(holder.held(), 40 * block);
  EXPECT_EQ(other.acquire(block, block), 0u);
  EXPECT_EQ(other.acquire(block - 1, block), 0u) << "less than a step";
  EXPECT_THROW((void)other.acquire(block, 0), error);
  stop = true;
  evicts.join();
  broker_status const status = status_of_broker(socket_);
  EXPECT_EQ(status.budget, budget_bytes);
  EXPECT_EQ(status.held, budget_bytes);
  ASSERT_EQ(status.clients.size(), 2u);
  EXPECT_EQ(status.clients[0].name, "first");
  EXPECT_EQ(status.clients[0].pid, static_cast<std::uint64_t>(::getpid()));
  EXPECT_EQ(status.clients[0].least, 40 * block);
  EXPECT_EQ(status.clients[0].held, 40 * block);
  EXPECT_EQ(status.clients[1].priority, 100u);
  EXPECT_EQ(status.clients[1].held, 24 * block);

  lease_options third = client();
  third.least = 25 * block;
  EXPECT_NE(message_of([&] { lease made(third); }, error_code::io).find("least"), std::string::npos);
}

// New blocks get device memory if there is some: they neither wait, nor make other processes evict.
TEST_F(broker_test, new_blocks_wait_for_nobody) {
  constexpr std::size_t step = std::size_t{64} << 10;
  broker_options all = settings();
  all.memory = 8 * step;
  running_broker b(all);
  lease other(client());
  ASSERT_EQ(other.acquire(6 * step, step), 6 * step);
  options o;
  o.budget = std::make_shared<lease>(client(20s));
  o.block_bytes = step;
  manager<exec::host_space> m(exec::host_space(1), o);
  auto c = m.make_client();
  region r = c.reserve(4 * step);
  std::vector<char> const bytes(step, 1);
  auto const begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < 4; ++i) r.write(i * step, bytes.data(), step);
  EXPECT_EQ(m.fetch_idle(), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(other.wanted_back(), 0u);
  EXPECT_EQ(m.counters().resident_bytes, 2 * step);
  EXPECT_EQ(m.counters().staged_bytes, 2 * step);
}

// In one turn of the broker, a client gives back what it was asked for, and another one asks for as much.
TEST_F(broker_test, next_request_to_give_back_is_not_lost) {
  process const server = start_broker();
  lease all(client());
  ASSERT_EQ(all.acquire(budget_bytes, block), budget_bytes);
  lease first(client(20s));
  lease second(client(20s));
  std::thread waits([&] { EXPECT_EQ(first.acquire(block, block), block); });
  EXPECT_TRUE(happens([&] { return all.wanted_back() == block; }, 10s));
  server.signal(SIGSTOP);
  std::thread waits_next([&] { EXPECT_EQ(second.acquire(block, block), block); });
  all.give_back(block);
  std::this_thread::sleep_for(100ms);  // both messages are on their way
  server.signal(SIGCONT);
  waits.join();
  EXPECT_TRUE(happens([&] { return all.wanted_back() == block; }, 5s));
  all.give_back(block);
  waits_next.join();
}

TEST_F(broker_test, waits_no_longer_than_its_patience) {
  running_broker b(settings());
  lease all(client());
  ASSERT_EQ(all.acquire(budget_bytes, block), budget_bytes);
  lease waits(client(100ms));
  auto const begin = std::chrono::steady_clock::now();
  EXPECT_EQ(waits.acquire(block, block), 0u);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 99ms);
  EXPECT_TRUE(happens([&] { return all.wanted_back() == 0; }, 10s)) << "nobody waits";
  lease hurries(client(0ms));
  all.give_back(3 * block);
  EXPECT_TRUE(happens([&] { return status_of_broker(socket_).held == budget_bytes - 3 * block; }, 10s));
  EXPECT_EQ(hurries.acquire(5 * block, 2 * block), 2 * block) << "a whole number of steps";
  EXPECT_EQ(all.held(), budget_bytes - 3 * block);
}

TEST_F(broker_test, lease_that_has_its_share_does_not_wait) {
  running_broker b(settings());
  lease all(client(30s));
  ASSERT_EQ(all.acquire(budget_bytes, block), budget_bytes);
  auto const begin = std::chrono::steady_clock::now();
  EXPECT_EQ(all.acquire(block, block), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

// The broker answers when nobody waits for the answer any more.
TEST_F(broker_test, late_grant_goes_back) {
  process const server = start_broker();
  lease l(client(50ms));
  EXPECT_EQ(l.acquire(block, block), block);
  server.signal(SIGSTOP);
  EXPECT_EQ(l.acquire(7 * block, block), 0u);
  EXPECT_EQ(l.acquire(3 * block, block), 0u);
  server.signal(SIGCONT);
  EXPECT_TRUE(happens([&] { return status_of_broker(socket_).held == block; }, 10s));
  EXPECT_EQ(l.held(), block);
  EXPECT_EQ(l.acquire(2 * block, block), 2 * block);
  EXPECT_EQ(l.held(), 3 * block);
}

TEST_F(broker_test, killed_clients_leave_their_bytes_at_100_moments) {
  process const server = start_broker();
  std::vector<process> others;
  for (std::size_t const n : {5u, 10u, 15u}) others.push_back(holder(n));
  std::size_t const kept = 30 * block;
  std::mt19937_64 random(seeded(520));
  for (int i = 0; i < 100; ++i) {
    std::uint64_t const seed = random();
    process victim([&] { return churn(seed); });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    victim.kill();
    ASSERT_TRUE(happens([&] { return status_of_broker(socket_).held == kept; }, 10s)) << i;
    ASSERT_EQ(status_of_broker(socket_).clients.size(), 3u) << i;
  }
  shared_->stop = true;
  for (process& p : others) EXPECT_EQ(p.wait(), 0) << "it holds what it held";
}

TEST_F(broker_test, killed_brokers_never_lead_to_more_than_the_budget) {
  process server = start_broker();
  std::vector<process> clients;
  for (std::uint64_t i = 0; i < 4; ++i) clients.emplace_back([&] { return churn(seeded(530 + i)); });
  std::mt19937_64 random(seeded(540));
  for (int i = 0; i < 25; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    server.kill();
    server = start_broker();
  }
  EXPECT_TRUE(happens([&] { return status_of_broker(socket_).clients.size() == 4; }, 10s)) << "all are back";
  std::this_thread::sleep_for(100ms);
  shared_->stop = true;
  for (process& p : clients) EXPECT_EQ(p.wait(), 0);
  EXPECT_EQ(shared_->held, 0u);
  EXPECT_GT(shared_->most, budget_bytes / 2);
  EXPECT_LE(shared_->most, budget_bytes);
  EXPECT_TRUE(happens([&] { return status_of_broker(socket_).held == 0; }, 10s));
}

// A client that is stopped cannot tell the next broker what it holds.
TEST_F(broker_test, next_broker_reserves_what_a_stopped_client_holds) {
  process server = start_broker();
  process stopped = holder(20);
  process running = holder(10);
  stopped.signal(SIGSTOP);
  server.kill();
  server = start_broker();
  process greedy([&] {
    lease l(client(100ms));
    std::size_t const got = l.acquire(budget_bytes, block);
    return got == budget_bytes - 30 * block ? 0 : 1;
  });
  EXPECT_EQ(greedy.wait(), 0);
  auto const has_back = [&](std::size_t bytes, std::size_t connected) {
    return happens(
        [&] {
          broker_status const s = status_of_broker(socket_);
          return s.held == bytes && std::ranges::count_if(s.clients, [](auto const& c) { return c.pid != 0; }) ==
                                        std::ptrdiff_t(connected);
        },
        1s);
  };
  EXPECT_TRUE(has_back(30 * block, 1)) << "one is back, one is not";
  stopped.signal(SIGCONT);
  EXPECT_TRUE(has_back(30 * block, 2));
  stopped.signal(SIGSTOP);
  server.kill();
  server = start_broker();
  EXPECT_TRUE(has_back(30 * block, 1));
  stopped.kill();
  EXPECT_TRUE(has_back(10 * block, 1)) << "the stopped one is dead";
  shared_->stop = true;
  EXPECT_EQ(running.wait(), 0);
}

// They hold everything, but only the second was promised anything.
TEST_F(broker_test, next_broker_keeps_promises_of_stopped_clients_and_no_others) {
  process server = start_broker();
  process all = holder(blocks);
  process promised = holder(0, 20 * block);
  lease_options o = client(100ms);
  o.least = 44 * block;
  EXPECT_TRUE(lease(o).is_connected());
  all.signal(SIGSTOP);
  promised.signal(SIGSTOP);
  server.kill();
  server = start_broker();
  broker_status const status = status_of_broker(socket_);
  ASSERT_EQ(status.clients.size(), 2u);
  EXPECT_EQ(status.held, budget_bytes);
  EXPECT_EQ(status.clients[0].least + status.clients[1].least, 20 * block);
  lease l(o);
  EXPECT_EQ(l.acquire(block, block), 0u) << "nobody can be asked";
  o.least = 1;
  EXPECT_NE(message_of([&] { lease made(o); }, error_code::io).find("least"), std::string::npos);
  all.signal(SIGCONT);
  promised.signal(SIGCONT);
  EXPECT_TRUE(happens(
      [&] { return std::ranges::all_of(status_of_broker(socket_).clients, [](auto const& c) { return c.pid != 0; }); },
      5s))
      << "both are back";
  EXPECT_EQ(status_of_broker(socket_).clients.size(), 3u);
  shared_->stop = true;
  EXPECT_EQ(all.wait(), 0);
  EXPECT_EQ(promised.wait(), 0);
}

/// A client that says what it likes.
class raw_client {
 public:
  explicit raw_client(std::string const& socket) : socket_(socket), link_(detail::connect_to(socket)) {}

  void send(message const& m) { link_.send(m); }
  void send_bytes(std::string const& bytes) const {
    (void)!::send(link_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  /// Says hello with a lease of its own, of which the file says `granted`.
  void hello(std::uint64_t id, std::uint64_t claims, std::uint64_t granted = 0) {
    std::string const path = detail::lease_file(socket_, id);
    file_ = detail::descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::flock(file_.get(), LOCK_EX | LOCK_NB), 0);
    ASSERT_EQ(::pwrite(file_.get(), &granted, sizeof granted, 0), 8);
    send({.kind = message_kind::hello, .id = id, .bytes = claims, .priority = 1});
  }
  /// The next message; nothing if the broker has closed the connection.
  [[nodiscard]] std::optional<message> next() {
    message m;
    for (int i = 0; i < 1000 && !link_.lost(); ++i) {
      if (link_.receive(m)) return m;
      pollfd p{link_.get(), POLLIN, 0};
      (void)::poll(&p, 1, 10);
    }
    EXPECT_TRUE(link_.lost()) << "neither an answer nor an end";
    return {};
  }

 private:
  std::string socket_;
  channel link_;
  detail::descriptor file_;
};

TEST_F(broker_test, client_that_breaks_the_rules_is_disconnected) {
  running_broker b(settings());
  auto const expect_end = [&](message const& m, bool after_hello) {
    raw_client c(socket_);
    if (after_hello) {
      c.hello(77, 0);
      EXPECT_EQ(c.next().value().kind, message_kind::welcome);
    }
    c.send(m);
    EXPECT_FALSE(c.next()) << static_cast<int>(m.kind);
  };
  for (bool const hello : {false, true}) {
    expect_end({.magic = 1, .kind = message_kind::status}, hello);
    expect_end({.kind = message_kind::hello, .id = 0}, hello);
    expect_end({.kind = message_kind::hello, .id = 99, .priority = 1}, hello);  // there is no such lease
    expect_end({.kind = message_kind::give_back, .bytes = 1}, hello);
    expect_end({.kind = message_kind::acquire, .bytes = 1, .step = 0}, hello);
    expect_end({.kind = message_kind::acquire, .bytes = 1, .step = 2}, hello);
    expect_end({.kind = message_kind::grant, .bytes = 1}, hello);
    expect_end({.kind = static_cast<message_kind>(999)}, hello);
  }
  raw_client claims(socket_);
  claims.hello(78, 10, 9);
  EXPECT_FALSE(claims.next()) << "it claims more than was granted";
  raw_client twice(socket_);
  twice.hello(79, 0);
  EXPECT_EQ(twice.next().value().kind, message_kind::welcome);
  lease all(client());
  EXPECT_EQ(all.acquire(budget_bytes, block), budget_bytes);
  for (int i = 0; i < 2; ++i)
    twice.send({.kind = message_kind::acquire, .bytes = block, .step = block, .limit = ~std::uint64_t{0}});
  EXPECT_FALSE(twice.next()) << "two requests at a time";
}

// It still has the memory: nobody else may get it.
TEST_F(broker_test, disconnected_client_that_lives_keeps_its_bytes) {
  running_broker b(settings());
  {
    raw_client c(socket_);
    c.hello(80, 0);
    EXPECT_EQ(c.next().value().kind, message_kind::welcome);
    c.send({.kind = message_kind::acquire, .bytes = 24 * block, .step = block});
    EXPECT_EQ(c.next().value().bytes, 24 * block);
    c.send({.kind = message_kind::give_back, .bytes = 25 * block});
    EXPECT_FALSE(c.next());
    lease other(client(50ms));
    EXPECT_EQ(other.acquire(budget_bytes, block), 40 * block);
  }
  EXPECT_TRUE(happens([&] { return status_of_broker(socket_).held == 0; }, 10s)) << "it is gone";
}

TEST_F(broker_test, another_version_gets_a_clear_answer) {
  running_broker b(settings());
  raw_client c(socket_);
  c.send({.version = 2, .kind = message_kind::hello, .id = 1});
  message const answer = c.next().value();
  EXPECT_EQ(answer.kind, message_kind::refused);
  EXPECT_EQ(answer.words(), "broker has protocol 1, client 2: restart the older one");
  EXPECT_FALSE(c.next());
}

TEST_F(broker_test, another_user_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  running_broker b(settings());
  for (std::string const& folder : {folder_, folder_ + "/run"}) ASSERT_EQ(::chmod(folder.c_str(), 0711), 0);
  ASSERT_EQ(::chmod(socket_.c_str(), 0666), 0);
  pid_t const child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    raw_client c(socket_);
    auto const answer = c.next();
    ::_exit(answer && answer->kind == message_kind::refused && answer->words() == "this broker serves another user"
                ? 0
                : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(broker_test, too_many_clients_are_refused) {
  broker_options o = settings();
  o.most_clients = 2;
  running_broker b(o);
  lease one(client());
  lease two(client());
  EXPECT_NE(message_of([&] { lease three(client()); }, error_code::io).find("2 clients"), std::string::npos);
  for (int i = 0; i < 1000; ++i)  // the broker may hang up before it was asked
    ASSERT_NE(message_of([&] { (void)status_of_broker(socket_); }, error_code::io).find("2 clients"),
              std::string::npos);
}

TEST_F(broker_test, hostile_clients_block_nobody) {
  running_broker b(settings());
  lease honest(client(5s));
  std::mt19937_64 random(seeded(550));
  std::vector<std::unique_ptr<raw_client>> silent;
  for (int i = 0; i < 300; ++i) {
    raw_client c(socket_);
    if (i % 3 == 0) {  // random bytes
      std::string bytes(random() % 400, ' ');
      for (char& byte : bytes) byte = static_cast<char>(random());
      c.send_bytes(bytes);
    } else {  // messages with random fields, the last of which is cut
      if (i % 2 == 0) c.hello(1000 + random() % 5, 0, 0);
      std::string bytes;
      for (int k = 0; k < 10; ++k) {
        auto const number = [&] { return random() % 2 == 0 ? random() : random() % 8 * block; };
        message const m{.kind = static_cast<message_kind>(random() % 12),
                        .id = random() % 2 == 0 ? 1000 : random(),
                        .bytes = number(),
                        .step = number(),
                        .limit = random() % 3,
                        .least = number(),
                        .priority = static_cast<std::uint32_t>(random() % 3)};
        bytes.append(reinterpret_cast<char const*>(&m), sizeof m);
      }
      bytes.resize(bytes.size() - random() % sizeof(message));
      c.send_bytes(bytes);
    }
    if (i % 30 == 0) silent.push_back(std::make_unique<raw_client>(socket_));
    for (auto const& asks : silent) {  // and never reads
      message const ask{.kind = message_kind::status};
      std::string bytes;
      for (int k = 0; k < 100; ++k) bytes.append(reinterpret_cast<char const*>(&ask), sizeof ask);
      asks->send_bytes(bytes);
    }
    std::size_t const got = honest.acquire(block, block);
    EXPECT_EQ(got, block) << i;
    honest.give_back(got);
  }
  while (silent.front()->next()) {  // it reads what the broker sent before it hung up
  }
  silent.clear();
  EXPECT_TRUE(happens(
      [&] {
        broker_status const s = status_of_broker(socket_);
        return s.clients.size() == 1 && s.held == 0;
      },
      1s));
}

}  // namespace

}  // namespace wyrm::tests
