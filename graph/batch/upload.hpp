// SPDX-License-Identifier: Apache-2.0
// Uploads batches and CSRs from the host to memory of a space. Large ones are uploaded in slices: one slice is copied
// while earlier slices are processed. The memory is reused for the next upload.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "../../exec/bulk.hpp"
#include "../../exec/memory.hpp"
#include "../layout/layout.hpp"
#include "../types.hpp"
#include "batch.hpp"
#include "columns.hpp"

namespace wyrm::graph::detail {

template <class Space>
class uploader {
 public:
  explicit uploader(Space const& space)
      : space_(space),
        edges_(space),
        spare_(space),
        values_(space),
        operations_(space),
        foreign_(space),
        offsets_(space),
        targets_(space),
        bulk_(space) {}

  /// Allocates memory for a batch, and returns its position.
  [[nodiscard]] resident_edges room_for(std::size_t edges) {
    edges_.reserve(edges);
    return resident_edges(edges_.data(), edges);
  }
  /// The number of edges in a slice of a batch of `edges` edges; 0: one copy without slices.
  [[nodiscard]] static std::size_t slice_of(std::size_t edges) {
    if (!Space::upload::is_concurrent || edges < 2 * most) return 0;
    std::size_t const slices = (edges + most - 1) / most;
    return (edges + slices - 1) / slices;
  }
  /// Uploads a batch after room_for(), and calls each(first, n) for its slices, which enqueues work on them. All slices
  /// except the last are sorted by source. The sort overlaps with the copy of the next slice.
  template <class Each>
  void upload(std::span<edge const> batch, vertex_id vertices, Each const& each) {
    std::size_t const slice = slice_of(batch.size());
    if (slice == 0) {
      space_.enqueue_copy_in(edges_.data(), batch.data(), batch.size_bytes());
      each(0, batch.size());
      return;
    }
    spare_.reserve(slice);
    start();
    for (std::size_t first = 0; first < batch.size(); first += slice) {
      std::span<edge const> const part = batch.subspan(first, std::min(slice, batch.size() - first));
      upload_->enqueue(edges_.data() + first, part.data(), part.size_bytes());
      if (first + part.size() < batch.size()) sort_slice(first, part.size(), vertices);
      each(first, part.size());
    }
  }

  /// Allocates memory for a batch with values of `width` bytes, or operations, and returns its position.
  [[nodiscard]] batch_arrays room_for(batch_arrays const& batch, unsigned width) {
    edges_.reserve(batch.size);
    if (batch.values != nullptr) values_.reserve(batch.size * width);
    if (batch.operations != nullptr) operations_.reserve(batch.size);
    return {edges_.data(), batch.size, batch.values != nullptr ? values_.data() : nullptr,
            batch.operations != nullptr ? operations_.data() : nullptr, batch.all};
  }
  /// Uploads the edges of such a batch, and calls each(first, n) for its slices.
  template <class Each>
  void upload_edges(batch_arrays const& batch, Each const& each) {
    std::size_t const slice = slice_of(batch.size);
    start();
    for (std::size_t first = 0, n = slice == 0 ? batch.size : slice; first < batch.size; first += n) {
      n = std::min(n, batch.size - first);
      copy_in(edges_.data() + first, batch.edges + first, n * sizeof(edge), slice != 0);
      each(first, n);
    }
  }
  /// Then uploads the values and operations of the batch, concurrently with work that is already enqueued.
  void upload_rest(batch_arrays const& batch, unsigned width) {
    if (batch.values != nullptr) copy_in(values_.data(), batch.values, batch.size * width);
    if (batch.operations != nullptr) copy_in(operations_.data(), batch.operations, batch.size * sizeof(operation));
  }
  /// Allocates memory for a batch that is converted to edges, and returns its position. `Value` is the value type of
  /// the structs, if there are any.
  template <class Value>
  [[nodiscard]] batch_arrays room_for(batch_input const& batch) {
    batch_arrays there = batch.arrays();
    if (batch.is_on_host) {
      there = room_for(there, width_of<Value>);
      if constexpr (!reads_host_memory)
        foreign_.reserve(batch.size *
                         (batch.structs != nullptr ? sizeof(valued_edge<Value>) : 2 * bytes_of(batch.columns.type)));
    } else {
      edges_.reserve(batch.size);
      there.edges = edges_.data();
    }
    if (batch.structs != nullptr) {
      values_.reserve(batch.size * width_of<Value>);
      there.values = values_.data();
    }
    return there;
  }
  /// Uploads the columns or structs of such a batch after room_for(), if they are on the host; converts them to
  /// edges; and calls each(first, n) for its slices. sorts: whether all slices except the last are sorted by source.
  template <class Value, class Each>
  void convert(batch_input const& batch, vertex_id vertices, bool sorts, Each const& each) {
    if (batch.is_on_host) start();
    if (!batch.is_on_host || reads_host_memory) {
      convert_slice<Value>(batch.columns, batch.structs, 0, batch.size);
      each(0, batch.size);
      return;
    }
    std::size_t const slice = slice_of(batch.size);
    if (sorts) spare_.reserve(slice);
    for (std::size_t first = 0, n = slice == 0 ? batch.size : slice; first < batch.size; first += n) {
      n = std::min(n, batch.size - first);
      upload_slice<Value>(batch, first, n, slice != 0);
      if (sorts && first + n < batch.size) sort_slice(first, n, vertices);
      each(first, n);
    }
  }

