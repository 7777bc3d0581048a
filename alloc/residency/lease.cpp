// SPDX-License-Identifier: Apache-2.0
// One thread owns the connection: it sends and receives all messages. The others change numbers under a lock, and wake
// it. So messages leave in one order, and no call blocks on the socket.
#include "lease.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "../../exec/error.hpp"
#include "broker.hpp"
#include "broker_protocol.hpp"

namespace wyrm::alloc::residency {

using namespace detail;

namespace {

constexpr int retry_ms = 10;                                  // between attempts to connect
constexpr std::uint64_t start_ms = 300;                       // between attempts to start a broker
constexpr std::uint64_t refused_ms = 200;                     // before the next attempt after a refusal
constexpr auto answer_time = std::chrono::milliseconds(500);  // beyond the patience, for the answer to arrive
constexpr auto longest_patience = std::chrono::hours(1);

// A new file, locked by this process.
std::pair<std::uint64_t, descriptor> new_lease_file(std::string const& socket) {
  std::string const folder = lease_folder(socket);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) throw_io("cannot create the folder " + folder);
  std::random_device random;
  for (;;) {
    std::uint64_t const id = std::uint64_t{random()} << 32 | random();
    std::string const path = lease_file(socket, id);
    descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (id == 0 || (!file && errno == EEXIST)) continue;
    std::uint64_t const none = 0;
    if (!file || ::pwrite(file.get(), &none, sizeof none, 0) != sizeof none) throw_io("cannot write " + path);
    struct stat found {};
    // A broker that starts removes files without a lock, maybe before this one had its own.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(file.get(), &found) == 0 && found.st_nlink == 1)
      return {id, std::move(file)};
  }
}

// Between fork() and exec(). `most`: how many descriptors a process has, where the system cannot close a range.
void close_from(int first, long most) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
  for (int number = first; number < most; ++number) ::close(number);
}

// Runs a program that is no child of this process and has none of its files. Between fork() and exec() there are only
// calls that are safe in a process with threads. Returns the error number; 0 if the program runs.
int start_program(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  constexpr int first_free = STDERR_FILENO + 1;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  descriptor const result(ends[0]);
  // ends[1] is a standard stream if the caller has closed that one.
  descriptor report(::fcntl(ends[1], F_DUPFD_CLOEXEC, first_free));
  int const unmoved = errno;
  ::close(ends[1]);
  if (!report) return unmoved;
  long const most = ::sysconf(_SC_OPEN_MAX);
  pid_t const child = ::fork();
  if (child < 0) return errno;
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    int const null = ::open("/dev/null", O_RDWR);
    for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
    if (report.get() != first_free) ::dup3(report.get(), first_free, O_CLOEXEC);
    close_from(first_free + 1, most);  // else the program keeps pipes and locks of this process
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(argv[0], argv.data());
    int const failed = errno;
    (void)!::write(first_free, &failed, sizeof failed);
    ::_exit(127);
  }
  report = descriptor();
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  int failed = 0;
  return ::read(result.get(), &failed, sizeof failed) == sizeof failed ? failed : 0;
}

std::string program_name() {
#ifdef __GLIBC__
  return ::program_invocation_short_name;
#else
  return "unnamed";
#endif
}

lease_options completed(lease_options o) {
  if (o.priority == 0) throw error(error_code::bad_argument, "the priority of a lease is at least 1");
  if (o.socket.empty()) o.socket = broker_socket(o.device);
  if (o.name.empty()) o.name = program_name();
  for (std::chrono::milliseconds* const patience : {&o.patience, &o.start_patience})
    *patience = std::clamp<std::chrono::milliseconds>(*patience, std::chrono::milliseconds(0), longest_patience);
  return o;
}

}  // namespace

