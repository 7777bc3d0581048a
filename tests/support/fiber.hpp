// SPDX-License-Identifier: Apache-2.0
// A function that can be suspended and resumed: a Boost.Context fiber, with annotations for sanitizers. It may be
// resumed on another thread each time. A fiber can also switch to another fiber directly, which costs one switch
// instead of two.
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
  // A target of a switch: a fiber or the caller.
  struct execution {
    boost::context::fiber context;  // while it is suspended
    void const* stack_bottom = nullptr;
    std::size_t stack_bytes = 0;
    [[maybe_unused]] void* fake_stack = nullptr;
    [[maybe_unused]] void* thread = nullptr;
  };

 public:
  /// Resumes fibers, one at a time.
  class caller {
   public:
    /// Runs the fiber, and the fibers to which it switches, until one of them suspends with leave() or ends. Must not
    /// be called from a fiber. A fiber must have ended before its destruction.
    void resume(fiber& next) {
#if WYRM_THREAD_SANITIZER
      self_.thread = __tsan_get_current_fiber();
#endif
      switch_to(self_, next.self_);
    }

   private:
    friend class fiber;
    // Switches from one execution to another; returns when another execution switches back.
    void switch_to(execution& from, execution& to) {
      from_ = &from;
#if WYRM_ADDRESS_SANITIZER
      __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_bottom, to.stack_bytes);
#endif
#if WYRM_THREAD_SANITIZER
      __tsan_switch_to_fiber(to.thread, 0);
#endif
      arrive(std::move(to.context).resume(), from);
    }
    // At the end of a fiber: returns the context of the caller.
    boost::context::fiber end(execution& ended) {
      from_ = &ended;
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
    execution* from_ = nullptr;  // the execution that was suspended last
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

  /// Suspends the fiber and switches to the caller. Called from the fiber.
  void leave() { caller_.switch_to(self_, caller_.self_); }
  /// Suspends the fiber and switches to another fiber of the same caller, which is suspended or not started. Called
  /// from the fiber.
  void pass_to(fiber& next) { caller_.switch_to(self_, next.self_); }

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
