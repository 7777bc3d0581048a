#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Infomap (PyPI `infomap`: two levels, seed 1, one trial) on graphs that analytics_bench wrote (--dump=DIR).

Usage: infomap_times.py [--out FILE.json] DIR/GRAPH...

The time is that of run(), with the network already built. One JSON record a graph: seconds, codelength in bits,
number of modules. PEER_SITE names a folder with infomap and numpy, if they are not installed.
"""
import argparse
import json
import os
import sys
import time

if os.environ.get("PEER_SITE"):
    sys.path.insert(0, os.environ["PEER_SITE"])

import infomap
import numpy as np


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("graphs", nargs="+")
    options.add_argument("--out", default="")
    o = options.parse_args()
    records = []
    for path in o.graphs:
        offsets, targets = np.fromfile(path + ".offsets", np.int64), np.fromfile(path + ".targets", np.int32)
        sources = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
        once = sources < targets
        network = infomap.Infomap("--two-level --seed 1 --num-trials 1 --silent")
        network.add_links(np.column_stack((sources[once], targets[once])))
        start = time.perf_counter()
        result = network.run()
        records.append({"graph": os.path.basename(path), "seconds": time.perf_counter() - start,
                        "codelength": result.codelength, "modules": result.num_top_modules})
        print(json.dumps(records[-1]), flush=True)
        if o.out:
            with open(o.out, "w") as f:
                json.dump({"peer": f"infomap {infomap.__version__}", "records": records}, f, indent=1)


if __name__ == "__main__":
    main()
