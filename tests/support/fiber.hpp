// SPDX-License-Identifier: Apache-2.0
// A function that can be left in the middle, and resumed: a Boost.Context fiber, told to the sanitizers where there are
// any. Its caller may be on another thread each time. A fiber may also pass its turn on to another, which costs one
// switch instead of two.
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
  // What can be switched to.
  struct execution {
    boost::context::fiber context;  // while it is not at work
    void const* stack_bottom = nullptr;
    std::size_t stack_bytes = 0;
    [[maybe_unused]] void* fake_stack = nullptr;
    [[maybe_unused]] void* thread = nullptr;
  };

 public:
  /// Resumes its fibers, one at a time.
  class caller {
   public:
    /// Runs the fiber, and those that it passes its turn to, until one of them leaves or ends; not from inside. A fiber
    /// must have ended before it is destroyed.
    void resume(fiber& next) {
#if WYRM_THREAD_SANITIZER
      self_.thread = __tsan_get_current_fiber();
#endif
      turn(self_, next.self_);
    }

   private:
    friend class fiber;
    // From one to the other; returns when somebody has switched back.
    void turn(execution& from, execution& to) {
      from_ = &from;
#if WYRM_ADDRESS_SANITIZER
      __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_bottom, to.stack_bytes);
#endif
#if WYRM_THREAD_SANITIZER
      __tsan_switch_to_fiber(to.thread, 0);
#endif
      arrive(std::move(to.context).resume(), from);
    }
    // A fiber's end: what it returns to.
    boost::context::fiber end(execution& gone) {
      from_ = &gone;
#if WYRM_ADDRESS_SANITIZER
      __sanitizer_start_switch_fiber(nullptr, self_.stack_bottom, self_.stack_bytes);
#endif
#if WYRM_THREAD_SANITIZER
      __tsan_switch_to_fiber(self_.thread, 0);
#endif
      return std::move(self_.context);
    }
    void arrive(boost::context::fiber&& left, [[maybe_unused]] execution& here) {
      execution& last = *from_;
      last.context = std::move(left);
#if WYRM_ADDRESS_SANITIZER
      __sanitizer_finish_switch_fiber(here.fake_stack, &last.stack_bottom, &last.stack_bytes);
#endif
    }

    execution self_;
    execution* from_ = nullptr;  // who has been left last
  };

  fiber(caller& c, std::function<void()> body) : body_(std::move(body)), caller_(c) {
    boost::context::fixedsize_stack allocator(stack_size);
    boost::context::stack_context const stack = allocator.allocate();
    self_.stack_bottom = static_cast<char*>(stack.sp) - stack.size;
    self_.stack_bytes = stack.size;
#if WYRM_THREAD_SANITIZER
    self_.thread = __tsan_create_fiber(0);
#endif
    self_.context =
        boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), allocator,
                              [this](boost::context::fiber&& left) { return live(std::move(left)); });
  }
  fiber(fiber const&) = delete;
  fiber& operator=(fiber const&) = delete;

  /// From inside: back to the caller.
  void leave() { caller_.turn(self_, caller_.self_); }
  /// From inside: on to another of the same caller, which has left or not begun.
  void pass_to(fiber& next) { caller_.turn(self_, next.self_); }

 private:
  static constexpr std::size_t stack_size = std::size_t{256} << 10;

  boost::context::fiber live(boost::context::fiber&& left) {
    caller_.arrive(std::move(left), self_);
    body_();
    return caller_.end(self_);
  }

  std::function<void()> body_;
  execution self_;
  caller& caller_;
};

}  // namespace wyrm::tests
