# SPDX-License-Identifier: Apache-2.0
"""Wyrm and the libraries beside it. Each has a name, a title, and
- algorithms(job): the names of those that it has for the graph of the job (described in worker.py). Sets `library`, the
  name with the version. Raises measure.Failure if the library is missing.
- run(job, algorithms, with_values): a Result for each of them, as each is called once.
"""
import array
import collections
import json
import math
import os
import re
import shutil
import tempfile

import agreement
import measure

# value: what agreement.difference takes, or None if it was not asked for; error: why there is no result, or "".
Result = collections.namedtuple("Result", "algorithm ms value error", defaults=(None, None, ""))
WEIGHTED = {"sssp", "spanning-forest"}
FROM_SOURCE = {"bfs", "sssp", "personalised-pagerank"}
# Of undirected graphs only. The strong components of an undirected graph are its components.
UNDIRECTED = {"triangles", "core-numbers", "lcc", "louvain", "leiden", "label-propagation", "spanning-forest",
              "colouring"}


class Wyrm:
    name, title = "wyrm", "Wyrm"

    def __init__(self, program, device):
        self._program, self._device = program, device

    def algorithms(self, job):
        self.release = "Wyrm " + measure.output_of([self._program, "--version"], 1).split()[-1]
        return set(agreement.RESULTS) - (UNDIRECTED if job["directed"] else {"scc"})

    def convert(self, *arguments):
        measure.output_of([self._program, "convert", *arguments], os.cpu_count())

    def run(self, job, algorithms, with_values):
        for weighted in (False, True):
            names = [a for a in algorithms if (a in WEIGHTED) == weighted]
            if names:
                yield from self._run(job, names, weighted, with_values)

    def _run(self, job, names, weighted, with_values):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            sources = "all" if job["sources"] is None else str(len(job["sources"]))
            command = [self._program, "run", job["weighted" if weighted else "graph"], "--device", self._device,
                       "--rounds", "0", "--algorithms", ",".join(names), "--tolerance", str(job["tolerance"]),
                       "--report", report]
            command += ["--source", str(job["source"])] if FROM_SOURCE & set(names) else []
            command += ["--sources", sources] if "betweenness" in names else []
            command += ["--weighted"] if weighted else []
            command += ["--output", folder] if with_values else []
            try:
                measure.output_of(command, job["threads"], job["limit"] * len(names))
            except measure.Failure as failure:
                yield from (Result(name, error=str(failure)) for name in names)
                return
            with open(report, encoding="utf-8") as f:
                results = json.load(f)["algorithms"]
            for name in names:
                value = self._value(name, results[name], folder) if with_values else None
                yield Result(name, results[name]["ms"], value)

    @staticmethod
    def _value(name, result, folder):
        if name == "triangles":
            return result["total"]
        if name == "spanning-forest":
            return result["weight"]
        with open(os.path.join(folder, name + ".txt"), encoding="utf-8") as f:
            values = array.array("d", [float(line.split()[1]) for line in f if not line.startswith("#")])
        return array.array("d", [x if x < 2.0**63 else math.inf for x in values]) if name == "bfs" else values


class Gap:
    """The programs of the GAP benchmark suite (github.com/sbeamer/gapbs)."""
    name, title = "gap", "GAP"
    KERNELS = {"bfs": "bfs", "sssp": "sssp", "pagerank": "pr", "components": "cc", "betweenness": "bc",
               "triangles": "tc"}

    def __init__(self, folder, delta):
        self._folder, self._delta = folder, delta

    def algorithms(self, job):
        if self._folder is None:
            programs = map(shutil.which, self.KERNELS.values())
            folders = {os.path.dirname(p) if p else None for p in programs}
            if len(folders) > 1 or None in folders:
                raise measure.Failure("no folder in PATH has its programs; name one with --gap")
            self._folder = folders.pop()
        for kernel in self.KERNELS.values():
            if not os.access(os.path.join(self._folder, kernel), os.X_OK):
                raise measure.Failure(f"{self._folder} has no program {kernel}")
        self.release = "GAP benchmark suite"
        left_out = {"betweenness"} if job["sources"] is None else set()
        return set(self.KERNELS) - left_out - ({"triangles"} if job["directed"] else set())

    def run(self, job, algorithms, with_values):
        for name in algorithms:
            options = {"bfs": ["-r", job["source"]], "sssp": ["-r", job["source"], "-d", self._delta],
                       "pagerank": ["-t", job["tolerance"], "-i", 1000], "components": [],
                       "betweenness": ["-i", len(job["sources"] or [])], "triangles": []}[name]
            command = [os.path.join(self._folder, self.KERNELS[name]), "-f",
                       job["weighted" if name in WEIGHTED else "graph"], "-n", "1", *map(str, options)]
            try:
                text = measure.output_of(command + (["-a"] if with_values else []), job["threads"], job["limit"])
                times = trial_times(text)
                yield Result(name, times[0], gap_figures(name, text) if with_values else None)
            except measure.Failure as failure:
                yield Result(name, error=str(failure))


