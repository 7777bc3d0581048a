// SPDX-License-Identifier: Apache-2.0
// Runs programs of Table 1 alone, and two beside each other: two threads, each with a client and a stream of its own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../alloc/residency/policies.hpp"
#include "../../alloc/residency/signature_check.hpp"
#include "../../exec/host_space.hpp"
#include "all.hpp"
#include "speedup.hpp"

namespace wyrm::bench::gdm {

/// A 64th of the device memory, up to 16 MiB: a block of any size takes 50 us to map and to unmap (H100).
template <class Space>
[[nodiscard]] std::size_t block_bytes_for(Space const& space, std::size_t device) {
  std::size_t const step = space.granularity();
  return std::clamp(device / 64 / step * step, step, std::max(step, std::size_t{16} << 20));
}

/// How a manager of the benchmark moves blocks: as residency::options.
struct moving {
  bool in_place = true;
  bool lazy_transfers = false;
};

/// `space`: for the signatures, where the host cannot read device memory.
template <class Space>
[[nodiscard]] residency::options manager_options(Space const& space, std::string const& policy, std::size_t budget,
                                                 std::size_t block, moving how) {
  residency::options o;
  o.budget = std::make_shared<residency::fixed_budget>(budget);
  o.block_bytes = block;
  o.make_policy = [policy] { return residency::make_policy(policy); };
  o.in_place = how.in_place;
  o.lazy_transfers = how.lazy_transfers;
  o.pooled_host_bytes = residency::unlimited;  // making blocks of host memory is not what is measured
  o.prepared_host_bytes = 2 * budget;          // of two programs that each need nearly all of the device memory
  if constexpr (!std::is_base_of_v<exec::host_space, Space>)
    o.make_dirty_check = residency::by_signatures(space, block);
  return o;
}

/// Programs on a device of limited memory, which a manager shares. `spaces`: of the two programs, and of signatures.
template <class Space>
class shared_device {
 public:
  shared_device(std::array<Space, 3> const& spaces, std::string const& policy, std::size_t budget, std::size_t block,
                moving how = {})
      : spaces_(spaces),
        is_base_(policy == residency::gdm_base::name),
        manager_(spaces[0], manager_options(spaces[2], policy, budget, block, how)) {}

  [[nodiscard]] residency::client<Space> make_client(unsigned number) {
    return manager_.make_client({.name = "program " + std::to_string(number)}, spaces_[number]);
  }
  [[nodiscard]] managed_memory<Space> memory_of(residency::client<Space>& client, unsigned number) const {
    return {client, spaces_[number], is_base_};
  }
  [[nodiscard]] residency::statistics counters() const { return manager_.counters(); }

 private:
  std::array<Space, 3> spaces_;
  bool is_base_;
  residency::manager<Space> manager_;
};

/// Programs on a device of limited memory without a manager: a request that exceeds it fails.
template <class Space>
class plain_device {
 public:
  plain_device(std::array<Space, 3> const& spaces, std::size_t bytes)
      : spaces_(spaces), free_(std::make_shared<free_bytes>(bytes)) {}

  /// There are no clients.
  [[nodiscard]] std::nullptr_t make_client(unsigned) { return nullptr; }
  [[nodiscard]] plain_memory<Space> memory_of(std::nullptr_t, unsigned number) const {
    return {spaces_[number], free_};
  }
  [[nodiscard]] residency::statistics counters() const { return {}; }

