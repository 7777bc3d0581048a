// SPDX-License-Identifier: Apache-2.0
// Signatures of blocks of device memory: they tell whether a block was written, without a copy of it ("GDM: Device
// Memory Management for GPGPU Computing", SIGMETRICS 2014, sections 4.4 and 5.2). A signature is 256 hashes of 64 bits,
// 2 KiB.
//
// Layout. A block is vectors of 16 bytes; vector v belongs to hash v mod 256, so that the lanes of a warp load
// consecutive memory, 16 bytes each, which is the widest load there is. The block is cut into parts of 64 KiB, which
// are hashed independently, and a hash is the sum of those of all parts, modulo 2^64: a single block of 4 MiB keeps 64
// warps busy, where one lane per hash would occupy a single multiprocessor. A part is the work of a tile.
//
// The hash. A part has 64 words w of 4 bytes for a hash. Their hash is a polynomial modulo the prime p = 2^61 - 1,
// whose coefficients are the words: s = 1; s = s k + w for each w; and s = s k at the end. The key k in [1, p) is a
// secret of the signer, and differs from part to part (Carter and Wegman, "Universal classes of hash functions", JCSS
// 1979; arithmetic modulo a Mersenne prime as in Thorup, "High speed hashing for integers and strings", 2015).
//
// Why it is safe to rely on it:
// - A change of a single word is always found, whatever the keys. The step s -> s k + w is a bijection of s modulo p
//   for a fixed w, since k is not 0 modulo the prime p, and it is injective in w for a fixed s, since w < 2^32 < p. So
//   the states differ after the changed word, after each of the equal words that follow, and after the last step; one
//   term of the sum differs, and so does the sum. The 256 hashes are compared one by one, and a block is clean only if
//   all are equal: every change is found that has exactly one word in some hash, wherever its other words are.
// - Any other change that does not depend on the keys is missed with a probability of at most 64 / (2^61 - 2) < 2^-54.
//   Take a hash and a part with changed words, and fix the keys of all other parts. The change is missed only if the
//   hash of this part grows by a certain number c. The difference of the two hashes is a polynomial of k of degree at
//   most 64, with a coefficient that is not 0 and without a constant term (that is what the last step is for); so k is
//   one of at most 64 roots of this polynomial minus c, among 2^61 - 2 keys. If 2^20 changed blocks are compared each
//   second, a change is missed once in more than 500 years.
// - Keys are derived from a random secret by a mixing function, and do not leave the signer. A program that knew them
//   could hide writes to its own blocks, and would lose these writes; it could do no harm to others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/load.hpp"
#include "../../exec/memory.hpp"

#include <nv/target>

namespace wyrm::alloc::residency {

/// What is kept of a block.
struct signature {
  std::uint64_t hashes[256];
  bool operator==(signature const&) const = default;
};

/// A block in memory of a space, and the place of its signature in memory of the same space.
struct signed_block {
  std::byte const* data;  // aligned to 16 bytes
  signature* kept;
};

namespace detail {

inline constexpr std::size_t hashes = 256;
inline constexpr std::size_t part_bytes = std::size_t{64} << 10;
inline constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;

/// 16 bytes of a block.
struct alignas(16) block_vector {
  std::uint32_t words[4];
};

[[nodiscard]] WYRM_HD inline block_vector load_vector(std::byte const* from) {
  // A host copies bytes, since programs write blocks as objects of any type.
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return exec::load_once(reinterpret_cast<block_vector const*>(from));),
                    (block_vector v; std::memcpy(&v, from, sizeof v); return v;))
}

/// s k modulo p, but for a multiple of p: s < 2^62 and k < p; the result is at most max(s, p).
[[nodiscard]] WYRM_HD inline std::uint64_t multiply(std::uint64_t s, std::uint64_t k) {
  std::uint64_t const low = s * k;
  std::uint64_t high;
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (high = __umul64hi(s, k);),
                    (__extension__ using wide = unsigned __int128;
                     high = static_cast<std::uint64_t>(static_cast<wide>(s) * k >> 64);))
  std::uint64_t const sum = (low & prime) + (low >> 61 | high << 3);  // 2^61 is 1 modulo p
  return sum >= prime ? sum - prime : sum;
}

