// SPDX-License-Identifier: Apache-2.0
// A broker and its clients, as threads and as processes.
#include "../../alloc/residency/broker.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
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
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../../alloc/residency/broker_protocol.hpp"
#include "../../alloc/residency/manager.hpp"
#include "../support/seed.hpp"
#include "broker_processes.hpp"

namespace wyrm::tests {

namespace {

using detail::channel;
using detail::message;
using detail::message_kind;

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
