"""Makes filters.h5: variables behind every filter that HDF5 files come with. Written with h5py 3.16.0 (HDF5 2.0.0,
libaec) and hdf5plugin 7.1.0:  python make_filters.py

For a variable NAME there is NAME_plain: what the C library reads back, contiguous and without filters. The variables whose
names start with `lacks_` are behind filters that the library under test does not read.
"""
import os

import h5py
import hdf5plugin
import numpy as np

SHAPE, CHUNK = (12, 20), (5, 8)
PATTERN = np.arange(240).reshape(SHAPE) ** 2 % 1009 - 300


def values(kind):
    if np.dtype(kind).kind == "f":
        return (PATTERN * 0.377).astype(kind)
    return (PATTERN % 120 if np.dtype(kind).kind == "u" or np.dtype(kind).itemsize == 1 else PATTERN).astype(kind)


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "filters.h5")
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        names = []

        def add(name, data, chunks=CHUNK, keep=True, **options):
            file.create_dataset(name, data=data, chunks=chunks, **options)
            if keep:
                names.append(name)

        add("deflate_shuffle_fletcher32", values("<i4"), compression=4, shuffle=True, fletcher32=True)
        for kind in ("i1", "u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<i8", "<f4", ">f4", "<f8", ">f8"):
            label = kind.replace("<", "").replace(">", "be_")
            for option, block in (("nn", 8), ("ec", 4)):
                add("szip_%s_%s" % (option, label), values(kind), compression="szip", compression_opts=(option, block))
            if kind[-2] != "f":
                add("scaleoffset_%s" % label, values(kind), scaleoffset=0)
                add("scaleoffset_fill_%s" % label, np.where(PATTERN % 7 == 0, 99, values(kind)).astype(kind),
                    scaleoffset=0, fillvalue=99)
            else:
                for digits in (6, 3, 0):
                    add("scaleoffset_%s_%d" % (label, digits), values(kind), scaleoffset=digits, fillvalue=-7)
        long = np.zeros(3000, "<u2")
        long[700:900] = np.arange(200) * 331 % 65536
        long[1800:2500] = np.arange(700) // 3 % 4
        long[2700:2800] = 7
        for option, block in (("nn", 32), ("ec", 16)):
            add("szip_long_%s" % option, long, chunks=(1500,), compression="szip", compression_opts=(option, block))
            add("szip_long_%s_f4" % option, long.astype("<f4"), chunks=(1500,), compression="szip",
                compression_opts=(option, block))
        add("szip_shuffle", values("<i4"), compression="szip", compression_opts=("nn", 8), shuffle=True)
        add("scaleoffset_bits", values("<i4"), scaleoffset=11)
        add("scaleoffset_all_the_bits", values("<i4"), scaleoffset=32)
        add("scaleoffset_packed", values("<i4"), scaleoffset=0, shuffle=True, compression=1)
        add("scaleoffset_same", np.full(SHAPE, 5, "<i4"), scaleoffset=0)
        add("scaleoffset_only_fill", np.full(SHAPE, 9, "<i4"), scaleoffset=0, fillvalue=9)
        add("scaleoffset_extremes", np.where(PATTERN % 2 == 0, -2**31, 2**31 - 1).astype("<i4"), scaleoffset=0)
        add("zstd", values("<f8"), **hdf5plugin.Zstd(clevel=3))
        add("zstd_shuffle_fletcher32", values("<i4"), shuffle=True, fletcher32=True, **hdf5plugin.Zstd(clevel=9))
        add("lz4", values("<i4"), **hdf5plugin.LZ4())
        add("lz4_blocks", np.arange(2000, dtype="<i4") // 5, chunks=(750,), shuffle=True, **hdf5plugin.LZ4(nbytes=1000))
        for codec in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"):
            add("blosc_%s" % codec, np.arange(2000, dtype="<f8") / 8, chunks=(752,),
                **hdf5plugin.Blosc(cname=codec, clevel=5, shuffle=1 + (codec in ("lz4hc", "zlib"))))

        # Chunks whose filters were skipped, as the mask of each says.
        masked = file.create_dataset("masked", SHAPE, "<i4", chunks=CHUNK, compression=4, shuffle=True, fillvalue=-1)
        masked[...] = values("<i4")
        chunk = values("<i4")[5:10, 8:16]
        masked.id.write_direct_chunk((5, 8), chunk.tobytes(), 0b11)
        planes = np.frombuffer(values("<i4")[0:5, 8:16].tobytes(), "u1").reshape(-1, 4).T.tobytes()
        masked.id.write_direct_chunk((0, 8), planes, 0b10)
        names.append("masked")

        for name, data in (("nbit", values("<i4")), ("nbit_be", values(">f8"))):
            create(file, name, h5py.h5t.py_create(data.dtype), data)
            names.append(name)
        narrow = h5py.h5t.STD_I32LE.copy()
        narrow.set_precision(17)
        create(file, "lacks_nbit", narrow, values("<i4"))
        add("lacks_bzip2", values("<i4"), keep=False, **hdf5plugin.BZip2())
        add("lacks_lzf", values("<i4"), keep=False, compression="lzf")
        add("lacks_blosc2", values("<i4"), keep=False, **hdf5plugin.Blosc2())
        add("lacks_bitshuffle", values("<i4"), keep=False, **hdf5plugin.Bitshuffle())
        add("lacks_zfp", values("<f4"), keep=False, **hdf5plugin.Zfp(rate=16))

        file.flush()
        for name in names:
            file.create_dataset(name + "_plain", data=file[name][...])


def create(file, name, kind, data):
    """A dataset behind the n-bit filter, which h5py has no word for."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(CHUNK)
    plist.set_filter(5, h5py.h5z.FLAG_MANDATORY, ())
    space = h5py.h5s.create_simple(SHAPE)
    dataset = h5py.h5d.create(file.id, name.encode(), kind, space, plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(data))


main()
