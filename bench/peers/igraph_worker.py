# SPDX-License-Identifier: Apache-2.0
"""Runs algorithms of igraph (PyPI: igraph), on one thread, for compare.py; worker.py describes job and results."""
import array
import functools

import igraph

import worker


def prepare(job, graphs):
    source = job["source"]

    def graph_of(rows):
        kept = [rows.directed or u < v for u, v in zip(rows.sources(), rows.targets)]
        ends = array.array("q", bytes(16 * sum(kept)))
        ends[::2] = array.array("q", [u for u, k in zip(rows.sources(), kept) if k])
        ends[1::2] = array.array("q", [v for v, k in zip(rows.targets, kept) if k])
        edges = memoryview(ends).cast("B").cast("q", (len(ends) // 2, 2)) if ends else []
        g = igraph.Graph(n=rows.n, edges=edges, directed=bool(rows.directed))
        if rows.weights:
            g.es["weight"] = [float(w) for w, k in zip(rows.weights, kept) if k]
        return g

    @functools.cache
    def plain():
        return graph_of(graphs.plain)

    @functools.cache
    def weighted():
        return graph_of(graphs.weighted)

    def call(run, values=lambda r: r, graph=plain):
        return worker.Call(graph, run, values)

    labels = lambda r: r.membership

    def triangles(ratio):  # of all pairs of neighbours of a vertex, this share is connected
        pairs = sum(d * (d - 1) // 2 for d in graphs.plain.degrees())
        return round(ratio * pairs / 3) if pairs else 0

    calls = {
        "bfs": call(lambda g: g.distances(source), lambda r: r[0]),
        "sssp": call(lambda g: g.distances(source, weights="weight"), lambda r: r[0], weighted),
        "pagerank": call(lambda g: g.pagerank(damping=job["damping"])),
        "personalised-pagerank": call(lambda g: g.personalized_pagerank(damping=job["damping"],
                                                                        reset_vertices=[source])),
        "components": call(lambda g: g.connected_components(mode="weak"), labels),
        "betweenness": call(lambda g: g.betweenness(sources=job["sources"])),
        "hits": call(lambda g: g.hub_score()),
    }
    if job["directed"]:
        calls["scc"] = call(lambda g: g.connected_components(mode="strong"), labels)
    else:
        calls |= {
            "triangles": call(lambda g: g.transitivity_undirected(mode="zero"), triangles),
            "core-numbers": call(lambda g: g.coreness()),
            "lcc": call(lambda g: g.transitivity_local_undirected(mode="zero")),
            "louvain": call(lambda g: g.community_multilevel(), labels),
            "leiden": call(lambda g: g.community_leiden(objective_function="modularity"), labels),
            "label-propagation": call(lambda g: g.community_label_propagation(), labels),
            "eigenvector": call(lambda g: g.eigenvector_centrality()),
            "spanning-forest": call(lambda g: g.spanning_tree(weights="weight", return_tree=False),
                                    lambda edges: sum(weighted().es[edges]["weight"]), weighted),
            "colouring": call(lambda g: g.vertex_coloring_greedy()),
        }
    return f"igraph {igraph.__version__}", calls


worker.serve(prepare)
