// SPDX-License-Identifier: Apache-2.0
#include "binary.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/host_space.hpp"
#include "../exec/launch.hpp"
#include "output_file.hpp"

namespace wyrm::loaders {
namespace detail {
namespace {

using namespace std::string_view_literals;

static_assert(std::endian::native == std::endian::little,
              "files are little-endian, and arrays are read without conversion");

constexpr std::string_view signature = "\x89WYRM\r\n\x1a"sv;
constexpr std::uint32_t version = 1;

enum flag : std::uint32_t { directed = 1, weights = 2, times = 4, ids = 8, names = 16, all_flags = 31 };

struct header {
  std::array<char, 8> signature;
  std::uint32_t version;
  std::uint32_t flags;
  std::uint64_t vertices;
  std::uint64_t edges;
  std::uint64_t name_bytes;
  cache_stamp stamp;
  std::uint64_t first_id;
  std::uint64_t checksum;  // of the preceding fields and of all arrays
};
static_assert(sizeof(header) == binary_header_bytes && offsetof(header, checksum) == binary_checksum_at &&
              std::is_trivially_copyable_v<header>);

std::uint64_t hash_with(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32);
}

/// Hashes blocks in parallel, and then the hashes of the blocks in order.
std::uint64_t checksum(header const& head, std::vector<std::string_view> const& sections, unsigned threads) {
  constexpr std::size_t block = std::size_t{1} << 16;
  std::vector<std::string_view> blocks{{reinterpret_cast<char const*>(&head), offsetof(header, checksum)}};
  for (auto section : sections)
    for (std::size_t at = 0; at < section.size(); at += block) blocks.push_back(section.substr(at, block));
  std::vector<std::uint64_t> hashes(blocks.size());
  exec::for_each_tile<1>(exec::host_space(threads), blocks.size(),
                         [&](exec::scalar_tile, std::size_t i) { hashes[i] = hash_of(i, blocks[i]); });
  return hash_of(0, {reinterpret_cast<char const*>(hashes.data()), hashes.size() * sizeof(std::uint64_t)});
}

template <class T>
std::string_view bytes_of(std::vector<T> const& values) {
  return {reinterpret_cast<char const*>(values.data()), values.size() * sizeof(T)};
}

class binary_parser {
 public:
  explicit binary_parser(source const& in) : in_(in), rest_(in.text) {}

  /// Reads the header and finds the arrays; returns the checksum that the content should have.
  std::uint64_t read_sections() {
    read_header();
    sections_ = {take(head_.edges, sizeof(graph::edge)), take(has(weights) ? head_.edges : 0, sizeof(double)),
                 take(has(times) ? head_.edges : 0, sizeof(double)),
                 take(has(ids) ? head_.vertices : 0, sizeof(std::uint64_t)), take(head_.name_bytes, 1)};
    if (!rest_.empty()) fail(position(), "the end of the file", std::to_string(rest_.size()) + " bytes more");
    return checksum(head_, sections_, in_.settings.threads);
  }

  graph::edge_list parse() {
    if (read_sections() != head_.checksum) fail(binary_checksum_at, "the checksum of the content", "another one");
    graph::edge_list list;
    list.vertices = head_.vertices;
    list.first_id = head_.first_id;
    list.directed = has(directed);
    copy(sections_[0], list.edges);
    copy(sections_[1], list.weights);
    copy(sections_[2], list.times);
    copy(sections_[3], list.ids);
    check_values(list);
    read_names(sections_[4], list.names);
    return list;
  }

 private:
  [[nodiscard]] bool has(flag f) const { return (head_.flags & f) != 0; }
  [[nodiscard]] std::size_t position() const { return in_.text.size() - rest_.size(); }

  void read_header() {
    if (!has_binary_signature(rest_)) fail(0, "the signature of a Wyrm file", "something else");
    if (rest_.size() < sizeof(header)) fail(rest_.size(), "a header of 64 bytes", "the end of the file");
    std::memcpy(&head_, rest_.data(), sizeof(header));
    rest_.remove_prefix(sizeof(header));
    if (head_.version != version) {
      fail(offsetof(header, version), "version " + std::to_string(version), std::to_string(head_.version),
           "write the file again with this version of Wyrm, or read it with the other");
    }
    if ((head_.flags & ~all_flags) != 0) fail(offsetof(header, flags), "known flags", std::to_string(head_.flags));
    if (head_.vertices > graph::max_vertices)
      fail(offsetof(header, vertices), "at most 4294967295 vertices", std::to_string(head_.vertices));
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    if (head_.vertices > 0 && head_.first_id > most - (head_.vertices - 1))
      fail(offsetof(header, first_id), "a first id from which all ids are below 2^64", std::to_string(head_.first_id));
    if (has(names) != (head_.name_bytes > 0))
      fail(offsetof(header, name_bytes), "names and the flag for them", std::to_string(head_.name_bytes) + " bytes");
  }

