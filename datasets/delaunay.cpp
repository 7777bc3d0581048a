// SPDX-License-Identifier: Apache-2.0
#include "delaunay.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "limits.hpp"
#include "random.hpp"

namespace wyrm::datasets {
namespace {

using graph::vertex_id;

__extension__ using wide = __int128;

// A point with its number among those that were given.
struct numbered_point {
  std::uint32_t x;
  std::uint32_t y;
  vertex_id number;
};

void require_points(std::size_t n) {
  if (n > most_triangulated)
    throw error(error_code::bad_argument, "a triangulation of " + std::to_string(n) +
                                              " points is too large; the maximum is " +
                                              std::to_string(most_triangulated) + ": choose smaller parameters");
  // Points, points by x, edges in both directions, the first edge of each point, and the graph.
  require_memory("the triangulation", static_cast<double>(n) * (sizeof(plane_point) + 88 + 3 * sizeof(graph::edge)));
}

// By x, then y. Equal points are in the order of their numbers.
std::vector<numbered_point> by_place(std::vector<plane_point> const& points) {
  std::vector<numbered_point> sorted(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) sorted[i] = {points[i].x, points[i].y, static_cast<vertex_id>(i)};
  std::sort(sorted.begin(), sorted.end(), [](numbered_point const& a, numbered_point const& b) {
    return std::tie(a.x, a.y, a.number) < std::tie(b.x, b.y, b.number);
  });
  return sorted;
}

// The bits 0, 2, ..., 62.
std::uint32_t even_bits(std::uint64_t word) {
  std::uint64_t bits = word & 0x5555555555555555;
  bits = (bits | bits >> 1) & 0x3333333333333333;
  bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ff;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffff;
  return static_cast<std::uint32_t>(bits | bits >> 16);
}

bool are_equal(numbered_point const& a, numbered_point const& b) { return a.x == b.x && a.y == b.y; }

std::int64_t difference(std::uint32_t a, std::uint32_t b) { return std::int64_t{a} - std::int64_t{b}; }

// Whether a, b, c are counterclockwise. Products of differences are below 2^62.
bool turns_left(numbered_point const& a, numbered_point const& b, numbered_point const& c) {
  return difference(b.x, a.x) * difference(c.y, a.y) > difference(c.x, a.x) * difference(b.y, a.y);
}

// Whether d is inside the circle through a, b, c, which are counterclockwise. A minor is twice the area of a triangle
// in the square, at most 2^62, and a squared distance is less than 2^63: the determinant is less than 3 * 2^125.
bool is_in_circle(numbered_point const& a, numbered_point const& b, numbered_point const& c, numbered_point const& d) {
  std::int64_t const ax = difference(a.x, d.x);
  std::int64_t const ay = difference(a.y, d.y);
  std::int64_t const bx = difference(b.x, d.x);
  std::int64_t const by = difference(b.y, d.y);
  std::int64_t const cx = difference(c.x, d.x);
  std::int64_t const cy = difference(c.y, d.y);
  return wide{ax * ax + ay * ay} * (bx * cy - cx * by) + wide{bx * bx + by * by} * (cx * ay - ax * cy) +
             wide{cx * cx + cy * cy} * (ax * by - bx * ay) >
         0;
}

// The edges of a triangulation, each in two directions with the numbers 2i and 2i + 1. The edges that leave a point are
// a ring, in counterclockwise order.
class triangulator {
 public:
  using arc = std::uint32_t;

  // Different points by x, then y.
  explicit triangulator(std::vector<numbered_point> const& points) : points_(points) {
    arcs_.reserve(6 * points.size());
    if (points.size() > 1) (void)triangulate(0, static_cast<vertex_id>(points.size()));
  }

  [[nodiscard]] std::size_t edges() const { return arcs_.size() / 2 - free_edges_; }
  // Calls visit(a, b) for each edge and direction.
  template <class F>
  void for_each_arc(F const& visit) const {
    for (arc e = 0; e < arcs_.size(); ++e)
      if (arcs_[e].origin != graph::no_vertex) visit(origin(e), target(e));
  }

 private:
  static constexpr arc none = ~arc{0};

  struct directed {
    vertex_id origin;  // no_vertex: the edge was removed
    arc next;          // counterclockwise around the origin; of a removed edge, the next one that is free
    arc previous;
  };
  // Of a convex hull: the counterclockwise edge that leaves its leftmost point, and the clockwise one that leaves its
  // rightmost point.
  struct hull {
    arc left;
    arc right;
  };