  /// The values of a CSR, in memory of the space.
  [[nodiscard]] void const* upload_values(void const* values, std::size_t bytes) {
    values_.reserve(bytes);
    space_.enqueue_copy_in(values_.data(), values, bytes);
    return values_.data();
  }

  /// The position of a CSR on the device, or of its upload.
  [[nodiscard]] csr_rows room_for(resident_csr const& rows) { return {rows.offsets, rows.targets, rows.arcs}; }
  [[nodiscard]] csr_rows room_for(csr_view const& rows) {
    offsets_.reserve(rows.offsets.size());
    targets_.reserve(rows.targets.size());
    return {offsets_.data(), targets_.data(), rows.targets.size()};
  }
  /// n arcs of a CSR on the device, from `first` on, as edges.
  [[nodiscard]] resident_edges list(csr_rows const& rows, vertex_id vertices, std::uint64_t first, std::size_t n) {
    resident_edges const edges = room_for(n);
    exec::for_each_tile<8>(space_, vertices, rows_to_edges{rows, edges_.data(), first, first + n});
    return edges;
  }
  /// Uploads a CSR after room_for(), and calls each(first, n) for the rows of each slice.
  template <class Each>
  void upload(resident_csr const&, vertex_id vertices, Each const& each) {
    each(0, vertices);
  }
  template <class Each>
  void upload(csr_view const& rows, vertex_id vertices, Each const& each) {
    space_.enqueue_copy_in(offsets_.data(), rows.offsets.data(), rows.offsets.size() * sizeof(std::uint64_t));
    start();
    auto const ends = rows.offsets.begin() + 1;
    std::size_t next = 0;  // the first row that is not uploaded
    for (std::size_t first = 0; next < vertices; first += targets_slice) {
      std::size_t const n = std::min(targets_slice, rows.targets.size() - std::min(first, rows.targets.size()));
      if (n > 0) upload_->enqueue(targets_.data() + first, rows.targets.data() + first, n * sizeof(vertex_id));
      // Offsets may be unsorted here, as they are not checked yet; kernels copy no rows of such a CSR.
      auto const last = std::upper_bound(ends + static_cast<std::ptrdiff_t>(next), rows.offsets.end(), first + n);
      std::size_t const end = first + n < rows.targets.size() ? static_cast<std::size_t>(last - ends) : vertices;
      if (end > next) each(next, end - next);
      next = std::max(next, end);
    }
  }

