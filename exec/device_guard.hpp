// SPDX-License-Identifier: Apache-2.0
// RAII guards that set the current device of the calling thread. A CUDA call uses the current device, even with a
// stream of another device, so every CUDA call of a space runs under a guard. Public operations also hold a guard: then
// the right device is already current for the guards inside them, which do nothing.
#pragma once

namespace wyrm::exec {

/// Makes `device` the current device, and restores the previous one at the end. `Device` has `int current()` and `void
/// make_current(int)`, which may throw. If `device` is already current, the cost is one call of current().
template <class Device>
class basic_device_guard {
 public:
  explicit basic_device_guard(int device) : previous_(Device::current()), replaced_(previous_ != device) {
    if (replaced_) Device::make_current(device);
  }
  ~basic_device_guard() {
    if (!replaced_) return;
    try {
      Device::make_current(previous_);
    } catch (...) {  // the caller's device has failed; the next CUDA call of the caller reports that
    }
  }
  basic_device_guard(basic_device_guard const&) = delete;
  basic_device_guard& operator=(basic_device_guard const&) = delete;

 private:
  int previous_;
  bool replaced_;
};

/// Calls f() under a guard of the device, without exceptions. f() is not called if the device cannot be made current:
/// the device has failed then, and all its resources are lost. f() must not access memory that a memory manager moves.
template <class Device, class F>
void under_device_guard(int device, F const& f) noexcept {
  try {
    basic_device_guard<Device> const current(device);
    f();
  } catch (...) {
  }
}

}  // namespace wyrm::exec