  [[nodiscard]] static arc reverse(arc e) { return e ^ 1; }
  [[nodiscard]] vertex_id origin(arc e) const { return arcs_[e].origin; }
  [[nodiscard]] vertex_id target(arc e) const { return arcs_[reverse(e)].origin; }
  [[nodiscard]] arc next(arc e) const { return arcs_[e].next; }
  [[nodiscard]] arc previous(arc e) const { return arcs_[e].previous; }
  // The edge that leaves the target, along the face at the left.
  [[nodiscard]] arc along_left(arc e) const { return previous(reverse(e)); }

  [[nodiscard]] bool left_of(vertex_id v, arc e) const {
    return turns_left(points_[v], points_[origin(e)], points_[target(e)]);
  }
  [[nodiscard]] bool right_of(vertex_id v, arc e) const {
    return turns_left(points_[v], points_[target(e)], points_[origin(e)]);
  }
  [[nodiscard]] bool in_circle(vertex_id a, vertex_id b, vertex_id c, vertex_id d) const {
    return is_in_circle(points_[a], points_[b], points_[c], points_[d]);
  }

  arc make(vertex_id from, vertex_id to) {
    arc e = free_;
    if (e == none) {
      e = static_cast<arc>(arcs_.size());
      arcs_.resize(arcs_.size() + 2);
    } else {
      free_ = next(e);
      --free_edges_;
    }
    arcs_[e] = {from, e, e};
    arcs_[reverse(e)] = {to, reverse(e), reverse(e)};
    return e;
  }
  // Joins the rings of a and b, or divides their ring.
  void splice(arc a, arc b) {
    std::swap(arcs_[a].next, arcs_[b].next);
    arcs_[next(a)].previous = a;
    arcs_[next(b)].previous = b;
  }
  // An edge from the target of a to the origin of b, in the face at the left of both.
  arc connect(arc a, arc b) {
    arc const e = make(target(a), origin(b));
    splice(e, along_left(a));
    splice(reverse(e), b);
    return e;
  }
  void remove(arc e) {
    splice(e, previous(e));
    splice(reverse(e), previous(reverse(e)));
    arc const even = e & ~arc{1};
    arcs_[even] = {graph::no_vertex, free_, none};
    arcs_[even + 1] = {graph::no_vertex, none, none};
    free_ = even;
    ++free_edges_;
  }

  // The points first ... last-1, at least two. The depth of the recursion is the logarithm of their number.
  hull triangulate(vertex_id first, vertex_id last) {
    if (last - first == 2) {
      arc const a = make(first, first + 1);
      return {a, reverse(a)};
    }
    if (last - first == 3) return triangle(first);
    vertex_id const middle = first + (last - first) / 2;
    hull const left = triangulate(first, middle);
    return merge(left, triangulate(middle, last));
  }
  hull triangle(vertex_id first) {
    arc const a = make(first, first + 1);
    arc const b = make(first + 1, first + 2);
    splice(reverse(a), b);
    numbered_point const* const p = points_.data() + first;
    if (turns_left(p[0], p[1], p[2])) {
      (void)connect(b, a);
      return {a, reverse(b)};
    }
    if (!turns_left(p[0], p[2], p[1])) return {a, reverse(b)};
    arc const c = connect(b, a);
    return {reverse(c), c};
  }
  hull merge(hull left, hull right) {
    arc base = join(left, right);
    // The base rises: each new one is the upper side of a triangle with the last one.
    for (;;) {
      auto const is_above = [&](arc e) { return right_of(target(e), base); };
      arc from_left = next(reverse(base));
      if (is_above(from_left))
        while (in_circle(target(base), origin(base), target(from_left), target(next(from_left)))) {
          arc const following = next(from_left);
          remove(from_left);
          from_left = following;
        }
      arc from_right = previous(base);
      if (is_above(from_right))
        while (in_circle(target(base), origin(base), target(from_right), target(previous(from_right)))) {
          arc const following = previous(from_right);
          remove(from_right);
          from_right = following;
        }
      bool const left_is_above = is_above(from_left);
      bool const right_is_above = is_above(from_right);
      if (!left_is_above && !right_is_above) return {left.left, right.right};
      bool const takes_right = !left_is_above || (right_is_above && in_circle(target(from_left), origin(from_left),
                                                                              origin(from_right), target(from_right)));
      base = takes_right ? connect(from_right, reverse(base)) : connect(reverse(base), reverse(from_left));
    }
  }
  // Adds the lower common tangent of two hulls, from right to left.
  arc join(hull& left, hull& right) {
    // The inner edges: clockwise at the rightmost point of the left hull, counterclockwise at the leftmost point of the
    // right one.
    arc low_left = left.right;
    arc low_right = right.left;
    for (;;) {
      if (left_of(origin(low_right), low_left))
        low_left = along_left(low_left);
      else if (right_of(origin(low_left), low_right))
        low_right = next(reverse(low_right));
      else
        break;
    }
    arc const base = connect(reverse(low_right), low_left);
    if (origin(low_left) == origin(left.left)) left.left = reverse(base);
    if (origin(low_right) == origin(right.right)) right.right = base;
    return base;
  }

