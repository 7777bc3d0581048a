# SPDX-License-Identifier: Apache-2.0
"""The frame of a process that runs the algorithms of a Python library: *_worker.py JOB.json, started by compare.py.

JOB.json has: graph and weighted (files, .sg and .wsg), directed, algorithms (names in the order in which they run),
source, sources (of betweenness; null: all vertices), threads, tolerance, damping, limit (seconds for one algorithm,
with its graph), results (a file) and output (a folder, or null). The process appends one line of JSON to results for
the library, and one for each algorithm: its time in milliseconds, from the call to the result in host memory, or an
error. With output, values are written to output/ALGORITHM.values, as doubles. The process ends by SIGALRM at the limit.
"""
import array
import collections
import functools
import gc
import json
import os
import signal
import sys
import time

import graph_file

# graph: a function that returns the graph of the library, which is not timed; run: is timed, with that graph;
# values: the values of the result of run, in the order of vertices, or a number; not timed.
Call = collections.namedtuple("Call", "graph run values")


class Graphs:
    """The files of a job, each read when a graph of it is first needed."""

    def __init__(self, job):
        self._job = job

    @functools.cached_property
    def plain(self):
        return graph_file.Graph(self._job["graph"])

    @functools.cached_property
    def weighted(self):
        return graph_file.Graph(self._job["weighted"], weighted=True)


def serve(prepare):
    """prepare(job, graphs): the name and version of the library, and its calls by the names of algorithms."""
    with open(sys.argv[1], encoding="utf-8") as f:
        job = json.load(f)
    with open(job["results"], "a", encoding="utf-8") as results:
        def say(**record):
            print(json.dumps(record), file=results, flush=True)

        library, calls = prepare(job, Graphs(job))
        say(library=library, algorithms=sorted(calls))
        for algorithm in job["algorithms"]:
            signal.setitimer(signal.ITIMER_REAL, job["limit"])  # SIGALRM ends the process
            try:
                call = calls[algorithm]
                graph = call.graph()
                gc.collect()
                begin = time.perf_counter()
                result = call.run(graph)
                ms = 1e3 * (time.perf_counter() - begin)
                record = {"algorithm": algorithm, "ms": ms}
                if job["output"]:
                    values = call.values(result)
                    if isinstance(values, (int, float)):
                        record["number"] = values
                    else:
                        with open(os.path.join(job["output"], algorithm + ".values"), "wb") as out:
                            array.array("d", values).tofile(out)
                say(**record)
            except Exception as e:  # the next algorithms count, too
                say(algorithm=algorithm, error=f"{type(e).__name__}: {e}"[:300])
