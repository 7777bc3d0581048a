#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what `wyrm stream` costs beside its parts: the parser of graph files, reading without a graph, and updates
without reading.

Usage: bench/streams.py STREAMS_BENCH FOLDER [--updates N] [--batch N] [--rounds N] [--device cpu|cuda] [--generated]
  -DWYRM_BENCHMARKS=ON builds streams_bench. FOLDER needs room for two texts of N updates.
Streams N random insertions into a graph of a million vertices, as a text, once with consecutive ids and once with ids
that have gaps; with --generated, updates of `gen:random` instead. Each measurement is a process of its own. Prints one
JSON object with the results of all rounds, and with ratios of the medians.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess

VERTICES = 1_000_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--updates", type=int, default=10_000_000)
    parser.add_argument("--batch", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--generated", action="store_true")
    options = parser.parse_args()

    def run(*words):
        command = [options.program, *map(str, words)]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return json.loads(out) if out else None

    def measure(graph, updates):
        stages = {"read": ["read", graph, updates, options.batch],
                  "update": ["update", graph, updates, options.batch, options.device],
                  "stream": ["stream", graph, updates, options.batch, options.device]}
        if not options.generated:
            stages = {"load": ["load", updates], **stages}
        results = {name: [] for name in stages}
        for _ in range(options.rounds):
            for name, words in stages.items():
                results[name].append(run(*words))
        seconds = {name: statistics.median(r["seconds"] for r in all) for name, all in results.items()}
        ratios = {"stream_by_slower_stage": seconds["stream"] / max(seconds["read"], seconds["update"]),
                  "stream_by_update": seconds["stream"] / seconds["update"]}
        if "load" in seconds:
            ratios["rate_of_reading_by_rate_of_loading"] = seconds["load"] / seconds["read"]
        return {"median_seconds": seconds, "ratios": {k: round(v, 3) for k, v in ratios.items()}, "rounds": results}

    context = {"machine": platform.machine(), "cores": os.cpu_count(), "date": str(datetime.date.today()),
               "vertices": VERTICES, "updates": options.updates, "batch": options.batch, "device": options.device}
    results = {"context": context}
    for name, step in (("consecutive_ids", 1), ("ids_with_gaps", 3)):
        graph, updates = options.folder / f"graph_{step}.txt", options.folder / f"updates_{step}.txt"
        run("write", graph, VERTICES, VERTICES, step)
        if options.generated:
            batches = options.updates // options.batch
            results["generated"] = measure(graph, f"gen:random,batches={batches},batch={options.batch}")
            break
        run("write", updates, VERTICES, options.updates, step, 1)
        results[name] = measure(graph, updates)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
