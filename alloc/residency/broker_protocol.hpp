// SPDX-License-Identifier: Apache-2.0
// The protocol between a broker and its clients: messages of one size over a Unix domain socket, and the path of that
// socket. Needs POSIX; internal to broker.cpp and lease.cpp.
//
// client                              broker
// hello {id, bytes held, ...}     ->
//                                 <-  welcome {budget}, or refused {why}
// acquire {bytes, step, patience} ->
//                                 <-  grant {bytes}: one for each acquire, which may be of 0 bytes
// give_back {bytes}               ->
//                                 <-  wanted {bytes}, whenever it changes
// status                          ->
//                                 <-  status_client for each client, status_end {budget, held}
// A client that breaks these rules is disconnected.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "../../exec/error.hpp"

namespace wyrm::alloc::residency::detail {

enum class message_kind : std::uint16_t {
  hello = 1,
  welcome,
  refused,
  acquire,
  grant,
  give_back,
  wanted,
  status,
  status_client,
  status_end,
};

inline constexpr std::uint32_t protocol_magic = 0x6d727957;  // "Wyrm"
inline constexpr std::uint16_t protocol_version = 1;

/// In the byte order of the machine: both ends are on one. The size, the first three fields, and `refused` are the same
/// in all versions.
struct message {
  std::uint32_t magic = protocol_magic;
  std::uint16_t version = protocol_version;
  message_kind kind{};
  std::uint64_t id = 0;        // hello: of the lease, not 0; status_client: the process
  std::uint64_t bytes = 0;     // hello, status_client, status_end: held
  std::uint64_t step = 0;      // acquire; wanted: all bytes that the client has given back so far
  std::uint64_t limit = 0;     // welcome, status_end: the budget; acquire: patience in ms; status_client: waits for
  std::uint64_t least = 0;     // hello, status_client
  std::uint32_t priority = 0;  // hello, status_client
  std::uint32_t reserved = 0;
  std::uint64_t wanted = 0;        // status_client
  std::array<char, 64> text = {};  // hello, status_client: the client's name; refused: why; ends with a 0

  [[nodiscard]] bool is_current() const { return magic == protocol_magic && version == protocol_version; }
  [[nodiscard]] std::string words() const { return {text.data(), ::strnlen(text.data(), text.size())}; }
  /// Truncates a text that is too long.
  void set_words(std::string_view s) {
    text = {};
    s.copy(text.data(), text.size() - 1);
  }
};
static_assert(sizeof(message) == 128);

/// Closes a descriptor; -1 is none.
class descriptor {
 public:
  explicit descriptor(int number = -1) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor();
  [[nodiscard]] int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

/// A connection that never blocks: messages may arrive, and leave, in parts.
class channel {
 public:
  static constexpr std::size_t most_unsent = 2048;  // messages; a peer that leaves more unread is lost

  explicit channel(descriptor socket) : socket_(std::move(socket)) {}
  [[nodiscard]] int get() const { return socket_.get(); }
  [[nodiscard]] bool lost() const { return lost_; }
  [[nodiscard]] bool has_unsent() const { return !unsent_.empty(); }
  /// Queues a message, and sends what the socket takes.
  void send(message const&);
  void flush();
  /// Whether there was a whole message. Without one, lost() may have become true.
  [[nodiscard]] bool receive(message&);

 private:
  descriptor socket_;
  std::deque<message> unsent_;
  std::size_t sent_ = 0;  // bytes of the first one
  std::array<char, sizeof(message)> partial_{};
  std::size_t received_ = 0;  // bytes of `partial_`
  bool lost_ = false;
};

/// "broker-DEVICE.sock" in $XDG_RUNTIME_DIR/wyrm or, without that variable, /tmp/wyrm-UID.
[[nodiscard]] std::string socket_path(std::string_view device);
/// Creates the folder of a socket, for the user alone, if it is not there. Throws error(io) if it belongs to another
/// user or if others may write in it.
void make_private_folder(std::string const& socket);
/// A connection, or none if no broker listens. Throws error(io) if the socket is not usable, error(bad_argument) if the
/// path is too long.
[[nodiscard]] descriptor connect_to(std::string const& socket);
/// A listening socket with mode 0600 in place of any file of this name. Throws as connect_to().
[[nodiscard]] descriptor listen_at(std::string const& socket);

/// A lease's file: its lock is held as long as a process has the lease. Its first 8 bytes are how many bytes the broker
/// has granted, the next 8 are the `least` that it has guaranteed. After a broker was killed, the next one reads from
/// it the bytes that it must not grant or guarantee to others.
[[nodiscard]] std::string lease_folder(std::string const& socket);
[[nodiscard]] std::string lease_file(std::string const& socket, std::uint64_t id);
/// Whether no process has the lease of this open file any more.
[[nodiscard]] bool is_released(int file);

[[noreturn]] void throw_io(std::string const& what);  // with errno
[[nodiscard]] std::uint64_t now_ms();

}  // namespace wyrm::alloc::residency::detail
