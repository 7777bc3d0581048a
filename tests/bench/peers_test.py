#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests bench/peers without its peers: recorded output of GAP's programs, and modules that stand in for libraries.

Usage: peers_test.py WYRM       WYRM is the program.
"""
import collections
import filecmp
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "peers")
sys.path.insert(0, PEERS)
sys.dont_write_bytecode = True
import agreement
import compare
import graph_file
import measure
import programs

# Two triangles, 0 1 2 and 3 4 5, and the edge 2 3 between them.
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
TRIANGLES = "Trial Time:          0.00002\n2 triangles\n"
REACHED = "Trial Time:          0.00004\nBFS Tree has 6 nodes and 14 edges\n"
RANKS = "Trial Time:          0.00100\n2:0.21\n3:0.21\n4:0.145\n0:0.145\n1:0.145\nAverage Time:        0.00100\n"

# Stands in for igraph: two results, one of which is wrong, an exception, and the end of the process.
IGRAPH = """
    import os
    import time
    __version__ = "stand-in"
    class Graph:
        def __init__(self, n, edges, directed):
            assert n == 6 and not directed, (n, directed)
            assert edges.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [3, 5], [4, 5]], edges.tolist()
            self.es = {}
        def distances(self, source, weights=None):
            return [[1, 1, 0, 1, 2, 2]] if weights is None else [[0, 0, 0, 0, 0, 0]]
        def pagerank(self, damping):
            raise ValueError("no ranks today")
        def coreness(self):
            os._exit(5)
        def hub_score(self):
            raise SystemExit(0)
        def vertex_coloring_greedy(self):
            time.sleep(60)
        def connected_components(self, mode):
            return type("Components", (), {"membership": [7] * 6})
