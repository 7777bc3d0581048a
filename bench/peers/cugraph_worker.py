# SPDX-License-Identifier: Apache-2.0
"""Runs algorithms of cuGraph (pylibcugraph, cupy and rmm), on one GPU, for compare.py; worker.py describes job and
results. Vertices are renumbered by degree, which is the default of cuGraph's Python layer."""
import functools
import math

import cugraph_calls
import worker
from cugraph_calls import cg, cp, np

UNDIRECTED = {"components", "triangles", "core_numbers", "louvain", "leiden", "spanning_forest"}


def prepare(job, graphs):
    handle = cugraph_calls.handle_with_pool()

    def graph_of(rows):
        weights = np.frombuffer(rows.weights, np.int32).astype(np.float32) if rows.weights else None
        offsets, targets = np.frombuffer(rows.offsets, np.int64), np.frombuffer(rows.targets, np.int32)
        return cugraph_calls.Graph(offsets, targets, weights, rows.directed)

    @functools.cache
    def host(weighted):
        return graph_of(graphs.weighted if weighted else graphs.plain)

    @functools.cache
    def device(weighted, transposed):
        return host(weighted).on_device(handle, True, transposed, weighted)

    def call(weighted, transposed, run, column, values):
        """column: the part of the result that has the values; values(copy, result): those in the order of vertices."""

        def timed(graph):
            result = run(graph)
            return result, cp.asnumpy(result[column])  # waits for the device

        return worker.Call(lambda: device(weighted, transposed), timed, lambda r: values(r[1], r[0]))

    def in_order(vertices_at):
        def values(copy, result):
            ordered = np.empty(host(False).n, np.float64)
            ordered[cp.asnumpy(result[vertices_at])] = copy
            ordered[ordered > 1e30] = math.inf
            return ordered
        return values

    def distances(copy, result):
        ordered = in_order(2)(copy, result)
        ordered[ordered == np.iinfo(np.int32).max] = math.inf
        return ordered

    source = cp.asarray([job["source"]], cp.int32)
    sources = None if job["sources"] is None else cp.asarray(job["sources"], cp.int32)
    calls = cugraph_calls.calls_of(handle, host(False), job["tolerance"])
    bfs, sssp, betweenness = (calls.pop(name)[2] for name in ("bfs", "sssp", "betweenness"))
    result = {
        "bfs": call(False, False, lambda G: bfs(G, source), 0, distances),
        "sssp": call(True, False, lambda G: sssp(G, job["source"]), 1, in_order(0)),
        "betweenness": call(False, False, lambda G: betweenness(G, sources), 1, in_order(0)),
        "pagerank": call(False, True, lambda G: cg.pagerank(handle, G, None, None, None, None, job["damping"],
                                                            job["tolerance"], 1000, False), 1, in_order(0)),
    }
    numbers = {"triangles": (1, lambda copy, _: int(copy.astype(np.int64).sum()) // 3),
               "spanning_forest": (2, lambda copy, _: float(copy.astype(np.float64).sum()) / 2)}  # both arcs of an edge
    for name, parts in calls.items():
        if not (job["directed"] and name in UNDIRECTED):
            result[name.replace("_", "-")] = call(*parts, *numbers.get(name, (1, in_order(0))))
    return f"pylibcugraph {cg.__version__}", result


worker.serve(prepare)