class lease::client {
 public:
  explicit client(lease_options o) : options_(completed(std::move(o))) {
    make_private_folder(options_.socket);
    wake_ = descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_) throw_io("cannot make an event");
    std::tie(id_, file_) = new_lease_file(options_.socket);
    (void)connect();  // here, so that trouble_ says why, even if the thread does not run within the patience
    thread_ = std::thread([this] { communicate(); });
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, options_.start_patience, [&] { return connected_ || failed_; });
    if (connected_) return;
    std::string const why = "no lease from the broker at " + options_.socket + ": " + trouble_;
    lock.unlock();
    end();
    throw error(error_code::io, why);
  }
  ~client() { end(); }

  [[nodiscard]] std::chrono::milliseconds patience() const { return options_.patience; }
  std::size_t acquire(std::size_t bytes, std::size_t step, std::chrono::milliseconds patience) {
    if (step == 0) throw error(error_code::bad_argument, "a lease is acquired in steps of at least 1 byte");
    if (bytes < step) return 0;
    std::uint64_t const deadline = now_ms() + static_cast<std::uint64_t>(patience.count());
    auto const end = std::chrono::steady_clock::now() + patience;
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, end, [&] { return !request_; })) return 0;  // that of another thread
    request_ = {bytes, step, deadline};
    wake();
    changed_.wait_until(lock, end, [&] { return answer_.has_value(); });
    // The broker grants what there is at about this moment.
    changed_.wait_for(lock, answer_time, [&] { return answer_.has_value() || !connected_; });
    is_late_ = asked_;
    request_.reset();
    std::size_t const granted = std::exchange(answer_, std::nullopt).value_or(0);
    lock.unlock();
    changed_.notify_all();
    return granted;
  }

  void give_back(std::size_t bytes) noexcept {
    std::lock_guard const lock(mutex_);
    release(std::min(bytes, held_));
  }

  std::size_t wanted_back() const {
    std::lock_guard const lock(mutex_);
    std::size_t const since = returned_ - returned_at_wanted_;  // on its way when the broker asked
    return wanted_ > since ? wanted_ - since : 0;
  }

  std::size_t limit() const { return read(limit_); }
  std::size_t held() const { return read(held_); }
  bool is_connected() const { return read(connected_); }

 private:
  struct wish {
    std::size_t bytes;
    std::size_t step;
    std::uint64_t deadline;  // in ms
  };

  template <class T>
  T read(T const& value) const {
    std::lock_guard const lock(mutex_);
    return value;
  }

  void wake() noexcept { (void)::eventfd_write(wake_.get(), 1); }

  void release(std::size_t bytes) {
    held_ -= bytes;
    returned_ += bytes;
    wake();
  }

  void end() {
    {
      std::lock_guard const lock(mutex_);
      ends_ = true;
    }
    wake();
    thread_.join();
    ::unlink(lease_file(options_.socket, id_).c_str());
    file_ = descriptor();  // before the socket: else the broker keeps the bytes for a new connection for a moment
    link_.reset();
  }

  // The thread.
  void communicate() {
    while (!read(ends_)) {
      if (!link_ && !connect()) {
        sleep(retry_ms);
        continue;
      }
      send();
      pollfd polled[] = {{wake_.get(), POLLIN, 0},
                         {link_->get(), static_cast<short>(link_->has_unsent() ? POLLIN | POLLOUT : POLLIN), 0}};
      (void)::poll(polled, 2, -1);
      clear_wake();
      link_->flush();
      message m;
      while (link_->receive(m) && take(m)) {
      }
      if (link_ && link_->lost()) disconnect();
    }
  }

  void clear_wake() {
    eventfd_t value = 0;
    (void)::eventfd_read(wake_.get(), &value);
  }

  void sleep(int ms) {
    pollfd polled{wake_.get(), POLLIN, 0};
    if (::poll(&polled, 1, ms) > 0) {
      clear_wake();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void note(std::string why) {
    std::lock_guard const lock(mutex_);
    trouble_ = std::move(why);
  }

  bool connect() {
    if (now_ms() < connect_at_) return false;
    try {
      descriptor made = connect_to(options_.socket);
      if (made) {
        link_.emplace(std::move(made));
        std::lock_guard const lock(mutex_);
        message m{.kind = message_kind::hello};
        m.id = id_;
        m.bytes = held_;
        m.least = options_.least;
        m.priority = options_.priority;
        m.set_words(options_.name);
        link_->send(m);
        returned_ = returned_sent_ = returned_at_wanted_ = wanted_ = 0;
        asked_ = is_late_ = false;
        return true;
      }
      start_broker();
    } catch (error const& e) {
      note(e.what());
    }
    return false;
  }

  void start_broker() {
    if (options_.start.empty()) return note("there is none; start one with `wyrm broker`");
    if (now_ms() < start_at_) return;
    start_at_ = now_ms() + start_ms;
    std::vector<std::string> command = options_.start;
    if (command.size() == 1) {
      command.insert(command.end(), {"broker", "--socket", options_.socket, "--device", options_.device});
      std::size_t const last = read(limit_);
      std::size_t const memory = last != 0 ? last : options_.memory;  // two brokers in turn have the same budget
      if (memory != 0) command.insert(command.end(), {"--memory", std::to_string(memory)});
    }
    std::string shown = "`";
    for (std::string const& word : command) shown += (shown.size() > 1 ? " " : "") + word;
    shown += '`';
    int const failed = start_program(std::move(command));
    note(failed != 0 ? "there is none, and " + shown + " cannot be run: " + std::generic_category().message(failed) +
                           "; start it by hand"
                     : "there is none, although " + shown + " was run; run it by hand to see why");
    if (failed != 0) {
      std::lock_guard const lock(mutex_);
      failed_ = true;
      changed_.notify_all();
    }
  }

  void disconnect() {
    link_.reset();
    connect_at_ = std::max(connect_at_, now_ms() + retry_ms);
    std::lock_guard const lock(mutex_);
    connected_ = asked_ = is_late_ = false;
    wanted_ = 0;
    changed_.notify_all();
  }

  // One of each kind at a time, so that few wait in the buffer.
  void send() {
    std::lock_guard const lock(mutex_);
    if (!connected_ || link_->has_unsent()) return;
    if (returned_ != returned_sent_) {
      message m{.kind = message_kind::give_back};
      m.bytes = returned_ - std::exchange(returned_sent_, returned_);
      link_->send(m);
    }
    if (request_ && !asked_ && !answer_) {
      std::uint64_t const now = now_ms();
      message m{.kind = message_kind::acquire};
      m.bytes = request_->bytes;
      m.step = request_->step;
      m.limit = request_->deadline > now ? request_->deadline - now : 0;
      link_->send(m);
      asked_ = true;
    }
  }

  // False if the connection is of no use any more.
  bool take(message const& m) {
    if (m.magic == protocol_magic && m.kind == message_kind::refused) return refuse(m.words());
    if (!m.is_current()) return refuse("it speaks another protocol");
    std::lock_guard const lock(mutex_);
    switch (m.kind) {
      case message_kind::welcome:
        limit_ = m.limit;
        connected_ = true;
        break;
      case message_kind::grant:
        held_ += m.bytes;
        asked_ = false;
        if (std::exchange(is_late_, false))
          release(m.bytes);  // acquire() has given up
        else
          answer_ = m.bytes;
        break;
      case message_kind::wanted:
        wanted_ = m.bytes;
        returned_at_wanted_ = m.step;
        break;
      default: break;  // nothing that a broker of this version says
    }
    changed_.notify_all();
    return true;
  }

  bool refuse(std::string const& why) {
    connect_at_ = now_ms() + refused_ms;
    note("it refuses: " + why);
    disconnect();
    std::lock_guard const lock(mutex_);
    failed_ = true;
    changed_.notify_all();
    return false;
  }

  lease_options const options_;
  descriptor wake_;
  std::uint64_t id_ = 0;
  descriptor file_;

  // Of the thread, once it runs.
  std::optional<channel> link_;
  std::uint64_t connect_at_ = 0;
  std::uint64_t start_at_ = 0;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool ends_ = false;
  bool connected_ = false;  // welcome
  bool failed_ = false;     // without hope that the constructor gets further
  std::string trouble_ = "it does not answer";
  std::size_t limit_ = 0;
  std::size_t held_ = 0;
  std::size_t returned_ = 0;       // since the connection was made
  std::size_t returned_sent_ = 0;  // of these, what the broker was told
  std::size_t wanted_ = 0;
  std::size_t returned_at_wanted_ = 0;  // what the broker had received when it asked
  std::optional<wish> request_;         // of acquire(), as long as it waits
  std::optional<std::size_t> answer_;
  bool asked_ = false;    // the broker has a request and has not answered
  bool is_late_ = false;  // that request is one for which acquire() does not wait any more

  std::thread thread_;
};

lease::lease(lease_options o) : client_(std::make_unique<client>(std::move(o))) {}
lease::~lease() = default;
std::size_t lease::acquire(std::size_t bytes, std::size_t step) {
  return client_->acquire(bytes, step, client_->patience());
}
// The broker answers a request without patience at once.
std::size_t lease::try_acquire(std::size_t bytes, std::size_t step) {
  return client_->acquire(bytes, step, std::chrono::milliseconds(0));
}
void lease::give_back(std::size_t bytes) noexcept { client_->give_back(bytes); }
std::size_t lease::wanted_back() const { return client_->wanted_back(); }
std::size_t lease::limit() const { return client_->limit(); }
std::size_t lease::held() const { return client_->held(); }
bool lease::is_connected() const { return client_->is_connected(); }

}  // namespace wyrm::alloc::residency