"""


def serialized(n, arcs, directed):
    """The bytes of a .sg file; arcs ascend."""
    def rows(pairs):
        counts = collections.Counter(u for u, _ in pairs)
        offsets = [0]
        for v in range(n):
            offsets.append(offsets[-1] + counts[v])
        return struct.pack(f"<{n + 1}q{len(pairs)}i", *offsets, *(v for _, v in pairs))
    reverse = sorted((v, u) for u, v in arcs)
    return struct.pack("<?qq", directed, len(arcs), n) + rows(arcs) + (rows(reverse) if directed else b"")


def graph_path(folder, n, arcs, directed=False):
    path = os.path.join(folder, "graph.sg")
    with open(path, "wb") as f:
        f.write(serialized(n, arcs, directed))
    return path


def both_ways(edges):
    return sorted(edges + [(v, u) for u, v in edges])


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.triangles = graph_file.Graph(graph_path(self.folder, 6, both_ways(EDGES)))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(textwrap.dedent(text))
        return path


class Measure(Case):
    def test_median_least_and_most(self):
        self.assertEqual(measure.figures([3.0, 1.0, 8.0]), {"median": 3.0, "least": 1.0, "most": 8.0, "trials": 3})
        self.assertEqual(measure.cell(measure.figures([3.14159, 1234.5, 0.01234])), "3.14 (0.0123 to 1234)")

    def test_table_is_aligned(self):
        self.assertEqual(measure.table(["a", "long"], [["wide", 1]]),
                         ["| a    | long |", "| ---- | ---- |", "| wide | 1    |"])

    def test_a_failure_names_the_last_line_of_output(self):
        with self.assertRaisesRegex(measure.Failure, "exit code 3: it is broken"):
            measure.output_of([sys.executable, "-c", "print('it is broken'); raise SystemExit(3)"], 1)
        with self.assertRaisesRegex(measure.Failure, "not finished after 0.2 s"):
            measure.output_of([sys.executable, "-c", "import time; time.sleep(60)"], 1, limit=0.2)
        with self.assertRaisesRegex(measure.Failure, "ended by SIGABRT"):
            measure.output_of([sys.executable, "-c", "import os; os.abort()"], 1)
        with self.assertRaisesRegex(measure.Failure, "no/such/program: No such file"):
            measure.output_of(["no/such/program"], 1)

    def test_programs_get_the_number_of_threads(self):
        text = measure.output_of([sys.executable, "-c", "import os; print(os.environ['OMP_NUM_THREADS'])"], 3)
        self.assertEqual(text, "3\n")


class GraphFile(Case):
    def test_rows_of_a_file(self):
        g = self.triangles
        self.assertEqual((g.n, g.arcs, g.directed, g.weights), (6, 14, False, None))
        self.assertEqual(g.degrees(), [2, 2, 3, 3, 2, 2])
        self.assertEqual(list(zip(g.sources(), g.targets)), both_ways(EDGES))
        self.assertEqual(g.first_of_largest_degree(), 2)

    def test_drawn_weights_are_those_of_edges(self):
        for directed in (False, True):
            arcs = [(0, 5), *EDGES[1:], (5, 0), (5, 1)] if directed else both_ways(EDGES)
            unweighted = graph_path(self.folder, 6, sorted(arcs), directed)
            g = graph_file.Graph(unweighted)
            path = os.path.join(self.folder, "graph.wsg")
            graph_file.write(g, path, graph_file.drawn_weight)
            read = graph_file.Graph(path, weighted=True)
            self.assertEqual((read.offsets, read.targets, read.directed), (g.offsets, g.targets, directed))
            again = os.path.join(self.folder, "again.sg")
            graph_file.write(read, again)
            self.assertTrue(filecmp.cmp(again, unweighted, shallow=False))
            weights = dict(zip(zip(read.sources(), read.targets), read.weights))
            self.assertTrue(all(1 <= w <= 255 for w in weights.values()))
            self.assertGreater(len(set(weights.values())), 3)
            if directed:
                offsets, ends, drawn = read.reverse
                self.assertEqual({(u, v): w for v, u, w in zip(read.sources(offsets), ends, drawn)}, weights)
            else:
                self.assertEqual([weights[v, u] for u, v in weights], list(weights.values()))
            subprocess.run([WYRM, "info", path], check=True, stdout=subprocess.DEVNULL)  # which verifies the file


class Agreement(Case):
    def differs(self, algorithm, ours, theirs):
        return agreement.difference(algorithm, self.triangles, ours, theirs)

    def test_modularity_of_two_triangles(self):
        self.assertAlmostEqual(agreement.modularity(self.triangles, [4, 4, 4, 9, 9, 9]), 12 / 14 - 2 * (7 / 14) ** 2)
        self.assertAlmostEqual(agreement.modularity(self.triangles, [0] * 6), 0)
        self.assertEqual(agreement.figure("louvain", self.triangles, [4, 4, 4, 9, 9, 9]), ("modularity", 0.3571))
        self.assertIsNone(agreement.figure("bfs", self.triangles, [0] * 6))

    def test_distances(self):
        ours = [1, 1, 0, 1, 2, math.inf]
        self.assertEqual(self.differs("bfs", ours, list(ours)), "")
        self.assertEqual(self.differs("bfs", ours, [1, 1, 0, 1, math.inf, 3]), "2 values differ")
        self.assertEqual(self.differs("bfs", ours, [1, 1, 0]), "3 values for 6 vertices")

    def test_partitions(self):
        self.assertEqual(self.differs("components", [0, 0, 0, 3, 3, 3], [8, 8, 8, 1, 1, 1]), "")
        for other in ([8, 8, 8, 8, 8, 8], [8, 8, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5]):
            self.assertIn("another partition", self.differs("components", [0, 0, 0, 3, 3, 3], other))

    def test_shares_are_independent_of_scale(self):
        ours = [1.0, 2, 3, 4, 5, 6]
        self.assertEqual(self.differs("pagerank", ours, [2 * x for x in ours]), "")
        self.assertEqual(self.differs("pagerank", ours, [1, 2, 3, 4, 6, 6]), "differ by 0.07")
        self.assertEqual(self.differs("pagerank", [0.0] * 6, [0.0] * 6), "")

    def test_numbers_and_colours(self):
        self.assertEqual(self.differs("triangles", 2, 2.0), "")
        self.assertEqual(self.differs("triangles", 2, 3), "3, not 2")
        self.assertEqual(self.differs("colouring", [0, 1, 2, 0, 1, 2], [2, 1, 0, 1, 2, 0]), "")
        self.assertEqual(self.differs("colouring", [0, 1, 2, 0, 1, 2], [0] * 6),
                         "14 arcs between vertices of one colour")

    def test_figures_of_programs(self):
        ours = [1, 1, 0, 1, 2, math.inf]
        self.assertEqual(self.differs("bfs", ours, {"reached": 5}), "")
        self.assertEqual(self.differs("bfs", ours, {"reached": 6}), "reached 6, not 5")
        self.assertEqual(self.differs("components", [0, 0, 0, 3, 3, 3], {"count": 3}), "count 3, not 2")
        ranks = [0.1, 0.1, 0.3, 0.2, 0.2, 0.1]
        self.assertEqual(self.differs("pagerank", ranks, {"top": [(2, 0.6), (3, 0.4)]}), "")
        self.assertIn("largest values differ", self.differs("pagerank", ranks, {"top": [(2, 0.6), (3, 0.5)]}))


class Gap(Case):
    def test_recorded_output(self):
        self.assertEqual(programs.trial_times("Trial Time:  0.00250\nx\nTrial Time:  1.5\nAverage Time: 0.7\n"),
                         [2.5, 1500])
        self.assertEqual(programs.gap_figures("triangles", TRIANGLES), {"number": 2})
        self.assertEqual(programs.gap_figures("bfs", REACHED), {"reached": 6})
        self.assertEqual(programs.gap_figures("sssp", "SSSP Tree reaches 5 nodes\n"), {"reached": 5})
        self.assertEqual(programs.gap_figures("components", "1 biggest clusters\n0:6\nThere are 4 components\n"),
                         {"count": 4})
        self.assertEqual(programs.gap_figures("pagerank", RANKS)["top"][:2], [(2, 0.21), (3, 0.21)])
        self.assertEqual(programs.gap_figures("betweenness", "3:1\n"), {})
        for text in ("", "Average Time: 1\n"):
            self.assertRaises(measure.Failure, programs.trial_times, text)
            self.assertRaises(measure.Failure, programs.gap_figures, "bfs", text)


    def test_kernels_that_fit_the_graph(self):
        for name in programs.Gap.KERNELS.values():
            os.chmod(self.write(name, "#!/bin/sh\n"), 0o755)
        gap = programs.Gap(self.folder, 1)
        kernels = set(programs.Gap.KERNELS)
        self.assertEqual(gap.algorithms({"directed": False, "sources": [1]}), kernels)
        self.assertEqual(gap.algorithms({"directed": True, "sources": [1]}), kernels - {"triangles"})
        self.assertEqual(gap.algorithms({"directed": False, "sources": None}), kernels - {"betweenness"})


class FGraph(Case):
    def test_stand_ins(self):
        """Stand-ins check their arguments. Times grow with each call, so the medians are those of the second round."""
        calls = os.path.join(self.folder, "calls")
        fgraph = self.write("fgraph", f"""\
            #!{sys.executable}
            import os, sys
            mode, path, trials, start, largest = sys.argv[1:]
            assert (mode, trials, start, largest, os.environ["PARLAY_NUM_THREADS"]) == ("graph", "4", "1", "1000000", "3")
            assert open(path).read().split() == {self.ADJACENCY!r}
            with open({calls!r}, "a") as f:
                print("x", file=f)
            n = len(open({calls!r}).readlines())
            print("n = 6, m = 14\\n10, 9.0, 9.0")
            for size in (1000, 10000, 100000, 1000000):
                print(f"{{size}}, {{n * size * 1e-6:f}}, {{n * size * 2e-6:f}}")
            """)
        bench = self.write("updates_bench", f"""\
            #!{sys.executable}
            import json, os, re, sys
            assert os.environ["WYRM_DATA"] == {self.folder!r}
            filter = next(a for a in sys.argv if a.startswith("--benchmark_filter=")).partition("=")[2]
            cases = []
            for size in (1, 1000, 10000, 100000, 1000000):
                for operation, factor in (("insert", .1), ("erase", .05)):
                    name = f"{{operation}}/cpu/ouroboros-s-p/graph/diagonal/from:host/edges:{{size}}/manual_time"
                    if re.search(filter, name):
                        cases.append({{"name": name, "real_time": size * factor, "time_unit": "us"}})
            assert len(cases) == 8
            print(json.dumps({{"benchmarks": cases}}))
            """)
        for program in (fgraph, bench):
            os.chmod(program, 0o755)
        report = os.path.join(self.folder, "report.json")
        graph = graph_path(self.folder, 6, both_ways(EDGES))
        out = subprocess.run([sys.executable, os.path.join(PEERS, "fgraph.py"), "--rounds", "3", "--trials", "4",
                              "--threads", "3", "--wyrm", WYRM, "--json", report, fgraph, bench, graph],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
        with open(report, encoding="utf-8") as f:
            updates = json.load(f)["updates"]
        self.assertEqual([(u["arcs"], u["operation"]) for u in updates],
                         [(size, o) for size in (1000, 10000, 100000, 1000000) for o in ("insert", "erase")])
        for u in updates:  # the second call of F-Graph took 2 us an arc for insertions, 4 for erasures
            self.assertAlmostEqual(u["speedup"], 20 if u["operation"] == "insert" else 80)
            self.assertEqual(u["fgraph_ms"]["trials"], 3)
        self.assertIn("| insert 1,000     | 2 (1 to 3) ", out)

    ADJACENCY = "AdjacencyGraph 6 14 0 2 4 7 10 12 1 2 0 2 0 1 3 2 4 5 3 5 3 4".split()

    def test_a_program_without_times(self):
        fgraph = self.write("fgraph", "#!/bin/sh\necho nothing\n")
        os.chmod(fgraph, 0o755)
        out = subprocess.run([sys.executable, os.path.join(PEERS, "fgraph.py"), "--wyrm", WYRM, fgraph, fgraph,
                              graph_path(self.folder, 6, both_ways(EDGES))], stderr=subprocess.PIPE, text=True)
        self.assertEqual((out.returncode, out.stderr), (1, "fgraph.py: fgraph has no times of 1000 arcs in graph\n"))


class Wyrm(Case):
    def test_values(self):
        arcs = both_ways(EDGES[:3] + EDGES[4:])  # two triangles
        weighted = os.path.join(self.folder, "graph.wsg")
        path = graph_path(self.folder, 6, arcs)
        graph_file.write(graph_file.Graph(path), weighted, lambda u, v: 2 + u * v)
        job = {"graph": path, "weighted": weighted, "directed": False, "source": 3, "sources": [0, 3], "threads": 1,
               "limit": 100, "tolerance": 1e-6}
        wyrm = programs.Wyrm(WYRM, "cpu")
        names = ["bfs", "sssp", "triangles", "spanning-forest", "components", "betweenness"]
        results = {r.algorithm: r for r in wyrm.run(job, names, with_values=True)}
        self.assertEqual(set(results), set(names))
        self.assertEqual({r.error for r in results.values()}, {""})
        self.assertEqual(list(results["bfs"].value), [math.inf] * 3 + [0, 1, 1])
        self.assertEqual(list(results["sssp"].value), [math.inf] * 3 + [0, 14, 17])
        self.assertEqual(results["triangles"].value, 2)
        self.assertEqual(results["spanning-forest"].value, 2 + 2 + 14 + 17)
        self.assertEqual(list(results["components"].value), [0, 0, 0, 3, 3, 3])
        for name in wyrm.algorithms(job):  # each has the options of its own only
            alone = list(wyrm.run(job, [name], with_values=False))
            self.assertEqual([(r.algorithm, r.value, r.error) for r in alone], [(name, None, "")])
        failed = programs.Wyrm(WYRM, "cuda:99").run(job, ["bfs", "components"], with_values=False)
        self.assertEqual([r.algorithm for r in failed if r.error.startswith("exit code")], ["bfs", "components"])


class Compare(Case):
    """The whole comparison: Wyrm, programs that print what GAP's printed, and modules in the place of libraries."""

    def compare(self, *arguments, **variables):
        return subprocess.run([sys.executable, os.path.join(PEERS, "compare.py"), "--wyrm", WYRM, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables})

    def test_fastest_other_library(self):
        libraries = [programs.Library(name, name.title(), "", []) for name in ("wyrm", "a", "b")]
        row = {"wyrm": {"median": 6.0}, "a": {"median": 4.0}, "b": {"median": 9.0}}
        self.assertEqual(compare.fastest(row, libraries), "1.50, slower than A")
        self.assertEqual(compare.fastest({**row, "a": {"error": "x"}}, libraries), "0.67")
        self.assertEqual(compare.fastest({**row, "wyrm": {"error": "x"}}, libraries), "-")
        self.assertEqual(compare.fastest({"wyrm": {"median": 6.0}}, libraries), "-")

    def test_table_of_all(self):
        outputs = {"bfs": REACHED, "tc": TRIANGLES, "pr": RANKS, "sssp": "no trials\n",
                   "cc": "Trial Time:          0.00003\nThere are 2 components\n",
                   "bc": "Trial Time:          0.00005\n"}
        for name, text in outputs.items():
            path = self.write(name, f"#!/bin/sh\ncat <<'END'\n{text}END\n")
            os.chmod(path, 0o755)
        site = os.path.join(self.folder, "site")
        os.mkdir(site)
        self.write("site/igraph.py", IGRAPH)
        self.write("site/networkit.py", "raise ImportError('no NetworKit here')\n")
        self.write("site/cupy.py", "raise ImportError('no CuPy here')\n")
        graph = self.write("graph.txt", "".join(f"{u} {v}\n" for u, v in [*EDGES, (1, 0), (4, 4)]))
        out = os.path.join(self.folder, "out.json")
        run = self.compare(graph, "--undirected", "--gap", self.folder, "--site", site, "--rounds", "2", "--limit", "4",
                           "--out", out, "--algorithms",
                           "bfs,sssp,pagerank,core-numbers,hits,components,triangles,betweenness,colouring")
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(out, encoding="utf-8") as f:
            report = json.load(f)
        self.assertEqual(report["missing"], {"networkit": "exit code 1: ImportError: no NetworKit here",
                                             "cugraph": "exit code 1: ImportError: no CuPy here"})
        self.assertEqual(sorted(report["context"]["libraries"]), ["gap", "igraph", "wyrm"])
        graph = report["graphs"][0]
        self.assertEqual([graph[x] for x in ("name", "vertices", "edges", "directed", "weights", "source")],
                         ["graph.txt", 6, 7, False, "drawn", 2])
        rows = {row["algorithm"]: row for row in graph["rows"]}
        self.assertEqual(rows["bfs"]["results"], "equal")
        self.assertEqual(rows["bfs"]["gap"], {"median": 0.04, "least": 0.04, "most": 0.04, "trials": 2})
        self.assertEqual([rows["bfs"][x]["trials"] for x in ("wyrm", "igraph")], [2, 2])
        self.assertEqual(rows["sssp"]["results"], "igraph: 5 values differ")
        self.assertEqual(rows["sssp"]["gap"], {"error": "no line with a trial time"})
        self.assertEqual(rows["pagerank"]["results"], "GAP: the largest values differ by 0.02")
        self.assertEqual(rows["pagerank"]["igraph"], {"error": "ValueError: no ranks today"})
        self.assertEqual(rows["core-numbers"]["igraph"], {"error": "exit code 5: no output"})
        self.assertEqual(rows["hits"]["igraph"], {"error": "the process ended without a result"})
        self.assertEqual(rows["components"]["results"], "GAP: count 2, not 1")
        self.assertEqual(rows["components"]["igraph"]["trials"], 2)  # ran after the end of the process before
        self.assertEqual(rows["triangles"]["results"], "equal")
        self.assertNotIn("gap", rows["betweenness"])  # from all six vertices, which GAP's program does not offer
        self.assertEqual(rows["colouring"]["results"], "colours: Wyrm 3")
        self.assertEqual(rows["colouring"]["igraph"], {"error": "not finished after 4 s"})
        self.assertIn("round 1: igraph, 9 algorithms", run.stderr)
        self.assertIn("round 2: igraph, 3 algorithms", run.stderr)  # without those that failed
        for line in ("networkit: exit code 1", "igraph: graph.txt, core-numbers: exit code 5: no output"):
            self.assertIn(line.lower(), run.stdout.lower())
        self.assertRegex(run.stdout, r"\| graph\.txt +\| bfs +\| [0-9.]+ \(")
        self.assertRegex(run.stdout, r"\| +\| core-numbers +\| [0-9.]+ \([^|]*\| - +\| failed +\| - ")

    def test_a_library_that_fails_on_one_graph(self):
        site = os.path.join(self.folder, "site")
        os.mkdir(site)
        self.write("site/igraph.py", f"""
    with open({os.path.join(site, "imports")!r}, "a+") as f:
        f.write("x")
        f.seek(0)
        if len(f.read()) > 2:  # two for the first graph
            raise ImportError("no igraph any more")
""" + IGRAPH)
        graph = self.write("graph.txt", "".join(f"{u} {v}\n" for u, v in EDGES))
        out = os.path.join(self.folder, "out.json")
        run = self.compare(graph, graph, "--undirected", "--peers", "igraph", "--site", site, "--algorithms", "bfs",
                           "--rounds", "1", "--out", out)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(out, encoding="utf-8") as f:
            report = json.load(f)
        self.assertIn("no igraph any more", report["missing"]["igraph"])
        self.assertIn("stand-in", report["context"]["libraries"]["igraph"])
        self.assertRegex(run.stdout, "igraph: .*stand-in; .*no igraph any more")

    def test_directed_graphs_and_weights_of_the_file(self):
        graph = self.write("graph.wel", "0 1 5\n1 2 7\n2 0 1\n2 3 2\n")
        out = os.path.join(self.folder, "out.json")
        run = self.compare(graph, "--peers", "gap", "--gap", self.folder, "--algorithms", "scc,triangles,sssp",
                           "--rounds", "1", "--out", out)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(out, encoding="utf-8") as f:
            report = json.load(f)
        self.assertIn("has no program bfs", report["missing"]["gap"])
        self.assertEqual([report["graphs"][0][x] for x in ("directed", "weights", "edges")], [True, "of the file", 4])
        self.assertEqual([row["algorithm"] for row in report["graphs"][0]["rows"]], ["sssp", "scc"])

    def test_errors_of_the_command_line(self):
        for arguments, text in ((["x", "--algorithms", "bsf"], "there is no algorithm bsf"),
                                (["x", "--peers", "gapp"], "there is no peer gapp"),
                                (["x", "--threads", "100000"], "--threads 100000"),
                                (["x", "--rounds", "0"], "--rounds"), (["x", "--sources", "0"], "--sources"),
                                (["no/such/file"], "no/such/file")):
            run = self.compare(*arguments)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(text, run.stderr)
            self.assertNotIn("Traceback", run.stderr)


if __name__ == "__main__":
    WYRM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
