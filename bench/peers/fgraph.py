#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times updates of F-Graph (github.com/wheatman/Packed-Memory-Array) and of Wyrm, on a CPU.

Usage: fgraph.py [--rounds N] [--trials N] [--threads N] [--wyrm PROGRAM] [--json FILE] FGRAPH UPDATES_BENCH GRAPH

FGRAPH is F-Graph's program: build/basic_uint64_t_delta_compressed_Eytzinger, made with PARLAY=1. UPDATES_BENCH is
updates_bench. GRAPH is the file coAuthorsDBLP.mtx or luxembourg_osm.mtx. Both programs insert batches of arcs that an
R-MAT draws into the graph, with each edge in both directions, and erase them again. They run in turn, so that the load
of the machine by other work is the same for both. F-Graph prints the mean of --trials batches, Wyrm's mean is that of
the batches in 0.1 s. A figure is in milliseconds: the median of --rounds such means, the least and the greatest.
"""
import argparse
import json
import os
import platform
import re
import sys
import tempfile

import graph_file
import measure

SIZES = (1_000, 10_000, 100_000, 1_000_000)


def write_adjacency(graph, path):
    """The text format of F-Graph: numbers of vertices and arcs, offsets, targets."""
    with open(path, "w", encoding="ascii") as out:
        out.write(f"AdjacencyGraph\n{graph.n}\n{graph.arcs}\n")
        for numbers in (graph.offsets[:-1], graph.targets):
            out.write("".join(f"{x}\n" for x in numbers))


def fgraph_times(output):
    """Milliseconds of (insert, erase) by the size of the batch."""
    lines = re.findall(r"^(\d+), ([\d.]+), ([\d.]+)$", output, re.MULTILINE)
    return {int(size): (float(inserts) * 1e3, float(erases) * 1e3) for size, inserts, erases in lines}


def wyrm_times(output):
    """The same from the report of updates_bench; milliseconds."""
    times = {}
    for case in json.loads(output or '{"benchmarks": []}')["benchmarks"]:
        operation, size = re.match(r"(insert|erase)/.*/edges:(\d+)/", case["name"]).groups()
        factor = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[case["time_unit"]]
        times.setdefault(int(size), {})[operation] = case["real_time"] * factor
    return {size: (t["insert"], t["erase"]) for size, t in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fgraph")
    parser.add_argument("updates_bench")
    parser.add_argument("graph")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of F-Graph; Wyrm has one per core")
    parser.add_argument("--wyrm", default="wyrm")
    parser.add_argument("--json", help="a file for all figures")
    options = parser.parse_args()
    name = os.path.splitext(os.path.basename(options.graph))[0]
    times = {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            serialized, adjacency = os.path.join(folder, "graph.sg"), os.path.join(folder, "graph.adj")
            measure.output_of([options.wyrm, "convert", options.graph, serialized, "--undirected"], options.threads)
            write_adjacency(graph_file.Graph(serialized), adjacency)
            os.remove(serialized)
            fgraph = [os.path.abspath(options.fgraph), "graph", adjacency, str(options.trials), "1", str(SIZES[-1])]
            cases = "|".join(map(str, SIZES))
            wyrm = [options.updates_bench, "--benchmark_format=json", "--benchmark_min_time=0.1",
                    f"--benchmark_filter=^(insert|erase)/cpu/ouroboros-s-p/{name}/diagonal/from:host/edges:({cases})/"]
            peers = {"fgraph": lambda: fgraph_times(measure.output_of(
                         fgraph, options.threads, folder=folder,  # where it writes files
                         variables={"PARLAY_NUM_THREADS": str(options.threads)})),
                     "wyrm": lambda: wyrm_times(measure.output_of(
                         wyrm, options.threads,
                         variables={"WYRM_DATA": os.path.dirname(os.path.abspath(options.graph))}))}
            for _ in range(options.rounds):
                for peer, run in peers.items():
                    of_peer = run()
                    for size in SIZES:
                        if size not in of_peer:
                            raise measure.Failure(f"{peer} has no times of {size} arcs in {name}")
                        for operation, ms in zip(("insert", "erase"), of_peer[size]):
                            times.setdefault((size, operation), {}).setdefault(peer, []).append(ms)
    except measure.Failure as failure:
        sys.exit(f"fgraph.py: {failure}")
    results, rows = [], []
    for (size, operation), of_peers in times.items():
        fgraph_ms, wyrm_ms = measure.figures(of_peers["fgraph"]), measure.figures(of_peers["wyrm"])
        ratio = fgraph_ms["median"] / wyrm_ms["median"]
        results.append({"arcs": size, "operation": operation, "fgraph_ms": fgraph_ms, "wyrm_ms": wyrm_ms,
                        "speedup": ratio})
        rows.append([f"{operation} {size:,}", measure.cell(fgraph_ms), measure.cell(wyrm_ms), f"{ratio:.1f}"])
    print("\n".join(measure.table(["arcs", "F-Graph, ms", "Wyrm, ms", "F-Graph / Wyrm"], rows)))
    if options.json:
        context = {"machine": platform.machine(), "cores": os.cpu_count(), "threads": options.threads, "graph": name,
                   "rounds": options.rounds, "trials": options.trials}
        measure.write_json(options.json, {"context": context, "updates": results})


if __name__ == "__main__":
    main()
