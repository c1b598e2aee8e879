#!/usr/bin/env python3
"""Times kernels with safe outputs beside the same with pointers, on a GPU.

    python3 benches/peers/disjoint.py path/to/device.ptx [--rounds 21]

The PTX is that of crates/cuda_std/tests/device (in the bundle, tests/cuda_std.ptx). Needs a GPU and CuPy, which loads it. Times are
medians over the rounds, in microseconds of device time between two events around 20 launches; the kernels take turns.
"""

import argparse
import statistics

import cupy
import numpy as np


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("ptx")
    arguments.add_argument("--rounds", type=int, default=21)
    arguments = arguments.parse_args()
    module = cupy.RawModule(path=arguments.ptx)

    n = 1 << 26
    x, y = cupy.random.rand(n, dtype=cupy.float32), cupy.random.rand(n, dtype=cupy.float32)
    side = 8192
    c = cupy.empty((side, side), dtype=cupy.float32)
    size = np.uint64
    pair = [x.data.ptr, size(n), y.data.ptr, size(n)]
    vectors = [x.data.ptr, size(side), y.data.ptr, size(side), c.data.ptr, size(side), size(side)]
    line, plane = ((n // 256,), (256,)), ((side // 32, side // 8), (32, 8))
    kernels = {
        "axpy_pointer": (line, [np.float32(0.5), *pair]),
        "axpy_disjoint": (line, [np.float32(0.5), *pair]),
        "outer_pointer": (plane, vectors),
        "outer_disjoint": (plane, vectors),
    }
    times = {name: [] for name in kernels}
    for _ in range(arguments.rounds):
        for name, ((grid, block), values) in kernels.items():
            kernel = module.get_function(name)
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            for _ in range(20):
                kernel(grid, block, tuple(values))
            end.record()
            end.synchronize()
            times[name].append(cupy.cuda.get_elapsed_time(start, end) * 1000 / 20)
    print("| kernel | us | registers |\n| --- | --- | --- |")
    for name, samples in times.items():
        registers = module.get_function(name).num_regs
        print(f"| `{name}` | {statistics.median(samples):.1f} | {registers} |")
    for kind in ("axpy", "outer"):
        safe, raw = (statistics.median(times[f"{kind}_{how}"]) for how in ("disjoint", "pointer"))
        print(f"{kind}: safe / pointer = {safe / raw:.4f}")


if __name__ == "__main__":
    main()
