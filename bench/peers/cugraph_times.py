#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times cuGraph (pylibcugraph, one GPU) on graphs that analytics_bench wrote (--dump=DIR), with the same sources and
weights.

Usage: cugraph_times.py [--repeats N] [--only NAME,...] [--tolerances T,...] [--out FILE.json] DIR/GRAPH...

A time is that of one call, from one synchronisation of the device to the next, with the result in device memory. BFS,
SSSP and betweenness run from the 16 sources of the graph, and the time is the mean over them. Both layouts of cuGraph
are timed, as given and renumbered by degree, which is the default of its Python layer; the faster one counts. One JSON
record a figure: graph, algorithm, layout, median, least and most milliseconds, and a figure of the result for
comparison: of hits and eigenvector the residual, as analytics_bench computes it. These two run with each of the
tolerances (1e-6), and are named after them if there are several. PEER_SITE names a folder with pylibcugraph, cupy and
rmm, if they are not installed.
"""
import argparse
import json
import os
import sys
import time

if os.environ.get("PEER_SITE"):
    sys.path.insert(0, os.environ["PEER_SITE"])

import cugraph_calls
from cugraph_calls import cg, cp, np


class Dump(cugraph_calls.Graph):
    """A graph that analytics_bench wrote."""

    def __init__(self, path):
        super().__init__(np.fromfile(path + ".offsets", np.int64), np.fromfile(path + ".targets", np.int32),
                         np.fromfile(path + ".weights", np.float32))
        self.name = os.path.basename(path)
        self.sources = np.fromfile(path + ".sources", np.int32)


def modularity(g, vertices, labels):
    """Of the labels, computed here: what Leiden reports is not the modularity of its labels."""
    label = cp.empty(g.n, labels.dtype)
    label[vertices] = labels
    _, label = cp.unique(label, return_inverse=True)
    arcs = len(g.targets)
    degrees = cp.bincount(label, weights=cp.diff(cp.asarray(g.offsets)).astype(cp.float64))
    inside = cp.count_nonzero(label[g.rows] == label[g.columns])
    return float(inside / arcs - cp.sum((degrees / arcs) ** 2))


def residual(g, vertices, values, squared):
    """How far values are from an eigenvector of the matrix M of the graph (squared: of M = A A): the residual
    |M x - t x| / (t |x|), where t = x M x / x x."""
    x = cp.empty(g.n, cp.float64)
    x[vertices] = values
    product = lambda y: cp.bincount(g.rows, weights=y[g.columns], minlength=g.n)
    ax = product(product(x)) if squared else product(x)
    xx = cp.dot(x, x)
    t = cp.dot(x, ax) / xx
    return float(cp.linalg.norm(ax - t * x) / (t * cp.sqrt(xx)))


def cases(handle, g, tolerances):
    """name -> (weighted, transposed, call(graph), figure(result)); a call that returns a list ran from each source."""
    calls = cugraph_calls.calls_of(handle, g)
    each = [cp.asarray([s], cp.int32) for s in g.sources]
    bfs, sssp, betweenness = calls["bfs"][2], calls["sssp"][2], calls["betweenness"][2]
    pairs = min(g.n, 1_000_000)
    first = (cp.arange(pairs, dtype=cp.int64) * 7919 % g.n).astype(cp.int32)
    second = g.columns[(cp.arange(pairs, dtype=cp.int64) * 104729) % len(g.targets)]
    reached = np.iinfo(np.int32).max

    def pagerank(graph, iterations):
        return cg.pagerank(handle, graph, None, None, None, None, 0.85, 1e-30, iterations, False,
                           fail_on_nonconvergence=False)

    def of_labels(r):
        return modularity(g, r[0], r[1])

    def largest(r):
        return float(cp.max(r[1]))

    def powers(name, figure):
        of = {t: cugraph_calls.calls_of(handle, g, t)[name] for t in tolerances}
        return {name if len(of) == 1 else f"{name} {t:g}": (*call, figure) for t, call in of.items()}

    return {
        "bfs": (False, False, lambda G: [bfs(G, s) for s in each], lambda r: int(cp.count_nonzero(r[-1][0] < reached))),
        "sssp": (True, False, lambda G: [sssp(G, s) for s in g.sources],
                 lambda r: float(cp.sum(r[-1][1][r[-1][1] < 1e30]))),
        "betweenness": (False, False, lambda G: [betweenness(G, s) for s in each[:4]],
                        lambda r: float(cp.nansum(r[-1][1]))),
        "pagerank_20": (False, True, lambda G: pagerank(G, 20), largest),
        "pagerank_40": (False, True, lambda G: pagerank(G, 40), largest),
        "components": (*calls["components"], lambda r: int(len(cp.unique(r[1])))),
        "triangles": (*calls["triangles"], lambda r: int(cp.sum(r[1].astype(cp.int64))) // 3),
        "core_numbers": (*calls["core_numbers"], lambda r: int(cp.max(r[1]))),
        "truss_4": (False, False, lambda G: cg.k_truss_subgraph(handle, G, 4, False), lambda r: len(r[0])),
        "louvain": (*calls["louvain"], of_labels),
        "leiden": (*calls["leiden"], of_labels),
        **powers("hits", lambda r: residual(g, r[0], r[1], True)),
        "katz": (*calls["katz"], largest),
        **powers("eigenvector", lambda r: residual(g, r[0], r[1], False)),
        "jaccard": (False, False, lambda G: cg.jaccard_coefficients(handle, G, first, second, False, False),
                    lambda r: float(cp.sum(r[2]))),
        "spanning_forest": (*calls["spanning_forest"], lambda r: len(r[0])),
    }


def timed(call, repeats):
    times = []
    result = None
    for i in range(repeats + 1):  # the first call warms up
        result = None
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        result = call()
        cp.cuda.Device().synchronize()
        ms = 1e3 * (time.perf_counter() - start)
        if isinstance(result, list):
            ms /= len(result)
        if i > 0:
            times.append(ms)
        if i == 1 and ms > 5000:
            break
    return result, times


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("graphs", nargs="+")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--only", default="")
    options.add_argument("--tolerances", default="1e-6")
    options.add_argument("--out", default="")
    o = options.parse_args()
    tolerances = [float(t) for t in o.tolerances.split(",")]
    handle = cugraph_calls.handle_with_pool()
    records = []
    for path in o.graphs:
        g = Dump(path)
        for name, (weighted, transposed, call, figure) in cases(handle, g, tolerances).items():
            if o.only and name.split()[0] not in o.only.split(","):
                continue
            for renumber in (False, True):
                record = {"graph": g.name, "algorithm": name, "layout": "renumbered" if renumber else "as given"}
                try:
                    graph = g.on_device(handle, renumber, transposed, weighted)
                    result, times = timed(lambda: call(graph), o.repeats)
                    record |= {"median_ms": float(np.median(times)), "least_ms": min(times), "most_ms": max(times),
                               "result": figure(result)}
                    del graph, result
                except Exception as e:  # the next figures count, too
                    record["error"] = f"{type(e).__name__}: {e}"[:300]
                records.append(record)
                print(json.dumps(record), flush=True)
                if o.out:
                    with open(o.out, "w") as f:
                        json.dump({"peer": f"pylibcugraph {cg.__version__}", "records": records}, f, indent=1)


if __name__ == "__main__":
    main()
