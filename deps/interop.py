"""Reads the stores that deps/interop_store.jl wrote with netCDF4-python and sqlite3, and compares all that they hold with
what the format says they should. What is expected is computed here, by nothing of this repository.

Usage: interop.py FOLDER. Prints each difference; the last line counts; exits 1 if there is a difference.
"""

import ctypes
import hashlib
import json
import pathlib
import sqlite3
import struct
import sys
from dataclasses import dataclass, field

import netCDF4
import numpy as np

TYPES = {"f64": "<f8", "f32": "<f4", "i64": "<i8", "i32": "<i4", "u64": "<u8", "bool": "u1"}
# netCDF's own values for cells that were never written.
FILLS = {
    "f64": 9.969209968386869e36,
    "f32": np.float32(9.969209968386869e36),
    "i64": -(2**63) + 2,
    "i32": -(2**31) + 1,
    "u64": 2**64 - 2,
    "bool": 255,
}
NC_CHAR, NC_GLOBAL = 2, -1
NO_FILTER = {"zlib": False, "shuffle": False, "complevel": 0}
FREE = object()  # a column that was given back: zeros

passed, failed = 0, 0


def check(what, got, expected):
    global passed, failed
    if got == expected:
        passed += 1
    else:
        failed += 1
        print(f"{what}: got {str(got)[:2000]}, expected {str(expected)[:2000]}")


# The rule that the Julia program follows, too.


def array(dtype, column, steps, *shape):
    size = int(np.prod(shape, dtype=int))
    number = 1_000_000 * column + 40_000 * np.arange(steps).reshape(-1, 1) + np.arange(size)
    if dtype == "f64":
        values = number + 0.25
    elif dtype == "f32":
        values = number / 8
    elif dtype == "i64":
        values = -(2**53) - number
    elif dtype == "i32":
        values = number
    elif dtype == "u64":
        values = np.uint64(2**64 - 1) - number.astype("u8")
    else:
        values = (column + np.arange(steps).reshape(-1, 1) + 0 * number) % 2 == 0
    return values.astype(TYPES[dtype]).reshape(steps, *shape)


# The hashes of the format.


def array_hash(dtype, values):
    values = np.array(values, dtype=TYPES[dtype])
    if values.dtype.kind == "f":
        values[np.isnan(values)] = np.nan
    head = dtype.encode() + b"\0" + struct.pack(f"<{values.ndim + 1}Q", values.ndim, *values.shape)
    return hashlib.sha256(head + values.tobytes()).hexdigest()


def feature_value(value):
    """The kind of a feature, and its bytes."""
    if isinstance(value, bool):
        return "bool", struct.pack("<?", value)
    if isinstance(value, int):
        return "int", struct.pack("<q", value)
    if isinstance(value, float):
        return "float", struct.pack("<d", value)
    text = value.encode()
    return "str", struct.pack("<Q", len(text)) + text


def features_hash(features):
    stream = b"features\0" + struct.pack("<Q", len(features))
    for key in sorted(features, key=str.encode):
        kind, data = feature_value(features[key])
        stream += struct.pack("<Q", len(key.encode())) + key.encode() + kind[:1].encode() + data
    return hashlib.sha256(stream).hexdigest()


def check_hashes():
    """The hashes above against published values."""
    published = {
        "f85b4f66e62c7c51f9c82d01eabed7fb5e3b5217a69296aaaff876e1144dd841": ("f64", [0, 1, 2, 3]),
        "11008e302d597ca8a47a9ec3ee06c871f6f057bf3ee8391b4bc6830c11c2a113": ("f64", [[0, 1], [2, 3]]),
        "04383e31416520f466a888865927cdbcc6e535abc48965963ad3fa23756840d1": ("u64", [1, 2**64 - 1]),
        "0ac92b0feaec37f5ee30cffd2df07c86fd4c7a812e0deeca5e3baa2d5694e435": ("bool", [1, 0, 1]),
        "fda6ea95090a90f9c0b5ee02ad3904aaf15ef67d729c993b4bcfa0bd98e0c433": ("f64", []),
        "1743181154e4b3cf9e58222308d8501a9edd08ed19d08292bd6a81ffd49e3272": ("f64", [1, np.nan, 3]),
    }
    for expected, (dtype, values) in published.items():
        check(f"hash of {values}", array_hash(dtype, values), expected)
    check("hash of features", features_hash(FEATURES), "ceea40be8073966576186f7435c5496ce3c7010606a4794570d73be94b0e2758")


