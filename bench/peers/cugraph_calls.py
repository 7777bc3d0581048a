# SPDX-License-Identifier: Apache-2.0
"""Calls of cuGraph (pylibcugraph, on one GPU) for cugraph_times.py and cugraph_worker.py."""
import ctypes
import glob
import os
import sys


def load_libraries():
    """The libraries of CUDA's wheels, which the linker does not find by itself."""
    for name in ("nvJitLink", "cublasLt", "cublas", "cusparse", "cusolver", "curand"):
        for base in sys.path:
            for path in sorted(glob.glob(os.path.join(base, "nvidia", "*", "lib", f"lib{name}.so*")))[:1]:
                ctypes.CDLL(path, ctypes.RTLD_GLOBAL)


load_libraries()
import cupy as cp
import numpy as np
import pylibcugraph as cg
import rmm


class Graph:
    """A graph in rows: offsets (int64), targets (int32) and weights (float32, or None) are arrays of the host."""

    def __init__(self, offsets, targets, weights, directed=False):
        self.offsets, self.targets, self.weights, self.directed = offsets, targets, weights, directed
        self.n = len(self.offsets) - 1
        self.columns = cp.asarray(self.targets)
        begins = cp.asarray(self.offsets)
        self.rows = (cp.searchsorted(begins, cp.arange(len(self.targets)), side="right") - 1).astype(cp.int32)
        self.vertices = cp.arange(self.n, dtype=cp.int32)

    def on_device(self, handle, renumber, transposed=False, weighted=False):
        properties = cg.GraphProperties(is_symmetric=not self.directed, is_multigraph=False)
        weights = cp.asarray(self.weights) if weighted else None
        return cg.SGGraph(handle, properties, self.rows, self.columns, weight_array=weights,
                          store_transposed=transposed, renumber=renumber, do_expensive_check=False,
                          vertices_array=self.vertices)


def handle_with_pool():
    """A handle of cuGraph, with a pool of device memory."""
    free, _ = cp.cuda.runtime.memGetInfo()
    pool = int(free * 0.6) // 2**21 * 2**21
    rmm.mr.set_current_device_resource(rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=pool))
    return cg.ResourceHandle()


def calls_of(handle, g, tolerance=1e-6):
    """name -> (weighted, transposed, call), in which call takes a graph on the device; that of bfs and of betweenness
    also an array of sources, and that of sssp a source. tolerance: of power iterations."""
    alpha = 0.9 / float(np.diff(g.offsets).max())
    return {
        "bfs": (False, False, lambda G, s: cg.bfs(handle, G, s, not g.directed, 0, False, False)),
        "sssp": (True, False, lambda G, s: cg.sssp(handle, G, int(s), 1e30, True, False)),
        "betweenness": (False, False, lambda G, s: cg.betweenness_centrality(handle, G, s, None, False, False, False)),
        "components": (False, False,
                       lambda G: cg.weakly_connected_components(handle, G, None, None, None, None, False)),
        "triangles": (False, False, lambda G: cg.triangle_count(handle, G, None, False)),
        "core_numbers": (False, False, lambda G: cg.core_number(handle, G, None, False)),
        "louvain": (False, False, lambda G: cg.louvain(handle, G, 100, 1e-7, 1.0, False)),
        "leiden": (False, False, lambda G: cg.leiden(handle, 1, G, 100, 1.0, 1.0, False)),
        "hits": (False, True, lambda G: cg.hits(handle, G, tolerance, 500, None, None, True, False)),
        "katz": (False, True, lambda G: cg.katz_centrality(handle, G, None, alpha, 1.0, tolerance, 500, False)),
        "eigenvector": (False, True, lambda G: cg.eigenvector_centrality(handle, G, tolerance, 500, False)),
        "spanning_forest": (True, False, lambda G: cg.minimum_spanning_tree(handle, G, False)),
    }
