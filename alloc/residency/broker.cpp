// SPDX-License-Identifier: Apache-2.0
#include "broker.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <list>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "../../exec/config.hpp"
#include "../../exec/error.hpp"
#include "broker_protocol.hpp"
#include "lease_ledger.hpp"
#if WYRM_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace wyrm::alloc::residency {

using namespace detail;

std::string broker_socket(std::string const& device) {
  if (device == "cpu") return socket_path(device);
  int number = -1;
  std::string_view const digits = std::string_view(device).substr(std::min<std::size_t>(device.size(), 5));
  auto const [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (!device.starts_with("cuda:") || failed != std::errc() || end != digits.data() + digits.size() || number < 0)
    throw error(error_code::bad_argument, "'" + device + "' is no device of a broker; use cpu or cuda:N");
#if WYRM_WITH_CUDA
  cudaDeviceProp properties{};
  if (cudaError_t const e = cudaGetDeviceProperties(&properties, number); e != cudaSuccess) {
    (void)cudaGetLastError();
    throw error(error_code::device, "there is no " + device + ": " + cudaGetErrorString(e));
  }
  std::string name = "cuda-";
  for (char const byte : properties.uuid.bytes)
    for (int const shift : {4, 0}) name += "0123456789abcdef"[static_cast<unsigned char>(byte) >> shift & 15];
  return socket_path(name);
#else
  throw error(error_code::device, "there is no " + device + ": this build of Wyrm has no CUDA");
#endif
}

namespace {

constexpr std::size_t most_memory = std::size_t{1} << 62;
constexpr std::uint64_t reservation_check_ms = 20;
constexpr std::uint64_t silence_ms = 5'000;  // of a connection that has not said what it wants
constexpr std::uint64_t retry_ms = 100;      // after the process ran out of descriptors
constexpr int messages_a_turn = 64;          // so that a client that floods does not keep others waiting
constexpr std::uint64_t longest_patience_ms = 3'600'000;

struct peer {
  peer(descriptor socket, pid_t process) : link(std::move(socket)), pid(static_cast<std::uint64_t>(process)) {}

  channel link;
  std::uint64_t pid;
  std::uint64_t since = now_ms();
  bool has_spoken = false;
  bool dropped = false;
  std::uint64_t lease = 0;  // the id of the lease; 0 before hello
  lease_ledger::client_id account = 0;
  std::string name;
  descriptor file;              // of the lease
  std::uint64_t returned = 0;   // bytes that it has given back since its hello
  std::size_t wanted_sent = 0;  // bytes
};

// What a process without a connection holds.
struct reservation {
  lease_ledger::client_id account;
  std::size_t least;
  std::size_t held;
  descriptor file;
};

// Where the file of a lease has its numbers.
constexpr off_t granted_at = 0;
constexpr off_t least_at = 8;

bool write_bytes(int file, off_t at, std::uint64_t bytes) {
  return ::pwrite(file, &bytes, sizeof bytes, at) == sizeof bytes;
}

// 0 if the file has no number there: then nothing was granted or promised.
std::size_t bytes_in(int file, off_t at) {
  std::uint64_t bytes = 0;
  return ::pread(file, &bytes, sizeof bytes, at) == sizeof bytes ? bytes : 0;
}

descriptor open_lease(std::string const& path) {
  descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return descriptor();
  return file;
}

descriptor lock_for_broker(std::string const& socket) {
  std::string const path = socket + ".lock";
  descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) throw_io("cannot open " + path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK)
    throw error(error_code::io, "another broker serves " + socket + "; `wyrm broker --status` shows it");
  throw_io("cannot lock " + path);
}

}  // namespace

