#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Updates of a graph in NetworKit (PyPI: networkit), to compare with those of Wyrm on the same machine.

Usage: bench/networkit_updates.py WYRM GRAPH.mtx   WYRM is the program, which uses all cores.
Ten batches of 100,000 random edges are inserted (edges that are in the graph already are skipped), and then erased in
reverse order. Prints one line each for addEdge and removeEdge in a loop, for addEdges, and for Wyrm: the median over
the ten batches, in edges per second. The first line is the version of NetworKit, because versions differ much.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import networkit
import numpy

BATCH, ROUNDS = 100_000, 10


def rate(seconds):
    return f"{BATCH / statistics.median(seconds) / 1e6:8.3f} M edges/s ({BATCH / max(seconds) / 1e6:.3f} to {BATCH / min(seconds) / 1e6:.3f})"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, file = sys.argv[1:]
    networkit.setNumberOfThreads(os.cpu_count())
    rows, columns = numpy.loadtxt(file, comments="%", skiprows=0, usecols=(0, 1), dtype=numpy.int64, unpack=True)
    n = int(rows[0])
    rows, columns = rows[1:] - 1, columns[1:] - 1
    graph = networkit.Graph(n)
    graph.addEdges((rows, columns))
    graph.removeMultiEdges()
    random = numpy.random.default_rng(1)
    batches = [batch[batch[:, 0] != batch[:, 1]] for batch in random.integers(0, n, (ROUNDS, BATCH, 2))]
    add, remove, add_all, added = [], [], [], []
    for batch in batches:
        pairs = batch.tolist()
        start = time.perf_counter()
        added.append([(u, v) for u, v in pairs if graph.addEdge(u, v, checkMultiEdge=True)])
        add.append(time.perf_counter() - start)
    for pairs in reversed(added):
        start = time.perf_counter()
        for u, v in pairs:
            graph.removeEdge(u, v)
        remove.append(time.perf_counter() - start)
    for batch in batches:
        columns = tuple(numpy.ascontiguousarray(batch.T))
        start = time.perf_counter()
        graph.addEdges(columns, checkMultiEdge=True)
        add_all.append(time.perf_counter() - start)
    print("NetworKit", networkit.__version__)
    print("NetworKit addEdge     ", rate(add))
    print("NetworKit removeEdge  ", rate(remove))
    print("NetworKit addEdges    ", rate(add_all))
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([program, "run", file, "--device", "cpu", "--batch", str(BATCH), "--rounds", str(ROUNDS),
                        "--report", str(report)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        updates = json.loads(report.read_text())["updates"]
    for kind in ("insert", "erase"):
        print(f"Wyrm {kind:6}           ", rate([ms / 1e3 for ms in updates[kind]["batch_ms"]]))


if __name__ == "__main__":
    main()