def trial_times(text):
    """The milliseconds of the trials that a program of GAP, or `wyrm bench gap`, prints."""
    times = [1000 * float(t) for t in re.findall(r"^Trial Time: +([0-9.]+)", text, re.MULTILINE)]
    if not times:
        raise measure.Failure("no line with a trial time")
    return times


def gap_figures(algorithm, text):
    """What a program of GAP prints about its result (option -a)."""
    if algorithm == "betweenness":
        return {}  # its sources are not ours
    name, pattern = {
        "bfs": ("reached", r"^BFS Tree has (\d+) nodes"),
        "sssp": ("reached", r"^SSSP Tree reaches (\d+) nodes"),
        "components": ("count", r"^There are (\d+) components"),
        "triangles": ("number", r"^(\d+) triangles"),
        "pagerank": ("top", r"^(\d+):([0-9.e+-]+)$"),
    }[algorithm]
    found = re.findall(pattern, text, re.MULTILINE)
    if not found:
        raise measure.Failure("no line with its result")
    return {name: [(int(v), float(x)) for v, x in found] if name == "top" else int(found[0])}


class Library:
    """A Python library, which runs in processes of its own (worker.py)."""

    def __init__(self, name, title, python, site):
        self.name, self.title, self._python = name, title, python
        self._variables = {"PYTHONPATH": os.pathsep.join(filter(None, [*site, os.environ.get("PYTHONPATH")]))}

    def _records(self, job, algorithms, with_values):
        """What the process wrote, and why it did not come to its end."""
        with tempfile.TemporaryDirectory() as folder:
            results, path = os.path.join(folder, "results"), os.path.join(folder, "job.json")
            measure.write_json(path, {**job, "algorithms": algorithms, "results": results,
                                      "output": folder if with_values else None})
            worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), self.name + "_worker.py")
            failure = ""
            try:
                measure.output_of([self._python, worker, path], job["threads"], variables=self._variables)
            except measure.Failure as f:
                at_limit = str(f) == "ended by SIGALRM"
                failure = f"not finished after {job['limit']:g} s" if at_limit else str(f)
            records = []
            if os.path.exists(results):
                with open(results, encoding="utf-8") as f:
                    records = [json.loads(line) for line in f]
            for r in records:
                values = os.path.join(folder, f"{r.get('algorithm')}.values")
                if with_values and os.path.exists(values):
                    r["values"] = array.array("d")
                    with open(values, "rb") as f:
                        r["values"].frombytes(f.read())
            return records, failure

    def algorithms(self, job):
        records, failure = self._records(job, [], False)
        if not records:
            raise measure.Failure(failure)
        self.release = records[0]["library"]
        return set(records[0]["algorithms"])

    def run(self, job, algorithms, with_values):
        waiting = list(algorithms)
        while waiting:
            records, failure = self._records(job, waiting, with_values)
            for r in records[1:]:
                waiting.remove(r["algorithm"])
                yield Result(r["algorithm"], r.get("ms"), r.get("values", r.get("number")), r.get("error", ""))
            if waiting:  # it ended in this algorithm; the next ones run in another process
                yield Result(waiting.pop(0), error=failure or "the process ended without a result")
