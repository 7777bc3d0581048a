// SPDX-License-Identifier: Apache-2.0
// `wyrm broker`, and leases that start it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../alloc/residency/broker.hpp"
#include "../../alloc/residency/broker_protocol.hpp"
#include "../../alloc/residency/lease.hpp"
#include "program.hpp"
#include "report.hpp"
#include "running.hpp"

namespace wyrm::tests {

namespace {

using namespace alloc::residency;
using strings = std::vector<std::string>;

class broker_command_test : public program_test {
 protected:
  [[nodiscard]] std::string socket() const { return path("run/cpu.sock"); }
  [[nodiscard]] strings broker(strings more = {}) const {
    strings all{WYRM_PROGRAM_PATH, "broker", "--device", "cpu", "--socket", socket()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] outcome run(strings more) const {
    strings all = broker(std::move(more));
    all.erase(all.begin());
    return run_program(all);
  }
  [[nodiscard]] lease_options client() const {
    lease_options o;
    o.socket = socket();
    o.name = "test";
    o.start = {};
    return o;
  }
  /// Kills the broker that serves a socket.
  static void kill_broker(std::string const& at) {
    detail::descriptor const link = detail::connect_to(at);
    ASSERT_TRUE(link) << at;
    ucred who{};
    socklen_t size = sizeof who;
    ASSERT_EQ(::getsockopt(link.get(), SOL_SOCKET, SO_PEERCRED, &who, &size), 0);
    ASSERT_NE(who.pid, ::getpid());
    ::kill(who.pid, SIGKILL);
  }
};

TEST_F(broker_command_test, serves_and_shows_its_books) {
  running_program served(broker({"--memory", "16M"}), path(""));
  served.wait_for_output("serves 16777216 bytes of cpu at " + socket() + "\n");
  EXPECT_EQ(run({"--status"}).out,
            "socket   " + socket() + "\nbudget   16777216 bytes\nheld     0 bytes\nclients  0\n");
  lease_options o = client();
  o.least = 1 << 20;
  o.priority = 7;
  lease l(o);
  EXPECT_EQ(l.acquire(5 << 20, 1 << 20), 5u << 20);
  outcome const text = run({"--status"});
  EXPECT_EQ(text.status, 0);
  for (std::string const& part :
       strings{"held     5242880 bytes", "clients  1", std::to_string(::getpid()), "  test\n"})
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
  outcome const printed = run({"--status", "--format", "json"});
  report const json(printed.out);
  EXPECT_EQ(json.text("socket"), socket());
  EXPECT_EQ(json.count("budget_bytes"), 16u << 20);
  EXPECT_EQ(json.count("held_bytes"), 5u << 20);
  EXPECT_EQ(json.text("clients/0/name"), "test");
  EXPECT_EQ(json.count("clients/0/pid"), static_cast<std::uint64_t>(::getpid()));
  EXPECT_EQ(json.count("clients/0/priority"), 7u);
  EXPECT_EQ(json.count("clients/0/least_bytes"), 1u << 20);
  EXPECT_EQ(json.count("clients/0/held_bytes"), 5u << 20);
  EXPECT_EQ(json.count("clients/0/waits_for_bytes"), 0u);
  EXPECT_EQ(json.count("clients/0/wanted_bytes"), 0u);

  outcome const second = run({"--memory", "1"});
  EXPECT_EQ(second.status, 4);
  EXPECT_NE(second.err.find("another broker serves"), std::string::npos) << second.err;
  served.kill(SIGTERM);
  EXPECT_EQ(served.wait().status, 130);
  outcome const none = run({"--status"});
  EXPECT_EQ(none.status, 4);
  EXPECT_NE(none.err.find("no broker serves"), std::string::npos) << none.err;
}

TEST_F(broker_command_test, ends_without_clients) {
  running_program served(broker({"--idle-seconds", "1"}), path(""));
  served.wait_for_output("serves ");
  EXPECT_EQ(served.wait().status, 0);
}

TEST_F(broker_command_test, wrong_arguments_are_refused) {
  for (strings const& wrong :
       {strings{"--memory", "0"}, strings{"--memory", "-1"}, strings{"--memory", "5X"},
        strings{"--memory", "99999999999G"}, strings{"--memory", ""}, strings{"--idle-seconds", "-1"},
        strings{"--format", "json"}, strings{"--status", "--format", "xml"}, strings{"--status", "--memory", "1"},
        strings{"--status", "--idle-seconds", "1"}, strings{"--socket", ""}}) {
    outcome const ran = run(wrong);
    EXPECT_EQ(ran.status, 2) << wrong.back() << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  EXPECT_EQ(run_program({"broker", "--device", "gpu", "--status"}).status, 2);
  EXPECT_EQ(run_program({"broker", "--device", "cuda:999", "--status"}).status, 6);
  // To serve, the device has to be right although nothing depends on it.
  for (auto const& [device, status] : {std::pair("gpu", 2), std::pair("cuda:999", 6)})
    EXPECT_EQ(run_program({"broker", "--device", device, "--socket", socket(), "--memory", "1", "--idle-seconds", "1"})
                  .status,
              status)
        << device;
}

// Two at once; there is no broker, and its socket has the default path.
TEST_F(broker_command_test, leases_start_a_broker_and_its_successor) {
  std::filesystem::create_directory(path("user"));
  ASSERT_EQ(::setenv("XDG_RUNTIME_DIR", path("user").c_str(), 1), 0);
  std::string const at = broker_socket("cpu");
  EXPECT_EQ(at, path("user/wyrm/broker-cpu.sock"));
  lease_options o;
  o.start = {WYRM_PROGRAM_PATH};
  o.memory = 1 << 20;
  o.start_patience = std::chrono::seconds(30);
  o.patience = std::chrono::seconds(30);
  std::unique_ptr<lease> leases[2];
  std::thread other([&] { leases[1] = std::make_unique<lease>(o); });
  leases[0] = std::make_unique<lease>(o);
  other.join();
  for (auto const& l : leases) {
    EXPECT_EQ(l->limit(), 1u << 20);
    EXPECT_EQ(l->acquire(1000, 10), 1000u);
  }
  EXPECT_EQ(status_of_broker(at).clients.size(), 2u) << "both have the same";
  EXPECT_EQ(status_of_broker(at).clients[0].name, ::program_invocation_short_name);

  kill_broker(at);
  EXPECT_EQ(leases[0]->acquire(1 << 20, 1), (1u << 20) - 2000) << "of the next broker, which knows what is held";
  EXPECT_EQ(leases[1]->held(), 1000u);
  leases[1].reset();
  wait_until([&] { return status_of_broker(at).clients.size() == 1; }, "the end of a lease");
  EXPECT_EQ(status_of_broker(at).held, (1u << 20) - 1000);
  leases[0].reset();
  kill_broker(at);
}

// Three processes, of which each would take all memory, have the results of a process with memory of its own.
TEST_F(broker_command_test, divides_memory_among_graphs) {
  std::string const runtime = path("shared");
  std::filesystem::create_directory(runtime);
  struct variable {
    explicit variable(std::string const& value) { ::setenv("XDG_RUNTIME_DIR", value.c_str(), 1); }
    ~variable() { ::unsetenv("XDG_RUNTIME_DIR"); }
  } const set(runtime);
  running_program served({WYRM_PROGRAM_PATH, "broker", "--device", "cpu", "--memory", "256M"}, path(""));
  served.wait_for_output("serves 268435456 bytes of cpu");
  auto const arguments = [&](std::string const& name) {
    return strings{"run", "gen:rmat,scale=13", "--device", "cpu", "--rounds", "2", "--report", path(name)};
  };
  ASSERT_EQ(run_program(arguments("plain")).status, 0);
  std::vector<std::thread> all;
  for (std::string const name : {"a", "b", "c"})
    all.emplace_back([&, name] {
      strings shared = arguments(name);
      shared.push_back("--share-device");
      outcome const ran = run_program(shared);
      EXPECT_EQ(ran.status, 0) << ran.err;
    });
  for (std::thread& t : all) t.join();
  report const plain(read("plain"));
  for (std::string const name : {"a", "b", "c"}) {
    report const one(read(name));
    EXPECT_EQ(one.count("algorithms/triangles/total"), plain.count("algorithms/triangles/total"));
    EXPECT_EQ(one.number("algorithms/pagerank/max"), plain.number("algorithms/pagerank/max"));
    EXPECT_GT(one.count("residency/resident_bytes"), 0u);
  }
  report const books(run_program({"broker", "--device", "cpu", "--status", "--format", "json"}).out);
  EXPECT_EQ(books.count("held_bytes"), 0u);
}

}  // namespace

}  // namespace wyrm::tests
