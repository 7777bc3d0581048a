// SPDX-License-Identifier: Apache-2.0
// Interprets any string of bytes as a sequence of operations on a graph, and compares the graph with the model after
// each operation. The fuzzer (sequence_fuzz.cpp) generates sequences; sequence_test.cpp replays them.
//
// Byte 0: bit 0 directed, 1 with in-neighbours, 2 with self-loops, 3 and 4 the allocator. Byte 1: the number of
// vertices, divided by 16, minus 1. Operations follow to the end: a byte whose lower three bits are the kind and whose
// upper five bits, n, are the size, and the arguments of the operation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../../exec/error.hpp"
#include "../../exec/host_space.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "model.hpp"

namespace wyrm::tests {

class byte_reader {
 public:
  explicit byte_reader(std::span<std::uint8_t const> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  /// The next byte; 0 beyond the end.
  std::uint8_t next() {
    if (bytes_.empty()) return 0;
    std::uint8_t const b = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return b;
  }

 private:
  std::span<std::uint8_t const> bytes_;
};

/// A graph and its model.
template <class Allocator>
class sequence {
 public:
  explicit sequence(byte_reader& bytes, std::uint8_t flags)
      : bytes_(bytes),
        n_(16u * (1u + bytes.next())),
        graph_(exec::host_space(1), n_, settings(flags)),
        model_(n_, graph_.settings().directed, graph_.settings().self_loops) {}

  /// Runs the sequence; returns a description of the first failure, or an empty string.
  std::string run() {
    for (unsigned step = 0; !bytes_.empty(); ++step) {
      std::string const wrong = one();
      if (!wrong.empty()) return Allocator::name + std::string(", step ") + std::to_string(step) + ": " + wrong;
    }
    graph_.clear();
    graph_.check();
    return graph_.allocator().stats().granted == 0 ? "" : Allocator::name + std::string(": pages are lost");
  }

 private:
  static graph::options settings(std::uint8_t flags) {
    graph::options o{.directed = (flags & 1) != 0, .in_neighbours = (flags & 2) != 0, .self_loops = (flags & 4) != 0};
    o.pool = {.pool_bytes = std::size_t{256} << 10, .reserve_bytes = std::size_t{16} << 20, .checked = true};
    return o;
  }

  std::string one() {
    std::uint8_t const op = bytes_.next();
    std::size_t const n = op >> 3;
    switch (op & 7) {
      case 0:
      case 1: return inserts(edges(n));
      case 2:
      case 3: return erases(edges(n));
      case 4: return inserts(row(64 * n));
      case 5: return erases(row(64 * n));
      case 6: return fails(edges(n), bytes_.next());
      default:
        if (n % 4 == 0) {
          graph_.clear();
          model_ = graph_model(n_, graph_.settings().directed, graph_.settings().self_loops);
          return same({}, {});
        }
        if (n % 4 == 1) return compacts();
        if (n % 4 == 2) return rebuilds();
        return refuses(n);
    }
  }

  std::string inserts(std::vector<graph::edge> const& batch) {
    graph::update_report const got = graph_.insert(batch);
    return same(got, model_.insert(batch));
  }
  std::string erases(std::vector<graph::edge> const& batch) {
    graph::update_report const got = graph_.erase(batch);
    return same(got, model_.erase(batch));
  }
  std::string compacts() {
    graph_.compact();
    return same({}, {});
  }
  // Builds the same graph from its CSR.
  std::string rebuilds() {
    graph::csr const rows = graph_.to_csr();
    graph_.clear();
    graph_.build(rows);
    return same({}, {});
  }
  // An insertion without memory from the k-th vertex on: either fails and changes nothing, or succeeds.
  std::string fails(std::vector<graph::edge> const& batch, std::uint64_t k) {
    graph_.fail_allocations_from(k);
    std::optional<graph::update_report> report;
    try {
      report = graph_.insert(batch);
    } catch (error const& e) {
      if (e.code() != error_code::out_of_memory) return e.what();
    }
    graph_.fail_allocations_from(graph_.never);
    return report ? same(*report, model_.insert(batch)) : same({}, {});
  }
  // A batch with an id out of range.
  std::string refuses(std::size_t n) {
    std::vector<graph::edge> batch = edges(n);
    if (batch.empty()) return {};
    (n % 2 == 0 ? batch[n / 2].source : batch[n / 2].target) = n_ + bytes_.next();
    try {
      if (n % 3 == 0)
        graph_.erase(batch);
      else
        graph_.insert(batch);
    } catch (error const& e) {
      return e.code() == error_code::bad_argument ? same({}, {}) : e.what();
    }
    return "an id out of range was accepted";
  }

  graph::vertex_id vertex() { return static_cast<graph::vertex_id>((bytes_.next() * 29u) % n_); }
  std::vector<graph::edge> const& edges(std::size_t n) {
    last_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      graph::vertex_id const u = vertex();
      last_.push_back({u, vertex()});
    }
    return last_;
  }
  // Edges from one vertex to n vertices with consecutive ids.
  std::vector<graph::edge> const& row(std::size_t n) {
    last_.clear();
    graph::vertex_id const u = vertex();
    graph::vertex_id const first = vertex();
    for (std::size_t i = 0; i < n; ++i) last_.push_back({u, static_cast<graph::vertex_id>((first + i) % n_)});
    return last_;
  }

  std::string same(graph::update_report const& got, graph::update_report const& want) {
    if (got.requested != want.requested || got.inserted != want.inserted || got.erased != want.erased ||
        got.missing != want.missing || got.duplicates != want.duplicates || got.self_loops != want.self_loops)
      return "the report is wrong";
    try {
      graph_.check();
    } catch (error const& e) {
      return e.what();
    }
    return graph_.to_csr() == model_.to_csr() ? "" : "the neighbours are wrong";
  }

  byte_reader& bytes_;
  graph::vertex_id n_;
  graph::dynamic_graph<exec::host_space, Allocator> graph_;
  graph_model model_;
  std::vector<graph::edge> last_;
};

/// Runs a sequence; returns a description of the first failure, or an empty string.
inline std::string run_sequence(std::span<std::uint8_t const> bytes) {
  using space = exec::host_space;
  byte_reader reader(bytes);
  std::uint8_t const flags = reader.next();
  switch (flags >> 3 & 3) {
    case 0: return sequence<alloc::ouroboros_s_p<space>>(reader, flags).run();
    case 1: return sequence<alloc::ouroboros_va_c<space>>(reader, flags).run();
    case 2: return sequence<alloc::corw<space>>(reader, flags).run();
    default: return sequence<alloc::rw_malloc<space>>(reader, flags).run();
  }
}

}  // namespace wyrm::tests
