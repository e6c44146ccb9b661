"""Runs the same scripts on stores through our crate and through the crate `infrastore-core` 0.3.0, in every combination of
who writes and who goes on, has both read every result, and compares what they read with each other and with a model.

Usage: interop_peer.py PEER OURS FOLDER. PEER and OURS are the two executables; rust/bench-peers/interop/src/script.rs
says what they take. Prints each difference; the last line counts; exits 1 if there is a difference.
"""

import copy
import hashlib
import itertools
import json
import pathlib
import shutil
import struct
import subprocess
import sys

import numpy as np

TYPES = {"f64": "<f8", "f32": "<f4", "i64": "<i8", "i32": "<i4", "u64": "<u8", "bool": "u1"}
START = 1_893_456_000_000  # 2030-01-01T00:00:00Z
HOUR = 3_600_000

passed, failed = 0, 0


def check(what, got, expected):
    global passed, failed
    if got == expected:
        passed += 1
    else:
        failed += 1
        print(f"{what}: got {str(got)[:1500]}, expected {str(expected)[:1500]}")


# Series of scripts.


def bits(value):
    return struct.pack(">d", value).hex()


def numbers(dtype, seed, *shape):
    """Values over the whole range of the type."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype("u1")
    if dtype in ("f64", "f32"):
        return (rng.standard_normal(shape) * 10.0 ** rng.integers(-30, 30, shape)).astype(TYPES[dtype])
    info = np.iinfo(TYPES[dtype])
    return rng.integers(info.min, info.max, shape, dtype=TYPES[dtype], endpoint=True)


def series(kind, owner, name, dtype, values, **columns):
    values = np.ascontiguousarray(values, dtype=TYPES[dtype])
    row = {
        "owner": owner,
        "owner_type": "Bus",
        "category": "Component",
        "type": kind,
        "name": name,
        "initial": None,
        "resolution": None,
        "horizon": None,
        "interval": None,
        "count": None,
        "timestamps": None,
        "percentiles": None,
        "features": {},
        "units": None,
        "ext": None,
        "dtype": dtype,
        "shape": list(values.shape),
        "values": values.tobytes().hex(),
        "stored": None,
    }
    assert set(columns) <= set(row), columns
    return {**row, **columns}


def single(owner, name, dtype, values, resolution="PT1H", initial=START, **columns):
    return series("SingleTimeSeries", owner, name, dtype, values, resolution=resolution, initial=initial, **columns)


def irregular(owner, name, dtype, values, **columns):
    gaps = np.random.default_rng(len(name)).integers(1, 10 * HOUR, len(values))
    times = (START + np.cumsum(gaps)).tolist()
    return series("NonSequentialTimeSeries", owner, name, dtype, values, timestamps=times, **columns)


def forecast(kind, owner, name, dtype, values, **columns):
    windows = {"initial": START, "resolution": "PT1H", "horizon": "PT4H", "interval": "PT2H"}
    axis = 1 if kind == "Deterministic" else 2
    return series(kind, owner, name, dtype, values, **{**windows, "count": values.shape[axis], **columns})


def identity(row):
    keys = ("owner", "category", "type", "name", "resolution", "interval", "features")
    return {key: row[key] for key in keys}


FEATURES = {
    "scenario": {"text": "high Ω"},
    "year": {"int": -(2**63)},
    "factor": {"float": bits(0.1)},
    "zero": {"float": bits(0.0)},
    "calibrated": {"bool": True},
    "empty": {"text": ""},
}
LOADS = [single(n, "load", "f64", numbers("f64", n, 24), features=FEATURES, units="MW") for n in range(6)]
SHARED = numbers("f64", 0, 24)
ODD = np.concatenate([np.array([0x7FF8000000001234], "<u8").view("<f8"), [-0.0, np.inf, 5e-324, 9.969209968386869e36]])
TYPED = [
    single(10, "wind", "f32", numbers("f32", 10, 4, 3), "PT2H", ext='{"height": 80}', units=""),
    single(-3, "state", "i64", numbers("i64", 11, 5, 3, 2), "PT15M", category="SupplementalAttribute"),
    single(-3, "state", "i64", numbers("i64", 12, 5, 3, 2), "PT15M", owner_type="Line"),
    single(2**63 - 1, "cost", "i32", numbers("i32", 13, 12), "P1M"),
    single(-(2**63), "life", "u64", numbers("u64", 14, 3), "P1Y"),
    single(11, "on", "bool", numbers("bool", 15, 3), "PT0.5S", initial=-750),
    single(12, "none", "f64", np.empty(0), "PT3H"),
    single(12, "odd", "f64", ODD, "P1D"),
    single(13, "copy", "f64", SHARED),
    single(14, "half", "f64", SHARED, "PT30M", features={"year": {"int": 1}}),
]
FIELDS = [single(20 + n, "field", "f64", numbers("f64", 20 + n, 1, 32_768), "PT12H") for n in range(6)]
IRREGULAR = [
    irregular(30, "outage", "f64", numbers("f64", 30, 7), features=FEATURES),
    irregular(31, "switches", "bool", numbers("bool", 31, 5, 2), category="SupplementalAttribute"),
    irregular(32, "none", "i32", np.empty(0, "<i4")),
]
PERCENTILES = [bits(p) for p in (5.0, 50.0, 97.5)]
FORECASTS = [
    forecast("Deterministic", 40, "price", "f64", numbers("f64", 40, 4, 9), units="EUR"),
    forecast("Deterministic", 41, "curve", "i32", numbers("i32", 41, 4, 5, 3)),
    forecast("Deterministic", 41, "curve", "i32", numbers("i32", 42, 4, 5, 3), interval="PT1H"),
    forecast("Probabilistic", 42, "wind", "f32", numbers("f32", 43, 3, 4, 6), percentiles=PERCENTILES),
    forecast("Scenarios", 43, "rain", "f64", numbers("f64", 44, 10, 4, 6, 2), ext="x", features=FEATURES),
]
LINE = {"from": 1, "from_type": "Bus", "to": 7, "to_type": "GeoInfo"}
PART = {"from": 1, "from_type": "Plant", "to": 2, "to_type": "Unit"}

CREATE = [
    {"op": "add_bulk", "series": LOADS},
    {"op": "add", "series": TYPED},
    {"op": "add_bulk", "series": FIELDS},
    {"op": "add", "series": IRREGULAR},
    {"op": "add_bulk", "series": FORECASTS},
    {"op": "transform", "resolution": "PT15M", "horizon": "PT45M", "interval": "PT30M"},
    {"op": "transform", "resolution": "PT30M", "horizon": "PT1H", "interval": "PT30M"},
    {"op": "attach", **LINE},
    {"op": "attach", **LINE, "to": 8},
    {"op": "link", **PART},
    {"op": "link", **PART, "to": 3},
]
LATE = [single(50 + n, "late", "f64", numbers("f64", 50 + n, 24)) for n in range(3)]
UNDONE = [single(60 + n, "undone", "f64", numbers("f64", 60 + n, 24)) for n in range(2)]
KEPT = [
    single(70, "kept", "f64", numbers("f64", 70, 24)),
    irregular(71, "kept", "i64", numbers("i64", 71, 6)),
    forecast("Scenarios", 72, "kept", "f64", numbers("f64", 72, 2, 4, 3)),
]
CHANGE = [
    # One of two rows of an array, the last row of one, a forecast, an irregular series.
    {"op": "remove", "series": [identity(row) for row in (LOADS[0], LOADS[3], FORECASTS[0], IRREGULAR[0], FIELDS[1])]},
    {"op": "flush"},
    {"op": "add", "series": LATE[:2]},
    {"op": "add_bulk", "series": [*LATE[2:], FORECASTS[0]]},
    {"op": "begin"},
    {"op": "add", "series": UNDONE},
    {"op": "remove", "series": [identity(LOADS[1]), identity(FORECASTS[3])]},
    {"op": "rollback"},
    {"op": "begin"},
    {"op": "add", "series": KEPT},
    {"op": "remove", "series": [identity(LOADS[2])]},
    {"op": "commit"},
    {"op": "transform", "resolution": "PT1H", "horizon": "PT6H", "interval": "PT1H"},
    {"op": "rename", "series": identity(TYPED[0]), "name": "wind speed"},
    {"op": "copy", "series": identity(FORECASTS[4]), "owner": 80, "owner_type": "Dam", "name": None},
    {"op": "copy", "series": identity(LOADS[4]), "owner": 81, "owner_type": "Bus", "name": "twin"},
    {"op": "replace_owner", "old": 42, "new": 82, "category": "Component"},
    {"op": "detach", **LINE},
    {"op": "unlink", **PART, "to": 3},
]
SMALL = [{"op": "add_bulk", "series": LOADS}, {"op": "add", "series": TYPED}, {"op": "add_bulk", "series": FORECASTS}]
SMALL_CHANGE = [
    {"op": "remove", "series": [identity(LOADS[3])]},
    {"op": "flush"},
    {"op": "add", "series": LATE},
]

# What a script leaves.

MINUTES = {"PT15M": 15, "PT30M": 30, "PT45M": 45, "PT1H": 60, "PT6H": 360}


class Model:
    def __init__(self):
        self.rows, self.attributes, self.children = {}, [], []
        self.saved = []

    def key(self, row):
        return json.dumps(identity(row), sort_keys=True)

    def add(self, row, stored=None):
        row = {**row, "stored": stored or stored_columns(row)}
        assert self.key(row) not in self.rows, row["name"]
        self.rows[self.key(row)] = row

    def find(self, wanted):
        return self.rows[self.key(wanted)]

    def run(self, operation):
        name = operation["op"]
        if name in ("add", "add_bulk"):
            for row in operation["series"]:
                self.add(row)
        elif name == "remove":
            for row in operation["series"]:
                del self.rows[self.key(row)]
        elif name == "transform":
            for row in list(self.rows.values()):
                if row["type"] == "SingleTimeSeries" and row["resolution"] == operation["resolution"]:
                    self.add(*derived(row, operation["horizon"], operation["interval"]))
        elif name == "rename":
            row = self.rows.pop(self.key(operation["series"]))
            self.add({**row, "name": operation["name"]}, row["stored"])
        elif name == "copy":
            row = self.find(operation["series"])
            owner = {"owner": operation["owner"], "owner_type": operation["owner_type"]}
            self.add({**row, **owner, "name": operation["name"] or row["name"]}, row["stored"])
        elif name == "replace_owner":
            moved = (operation["old"], operation["category"])
            for key, row in list(self.rows.items()):
                if (row["owner"], row["category"]) == moved:
                    del self.rows[key]
                    self.add({**row, "owner": operation["new"]}, row["stored"])
        elif name in ("attach", "detach", "link", "unlink"):
            pairs = self.attributes if name in ("attach", "detach") else self.children
            pair = {key: value for key, value in operation.items() if key != "op"}
            (pairs.append if name in ("attach", "link") else pairs.remove)(pair)
        elif name == "begin":
            self.saved.append(copy.deepcopy((self.rows, self.attributes, self.children)))
        elif name == "rollback":
            self.rows, self.attributes, self.children = self.saved.pop()
        elif name == "commit":
            self.saved.pop()
        else:
            assert name == "flush", name


def stored_columns(row):
    """What a row says of its array, by the rules of the format."""
    values = np.frombuffer(bytes.fromhex(row["values"]), TYPES[row["dtype"]]).reshape(row["shape"]).copy()
    if values.dtype.kind == "f":
        values[np.isnan(values)] = np.nan
    head = row["dtype"].encode() + b"\0" + struct.pack(f"<{values.ndim + 1}Q", values.ndim, *values.shape)
    digest = hashlib.sha256(head + values.tobytes()).hexdigest()
    return {"length": row["shape"][0], "element_shape": row["shape"][1:], "hash": digest}


def derived(source, horizon, interval):
    values = np.frombuffer(bytes.fromhex(source["values"]), TYPES[source["dtype"]]).reshape(source["shape"])
    steps, stride = (MINUTES[period] // MINUTES[source["resolution"]] for period in (horizon, interval))
    count = (len(values) - steps) // stride + 1
    windows = np.stack([values[w * stride : w * stride + steps] for w in range(count)], axis=1)
    columns = {"type": "DeterministicSingleTimeSeries", "horizon": horizon, "interval": interval, "count": count}
    shape = {"shape": list(windows.shape), "values": windows.tobytes().hex()}
    return {**source, **columns, **shape}, source["stored"]


# The two programs.


def ask(program, request):
    return subprocess.run([program], input=json.dumps(request), capture_output=True, text=True)


def run(program, path, operations, create=None):
    result = ask(program, {"do": "run", "path": str(path), "create": create, "operations": operations})
    check(f"{path.name}: {pathlib.Path(program).name} runs its script", (result.returncode, result.stderr), (0, ""))


def compare(program, path, model):
    what = f"{path.name} as {pathlib.Path(program).name} reads it"
    result = ask(program, {"do": "dump", "path": str(path)})
    check(what, (result.returncode, result.stderr), (0, ""))
    if result.returncode:
        return
    dump = json.loads(result.stdout)
    check(f"{what}: problems", dump["problems"], [])
    found = {model.key(row): row for row in dump["series"]}
    check(f"{what}: number of series", len(dump["series"]), len(model.rows))
    check(f"{what}: identities", sorted(set(found) ^ set(model.rows)), [])
    for key in sorted(set(found) & set(model.rows)):
        for column, expected in model.rows[key].items():
            check(f"{what}: {column} of {key}", found[key][column], expected)
    for table in ("attributes", "children"):
        check(f"{what}: {table}", dump[table], getattr(model, table))


def pair(path):
    return path, path.with_name(path.name + ".sqlite")


def main(peer, ours, folder):
    programs = {"peer": peer, "ours": ours}
    stores = {
        "full": ({"deflate": 3, "shuffle": True}, CREATE, CHANGE),
        "plain": ({"deflate": None}, SMALL, SMALL_CHANGE),
        "deep": ({"deflate": 9, "shuffle": False}, SMALL, SMALL_CHANGE),
        "shuffled": ({"deflate": 0, "shuffle": True}, SMALL, SMALL_CHANGE),
    }
    for (name, (filters, create, change)), first in itertools.product(stores.items(), programs):
        model = Model()
        path = folder / f"{name}-{first}.nc"
        run(programs[first], path, create, filters)
        for operation in create:
            model.run(operation)
        for program in programs.values():
            compare(program, path, model)
        for operation in change:
            model.run(operation)
        for second in programs:
            changed = folder / f"{name}-{first}-{second}.nc"
            for source, target in zip(pair(path), pair(changed)):
                shutil.copyfile(source, target)
            run(programs[second], changed, change)
            for program in programs.values():
                compare(program, changed, model)
    check_newer_types(peer, ours, folder / "newer.nc")
    print(f"INTEROP WITH infrastore-core 0.3.0: {passed} passed, {failed} failed")
    return failed == 0 and passed > 0


def check_newer_types(peer, ours, path):
    """A store with a type of series that the peer does not know is refused by it for its version."""
    values = numbers("f64", 90, 3)
    step = {**irregular(1, "valve", "f64", values), "type": "PersistentTimeSeries"}
    model = Model()
    model.add(step)
    run(ours, path, [{"op": "add", "series": [step]}], {"deflate": 3, "shuffle": True})
    compare(ours, path, model)
    result = ask(peer, {"do": "dump", "path": str(path)})
    check("the peer refuses 0.11.1", (result.returncode, "0.11.1" in result.stderr), (1, True))


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:3], pathlib.Path(sys.argv[3])) else 1)