/// The key of a part: in [1, p). The mixing function is the last step of splitmix64 (Steele, Lea, Flood: "Fast
/// splittable pseudorandom number generators", OOPSLA 2014), applied twice.
[[nodiscard]] WYRM_HD inline std::uint64_t key_of(std::uint64_t secret, std::uint64_t part) {
  std::uint64_t z = secret + part * 0x9E3779B97F4A7C15;
  for (int round = 0; round < 2; ++round) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    z ^= z >> 31;
  }
  return z % (prime - 1) + 1;
}

/// A tile hashes a part of a block: each lane keeps 256 / (lanes) hashes, so that it has as many loads under way.
/// States stay below 2^61 + 2^39: a step adds less than 2^32. The sums need no order: additions commute, and the end of
/// the kernel publishes them.
struct hash_parts {
  static constexpr std::size_t grain = 1;
  signed_block const* blocks;
  std::size_t block_bytes;
  std::size_t parts;  // of a block
  std::uint64_t secret;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    constexpr unsigned of_lane = hashes / Tile::size();
    std::size_t const part = i % parts;
    std::uint64_t const k = key_of(secret, part);
    std::byte const* const from = blocks[i / parts].data + part * part_bytes;
    std::size_t const rest = block_bytes - part * part_bytes;
    std::size_t const vectors = (rest < part_bytes ? rest : part_bytes) / sizeof(block_vector);

    std::uint64_t states[of_lane];
    for (unsigned h = 0; h < of_lane; ++h) states[h] = 1;
    std::size_t first = 0;
    for (; first + hashes <= vectors; first += hashes)
      for (unsigned h = 0; h < of_lane; ++h) absorb(states[h], k, from, first + hash<Tile>(t, h));
    for (unsigned h = 0; h < of_lane; ++h)
      if (first + hash<Tile>(t, h) < vectors) absorb(states[h], k, from, first + hash<Tile>(t, h));
    for (unsigned h = 0; h < of_lane; ++h) {
      std::uint64_t const s = multiply(states[h], k);
      std::uint64_t& sum = blocks[i / parts].kept->hashes[hash<Tile>(t, h)];
      exec::atomic_ref<std::uint64_t>(sum).fetch_add(s >= prime ? s - prime : s, exec::relaxed);
    }
  }

 private:
  template <class Tile>
  WYRM_HD static unsigned hash(Tile const& t, unsigned h) {
    return h * Tile::size() + t.rank();
  }
  WYRM_HD static void absorb(std::uint64_t& s, std::uint64_t k, std::byte const* from, std::size_t vector) {
    block_vector const v = load_vector(from + vector * sizeof(block_vector));
    for (std::uint32_t const w : v.words) s = multiply(s, k) + w;
  }
};

/// Sets all hashes of block i / 256 to 0: one per index.
struct clear_hashes {
  signed_block const* blocks;
  WYRM_HD void operator()(std::size_t i) const { blocks[i / hashes].kept->hashes[i % hashes] = 0; }
};

/// A tile compares the signature that a block has with the one that was kept.
struct compare_signatures {
  static constexpr std::size_t grain = 16;
  signed_block const* now;
  signed_block const* before;
  std::uint8_t* differs;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    bool found = false;
    for (unsigned h = t.rank(); h < hashes; h += Tile::size())
      found |= now[i].kept->hashes[h] != before[i].kept->hashes[h];
    found = t.any(found);
    if (t.rank() == 0) differs[i] = found ? 1 : 0;
  }
};

}  // namespace detail

