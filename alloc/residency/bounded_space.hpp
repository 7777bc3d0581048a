// SPDX-License-Identifier: Apache-2.0
// A space with a limit of device memory: memory of objects on this space beyond the limit is host memory.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include "../../exec/device.hpp"
#include "manager.hpp"

namespace wyrm::alloc::residency {

namespace detail {
[[nodiscard]] options bounded_options(exec::any_space const& space, std::shared_ptr<budget> const& total);
}

/// A manager with one client. Everything that is made on space() must be destroyed before it. Not
/// copyable, not movable.
class bounded_space {
 public:
  /// bytes: of arrays and of blocks on the device. Ranges of addresses may exceed them; arrays, such as the scratch of
  /// updates, may not: the operation that needs them throws error(out_of_memory). A block has a 64th of the budget, up
  /// to 4 MiB, and at least what the space can map (64 KiB on a CPU, 2 MiB on a GPU).
  bounded_space(exec::any_space const& space, std::size_t bytes)
      : bounded_space(space, std::make_shared<fixed_budget>(bytes)) {}
  /// The size of a block depends on the limit of the budget at this time.
  bounded_space(exec::any_space const& space, std::shared_ptr<budget> const& total)
      : budget_(total),
        state_(std::visit([&, o = detail::bounded_options(space, total)](
                              auto const& s) { return memory(std::make_unique<of<std::decay_t<decltype(s)>>>(s, o)); },
                          space)) {}
  bounded_space(bounded_space const&) = delete;
  bounded_space& operator=(bounded_space const&) = delete;

  [[nodiscard]] exec::any_space space() const {
    return std::visit([](auto const& s) { return exec::any_space(s->client.space()); }, state_);
  }
  /// Bytes of the budget.
  [[nodiscard]] std::size_t limit() const { return budget_->limit(); }
  [[nodiscard]] statistics counters() const {
    return std::visit([](auto const& s) { return s->manager.counters(); }, state_);
  }

 private:
  template <class Space>
  struct of {
    of(Space const& space, residency::options const& o) : manager(space, o), client(manager.make_client()) {}
    residency::manager<Space> manager;
    residency::client<Space> client;
  };
#if WYRM_WITH_CUDA
  using memory = std::variant<std::unique_ptr<of<exec::host_space>>, std::unique_ptr<of<exec::cuda_space>>>;
#else
  using memory = std::variant<std::unique_ptr<of<exec::host_space>>>;
#endif

  std::shared_ptr<budget> budget_;
  memory state_;
};

}  // namespace wyrm::alloc::residency
