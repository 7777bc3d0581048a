# SPDX-License-Identifier: Apache-2.0
"""Reads the serialized graphs of the GAP benchmark suite (.sg, .wsg; docs/formats.md), and writes them without weights
or with others."""
import array
import struct

HEADER = struct.Struct("<?qq")


class Graph:
    """A graph in rows: the neighbours of vertex v are targets[offsets[v]:offsets[v + 1]]. An undirected edge is in the
    rows of both ends. weights is None without weights."""

    def __init__(self, path, weighted=False):
        with open(path, "rb") as f:
            self.directed, self.arcs, self.n = HEADER.unpack(f.read(HEADER.size))
            self.offsets, self.targets, self.weights = self._rows(f, weighted)
            self.reverse = self._rows(f, weighted) if self.directed else None

    def _rows(self, f, weighted):
        offsets, entries = array.array("q"), array.array("i")
        offsets.fromfile(f, self.n + 1)
        entries.fromfile(f, self.arcs * (2 if weighted else 1))
        return offsets, entries[::2] if weighted else entries, entries[1::2] if weighted else None

    def sources(self, offsets=None):
        """The source of each arc, in the order of targets."""
        offsets = offsets or self.offsets
        result = array.array("i")
        for v in range(self.n):
            result.extend(array.array("i", [v]) * (offsets[v + 1] - offsets[v]))
        return result

    def degrees(self):
        return [b - a for a, b in zip(self.offsets, self.offsets[1:])]

    def first_of_largest_degree(self):
        degrees = self.degrees()
        return degrees.index(max(degrees)) if degrees else None


def drawn_weight(u, v):
    """From 1 to 255; a hash of the edge."""
    return ((u * 0x9E3779B1 ^ v * 0x85EBCA77) * 0xC2B2AE3D >> 20) % 255 + 1


def write(graph, path, weight=None):
    """Writes the graph as .sg, without its weights; or as .wsg, with weight(u, v) for each edge. In an undirected graph
    u < v there."""
    with open(path, "wb") as f:
        f.write(HEADER.pack(graph.directed, graph.arcs, graph.n))
        reverse = [(graph.reverse[0], graph.reverse[1], True)] if graph.directed else []
        for offsets, ends, is_reverse in [(graph.offsets, graph.targets, False), *reverse]:
            offsets.tofile(f)
            if weight is None:
                ends.tofile(f)
                continue
            pairs = zip(graph.sources(offsets), ends)
            if is_reverse or not graph.directed:
                pairs = ((v, u) if is_reverse or v < u else (u, v) for u, v in pairs)
            entries = array.array("i", bytes(8 * graph.arcs))
            entries[::2] = ends
            entries[1::2] = array.array("i", [weight(u, v) for u, v in pairs])
            entries.tofile(f)
