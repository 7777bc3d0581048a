#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Wyrm with GAP, NetworKit, igraph and cuGraph on the same graphs, and prints one table.

Usage: compare.py [options] GRAPH...     GRAPH is what `wyrm run` takes: a file, a name of a data set, or gen:FAMILY,...

`wyrm convert` writes each graph as .wsg, without self-loops and duplicates. All libraries load this file, or .sg, the
same graph without weights. If the graph does not have whole numbers as weights, they are drawn from 1 to 255. A time is
that of one call, from the graph in the memory of the library to the result in host memory; it includes scratch memory.
In each round every library runs in turn in new processes, so that the load of the machine by other work is the same for
all. A cell has the median of the rounds, the minimum and the maximum, in milliseconds.

After the first round the results are compared with Wyrm's as far as the algorithm determines them: distances, core
numbers and coefficients one by one; ranks and centralities divided by their sum; components as a partition; triangles
and the weight of a forest as numbers. GAP's programs print figures only: numbers of reached vertices, of components and
of triangles, and the largest ranks. The modularity of all communities is computed here. Betweenness from some vertices
is not compared, because each library draws its own. A library that is missing or fails has a line that says so.

All programs may use the same cores, and run one thread on each; igraph runs one thread. Tolerances of power iterations
mean the change of the last iteration in the L1 norm, except in igraph, and where a library has no choice. Communities
are those of each library's defaults; label propagation has 10 rounds, in igraph as many as it takes. The times of
NetworKit do not include copies of values to Python's lists; those of igraph do.
"""
import argparse
import os
import platform
import random
import sys
import tempfile

import agreement
import graph_file
import measure
import programs

DAMPING = 0.85
PEERS = ("gap", "networkit", "igraph", "cugraph")


def say(text):
    print(text, file=sys.stderr, flush=True)


def prepared(wyrm, options, name, folder):
    """The job for one graph, and the graph."""
    sg, wsg = os.path.join(folder, "graph.sg"), os.path.join(folder, "graph.wsg")
    direction = ["--undirected"] if options.undirected else []
    arguments = ["--remove-self-loops", "--remove-duplicates", *direction]
    weights = "of the file"
    try:
        wyrm.convert(name, wsg, *arguments)
    except measure.Failure:  # no weights, or not whole numbers; or an error, which the next command repeats
        weights = "drawn"
        wyrm.convert(name, wsg, *arguments, "--random-weights", "1", "1")
    graph = graph_file.Graph(wsg, weighted=True)
    if graph.arcs == 0:
        raise measure.Failure("a graph without edges")
    graph_file.write(graph, sg)
    if weights == "drawn":
        graph_file.write(graph, wsg, graph_file.drawn_weight)
    sources = None
    if options.sources != "all" and int(options.sources) < graph.n:
        sources = random.Random(options.seed).sample(range(graph.n), int(options.sources))
    return {"graph": sg, "weighted": wsg, "weights": weights, "directed": bool(graph.directed), "sources": sources,
            "source": graph.first_of_largest_degree(), "threads": options.threads, "limit": options.limit,
            "tolerance": options.tolerance, "damping": DAMPING}, graph


def compared(job, graph, libraries, values):
    """For each algorithm the text of the last column; values: name of the library -> algorithm -> value."""
    verdicts = {}
    for algorithm, ours in values["wyrm"].items():
        others = [(x, values[x.name][algorithm]) for x in libraries[1:] if algorithm in values[x.name]]
        merit = {x.title: agreement.figure(algorithm, graph, value) for x, value in [(libraries[0], ours), *others]}
        parts = []
        if all(merit.values()):
            name = merit[libraries[0].title][0]
            parts.append(f"{name}: " + ", ".join(f"{title} {m[1]}" for title, m in merit.items()))
        if algorithm == "betweenness" and job["sources"] is not None:
            parts.append("not compared")
        else:
            for x, value in others:
                text = agreement.difference(algorithm, graph, ours, value)
                parts += [f"{x.title}: {text}"] if text else []
        verdicts[algorithm] = "; ".join(parts) or ("equal" if others else "")
    return verdicts


def measured(job, graph, libraries, wanted, rounds):
    """Records of all algorithms that Wyrm and another library have, or that are asked for by name."""
    have, missing = {}, {}
    for x in libraries:
        try:
            have[x.name] = x.algorithms(job)
        except measure.Failure as failure:
            missing[x.name] = str(failure)
            say(f"{x.title}: {failure}")
    libraries = [x for x in libraries if x.name in have]
    found = [a for a in agreement.RESULTS if a in have["wyrm"] and
             (a in wanted or not wanted and any(a in have[x.name] for x in libraries[1:]))]
    times = {x.name: {a: [] for a in found if a in have[x.name]} for x in libraries}
    values = {x.name: {} for x in libraries}
    errors = {x.name: {} for x in libraries}
    for i in range(rounds):
        for x in libraries:
            algorithms = [a for a in times[x.name] if a not in errors[x.name]]
            say(f"  round {i + 1}: {x.title}, {len(algorithms)} algorithms")
            for r in x.run(job, algorithms, with_values=i == 0) if algorithms else ():
                if r.error:
                    errors[x.name][r.algorithm] = r.error
                    say(f"{x.title}: {r.algorithm}: {r.error}")
                    continue
                times[x.name][r.algorithm].append(r.ms)
                if r.value is not None:
                    values[x.name][r.algorithm] = r.value
    verdicts = compared(job, graph, libraries, values)
    rows = []
    for a in found:
        row = {"algorithm": a, "results": verdicts.get(a, "")}
        for x in libraries:
            if a in errors[x.name]:
                row[x.name] = {"error": errors[x.name][a]}
            elif times[x.name].get(a):
                row[x.name] = measure.figures(times[x.name][a])
        rows.append(row)
    return rows, missing


def fastest(row, libraries):
    """The ratio of Wyrm's median to that of the fastest other library."""
    medians = [(row[x.name]["median"], x.title) for x in libraries[1:] if "median" in row.get(x.name, {})]
    if not medians or "median" not in row.get("wyrm", {}):
        return "-"
    least, title = min(medians)
    ratio = row["wyrm"]["median"] / least
    return f"{ratio:.2f}, slower than {title}" if ratio > 1 else f"{ratio:.2f}"