# What the stores should hold.


@dataclass
class Data:
    """A packed dataset: the arrays in its first columns, and how many columns there are."""

    name: str
    dtype: str
    steps: int
    chunk: tuple
    columns: list
    width: int = 0
    shape: tuple = ()

    def __post_init__(self):
        self.width = self.width or len(self.columns)

    def values(self):
        whole = np.full((self.steps, self.width, *self.shape), FILLS[self.dtype], dtype=TYPES[self.dtype])
        for i, column in enumerate(self.columns):
            whole[:, i] = 0 if column is FREE else column
        return whole

    def hashes(self):
        used = ["" if column is FREE else array_hash(self.dtype, column) for column in self.columns]
        return used + [""] * (self.width - len(used))


@dataclass
class Row:
    """A row of the catalog."""

    id: int
    owner: tuple
    name: str
    resolution: str
    dtype: str
    values: np.ndarray
    initial: str = "2030-01-01T00:00:00+00:00"
    category: str = "Component"
    features: dict = field(default_factory=dict)
    units: str = None
    ext: str = None

    def columns(self):
        length, *shape = self.values.shape
        return {
            "id": self.id,
            "owner_id": self.owner[0],
            "owner_type": self.owner[1],
            "owner_category": self.category,
            "time_series_type": "SingleTimeSeries",
            "name": self.name,
            "initial_timestamp": self.initial,
            "resolution": self.resolution,
            "length": length,
            "horizon": None,
            "interval": None,
            "count": None,
            "timestamps_json": None,
            "units": self.units,
            "percentiles_json": None,
            "dtype": self.dtype,
            "element_shape": json.dumps(shape, separators=(",", ":")),
            "ext": self.ext,
            "data_hash": bytes.fromhex(array_hash(self.dtype, self.values)),
            "features_hash": bytes.fromhex(features_hash(self.features)),
        }


FEATURES = {"scenario": "high", "model_year": 2030, "factor": 0.5, "calibrated": True}
LOADS = [array("f64", n, 24) for n in range(6)]
LATE = array("f64", 50, 24)
SPEEDS = [array("f32", n, 4, 3) for n in range(2)]
STATES = [array("i64", n, 5, 3, 2) for n in range(2)]
COSTS = [array("i32", n, 12) for n in range(2)]
LIVES = [array("u64", n, 3) for n in range(2)]
SWITCHES = [array("bool", n, 3) for n in range(2)]
FIELDS = [array("f64", n, 1, 32_768) for n in range(6)]
NONE = np.empty(0)
ODD = np.concatenate([np.array([0x7FF8000000001234], "<u8").view("<f8"), [-0.0, np.inf, 5e-324, FILLS["f64"]]])

SYSTEM = [
    Data("sts_f64_s_24_PT1H", "f64", 24, (24, 6), [*LOADS[:2], LATE, LOADS[3], FREE, LOADS[5]]),
    Data("sts_f32_3_4_PT1H", "f32", 4, (1, 1000, 3), SPEEDS, 1000, (3,)),
    Data("sts_i64_3x2_5_PT15M", "i64", 5, (5, 2, 3, 2), STATES, shape=(3, 2)),
    Data("sts_i32_s_12_P1M", "i32", 12, (12, 2), COSTS),
    Data("sts_u64_s_3_P1Y", "u64", 3, (3, 2), LIVES),
    Data("sts_bool_s_3_PT0.5S", "bool", 3, (3, 2), SWITCHES),
    Data("sts_f64_32768_1_PT1H", "f64", 1, (1, 4, 32_768), FIELDS[:4], shape=(32_768,)),
    Data("sts_f64_32768_1_PT1H__1", "f64", 1, (1, 2, 32_768), FIELDS[4:], shape=(32_768,)),
    Data("sts_f64_s_0_PT1H", "f64", 0, (1, 1000), [NONE], 1000),
    Data("sts_f64_s_5_P1D", "f64", 5, (1, 1000), [ODD], 1000),
]