  [[nodiscard]] std::size_t bytes() const {
    return edges_.bytes() + spare_.bytes() + values_.bytes() + operations_.bytes() + foreign_.bytes() +
           offsets_.bytes() + targets_.bytes() + bulk_.bytes();
  }

 private:
  // Launches and sorts of smaller slices take longer than their transfer.
  static constexpr std::size_t most = std::size_t{1} << 20;
  static constexpr std::size_t targets_slice = std::size_t{1} << 22;

  // On a CPU the space reads the columns in place.
  static constexpr bool reads_host_memory = !Space::upload::is_concurrent;

  void sort_slice(std::size_t first, std::size_t n, vertex_id vertices) {
    static_assert(sizeof(edge) == sizeof(std::uint64_t) && std::endian::native == std::endian::little);
    auto* const keys = reinterpret_cast<std::uint64_t*>(edges_.data() + first);  // the source is in the lower half
    std::uint64_t const* const sorted =
        bulk_.sort(keys, spare_.data(), n, static_cast<unsigned>(std::bit_width(vertices)));
    if (sorted != keys) space_.copy(keys, sorted, n * sizeof(edge));
  }

  // Uploads n entries of a batch on the host from `first` on, and converts them.
  template <class Value>
  void upload_slice(batch_input const& batch, std::size_t first, std::size_t n, bool is_slice) {
    if (batch.structs != nullptr) {
      std::size_t const entry = sizeof(valued_edge<Value>);
      copy_in(foreign_.data() + first * entry, static_cast<std::byte const*>(batch.structs) + first * entry, n * entry,
              is_slice);
      convert_slice<Value>({}, foreign_.data(), first, n);
      return;
    }
    std::size_t const id = bytes_of(batch.columns.type);
    std::byte* const sources = foreign_.data();
    std::byte* const targets = sources + batch.size * id;
    id_columns const from = detail::part_of(batch.columns, first, n);
    copy_in(sources + first * id, from.sources, n * id, is_slice);
    copy_in(targets + first * id, from.targets, n * id, is_slice);
    convert_slice<Value>({sources, targets, batch.size, batch.columns.type}, nullptr, first, n);
  }
  // Enqueues the conversion of n entries of columns or structs in memory of the space.
  template <class Value>
  void convert_slice(id_columns const& columns, void const* structs, std::size_t first, std::size_t n) {
    if constexpr (!std::is_same_v<Value, no_value>)
      if (structs != nullptr) {
        exec::for_each(
            space_, n,
            split_valued_edges<Value>{static_cast<valued_edge<Value> const*>(structs) + first, edges_.data() + first,
                                      reinterpret_cast<Value*>(values_.data()) + first});
        return;
      }
    detail::convert(space_, detail::part_of(columns, first, n), edges_.data() + first);
  }

  // Small arrays are copied in the order of all other work, which takes less time to enqueue.
  void copy_in(void* to, void const* from_host, std::size_t bytes, bool is_slice = false) {
    constexpr std::size_t small = std::size_t{256} << 10;
    if (is_slice || bytes > small)
      upload_->enqueue(to, from_host, bytes);
    else
      space_.enqueue_copy_in(to, from_host, bytes);
  }
  void start() {
    if (!upload_) upload_.emplace(space_);
    upload_->start();
  }

  Space space_;
  exec::buffer<edge, Space> edges_;
  exec::buffer<std::uint64_t, Space> spare_;
  exec::buffer<std::byte, Space> values_;
  exec::buffer<operation, Space> operations_;
  exec::buffer<std::byte, Space> foreign_;  // of a batch_input: columns or structs from the host
  exec::buffer<std::uint64_t, Space> offsets_;
  exec::buffer<vertex_id, Space> targets_;
  typename Space::bulk bulk_;
  std::optional<typename Space::upload> upload_;
};

}  // namespace wyrm::graph::detail
