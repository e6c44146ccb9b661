"""Writes gridded epochs like those of a reanalysis: five variables of 32-bit floats over (time, lev, lat, lon), smooth
fields and noise. Records are three hours apart from 2024-01-01T00:00; a file is named for its first one:
`epochs_20240101_03.nc`.

The argument is a JSON object: `folder`, and optionally `format` (NETCDF4; one of netCDF4-python, or `zarr` for one Zarr v3
store of all records), `records` (24), `records_per_file` (1), `lev` (8), `lat` (361), `lon` (576), `chunk` (the whole
plane; rows and columns of a chunk, which holds one level of one record) and `deflate` (2; with shuffle). A folder that was
written for the same request stays as it is.
"""

import json
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

VARIABLES = ("U", "V", "T", "QV", "OMEGA")
DIMENSIONS = ("time", "lev", "lat", "lon")
START = datetime(2024, 1, 1)
STEP = timedelta(hours=3)
# What belongs to a folder beside the request; another number has old ones written anew.
EDITION = 1


def field(variable, record, size):
    """Planetary waves that drift with time, and noise, kept to multiples of 1/64."""
    lev, lat, lon = size
    levels = np.arange(lev)[:, None, None]
    phi = np.linspace(-np.pi / 2, np.pi / 2, lat)[None, :, None]
    theta = np.linspace(0, 2 * np.pi, lon, endpoint=False)[None, None, :]
    wave = np.cos(phi) * np.sin((3 + variable) * theta - 0.1 * record + levels)
    smooth = 20 * wave + 10 * np.sin(2 * phi) + 5 * levels
    noise = np.random.default_rng([variable, record]).standard_normal(size, dtype=np.float32)
    return (np.round((smooth + noise) * 64) / 64).astype(np.float32)


def axes(first, count, size):
    lev, lat, lon = size
    return {
        "time": (3.0 * (first + np.arange(count)), "hours since 2024-01-01 00:00:00"),
        "lev": (np.arange(1.0, lev + 1), "1"),
        "lat": (np.linspace(-90, 90, lat), "degrees_north"),
        "lon": (np.linspace(-180, 180, lon, endpoint=False), "degrees_east"),
    }


def write_netcdf(path, format, first, count, size, chunk, deflate):
    import netCDF4

    storage = {}
    if format == "NETCDF4":
        compression = "zlib" if deflate else None
        storage = {"compression": compression, "complevel": deflate, "shuffle": True, "chunksizes": (1, 1, *chunk)}
    with netCDF4.Dataset(path, "w", format=format) as file:
        # An unlimited dimension makes the classic formats keep each record in one place, as such files are.
        for name, length in zip(DIMENSIONS, (None, *size)):
            file.createDimension(name, length)
        for name, (values, units) in axes(first, count, size).items():
            axis = file.createVariable(name, "f8", (name,))
            axis.units = units
            if name == "time":
                axis.calendar = "standard"
            axis[:] = values
        for name in VARIABLES:
            file.createVariable(name, "f4", DIMENSIONS, fill_value=False, **storage)
        for k in range(count):
            for number, name in enumerate(VARIABLES):
                file[name][k] = field(number, first + k, size)


def write_zarr(path, records, size, chunk):
    import zarr

    store = zarr.open_group(path, mode="w", zarr_format=3)
    for name in VARIABLES:
        shape, chunks = (records, *size), (1, 1, *chunk)
        store.create_array(name, shape=shape, chunks=chunks, dtype="f4", dimension_names=DIMENSIONS, fill_value=0)
    for k in range(records):
        for number, name in enumerate(VARIABLES):
            store[name][k] = field(number, k, size)


def main(
    folder, format="NETCDF4", records=24, records_per_file=1, lev=8, lat=361, lon=576, chunk=None, deflate=2
):
    request = json.dumps([EDITION, format, records, records_per_file, lev, lat, lon, chunk, deflate])
    folder = Path(folder)
    ready = folder / "ready.json"
    if ready.is_file() and ready.read_text() == request:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    size, chunk = (lev, lat, lon), chunk or (lat, lon)
    if format == "zarr":
        write_zarr(folder / "epochs.zarr", records, size, chunk)
    else:
        for first in range(0, records, records_per_file):
            path = folder / (START + first * STEP).strftime("epochs_%Y%m%d_%H.nc")
            write_netcdf(path, format, first, min(records_per_file, records - first), size, chunk, deflate)
    ready.write_text(request)


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
