"""Times netCDF4-python at reading gridded epochs: every variable of every record, whole or windowed.

The argument is a JSON object: `files` (paths, in the order of time), `variables`, and optionally `order` (`forward` or
`reverse`), `window` (`{"lat": [first, past], "lon": [first, past]}`) and `repeat` (1). Prints one line of JSON with the
same keys as the executables. The checksum is taken outside the timed part.
"""

import json
import resource
import sys
import time

import netCDF4
import numpy as np

MASK = (1 << 64) - 1


def sweep(files, variables, order, window):
    opened, epochs = {}, []
    decode = 0.0
    checksum = value_bytes = 0
    begin = time.perf_counter()
    for path in files:
        opened[path] = netCDF4.Dataset(path)
        epochs += [(path, k) for k in range(len(opened[path].dimensions["time"]))]
    opening = time.perf_counter() - begin
    visits = range(len(epochs)) if order == "forward" else reversed(range(len(epochs)))
    for epoch in visits:
        path, record = epochs[epoch]
        begin = time.perf_counter()
        arrays = [read(opened[path][name], record, window) for name in variables]
        decode += time.perf_counter() - begin
        for array in arrays:
            values = np.ma.getdata(array).astype(np.float64)
            value_bytes += values.nbytes
            bits = values.view(np.uint64)
            bits = int((bits << 32 | bits >> 32).sum(dtype=np.uint64))
            checksum = (checksum + (epoch + 1) * bits) & MASK
    for file in opened.values():
        file.close()
    return {
        "seconds": opening + decode,
        "parts": {"open": opening, "decode": decode},
        "checksum": f"{checksum:016x}",
        "epochs": len(epochs),
        "value_bytes": value_bytes,
    }


def read(variable, record, window):
    where = [slice(None)] * variable.ndim
    for axis, name in enumerate(variable.dimensions):
        if name == "time":
            where[axis] = record
        elif name in window:
            where[axis] = slice(*window[name])
    return variable[tuple(where)]


def main(files, variables, order="forward", window={}, repeat=1):
    runs = [sweep(files, variables, order, window) for _ in range(repeat)]
    if len({run["checksum"] for run in runs}) != 1:
        sys.exit("netCDF4: the runs of one request differ in their checksums")
    best = min(runs, key=lambda run: run["seconds"])
    head = {"peer": "netCDF4-python", "version": netCDF4.__version__, "operation": "epochs"}
    best["runs"] = [run["seconds"] for run in runs]
    best["peak_rss_bytes"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({**head, **best}))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
