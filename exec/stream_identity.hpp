// SPDX-License-Identifier: Apache-2.0
// The identity of a space: its stream, and the manager of its memory. Work of spaces with the same identity is executed
// in the order in which it is enqueued; work on different streams must be ordered by events.
#pragma once

namespace wyrm::exec {

/// The default is that of all spaces of the host without a manager, whose work is complete when a call returns.
struct stream_identity {
  int device = -1;                // -1: the host
  void const* stream = nullptr;   // of the device
  void const* manager = nullptr;  // the memory manager to which the space is bound; nullptr: none
  friend constexpr bool operator==(stream_identity const&, stream_identity const&) = default;
};

}  // namespace wyrm::exec
