"""Times netCDF4-python, or zarr-python, at reading gridded epochs: every variable of every record, whole or windowed.

The argument is a JSON object: `files` (paths, in the order of time; one that ends in `.zarr` is a Zarr store),
`variables`, and optionally `window` (`{"lat": [first, past], "lon": [first, past]}`) and `repeat` (1). Prints one line of
JSON with the same keys as the executables. The checksum is taken outside the timed part.
"""

import json
import resource
import sys
import time

import numpy as np

MASK = (1 << 64) - 1


def library(files):
    """The name and version of what reads these files, and how it opens one."""
    if files[0].endswith(".zarr"):
        import zarr

        return "zarr-python", zarr.__version__, lambda path: zarr.open_group(path, mode="r")
    import netCDF4

    return "netCDF4-python", netCDF4.__version__, netCDF4.Dataset


def dimensions(variable):
    return variable.dimensions if hasattr(variable, "dimensions") else variable.metadata.dimension_names


def sweep(open_file, files, variables, window):
    epoch = 0
    checksum = value_bytes = 0
    seconds = {"open": 0.0, "decode": 0.0}
    for path in files:
        begin = time.perf_counter()
        file = open_file(path)
        fields = [file[name] for name in variables]
        seconds["open"] += time.perf_counter() - begin
        for record in range(fields[0].shape[0]):
            begin = time.perf_counter()
            arrays = [read(field, record, window) for field in fields]
            seconds["decode"] += time.perf_counter() - begin
            for array in arrays:
                values = np.ma.getdata(array).astype(np.float64)
                value_bytes += values.nbytes
                bits = values.view(np.uint64)
                bits = int((bits << 32 | bits >> 32).sum(dtype=np.uint64))
                checksum = (checksum + (epoch + 1) * bits) & MASK
            epoch += 1
        if hasattr(file, "close"):
            file.close()
    return {
        "seconds": sum(seconds.values()),
        "parts": seconds,
        "checksum": f"{checksum:016x}",
        "epochs": epoch,
        "value_bytes": value_bytes,
    }


def read(variable, record, window):
    axes = (record if name == "time" else slice(*window.get(name, (None,))) for name in dimensions(variable))
    return variable[tuple(axes)]


def main(files, variables, window={}, repeat=1):
    name, version, open_file = library(files)
    runs = [sweep(open_file, files, variables, window) for _ in range(repeat)]
    if len({run["checksum"] for run in runs}) != 1:
        sys.exit(f"{name}: the runs of one request differ in their checksums")
    best = min(runs, key=lambda run: run["seconds"])
    best["runs"] = [run["seconds"] for run in runs]
    best["peak_rss_bytes"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"peer": name, "version": version, "operation": "epochs", **best}))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
