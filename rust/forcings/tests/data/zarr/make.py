"""Writes python.tar.gz: stores made by zarr-python, one array for each way of storing that is read here.

Needs zarr 3.1.5 and numcodecs 0.16.6; the same versions write the same bytes. What the arrays hold is said by `values`,
which ../../zarr/python.rs repeats.

    python make.py
"""

import gzip
import io
import json
import pathlib
import tarfile
import tempfile
import time

import numcodecs
import numpy as np
import zarr
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)

# Gzip streams hold the time at which they are made.
time.time = lambda: 0.0

SHAPE, CHUNKS = (7, 6, 5), (3, 4, 2)
FLOATS = [np.nan, -0.0, np.inf, -np.inf]


def values(dtype, shape):
    """Element i, counted in C order, is 37 i mod 251 - 125; floats are an eighth of that, with special ones first."""
    n = int(np.prod(shape))
    base = np.arange(n) * 37 % 251 - 125
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        out = base % 3 == 0
    elif dtype.kind in "iu":
        # Up to the ends of the type.
        top = np.iinfo(dtype).max
        out = np.array([(int(b) * (top // 125)) % (2 ** (8 * dtype.itemsize)) for b in base], dtype=f"u{dtype.itemsize}")
        out = out.view(dtype.newbyteorder("=")).astype(dtype)
        # Within int64.
        if dtype.kind == "u" and dtype.itemsize == 8:
            out = (out >> np.uint64(1)).astype(dtype)
    else:
        out = (base / 8).astype(dtype)
        out[: len(FLOATS)] = FLOATS[: n]
    return out.reshape(shape)


def v2(name, dtype="<f8", shape=SHAPE, chunks=CHUNKS, order="C", compressor=None, separator=".", fill=0, dims=None, **more):
    array = zarr.create_array(
        STORE, name=name, shape=shape, chunks=chunks, dtype=dtype, order=order, compressors=compressor, fill_value=fill,
        chunk_key_encoding={"name": "v2", "separator": separator}, zarr_format=2, **more,
    )
    fill_in(array, name, dtype, shape, dims)


def v3(name, dtype="float64", shape=SHAPE, chunks=CHUNKS, codecs=None, fill=0, names=None, keys=None, **more):
    array = zarr.Array.create(
        STORE / name, shape=shape, chunk_shape=chunks, dtype=dtype, codecs=codecs, fill_value=fill, dimension_names=names,
        zarr_format=3, **({"chunk_key_encoding": keys} if keys else {}), **more,
    )
    fill_in(array, name, dtype, shape, names)


def fill_in(array, name, dtype, shape, dims):
    data = values(dtype, shape)
    # The last rows are never written.
    rows = shape[0] - 3 if name.startswith("absent") else shape[0] if shape else None
    if shape:
        array[:rows] = data[:rows]
    else:
        array[...] = data
    CASES.append({"name": name, "dtype": np.dtype(dtype).newbyteorder("<").str[1:], "shape": shape, "rows": rows,
                  "dims": dims})


def sharded(chunks, codecs=None, index=None, **more):
    return [ShardingCodec(chunk_shape=chunks, codecs=codecs or [BytesCodec()],
                          index_codecs=index or [BytesCodec(), Crc32cCodec()], **more)]


CASES = []
with tempfile.TemporaryDirectory() as folder:
    STORE = pathlib.Path(folder) / "store"
    for dtype in ["|b1", "|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "|u1", "<u2", ">u2", "<u4", ">u4", "<u8",
                  ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]:
        v2("v2_" + dtype.replace("<", "le_").replace(">", "be_").replace("|", ""), dtype)
    for dtype in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
                  "float64"]:
        v3("v3_" + dtype, dtype)
        v3("v3_be_" + dtype, dtype, codecs=[BytesCodec(endian="big")])
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle in [numcodecs.Blosc.NOSHUFFLE, numcodecs.Blosc.SHUFFLE, numcodecs.Blosc.BITSHUFFLE]:
            codec = numcodecs.Blosc(cname=cname, shuffle=shuffle, clevel=9)
            v2(f"v2_blosc_{cname}_{shuffle}", "<f4", (40, 30), (40, 30), compressor=codec)
    v2("v2_zlib", compressor=numcodecs.Zlib())
    v2("v2_gzip", compressor=numcodecs.GZip())
    v2("v2_zstd", compressor=numcodecs.Zstd())
    v2("v2_lz4", compressor=numcodecs.LZ4())
    v2("v2_order_f", order="F", compressor=numcodecs.Zlib())
    v2("v2_slash", separator="/")
    v2("v2_scalar", "<i4", (), ())
    v2("v2_vector", "<f8", (11,), (4,))
    v2("v2_empty", "<f4", (0, 3), (2, 2))
    v2("v2_names", dims=["time", "lat", "lon"], attributes={"_ARRAY_DIMENSIONS": ["time", "lat", "lon"]})
    v2("absent_v2_nan", "<f4", fill=np.nan)
    v2("absent_v2_minus", "<i2", fill=-7)
    v2("absent_v2_null", "<f8", fill=None)
    v3("v3_blosc", codecs=[BytesCodec(), BloscCodec(cname="zstd", shuffle="bitshuffle")])
    v3("v3_gzip", codecs=[BytesCodec(), GzipCodec()])
    v3("v3_zstd", codecs=[BytesCodec(), ZstdCodec(checksum=True)])
    v3("v3_crc32c", codecs=[BytesCodec(), Crc32cCodec()])
    v3("v3_crc32c_both", codecs=[BytesCodec(), Crc32cCodec(), ZstdCodec(), Crc32cCodec()])
    v3("v3_transpose", codecs=[TransposeCodec(order=(2, 0, 1)), BytesCodec(), ZstdCodec()])
    v3("v3_transpose_twice", codecs=[TransposeCodec(order=(2, 0, 1)), TransposeCodec(order=(0, 2, 1)), BytesCodec()])
    v3("v3_keys_dot", keys=("default", "."))
    v3("v3_keys_v2", keys=("v2", "/"))
    v3("v3_scalar", "float32", (), ())
    v3("v3_half_gzip", "float16", codecs=[BytesCodec(endian="big"), GzipCodec(), Crc32cCodec()])
    v3("v3_names", names=["level", "y", "x"])
    v3("v3_shards", chunks=(6, 4, 4), codecs=sharded((3, 2, 4)))
    v3("v3_shards_start", chunks=(6, 4, 4), codecs=sharded((2, 4, 2), [BytesCodec(), ZstdCodec()], index_location="start"))
    v3("v3_shards_big_index", chunks=(6, 4, 4), codecs=sharded((2, 4, 2), index=[BytesCodec(endian="big")]))
    v3("v3_shards_transposed", chunks=(6, 4, 2),
       codecs=sharded((3, 2, 2), [TransposeCodec(order=(1, 2, 0)), BytesCodec(endian="big"), GzipCodec(), Crc32cCodec()]))
    v3("absent_v3_nan", fill=np.nan)
    v3("absent_v3_shards", "int32", chunks=(4, 4, 4), codecs=sharded((2, 2, 2)), fill=-3)
    v3("absent_v3_half", "float16", fill=0.1)
    (STORE / "cases.json").write_text(json.dumps(CASES, indent=1))

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(p for p in STORE.rglob("*") if p.is_file()):
            info = tarfile.TarInfo(path.relative_to(STORE).as_posix())
            data = path.read_bytes()
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    target = pathlib.Path(__file__).with_name("python.tar.gz")
    target.write_bytes(gzip.compress(packed.getvalue(), compresslevel=9, mtime=0))
