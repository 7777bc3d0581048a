# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: running programs, medians and tables."""
import json
import os
import signal
import statistics
import subprocess


class Failure(Exception):
    """A program that is missing, fails or takes too long; the text says which and why."""


def environment(threads):
    """The environment of a program that uses this number of threads. Threads that wait do not take the cores from each
    other, or from the next program. CUDA loads all kernels at the start, not in the first call."""
    return dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive", CUDA_MODULE_LOADING="EAGER")


def output_of(command, threads, limit=None, variables=None, folder=None):
    """Standard output of a program; limit: seconds that it may take; folder: in which it runs."""
    try:
        run = subprocess.run(command, cwd=folder, env={**environment(threads), **(variables or {})}, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, errors="replace", timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failure(f"not finished after {limit:g} s") from None
    except OSError as e:
        raise Failure(f"{command[0]}: {e.strerror}") from None
    if run.returncode < 0:
        raise Failure(f"ended by {signal.Signals(-run.returncode).name}")
    if run.returncode != 0:
        lines = f"{run.stdout.strip()}\n{run.stderr.strip()}".strip().splitlines()
        raise Failure(f"exit code {run.returncode}: {lines[-1] if lines else 'no output'}")
    return run.stdout


def figures(times):
    """Of the milliseconds of several calls: median, least and most."""
    return {"median": statistics.median(times), "least": min(times), "most": max(times), "trials": len(times)}


def number(x):
    """Milliseconds with three digits."""
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def cell(f):
    return f"{number(f['median'])} ({number(f['least'])} to {number(f['most'])})"


def table(head, rows):
    """Lines of a Markdown table whose columns are aligned."""
    rows = [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    line = lambda row: "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |"
    return [line(head), "| " + " | ".join("-" * w for w in widths) + " |", *map(line, rows)]


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as out:
        json.dump(value, out, indent=1)
        out.write("\n")