/// Signs blocks of one size, many in one launch, and compares them with their signatures on the device: one byte per
/// block is copied to the host. Signatures of equal bytes and secrets are equal on all spaces. Not thread-safe.
/// Launches are executed in the order of the space's work: whoever writes the blocks elsewhere orders that.
template <class Space>
class block_signer {
 public:
  /// Throws error(bad_argument) if the size is 0 or not a multiple of 16.
  block_signer(Space const& space, std::size_t block_bytes, std::uint64_t secret = random_secret())
      : space_(space), block_bytes_(block_bytes), secret_(secret), entries_(space), scratch_(space), differs_(space) {
    if (block_bytes == 0 || block_bytes % sizeof(detail::block_vector) != 0)
      throw error(error_code::bad_argument,
                  "signatures: blocks have " + std::to_string(block_bytes) + " bytes; give a multiple of 16 above 0");
  }

  /// Computes and keeps the signatures of n blocks: O(n block_bytes). May return before they are there. Throws
  /// error(bad_argument) for a block that is not aligned, and error(out_of_memory); nothing is signed then.
  void sign(std::span<signed_block const> blocks) {
    if (blocks.empty()) return;
    require_aligned(blocks);
    typename Space::guard const current(space_);
    entries_.reserve(blocks.size());
    exec::copy_in(space_, entries_.data(), blocks);
    hash(entries_.data(), blocks.size());
  }

  /// Sets changed[i] to whether blocks[i] differs from its signature, which stays as it is. Waits. Costs and errors as
  /// for sign(), and 2 KiB of scratch for each block.
  void compare(std::span<signed_block const> blocks, std::span<bool> changed) {
    if (changed.size() != blocks.size())
      throw error(error_code::bad_argument, "signatures: " + std::to_string(blocks.size()) + " blocks, but " +
                                                std::to_string(changed.size()) + " results; give as many");
    if (blocks.empty()) return;
    require_aligned(blocks);
    typename Space::guard const current(space_);
    std::size_t const n = blocks.size();
    entries_.reserve(2 * n);
    scratch_.reserve(n);
    differs_.reserve(n);
    std::vector<signed_block> entries(blocks.begin(), blocks.end());
    for (std::size_t i = 0; i < n; ++i) entries.push_back({blocks[i].data, scratch_.data() + i});
    exec::copy_in(space_, entries_.data(), std::span<signed_block const>(entries));
    hash(entries_.data() + n, n);
    exec::for_each_tile<32>(space_, n,
                            detail::compare_signatures{entries_.data() + n, entries_.data(), differs_.data()});
    auto const differs = exec::copy_out(space_, differs_.data(), n);
    for (std::size_t i = 0; i < n; ++i) changed[i] = differs[i] != 0;
  }

  [[nodiscard]] std::size_t block_bytes() const { return block_bytes_; }
  /// The memory that it takes, of the space.
  [[nodiscard]] std::size_t bytes() const { return entries_.bytes() + scratch_.bytes() + differs_.bytes(); }

  [[nodiscard]] static std::uint64_t random_secret() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }

 private:
  static void require_aligned(std::span<signed_block const> blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (reinterpret_cast<std::uintptr_t>(blocks[i].data) % sizeof(detail::block_vector) != 0)
        throw error(error_code::bad_argument,
                    "signatures: entry " + std::to_string(i) + " is not aligned to 16 bytes; align blocks");
  }
  void hash(signed_block const* blocks, std::size_t n) {
    std::size_t const parts = (block_bytes_ + detail::part_bytes - 1) / detail::part_bytes;
    exec::for_each(space_, n * detail::hashes, detail::clear_hashes{blocks});
    exec::for_each_tile<32>(space_, n * parts, detail::hash_parts{blocks, block_bytes_, parts, secret_});
  }

  Space space_;
  std::size_t block_bytes_;
  std::uint64_t secret_;
  exec::buffer<signed_block, Space> entries_;
  exec::buffer<signature, Space> scratch_;
  exec::buffer<std::uint8_t, Space> differs_;
};

}  // namespace wyrm::alloc::residency
