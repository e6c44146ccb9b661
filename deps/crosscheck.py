"""Compares what this library decodes with what netCDF4-python and xarray read of the same files: values, masks, dimensions
and attributes, bit by bit.

Usage: crosscheck.py DUMP FOLDER: DUMP is the program that dumps what we decode, FOLDER one for its output; the files stand
on the standard input, one a line. Prints each difference; the last line counts; exits 1 if there is a difference.

Where our contract wants something else than a reader gives, DIFFERENCES names it: the comparison then takes the reader's
raw values and applies the rule itself.
"""

import collections
import json
import pathlib
import subprocess
import sys
import warnings

import netCDF4
import numpy as np
import xarray

DIFFERENCES = {
    "widened to float64": "a float32 is a float64 here, with the same value",
    "widened to int32": "integers below 32 bits, and unsigned ones of 16, are int32 here",
    "widened to int64": "unsigned integers of 32 and 64 bits are int64 here",
    "integers with a missing value": "are float64 with NaN here; netCDF4 masks integers, xarray may choose float32",
    "packed in float64": "netCDF4 and xarray unpack in the type of the factors, here always in float64",
    "several factors": "the first counts here; netCDF4 repeats them over the values",
    "valid range": "masks nothing here; netCDF4 masks what lies outside of valid_min, valid_max and valid_range",
    "default fill value": "masks nothing here unless a variable declares it; netCDF4 masks it anyway",
    "text of a string length": "characters along a private last dimension are one string here",
    "single characters": "an empty string for NUL here",
    "time axis": "is never masked nor unpacked here",
    "bits of missing values": "are compared here: 0.0 does not mask -0.0, and a double is rounded to a float32 first",
    "_Unsigned": "says here what the bits mean, and what is computed with them",
    "refused by xarray": "a file of ours that it cannot open",
    "not decoded": "a variable of a type beyond numbers and text is left out here",
}

NUMBERS = {
    "I8": "i1",
    "U8": "u1",
    "I16": "i2",
    "U16": "u2",
    "I32": "i4",
    "U32": "u4",
    "I64": "i8",
    "U64": "u8",
    "F32": "f4",
    "F64": "f8",
}
WIDENED = {
    "i1": "i4",
    "u1": "i4",
    "i2": "i4",
    "u2": "i4",
    "i4": "i4",
    "u4": "i8",
    "i8": "i8",
    "u8": "i8",
    "f4": "f8",
    "f8": "f8",
}
DTYPES = {"float64": "f8", "int64": "i8", "int32": "i4"}

checked, failed = 0, 0
seen = collections.Counter()


def check(what, good, detail=""):
    global checked, failed
    checked += 1
    if not good:
        failed += 1
        print(f"{what}: {str(detail)[:500]}")
    return good


