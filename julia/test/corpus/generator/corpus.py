"""A corpus on disk: a cache root with blobs and manifests, cases with what they must decode to, scenarios, the index.

Expectations are made of arrays that the generator already had before it wrote a file; nothing is read back."""

import hashlib
import json
import pathlib
import re
import shutil
import tempfile

import netCDF4
import numpy as np

BASE = "https://data.example.org"
FETCHED = "2031-06-16T04:05:06Z"
FOLDERS = ("cache", "cases", "scenarios")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def key_of(url):
    return sha256(url.encode())


def extension_of(url):
    """The suffix of the last segment, if it has one of 1 to 8 letters and digits behind a stem."""
    name = url.split("://", 1)[1].split("#")[0].split("?")[0].rsplit("/", 1)[-1]
    found = re.fullmatch(r".+\.([A-Za-z0-9]{1,8})", name)
    return "." + found.group(1).lower() if found else ""


def pretty(value, indent=0):
    """JSON in which objects take a line for each member, and lists one line: arrays stay readable and short."""
    if isinstance(value, dict) and value:
        inner = " " * (indent + 2)
        members = (f"{inner}{json.dumps(k)}: {pretty(v, indent + 2)}" for k, v in value.items())
        return "{\n" + ",\n".join(members) + "\n" + " " * indent + "}"
    if isinstance(value, list) and any(isinstance(v, dict) for v in value):
        inner = " " * (indent + 2)
        return "[\n" + ",\n".join(inner + pretty(v, indent + 2) for v in value) + "\n" + " " * indent + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def netcdf(build, format="NETCDF4"):
    """The bytes of the file that `build` fills."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "file.nc")
        with netCDF4.Dataset(path, "w", format=format) as nc:
            build(nc)
        return path.read_bytes()


def put(nc, name, type, dims, values=None, attributes=(), **options):
    """Defines a variable and writes its stored values as they are: not packed, not masked."""
    variable = nc.createVariable(name, type, dims, **options)
    variable.set_auto_maskandscale(False)
    variable.set_auto_chartostring(False)
    for key, value in dict(attributes).items():
        if key != "_FillValue":
            variable.setncattr(key, value)
    if values is not None:
        variable[...] = values
    return variable


DTYPES = {"f": "float64", "b": "bool", "O": "string", "U": "string"}


def field(dims, values, **attributes):
    """What a variable must decode to. NaN stands for a missing cell; `attributes` are units and calendar."""
    values = np.asarray(values)
    if values.dtype.kind in "iu":
        dtype = f"int{8 * values.dtype.itemsize}"
        assert dtype in ("int32", "int64") and values.dtype.kind == "i", values.dtype
    else:
        dtype = DTYPES[values.dtype.kind]
    assert dtype != "float64" or values.dtype.itemsize == 8, "widen to float64 where the rule says so"
    assert len(dims) == values.ndim, (dims, values.shape)
    return {"dtype": dtype, "dims": list(dims), "shape": list(values.shape), "data": nested(values), **attributes}


def nested(values):
    if values.ndim > 0:
        return [nested(values[i, ...]) for i in range(len(values))]
    value = values.item()
    if isinstance(value, float):
        assert not np.isinf(value), "JSON has no infinity"
        return None if np.isnan(value) else value
    return value


class Corpus:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        for name in FOLDERS:
            shutil.rmtree(self.root / name, ignore_errors=True)
        self.cases = []
        self.blobs = {}

    def blob(self, url, data, loader=None, etag=None, bare=False):
        """Stores the bytes of a URL and their manifest; what a case says of them."""
        key = key_of(url)
        path = f"cache/v1/blobs/{key[:2]}/{key}{'' if bare else extension_of(url)}"
        manifest = {
            "auth_realm": None,
            "bytes": len(data),
            "etag": etag,
            "fetched_at": FETCHED,
            "last_modified": None,
            "schema": "earthsciio/manifest/v1",
            "sha256_content": sha256(data),
            "source_loader": loader,
            "url": url,
        }
        if url not in self.blobs:
            self.blobs[url] = data
            self.write(path, data)
            self.write(f"cache/v1/meta/{key}.json", json.dumps(manifest, indent=2, sort_keys=True).encode() + b"\n")
        assert self.blobs[url] == data, f"{url} has two contents"
        return {"cache_key": key, "blob_path": path, "content_sha256": sha256(data), "bytes": len(data)}

    def case(
        self, id, variables, coords=None, data=None, name=None, project=None, select=None, decode=None, notes=None
    ):
        """A case that reads one NetCDF file; cases of one `name` share it."""
        url = f"{BASE}/corpus/{name or id}.nc"
        about = self.blob(url, self.blobs[url] if data is None else data, "corpus", etag='"r1"')
        self.add(id, "netcdf", url, about, variables, coords or {}, project, select, decode, notes)

    def store(self, id, objects, variables, project, name=None, select=None, decode=None, notes=None):
        """A case that reads a Zarr store, given as object name -> bytes; cases of one `name` share it."""
        url = f"{BASE}/corpus/{name or id}.zarr"
        listed = []
        for name, data in sorted(objects.items()):
            about = self.blob(f"{url}/{name}", data, bare=True)
            listed.append({"url": f"{url}/{name}", **about})
        about = {k: v for k, v in listed[0].items() if k != "url"}
        self.add(id, "zarr", url, about, variables, {}, project, select, decode, notes, listed)

    def add(self, id, format, url, about, variables, coords, project, select, decode, notes, objects=None):
        case = {
            "schema": "earthsciio/cache-case/v1",
            "id": id,
            "loader": "corpus",
            "kind": "points" if id.startswith("station") else "grid",
            "format": format,
            "transport": "https",
            "store": "local",
            "resolved_url": url,
            "cache_key": about["cache_key"],
            "blob_path": about["blob_path"],
            "manifest_path": f"cache/v1/meta/{about['cache_key']}.json",
            "content_sha256": about["content_sha256"],
            "bytes": about["bytes"],
        }
        optional = {"variables": project, "objects": objects, "select": select, "decode": decode, "notes": notes}
        case.update((k, v) for k, v in optional.items() if v is not None)
        case["expected"] = {"variables": variables, "coords": coords}
        assert all(other["id"] != id for other in self.cases), id
        self.write(f"cases/{id}.json", pretty(case).encode() + b"\n")
        index = {"id": id, "file": f"cases/{id}.json", "cache_key": about["cache_key"], "blob_path": about["blob_path"]}
        self.cases.append(index)

    def scenario(self, name, content):
        self.write(f"scenarios/{name}.json", pretty(content).encode() + b"\n")

    def finish(self):
        index = {
            "schema": "earthsciio/cases-index/v1",
            "cache_format_version": "v1",
            "cache_root": "cache/v1",
            "cases": sorted(self.cases, key=lambda case: case["id"]),
        }
        self.write("cases.json", pretty(index).encode() + b"\n")

    def write(self, path, data):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
