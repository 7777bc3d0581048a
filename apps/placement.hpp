// SPDX-License-Identifier: Apache-2.0
// Where a graph is built, of which kind of memory its pool is, how large it may become, and how much memory of the
// device it may take: common to the commands that build one on any device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <variant>

#include "../alloc/residency/bounded_space.hpp"
#include "../alloc/residency/lease.hpp"
#include "../exec/device.hpp"
#include "../exec/error.hpp"
#include "../exec/memory_kind.hpp"
#include "../graph/options.hpp"

namespace wyrm::apps {

struct placement {
  std::string device = "auto";
  exec::memory_kind memory = exec::memory_kind::device;  // of the pool of the graph
  std::size_t pool_limit = 0;  // bytes that the pool of the graph may grow to; 0: see alloc::options::reserve_bytes

  std::size_t device_memory = 0;  // bytes of the device that the graph, its scratch and its results may take; 0: all
  std::shared_ptr<alloc::residency::growing_budget> trial;  // of device_memory bytes, instead of a fixed budget
  bool shares_device = false;  // as much memory of the device as the broker grants, which other processes use, too

  [[nodiscard]] bool is_bounded() const { return device_memory != 0 || shares_device; }
  /// nullptr: not bounded. It must outlive what is made on its space.
  /// Throws error(bad_argument) if the pool is not in memory of the device; the errors of a lease.
  [[nodiscard]] std::shared_ptr<alloc::residency::bounded_space> bound() const {
    if (!is_bounded()) return nullptr;
    if (memory != exec::memory_kind::device)
      throw error(error_code::bad_argument, std::string(device_memory != 0 ? "--device-memory" : "--share-device") +
                                                " bounds memory of the device, and with --memory " +
                                                exec::to_string(memory) +
                                                " the pool is in other memory; leave one of both out");
    exec::any_space const space = exec::make_space(device);
    std::shared_ptr<alloc::residency::budget> budget = trial;
    if (shares_device) budget = lease_of(space);
    if (!budget) budget = std::make_shared<alloc::residency::fixed_budget>(device_memory);
    return std::make_shared<alloc::residency::bounded_space>(space, budget);
  }
  [[nodiscard]] exec::any_space space(alloc::residency::bounded_space const* bound) const {
    return bound != nullptr ? bound->space() : exec::make_space(device);
  }

  /// Where a graph gen:... is generated: on `space`, unless the graph may be larger than the memory of the device, in
  /// which the list of its edges has to fit.
  [[nodiscard]] exec::any_space generating_space(exec::any_space const& space) const {
    if (is_bounded() || memory != exec::memory_kind::device) return exec::host_space();
    return space;
  }

  /// weighted: whether edges have weights, as values of type double.
  [[nodiscard]] graph::options settings(bool directed, bool weighted = false) const {
    graph::options s{.directed = directed};
    if (weighted) s.values = graph::number_type::f64;
    s.pool.memory = memory;
    s.pool.reserve_bytes = pool_limit;
    if (pool_limit != 0) s.pool.pool_bytes = std::min(s.pool.pool_bytes, pool_limit);
    return s;
  }

  /// Calls work(), and names --pool-limit, --device-memory and --share-device in its error(out_of_memory) if the user
  /// has set them.
  template <class F>
  auto with_hint(F const& work) const {
    try {
      return work();
    } catch (error const& e) {
      if (e.code() != error_code::out_of_memory || (pool_limit == 0 && !is_bounded())) throw;
      std::string message = e.what();
      if (pool_limit != 0) message += "; --pool-limit is " + std::to_string(pool_limit) + " bytes";
      if (device_memory != 0) message += "; --device-memory is " + std::to_string(device_memory) + " bytes";
      if (shares_device) message += "; --share-device: `wyrm broker --status` shows the budget and who holds it";
      throw error(e.code(), message);
    }
  }

 private:
  // The program itself starts a broker if there is none.
  [[nodiscard]] static std::shared_ptr<alloc::residency::lease> lease_of(exec::any_space const& space) {
    alloc::residency::lease_options o;
#if WYRM_WITH_CUDA
    if (auto const* const gpu = std::get_if<exec::cuda_space>(&space))
      o.device = "cuda:" + std::to_string(gpu->device());
#else
    (void)space;
#endif
    std::error_code failed;
    auto const self = std::filesystem::read_symlink("/proc/self/exe", failed);
    if (!failed) o.start = {self.string()};
    return std::make_shared<alloc::residency::lease>(o);
  }
};

}  // namespace wyrm::apps