def same_bits(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def kind_of(dtype):
    return dtype.str.lstrip("<>=|")


# The rules of our contract, written once more.


def text_dimensions(nc):
    """The dimensions that are lengths of strings: only characters use them, always last, and no variable has their name."""
    users = collections.defaultdict(list)
    for variable in nc.variables.values():
        for dim in set(variable.dimensions):
            users[dim].append(variable)

    def ends(dim, v):
        return v.dtype == "S1" and v.dimensions[-1] == dim and dim not in v.dimensions[:-1]

    return {dim for dim, found in users.items() if dim not in nc.variables and all(ends(dim, v) for v in found)}


def is_time_axis(variable):
    units = getattr(variable, "units", None)
    is_coordinate = variable.dimensions == (variable.name,)
    return is_coordinate and isinstance(units, str) and "since" in units.lower().split()


def missing_values(variable, dtype):
    found = []
    for name in ("_FillValue", "missing_value"):
        if name in variable.ncattrs():
            value = variable.getncattr(name)
            if not isinstance(value, str):
                found.extend(np.atleast_1d(value).astype(dtype))
    return np.array(found, dtype=dtype)


def expected(variable, raw, text_dims):
    """What our contract makes of raw values, and the names of the differences that are in it."""
    if variable.dtype is str:
        return raw.astype(object), list(variable.dimensions), {"text"}
    if raw.dtype == "S1":
        return characters(variable, raw, text_dims)
    raw = raw.astype(raw.dtype.newbyteorder("="))
    names = set()
    unsigned = getattr(variable, "_Unsigned", None)
    if isinstance(unsigned, str) and unsigned.strip().lower() == "true" and raw.dtype.kind == "i":
        raw = raw.view(raw.dtype.str.replace("i", "u"))
        names.add("_Unsigned")
    kind = kind_of(raw.dtype)
    dims = list(variable.dimensions)
    attributes = variable.ncattrs()
    if is_time_axis(variable):
        return raw.astype(WIDENED[kind]), dims, names | {"time axis"}
    if {"valid_range", "valid_min", "valid_max"} & set(attributes):
        names.add("valid range")
    missing = missing_values(variable, raw.dtype)
    packed = {"scale_factor", "add_offset"} & set(attributes)
    if not packed and len(missing) == 0:
        if WIDENED[kind] != kind:
            names.add("widened to " + {"f8": "float64", "i4": "int32", "i8": "int64"}[WIDENED[kind]])
        return raw.astype(WIDENED[kind]), dims, names
    words = raw.view(f"u{raw.dtype.itemsize}")
    mask = np.isin(words, missing.view(words.dtype))
    values = raw.astype("f8")
    declared = [np.atleast_1d(getattr(variable, n)) for n in ("_FillValue", "missing_value") if n in attributes]
    if not np.array_equal(
        mask,
        np.isin(values, [float(v) for d in declared for v in d if d.dtype.kind in "fiu"] or [np.nan])
        | (mask & np.isnan(values)),
    ):
        names.add("bits of missing values")
    if packed:
        scale, offset = (
            float(np.atleast_1d(getattr(variable, n, d))[0]) for n, d in (("scale_factor", 1), ("add_offset", 0))
        )
        if (scale, offset) != (1.0, 0.0):
            values = values * scale + offset
        names.add("packed in float64")
        names |= {"several factors"} if any(np.size(getattr(variable, n)) > 1 for n in packed) else set()
    elif kind[0] in "iu":
        names.add("integers with a missing value")
    else:
        names |= {"widened to float64"} if kind == "f4" else set()
    return np.where(mask, np.nan, values), dims, names


def characters(variable, raw, text_dims):
    dims = list(variable.dimensions)
    if dims and dims[-1] in text_dims:
        rows = raw.reshape(-1, raw.shape[-1]) if raw.size else np.empty((int(np.prod(raw.shape[:-1])), 0), "S1")
        texts = [row.tobytes().rstrip(b"\0").decode("utf-8", "replace") for row in rows]
        out = np.empty(len(texts), dtype=object)
        out[:] = texts
        return out.reshape(raw.shape[:-1]), dims[:-1], {"text of a string length"}
    texts = np.array([c.decode("ascii") for c in raw.ravel()], dtype=object)
    return texts.reshape(raw.shape), dims, {"single characters"}


# Our dump.


def ours(field, elements):
    if field["dtype"] == "string":
        values = np.empty(len(field["data"]), dtype=object)
        values[:] = field["data"]
    else:
        dtype = np.dtype("<" + DTYPES[field["dtype"]])
        count = int(np.prod(field["shape"], dtype=int))
        values = np.frombuffer(elements, dtype, count, field["offset"])
    return values.reshape(field["shape"])


def check_attributes(what, owner, dumped):
    """Names, types and values; the types of numbers, and texts apart from lists of them."""
    check(
        f"{what}: names of attributes",
        list(owner.ncattrs()) == list(dumped) or sorted(owner.ncattrs()) == sorted(dumped),
        (owner.ncattrs(), list(dumped)),
    )
    for name in owner.ncattrs():
        if name not in dumped:
            continue
        theirs, kind, value = owner.getncattr(name), dumped[name]["type"], dumped[name]["value"]
        place = f"{what}: attribute {name}"
        if isinstance(theirs, str):
            found = value if kind == "text" else value[0] if kind == "texts" and len(value) == 1 else None
            check(place, isinstance(found, str) and found.rstrip("\0") == theirs.rstrip("\0"), (kind, value, theirs))
        elif isinstance(theirs, list):
            check(place, kind == "texts" and value == theirs, (kind, value, theirs))
        else:
            theirs = np.atleast_1d(theirs)
            same_type = NUMBERS.get(kind) == kind_of(theirs.dtype)
            found = (
                np.array([float(v) if isinstance(v, str) else v for v in value]).astype(theirs.dtype)
                if same_type
                else None
            )
            check(
                place,
                same_type and np.array_equal(found, theirs, equal_nan=theirs.dtype.kind == "f"),
                (kind, value, theirs),
            )


# The comparison.


def check_cooked(what, variable, values, names):
    """Against what netCDF4-python makes of the values itself: masked where ours are NaN, and equal elsewhere."""
    if values.dtype.kind == "O" or "bits of missing values" in names:
        return
    variable.set_auto_maskandscale(True)
    variable.set_always_mask(True)
    theirs = np.ma.asarray(variable[...])
    mask = np.ma.getmaskarray(theirs) | (np.isnan(theirs.data) if theirs.dtype.kind == "f" else False)
    ours_mask = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    if not np.array_equal(mask, ours_mask):
        more = mask & ~ours_mask
        default = netCDF4.default_fillvals.get(kind_of(variable.dtype))
        variable.set_auto_maskandscale(False)
        by_default = default is not None and np.array_equal(
            more, more & (variable[...] == variable.dtype.type(default))
        )
        explained = not (ours_mask & ~mask).any() and (by_default or "valid range" in names or "time axis" in names)
        check(f"{what}: mask of netCDF4", explained, f"{more.sum()} cells more, {(ours_mask & ~mask).sum()} fewer")
        seen["default fill value" if by_default else "valid range"] += 1
    if names & {"time axis", "several factors"}:
        return
    both = ~mask & ~ours_mask
    ours_kept, theirs_kept = values[both].astype("f8"), theirs.data[both].astype("f8")
    if "packed in float64" in names:
        check(f"{what}: unpacked", np.allclose(ours_kept, theirs_kept, rtol=1e-6, atol=0, equal_nan=True))
    else:
        check(f"{what}: values of netCDF4", np.array_equal(ours_kept, theirs_kept))


def check_xarray(what, theirs, values, names):
    if values.dtype.kind == "O" or names & {"time axis", "bits of missing values"}:
        return
    theirs = np.asarray(theirs.values)
    if "packed in float64" in names:
        check(f"{what}: xarray", np.allclose(values, theirs, rtol=1e-6, atol=0, equal_nan=True))
    else:
        check(f"{what}: xarray", np.array_equal(values.astype("f8"), theirs.astype("f8"), equal_nan=True))


def open_xarray(path):
    try:
        return xarray.open_dataset(path, decode_times=False, engine="netcdf4")
    except ValueError as error:
        # One of the corpus packs with two factors; everybody else's files are read.
        check(f"{path}: xarray", "corpus" in pathlib.Path(path).parts, error)
        seen["refused by xarray"] += 1
        return xarray.Dataset()


def check_file(path, case, elements):
    what = pathlib.Path(path).name
    if not check(what, case["status"] == "decoded", case.get("reason")):
        return
    fields = {**case["variables"], **case["coords"]}
    with netCDF4.Dataset(path) as nc, open_xarray(path) as xr:
        check_attributes(what, nc, case["attributes"])
        text_dims = text_dimensions(nc)
        lens = {name: len(dim) for name, dim in nc.dimensions.items() if name not in text_dims}
        check(f"{what}: dimensions", lens == case["dimensions"], (lens, case["dimensions"]))
        for name, variable in nc.variables.items():
            place = f"{what}: {name}"
            if name not in fields:
                kind = variable.dtype
                check(f"{place}: left out", not (kind is str or kind.kind in "fiuS"), kind)
                seen["not decoded"] += 1
                continue
            variable.set_auto_maskandscale(False)
            variable.set_auto_chartostring(False)
            raw = np.asarray(variable[...])
            wanted, dims, names = expected(variable, raw, text_dims)
            seen.update(names)
            field = fields[name]
            values = ours(field, elements)
            check(f"{place}: dimensions", field["dims"] == dims, (field["dims"], dims))
            is_coordinate = dims == [name]
            check(f"{place}: coordinate", (name in case["coords"]) == is_coordinate)
            if wanted.dtype == object:
                check(
                    f"{place}: texts",
                    values.shape == wanted.shape and values.tolist() == wanted.tolist(),
                    (values, wanted),
                )
            else:
                check(
                    f"{place}: bits",
                    same_bits(values, np.asarray(wanted, order="C")),
                    (values.dtype, values, wanted.dtype, wanted),
                )
            check_attributes(place, variable, field["attributes"])
            check_cooked(place, variable, values, names)
            if name in xr.variables:
                check_xarray(place, xr.variables[name], values, names)
        check(f"{what}: nothing more", set(fields) <= set(nc.variables), set(fields) - set(nc.variables))


def main():
    program, folder = sys.argv[1:]
    files = sys.stdin.read().split("\n")
    files = [f for f in files if f]
    subprocess.run([program, folder, *files], check=True)
    dump = json.loads(pathlib.Path(folder, "dump.json").read_bytes())
    elements = np.memmap(pathlib.Path(folder, "dump.bin"), dtype="u1", mode="r")
    for path in files:
        check_file(path, dump["cases"][path], elements)
    print(f"{len(files)} files; where the contract differs from a reader:")
    for name, count in sorted(seen.items()):
        if name in DIFFERENCES:
            print(f"  {count:4} {name}: {DIFFERENCES[name]}")
    print(f"CROSSCHECK: {checked - failed} passed, {failed} failed")
    return failed > 0 or checked == 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
