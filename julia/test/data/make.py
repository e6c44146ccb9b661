"""Writes winds.nc, coarse.nc, fixed.nc, globe.nc and damaged.nc, the files of the Julia tests. Needs netCDF4 and numpy:

    python3 julia/test/data/make.py

All values follow from formulas, so that a test can say what it expects. With t, k, j, i the indices of time, level,
latitude and longitude, from 0:
    uwnd   int16, scale 0.01, offset 1: packed 1000 t + 10 j + i; the cell j = i = 0 is missing where t is odd
    temp   float32 1000 t + 100 k + 10 j + i
    gusts  int32 t + i
    crest  float64 a seventh of 1000 t + 10 j + i, many steps in a chunk
    lat_bounds, station (texts), lev, lat, lon do not change with time
    price  (coarse.nc) float64 100 t + i;    height (fixed.nc) float64 10 j + i
The time axis of winds.nc has 12 steps of 6 h from 2001-01-01, that of coarse.nc 3 steps of 24 h from there; fixed.nc has
none. globe.nc has longitudes of several kinds (east, west, twice, part), and along each an int32 v_east, ... = i. In
damaged.nc, int32 load = 1000 t + i over 6 hours, the compressed bytes of the third hour are overwritten.
"""

import pathlib
import zlib

import netCDF4
import numpy as np

HERE = pathlib.Path(__file__).parent


def grid(shape):
    return np.indices(shape)


def write_winds(path):
    nt, nk, nj, ni = 12, 3, 4, 6
    with netCDF4.Dataset(path, "w", format="NETCDF4") as nc:
        nc.title = "test data"
        nc.levels = np.array([1, 2, 3], dtype="i4")
        for name, size in (("time", None), ("lev", nk), ("lat", nj), ("lon", ni), ("edge", 2)):
            nc.createDimension(name, size)
        time = nc.createVariable("time", "f8", ("time",))
        time.units = "hours since 2001-01-01 00:00:00"
        time.calendar = "standard"
        time[:] = np.arange(nt) * 6.0
        for name, values in (("lev", [1000.0, 850.0, 500.0]), ("lat", 10.0 * np.arange(nj)), ("lon", 15.0 * np.arange(ni))):
            nc.createVariable(name, "f4", (name,))[:] = values

        packed = dict(zlib=True, shuffle=True, chunksizes=(1, nj, ni), fill_value=np.int16(-32768))
        u = nc.createVariable("uwnd", "i2", ("time", "lat", "lon"), **packed)
        u.set_auto_maskandscale(False)
        u.scale_factor, u.add_offset, u.units = 0.01, 1.0, "m s-1"
        t, j, i = grid((nt, nj, ni))
        values = (1000 * t + 10 * j + i).astype("i2")
        values[1::2, 0, 0] = -32768
        u[:] = values

        temp = nc.createVariable("temp", "f4", ("time", "lev", "lat", "lon"), zlib=True, chunksizes=(1, 1, nj, ni))
        t, k, j, i = grid((nt, nk, nj, ni))
        temp[:] = 1000 * t + 100 * k + 10 * j + i

        t, i = grid((nt, ni))
        nc.createVariable("gusts", "i4", ("time", "lon"), chunksizes=(4, ni))[:] = t + i
        t, j, i = grid((nt, nj, ni))
        nc.createVariable("crest", "f8", ("time", "lat", "lon"), chunksizes=(12, 2, 3))[:] = (1000 * t + 10 * j + i) / 7
        nc.createVariable("lat_bounds", "f8", ("lat", "edge"))[:] = 10.0 * np.arange(nj)[:, None] + [-5, 5]
        station = nc.createVariable("station", str, ("lat",))
        station[:] = np.array(["Ålesund", "Bergen", "", "Oslo"], dtype=object)


def write_coarse(path):
    nt, ni = 3, 5
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as nc:
        nc.createDimension("time", None)
        nc.createDimension("x", ni)
        time = nc.createVariable("time", "i4", ("time",))
        time.units = "days since 2001-01-01"
        time[:] = np.arange(nt)
        t, i = grid((nt, ni))
        nc.createVariable("price", "f8", ("time", "x"))[:] = 100.0 * t + i


def write_fixed(path):
    with netCDF4.Dataset(path, "w", format="NETCDF4") as nc:
        nc.createDimension("lat", 2)
        nc.createDimension("lon", 3)
        j, i = grid((2, 3))
        nc.createVariable("height", "f8", ("lat", "lon"))[:] = 10.0 * j + i


def write_globe(path):
    axes = dict(
        east=np.arange(0, 360, 45),
        west=np.arange(-180, 180, 45),
        twice=np.arange(0, 361, 90),
        part=np.array([-20, 0, 20]),
    )
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as nc:
        for name, values in axes.items():
            nc.createDimension(name, len(values))
            longitude = nc.createVariable(name, "f4", (name,))
            if name == "twice":
                longitude.standard_name = "longitude"
            else:
                longitude.units = "degrees_east"
            longitude[:] = values
            nc.createVariable(f"v_{name}", "i4", (name,))[:] = np.arange(len(values))


def write_damaged(path):
    nt, ni = 6, 40
    t, i = grid((nt, ni))
    load = (1000 * t + i).astype("<i4")
    with netCDF4.Dataset(path, "w", format="NETCDF4") as nc:
        nc.createDimension("time", nt)
        nc.createDimension("x", ni)
        time = nc.createVariable("time", "f8", ("time",))
        time.units = "hours since 2001-01-01"
        time[:] = np.arange(nt)
        nc.createVariable("load", "i4", ("time", "x"), zlib=True, complevel=4, shuffle=False, chunksizes=(1, ni))[:] = load
    contents = path.read_bytes()
    chunk = zlib.compress(load[2].tobytes(), 4)
    assert contents.count(chunk) == 1
    path.write_bytes(contents.replace(chunk, chunk[:10] + bytes(len(chunk) - 10)))


write_winds(HERE / "winds.nc")
write_coarse(HERE / "coarse.nc")
write_fixed(HERE / "fixed.nc")
write_globe(HERE / "globe.nc")
write_damaged(HERE / "damaged.nc")