JUST_BEFORE = "1969-12-31T23:59:59.250+00:00"
SYSTEM_ROWS = [
    *(Row(n + 1, (n, "Bus"), "load", "PT1H", "f64", LOADS[n], features=FEATURES, units="MW") for n in (0, 1, 3, 5)),
    *(
        Row(7 + n, (7 + n, "Wind"), "Ω speed", "PT1H", "f32", SPEEDS[n], units="", ext=f'{{"height": {n}}}')
        for n in range(2)
    ),
    *(
        Row(9 + n, (-3 - n, "Outage"), "state", "PT15M", "i64", STATES[n], category="SupplementalAttribute")
        for n in range(2)
    ),
    *(Row(11 + n, (n, "Plant"), "cost", "P1M", "i32", COSTS[n], "2031-01-31T00:00:00+00:00") for n in range(2)),
    *(Row(13 + n, (n, "Plant"), "life", "P1Y", "u64", LIVES[n]) for n in range(2)),
    *(Row(15 + n, (n, "Switch"), "on", "PT0.5S", "bool", SWITCHES[n], JUST_BEFORE) for n in range(2)),
    *(Row(17 + n, (n, "Grid"), "field", "PT1H", "f64", FIELDS[n]) for n in range(6)),
    Row(23, (1, "Bus"), "none", "PT1H", "f64", NONE),
    Row(24, (1, "Bus"), "odd", "P1D", "f64", ODD),
    Row(25, (200, "Bus"), "load", "PT1H", "f64", LATE),
    Row(26, (300, "Bus"), "copy", "PT1H", "f64", LOADS[1], features={"year": 1}),
]

PAIR = [array("f64", n, 10) for n in range(2)]
SMALL = [Data("sts_f64_s_10_PT1H", "f64", 10, (10, 2), PAIR)]
SMALL_ROWS = [Row(n + 1, (n, "Bus"), "load", "PT1H", "f64", PAIR[n]) for n in range(2)]


# The array file.


def attribute_type(dataset, name):
    """The number of an attribute's type, which netCDF4-python does not tell."""
    folder = pathlib.Path(netCDF4.__file__).parent
    found = [*folder.parent.glob("netcdf4.libs/libnetcdf*"), *folder.glob(".dylibs/libnetcdf*")]
    number = ctypes.c_int(-1)
    library = ctypes.CDLL(str(found[0]))
    status = library.nc_inq_atttype(dataset._grpid, NC_GLOBAL, name.encode(), ctypes.byref(number))
    return number.value if status == 0 else f"error {status}"


def check_arrays(path, compression, filters, expected):
    with netCDF4.Dataset(path) as dataset:
        check(f"{path.name}: model", dataset.data_model, "NETCDF4")
        for name, text in (("data_format_version", "0.11.0"), ("compression", compression)):
            check(f"{path.name}: {name}", dataset.getncattr(name), text)
            check(f"{path.name}: type of {name}", attribute_type(dataset, name), NC_CHAR)
        outer = dataset.groups["time_series"]
        group = outer.groups["single"]
        groups = [list(parent.groups) for parent in (dataset, outer, group)]
        check(f"{path.name}: groups", groups, [["time_series"], ["single"], []])
        check(f"{path.name}: variables outside", [list(dataset.variables), list(outer.variables)], [[], []])
        check(f"{path.name}: dimensions outside", [list(dataset.dimensions), list(outer.dimensions)], [[], []])
        check(f"{path.name}: attributes of groups", [outer.ncattrs(), group.ncattrs()], [[], []])
        names = sorted(name for data in expected for name in (data.name, f"{data.name}_h"))
        check(f"{path.name}: variables", sorted(group.variables), names)
        dimensions = {}
        for data in expected:
            dimensions.update(zip(dimension_names(data), (data.steps, data.width, *data.shape)))
        found = {name: (len(d), d.isunlimited()) for name, d in group.dimensions.items()}
        check(f"{path.name}: dimensions", found, {name: (n, n == 0) for name, n in dimensions.items()})
        for data in expected:
            if data.name in group.variables and f"{data.name}_h" in group.variables:
                check_dataset(group, data, filters)