class broker::server {
 public:
  explicit server(broker_options o) : options_(std::move(o)), ledger_(options_.memory) {
    if (options_.memory == 0 || options_.memory > most_memory)
      throw error(error_code::bad_argument,
                  "the budget of a broker has 1 to 2^62 bytes, not " + std::to_string(options_.memory));
    if (options_.idle.count() < 0)
      throw error(error_code::bad_argument, "the idle time of a broker is 0 (no end) or more, not " +
                                                std::to_string(options_.idle.count()) + " ms");
    make_private_folder(options_.socket);
    lock_ = lock_for_broker(options_.socket);
    stop_ = descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop_) throw_io("cannot make an event");
    reserve_leases();
    listener_ = listen_at(options_.socket);
    busy_at_ = now_ms();
  }
  ~server() {
    if (listener_) ::unlink(options_.socket.c_str());
  }

  void stop() noexcept { (void)::eventfd_write(stop_.get(), 1); }

  void run() {
    for (;;) {
      wait();
      if (polled_[0].revents != 0) return;
      std::size_t at = 2;
      for (auto p = peers_.begin(); at < polled_.size(); ++p, ++at)
        if (polled_[at].revents != 0) serve(*p);
      if (now_ms() >= accept_at_ && polled_[1].revents != 0) accept_peers();
      check_reservations();
      do {
        drop_peers();
        settle();
      } while (std::ranges::any_of(peers_, [](peer const& p) { return p.dropped || p.link.lost(); }));
      if (is_idle()) return;
    }
  }

 private:
  // Leases of processes that outlived the last broker. Nobody else changes the folder's old files: this process has the
  // broker's lock.
  void reserve_leases() {
    std::string const folder = lease_folder(options_.socket);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) throw_io("cannot create the folder " + folder);
    std::unique_ptr<DIR, int (*)(DIR*)> const files(::opendir(folder.c_str()), ::closedir);
    if (!files) throw_io("cannot read the folder " + folder);
    while (dirent const* const entry = ::readdir(files.get())) {
      std::string_view const name = entry->d_name;
      std::uint64_t id = 0;
      auto const [end, failed] = std::from_chars(name.data(), name.data() + name.size(), id);
      if (failed != std::errc() || end != name.data() + name.size() || id == 0) continue;
      descriptor file = open_lease(lease_file(options_.socket, id));
      if (!file) continue;
      if (is_released(file.get())) {
        ::unlink(lease_file(options_.socket, id).c_str());
      } else {
        std::size_t const least = bytes_in(file.get(), least_at);
        std::size_t const held = bytes_in(file.get(), granted_at);
        reserve(id, std::move(file), least, held);
      }
    }
  }

  void reserve(std::uint64_t id, descriptor file, std::size_t least, std::size_t held) {
    if (least == 0 && held == 0) return;
    std::uint64_t const account = next_account_++;
    ledger_.reserve(account, least, held);
    reservations_.insert_or_assign(id, reservation{account, least, held, std::move(file)});
  }

  void check_reservations() {
    if (reservations_.empty() || now_ms() < check_at_) return;
    check_at_ = now_ms() + reservation_check_ms;
    std::erase_if(reservations_, [&](auto const& entry) {
      if (!is_released(entry.second.file.get())) return false;
      ledger_.leave(entry.second.account);
      ::unlink(lease_file(options_.socket, entry.first).c_str());
      return true;
    });
  }

  [[nodiscard]] bool is_idle() {
    std::uint64_t const now = now_ms();
    if (!peers_.empty() || !reservations_.empty()) busy_at_ = now;
    return options_.idle.count() != 0 && now - busy_at_ >= static_cast<std::uint64_t>(options_.idle.count());
  }

  void wait() {
    std::uint64_t const now = now_ms();
    std::uint64_t until = now + 60'000;
    if (auto const deadline = ledger_.next_deadline()) until = std::min(until, *deadline);
    if (!reservations_.empty()) until = std::min(until, check_at_);
    if (options_.idle.count() != 0 && peers_.empty())
      until = std::min(until, busy_at_ + static_cast<std::uint64_t>(options_.idle.count()));
    bool const accepts = now >= accept_at_;
    if (!accepts) until = std::min(until, accept_at_);
    polled_.clear();
    polled_.push_back({stop_.get(), POLLIN, 0});
    polled_.push_back({accepts ? listener_.get() : -1, POLLIN, 0});
    for (peer const& p : peers_) {
      if (!p.has_spoken) until = std::min(until, p.since + silence_ms);
      polled_.push_back({p.link.get(), static_cast<short>(p.link.has_unsent() ? POLLIN | POLLOUT : POLLIN), 0});
    }
    int const timeout = until > now ? static_cast<int>(until - now) : 0;
    if (::poll(polled_.data(), polled_.size(), timeout) < 0) {
      if (errno != EINTR && errno != EAGAIN && errno != ENOMEM) throw_io("the broker cannot wait for its clients");
      for (pollfd& p : polled_) p.revents = 0;
    }
  }

  void accept_peers() {
    for (int i = 0; i < messages_a_turn; ++i) {
      descriptor made(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!made) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) accept_at_ = now_ms() + retry_ms;
        return;
      }
      ucred who{};
      socklen_t size = sizeof who;
      bool const known = ::getsockopt(made.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
      peer p(std::move(made), who.pid);
      if (!known || who.uid != ::geteuid())
        refuse(p, "this broker serves another user");
      else if (peers_.size() >= options_.most_clients)
        refuse(p, "the broker has " + std::to_string(peers_.size()) + " clients, the most it takes");
      else
        peers_.push_back(std::move(p));
    }
  }

  static void refuse(peer& p, std::string const& why) {
    message m{.kind = message_kind::refused};
    m.set_words(why);
    p.link.send(m);
    p.dropped = true;
  }

  void serve(peer& p) {
    p.link.flush();
    message m;
    for (int i = 0; i < messages_a_turn && !p.dropped && p.link.receive(m); ++i) {
      if (m.magic != protocol_magic)
        p.dropped = true;
      else if (m.version != protocol_version)
        refuse(p, "broker has protocol " + std::to_string(protocol_version) + ", client " + std::to_string(m.version) +
                      ": restart the older one");
      else if (!obey(p, m))
        p.dropped = true;
    }
  }

  // False if the message is against the rules.
  bool obey(peer& p, message const& m) {
    p.has_spoken = true;
    if (m.kind == message_kind::status) {
      report(p);
      return true;
    }
    if (m.kind == message_kind::hello) return p.lease == 0 && welcome(p, m);
    if (p.lease == 0) return false;
    if (m.kind == message_kind::acquire)
      return ledger_.request(p.account, m.bytes, m.step, now_ms() + std::min(m.limit, longest_patience_ms));
    if (m.kind != message_kind::give_back || !ledger_.give_back(p.account, m.bytes)) return false;
    p.returned += m.bytes;
    p.wanted_sent -= std::min<std::size_t>(p.wanted_sent, m.bytes);  // as the client does
    (void)write_bytes(p.file.get(), granted_at, held_by(p));  // if it fails, the file says too much, which is safe
    return true;
  }

  bool welcome(peer& p, message const& m) {
    descriptor file = m.id != 0 ? open_lease(lease_file(options_.socket, m.id)) : descriptor();
    if (m.priority == 0 || !file || is_released(file.get()) || m.bytes > bytes_in(file.get(), granted_at)) return false;
    for (peer& other : peers_)
      if (other.lease == m.id) end_lease(other);  // its process has made a new connection
    auto const old = reservations_.find(m.id);
    if (old != reservations_.end()) ledger_.leave(old->second.account);
    if (!ledger_.can_promise(m.least)) {
      if (old != reservations_.end()) ledger_.reserve(old->second.account, old->second.least, old->second.held);
      refuse(p, "least: with that of others more than " + std::to_string(ledger_.total()) + " bytes");
      return true;
    }
    if (old != reservations_.end()) reservations_.erase(old);
    p.account = next_account_++;
    ledger_.join(p.account, m.priority, m.least, m.bytes);
    p.lease = m.id;
    p.name = m.words();
    p.file = std::move(file);
    (void)write_bytes(p.file.get(), least_at, m.least);  // if it fails, the next broker does not know the promise
    (void)write_bytes(p.file.get(), granted_at, m.bytes);
    message answer{.kind = message_kind::welcome};
    answer.limit = ledger_.total();
    p.link.send(answer);
    return true;
  }

  [[nodiscard]] std::size_t held_by(peer const& p) const { return ledger_.clients().at(p.account).held; }

  void report(peer& to) {
    auto const say = [&](lease_ledger::client_id account, std::uint64_t pid, std::string const& name) {
      lease_ledger::client const& c = ledger_.clients().at(account);
      message m{.kind = message_kind::status_client,
                .id = pid,
                .bytes = c.held,
                .limit = c.waits_for,
                .least = c.least,
                .priority = c.priority,
                .wanted = c.wanted};
      m.set_words(name);
      to.link.send(m);
    };
    for (peer const& p : peers_)
      if (p.lease != 0) say(p.account, p.pid, p.name);
    for (auto const& [id, r] : reservations_) say(r.account, 0, "(not connected)");
    to.link.send({.kind = message_kind::status_end, .bytes = ledger_.held(), .limit = ledger_.total()});
  }

  // What a process that lives holds, and was promised, stays reserved.
  void end_lease(peer& p) {
    p.dropped = true;
    if (p.lease == 0) return;
    lease_ledger::client const was = ledger_.clients().at(p.account);
    ledger_.leave(p.account);
    if (is_released(p.file.get()))
      ::unlink(lease_file(options_.socket, p.lease).c_str());
    else
      reserve(p.lease, std::move(p.file), was.least, was.held);
    p.lease = 0;
  }

  void drop_peers() {
    std::uint64_t const now = now_ms();
    std::erase_if(peers_, [&](peer& p) {
      if (!p.dropped && !p.link.lost() && (p.has_spoken || now < p.since + silence_ms)) return false;
      end_lease(p);
      return true;
    });
  }

  void settle() {
    std::map<lease_ledger::client_id, peer*> by_account;
    for (peer& p : peers_)
      if (p.lease != 0) by_account[p.account] = &p;
    for (lease_ledger::grant const& g : ledger_.settle(now_ms())) {
      peer& p = *by_account.at(g.to);
      message m{.kind = message_kind::grant, .bytes = g.bytes};
      if (g.bytes != 0 && !write_bytes(p.file.get(), granted_at, held_by(p))) {  // before the client learns of it
        (void)ledger_.give_back(g.to, g.bytes);
        m.bytes = 0;
      }
      p.link.send(m);
    }
    for (auto const& [account, p] : by_account) {
      std::size_t const wanted = ledger_.clients().at(account).wanted;
      if (wanted == p->wanted_sent || p->link.has_unsent())
        continue;  // else a client that does not read fills a buffer
      p->wanted_sent = wanted;
      p->link.send({.kind = message_kind::wanted, .bytes = wanted, .step = p->returned});
    }
  }

  broker_options options_;
  descriptor lock_;
  descriptor stop_;
  descriptor listener_;
  lease_ledger ledger_;
  std::list<peer> peers_;
  std::map<std::uint64_t, reservation> reservations_;  // by the id of the lease
  lease_ledger::client_id next_account_ = 1;
  std::vector<pollfd> polled_;  // stop, listener, peers in their order
  std::uint64_t busy_at_ = 0;
  std::uint64_t check_at_ = 0;
  std::uint64_t accept_at_ = 0;
};

