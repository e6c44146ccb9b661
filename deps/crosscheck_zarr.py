"""Compares what this library reads of Zarr stores with what zarr-python reads: values, dimensions and attributes, bit by bit.

Usage: crosscheck_zarr.py DUMP FOLDER: DUMP is the program that dumps what we decode, FOLDER one for the stores, which are made
here at random but the same in every run. Prints each difference; the last line counts; exits 1 if there is a difference.
"""

import json
import pathlib
import random
import subprocess
import sys

import numpy as np
import zarr
from numcodecs import Blosc, GZip, Zlib, Zstd
from zarr import codecs

ARRAYS = 60
KINDS = ["b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
WIDENED = {"b1": "b1", **{k: "i4" for k in ("i1", "u1", "i2", "u2", "i4")}, **{k: "i8" for k in ("u4", "i8", "u8")}}
DTYPES = {"float64": "f8", "int64": "i8", "int32": "i4", "bool": "b1"}


def random_values(draw, kind, shape):
    """Values of every kind up to the limits, a repeated one among them, so that some chunks hold nothing else."""
    size = int(np.prod(shape, dtype=int))
    if kind == "b1":
        values = [draw.random() < 0.5 for _ in range(size)]
    elif kind[0] == "f":
        special = [0.0, -0.0, np.nan, np.inf, 1e-40]
        values = [draw.choice(special) if draw.random() < 0.2 else draw.gauss(0, 1e3) for _ in range(size)]
    else:
        limits = np.iinfo(kind)
        # Beyond the largest int64 there is no value here.
        values = [draw.randint(limits.min, min(limits.max, 2**63 - 1)) for _ in range(size)]
    values = np.array(values, dtype=kind).reshape(shape)
    if shape and draw.random() < 0.5:
        values[: draw.randint(0, shape[0])] = 1
    return values


def codec_options(draw, version, kind, rank):
    shuffle = draw.choice([Blosc.NOSHUFFLE, Blosc.SHUFFLE, Blosc.BITSHUFFLE])
    name = draw.choice(["lz4", "lz4hc", "blosclz", "zlib", "zstd"])
    level = draw.randint(1, 9)
    if version == 2:
        options = {"order": draw.choice("CF"), "chunk_key_encoding": {"name": "v2", "separator": draw.choice("./")}}
        compressor = draw.choice([None, Zlib(level), GZip(level), Zstd(level), Blosc(name, level, shuffle)])
        return {**options, "compressors": compressor}
    endian = draw.choice(["little", "big"])
    options = {"serializer": codecs.BytesCodec(endian=endian if kind not in ("b1", "i1", "u1") else None)}
    if rank > 1 and draw.random() < 0.5:
        options["filters"] = codecs.TransposeCodec(order=tuple(draw.sample(range(rank), rank)))
    shuffle = draw.choice(["noshuffle", "shuffle", "bitshuffle"])
    blosc = codecs.BloscCodec(cname=name, clevel=level, shuffle=shuffle, typesize=np.dtype(kind).itemsize)
    zstd = codecs.ZstdCodec(level=level, checksum=draw.random() < 0.5)
    chains = [None, codecs.GzipCodec(level=level), zstd, blosc, codecs.Crc32cCodec(), (zstd, codecs.Crc32cCodec())]
    return {**options, "compressors": draw.choice(chains)}


def make_array(draw, store, name, version):
    kind, rank = draw.choice(KINDS), draw.randint(0, 4)
    shape = tuple(draw.randint(1, 9) for _ in range(rank))
    chunks = tuple(draw.randint(1, extent) for extent in shape)
    options = codec_options(draw, version, kind, rank)
    dims = [f"d{axis}" for axis in range(rank)]
    attributes = {"units": "K", "scale_factor": 0.5, "levels": [1, 2, 3]}
    if version == 3:
        options["dimension_names"] = dims
        if rank > 0 and draw.random() < 0.4:
            options["shards"] = tuple(c * draw.randint(1, 3) for c in chunks)
    else:
        attributes["_ARRAY_DIMENSIONS"] = dims
    array = zarr.create_array(
        store=str(store),
        name=name,
        shape=shape,
        chunks=chunks,
        dtype=kind,
        zarr_format=version,
        fill_value=draw.choice([0, 1]),
        attributes=attributes,
        **options,
    )
    array[...] = random_values(draw, kind, shape)


def differences(store, name, field, elements):
    array = zarr.open_array(str(store), path=name, mode="r")
    values = np.asarray(array[...])
    kind = values.dtype.str.lstrip("<>=|")
    wanted = values.astype(WIDENED.get(kind, "f8"))
    dtype = np.dtype("<" + DTYPES.get(field["dtype"], "V1"))
    found = np.frombuffer(elements, dtype, int(np.prod(field["shape"], dtype=int)), field["offset"])
    dims = array.metadata.dimension_names or () if array.metadata.zarr_format == 3 else array.attrs["_ARRAY_DIMENSIONS"]
    about = f"{array.metadata}"
    if (list(wanted.shape), list(dims)) != (field["shape"], field["dims"]):
        yield f"{field['dims']} {field['shape']}, not {dims} {wanted.shape}: {about}"
    elif (dtype, found.tobytes()) != (wanted.dtype, np.asarray(wanted, order="C").tobytes()):
        yield f"{found}, not {wanted.ravel()}: {about}"
    units = field["attributes"].get("units")
    if units is None or units["value"] not in ("K", ["K"]):
        yield f"the attribute units is {units}"


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    draw = random.Random(20311)
    names = [f"a{i}" for i in range(ARRAYS)]
    stores = {version: folder / f"v{version}.zarr" for version in (2, 3)}
    for version, store in stores.items():
        for name in names:
            make_array(draw, store, name, version)
    arguments = {version: f"{store}={','.join(names)}" for version, store in stores.items()}
    subprocess.run([program, str(folder), *arguments.values()], check=True)
    dump = json.loads((folder / "dump.json").read_bytes())
    elements = np.memmap(folder / "dump.bin", dtype="u1", mode="r")
    passed, failed = 0, 0
    for version, store in stores.items():
        case = dump["cases"][arguments[version]]
        fields = case.get("variables", {})
        for name in names:
            faults = list(differences(store, name, fields[name], elements)) if name in fields else [case.get("reason")]
            passed, failed = passed + (not faults), failed + bool(faults)
            for fault in faults:
                print(f"version {version}, {name}: {str(fault)[:1000]}")
    print(f"CROSSCHECK: {passed} passed, {failed} failed")
    return failed > 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
