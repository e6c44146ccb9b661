"""Cases about selections: by name at every rank, by position, across a seam, empty."""

import numpy as np

from corpus import field, netcdf, put
from masking import dimensions, unpack

NAN = np.nan
TIME = {"units": "hours since 2031-06-15 00:00:00", "calendar": "standard"}
UNIX = 1939248000.0
SIZES = {"time": 2, "lev": 3, "lat": 4, "lon": 5, "lon_edge": 6}


def grid(dims, weights):
    """A number that tells every cell apart: the sum of its indices, weighted."""
    indices = np.indices([SIZES[d] for d in dims])
    return sum(w * i for w, i in zip(weights, indices))


def narrow(expected, picks):
    """The expectation of a whole read, sliced by the names of its dimensions."""
    out = {}
    for name, (dims, values, attributes) in expected.items():
        for axis, dim in enumerate(dims):
            if dim in picks:
                values = np.take(values, picks[dim], axis=axis)
        out[name] = field(dims, values, **attributes)
    return out


def add_to(corpus):
    mixed_rank(corpus)
    permuted(corpus)


def mixed_rank(corpus):
    stored_t = grid(["time", "lev", "lat", "lon"], (1000, 100, 10, 1)).astype("i2")
    stored_t[1, 2, 3, 4] = stored_t[0, 0, 1, 2] = -1
    u = grid(["time", "lat", "lon_edge"], (500, 20, 1)) / 7
    ps = grid(["time", "lat", "lon"], (300, 30, 3)).astype("i4")
    mask = grid(["lat", "lon"], (7, 1)).astype("f4") / 3
    area = np.array([1.5, 2.5, 3.5, 4.5])
    lat, lon, edge = np.array([-60.0, -20.0, 20.0, 60.0]), 72.0 * np.arange(5), 72.0 * np.arange(6) - 36.0
    lev = np.array([1000, 500, 100], dtype="i4")

    def build(nc):
        dimensions(nc, **{**SIZES, "time": None})
        put(nc, "time", "i4", "time", np.array([6, 12], dtype="i4"), TIME)
        put(nc, "lev", "i4", "lev", lev)
        put(nc, "lat", "f8", "lat", lat, {"units": "degrees_north"})
        put(nc, "lon", "f4", "lon", lon, {"units": "degrees_east"})
        put(nc, "lon_edge", "f4", "lon_edge", edge)
        packed = {"scale_factor": 0.01, "add_offset": 250.0}
        chunks = dict(chunksizes=(1, 1, 4, 5), zlib=True, shuffle=True)
        put(nc, "T", "i2", ("time", "lev", "lat", "lon"), stored_t, packed, fill_value=np.int16(-1), **chunks)
        put(nc, "U", "f8", ("time", "lat", "lon_edge"), u, chunksizes=(1, 2, 4), zlib=True)
        put(nc, "PS", "i4", ("time", "lat", "lon"), ps)
        put(nc, "MASK", "f4", ("lat", "lon"), mask)
        put(nc, "AREA_LAT", "f8", "lat", area)
        put(nc, "version", "i4", (), np.int32(3))

    variables = {
        "T": (["time", "lev", "lat", "lon"], unpack(stored_t, 0.01, 250.0, -1), {}),
        "U": (["time", "lat", "lon_edge"], u, {}),
        "PS": (["time", "lat", "lon"], ps, {}),
        "MASK": (["lat", "lon"], mask.astype("f8"), {}),
        "AREA_LAT": (["lat"], area, {}),
        "version": ([], np.int32(3), {}),
    }
    coords = {
        "time": (["time"], np.array([6, 12], dtype="i4"), TIME),
        "lev": (["lev"], lev, {}),
        "lat": (["lat"], lat, {"units": "degrees_north"}),
        "lon": (["lon"], lon, {"units": "degrees_east"}),
        "lon_edge": (["lon_edge"], edge, {}),
    }
    name = "named-window-mixed-rank"
    decode = {"time_dim": "time", "refresh_times_s": [UNIX + 6 * 3600, UNIX + 12 * 3600]}
    first = dict(data=netcdf(build))

    def case(id, select, picks, project=None, notes=None):
        kept = {k: v for k, v in variables.items() if project is None or k in project}
        corpus.case(
            id,
            narrow(kept, picks),
            narrow(coords, picks),
            name=name,
            project=project,
            select=select,
            decode=decode,
            notes=notes,
            **first,
        )
        first.clear()

    case(
        name,
        {"dims": {"lat": {"slice": [1, 3]}, "lon": {"indices": [3, 4, 0]}, "lon_edge": {"slice": [0, 6, 2]}}},
        {"lat": [1, 2], "lon": [3, 4, 0], "lon_edge": [0, 2, 4]},
        notes="One map narrows fields and coordinates of every rank; lon crosses the seam.",
    )
    case("whole-tile", {"all_records": True}, {})
    case("named-window-identity", {"dims": {}}, {})
    case("named-window-time-all", {"dims": {"time": "all", "lev": {"indices": [2]}}}, {"lev": [2]}, ["T", "version"])
    case(
        "named-window-repeats",
        {"dims": {"lat": {"indices": [3, 0, 3, 3]}, "lev": {"slice": [0, 5, 5]}}},
        {"lat": [3, 0, 3, 3], "lev": [0]},
        notes="Order and repeats are kept, and an axis of one index stays.",
    )
    case(
        "named-window-empty",
        {"dims": {"lat": {"slice": [2, 2]}, "lon": {"indices": []}, "lon_edge": {"slice": [9, 2]}}},
        {"lat": np.array([], int), "lon": np.array([], int), "lon_edge": np.array([], int)},
        notes="An empty selection leaves axes of length 0.",
    )
    case(
        "positional-window",
        {"axes": ["all", {"slice": [0, 2]}, {"indices": [4, 1]}]},
        {"lat": [0, 1], "lon": [4, 1], "lon_edge": [4, 1]},
        ["PS", "T", "AREA_LAT"],
        notes="Positions bind to every field of rank 3, U included although it is not asked for, and by name to the rest.",
    )