broker::broker(broker_options o) : server_(std::make_unique<server>(std::move(o))) {}
broker::~broker() = default;
void broker::run() { server_->run(); }
void broker::stop() noexcept { server_->stop(); }

broker_status status_of_broker(std::string const& socket) {
  descriptor made = connect_to(socket);
  if (!made)
    throw error(error_code::io, "no broker serves " + socket + "; `wyrm broker` starts one, as does the first client");
  channel link(std::move(made));
  link.send({.kind = message_kind::status});
  broker_status status;
  std::uint64_t const end = now_ms() + 5'000;
  for (;;) {
    message m;
    // Also if the connection is lost: a broker that refuses says why, and hangs up, maybe before it was asked.
    while (link.receive(m)) {
      if (m.magic == protocol_magic && m.kind == message_kind::refused)
        throw error(error_code::io, "the broker at " + socket + " refuses: " + m.words());
      if (!m.is_current()) throw error(error_code::io, "the broker at " + socket + " speaks another protocol");
      if (m.kind == message_kind::status_end) {
        status.budget = m.limit;
        status.held = m.bytes;
        return status;
      }
      status.clients.push_back({m.words(), m.id, m.priority, m.least, m.bytes, m.limit, m.wanted});
    }
    std::uint64_t const now = now_ms();
    if (link.lost() || now >= end) break;
    pollfd p{link.get(), POLLIN, 0};
    (void)::poll(&p, 1, static_cast<int>(end - now));
  }
  throw error(error_code::io, "the broker at " + socket + " does not answer; end it, and start another one");
}

}  // namespace wyrm::alloc::residency
