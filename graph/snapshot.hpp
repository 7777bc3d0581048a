// SPDX-License-Identifier: Apache-2.0
// Snapshots: the state of a graph at one moment, which stays readable while updates continue. A snapshot is a copy of
// the vertex table; it shares all pages with the graph. An update replaces a page that a snapshot uses instead of
// changing it (copy on write). So the cost of a snapshot for updates is one copy of each page that they change.
//
// Shared pages need no mark and no reference count. The page of a vertex is in the table during one period, so the
// snapshots that use it are consecutive: if any snapshot uses the current page of a vertex, the newest one does
// (is_shared in table/record.hpp). When a snapshot is released, its page of a vertex is freed exactly if neither the
// previous snapshot nor the next one (the graph, if there is no next one) has the same page for this vertex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "batch/status.hpp"
#include "layout/layout.hpp"
#include "table/page_size.hpp"
#include "table/record.hpp"
#include "view.hpp"

namespace wyrm::graph {

/// The state of a graph at one moment. Copies of a snapshot share its data, which is released with the last copy. Its
/// pages return to the pool with the next operation that changes the graph. It may outlive the graph, and then keeps
/// the pool. A moved-from snapshot can only be assigned to and destroyed.
///
/// Thread safety: one thread may change the graph while others read, copy and destroy snapshots. A kernel on another
/// stream, or a thread, that reads a snapshot must end before the last copy is destroyed.
class snapshot {
 public:
  /// The view for algorithms, valid until the snapshot ends. Its id and version are those of the graph at that moment.
  [[nodiscard]] graph_view const& view() const { return view_; }
  [[nodiscard]] vertex_id vertices() const { return view_.vertices(); }
  [[nodiscard]] std::uint64_t arcs() const { return view_.arcs(); }
  [[nodiscard]] std::uint64_t edges() const { return edges_; }

  /// Made by the graph. owner: what keeps the records and the pages.
  snapshot(std::shared_ptr<void const> owner, graph_view const& view, std::uint64_t edges)
      : owner_(std::move(owner)), view_(view), edges_(edges) {}

 private:
  std::shared_ptr<void const> owner_;
  graph_view view_;
  std::uint64_t edges_;
};

namespace detail {

/// Bytes of pages, and the same rounded as in rounded_page_bytes().
struct page_bytes_sum {
  std::uint64_t bytes;
  std::uint64_t rounded;
};

/// One lane per vertex: adds the bytes of its page, unless the table after has it; `width`: bytes of a value.
struct sum_unshared {
  packed_record const* records;
  snapshot_records after;
  page_bytes_sum* sum;
  unsigned width;
  bool powers_of_two;  // see rounded_page_bytes()

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    vertex_record const r = valid ? vertex_record(records[v]) : vertex_record{nullptr, 0, 0};
    bool const is_last = valid && r.page != nullptr && !is_shared(after, v, r.page);
    std::uint64_t const own = is_last ? page_bytes(r.capacity, width) : 0;
    std::uint64_t const bytes = exec::sum(t, own);
    std::uint64_t const rounded = exec::sum(t, std::uint64_t{rounded_page_bytes(own, powers_of_two)});
    if (t.rank() != 0 || bytes == 0) return;
    add(sum->bytes, bytes);
    add(sum->rounded, rounded);
  }
};

/// The snapshots of a graph, in the order of time, and the pool that they share with it.
template <class Space, class Allocator>
class snapshot_chain : public std::enable_shared_from_this<snapshot_chain<Space, Allocator>> {
 public:
  using table = exec::buffer<packed_record, Space>;
  using tables = std::vector<table>;  // one for each table of the graph
  using sources = std::vector<snapshot_records>;

  snapshot_chain(Space const& space, std::shared_ptr<Allocator> allocator)
      : space_(space), allocator_(std::move(allocator)) {}
  ~snapshot_chain() {
    if constexpr (!Allocator::family.resets) {
      try {
        release_all();
      } catch (...) {  // the device has failed, and its memory is lost
      }
    }
  }
  snapshot_chain(snapshot_chain&&) = delete;
  snapshot_chain& operator=(snapshot_chain&&) = delete;

  /// Copies the tables. Returns when the copies are complete, so that any stream may read them. Throws
  /// error(out_of_memory).
  [[nodiscard]] std::shared_ptr<void const> take(sources const& of, packed_record const** out,
                                                 packed_record const** in) {
    auto made = std::make_shared<handle>(*this);
    std::list<entry> next;
    next.emplace_back();
    vertex_id const vertices = next.back().vertices = of[0].vertices;
    if (spare_) next.back().records = *std::exchange(spare_, std::nullopt);
    tables& copies = next.back().records;
    if (!copies.empty() && copies[0].size() < vertices) copies.clear();  // the graph has grown
    while (copies.size() < of.size()) copies.emplace_back(space_, vertices);
    for (std::size_t k = 0; k < of.size(); ++k)
      if (vertices > 0) space_.copy(copies[k].data(), of[k].records, std::size_t{vertices} * sizeof(packed_record));
    space_.synchronize();
    *out = copies[0].data();
    *in = of.size() > 1 ? copies[1].data() : nullptr;
    made->number = next.back().number = ++last_number_;
    living_.splice(living_.end(), next);
    return made;
  }

