// SPDX-License-Identifier: Apache-2.0
// SipHash-1-3: a hash function with a secret seed (Aumasson and Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT
// 2012, section 2, with one round per word and three at the end). Keys that collide cannot be chosen without knowledge
// of the seed, so that an attacker cannot make the probing of a hash table long.
#pragma once

#include <cstdint>

#include "../../exec/config.hpp"

namespace wyrm::graph::detail {

struct sip_seed {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

class sip_hash {
 public:
  WYRM_HD explicit sip_hash(sip_seed seed)
      : a_(seed.low ^ 0x736f6d6570736575u),
        b_(seed.high ^ 0x646f72616e646f6du),
        c_(seed.low ^ 0x6c7967656e657261u),
        d_(seed.high ^ 0x7465646279746573u) {}

  /// Adds 8 bytes of the message; the first byte is the lowest.
  WYRM_HD void add(std::uint64_t word) {
    d_ ^= word;
    round();
    a_ ^= word;
  }
  /// The hash of a message that ends with `rest`: its last length % 8 bytes, and zeros.
  [[nodiscard]] WYRM_HD std::uint64_t finish(std::uint64_t rest, std::uint64_t length) {
    add(length << 56 | rest);
    c_ ^= 0xff;
    for (int i = 0; i < 3; ++i) round();
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  [[nodiscard]] WYRM_HD static std::uint64_t rotated(std::uint64_t x, unsigned by) { return x << by | x >> (64 - by); }
  WYRM_HD void round() {
    a_ += b_;
    c_ += d_;
    b_ = rotated(b_, 13) ^ a_;
    d_ = rotated(d_, 16) ^ c_;
    a_ = rotated(a_, 32) + d_;
    c_ += b_;
    d_ = rotated(d_, 21) ^ a_;
    b_ = rotated(b_, 17) ^ c_;
    c_ = rotated(c_, 32);
  }

  std::uint64_t a_, b_, c_, d_;
};

/// The hash of a number is that of its 8 bytes.
[[nodiscard]] WYRM_HD inline std::uint64_t hash_of(std::uint64_t key, sip_seed seed) {
  sip_hash hash(seed);
  hash.add(key);
  return hash.finish(0, 8);
}

[[nodiscard]] WYRM_HD inline std::uint64_t hash_of(char const* bytes, std::uint64_t size, sip_seed seed) {
  sip_hash hash(seed);
  std::uint64_t word = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << i % 8 * 8;
    if (i % 8 != 7) continue;
    hash.add(word);
    word = 0;
  }
  return hash.finish(word, size);
}

}  // namespace wyrm::graph::detail
