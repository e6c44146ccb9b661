"""Cases about files: formats, storage layouts, filters, byte orders, groups, and dimensions of every kind."""

import ctypes
import pathlib

import netCDF4
import numpy as np

from corpus import field, netcdf, put
from masking import dimensions

NAN = np.nan
NC_COMPACT = 2


def add_to(corpus):
    formats(corpus)
    layouts(corpus)
    filters(corpus)
    big_endian(corpus)
    scalars(corpus)
    coordinates(corpus)
    unlimited(corpus)
    short_variables(corpus)
    empty(corpus)
    groups(corpus)


def formats(corpus):
    """The same content in every format; record variables of odd sizes, whose records are padded."""
    t, x = np.indices((3, 5))
    a = (100 * t + x).astype("i2")
    b = (10 * t + x).astype("i1")
    c = (t + x / 8).astype("f4")

    def build(nc):
        dimensions(nc, time=None, x=5)
        put(nc, "time", "f8", "time", np.arange(3) * 6.0, {"units": "hours since 2031-06-15 00:00:00"})
        put(nc, "x", "f4", "x", np.arange(5) * 0.1)
        put(nc, "a", "i2", ("time", "x"), a)
        put(nc, "b", "i1", ("time", "x"), b)
        put(nc, "fixed", "i2", "x", np.arange(5, dtype="i2"))
        put(nc, "c", "f4", ("time", "x"), c)
        nc.setncattr("title", "one content in every format")

    single_tenths = np.array(np.arange(5) * 0.1, dtype="f4").astype("f8")
    kinds = {
        "format-classic": "NETCDF3_CLASSIC",
        "format-64bit-offset": "NETCDF3_64BIT_OFFSET",
        "format-cdf5": "NETCDF3_64BIT_DATA",
        "format-netcdf4": "NETCDF4",
        "format-netcdf4-classic": "NETCDF4_CLASSIC",
    }
    for id, kind in kinds.items():
        corpus.case(
            id,
            data=netcdf(build, kind),
            variables={
                "a": field(["time", "x"], a.astype("i4")),
                "b": field(["time", "x"], b.astype("i4")),
                "fixed": field(["x"], np.arange(5, dtype="i4")),
                "c": field(["time", "x"], c.astype("f8")),
            },
            coords={
                "time": field(["time"], np.arange(3) * 6.0, units="hours since 2031-06-15 00:00:00"),
                "x": field(["x"], single_tenths),
            },
            decode={"time_dim": "time", "refresh_times_s": [1939248000.0 + 21600 * k for k in range(3)]},
        )


def store_compact(nc, variable):
    """Keeps the values of a variable in its header; netCDF4-python has no option for it."""
    folder = pathlib.Path(netCDF4.__file__).parent
    found = [*folder.parent.glob("netcdf4.libs/libnetcdf*"), *folder.glob(".dylibs/libnetcdf*")]
    library = ctypes.CDLL(str(found[0]))
    status = library.nc_def_var_chunking(nc._grpid, variable._varid, NC_COMPACT, None)
    assert status == 0, status


def layouts(corpus):
    j, i = np.indices((7, 10))
    data = (1000.0 * j + i / 7).astype("f8")
    words = (j * 37 - i).astype("i4")

    def build(nc):
        dimensions(nc, y=7, x=10)
        grid = ("y", "x")
        put(nc, "contiguous", "f8", grid, data, contiguous=True)
        compact = put(nc, "compact", "i4", grid)
        store_compact(nc, compact)
        compact[...] = words
        # Chunks that do not divide the extents.
        put(nc, "chunked", "f8", grid, data, chunksizes=(3, 4))
        put(nc, "deflated", "f8", grid, data, chunksizes=(3, 4), zlib=True, complevel=4, shuffle=False)
        put(nc, "shuffled", "i4", grid, words, chunksizes=(7, 3), zlib=True, complevel=9, shuffle=True)
        put(nc, "summed", "f8", grid, data, chunksizes=(2, 10), fletcher32=True)
        put(nc, "everything", "i4", grid, words, chunksizes=(4, 4), zlib=True, shuffle=True, fletcher32=True)
        put(nc, "unwritten", "f8", grid, chunksizes=(3, 4), zlib=True, fill_value=-1.5)
        partly = put(nc, "partly", "i4", grid, chunksizes=(2, 5), zlib=True)
        partly[2:4, 5:] = words[2:4, 5:]

    rest = np.full((7, 10), -2147483647, dtype="i4")
    rest[2:4, 5:] = words[2:4, 5:]
    dims = ["y", "x"]
    doubles = {name: field(dims, data) for name in ("contiguous", "chunked", "deflated", "summed")}
    integers = {name: field(dims, words) for name in ("compact", "shuffled", "everything")}
    variables = {**doubles, **integers, "unwritten": field(dims, np.full((7, 10), NAN)), "partly": field(dims, rest)}
    notes = "Cells that were never written hold the fill value: masked if it is declared, netCDF's own if not."
    corpus.case("layouts", data=netcdf(build), variables=variables, notes=notes)
    picked = {"y": {"slice": [0, 7, 3]}, "x": {"indices": [9, 0, 4]}}
    rows, columns = [0, 3, 6], [9, 0, 4]

    def narrowed(expected):
        values = np.array(expected["data"], dtype="f8" if expected["dtype"] == "float64" else "i4")
        return field(dims, values[np.ix_(rows, columns)])

    narrow = {name: narrowed(expected) for name, expected in variables.items()}
    corpus.case("layouts-window", name="layouts", select={"dims": picked}, variables=narrow)


