"""Cases about Zarr stores, versions 2 and 3, written by zarr-python: orders, codecs, absent chunks, windows."""

import pathlib
import tempfile

import numpy as np
import zarr
from numcodecs import GZip, Zlib, Zstd, Blosc
from zarr import codecs

from corpus import field
from windows import narrow

NAN = np.nan
POISON = b"this is no chunk\n" * 3


class Store:
    """A store in a temporary folder, which becomes object name -> bytes."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def array(self, name, values, version, chunks, fill_value=None, attributes=None, **options):
        array = zarr.create_array(
            store=str(self.path),
            name=name,
            shape=values.shape,
            dtype=values.dtype,
            chunks=chunks,
            zarr_format=version,
            fill_value=fill_value,
            attributes=attributes or {},
            **options,
        )
        array[...] = values
        return self

    def objects(self):
        """The arrays' own objects: nothing here reads those of groups, nor lists a store."""
        found = {}
        for path in sorted(self.path.rglob("*")):
            name = path.relative_to(self.path).as_posix()
            if path.is_file() and "/" in name:
                found[name] = path.read_bytes()
        self.folder.cleanup()
        return found


def named(*dims):
    return {"_ARRAY_DIMENSIONS": list(dims)}


def add_to(corpus):
    tile(corpus)
    version_2(corpus)
    version_3(corpus)
    shards(corpus)
    numbers(corpus)
    absent(corpus)
    window(corpus)


def tile(corpus):
    """Arrays of several ranks; chunks that do not divide the extents."""
    c, s, r = np.indices((2, 5, 7))
    q = (1000 * c + 10 * s + r).astype("f4") / 4
    p = np.arange(5, dtype="f8") ** 2
    store = Store().array("q", q, 2, (1, 2, 3), 0.0, named("layer", "source", "receptor"), compressors=Zstd(level=3))
    objects = store.array("p", p, 2, (2,), 0.0, compressors=None).objects()
    variables = {
        "q": (["layer", "source", "receptor"], q.astype("f8"), {}),
        "p": (["dim_0"], p, {}),
    }
    corpus.store("isrm-zarr-tile", objects, narrow(variables, {}), ["q", "p"], notes="p has no names of dimensions.")
    picks = {"source": [4, 0], "receptor": [1, 3, 5]}
    corpus.store(
        "isrm-zarr-tile-window",
        objects,
        narrow(variables, picks),
        ["q", "p"],
        name="isrm-zarr-tile",
        select={"dims": {"source": {"indices": [4, 0]}, "receptor": {"slice": [1, 7, 2]}}},
    )
    corpus.store(
        "isrm-zarr-tile-axes",
        objects,
        narrow({"p": variables["p"]}, {})
        | narrow({"q": variables["q"]}, {"layer": [1], "source": [2, 3], "receptor": []}),
        ["p", "q"],
        name="isrm-zarr-tile",
        select={"axes": [{"indices": [1]}, {"slice": [2, 4]}, {"slice": [3, 3]}]},
        notes="An array of another rank is read whole; an axis that selects nothing needs no chunk.",
    )


def version_2(corpus):
    j, i = np.indices((5, 6))
    a = np.sin(10.0 * j + i)
    kinds = {
        "plain": dict(compressors=None),
        "zlib": dict(compressors=Zlib(level=6)),
        "gzip": dict(compressors=GZip(level=6)),
        "zstd": dict(compressors=Zstd(level=3, checksum=True)),
        "lz4": dict(compressors=Blosc("lz4", 5, Blosc.SHUFFLE)),
        "lz4hc": dict(compressors=Blosc("lz4hc", 9, Blosc.NOSHUFFLE)),
        "blosclz": dict(compressors=Blosc("blosclz", 9, Blosc.SHUFFLE)),
        "blosc_zlib": dict(compressors=Blosc("zlib", 1, Blosc.SHUFFLE)),
        "blosc_zstd": dict(compressors=Blosc("zstd", 3, Blosc.BITSHUFFLE)),
        "fortran": dict(compressors=Zstd(level=1), order="F"),
        "nested": dict(compressors=None, chunk_key_encoding={"name": "v2", "separator": "/"}),
    }
    store = Store()
    for name, options in kinds.items():
        store.array(name, a, 2, (3, 4), NAN, named("y", "x"), **options)
    store.array("big", a.astype(">f4"), 2, (3, 3), 0.0, named("y", "x"), compressors=Zlib())
    objects = store.objects()
    # Both spellings of the usual separator.
    objects["plain/.zarray"] = objects["plain/.zarray"].replace(
        b'"dimension_separator": "."', b'"dimension_separator": null'
    )
    assert b"null" in objects["plain/.zarray"]
    variables = {name: field(["y", "x"], a) for name in kinds}
    variables["big"] = field(["y", "x"], a.astype("f4").astype("f8"))
    corpus.store("zarr-v2-codecs", objects, variables, list(variables))