  /// The records of table k of the newest snapshot, if there is one. Valid until collect().
  [[nodiscard]] snapshot_records newest(std::size_t k) const {
    return living_.empty() ? snapshot_records{} : living_.back().table_of(k);
  }
  [[nodiscard]] bool empty() const { return living_.empty(); }

  /// Frees the pages of snapshots that have ended. current: the tables of the graph.
  void collect(sources const& current) {
    std::vector<std::uint64_t> ended;
    {
      std::lock_guard const lock(mutex_);
      ended = ended_;  // a copy, as ended_ keeps its capacity
      ended_.clear();
    }
    for (std::uint64_t const number : ended) {
      auto at = living_.begin();
      while (at->number != number) ++at;
      auto const after = std::next(at);
      for (std::size_t k = 0; k < current.size(); ++k)
        release(at->table_of(k), at == living_.begin() ? snapshot_records{} : std::prev(at)->table_of(k),
                after == living_.end() ? current[k] : after->table_of(k));
      // Scratch of the next snapshot; the kernels above are before it on the stream.
      if (!spare_) spare_ = std::move(at->records);
      living_.erase(at);
    }
  }
  /// Frees the pages of a table of the graph that no snapshot has.
  void release_current(snapshot_records const& current, std::size_t k) { release(current, newest(k), {}); }

  /// The bytes of pages that only snapshots have.
  [[nodiscard]] page_bytes_sum pages_of_snapshots(sources const& current, unsigned width) const {
    if (living_.empty()) return {0, 0};
    exec::buffer<page_bytes_sum, Space> sum(space_, 1);
    exec::write(space_, sum.data(), page_bytes_sum{0, 0});
    for (auto at = living_.begin(); at != living_.end(); ++at) {
      auto const after = std::next(at);
      for (std::size_t k = 0; k < current.size(); ++k)
        exec::for_each_lane<32>(
            space_, at->vertices,
            sum_unshared{at->records[k].data(), after == living_.end() ? current[k] : after->table_of(k), sum.data(),
                         width, Allocator::family.powers_of_two});
    }
    return exec::read(space_, sum.data());
  }
  /// Frees the memory that is kept for the next snapshot.
  void free_spare() { spare_.reset(); }
  /// The bytes of the copied tables.
  [[nodiscard]] std::size_t table_bytes() const {
    std::size_t bytes = 0;
    for (entry const& e : living_)
      for (table const& t : e.records) bytes += t.bytes();
    if (spare_)
      for (table const& t : *spare_) bytes += t.bytes();
    return bytes;
  }

 private:
  struct entry {
    std::uint64_t number = 0;
    vertex_id vertices = 0;
    tables records;
    [[nodiscard]] snapshot_records table_of(std::size_t k) const { return {records[k].data(), vertices}; }
  };
  // Owned by the snapshots of the user. Marks its entry as ended; the graph frees its pages.
  struct handle {
    explicit handle(snapshot_chain& c) : chain(c.shared_from_this()) { chain->reserve_end(); }
    ~handle() {
      std::lock_guard const lock(chain->mutex_);
      if (number > 0) chain->ended_.push_back(number);  // there is room for it
      --chain->handles_;
    }
    handle(handle&&) = delete;
    std::shared_ptr<snapshot_chain> chain;
    std::uint64_t number = 0;
  };
  // So that the end of a snapshot cannot fail.
  void reserve_end() {
    std::lock_guard const lock(mutex_);
    ended_.reserve(ended_.size() + handles_ + 1);
    ++handles_;
  }
  void release(snapshot_records const& some, snapshot_records const& before, snapshot_records const& after) {
    exec::for_each_lane<32>(
        space_, some.vertices,
        release_rows<typename Allocator::view_type>{allocator_->view(), some.records, before, after});
  }
  // After the end of the graph: frees the pages of all snapshots.
  void release_all() {
    typename Space::guard const current(space_);
    for (auto at = living_.begin(); at != living_.end(); at = living_.erase(at))
      for (std::size_t k = 0; k < at->records.size(); ++k)
        release(at->table_of(k), {}, std::next(at) == living_.end() ? snapshot_records{} : std::next(at)->table_of(k));
    space_.synchronize();
  }

  Space space_;
  std::shared_ptr<Allocator> allocator_;
  std::list<entry> living_;
  std::optional<tables> spare_;  // memory for the next snapshot
  std::uint64_t last_number_ = 0;
  std::mutex mutex_;                  // for what follows
  std::vector<std::uint64_t> ended_;  // numbers of snapshots that have ended
  std::size_t handles_ = 0;
};

}  // namespace detail

}  // namespace wyrm::graph