def filters(corpus):
    """Filters beyond those of HDF5 itself, by the plugins that come with netCDF-C."""
    j, i = np.indices((10, 16))
    data = 1000.0 * j + i // 6 / 8
    words = (j * 37 - i // 8).astype("i4")
    kinds = {
        "zstd": dict(compression="zstd", complevel=5, shuffle=True),
        "zstd_plain": dict(compression="zstd", complevel=1, shuffle=False, fletcher32=True),
        "szip_nn": dict(compression="szip", szip_coding="nn", szip_pixels_per_block=8),
        "szip_ec": dict(compression="szip", szip_coding="ec", szip_pixels_per_block=16),
    }
    # Not shuffled, by bytes, by bits.
    for codec, shuffle in (("lz", 1), ("lz4", 2), ("lz4hc", 1), ("zlib", 0), ("zstd", 2)):
        kinds[f"blosc_{codec}"] = dict(compression=f"blosc_{codec}", complevel=5, blosc_shuffle=shuffle)

    integers = ("szip_nn", "blosc_lz4")

    def build(nc):
        dimensions(nc, y=10, x=16)
        for name, options in kinds.items():
            put(nc, name, "f8", ("y", "x"), data, chunksizes=(4, 16), **options)
        for name in integers:
            put(nc, f"{name}_words", "i4", ("y", "x"), words, chunksizes=(7, 16), **kinds[name])

    expected = {name: field(["y", "x"], data) for name in kinds}
    expected.update((f"{name}_words", field(["y", "x"], words)) for name in integers)
    corpus.case("filters", data=netcdf(build), variables=expected)


def big_endian(corpus):
    values = {
        "f4": np.array([1.5, -2.25, 1e-3], dtype="f4"),
        "f8": np.array([np.pi, -0.0, 1e300]),
        "i2": np.array([1, -2, 258], dtype="i2"),
        "u2": np.array([1, 2, 65281], dtype="u2"),
        "i4": np.array([1, -2, 16909060], dtype="i4"),
        "u4": np.array([1, 2, 4278255873], dtype="u4"),
        "i8": np.array([1, -2, 72623859790382856], dtype="i8"),
    }
    widened = {"f4": "f8", "f8": "f8", "i2": "i4", "u2": "i4", "i4": "i4", "u4": "i8", "i8": "i8"}

    def build(nc):
        dimensions(nc, x=3)
        for kind, v in values.items():
            put(nc, kind, ">" + kind, "x", v, endian="big")
            put(nc, f"{kind}_deflated", ">" + kind, "x", v, endian="big", chunksizes=(2,), zlib=True, shuffle=True)
        packed = {"scale_factor": 0.5, "missing_value": np.int16(258)}
        put(nc, "packed", ">i2", "x", values["i2"], packed, endian="big")

    expected = {
        name + tail: field(["x"], v.astype(widened[name])) for name, v in values.items() for tail in ("", "_deflated")
    }
    expected["packed"] = field(["x"], [0.5, -1.0, NAN])
    corpus.case("big-endian", data=netcdf(build), variables=expected)


def scalars(corpus):
    def build(nc):
        dimensions(nc, x=2)
        put(nc, "number", "f4", (), np.float32(1.25))
        put(nc, "count", "i2", (), np.int16(-7))
        put(nc, "packed", "i2", (), np.int16(40), {"scale_factor": 0.25})
        put(nc, "missing", "f8", (), -1.0, fill_value=-1.0)
        put(nc, "crs", "S1", ())
        put(nc, "row", "f8", "x", np.array([1.0, 2.0]))

    for id, format in (("scalars", "NETCDF4"), ("scalars-classic", "NETCDF3_CLASSIC")):
        corpus.case(
            id,
            data=netcdf(build, format),
            variables={
                "number": field([], 1.25),
                "count": field([], np.int32(-7)),
                "packed": field([], 10.0),
                "missing": field([], NAN),
                "crs": field([], np.array("", dtype=object)),
                "row": field(["x"], [1.0, 2.0]),
            },
        )


def coordinates(corpus):
    """What is a coordinate: one dimension of the same name, and nothing else."""
    j, i = np.indices((2, 3))

    def build(nc):
        dimensions(nc, lat=2, lon=3, edge=2, plain=2)
        put(nc, "lat", "f4", "lat", [10.0, 20.0])
        # A name of a dimension, but two of them.
        put(nc, "lon", "f8", ("lat", "lon"), j + i / 2)
        put(nc, "xlat", "f8", "lat", [1.0, 2.0])
        put(nc, "edges", "f8", ("lat", "edge"), j[:, :2] * 10.0 + i[:, :2])
        put(nc, "t", "f8", ("plain", "lon"), 10.0 * j + i, {"coordinates": "xlat edges"})
        put(nc, "orphan", "i4", "plain", np.array([5, 6], dtype="i4"))

    variables = {
        "lon": field(["lat", "lon"], j + i / 2),
        "xlat": field(["lat"], [1.0, 2.0]),
        "edges": field(["lat", "edge"], j[:, :2] * 10.0 + i[:, :2]),
        "t": field(["plain", "lon"], 10.0 * j + i),
        "orphan": field(["plain"], np.array([5, 6], dtype="i4")),
    }
    lat = {"lat": field(["lat"], [10.0, 20.0])}
    corpus.case("coordinates", data=netcdf(build, "NETCDF3_CLASSIC"), variables=variables, coords=lat)
    corpus.case(
        "coordinates-projected",
        name="coordinates",
        project=["orphan"],
        variables={"orphan": variables["orphan"]},
        coords=lat,
        notes="Coordinates come along whatever is asked for, also those that no field has.",
    )


def unlimited(corpus):
    a = np.arange(12, dtype="f8").reshape(3, 4) / 3

    def build(nc):
        dimensions(nc, row=None, column=None)
        put(nc, "row", "i4", "row", np.arange(3, dtype="i4"))
        put(nc, "a", "f8", ("row", "column"), a, chunksizes=(2, 3), zlib=True)

    row = {"row": field(["row"], np.arange(3, dtype="i4"))}
    corpus.case("unlimited", data=netcdf(build), variables={"a": field(["row", "column"], a)}, coords=row)


def short_variables(corpus):
    """An unlimited dimension that grew with one variable: the others end in fill values."""
    long = np.arange(5, dtype="f8")

    def build(nc):
        dimensions(nc, n=None, x=2)
        put(nc, "long", "f8", "n", long)
        declared = put(nc, "declared", "f8", ("n", "x"), fill_value=-9.0)
        declared[0:2, :] = [[1.0, 2.0], [3.0, -9.0]]
        undeclared = put(nc, "undeclared", "i4", "n")
        undeclared[0:3] = [1, 2, 3]
        put(nc, "none", "i4", "n")

    default = -2147483647
    corpus.case(
        "short-variables",
        data=netcdf(build),
        variables={
            "long": field(["n"], long),
            "declared": field(["n", "x"], [[1.0, 2.0], [3.0, NAN], [NAN, NAN], [NAN, NAN], [NAN, NAN]]),
            "undeclared": field(["n"], np.array([1, 2, 3, default, default], dtype="i4")),
            "none": field(["n"], np.full(5, default, dtype="i4")),
        },
    )


def empty(corpus):
    def build(nc):
        dimensions(nc, n=None, x=3)
        put(nc, "n", "f8", "n", attributes={"units": "m"})
        put(nc, "a", "f4", ("n", "x"))
        put(nc, "packed", "i2", "n", attributes={"scale_factor": 0.5})
        put(nc, "x", "i4", "x", np.arange(3, dtype="i4"))

    for id, format in (("empty-netcdf4", "NETCDF4"), ("empty-classic", "NETCDF3_CLASSIC")):
        corpus.case(
            id,
            data=netcdf(build, format),
            variables={"a": field(["n", "x"], np.zeros((0, 3))), "packed": field(["n"], np.zeros(0))},
            coords={"n": field(["n"], np.zeros(0), units="m"), "x": field(["x"], np.arange(3, dtype="i4"))},
        )


def groups(corpus):
    inner = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    def build(nc):
        dimensions(nc, x=3)
        put(nc, "x", "f8", "x", [0.5, 1.5, 2.5])
        put(nc, "outer", "i4", "x", np.arange(3, dtype="i4"))
        deep = nc.createGroup("obs").createGroup("deep")
        deep.createDimension("y", 2)
        put(deep, "y", "i4", "y", np.array([7, 8], dtype="i4"))
        put(deep, "inner", "f4", ("y", "x"), inner)

    corpus.case(
        "group-root",
        data=netcdf(build),
        variables={"outer": field(["x"], np.arange(3, dtype="i4"))},
        coords={"x": field(["x"], [0.5, 1.5, 2.5])},
        notes="What is in groups does not exist for a read of the root.",
    )
    corpus.case(
        "group-inner",
        name="group-root",
        decode={"group": "obs/deep"},
        variables={"inner": field(["y", "x"], inner)},
        coords={"y": field(["y"], np.array([7, 8], dtype="i4"))},
        notes="A group uses dimensions from above it; their coordinates stay there.",
    )