def dimension_names(data):
    return tuple(f"{data.name}_{part}" for part in ("t", "c", *(f"e{i}" for i in range(len(data.shape)))))


def active(filters):
    """The filters in use, and the level."""
    return {name: value for name, value in filters.items() if value or name in NO_FILTER}


def check_dataset(group, data, filters):
    variable, hashes = group.variables[data.name], group.variables[f"{data.name}_h"]
    variable.set_auto_maskandscale(False)
    whole = data.values()
    check(f"{data.name}: type", variable.dtype, whole.dtype)
    check(f"{data.name}: dimensions", variable.dimensions, dimension_names(data))
    check(f"{data.name}: shape", variable.shape, whole.shape)
    check(f"{data.name}: chunks", tuple(variable.chunking()), data.chunk)
    check(f"{data.name}: filters", active(variable.filters()), filters)
    check(f"{data.name}: fill", variable.get_fill_value(), FILLS[data.dtype])
    check(f"{data.name}: attributes", variable.ncattrs(), [])
    # Bits, not values: NaN has a payload, and zero a sign.
    check(f"{data.name}: values", variable[...].tobytes() == whole.tobytes(), True)
    check(f"{hashes.name}: type", hashes.dtype, str)
    check(f"{hashes.name}: dimensions", hashes.dimensions, dimension_names(data)[1:2])
    check(f"{hashes.name}: layout", (hashes.chunking(), active(hashes.filters())), ("contiguous", NO_FILTER))
    check(f"{hashes.name}: attributes", hashes.ncattrs(), [])
    check(f"{hashes.name}: hashes", list(hashes[...]), data.hashes())


# The catalog.

ASSOCIATIONS = """id INTEGER; owner_id INTEGER!; owner_type TEXT!; owner_category TEXT!; time_series_type TEXT!; name TEXT!;
initial_timestamp TEXT; resolution TEXT; length INTEGER; horizon TEXT; interval TEXT; count INTEGER; timestamps_json TEXT;
units TEXT; percentiles_json TEXT; dtype TEXT!; element_shape TEXT; ext TEXT; data_hash BLOB!; features_hash BLOB!"""
TABLES = {
    "time_series_associations": (ASSOCIATIONS, ["id"]),
    "feature_sets": (
        "key TEXT!; value_kind TEXT!; value_int INTEGER; value_float REAL; value_bool INTEGER; value_str TEXT; "
        "features_hash BLOB!",
        ["features_hash", "key"],
    ),
    "schema_version": ("version INTEGER!", []),
    "supplemental_attribute_associations": (
        "id INTEGER; component_id INTEGER!; component_type TEXT!; attribute_id INTEGER!; attribute_type TEXT!",
        ["id"],
    ),
    "parent_child_associations": (
        "id INTEGER; parent_id INTEGER!; parent_type TEXT!; child_id INTEGER!; child_type TEXT!",
        ["id"],
    ),
}
IDENTITY = ["owner_id", "owner_category", "time_series_type", "name", "resolution", "interval", "features_hash"]
# name -> table and columns; an expression has no name in SQLite's answer.
UNIQUE = {
    "uq_ts_assoc": ("time_series_associations", IDENTITY),
    "uq_ts_assoc_coalesced": ("time_series_associations", [*IDENTITY[:4], None, None, IDENTITY[6]]),
    "uq_sa_assoc": ("supplemental_attribute_associations", ["component_id", "attribute_id"]),
    "uq_parent_child": ("parent_child_associations", ["parent_id", "child_id"]),
}


