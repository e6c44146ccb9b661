"""Cases about text: characters, string lengths, NetCDF-4 strings."""

import numpy as np

from corpus import field, netcdf, put
from masking import dimensions

LABELS = ["ab", "cd  ", "", "wxyz"]


def characters(texts, width):
    """An array of single bytes, each text padded with NULs to `width`."""
    rows = [t.encode().ljust(width, b"\0") for t in texts]
    return np.frombuffer(b"".join(rows), dtype="S1").reshape(len(texts), width)


def strings(values):
    return np.array(values, dtype=object)


def add_to(corpus):
    stations(corpus)
    single_characters(corpus)
    netcdf4_strings(corpus)
    utf8(corpus)


def stations(corpus):
    value = np.array([1.5, 2.5, 3.5, 4.5])

    def build(nc):
        dimensions(nc, station=4, strlen=4, name_len=7)
        put(nc, "label", "S1", ("station", "strlen"), characters(LABELS, 4), {"add_offset": 5.0})
        put(nc, "network", "S1", "name_len", characters(["demo"], 7)[0], {"long_name": "a scalar"})
        put(nc, "value", "f8", "station", value)
        put(nc, "height", "i2", ("station", "station"), np.arange(16, dtype="i2").reshape(4, 4))

    height = np.arange(16, dtype="i4").reshape(4, 4)
    expected = {
        "label": field(["station"], strings(LABELS)),
        "network": field([], np.array("demo", dtype=object)),
        "value": field(["station"], value),
        "height": field(["station", "station"], height),
    }
    corpus.case(
        "station-labels-text",
        data=netcdf(build, "NETCDF3_CLASSIC"),
        variables=expected,
        notes="strlen and name_len are lengths of strings: no field has them. Trailing NULs are padding, blanks are data.",
    )
    picked = [3, 0, 0]
    corpus.case(
        "station-labels-window",
        name="station-labels-text",
        select={"dims": {"station": {"indices": picked}}},
        variables={
            "label": field(["station"], strings(LABELS)[picked]),
            "network": expected["network"],
            "value": field(["station"], value[picked]),
            "height": field(["station", "station"], height[np.ix_(picked, picked)]),
        },
        notes="Text obeys a window like numbers do; a scalar stays whole.",
    )
    corpus.case(
        "station-labels-axis",
        name="station-labels-text",
        project=["label", "network", "value"],
        select={"axes": [{"slice": [1, 4, 2]}]},
        variables={
            "label": field(["station"], strings(LABELS)[1:4:2]),
            "network": expected["network"],
            "value": field(["station"], value[1:4:2]),
        },
        notes="One selector by position meets the fields of rank 1; the string length does not count.",
    )


def single_characters(corpus):
    flags = np.array([b"a", b"\0", b" ", b"z"], dtype="S1")

    def build(nc):
        dimensions(nc, n=4, m=2, strlen=4)
        put(nc, "flag", "S1", "n", flags)
        put(nc, "value", "f8", "n", np.arange(4.0))
        # A variable of its name makes strlen an axis like any other.
        put(nc, "strlen", "i4", "strlen", np.arange(4, dtype="i4"))
        put(nc, "grid", "S1", ("m", "strlen"), characters(["pq\0r", "s"], 4))

    corpus.case(
        "text-cells",
        data=netcdf(build, "NETCDF3_64BIT_OFFSET"),
        variables={
            "flag": field(["n"], strings(["a", "", " ", "z"])),
            "value": field(["n"], np.arange(4.0)),
            "grid": field(["m", "strlen"], strings([["p", "q", "", "r"], ["s", "", "", ""]])),
        },
        coords={"strlen": field(["strlen"], np.arange(4, dtype="i4"))},
        notes="Where a dimension is no string length, every cell is a string of one character, empty for a NUL.",
    )


def netcdf4_strings(corpus):
    names = strings([["Ålesund", ""], ["Oslo  ", "Bergen"]])

    def build(nc):
        dimensions(nc, y=2, x=2, none=None)
        put(nc, "name", str, ("y", "x"), names)
        put(nc, "title", str, (), np.array("one", dtype=object))
        put(nc, "nothing", str, "none")
        put(nc, "x", str, "x", strings(["west", "east"]))

    expected = {
        "name": field(["y", "x"], names),
        "title": field([], np.array("one", dtype=object)),
        "nothing": field(["none"], np.array([], dtype=object)),
    }
    x = strings(["west", "east"])
    corpus.case("text-strings", data=netcdf(build), variables=expected, coords={"x": field(["x"], x)})
    corpus.case(
        "text-strings-window",
        name="text-strings",
        select={"dims": {"x": {"indices": [1, 1, 0]}, "y": {"slice": [1, 2]}}},
        variables={**expected, "name": field(["y", "x"], names[1:2][:, [1, 1, 0]])},
        coords={"x": field(["x"], x[[1, 1, 0]])},
    )


def utf8(corpus):
    texts = ["ü", "grün", "日本"]

    def build(nc):
        dimensions(nc, n=3, width=6)
        put(nc, "label", "S1", ("n", "width"), characters(texts, 6), zlib=True, chunksizes=(2, 6))

    corpus.case(
        "text-utf8",
        data=netcdf(build),
        variables={"label": field(["n"], strings(texts))},
        notes="Bytes of UTF-8 in an array of characters, in compressed chunks that cut it.",
    )
