#!/usr/bin/env python3
"""Times Ferrowarp's matrix product beside nvcc's and Numba's on the same inputs, in one run.

    python3 benches/peers/mat_mul.py path/to/ferrowarp [--size 4096] [--block 32] [--rounds 3]

Needs a GPU, nvcc, NumPy, CuPy (to load nvcc's code and for the reference) and Numba. Times are medians over
the rounds, in milliseconds of device time between two events around one launch; the programs take turns.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np

np.row_stack = np.vstack  # numba-cuda 0.30 still asks for the name that NumPy 2.4 dropped

import cupy  # noqa: E402
from numba import cuda, float32  # noqa: E402


def numba_kernels(block):
    """The two kernels as the Numba documentation teaches them."""

    @cuda.jit
    def naive(a, b, c):
        x, y = cuda.grid(2)
        if y < c.shape[0] and x < c.shape[1]:
            total = float32(0.0)
            for i in range(a.shape[1]):
                total += a[y, i] * b[i, x]
            c[y, x] = total

    @cuda.jit
    def shared(a, b, c):
        tile_a = cuda.shared.array((block, block), float32)
        tile_b = cuda.shared.array((block, block), float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0.0)
        for start in range(0, a.shape[1], block):
            tile_a[ty, tx] = 0
            tile_b[ty, tx] = 0
            if y < a.shape[0] and start + tx < a.shape[1]:
                tile_a[ty, tx] = a[y, start + tx]
            if x < b.shape[1] and start + ty < b.shape[0]:
                tile_b[ty, tx] = b[start + ty, x]
            cuda.syncthreads()
            for i in range(block):
                total += tile_a[ty, i] * tile_b[i, tx]
            cuda.syncthreads()
        if y < c.shape[0] and x < c.shape[1]:
            c[y, x] = total

    return {"naive": naive, "shared": shared}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ferrowarp", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--block", type=int, choices=(16, 32), default=32)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    program = arguments.ferrowarp.resolve()
    n, block = arguments.size, arguments.block

    folder = pathlib.Path(tempfile.mkdtemp())
    random = np.random.default_rng(1)
    a, b = (random.random((n, n), dtype=np.float32) for _ in range(2))
    np.save(folder / "A.npy", a)
    np.save(folder / "B.npy", b)
    device_a, device_b = cupy.asarray(a), cupy.asarray(b)
    device_c = cupy.empty((n, n), cupy.float32)
    reference = device_a.astype(cupy.float64) @ device_b.astype(cupy.float64)

    source = pathlib.Path(__file__).with_name("mat_mul.cu")
    subprocess.run(["nvcc", "-O3", "-arch=native", "-cubin", "-o", folder / "peers.cubin", source], check=True)
    peers = cupy.RawModule(path=str(folder / "peers.cubin"))
    grid, threads = ((n + block - 1) // block,) * 2, (block, block)

    def nvcc(name, index):
        kernel = peers.get_function(name)
        sizes = (index(n),) * 3
        return lambda: kernel(grid, threads, (device_a, device_b, device_c) + sizes)

    def numba(kernel):
        a, b, c = (cuda.as_cuda_array(array) for array in (device_a, device_b, device_c))
        return lambda: kernel[grid, threads](a, b, c)

    python_kernels = numba_kernels(block)
    candidates = {
        "nvcc naive (size_t)": nvcc("naive_size_t", np.uint64),
        "nvcc naive (int)": nvcc("naive_int", np.int32),
        "numba naive": numba(python_kernels["naive"]),
        "nvcc shared (size_t)": nvcc(f"shared_{block}_size_t", np.uint64),
        "nvcc shared (int)": nvcc(f"shared_{block}_int", np.int32),
        "numba shared": numba(python_kernels["shared"]),
    }

    def device_ms(launch):
        start, stop = cuda.event(), cuda.event()
        launch()  # warm-up, and compilation for Numba
        times = []
        for _ in range(5):
            start.record()
            launch()
            stop.record()
            stop.synchronize()
            times.append(cuda.event_elapsed_time(start, stop))
        return statistics.median(times)

    times = {}
    errors = {}
    for _ in range(arguments.rounds):
        command = [program, "matmul", "--a", folder / "A.npy", "--b", folder / "B.npy"]
        command += ["--block", str(block), "--json"]
        environment = dict(os.environ, CUDA_DRIVER_BACKEND="gpu")
        report = json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
        for row in report["rows"]:
            if row["name"].startswith("mat_mul_"):
                name = "ferrowarp " + row["name"].split("_")[2]
                times.setdefault(name, []).append(row["ms"])
                errors[name] = row["max_rel_err"]
        for name, launch in candidates.items():
            device_c.fill(np.nan)
            times.setdefault(name, []).append(device_ms(launch))
            errors[name] = float(cupy.max(cupy.abs(device_c - reference) / reference))

    print(f"{report['device']}, n = {n}, block {block}x{block}, medians of {arguments.rounds} rounds")
    print("| kernel | ms | TFLOP/s | spread | max rel. error |")
    print("| --- | --- | --- | --- | --- |")
    for name, values in times.items():
        median = statistics.median(values)
        spread = (max(values) - min(values)) / median
        print(f"| {name} | {median:.3f} | {2 * n**3 / median / 1e9:.2f} | {spread:.1%} | {errors[name]:.1e} |")


if __name__ == "__main__":
    main()
