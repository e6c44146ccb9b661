"""Makes bombs.h5: variables of 16 doubles whose only chunk decodes to, or claims, far more than its 128 bytes. Written with
h5py 3.16.0, hdf5plugin 7.1.0 and zstandard 0.25:  python make_bombs.py
"""
import os
import struct
import zlib

import h5py
import hdf5plugin
import zstandard


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bombs.h5")
    zeros = bytes(8 << 20)
    # A block of LZ4: one zero, then a copy of it of 15 + 255 * 32000 + 4 bytes, then five zeros.
    lz4 = b"\x1f\0\1\0" + b"\xff" * 32000 + b"\0" + b"\x50" + bytes(5)
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        for name, options, chunk in (
            ("deflate", {"compression": 9}, zlib.compress(zeros, 9)),
            ("zstd", hdf5plugin.Zstd(), zstandard.compress(zeros)),
            ("lz4", hdf5plugin.LZ4(), struct.pack(">QII", 1 << 40, 1 << 30, len(lz4)) + lz4),
            ("blosc", hdf5plugin.Blosc(), struct.pack("<BBBBIII", 2, 1, 0x20, 1, 1 << 30, 1 << 30, 40) + b"\x14\0\0\0" * 6),
            ("szip", {"compression": "szip"}, struct.pack("<I", 1 << 30) + bytes(64)),
        ):
            dataset = file.create_dataset(name, (16,), "<f8", chunks=(16,), **options)
            dataset.id.write_direct_chunk((0,), chunk)


main()
