// SPDX-License-Identifier: Apache-2.0
// Owners of memory of a space: `buffer` and `staging_buffer` for arrays, `reservation` for pools that grow in place.
// Both `buffer` and `reservation` have a kind of memory (memory_kind.hpp). The copy functions of a space accept all
// kinds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "error.hpp"
#include "injected_failure.hpp"
#include "memory_kind.hpp"

namespace wyrm::exec {

/// The room for n elements of an array that has room for `room`: the same, or at least a quarter more.
[[nodiscard]] inline std::size_t grown_room(std::size_t room, std::size_t n) {
  return n <= room ? room : std::max(n, room + room / 4);
}

namespace detail {
template <class T>
[[nodiscard]] std::size_t bytes_of(std::size_t n) {
  if (n > ~std::size_t{0} / sizeof(T))
    throw error(error_code::out_of_memory, "an array of " + std::to_string(n) + " elements of " +
                                               std::to_string(sizeof(T)) + " bytes is larger than any memory");
  return n * sizeof(T);
}
}  // namespace detail

/// Owns an array of n elements in the memory of a space; the elements are not initialised. Movable, not copyable.
template <class T, class Space>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit buffer(Space const& space, std::size_t n = 0, memory_kind kind = memory_kind::device)
      : space_(space), kind_(kind) {
    reserve(n);
  }
  ~buffer() { release(); }
  buffer(buffer&& other) noexcept
      : space_(other.space_),
        kind_(other.kind_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(space_, other.space_);
    std::swap(kind_, other.kind_);
    return *this;
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }
  [[nodiscard]] memory_kind kind() const { return kind_; }

  /// Ensures size() >= n. Replaces the array if it is smaller; its contents are lost then. Meant for scratch that is
  /// reused: each growth except the first adds at least a quarter of the size. Throws error(out_of_memory); the array
  /// then has size 0.
  void reserve(std::size_t n) {
    if (n <= size_) return;
    n = grown_room(size_, n);
    std::size_t const bytes = detail::bytes_of<T>(n);
    release();
    detail::count_request();
    data_ = static_cast<T*>(space_.allocate(bytes, kind_));
    size_ = n;
  }

 private:
  void release() noexcept {
    if (data_ != nullptr) space_.deallocate(data_, bytes(), kind_);
    data_ = nullptr;
    size_ = 0;
  }