def check_catalog(path, rows):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row

    def ask(sql):
        return connection.execute(sql).fetchall()

    pragmas = ("integrity_check", "encoding", "page_size", "journal_mode", "user_version")
    settings = [ask(f"PRAGMA {name}")[0][0] for name in pragmas]
    check(f"{path.name}: settings", settings, ["ok", "UTF-8", 4096, "delete", 0])
    for table, (columns, key) in TABLES.items():
        check_table(ask, path.name, table, columns, key)
    for index, (table, columns) in UNIQUE.items():
        unique = [row["name"] for row in ask(f"PRAGMA index_list({table})") if row["unique"] and not row["partial"]]
        check(f"{path.name}: {index} is unique", index in unique, True)
        found = [row["name"] for row in ask(f"PRAGMA index_info({index})")]
        check(f"{path.name}: columns of {index}", found, columns)
    text = ask("SELECT sql FROM sqlite_master WHERE name = 'uq_ts_assoc_coalesced'")[0][0].replace(" ", "")
    for column in ("resolution", "interval"):
        check(f"{path.name}: {column} in uq_ts_assoc_coalesced", f"COALESCE({column},'')" in text, True)
    check(f"{path.name}: version", [tuple(row) for row in ask("SELECT version FROM schema_version")], [(1,)])

    found = ask("SELECT * FROM time_series_associations ORDER BY id")
    check(f"{path.name}: ids", [row["id"] for row in found], [row.id for row in rows])
    for row, expected in zip(found, rows):
        wanted = expected.columns()
        check(f"{path.name}: row {expected.id}", {name: row[name] for name in wanted}, wanted)
    check(f"{path.name}: features", feature_rows(ask), expected_features(rows))
    connection.close()


def check_table(ask, file, table, columns, key):
    """The columns of the format come first; what follows them may be null."""
    found = ask(f"PRAGMA table_info({table})")
    text = [f"{row['name']} {row['type']}{'!' if row['notnull'] else ''}" for row in found]
    wanted = columns.replace("\n", " ").split("; ")
    check(f"{file}: columns of {table}", text[: len(wanted)], wanted)
    check(f"{file}: further columns of {table} may be null", [t for t in text[len(wanted) :] if t.endswith("!")], [])
    primary = sorted((row["pk"], row["name"]) for row in found if row["pk"])
    check(f"{file}: primary key of {table}", [name for _, name in primary], key)


def feature_rows(ask):
    names = ("features_hash", "key", "value_kind", "value_int", "value_float", "value_bool", "value_str")
    return sorted((tuple(row[name] for name in names) for row in ask("SELECT * FROM feature_sets")), key=repr)


def expected_features(rows):
    kinds = ("int", "float", "bool", "str")
    found = {}
    for row in rows:
        digest = bytes.fromhex(features_hash(row.features))
        for key, value in row.features.items():
            kind, _ = feature_value(value)
            found[digest, key] = (digest, key, kind, *(value if kind == k else None for k in kinds))
    return sorted(found.values(), key=repr)


def main(folder):
    check_hashes()
    filters = {
        "system": ("deflate:3:shuffle", {"zlib": True, "shuffle": True, "complevel": 3}),
        "none": ("none", NO_FILTER),
        "deep": ("deflate:9:noshuffle", {"zlib": True, "shuffle": False, "complevel": 9}),
        "shuffled": ("deflate:0:shuffle", {"zlib": False, "shuffle": True, "complevel": 0}),
    }
    for name, (compression, expected) in filters.items():
        arrays, rows = (SYSTEM, SYSTEM_ROWS) if name == "system" else (SMALL, SMALL_ROWS)
        check_arrays(folder / f"{name}.nc", compression, expected, arrays)
        check_catalog(folder / f"{name}.nc.sqlite", rows)
    print(f"INTEROP: {passed} passed, {failed} failed")
    return failed == 0 and passed > 0


if __name__ == "__main__":
    sys.exit(0 if main(pathlib.Path(sys.argv[1])) else 1)