def version_3(corpus):
    j, i = np.indices((5, 6))
    a = np.cos(10.0 * j + i)
    big = codecs.BytesCodec(endian="big")
    kinds = {
        "plain": dict(compressors=None),
        "big": dict(compressors=None, serializer=big),
        "gzip": dict(compressors=codecs.GzipCodec(level=6)),
        "zstd": dict(compressors=codecs.ZstdCodec(level=3, checksum=True)),
        "blosc": dict(compressors=codecs.BloscCodec(cname="lz4", shuffle="shuffle", typesize=8)),
        "blosc_zstd": dict(compressors=codecs.BloscCodec(cname="zstd", shuffle="bitshuffle", typesize=8)),
        "crc32c": dict(compressors=codecs.Crc32cCodec()),
        "transpose": dict(filters=codecs.TransposeCodec(order=(1, 0)), compressors=codecs.ZstdCodec()),
        "chained": dict(
            filters=codecs.TransposeCodec(order=(1, 0)),
            serializer=big,
            compressors=(codecs.GzipCodec(level=1), codecs.Crc32cCodec()),
        ),
        "dotted": dict(compressors=None, chunk_key_encoding={"name": "default", "separator": "."}),
        "v2_keys": dict(compressors=None, chunk_key_encoding={"name": "v2", "separator": "."}),
    }
    store = Store()
    for name, options in kinds.items():
        store.array(name, a, 3, (3, 4), NAN, dimension_names=("y", "x"), **options)
    store.array("scalar", np.float64(2.5).reshape(()), 3, (), 0.0, compressors=None)
    store.array("unnamed", a, 3, (5, 6), 0.0, named("y", "x"), compressors=None)
    variables = {name: field(["y", "x"], a) for name in [*kinds, "unnamed"]}
    variables["scalar"] = field([], 2.5)
    corpus.store("zarr-v3-codecs", store.objects(), variables, list(variables))


def shards(corpus):
    j, i = np.indices((9, 8))
    a = (100.0 * j + i) / 8
    holes = np.where((j >= 4) & (j < 8) & (i < 4), 7.0, a)
    # One inner chunk, and a whole shard, hold the fill value alone and so are absent.
    holes[0:2, 0:2] = -1.0
    holes[8:, :] = -1.0
    options = dict(shards=(4, 4), compressors=codecs.ZstdCodec(level=1), dimension_names=("y", "x"))
    store = Store().array("whole", a, 3, (2, 2), 0.0, **options)
    store.array("holes", holes, 3, (2, 2), -1.0, **options)
    first = {
        "shape": (4, 4),
        "config": codecs.ShardingCodec(
            chunk_shape=(2, 4),
            codecs=[codecs.BytesCodec(endian="big"), codecs.BloscCodec(cname="zlib", shuffle="shuffle", typesize=4)],
            index_codecs=[codecs.BytesCodec()],
            index_location="start",
        ),
    }
    singles = a.astype("f4")
    store.array(
        "first",
        singles,
        3,
        first["shape"],
        0.0,
        serializer=first["config"],
        compressors=None,
        dimension_names=("y", "x"),
    )
    variables = {
        "whole": (["y", "x"], a, {}),
        "holes": (["y", "x"], holes, {}),
        "first": (["y", "x"], singles.astype("f8"), {}),
    }
    objects = store.objects()
    corpus.store(
        "zarr-v3-shards", objects, narrow(variables, {}), list(variables), notes="The index stands last or first."
    )
    picks = {"y": [8, 3, 3], "x": [5, 0]}
    corpus.store(
        "zarr-v3-shards-window",
        objects,
        narrow(variables, picks),
        list(variables),
        name="zarr-v3-shards",
        select={"dims": {"y": {"indices": picks["y"]}, "x": {"indices": picks["x"]}}},
    )


