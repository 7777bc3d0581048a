// SPDX-License-Identifier: Apache-2.0
// Owners of memory of a space: `buffer` and `staging_buffer` for arrays, `reservation` for pools that grow in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "error.hpp"
#include "injected_failure.hpp"

namespace wyrm::exec {

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
  explicit buffer(Space const& space, std::size_t n = 0) : space_(space) { reserve(n); }
  ~buffer() { release(); }
  buffer(buffer&& other) noexcept
      : space_(other.space_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(space_, other.space_);
    return *this;
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

  /// Ensures size() >= n. Replaces the array if it is smaller; its contents are lost then. Meant for scratch that is
  /// reused: each growth but the first adds at least a quarter of the size. Throws error(out_of_memory); the array then
  /// has size 0.
  void reserve(std::size_t n) {
    if (n <= size_) return;
    if (size_ > 0) n = std::max(n, size_ + size_ / 4);
    std::size_t const bytes = detail::bytes_of<T>(n);
    release();
    detail::count_request();
    data_ = static_cast<T*>(space_.allocate(bytes));
    size_ = n;
  }

 private:
  void release() noexcept {
    if (data_ != nullptr) space_.deallocate(data_, bytes());
    data_ = nullptr;
    size_ = 0;
  }

  Space space_;
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
template <class Space>
class reservation {
 public:
  /// Reserves addresses for at least `capacity` bytes, and commits no memory.
  reservation(Space const& space, std::size_t capacity) : space_(space), capacity_(round_up(capacity)) {
    if (capacity_ == 0) return;
    detail::count_request();
    base_ = static_cast<std::byte*>(space_.reserve(capacity_));
  }
  /// Reserves addresses for at least `most` bytes, or for fewer if the space refuses them: it halves the request down
  /// to `least` bytes. Throws error(out_of_memory) when the space refuses these, too.
  [[nodiscard]] static reservation between(Space const& space, std::size_t least, std::size_t most) {
    for (std::size_t capacity = most; capacity > least; capacity /= 2) {
      try {
        return reservation(space, capacity);
      } catch (error const& refused) {
        if (refused.code() != error_code::out_of_memory) throw;
      }
    }
    return reservation(space, least);
  }
  ~reservation() {
    if (base_ != nullptr) space_.unreserve(base_, capacity_, committed_);
  }
  reservation(reservation&& other) noexcept
      : space_(other.space_),
        base_(std::exchange(other.base_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        committed_(std::exchange(other.committed_, 0)) {}
  reservation& operator=(reservation&&) = delete;

  [[nodiscard]] std::byte* data() const { return base_; }
  [[nodiscard]] std::size_t committed() const { return committed_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  /// Commits memory until at least the first `bytes` bytes are usable; does nothing if they are. Throws
  /// error(out_of_memory), and changes nothing, if the capacity or the memory of the device does not suffice.
  void commit(std::size_t bytes) {
    std::size_t const target = committed_after(bytes);
    if (target == committed_) return;
    detail::count_request();
    space_.commit(base_, committed_, target);
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

 private:
  [[nodiscard]] std::size_t round_up(std::size_t bytes) const {
    std::size_t const step = space_.granularity();
    if (bytes > ~std::size_t{0} - step)
      throw error(error_code::out_of_memory, std::to_string(bytes) + " bytes are more than there are addresses");
    return (bytes + step - 1) / step * step;
  }

  Space space_;
  std::byte* base_ = nullptr;
  std::size_t capacity_;
  std::size_t committed_ = 0;
};

}  // namespace wyrm::exec