def permuted(corpus):
    """Fields that order the same dimensions differently, and one that has them twice."""
    j, i = np.indices((3, 5))
    a = (10 * j + i).astype("f8")
    k, m, n = np.indices((2, 3, 5))
    d = (100 * k + 10 * m + n).astype("f4")

    def build(nc):
        dimensions(nc, z=2, y=3, x=5)
        put(nc, "x", "f8", "x", np.arange(5) * 2.0)
        put(nc, "yx", "f8", ("y", "x"), a)
        put(nc, "xy", "f8", ("x", "y"), a.T, chunksizes=(2, 2), zlib=True)
        put(nc, "zyx", "f4", ("z", "y", "x"), d, chunksizes=(1, 2, 2))
        put(nc, "xzy", "f4", ("x", "z", "y"), d.transpose(2, 0, 1))

    variables = {
        "yx": (["y", "x"], a, {}),
        "xy": (["x", "y"], a.T, {}),
        "zyx": (["z", "y", "x"], d.astype("f8"), {}),
        "xzy": (["x", "z", "y"], d.transpose(2, 0, 1).astype("f8"), {}),
    }
    coords = {"x": (["x"], np.arange(5) * 2.0, {})}
    picks = {"x": [4, 2, 3, 1], "y": [2, 0]}
    corpus.case(
        "permuted-order-tile",
        narrow(variables, picks),
        narrow(coords, picks),
        data=netcdf(build),
        select={"dims": {"x": {"indices": [4, 2, 3, 1]}, "y": {"indices": [2, 0]}}},
        notes="The order of the indices is that of the result, wherever the dimension stands.",
    )