  Space space_;
  memory_kind kind_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Owns an array of n elements in host memory from which, and to which, the space copies fastest. The elements are not
/// initialised. Movable, not copyable.
template <class T, class Space>
class staging_buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  staging_buffer(Space const& space, std::size_t n) : space_(space), data_(allocate(space, n)), size_(n) {}
  ~staging_buffer() {
    if (data_ != nullptr) space_.deallocate_staging(data_);
  }
  staging_buffer(staging_buffer&& other) noexcept
      : space_(other.space_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  staging_buffer& operator=(staging_buffer&&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }
  [[nodiscard]] std::span<T> span() const { return {data_, size_}; }

 private:
  static T* allocate(Space const& space, std::size_t n) {
    std::size_t const bytes = detail::bytes_of<T>(n);
    detail::count_request();
    return static_cast<T*>(space.allocate_staging(bytes));
  }

  Space space_;
  T* data_;
  std::size_t size_;
};

/// Copies values from host memory to memory of a space. Returns when `from` may be reused.
template <class T, class Space>
void copy_in(Space const& space, T* to, std::span<T const> from) {
  space.copy_in(to, from.data(), from.size_bytes());
}

/// Copies n values to the host. Returns when the copy is complete.
template <class T, class Space>
[[nodiscard]] std::vector<std::remove_const_t<T>> copy_out(Space const& space, T* from, std::size_t n) {
  std::vector<std::remove_const_t<T>> values(n);
  space.copy_out(values.data(), from, n * sizeof(T));
  return values;
}

/// Copies one value to the host. Returns when the copy is complete.
template <class T, class Space>
[[nodiscard]] T read(Space const& space, T const* from) {
  T value;
  space.copy_out(&value, from, sizeof(T));
  return value;
}

template <class T, class Space>
void write(Space const& space, T* to, T const& value) {
  space.copy_in(to, &value, sizeof(T));
}

/// Owns a range of addresses in which physical memory is committed in steps, from the front. A pool in the range grows
/// in place, and pointers stay valid. Committed memory is not initialised. Movable, not copyable.
///
/// Managed memory of a GPU cannot be allocated in steps: the constructor allocates all of it, and commit() moves the
/// pages to the device. To ensure that the device always has room for them, the constructor throws error(out_of_memory)
/// if the device has fewer free bytes than `capacity` plus the need of other managed memory of the process, and
/// commit() throws it if other memory has taken that room since. The message contains these numbers.
template <class Space>
class reservation {
 public:
  /// Reserves addresses for at least `capacity` bytes, and commits no memory. Throws error(out_of_memory).
  reservation(Space const& space, std::size_t capacity, memory_kind kind = memory_kind::device,
              use_rate rate = use_rate::normal)
      : space_(space), kind_(kind), capacity_(round_up(capacity)) {
    if (capacity_ == 0) return;
    detail::count_request();
    base_ = static_cast<std::byte*>(space_.reserve(capacity_, kind_, rate));
  }
  /// Reserves addresses for at least `most` bytes, or for fewer if the space refuses them: it halves the request down
  /// to `least` bytes. Throws error(out_of_memory) when the space refuses these, too.
  [[nodiscard]] static reservation between(Space const& space, std::size_t least, std::size_t most,
                                           memory_kind kind = memory_kind::device) {
    for (std::size_t capacity = most; capacity > least; capacity /= 2) {
      try {
        return reservation(space, capacity, kind);
      } catch (error const& refused) {
        if (refused.code() != error_code::out_of_memory) throw;
      }
    }
    return reservation(space, least, kind);
  }
  ~reservation() {
    if (base_ != nullptr) space_.unreserve(base_, capacity_, committed_, kind_);
  }
  reservation(reservation&& other) noexcept
      : space_(other.space_),
        kind_(other.kind_),
        base_(std::exchange(other.base_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        committed_(std::exchange(other.committed_, 0)) {}
  reservation& operator=(reservation&& other) noexcept {
    std::swap(space_, other.space_);
    std::swap(kind_, other.kind_);
    std::swap(base_, other.base_);
    std::swap(capacity_, other.capacity_);
    std::swap(committed_, other.committed_);
    return *this;
  }

  [[nodiscard]] std::byte* data() const { return base_; }
  [[nodiscard]] std::size_t committed() const { return committed_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] memory_kind kind() const { return kind_; }

  /// Commits memory until at least the first `bytes` bytes are usable; does nothing if they already are. Throws
  /// error(out_of_memory), and changes nothing, if the capacity or the memory of the device does not suffice.
  void commit(std::size_t bytes) {
    std::size_t const target = committed_after(bytes);
    if (target == committed_) return;
    detail::count_request();
    space_.commit(base_, committed_, target, kind_);
    committed_ = target;
  }
  /// The value of committed() after commit(bytes). Throws if that exceeds the capacity.
  [[nodiscard]] std::size_t committed_after(std::size_t bytes) const {
    if (bytes <= committed_) return committed_;
    if (bytes > capacity_)
      throw error(error_code::out_of_memory, "a pool of " + std::to_string(capacity_ >> 10) +
                                                 " KiB of addresses cannot grow to " + std::to_string(bytes >> 10) +
                                                 " KiB; reserve more when it is made");
    return round_up(bytes);
  }

  /// Moves the pages of committed bytes to a location, in the order of the work of the space. For managed memory of a
  /// GPU; does nothing for other kinds and on a CPU. Throws error(bad_argument) for bytes that are not committed.
  void prefetch(std::size_t offset, std::size_t bytes, memory_location to) const {
    require_committed("prefetch", offset, bytes);
    if (kind_ == memory_kind::managed && bytes > 0) space_.prefetch(base_ + offset, bytes, to);
  }
  /// Gives CUDA a hint on the use of committed bytes. Takes effect immediately. Otherwise like prefetch().
  void advise(std::size_t offset, std::size_t bytes, memory_advice advice,
              memory_location where = memory_location::device) const {
    require_committed("advise", offset, bytes);
    if (kind_ == memory_kind::managed && bytes > 0) space_.advise(base_ + offset, bytes, advice, where);
  }

 private:
  void require_committed(char const* call, std::size_t offset, std::size_t bytes) const {
    if (offset <= committed_ && bytes <= committed_ - offset) return;
    throw error(error_code::bad_argument, std::string(call) + ": " + std::to_string(bytes) + " bytes from offset " +
                                              std::to_string(offset) + " on, but " + std::to_string(committed_) +
                                              " bytes are committed; commit them first");
  }
  [[nodiscard]] std::size_t round_up(std::size_t bytes) const {
    std::size_t const step = space_.granularity();
    if (bytes > ~std::size_t{0} - step)
      throw error(error_code::out_of_memory, std::to_string(bytes) + " bytes are more than there are addresses");
    return (bytes + step - 1) / step * step;
  }

  Space space_;
  memory_kind kind_;
  std::byte* base_ = nullptr;
  std::size_t capacity_;
  std::size_t committed_ = 0;
};

/// Like buffer, for an array that can be as large as a graph. On a space with a memory manager it lies in an address
/// range (memory_manager.hpp), so that a part of it, or all, can be in host memory while the work runs: a buffer would
/// have to fit into the budget of the manager.
template <class T, class Space>
class large_buffer {
 public:
  /// rate: high for an array of which kernels read pieces many times.
  explicit large_buffer(Space const& space, use_rate rate = use_rate::normal)
      : space_(space), rate_(rate), array_(space) {}
  large_buffer(large_buffer&& other) noexcept
      : space_(other.space_),
        rate_(other.rate_),
        array_(std::move(other.array_)),
        range_(std::exchange(other.range_, std::nullopt)) {}
  large_buffer& operator=(large_buffer&& other) noexcept {
    std::swap(space_, other.space_);
    std::swap(rate_, other.rate_);
    std::swap(array_, other.array_);
    std::swap(range_, other.range_);
    return *this;
  }

  [[nodiscard]] T* data() const { return range_ ? reinterpret_cast<T*>(range_->data()) : array_.data(); }
  [[nodiscard]] std::size_t size() const { return range_ ? range_->committed() / sizeof(T) : array_.size(); }
  /// Whether the memory manager has some of the first n elements in host memory now.
  [[nodiscard]] bool is_in_host_memory(std::size_t n) const {
    return range_ && space_.manager()->in_host_memory(range_->data(), n * sizeof(T)) > 0;
  }

  /// As buffer::reserve().
  void reserve(std::size_t n) {
    if (n <= size()) return;
    if (space_.manager() == nullptr || detail::bytes_of<T>(n) < least_granules * space_.granularity()) {
      array_.reserve(n);
      return;
    }
    std::size_t const bytes = detail::bytes_of<T>(grown_room(size(), n));
    array_ = buffer<T, Space>(space_);
    range_.reset();
    reservation<Space> range(space_, bytes, memory_kind::device, rate_);
    range.commit(bytes);
    range_.emplace(std::move(range));
  }

 private:
  static constexpr std::size_t least_granules = 4;  // of a range: a smaller one would waste memory

  Space space_;
  use_rate rate_;
  buffer<T, Space> array_;  // used while there is no range
  std::optional<reservation<Space>> range_;
};

}  // namespace wyrm::exec
