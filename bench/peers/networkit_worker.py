# SPDX-License-Identifier: Apache-2.0
"""Runs algorithms of NetworKit (PyPI: networkit) for compare.py; worker.py describes job and results."""
import functools

import networkit as nk
import numpy as np

import worker


def prepare(job, graphs):
    nk.setNumberOfThreads(job["threads"])
    source, tolerance = job["source"], job["tolerance"]

    def graph_of(rows, weighted=False, indexed=False):
        u, v = np.frombuffer(rows.sources(), np.int32), np.frombuffer(rows.targets, np.int32)
        once = slice(None) if rows.directed else u < v
        ends = (u[once].astype(np.uint64), v[once].astype(np.uint64))
        data = (np.frombuffer(rows.weights, np.int32)[once].astype(np.float64), ends) if weighted else ends
        return nk.GraphFromCoo(data, n=rows.n, weighted=weighted, directed=rows.directed, edgesIndexed=indexed)

    @functools.cache
    def plain():
        return graph_of(graphs.plain)

    @functools.cache
    def indexed():
        return graph_of(graphs.plain, indexed=True)

    @functools.cache
    def weighted():
        return graph_of(graphs.weighted, weighted=True)

    def call(make, values=lambda r: r.scores(), graph=plain):
        return worker.Call(graph, lambda g: make(g).run(), values)

    def pagerank(g):
        p = nk.centrality.PageRank(g, job["damping"], tolerance,
                                   distributeSinks=nk.centrality.SinkHandling.DistributeSinks)
        p.norm = nk.centrality.Norm.L1_NORM
        return p

    def components(g):
        return nk.components.WeaklyConnectedComponents(g) if g.isDirected() else \
            nk.components.ParallelConnectedComponents(g)

    def betweenness(g):
        return nk.centrality.Betweenness(g) if job["sources"] is None else \
            nk.centrality.EstimateBetweenness(g, len(job["sources"]), parallel=True)

    def labels_of_parts(r):
        label = [0] * graphs.plain.n
        for i, part in enumerate(r.getComponents()):
            for v in part:
                label[v] = i
        return label

    distances = lambda r: [x if x < 1e300 else float("inf") for x in r.getDistances()]
    communities = lambda r: r.getPartition().getVector()
    calls = {
        "bfs": call(lambda g: nk.distance.BFS(g, source, storePaths=False), distances),
        "sssp": call(lambda g: nk.distance.Dijkstra(g, source, storePaths=False), distances, weighted),
        "pagerank": call(pagerank),
        "components": call(components, labels_of_parts),
        "betweenness": call(betweenness),
        # The tolerance is that of the eigenvalue, whose error is the square of that of the vector.
        "eigenvector": call(lambda g: nk.centrality.EigenvectorCentrality(g, tolerance**2)),
    }
    if job["directed"]:
        calls["scc"] = call(nk.components.StronglyConnectedComponents, labels_of_parts)
    else:
        calls |= {
            "triangles": call(nk.sparsification.TriangleEdgeScore, lambda r: int(sum(r.scores())) // 3, indexed),
            "core-numbers": call(nk.centrality.CoreDecomposition),
            "lcc": call(lambda g: nk.centrality.LocalClusteringCoefficient(g, turbo=True)),
            "spanning-forest": call(nk.graph.KruskalMSF, lambda r: r.getTotalWeight(), weighted),
            "louvain": call(nk.community.PLM, communities),
            "leiden": call(nk.community.ParallelLeiden, communities),
            "label-propagation": call(lambda g: nk.community.PLP(g, maxIterations=10), communities),
        }
    return f"NetworKit {nk.__version__}", calls


worker.serve(prepare)