def table_of(records, libraries):
    used = [x for x in libraries if any(x.name in row for r in records for row in r["rows"])]
    cell = lambda f: "-" if f is None else "failed" if "error" in f else measure.cell(f)
    rows = [[r["name"] if i == 0 else "", row["algorithm"], *(cell(row.get(x.name)) for x in used),
             fastest(row, used), row["results"]] for r in records for i, row in enumerate(r["rows"])]
    return measure.table(["graph", "algorithm", *(x.title for x in used), "Wyrm / fastest other", "results"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--peers", default=",".join(PEERS), help="names with commas between them [%(default)s]")
    parser.add_argument("--algorithms", default="", help="names as in `wyrm run`, with commas between them "
                        "[all that Wyrm and another library have]")
    parser.add_argument("--wyrm", default="wyrm", help="the program [%(default)s]")
    parser.add_argument("--device", default="cpu", help="of Wyrm: cpu, cuda or cuda:N [%(default)s]; cuGraph has a GPU")
    parser.add_argument("--gap", help="the folder of GAP's programs [the one in PATH that has them]")
    parser.add_argument("--gap-delta", type=int, default=1, help="delta of GAP's sssp [%(default)s]")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the other libraries [this one]")
    parser.add_argument("--site", action="append", default=[], help="a folder with their Python packages")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="[all cores: %(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="[%(default)s]")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one algorithm; of Wyrm, on "
                        "average over the algorithms of a process [%(default)s]")
    parser.add_argument("--undirected", action="store_true", help="each arc of a directed graph becomes an edge")
    parser.add_argument("--sources", default="16", help="number of sources of betweenness, or all [%(default)s]")
    parser.add_argument("--seed", type=int, default=1, help="of these sources [%(default)s]")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="of power iterations [%(default)s]")
    parser.add_argument("--out", help="a file for all figures, as JSON")
    options = parser.parse_args()
    wanted = options.algorithms.split(",") if options.algorithms else []
    for kind, names, known in (("algorithm", wanted, agreement.RESULTS), ("peer", options.peers.split(","), PEERS)):
        for name in names:
            if name not in known:
                parser.error(f"there is no {kind} {name}; choose from {', '.join(known)}")
    cores = sorted(os.sched_getaffinity(0))
    if not 1 <= options.threads <= len(cores):
        parser.error(f"--threads {options.threads}: this process may use {len(cores)} cores")
    if options.rounds < 1 or options.sources != "all" and not (options.sources.isdigit() and int(options.sources) > 0):
        parser.error("--rounds and --sources are at least 1")
    os.sched_setaffinity(0, cores[:options.threads])  # programs that it starts have the same cores

    wyrm = programs.Wyrm(options.wyrm, options.device)
    peers = {"gap": programs.Gap(options.gap, options.gap_delta)}
    for name, title in (("networkit", "NetworKit"), ("igraph", "igraph"), ("cugraph", "cuGraph")):
        peers[name] = programs.Library(name, title, options.python, options.site)
    libraries = [wyrm, *(peers[name] for name in dict.fromkeys(options.peers.split(",")))]
    records, notes, answered = [], {}, set()
    for name in options.graphs:
        say(name)
        with tempfile.TemporaryDirectory() as folder:
            try:
                job, graph = prepared(wyrm, options, name, folder)
                rows, missing = measured(job, graph, libraries, wanted, options.rounds)
            except measure.Failure as failure:
                sys.exit(f"compare.py: {name}: {failure}")
        notes = missing | notes  # the first failure of each library
        answered |= {x.name for x in libraries} - set(missing)
        title = name if name.startswith("gen:") else os.path.basename(name)
        records.append({"name": title, "vertices": graph.n, "edges": graph.arcs // (1 if graph.directed else 2),
                        "directed": bool(graph.directed), "weights": job["weights"], "source": job["source"],
                        "betweenness_sources": len(job["sources"] or range(graph.n)), "rows": rows})
    for line in table_of(records, libraries):
        print(line)
    for x in libraries:
        print(f"{x.title}: " + "; ".join(([x.release] if x.name in answered else []) +
                                         ([notes[x.name]] if x.name in notes else [])))
        for r in records:
            for row in r["rows"]:
                if "error" in row.get(x.name, {}):
                    print(f"{x.title}: {r['name']}, {row['algorithm']}: {row[x.name]['error']}")
    if options.out:
        context = {"machine": platform.machine(), "cores": os.cpu_count(), "threads": options.threads,
                   "device": options.device, "rounds": options.rounds, "tolerance": options.tolerance,
                   "gap_delta": options.gap_delta, "libraries": {x.name: x.release for x in libraries
                                                                 if x.name in answered}}
        measure.write_json(options.out, {"context": context, "missing": notes, "graphs": records})


if __name__ == "__main__":
    main()
