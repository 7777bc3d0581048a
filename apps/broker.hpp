// SPDX-License-Identifier: Apache-2.0
// `wyrm broker`: serves leases of a device's memory, or shows those of a broker that runs (docs/residency.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "../alloc/residency/broker.hpp"

namespace wyrm::apps {

struct broker_command {
  std::string device = "auto";  // auto, cpu, cuda or cuda:N
  std::string socket;           // empty: that of the device
  std::size_t memory = 0;       // budget in bytes; 0: 7/8 of the GPU's memory, or half of what the host can give
  std::uint32_t idle_seconds = 60;
  bool status = false;
  bool json = false;  // of the status
};

/// Runs a broker until it has been idle for a while, or prints the status of one. Throws error(bad_argument),
/// error(device) and error(io) as broker, broker_socket() and status_of_broker() do.
void run_broker(broker_command, std::ostream& out);

}  // namespace wyrm::apps
