// SPDX-License-Identifier: Apache-2.0
#include "number_index.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <random>

#include "../datasets/random.hpp"

namespace wyrm::apps {

namespace {

bool ascend(std::span<std::uint64_t const> numbers) {
  return std::ranges::adjacent_find(numbers, std::greater_equal()) == numbers.end();
}

}  // namespace

number_index::number_index(std::span<std::uint64_t const> numbers) {
  if (numbers.empty()) return;
  bool const is_dense = ascend(numbers) && (numbers.back() - numbers.front()) / bits_of_word < numbers.size();
  is_dense ? mark(numbers) : hash(numbers);
}

void number_index::mark(std::span<std::uint64_t const> numbers) {
  first_ = numbers.front();
  words_.resize((numbers.back() - first_) / bits_of_word + 1);
  for (std::uint64_t const number : numbers)
    words_[(number - first_) / bits_of_word].bits |= std::uint64_t{1} << ((number - first_) % bits_of_word);
  graph::vertex_id before = 0;
  for (word& w : words_) {
    w.before = before;
    before += static_cast<graph::vertex_id>(std::popcount(w.bits));
  }
}

void number_index::hash(std::span<std::uint64_t const> numbers) {
  std::random_device random;
  seed_ = std::uint64_t{random()} << 32 | random();
  slots_.assign(std::bit_ceil(2 * numbers.size()), graph::no_vertex);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    graph::vertex_id& slot = slots_[slot_of(numbers, numbers[i])];
    if (slot == graph::no_vertex) slot = static_cast<graph::vertex_id>(i);
  }
}

std::size_t number_index::slot_of(std::span<std::uint64_t const> numbers, std::uint64_t number) const {
  std::size_t const mask = slots_.size() - 1;
  std::size_t slot = datasets::random_numbers(number ^ seed_).next() & mask;
  while (slots_[slot] != graph::no_vertex && numbers[slots_[slot]] != number) slot = (slot + 1) & mask;
  return slot;
}

std::optional<graph::vertex_id> number_index::find_slot(std::span<std::uint64_t const> numbers,
                                                        std::uint64_t number) const {
  graph::vertex_id const place = slots_[slot_of(numbers, number)];
  return place == graph::no_vertex ? std::nullopt : std::optional(place);
}

}  // namespace wyrm::apps
