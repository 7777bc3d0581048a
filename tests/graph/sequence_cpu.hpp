// SPDX-License-Identifier: Apache-2.0
// Sequences of operations on a CPU. Bits 5 and 6 of byte 0 select the space: 0 host_space with one thread, 1 host_space
// with two threads, 2 simt_space with one thread, whose order of lanes is the same each time, and 3 simt_space with two
// threads. Where WYRM_TEST_SPACES leaves one of the spaces out, its sequences run on the other, with as many threads.
#pragma once

#include "../../alloc/registry.hpp"
#include "../../exec/host_space.hpp"
#include "../support/simt_space.hpp"
#include "sequence.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
inline std::string run_on_host(sequence_header const& header, byte_reader& reader) {
  using space = exec::host_space;
  space const where(1 + header.space() % 2);
  if (header.has_values()) return run_with_values<alloc::ouroboros_va_p<space>>(where, header, reader);
  switch (header.allocator()) {
    case 0: return sequence<space, alloc::ouroboros_s_p<space>>(where, header, reader).run();
    case 1: return sequence<space, alloc::ouroboros_va_c<space>>(where, header, reader).run();
    case 2: return sequence<space, alloc::corw<space>>(where, header, reader).run();
    default: return sequence<space, alloc::rw_malloc<space>>(where, header, reader).run();
  }
}
#endif

#if WYRM_TEST_SIMT
inline std::string run_on_simt(sequence_header& header, byte_reader& reader) {
  // Few resident warps, and few vertices, as switches of lanes are slow.
  static simt_space const one_thread(1, 1, 3);
  static simt_space const two_threads(1, 2, 2);
  simt_space const& where = header.space() % 2 == 0 ? one_thread : two_threads;
  where.reseed(header.lane_order);
  header.vertices = 16 + (header.vertices - 16) % 512;
  if (header.has_values()) return run_with_values<alloc::ouroboros_va_p<simt_space>>(where, header, reader);
  if (header.allocator() % 2 == 0)
    return sequence<simt_space, alloc::ouroboros_s_p<simt_space>>(where, header, reader).run();
  return sequence<simt_space, alloc::ouroboros_va_c<simt_space>>(where, header, reader).run();
}
#endif

/// Runs a sequence; returns a description of the first failure, or an empty string.
inline std::string run_sequence(std::span<std::uint8_t const> bytes) {
  byte_reader reader(bytes);
  sequence_header header(reader);
#if WYRM_TEST_HOST && WYRM_TEST_SIMT
  return header.space() < 2 ? run_on_host(header, reader) : run_on_simt(header, reader);
#elif WYRM_TEST_HOST
  return run_on_host(header, reader);
#else
  return run_on_simt(header, reader);
#endif
}

}  // namespace wyrm::tests
