#!/usr/bin/env python3
"""Times Numba's CUDA simulator beside Ferrowarp's emulator: the matrix product in shared memory, in one run.

    python3 benches/peers/simulator.py path/to/ferrowarp [--size 128] [--rounds 3]

Needs no GPU, but NumPy and a Numba that still has the simulator for CUDA (`pip install "numba>=0.59,<0.62"`). Blocks
are 16 x 16 threads; times are medians over the rounds, in milliseconds of one launch; the two take turns.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before numba.cuda is imported

import numpy as np  # noqa: E402
import numba  # noqa: E402
from numba import cuda, float32  # noqa: E402

BLOCK = 16


@cuda.jit
def shared(a, b, c):
    """The kernel as the Numba documentation teaches it."""
    tile_a = cuda.shared.array((BLOCK, BLOCK), float32)
    tile_b = cuda.shared.array((BLOCK, BLOCK), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for start in range(0, a.shape[1], BLOCK):
        tile_a[ty, tx] = 0
        tile_b[ty, tx] = 0
        if y < a.shape[0] and start + tx < a.shape[1]:
            tile_a[ty, tx] = a[y, start + tx]
        if x < b.shape[1] and start + ty < b.shape[0]:
            tile_b[ty, tx] = b[start + ty, x]
        cuda.syncthreads()
        for i in range(BLOCK):
            total += tile_a[ty, i] * tile_b[i, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def simulated(a, b):
    """Milliseconds of one launch on Numba's simulator, whose arrays are NumPy's."""
    device = [cuda.to_device(array) for array in (a, b, np.full_like(a, np.nan))]
    blocks = ((a.shape[0] + BLOCK - 1) // BLOCK,) * 2
    start = time.perf_counter()
    shared[blocks, (BLOCK, BLOCK)](*device)
    ms = (time.perf_counter() - start) * 1e3
    np.testing.assert_allclose(device[2].copy_to_host(), a @ b, rtol=1e-4)
    return ms


def emulated(program, folder):
    """Milliseconds of one launch on Ferrowarp's emulator, a median of its own."""
    command = [program, "matmul", "--a", folder / "A.npy", "--b", folder / "B.npy", "--block", str(BLOCK), "--json"]
    environment = dict(os.environ, CUDA_DRIVER_BACKEND="emulator")
    report = json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    return next(row["ms"] for row in report["rows"] if row["name"] == "mat_mul_shared_kernel")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ferrowarp", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    a, b = (random.random((arguments.size,) * 2, dtype=np.float32) for _ in range(2))
    times = {f"Numba {numba.__version__}, simulator": [], "Ferrowarp, emulator": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.save(folder / "A.npy", a)
        np.save(folder / "B.npy", b)
        for _ in range(arguments.rounds):
            ours = emulated(arguments.ferrowarp.resolve(), folder)
            for values, ms in zip(times.values(), (simulated(a, b), ours)):
                values.append(ms)
    numbas, ours = (statistics.median(values) for values in times.values())
    print(f"shared-memory product, n = {arguments.size}, block {BLOCK}x{BLOCK}, medians of {arguments.rounds} rounds")
    print("| | ms | spread |")
    print("| --- | --- | --- |")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"| {name} | {median:.1f} | {(max(values) - min(values)) / median:.0%} |")
    print(f"Ferrowarp is {numbas / ours:.0f} times as fast.")


if __name__ == "__main__":
    main()
