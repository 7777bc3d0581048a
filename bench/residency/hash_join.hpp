// SPDX-License-Identifier: Apache-2.0
// hj: the hash join of two columns of n keys of 4 bytes. Each column is transferred, counted by partition, and
// scattered into partitions of about 32 keys, and then freed; the last kernel compares each key of the one with its
// partition of the other. Table 1 has what a program allocates in all, 2,114 MB; as the program runs on a device with
// 1,400, what it has at the same time must be less: here 3 of its 5 arrays.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "program.hpp"

namespace wyrm::bench::gdm {

namespace kernels {
[[nodiscard]] WYRM_HD inline word partition_of(word key, word partitions) {
  return static_cast<word>(std::uint64_t{key * 0x9e3779b1u} * partitions >> 32);
}
struct count_keys {
  word const* keys;
  word* counts;
  word partitions;
  WYRM_HD void operator()(std::size_t i) const {
    exec::atomic_ref<word>(counts[partition_of(keys[i], partitions)]).fetch_add(1, exec::relaxed);
  }
};
/// next[p] is where the next key of partition p goes; when all are done, where partition p ends.
struct scatter_keys {
  word const* keys;
  word* next;
  word* scattered;
  word partitions;
  WYRM_HD void operator()(std::size_t i) const {
    word const key = keys[i];
    scattered[exec::atomic_ref<word>(next[partition_of(key, partitions)]).fetch_add(1, exec::relaxed)] = key;
  }
};
/// The number of keys that are the same, times the key.
struct probe_keys {
  word const* build;
  word const* ends;
  word const* probe;
  word* matches;
  word partitions;
  WYRM_HD void operator()(std::size_t i) const {
    word const key = probe[i];
    word const p = partition_of(key, partitions);
    word count = 0;
    for (word b = p == 0 ? 0 : ends[p - 1]; b < ends[p]; ++b) count += build[b] == key;
    matches[i] = count * key;
  }
};
}  // namespace kernels

class hash_join {
 public:
  static constexpr char const* name = "hj";
  explicit hash_join(std::size_t bytes)
      : partitions_(static_cast<word>(std::max<std::size_t>(count_for(bytes) / 32, 1))),
        build_(drawn_words(1, count_for(bytes), static_cast<word>(count_for(bytes) / 2))),
        probe_(drawn_words(2, count_for(bytes), static_cast<word>(count_for(bytes) / 2))),
        matches_(count_for(bytes)) {}

  template <class Space>
  void run(device_memory<Space>& memory) {
    std::size_t const n = build_.size();
    array ends = memory.make(partitions_);
    array const build = partitioned(memory, build_, ends);
    array unused = memory.make(partitions_);
    array const probe = partitioned(memory, probe_, unused);
    unused.reset();
    array const matches = memory.make(n);
    memory.launch({{build, access::read}, {ends, access::read}, {probe, access::read}, {matches, access::write}},
                  [&](Space const& space) {
                    exec::for_each(
                        space, n,
                        kernels::probe_keys{build->data(), ends->data(), probe->data(), matches->data(), partitions_});
                  });
    matches->read(matches_);
  }
  /// Independent of the order of keys in a partition.
  [[nodiscard]] std::uint64_t checksum() const {
    std::uint64_t sum = 0;
    for (word const m : matches_) sum += m;
    return sum;
  }

  [[nodiscard]] std::uint64_t expected() const {
    std::unordered_map<word, word> counts;
    for (word const key : build_) ++counts[key];
    std::uint64_t sum = 0;
    for (word const key : probe_)
      if (auto const at = counts.find(key); at != counts.end()) sum += at->second * key;
    return sum;
  }

 private:
  /// Of keys in a column: at least 2, and fewer than 2^32.
  [[nodiscard]] static std::size_t count_for(std::size_t bytes) {
    return std::clamp<std::size_t>(bytes / sizeof(word) / 5, 2, ~word{0});
  }
  template <class Space>
  [[nodiscard]] array partitioned(device_memory<Space>& memory, std::vector<word> const& keys, array const& ends) {
    std::size_t const n = keys.size();
    array const column = memory.make(n);
    column->write(keys);
    std::vector<word> counts(partitions_);
    ends->write(counts);
    memory.launch({{column, access::read}, {ends, access::write}}, [&](Space const& space) {
      exec::for_each(space, n, kernels::count_keys{column->data(), ends->data(), partitions_});
    });
    ends->read(counts);
    word sum = 0;
    for (word& c : counts) {
      word const own = c;
      c = sum;
      sum += own;
    }
    ends->write(counts);
    array scattered = memory.make(n);
    memory.launch({{column, access::read}, {ends, access::write}, {scattered, access::write}}, [&](Space const& space) {
      exec::for_each(space, n, kernels::scatter_keys{column->data(), ends->data(), scattered->data(), partitions_});
    });
    memory.synchronize();  // before the column is freed
    return scattered;
  }

  word partitions_;
  std::vector<word> build_;
  std::vector<word> probe_;
  std::vector<word> matches_;
};

}  // namespace wyrm::bench::gdm
