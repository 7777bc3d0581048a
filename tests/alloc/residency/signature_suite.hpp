// SPDX-License-Identifier: Apache-2.0
// Signatures of blocks on any space, compared with the definition that signature.hpp gives, computed word by word.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../../../alloc/residency/signature.hpp"
#include "../../support/spaces.hpp"

namespace wyrm::tests {

using words = std::vector<std::uint32_t>;

__extension__ using wide_word = unsigned __int128;

/// The polynomial of each part and hash, added up. Vectors of 4 words belong to hashes in turn.
inline alloc::residency::signature defined_signature(words const& block, std::uint64_t secret) {
  constexpr std::uint64_t p = (std::uint64_t{1} << 61) - 1;
  constexpr std::size_t words_of_part = 16384;
  alloc::residency::signature s{};
  for (std::size_t begin = 0; begin < block.size(); begin += words_of_part) {
    std::uint64_t const k = alloc::residency::detail::key_of(secret, begin / words_of_part);
    std::size_t const end = std::min(block.size(), begin + words_of_part);
    for (std::size_t h = 0; h < 256; ++h) {
      std::uint64_t state = 1;
      for (std::size_t first = begin + 4 * h; first < end; first += 1024)
        for (std::size_t w = first; w < first + 4; ++w)
          state = static_cast<std::uint64_t>((static_cast<wide_word>(state) * k + block[w]) % p);
      s.hashes[h] += static_cast<std::uint64_t>(static_cast<wide_word>(state) * k % p);
    }
  }
  return s;
}

template <class Space>
class signature_test : public space_fixture<Space> {
 protected:
  using signed_block = alloc::residency::signed_block;
  using signature = alloc::residency::signature;

  /// Blocks of a size in memory of the space, with their signatures.
  class signed_memory {
   public:
    signed_memory(Space const& space, std::size_t n, std::size_t block_bytes)
        : space_(space), bytes_(space, n * block_bytes), kept_(space, n), block_bytes_(block_bytes) {}
    [[nodiscard]] std::vector<signed_block> blocks() const {
      std::vector<signed_block> all;
      for (std::size_t i = 0; i < kept_.size(); ++i)
        all.push_back({bytes_.data() + i * block_bytes_, kept_.data() + i});
      return all;
    }
    void write(std::size_t block, words const& contents) {
      space_.copy_in(bytes_.data() + block * block_bytes_, contents.data(), block_bytes_);
    }
    [[nodiscard]] std::vector<signature> kept() const { return exec::copy_out(space_, kept_.data(), kept_.size()); }

   private:
    Space space_;
    exec::buffer<std::byte, Space> bytes_;
    exec::buffer<signature, Space> kept_;
    std::size_t block_bytes_;
  };

  words random_words(std::size_t bytes) {
    words block(bytes / 4);
    for (auto& w : block) w = random_() % 3 == 0 ? 0 : static_cast<std::uint32_t>(random_());
    return block;
  }
  std::uint64_t draw(std::uint64_t n) { return random_() % n; }
  std::mt19937_64 random_{seeded(37)};
};

/// Which blocks differ from their signatures.
template <class Signer, class Blocks>
std::vector<std::size_t> changed(Signer& signer, Blocks const& blocks) {
  auto const flags = std::make_unique<bool[]>(blocks.size());
  signer.compare(blocks, {flags.get(), blocks.size()});
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (flags[i]) found.push_back(i);
  return found;
}

TYPED_TEST_SUITE_P(signature_test);

TYPED_TEST_P(signature_test, is_as_defined) {
  for (std::size_t const bytes : {16u, 4096u, 4112u, 65536u, 65552u, 200000u}) {
    std::uint64_t const secret = this->random_();
    alloc::residency::block_signer<TypeParam> signer(this->space(), bytes, secret);
    typename TestFixture::signed_memory memory(this->space(), 3, bytes);
    std::vector<words> contents{words(bytes / 4, 0), words(bytes / 4, ~0u), this->random_words(bytes)};
    for (std::size_t i = 0; i < 3; ++i) memory.write(i, contents[i]);
    auto const blocks = memory.blocks();
    for (int again = 0; again < 2; ++again) signer.sign(blocks);
    auto const kept = memory.kept();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(kept[i], defined_signature(contents[i], secret)) << bytes << ' ' << i;
    EXPECT_EQ(changed(signer, blocks), std::vector<std::size_t>{}) << bytes;
  }
}

TYPED_TEST_P(signature_test, finds_each_changed_word) {
  for (std::size_t const bytes : {16u, 4112u, 65536u, 131088u}) {
    alloc::residency::block_signer<TypeParam> signer(this->space(), bytes);
    constexpr std::size_t n = 12;
    typename TestFixture::signed_memory memory(this->space(), n, bytes);
    std::vector<words> contents;
    for (std::size_t i = 0; i < n; ++i) memory.write(i, contents.emplace_back(this->random_words(bytes)));
    auto const blocks = memory.blocks();
    signer.sign(blocks);
    for (int round = 0; round < 10; ++round) {
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < n; ++i) {
        words block = contents[i];
        std::size_t const ends[] = {0, block.size() - 1};
        std::size_t const at = round == 0 ? ends[i % 2] : this->draw(block.size());
        if (this->draw(3) > 0) {
          block[at] ^= this->draw(2) == 0 ? 1u << this->draw(32) : static_cast<std::uint32_t>(1 + this->draw(~0u));
          expected.push_back(i);
        }
        memory.write(i, block);
      }
      EXPECT_EQ(changed(signer, blocks), expected) << bytes;
    }
  }
}