def numbers(corpus):
    """Integers keep their type or widen; doubles keep their bits; no fill value becomes NaN."""
    variables, stores = {}, {2: Store(), 3: Store()}
    widened = {"i1": "i4", "u1": "i4", "i2": "i4", "u2": "i4", "i4": "i4", "u4": "i8", "i8": "i8", "u8": "i8"}
    for kind, wide in widened.items():
        limits = np.iinfo(kind)
        values = np.array([limits.min, 0, 1, min(limits.max, 2**63 - 1)], dtype=kind)
        variables[kind] = field(["n"], values.astype(wide))
        for version, store in stores.items():
            chunks = (3,) if kind == "i4" else (4,)
            store.array(kind, values, version, chunks, 1, **dims_of(version, "n"), compressors=None)
    flags = np.array([True, False, True, True])
    doubles = np.array([-0.0, NAN, 5.0, 1e300])
    variables["flag"] = field(["n"], flags)
    variables["double"] = field(["n"], doubles)
    for version, store in stores.items():
        store.array("flag", flags, version, (2,), False, **dims_of(version, "n"), compressors=None)
        attributes = {"scale_factor": 2.0, "_FillValue": 5.0}
        store.array("double", doubles, version, (4,), 5.0, **dims_of(version, "n", attributes), compressors=None)
        corpus.store(
            f"zarr-v{version}-numbers",
            store.objects(),
            variables,
            list(variables),
            notes="Attributes that pack or mask a NetCDF variable mean nothing here.",
        )


def dims_of(version, *dims):
    attributes = {}
    if isinstance(dims[-1], dict):
        *dims, attributes = dims
    if version == 2:
        return {"attributes": {**attributes, **named(*dims)}}
    return {"attributes": attributes, "dimension_names": tuple(dims)}


def absent(corpus):
    """Chunks that nobody wrote hold the fill value, whatever it is."""
    for version in (2, 3):
        store = Store()
        expected = {}
        for name, fill, kind in (
            ("number", -9.5, "f8"),
            ("nan", NAN, "f4"),
            ("zero", 0.0, "f8"),
            ("count", 7, "i2"),
            ("none", None, "f8"),
        ):
            known = 0.0 if fill is None else fill
            values = np.full((4, 4), known, dtype=kind)
            values[2:, 2:] = [[1, 2], [3, 4]]
            if not (fill is None and version == 3):
                store.array(name, values, version, (2, 2), fill, **dims_of(version, "y", "x"), compressors=None)
                expected[name] = field(["y", "x"], values.astype("i4" if kind == "i2" else "f8"))
        objects = store.objects()
        assert not any(name.endswith(("/0.0", "/c/0/0")) for name in objects if not name.startswith("none/")), list(
            objects
        )
        corpus.store(f"zarr-v{version}-absent", objects, expected, list(expected))


def window(corpus):
    """Only the chunks that the window touches are sound."""
    lev, lat, lon = np.indices((3, 6, 8))
    t3 = (100 * lev + 10 * lat + lon).astype("f4") / 3
    ps2 = (1000.0 * lat[0] + lon[0]) / 7
    lats, lons = [2, 3], [5, 3]
    for version, id in ((2, "named-window-zarr"), (3, "named-window-zarr-v3")):
        store = Store()
        store.array("T3", t3, version, (3, 2, 3), 0.0, **dims_of(version, "lev", "lat", "lon"))
        store.array("PS2", ps2, version, (2, 3), 0.0, **dims_of(version, "lat", "lon"))
        objects = store.objects()
        needed, poisoned = 0, 0
        for name in objects:
            position = name.split("/", 1)[1].removeprefix("c/").replace("/", ".").split(".")
            if not all(part.isdigit() for part in position):
                continue
            at = [int(part) for part in position][-2:]
            if at[0] == 1 and at[1] == 1:
                needed += 1
            else:
                objects[name] = POISON
                poisoned += 1
        assert (needed, poisoned) == (2, 16), (needed, poisoned)
        variables = {
            "T3": (["lev", "lat", "lon"], t3.astype("f8"), {}),
            "PS2": (["lat", "lon"], ps2, {}),
        }
        corpus.store(
            id,
            objects,
            narrow(variables, {"lat": lats, "lon": lons}),
            ["T3", "PS2"],
            select={"dims": {"lev": "all", "lat": {"slice": [2, 4]}, "lon": {"indices": lons}}},
            notes="Every chunk that the window does not touch is garbage.",
        )