  std::vector<numbered_point> const& points_;
  std::vector<directed> arcs_;
  arc free_ = none;  // the first free edge
  std::size_t free_edges_ = 0;
};

}  // namespace

graph::edge_list triangulation(std::vector<plane_point> const& points) {
  require_points(points.size());
  for (plane_point const& p : points)
    if ((p.x | p.y) >> 31 != 0)
      throw error(error_code::bad_argument, "a point has the coordinates (" + std::to_string(p.x) + ", " +
                                                std::to_string(p.y) + "), which must be less than 2147483648");
  std::vector<numbered_point> sorted = by_place(points);
  sorted.erase(std::unique(sorted.begin(), sorted.end(), are_equal), sorted.end());
  triangulator const all(sorted);
  graph::edge_list list;
  list.vertices = points.size();
  graph::edge* const edges = room_for(list.edges, all.edges());
  // Sorted by counting: the places of the edges of a source, and then each row by its targets.
  std::vector<std::uint32_t> places(points.size() + 1);
  auto const for_each_edge = [&](auto const& visit) {
    all.for_each_arc([&](vertex_id a, vertex_id b) {
      vertex_id const u = sorted[a].number;
      vertex_id const v = sorted[b].number;
      if (u < v) visit(u, v);
    });
  };
  for_each_edge([&](vertex_id u, vertex_id) { ++places[u + 1]; });
  for (std::size_t v = 0; v < points.size(); ++v) places[v + 1] += places[v];
  for_each_edge([&](vertex_id u, vertex_id v) { edges[places[u]++] = {u, v}; });
  std::uint32_t first = 0;
  for (std::size_t v = 0; v < points.size(); ++v) {
    std::sort(edges + first, edges + places[v],
              [](graph::edge const& a, graph::edge const& b) { return a.target < b.target; });
    first = places[v];
  }
  return list;
}

std::vector<plane_point> random_points(delaunay_options const& o) {
  require_points(o.vertices);
  if (o.bits < 1 || o.bits > 31)
    throw error(error_code::bad_argument, "coordinates have 1 to 31 bits, not " + std::to_string(o.bits));
  if (o.vertices > std::uint64_t{1} << (2 * o.bits - 1))
    throw error(error_code::bad_argument, std::to_string(o.vertices) + " points are more than half of those with " +
                                              std::to_string(o.bits) + " bits; choose more bits");
  // Places on the curve. Those of equal points are next to each other when they are sorted.
  random_at const random(o.seed, 13);
  std::vector<std::uint64_t> places(o.vertices);
  for (std::uint32_t draw = 0;; ++draw) {
    bool any = false;
    for (std::size_t i = places.size(); i-- > 0;) {
      if (draw > 0 && (i == 0 || places[i] != places[i - 1])) continue;
      places[i] = random.bits(i, draw) >> (64 - 2 * o.bits);
      any = true;
    }
    if (!any) break;
    std::sort(places.begin(), places.end());
  }
  std::vector<plane_point> points(o.vertices);
  std::transform(places.begin(), places.end(), points.begin(), [](std::uint64_t place) {
    return plane_point{even_bits(place), even_bits(place >> 1)};
  });
  return points;
}

graph::edge_list delaunay(delaunay_options const& o) { return triangulation(random_points(o)); }

}  // namespace wyrm::datasets