/// Changes of many words, most of which leave weaker checks, such as sums, as they were.
TYPED_TEST_P(signature_test, finds_changes_of_many_words) {
  constexpr std::size_t bytes = 3 * 65536 + 4096;
  alloc::residency::block_signer<TypeParam> signer(this->space(), bytes);
  words before = this->random_words(bytes);
  for (std::size_t const w : {0u, 7u, 1024u, 16383u, 16391u, 32767u}) before[w] = 1000;
  std::size_t const size = before.size();
  std::vector<words> changes(11, before);
  for (auto& w : changes[0]) w ^= 0x80000000;                // all floats have the other sign
  for (auto& w : changes[1]) ++w;                            //
  changes[2][16383] += 1, changes[2][32767] -= 1;            // the last words of two parts
  changes[3][0] += 1, changes[3][1024] -= 1;                 // words of one hash
  changes[4][0] ^= 0x80000000, changes[4][1] ^= 0x80000000;  //
  changes[5][7] += 1, changes[5][16391] -= 1;                // the same place of two parts
  std::rotate(changes[6].begin(), changes[6].begin() + 1024, changes[6].end());
  std::rotate(changes[7].begin(), changes[7].begin() + 16384, changes[7].end());
  std::reverse(changes[8].begin(), changes[8].end());
  std::fill(changes[9].begin(), changes[9].end(), 0);
  for (int i = 0; i < 100; ++i) changes[10][this->draw(size)] ^= 1 + static_cast<std::uint32_t>(this->draw(1000));
  typename TestFixture::signed_memory memory(this->space(), changes.size() + 1, bytes);
  for (std::size_t i = 0; i <= changes.size(); ++i) memory.write(i, before);
  auto const blocks = memory.blocks();
  signer.sign(blocks);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    memory.write(i, changes[i]);
    all.push_back(i);
  }
  EXPECT_EQ(changed(signer, blocks), all);
}

TYPED_TEST_P(signature_test, refuses_bad_blocks) {
  using signer_type = alloc::residency::block_signer<TypeParam>;
  for (std::size_t const bytes : {0u, 8u, 4100u}) EXPECT_THROW(signer_type(this->space(), bytes), error) << bytes;
  signer_type signer(this->space(), 64);
  typename TestFixture::signed_memory memory(this->space(), 3, 64);
  memory.write(0, words(16, 1));
  auto blocks = memory.blocks();
  blocks.resize(2);
  bool flags[3];
  EXPECT_THROW(signer.compare(blocks, flags), error);
  blocks[1].data += 4;
  EXPECT_THROW(signer.sign(blocks), error);
  EXPECT_THROW(signer.compare(blocks, std::span(flags, 2)), error);
  blocks.clear();
  signer.sign(blocks);
  EXPECT_EQ(changed(signer, blocks), std::vector<std::size_t>{});
}

REGISTER_TYPED_TEST_SUITE_P(signature_test, is_as_defined, finds_each_changed_word, finds_changes_of_many_words,
                            refuses_bad_blocks);

}  // namespace wyrm::tests
