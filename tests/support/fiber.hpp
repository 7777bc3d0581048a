// SPDX-License-Identifier: Apache-2.0
// A function that can be left in the middle, and resumed: a Boost.Context fiber, told to the sanitizers where there are
// any. Whoever resumes it may be another thread each time.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/context/preallocated.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "../../exec/config.hpp"

#if WYRM_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#if WYRM_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace wyrm::tests {

class fiber {
 public:
  explicit fiber(std::function<void()> body) : body_(std::move(body)) {
    boost::context::fixedsize_stack allocator(stack_size);
    boost::context::stack_context const stack = allocator.allocate();
    self_.stack_bottom = static_cast<char*>(stack.sp) - stack.size;
    self_.stack_bytes = stack.size;
#if WYRM_THREAD_SANITIZER
    self_.thread = __tsan_create_fiber(0);
#endif
    context_ = boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                                     allocator, [this](boost::context::fiber&& caller) {
                                       caller_context_ = std::move(caller);
                                       self_.arrived_from(caller_);
                                       body_();
                                       self_.leave_for(caller_);
                                       return std::move(caller_context_);
                                     });
  }
  fiber(fiber const&) = delete;
  fiber& operator=(fiber const&) = delete;

  /// Runs it until it leaves or ends; not from inside. A fiber must have ended before it is destroyed.
  void resume() {
#if WYRM_THREAD_SANITIZER
    caller_.thread = __tsan_get_current_fiber();
#endif
    caller_.leave_for(self_);
    context_ = std::move(context_).resume();
    caller_.arrived_from(self_);
  }
  /// From inside: back to whoever resumed it.
  void leave() {
    self_.leave_for(caller_);
    caller_context_ = std::move(caller_context_).resume();
    self_.arrived_from(caller_);
  }

 private:
  static constexpr std::size_t stack_size = std::size_t{256} << 10;

  // One side of a switch.
  struct execution {
    void const* stack_bottom = nullptr;
    std::size_t stack_bytes = 0;
    [[maybe_unused]] void* fake_stack = nullptr;
    [[maybe_unused]] void* thread = nullptr;

    void leave_for([[maybe_unused]] execution& other) {
#if WYRM_ADDRESS_SANITIZER
      __sanitizer_start_switch_fiber(&fake_stack, other.stack_bottom, other.stack_bytes);
#endif
#if WYRM_THREAD_SANITIZER
      __tsan_switch_to_fiber(other.thread, 0);
#endif
    }
    void arrived_from([[maybe_unused]] execution& other) {
#if WYRM_ADDRESS_SANITIZER
      __sanitizer_finish_switch_fiber(fake_stack, &other.stack_bottom, &other.stack_bytes);
#endif
    }
  };

  std::function<void()> body_;
  execution self_;
  execution caller_;
  boost::context::fiber context_;
  boost::context::fiber caller_context_;
};

}  // namespace wyrm::tests
