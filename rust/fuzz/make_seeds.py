"""Makes the seeds of the targets that are not whole files, from the test data of rust/forcings. Needs h5py:
python make_seeds.py

The seeds of `classic` and `hdf5` are written by the test `header_mutants` of rust/forcings, to the folder that
FORCINGS_KEEP_MUTANT_FILES names. Files called `found-...` once ended a run.
"""
import math
import pathlib
import random
import struct
import zlib

import h5py

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "forcings" / "tests" / "data" / "filters"


def seed(target, name, content):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def blosc():
    data, at = (DATA / "blosc.bin").read_bytes(), 0
    while at < len(data):
        name = data[at + 1 : at + 1 + data[at]].decode()
        at += 1 + data[at]
        (size,) = struct.unpack_from("<I", data, at)
        frame, at = data[at + 4 : at + 4 + size], at + 4 + size
        length = int(name.split("-")[4])
        if size < 1200 and length < 65536:
            seed("blosc", name, struct.pack("<H", length) + frame)


def inflate():
    """Two bare streams behind the room for each and the length of the first: stored, fixed and dynamic blocks."""
    numbers = random.Random(7)
    waves = [round(300 * math.sin(k / 90) + numbers.gauss(0, 1), 2) for k in range(450)]
    planes = struct.pack("<450f", *waves)
    kinds = {
        "zeros": bytes(3000),
        "planes": b"".join(planes[k::4] for k in range(4)),
        "letters": bytes(numbers.choice(b"aaaaabbbcd ") for _ in range(1500)),
        "noise": numbers.randbytes(700),
        "periods": (b"abc" * 400 + b"0123456789" * 60)[:1700],
    }

    def stream(plain, level, strategy):
        maker = zlib.compressobj(level, zlib.DEFLATED, -15, 8, strategy)
        half = len(plain) // 2
        return maker.compress(plain[:half]) + maker.flush(zlib.Z_FULL_FLUSH) + maker.compress(plain[half:]) + maker.flush()

    ways = [(1, zlib.Z_DEFAULT_STRATEGY), (6, zlib.Z_DEFAULT_STRATEGY), (9, zlib.Z_FIXED), (6, zlib.Z_HUFFMAN_ONLY)]
    for name, plain in kinds.items():
        for level, strategy in ways:
            first = stream(plain, level, strategy)
            second = stream(plain[::-1], 10 - level, zlib.Z_DEFAULT_STRATEGY)
            content = struct.pack("<HH", len(plain), len(first)) + first + second
            if len(content) < 4000:
                seed("inflate", f"{name}-{level}-{strategy}", content)


def chunks(file, prefix):
    for name, dataset in file.items():
        if name.startswith(prefix) and not name.endswith("_plain"):
            mask, raw = dataset.id.read_direct_chunk((0,) * dataset.ndim)
            if mask == 0 and len(dataset._filters) == 1:
                length = dataset.dtype.itemsize
                for extent in dataset.chunks:
                    length *= extent
                yield name, dataset, struct.pack("<H", length) + raw


def main():
    blosc()
    inflate()
    with h5py.File(DATA / "filters.h5", "r") as file:
        for name, _, content in chunks(file, "lz4"):
            seed("lz4", name, content)
        for name, dataset, content in chunks(file, "szip"):
            options, block, bits, line = dataset.id.get_create_plist().get_filter(0)[2]
            seed("szip", name, struct.pack("<BBBH", options & 255, block, bits, line) + content)
        for name, dataset, content in chunks(file, "scaleoffset"):
            client = dataset.id.get_create_plist().get_filter(0)[2][:9]
            if all(number < 256 for number in client):
                seed("scale_offset", name, bytes(client) + content)
    for name, text in {
        "all": "{}",
        "named": '{"dims": {"lat": {"slice": [120, 218]}, "lon": {"indices": [7, 0, 1]}, "lev": "all"}}',
        "step": '{"dims": {"time": {"slice": [0, 9, 3]}}}',
        "positional": '{"axes": ["all", {"slice": [2, 5]}, {"indices": []}]}',
        "records": '{"dims": {"x": "all"}, "all_records": true}',
    }.items():
        seed("selection", name, text.encode())
    manifest = """{
  "auth_realm": null,
  "bytes": 3,
  "etag": "\\"abc\\"",
  "fetched_at": "2024-01-01T00:00:00Z",
  "last_modified": "Mon, 01 Jan 2024 00:00:00 GMT",
  "schema": "earthsciio/manifest/v1",
  "sha256_content": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  "source_loader": "winds",
  "url": "https://example.com/a.nc"
}
"""
    seed("manifest", "whole", manifest.encode())
    for name, text in {
        "plain": "days since 1850-01-01",
        "zone": "hours since 2000-01-01 00:00:00 +01:00\nstandard",
        "fraction": "microseconds since 1970-01-01T12:30:15.25Z\nproleptic_gregorian",
        "noleap": "minutes since 0001-01-01\nnoleap",
        "360": "seconds since 2000-02-30 06:00\n360_day",
        "julian": "d since -4712-01-01 12\njulian",
        "all_leap": "hours since 1900-02-29\nall_leap",
    }.items():
        seed("cf_time", name, text.encode())


main()