  std::string_view take(std::uint64_t count, std::size_t bytes) {
    if (count > rest_.size() / bytes) {
      fail(position(), std::to_string(count) + " values of " + std::to_string(bytes) + " bytes",
           std::to_string(rest_.size()) + " bytes to the end of the file");
    }
    auto const section = rest_.substr(0, count * bytes);
    rest_.remove_prefix(section.size());
    return section;
  }

  template <class T>
  void copy(std::string_view section, std::vector<T>& to) const {
    to.resize(section.size() / sizeof(T));
    constexpr std::size_t block = std::size_t{1} << 16;
    exec::for_each_tile<1>(exec::host_space(in_.settings.threads), (section.size() + block - 1) / block,
                           [&](exec::scalar_tile, std::size_t i) {
                             auto const part = section.substr(i * block, block);
                             std::memcpy(reinterpret_cast<char*>(to.data()) + i * block, part.data(), part.size());
                           });
  }

  void check_values(graph::edge_list const& list) const {
    std::atomic<bool> ids_fit = true;
    std::atomic<bool> all_finite = true;
    exec::host_space const space(in_.settings.threads);
    exec::for_each(space, list.edges.size(), [&](std::size_t i) {
      auto const [source, target] = list.edges[i];
      if (source >= list.vertices || target >= list.vertices) ids_fit = false;
      if (!list.times.empty() && !std::isfinite(list.times[i])) all_finite = false;
    });
    if (!ids_fit) fail(sizeof(header), "ids below " + std::to_string(list.vertices), "a larger one");
    if (!all_finite) fail(sizeof(header), "finite times", "others");
  }

  void read_names(std::string_view section, std::vector<std::string>& to) const {
    if (!has(names)) return;
    auto const count = static_cast<std::uint64_t>(std::count(section.begin(), section.end(), '\0'));
    if (count != head_.vertices || section.back() != '\0') {
      fail(in_.text.size() - section.size(), std::to_string(head_.vertices) + " names, each followed by a NUL",
           std::to_string(count));
    }
    to.reserve(count);
    for (; !section.empty(); section.remove_prefix(to.back().size() + 1))
      to.emplace_back(section.substr(0, section.find('\0')));
  }

  [[noreturn]] void fail(std::size_t byte, std::string const& expected, std::string const& found,
                         std::string const& advice = "the file is damaged or cut: write or fetch it again") const {
    throw error(error_code::bad_input, in_.name + ": byte " + std::to_string(byte) + ": expected " + expected +
                                           ", found " + found + "; " + advice);
  }

  source const& in_;
  std::string_view rest_;
  header head_{};
  std::vector<std::string_view> sections_;
};

}  // namespace

std::uint64_t hash_of(std::uint64_t hash, std::string_view bytes) noexcept {
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    hash = hash_with(hash, word);
  }
  std::uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  return hash_with(hash_with(hash, rest), bytes.size());
}

cache_stamp binary_stamp(std::string_view text) noexcept {
  header head{};
  if (text.size() >= sizeof(header)) std::memcpy(&head, text.data(), sizeof(header));
  return head.stamp;
}

std::uint64_t binary_checksum(source const& in) { return binary_parser(in).read_sections(); }

graph::edge_list parse_binary(source const& in) { return binary_parser(in).parse(); }

}  // namespace detail

bool has_binary_signature(std::string_view text) noexcept { return text.starts_with(detail::signature); }

std::uint64_t write_binary(graph::edge_list const& list, std::filesystem::path const& path, cache_stamp stamp) {
  using namespace detail;
  auto const fits = [](std::size_t have, std::size_t want) { return have == 0 || have == want; };
  if (!fits(list.weights.size(), list.edges.size()) || !fits(list.times.size(), list.edges.size()) ||
      !fits(list.ids.size(), list.vertices) || !fits(list.names.size(), list.vertices))
    throw error(error_code::bad_argument, path.string() + ": weights, times, ids or names are not one for each");

  std::string all_names;
  for (auto const& name : list.names) all_names.append(name) += '\0';
  header head{};
  std::copy(signature.begin(), signature.end(), head.signature.begin());
  head.version = version;
  head.flags = (list.directed ? directed : 0U) | (list.weights.empty() ? 0U : weights) |
               (list.times.empty() ? 0U : times) | (list.ids.empty() ? 0U : ids) | (all_names.empty() ? 0U : names);
  head.vertices = list.vertices;
  head.edges = list.edges.size();
  head.name_bytes = all_names.size();
  head.stamp = stamp;
  head.first_id = list.first_id;
  std::vector<std::string_view> const sections{bytes_of(list.edges), bytes_of(list.weights), bytes_of(list.times),
                                               bytes_of(list.ids), all_names};
  head.checksum = checksum(head, sections, 0);

  output_file file("the graph", path, output_file::by_extension{});
  file.write({reinterpret_cast<char const*>(&head), sizeof(head)});
  for (auto const section : sections) file.write(section);
  file.finish();
  file.commit();
  return file.bytes();
}

}  // namespace wyrm::loaders
