#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the programs of the GAP benchmark suite (github.com/sbeamer/gapbs) and `wyrm bench gap` on one graph, on a CPU.

Usage: gap.py [--kernels bfs,cc,...] [--rounds N] [--trials N] [--threads N] [--delta N] [--wyrm PROGRAM] [--json FILE]
              [--churned] PROGRAMS GRAPH

PROGRAMS is a folder with GAP's programs, GRAPH a file that both read: .mtx or .el, which both make symmetric, .sg
without sssp, or .wsg for sssp only. Without weights in the file each program draws its own for sssp, 1 to 255. Both run
in turn, --rounds times with --trials trials each, so that the load of the machine by other work is the same for both. A
figure is in milliseconds: the median of all trials, the minimum and the maximum. bc has 4 sources in both. pr runs in
both until a change is below 1e-4, while GAP's own limit is 20 iterations. With --churned all edges of Wyrm's graph have
been erased and inserted again, in batches in random order; otherwise the graph is as built. GAP's graph does not
change.
"""
import argparse
import os
import platform
import sys

import measure
import programs

KERNELS = ("bfs", "sssp", "pr", "cc", "bc", "tc")
SERIALIZED = (".sg", ".wsg")  # as they are; other graphs are made symmetric


def trials_of(command, threads):
    """The milliseconds of the trials that a program prints."""
    try:
        return programs.trial_times(measure.output_of(command, threads))
    except measure.Failure as failure:
        sys.exit(f"{' '.join(command)}: {failure}")


def gap_command(options, kernel):
    command = [os.path.join(options.programs, kernel), "-f", options.graph, "-n", str(options.trials)]
    if not options.graph.endswith(SERIALIZED):
        command.append("-s")
    if kernel == "bc":
        command += ["-i", "4"]
    if kernel == "pr":
        command += ["-i", "1000"]
    if kernel == "sssp":
        command += ["-d", str(options.delta)]
    return command


def wyrm_command(options, kernel):
    command = [options.wyrm, "bench", "gap", options.graph, "--device", "cpu", "--no-verify", "--kernels", kernel,
               "--trials", str(options.trials)]
    if options.churned:
        command.append("--churned")
    return command if options.graph.endswith(SERIALIZED) else command + ["--undirected"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("graph")
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of GAP's programs; Wyrm has one per core")
    parser.add_argument("--delta", type=int, default=1, help="of GAP's sssp")
    parser.add_argument("--wyrm", default="wyrm")
    parser.add_argument("--churned", action="store_true",
                        help="Wyrm's graph after all its edges have been erased and inserted again")
    parser.add_argument("--json", help="a file for all figures")
    options = parser.parse_args()
    kernels = options.kernels.split(",")
    for kernel in kernels:
        if kernel not in KERNELS:
            sys.exit(f"gap.py: there is no kernel {kernel}; the kernels are {', '.join(KERNELS)}")
        if options.graph.endswith(".sg" if kernel == "sssp" else ".wsg"):
            sys.exit(f"gap.py: GAP's {kernel} does not read {options.graph}: .sg is for all kernels but sssp, .wsg for "
                     "sssp; choose with --kernels")
    print(f"| {'kernel':6} | {'GAP, ms':>24} | {'Wyrm, ms':>24} | Wyrm / GAP |")
    print("| --- | ---: | ---: | ---: |")
    results = {}
    for kernel in kernels:
        times = {"gap": [], "wyrm": []}
        for _ in range(options.rounds):
            times["gap"] += trials_of(gap_command(options, kernel), options.threads)
            times["wyrm"] += trials_of(wyrm_command(options, kernel), options.threads)
        gap, wyrm = measure.figures(times["gap"]), measure.figures(times["wyrm"])
        ratio = wyrm["median"] / gap["median"]
        results[kernel] = {"gap_ms": gap, "wyrm_ms": wyrm, "ratio": ratio}
        print(f"| {kernel:6} | {measure.cell(gap):>24} | {measure.cell(wyrm):>24} | {ratio:10.2f} |", flush=True)
    if options.json:
        context = {"machine": platform.machine(), "cores": os.cpu_count(), "threads": options.threads,
                   "graph": os.path.basename(options.graph), "churned": options.churned, "gap_delta": options.delta,
                   "rounds": options.rounds}
        measure.write_json(options.json, {"context": context, "kernels": results})


if __name__ == "__main__":
    main()
