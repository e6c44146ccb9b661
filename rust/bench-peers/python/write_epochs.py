"""Writes gridded NetCDF-4 files like those of a reanalysis: five variables of 32-bit floats over (time, lev, lat, lon),
one chunk for each level of each record, deflate and shuffle. Records are three hours apart from 2024-01-01T00:00; a
file is named for its first one: `epochs_20240101_03.nc`.

The argument is a JSON object: `folder`, and optionally `records` (24), `records_per_file` (1), `lev` (8), `lat` (361),
`lon` (576), `deflate` (2). Prints the paths of the files, in the order of time, as a JSON array.
"""

import json
import sys
from datetime import datetime, timedelta
from pathlib import Path

import netCDF4
import numpy as np

VARIABLES = ("U", "V", "T", "QV", "OMEGA")
START = datetime(2024, 1, 1)
STEP = timedelta(hours=3)


def field(rng, variable, record, lev, lat, lon):
    """Planetary waves that drift with time, and noise, kept to multiples of 1/64."""
    levels = np.arange(lev)[:, None, None]
    phi = np.linspace(-np.pi / 2, np.pi / 2, lat)[None, :, None]
    theta = np.linspace(0, 2 * np.pi, lon, endpoint=False)[None, None, :]
    wave = np.cos(phi) * np.sin((3 + variable) * theta - 0.1 * record + levels)
    smooth = 20 * wave + 10 * np.sin(2 * phi) + 5 * levels
    noise = rng.standard_normal((lev, lat, lon), dtype=np.float32)
    return (np.round((smooth + noise) * 64) / 64).astype(np.float32)


def write(path, first, count, size, deflate):
    lev, lat, lon = size
    with netCDF4.Dataset(path, "w", format="NETCDF4") as file:
        for name, length in (("time", count), ("lev", lev), ("lat", lat), ("lon", lon)):
            file.createDimension(name, length)
        axes = {
            "time": (3.0 * (first + np.arange(count)), "hours since 2024-01-01 00:00:00"),
            "lev": (np.arange(1.0, lev + 1), "1"),
            "lat": (np.linspace(-90, 90, lat), "degrees_north"),
            "lon": (np.linspace(-180, 180, lon, endpoint=False), "degrees_east"),
        }
        for name, (values, units) in axes.items():
            axis = file.createVariable(name, "f8", (name,))
            axis.units = units
            axis[:] = values
        file["time"].calendar = "standard"
        for number, name in enumerate(VARIABLES):
            variable = file.createVariable(
                name,
                "f4",
                ("time", "lev", "lat", "lon"),
                compression="zlib" if deflate else None,
                complevel=deflate,
                shuffle=True,
                chunksizes=(1, 1, lat, lon),
                fill_value=False,
            )
            for k in range(count):
                rng = np.random.default_rng([number, first + k])
                variable[k] = field(rng, number, first + k, lev, lat, lon)


def main(folder, records=24, records_per_file=1, lev=8, lat=361, lon=576, deflate=2):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for first in range(0, records, records_per_file):
        path = folder / (START + first * STEP).strftime("epochs_%Y%m%d_%H.nc")
        write(path, first, min(records_per_file, records - first), (lev, lat, lon), deflate)
        paths.append(str(path))
    print(json.dumps(paths))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
