# SPDX-License-Identifier: Apache-2.0
"""Compares results of different libraries as far as the algorithm determines them."""
import collections
import math
import operator

# algorithm -> what its result is
RESULTS = {
    "bfs": "distances", "sssp": "distances",
    "pagerank": "shares", "personalised-pagerank": "shares", "betweenness": "shares",
    "eigenvector": "shares", "hits": "shares", "katz": "shares",
    "lcc": "values", "core-numbers": "values",
    "components": "labels", "scc": "labels",
    "louvain": "communities", "leiden": "communities", "label-propagation": "communities",
    "triangles": "number", "spanning-forest": "number",
    "colouring": "colours",
}
TOLERANCE = 1e-4  # of the sum of differences of shares, and of each value


def same_partition(a, b):
    """Whether equal labels in a are equal labels in b, and vice versa."""
    pairs = len(set(zip(a, b)))
    return pairs == len(set(a)) == len(set(b))


def modularity(graph, labels):
    """Newman's modularity of the labels of an undirected graph: the sum over communities of the share of arcs inside,
    less the square of the share of arcs that begin there."""
    if graph.arcs == 0:
        return 0.0
    degrees = graph.degrees()
    total = collections.Counter()
    for label, degree in zip(labels, degrees):
        total[label] += degree
    of_source = (label for label, degree in zip(labels, degrees) for _ in range(degree))
    inside = sum(map(operator.eq, of_source, map(labels.__getitem__, graph.targets)))
    return inside / graph.arcs - math.fsum((d / graph.arcs) ** 2 for d in total.values())


def shares(values):
    """The values divided by the sum of their absolute values: libraries scale centralities differently."""
    total = math.fsum(map(abs, values)) or 1.0
    return [abs(x) / total for x in values]


def difference_of_shares(ours, theirs):
    return math.fsum(abs(x - y) for x, y in zip(shares(ours), shares(theirs)))


def difference_of_figures(ours, theirs):
    """Compares figures of a program that does not print all its values."""
    for name, figure in theirs.items():
        if name == "top":  # (vertex, value) of the largest values, with six digits and on a scale of its own
            scale = ours[figure[0][0]] / figure[0][1]
            worst = max(abs(value * scale / ours[vertex] - 1) for vertex, value in figure)
            if worst > 1e-3:
                return f"the largest values differ by {worst:.1g}"
            continue
        expected = {"reached": lambda: sum(x < math.inf for x in ours), "count": lambda: len(set(ours)),
                    "number": lambda: ours}[name]()
        if figure != expected:
            return f"{name} {figure}, not {expected}"
    return ""


def difference(algorithm, graph, ours, theirs):
    """What differs from our result, or "". A result is a number, one value for each vertex, or, of a program that
    prints only figures, a dictionary of these."""
    kind = RESULTS[algorithm]
    if isinstance(theirs, dict):
        return difference_of_figures(ours, theirs)
    if kind == "number":
        return "" if math.isclose(ours, theirs, rel_tol=1e-9) else f"{theirs:.12g}, not {ours:.12g}"
    if len(theirs) != graph.n:
        return f"{len(theirs)} values for {graph.n} vertices"
    if kind in ("distances", "values"):
        count = sum(x != y and not abs(x - y) <= TOLERANCE for x, y in zip(ours, theirs))
        return f"{count} values differ" if count else ""
    if kind == "labels":
        return "" if same_partition(ours, theirs) else f"another partition, of {len(set(theirs))}, not {len(set(ours))}"
    if kind == "shares":
        d = difference_of_shares(ours, theirs)
        return "" if d <= TOLERANCE else f"differ by {d:.1g}"
    if kind == "colours":
        colour = theirs.__getitem__
        wrong = sum(map(operator.eq, map(colour, graph.sources()), map(colour, graph.targets)))
        return f"{wrong} arcs between vertices of one colour" if wrong else ""
    return ""  # communities differ from library to library: see `figure`


def figure(algorithm, graph, result):
    """A figure of merit of a result that is not determined: (name, value); otherwise None."""
    kind = RESULTS[algorithm]
    if kind == "communities":
        return "modularity", round(modularity(graph, result), 4)
    if kind == "colours":
        return "colours", len(set(result))
    return None
