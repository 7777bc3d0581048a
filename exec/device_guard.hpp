// SPDX-License-Identifier: Apache-2.0
// The device that is current for the calling thread, set for the duration of a scope. A call into CUDA goes to the
// current device, whatever stream it names, so every such call of a space stands under a guard; public operations hold
// one as well, so that the guards inside them find the right device and have nothing to do.
#pragma once

namespace wyrm::exec {

/// Makes `device` current and restores the device that was current before. Device: `int current()` and
/// `void make_current(int)`, which may throw. Costs one look at the current device where that is the right one.
template <class Device>
class basic_device_guard {
 public:
  explicit basic_device_guard(int device) : before_(Device::current()), replaced_(before_ != device) {
    if (replaced_) Device::make_current(device);
  }
  ~basic_device_guard() {
    if (!replaced_) return;
    try {
      Device::make_current(before_);
    } catch (...) {  // the caller's device is lost, which its next call reports
    }
  }
  basic_device_guard(basic_device_guard const&) = delete;
  basic_device_guard& operator=(basic_device_guard const&) = delete;

 private:
  int before_;
  bool replaced_;
};

/// Calls f() under a guard, where nothing may be thrown: not at all if the device cannot be made current, as it is lost
/// then, and what it had with it.
template <class Guard, class Space, class F>
void under_guard(Space const& space, F const& f) noexcept {
  try {
    Guard const current(space);
    f();
  } catch (...) {
  }
}

/// The guard of a space that has no devices to choose from.
struct no_device_guard {
  template <class Space>
  explicit no_device_guard(Space const&) {}
  ~no_device_guard() {}  // not trivial, so that a guard which is only declared is no unused variable
};

}  // namespace wyrm::exec
