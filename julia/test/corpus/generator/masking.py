"""Cases about numbers: packing, missing values, signedness, types."""

import numpy as np

from corpus import field, netcdf, put

NAN = np.nan


def add_to(corpus):
    packed(corpus)
    packed_edges(corpus)
    masked(corpus)
    not_masked(corpus)
    masked_integers(corpus)
    unsigned(corpus)
    integers(corpus)


def dimensions(nc, **sizes):
    for name, size in sizes.items():
        nc.createDimension(name, size)


def unpack(stored, scale, offset, *missing):
    """The stored number as a double, times the scale, plus the offset: each rounded."""
    values = np.multiply(stored.astype("f8"), np.float64(scale)) + np.float64(offset)
    values[np.isin(stored, missing)] = NAN
    return values


def packed(corpus):
    lat, lon = np.array([60.0, 59.75, 59.5]), np.array([5.0, 5.25, 5.5, 5.75])
    t2m = np.arange(-6000, -6000 + 12 * 977, 977, dtype="i2").reshape(3, 4)
    t2m[1, 2] = -32767
    msl = np.arange(12, dtype="u2").reshape(3, 4) * 5003
    low = np.array([[-128, -1, 0, 1], [2, 3, 5, 127], [-7, 9, 11, -13]], dtype="i1")
    wind = (np.arange(12, dtype="f4").reshape(3, 4) - 5) / 3

    def build(nc):
        dimensions(nc, latitude=3, longitude=4)
        put(nc, "latitude", "f4", "latitude", lat, {"units": "degrees_north"})
        put(nc, "longitude", "f4", "longitude", lon, {"units": "degrees_east"})
        grid = ("latitude", "longitude")
        put(nc, "t2m", "i2", grid, t2m, {"scale_factor": 0.0017, "add_offset": 273.15}, fill_value=np.int16(-32767))
        put(nc, "msl", "u2", grid, msl, {"scale_factor": np.float32(0.1), "add_offset": np.float32(95000.3)})
        put(nc, "low", "i1", grid, low, {"scale_factor": 0.3})
        put(nc, "wind", "f4", grid, wind, {"add_offset": 0.1})

    dims = ["latitude", "longitude"]
    corpus.case(
        "packed",
        data=netcdf(build, "NETCDF3_64BIT_DATA"),
        variables={
            "t2m": field(dims, unpack(t2m, 0.0017, 273.15, -32767)),
            "msl": field(dims, unpack(msl, np.float32(0.1), np.float32(95000.3))),
            "low": field(dims, unpack(low, 0.3, 0)),
            "wind": field(dims, unpack(wind, 1, 0.1)),
        },
        coords={
            "latitude": field(["latitude"], lat, units="degrees_north"),
            "longitude": field(["longitude"], lon, units="degrees_east"),
        },
        notes="Factors in single precision are widened exactly; one factor without the other is 1 or 0.",
    )


def packed_edges(corpus):
    count = np.array([1, 2, 3], dtype="i2")
    signed = np.array([-0.0, 0.0, 1.5], dtype="f8")

    def build(nc):
        dimensions(nc, x=3)
        put(nc, "unit", "i2", "x", count, {"scale_factor": 1.0, "add_offset": 0.0})
        put(nc, "integer_factor", "i2", "x", count, {"scale_factor": np.int32(3)})
        put(nc, "two_factors", "i2", "x", count, {"scale_factor": np.array([2.5, 9.0])})
        put(nc, "scaled_zero", "f8", "x", signed, {"scale_factor": 2.0})
        put(nc, "kept_zero", "f8", "x", signed, {"scale_factor": 1.0})

    corpus.case(
        "packed-edges",
        data=netcdf(build),
        variables={
            "unit": field(["x"], count.astype("f8")),
            "integer_factor": field(["x"], count * 3.0),
            "two_factors": field(["x"], count * 2.5),
            "scaled_zero": field(["x"], [0.0, 0.0, 3.0]),
            "kept_zero": field(["x"], signed),
        },
        notes="A factor makes a double whatever its value. A scale alone adds zero, so that -0.0 becomes 0.0; a scale of "
        "1 computes nothing.",
    )


def masked(corpus):
    single = np.array([1.5, 1e20, -2.25, 3.0], dtype="f4")
    double = np.array([-999.0, 0.5, -888.0, 4.0])
    both = np.array([1.0, 2.0, 3.0, 4.0])
    zeros = np.array([0.0, -0.0, 1.0, 2.0])
    stored_nan = np.array([NAN, 1.0, 2.0, NAN])
    counted = np.array([[7, -1], [2**31 - 1, -(2**31)]], dtype="i4")

    def build(nc):
        dimensions(nc, x=4, y=2)
        put(nc, "single", "f4", "x", single, fill_value=np.float32(1e20))
        put(nc, "double", "f8", "x", double, {"missing_value": np.array([-999.0, -888.0])})
        put(nc, "both", "f8", "x", both, {"missing_value": 3.0}, fill_value=2.0)
        put(nc, "zeros", "f8", "x", zeros, fill_value=0.0)
        put(nc, "stored_nan", "f8", "x", stored_nan, fill_value=NAN)
        # Compared as the singles that the variable holds, although the attribute is a double.
        put(nc, "wide_attribute", "f4", "x", np.array([0.1, 0.2, 0.3, 0.1], dtype="f4"), {"missing_value": 0.1})
        put(nc, "counted", "i4", ("y", "y"), counted, fill_value=np.int32(-1))

    quarter = np.array([NAN, np.float32(0.2), np.float32(0.3), NAN], dtype="f8")
    corpus.case(
        "masked",
        data=netcdf(build),
        variables={
            "single": field(["x"], [1.5, NAN, -2.25, 3.0]),
            "double": field(["x"], [NAN, 0.5, NAN, 4.0]),
            "both": field(["x"], [1.0, NAN, NAN, 4.0]),
            "zeros": field(["x"], [NAN, -0.0, 1.0, 2.0]),
            "stored_nan": field(["x"], stored_nan),
            "wide_attribute": field(["x"], quarter),
            "counted": field(["y", "y"], np.where(counted == -1, NAN, counted.astype("f8"))),
        },
        notes="Missing values are compared bit by bit in the type of the variable: 0.0 does not mask -0.0.",
    )


