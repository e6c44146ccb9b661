"""Makes blosc.bin: frames of c-blosc, each with its name. Written with blosc 1.11.4 (c-blosc 1.21.7) and, for the Snappy
frames, hdf5plugin 7.1.0:  python make_blosc.py

A record is: u8 length of the name, name, u32 (little-endian) length of the frame, frame. A name is
`compressor-level-shuffle-width-length-pattern`; the tests rebuild the plain bytes from the last three.
"""
import os
import struct
import tempfile

import blosc
import h5py
import hdf5plugin
import numpy as np


def slow(width, length):
    """Squares over 64 as little-endian elements; what is left of the last one is cut off."""
    count = length // width + 1
    elements = b"".join((i * i // 64 & (1 << 8 * width) - 1).to_bytes(width, "little") for i in range(count))
    return elements[:length]


def far(_, length):
    """Noise that repeats after 9000 bytes: copies from further back than 13 bits count."""
    state, noise = 1, bytearray()
    for _ in range(9000):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        noise.append(state >> 16 & 0xFF)
    return (bytes(noise) * (length // 9000 + 1))[:length]


def runs(_, length):
    """Runs of 700 equal bytes."""
    return bytes(i // 700 for i in range(length))


def snappy(shuffle, plain):
    with tempfile.TemporaryDirectory() as folder, h5py.File(os.path.join(folder, "x.h5"), "w") as file:
        values = np.frombuffer(plain, "<i4")
        data = file.create_dataset("x", data=values, chunks=values.shape, **hdf5plugin.Blosc("snappy", 5, shuffle))
        return data.id.read_direct_chunk((0,))[1]


def main():
    frames = {}

    def add(codec, level, shuffle, width, length, pattern, block=0):
        blosc.set_blocksize(block)
        plain = pattern(width, length)
        frame = blosc.compress(plain, width, level, shuffle, codec)
        assert blosc.decompress(frame) == plain
        frames["%s-%d-%d-%d-%d-%s" % (codec, level, shuffle, width, length, pattern.__name__)] = frame

    for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for shuffle in (0, 1, 2):
            add(codec, 5, shuffle, 1, 3000, slow, 1024)
            add(codec, 5, shuffle, 2, 3003, slow, 1024)
            add(codec, 5, shuffle, 3, 2999, slow, 999)
            add(codec, 5, shuffle, 17, 3000, slow, 1024)
        add(codec, 5, 1, 4, 6002, slow, 2048)
        add(codec, 5, 2, 8, 5000, slow, 0)
        add(codec, 5, 2, 8, 104, slow, 0)
        add(codec, 5, 2, 4, 1004, slow, 0)
        add(codec, 9, 1, 4, 70001, runs, 32768)
    for codec in ("blosclz", "lz4", "zstd"):
        add(codec, 9, 0, 1, 18500, far, 18500)
    add("blosclz", 0, 1, 8, 400, slow)
    add("lz4", 5, 1, 4, 0, slow)
    frames["snappy-5-1-4-4000-slow"] = snappy(1, slow(4, 4000))
    frames["snappy-5-2-4-4000-slow"] = snappy(2, slow(4, 4000))
    assert all(len(frame) >= 16 for frame in frames.values())
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "blosc.bin"), "wb") as out:
        for name, frame in frames.items():
            out.write(struct.pack("<B", len(name)) + name.encode() + struct.pack("<I", len(frame)) + frame)


main()
