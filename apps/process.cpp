// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "../loaders/output_file.hpp"

namespace wyrm::apps {

namespace {

std::atomic<bool> finishes = false;  // whether the first signal lets the program finish its work
std::atomic<bool> signalled = false;
std::atomic<bool> ends = false;
std::atomic<pid_t> child_process = 0;
int event = -1;

std::mutex status_mutex;
std::function<std::string()> status_now;

// Signals that arrive together count as one: timeout(1) and some shells signal a process and then its whole group.
constexpr auto together = std::chrono::milliseconds(200);

// Takes the signals that arrive from now on, until they no longer count as one with the last.
void take_repetitions(sigset_t const& signals) {
  auto const end = std::chrono::steady_clock::now() + together;
  for (;;) {
    auto const left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    timespec const wait{0, static_cast<long>(left.count())};
    (void)sigtimedwait(&signals, nullptr, &wait);
  }
}

[[noreturn]] void remove_files_and_exit() {
  ends = true;
  if (pid_t const child = child_process; child > 0) ::kill(child, SIGTERM);
  auto const removed = loaders::remove_unfinished_files();
  std::fputs("wyrm: interrupted\n", stderr);
  ::_exit(interrupted_status);
}

void print_status() {
  std::string line = "wyrm: ";
  {
    std::lock_guard const lock(status_mutex);
    line += status_now ? status_now() : "no stream is running";
  }
  std::fputs((line + '\n').c_str(), stderr);
}

// Waits for signals, which are blocked in all threads. So they are handled in a thread of their own, which, unlike a
// signal handler, may take locks.
void wait_for_signals(sigset_t const& signals) {
  sigset_t with_status = signals;
  sigaddset(&with_status, SIGUSR1);
  for (;;) {
    int signal = 0;
    if (sigwait(&with_status, &signal) != 0) continue;
    if (signal == SIGUSR1) {
      print_status();
      continue;
    }
    if (finishes && !signalled.exchange(true)) {
      eventfd_write(event, 1);
      std::fputs("wyrm: interrupted; finishing the current batch; another signal ends the program at once\n", stderr);
      take_repetitions(signals);
      continue;
    }
    try {
      std::thread(remove_files_and_exit).detach();
    } catch (std::system_error const&) {
      remove_files_and_exit();
    }
    take_repetitions(signals);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // another signal ends the program while files are removed
    for (;;) ::pause();
  }
}

// So that a file that the program opens does not become a standard stream.
void occupy_closed_streams() {
  for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

void set_up_process() {
  occupy_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  event = eventfd(0, EFD_CLOEXEC);
  if (event < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  sigset_t signals;
  sigemptyset(&signals);
  for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  sigset_t blocked = signals;
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  std::thread(wait_for_signals, signals).detach();
}

void finish_when_interrupted() { finishes = true; }
bool interrupted() { return signalled; }
int interruption() { return event; }
void end_with_program(pid_t child) { child_process = child; }
void await_end_after_signal() {
  std::this_thread::sleep_for(together);
  while (ends) ::pause();
}

void set_status(std::function<std::string()> status) {
  std::lock_guard const lock(status_mutex);
  status_now = std::move(status);
}

}  // namespace wyrm::apps
