#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures loading of a Matrix Market file with Wyrm and with fast_matrix_market (PyPI: fast_matrix_market),
alternately, each in a process of its own, on 1 thread and on all cores; and the time from the file to a dynamic graph.

Usage: bench/fast_matrix_market.py LOADERS_BENCH FILE.mtx [REPETITIONS]   -DWYRM_BENCHMARKS=ON builds loaders_bench.
  This writes a file of 100 M edges: loaders_bench write FILE.mtx 23 12
Prints one JSON object: the seconds of every repetition, the medians in MB/s, and the median ratio.
"""
import json
import os
import statistics
import subprocess
import sys

PEER = """
import json, resource, sys, time
import fast_matrix_market
start = time.perf_counter()
(_, (rows, _)), _ = fast_matrix_market.read_coo(sys.argv[1], parallelism=int(sys.argv[2]))
seconds = time.perf_counter() - start
print(json.dumps({"load_s": seconds, "edges": len(rows),
                  "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}))
"""


def run(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    bench, file = sys.argv[1:3]
    repetitions = int(sys.argv[3]) if len(sys.argv) == 4 else 5
    size = os.path.getsize(file)
    result = {"command": " ".join(["bench/fast_matrix_market.py", "loaders_bench", os.path.basename(file), str(repetitions)]),
              "bytes": size, "cores": os.cpu_count(), "load": []}
    run(bench, "load", file, "0")  # loads the file into the system's cache
    for threads in sorted({1, os.cpu_count()}):
        wyrm, peer = [], []
        for _ in range(repetitions):
            wyrm.append(run(bench, "load", file, str(threads)))
            peer.append(run(sys.executable, "-c", PEER, file, str(threads)))
        assert {r["edges"] for r in wyrm} == {r["edges"] for r in peer}
        one = {"threads": threads, "edges": wyrm[0]["edges"]}
        for name, runs in (("wyrm", wyrm), ("fast_matrix_market", peer)):
            seconds = [r["load_s"] for r in runs]
            one[name] = {"s": seconds, "mb_s": round(size / 1e6 / statistics.median(seconds)),
                         "mb_s_a_thread": round(size / 1e6 / statistics.median(seconds) / threads),
                         "peak_mib": max(r["peak_mib"] for r in runs)}
        one["times_as_fast"] = round(statistics.median(p["load_s"] / w["load_s"] for w, p in zip(wyrm, peer)), 2)
        result["load"].append(one)
    result["ready_graph"] = run(bench, "graph", file, "0")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