 private:
  std::array<Space, 3> spaces_;
  std::shared_ptr<free_bytes> free_;
};

/// The growth of the counters of a manager.
[[nodiscard]] inline residency::statistics difference(residency::statistics after,
                                                      residency::statistics const& before) {
  after.launches -= before.launches;
  after.moved_in_bytes -= before.moved_in_bytes;
  after.moved_out_bytes -= before.moved_out_bytes;
  after.reloaded_bytes -= before.reloaded_bytes;
  after.wasted_moves -= before.wasted_moves;
  after.clean_evictions -= before.clean_evictions;
  after.dirty_evictions -= before.dirty_evictions;
  after.failed_moves -= before.failed_moves;
  after.launch_seconds -= before.launch_seconds;
  after.move_seconds -= before.move_seconds;
  after.effective_move_seconds -= before.effective_move_seconds;
  after.signature_seconds -= before.signature_seconds;
  return after;
}

using clock = std::chrono::steady_clock;
[[nodiscard]] inline double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

inline void require_right(std::string const& name, std::uint64_t found, std::uint64_t correct) {
  if (found != correct)
    throw error(error_code::corrupt, name + ": the result is wrong: checksum " + std::to_string(found) +
                                         " instead of " + std::to_string(correct));
}

/// A program with the checksum of its right result.
template <class Space>
struct named_program {
  std::string name;
  std::shared_ptr<any_program<Space>> program;
  std::uint64_t correct;
};

/// The seconds of each of `repeats` runs, after one that is not timed. The first and the last result must be right.
template <class Space>
[[nodiscard]] std::vector<double> run_alone(device_memory<Space>& memory, named_program<Space> const& p,
                                            unsigned repeats) {
  p.program->run(memory);
  require_right(p.name, p.program->checksum(), p.correct);
  std::vector<double> seconds;
  for (unsigned i = 0; i < repeats; ++i) {
    auto const start = clock::now();
    p.program->run(memory);
    memory.synchronize();
    seconds.push_back(seconds_since(start));
  }
  require_right(p.name, p.program->checksum(), p.correct);
  return seconds;
}

struct combo {
  double wall_seconds = 0;
  std::array<std::vector<double>, 2> seconds;  // of the complete runs of each program
  std::array<double, 2> repetitions{};         // also of the part of a run that did not end in time
  residency::statistics moved;                 // of both
};

/// Runs both until each of them has completed `repeats` runs beside the other, after one that is not timed. The second
/// one may be endless: `second(memory, stop, began)` then is one run, which calls began() when it has its memory, and
/// ends soon after `stop`.
/// Device: a shared_device, or a plain_device.
template <class Device, class Space, class Second>
[[nodiscard]] combo run_beside(Device& device, named_program<Space> const& first, Second const& second,
                               bool second_ends, unsigned repeats) {
  combo result;
  std::atomic<bool> stop = false;
  std::array<std::atomic<unsigned>, 2> done{};
  std::array<std::exception_ptr, 2> failed;
  std::array<residency::statistics, 2> counters;
  std::array<double, 2> partial{};
  clock::time_point start;
  std::barrier warm(2, [&]() noexcept {
    counters[0] = device.counters();
    start = clock::now();
  });
  auto const is_enough = [&] { return done[0] >= repeats && (!second_ends || done[1] >= repeats); };
  std::atomic<bool> is_counted = false;
  auto const finish = [&] {  // by the thread that completes the last run that is needed
    if (is_counted.exchange(true)) return;
    counters[1] = device.counters();
    result.wall_seconds = seconds_since(start);
    stop = true;
  };
  auto const body = [&](unsigned number) {
    bool is_warm = false;
    try {
      auto client = device.make_client(number);
      auto memory = device.memory_of(client, number);
      auto const begin_together = [&] {
        is_warm = true;
        warm.arrive_and_wait();
      };
      auto const run = [&] { number == 0 ? first.program->run(memory) : second(memory, stop, begin_together); };
      bool const is_endless = number == 1 && !second_ends;
      if (is_endless) {
        run();
        return;
      }
      run();
      memory.synchronize();
      if (number == 0) require_right(first.name, first.program->checksum(), first.correct);
      begin_together();
      while (!stop) {
        auto const begin = clock::now();
        run();
        memory.synchronize();
        double const seconds = seconds_since(begin);
        if (stop && done[number] >= repeats) {
          partial[number] = std::max(result.wall_seconds - std::chrono::duration<double>(begin - start).count(), 0.0);
          break;
        }
        result.seconds[number].push_back(seconds);
        ++done[number];
        if (is_enough()) finish();
      }
      if (number == 0) require_right(first.name, first.program->checksum(), first.correct);
    } catch (...) {
      failed[number] = std::current_exception();
      stop = true;
      if (!is_warm) warm.arrive_and_drop();
    }
  };
  {
    std::jthread const other([&] { body(1); });
    body(0);
  }
  for (std::exception_ptr const& f : failed)
    if (f) std::rethrow_exception(f);
  for (unsigned i = 0; i < 2; ++i) {
    double sum = 0;
    for (double const s : result.seconds[i]) sum += s;
    auto const runs = static_cast<double>(result.seconds[i].size());
    result.repetitions[i] = runs == 0 ? 0 : runs + std::min(partial[i] / (sum / runs), 1.0);
  }
  result.moved = difference(counters[1], counters[0]);
  return result;
}

template <class Device, class Space>
[[nodiscard]] combo run_pair(Device& device, named_program<Space> const& a, named_program<Space> const& b,
                             unsigned repeats) {
  combo const result = run_beside(
      device, a, [&](device_memory<Space>& memory, auto const&...) { b.program->run(memory); }, true, repeats);
  require_right(b.name, b.program->checksum(), b.correct);
  return result;
}

/// Beside a program that takes `bytes` and rewrites them for ever.
template <class Space>
[[nodiscard]] combo run_under_attack(shared_device<Space>& device, named_program<Space> const& p, std::size_t bytes,
                                     unsigned repeats) {
  return run_beside(
      device, p,
      [&](device_memory<Space>& memory, std::atomic<bool> const& stop, auto const& began) {
        attack(memory, bytes, stop, began);
      },
      false, repeats);
}

/// Beside theano, which is repeated: its arrays are freed after 100 iterations.
template <class Space>
[[nodiscard]] combo run_beside_leak(shared_device<Space>& device, named_program<Space> const& p, leak& leaking,
                                    unsigned repeats) {
  return run_beside(
      device, p,
      [&](device_memory<Space>& memory, std::atomic<bool> const& stop, auto const& began) {
        began();
        do {
          leaking.run(memory);
        } while (!stop);
      },
      false, repeats);
}

}  // namespace wyrm::bench::gdm