def not_masked(corpus):
    default = np.array([9.969209968386869e36, 1.0, -5.0, 100.0], dtype="f4")
    integers = np.array([-2147483647, 0, 1, 2], dtype="i4")

    def build(nc):
        dimensions(nc, x=4)
        put(nc, "default_fill", "f4", "x", default)
        put(nc, "default_fill_int", "i4", "x", integers)
        put(nc, "valid_range", "f4", "x", default, {"valid_range": np.array([0.0, 10.0], dtype="f4")})
        put(nc, "valid_bounds", "i4", "x", integers, {"valid_min": np.int32(0), "valid_max": np.int32(1)})
        put(nc, "text_fill", "i4", "x", integers, {"missing_value": "none"})

    corpus.case(
        "not-masked",
        data=netcdf(build, "NETCDF3_CLASSIC"),
        variables={
            "default_fill": field(["x"], default.astype("f8")),
            "default_fill_int": field(["x"], integers),
            "valid_range": field(["x"], default.astype("f8")),
            "valid_bounds": field(["x"], integers),
            "text_fill": field(["x"], integers),
        },
        notes="netCDF's own fill values mask nothing unless a variable declares them, nor does a valid range.",
    )


def masked_integers(corpus):
    big = 2**53
    wide = np.array([-9, 1, big, -big], dtype="i8")

    def build(nc):
        dimensions(nc, x=4)
        put(nc, "wide", "i8", "x", wide, fill_value=np.int64(-9))
        put(nc, "byte", "u1", "x", np.array([255, 0, 1, 254], dtype="u1"), {"missing_value": np.uint8(255)})
        put(nc, "wide_unmasked", "i8", "x", np.array([big + 1, -(2**63), 2**63 - 1, 0], dtype="i8"))

    corpus.case(
        "masked-integers",
        data=netcdf(build),
        variables={
            "wide": field(["x"], [NAN, 1.0, float(big), -float(big)]),
            "byte": field(["x"], [NAN, 0.0, 1.0, 254.0]),
            "wide_unmasked": field(["x"], np.array([big + 1, -(2**63), 2**63 - 1, 0], dtype="i8")),
        },
        notes="Integers that declare a missing value become doubles, which hold up to 2^53 exactly.",
    )


def unsigned(corpus):
    byte = np.array([0, 127, -128, -1], dtype="i1")
    short = np.array([0, 32767, -32768, -1], dtype="i2")
    word = np.array([0, 2**31 - 1, -(2**31), -1], dtype="i4")

    def build(nc):
        dimensions(nc, x=4)
        put(nc, "byte", "i1", "x", byte, {"_Unsigned": "true"})
        put(nc, "short", "i2", "x", short, {"_Unsigned": "true"})
        put(nc, "word", "i4", "x", word, {"_Unsigned": "true"})
        put(nc, "filled", "i1", "x", byte, {"_Unsigned": "true"}, fill_value=np.int8(-1))
        put(nc, "packed", "i2", "x", short, {"_Unsigned": "true", "scale_factor": 0.5}, fill_value=np.int16(-1))
        put(nc, "not_meant", "i1", "x", byte, {"_Unsigned": "false"})

    def meant(values):
        return values.view(values.dtype.str.replace("i", "u"))

    corpus.case(
        "unsigned",
        data=netcdf(build, "NETCDF3_CLASSIC"),
        variables={
            "byte": field(["x"], meant(byte).astype("i4")),
            "short": field(["x"], meant(short).astype("i4")),
            "word": field(["x"], meant(word).astype("i8")),
            "filled": field(["x"], [0.0, 127.0, 128.0, NAN]),
            "packed": field(["x"], unpack(meant(short), 0.5, 0, 65535)),
            "not_meant": field(["x"], byte.astype("i4")),
        },
        notes="_Unsigned says how the bits are meant; the fill value has the same bits.",
    )


def integers(corpus):
    stored = {}
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        limits = np.iinfo(kind)
        # Beyond the largest int64 there is no value here.
        top = min(limits.max, 2**63 - 1)
        stored[kind] = np.array([limits.min, 0, 1, top - 1, top], dtype=kind)

    def build(nc):
        dimensions(nc, x=5)
        for kind, values in stored.items():
            put(nc, kind, kind, "x", values)

    widened = {"i1": "i4", "u1": "i4", "i2": "i4", "u2": "i4", "i4": "i4", "u4": "i8", "i8": "i8", "u8": "i8"}
    expected = {kind: field(["x"], stored[kind].astype(widened[kind])) for kind in stored}
    for id, format in (("integers-netcdf4", "NETCDF4"), ("integers-cdf5", "NETCDF3_64BIT_DATA")):
        corpus.case(id, data=netcdf(build, format), variables=expected, notes="Every integer type, up to its limits.")
