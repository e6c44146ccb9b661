"""Scenarios: sequences of calls over series of files, which one decoded file cannot pin down.

A source names its file of an instant by a template, as the older corpora do, and lists the URL of each refresh time."""

import datetime

import numpy as np

from corpus import BASE, field, netcdf, put
from masking import dimensions, unpack

START = 1939248000  # 2031-06-15T00:00:00Z
HOUR = 3600
LAT, LON = np.array([-10.0, 10.0]), np.array([0.0, 120.0, 240.0])
BRACKET_TIME = {"units": "seconds since 1970-01-01T00:00:00Z", "calendar": "standard"}


def stored_q(hour):
    """The packed record of an hour; one cell of every third is missing."""
    j, i = np.indices((2, 3))
    values = (100 * hour + 10 * j + i).astype("i2")
    if hour % 3 == 1:
        values[1, hour % 2] = -999
    return values


def q(hour):
    return unpack(stored_q(hour), 0.1, 20.0, -999)


def ps(hour):
    j, i = np.indices((2, 3))
    return (101325.0 - hour * 7 + j / 3 + i).astype("f4")


def area():
    return np.array([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]])


def source(name, variables, frequency, period, stop):
    template = f"{BASE}/{name}/[year][month][day]T[hour].nc"
    times = list(range(START, stop, frequency))

    def url(t):
        anchor = START + (t - START) // period * period
        then = datetime.datetime.fromtimestamp(anchor, datetime.timezone.utc)
        return f"{BASE}/{name}/{then:%Y%m%dT%H}.nc"

    return {
        "format": "netcdf",
        "url_template": {"rust": template},
        "variables": variables,
        "time_dim": "time",
        "start_s": START,
        "end_s": stop,
        "frequency_s": frequency,
        "file_period_s": period,
        "refresh_times_s": times,
        "urls": [url(t) for t in times],
    }


def add_files(corpus, source, format, fill, options):
    """The files of a source: `fill` adds the variables of a list of hours."""
    for url in sorted(set(source["urls"])):
        hours = [(t - START) // HOUR for t, u in zip(source["refresh_times_s"], source["urls"]) if u == url]

        def build(nc):
            dimensions(nc, time=None, lat=2, lon=3)
            about = {"units": "hours since 2031-06-15 00:00:00", "calendar": "standard"}
            put(nc, "time", "i4", "time", np.array(hours, dtype="i4"), about)
            put(nc, "lat", "f8", "lat", LAT, {"units": "degrees_north"})
            put(nc, "lon", "f8", "lon", LON, {"units": "degrees_east"})
            fill(nc, hours, options)

        corpus.blob(url, netcdf(build, format), url.split("/")[-2])


def fill_hourly(nc, hours, options):
    packed = {"scale_factor": 0.1, "add_offset": 20.0}
    stored = np.array([stored_q(h) for h in hours])
    put(nc, "Q", "i2", ("time", "lat", "lon"), stored, packed, fill_value=np.int16(-999), **options)
    put(nc, "area", "f8", ("lat", "lon"), area())
    # Time does not come first, and there are no missing values.
    put(nc, "count", "i2", ("lon", "time"), np.array([[h + 10 * i for h in hours] for i in range(3)], dtype="i2"))


def fill_two_hourly(nc, hours, options):
    put(nc, "PS", "f4", ("time", "lat", "lon"), np.array([ps(h) for h in hours]), **options)


def add_to(corpus):
    hourly = source("hourly", ["Q", "area", "count"], HOUR, 4 * HOUR, START + 12 * HOUR)
    two_hourly = source("two_hourly", ["PS"], 2 * HOUR, 24 * HOUR, START + 12 * HOUR)
    add_files(corpus, hourly, "NETCDF4", fill_hourly, {"chunksizes": (1, 2, 3), "zlib": True, "shuffle": True})
    add_files(corpus, two_hourly, "NETCDF3_CLASSIC", fill_two_hourly, {})
    records(corpus, hourly)
    brackets(corpus, hourly, two_hourly)
    multi_window(corpus, hourly)
    prefetch(corpus, {**hourly, "variables": ["Q"]}, two_hourly)


def axes(**times):
    coords = {"lat": field(["lat"], LAT, units="degrees_north"), "lon": field(["lon"], LON, units="degrees_east")}
    return {**times, **coords}


def records(corpus, hourly):
    samples = []
    for t, anchor in ((0, 0), (1800, 0), (3 * HOUR + 3599, 3 * HOUR), (4 * HOUR, 4 * HOUR), (99 * HOUR, 11 * HOUR)):
        hour = anchor // HOUR
        variables = {
            "Q": field(["lat", "lon"], q(hour)),
            "area": field(["lat", "lon"], area()),
            "count": field(["lon"], np.array([hour + 10 * i for i in range(3)], dtype="i4")),
        }
        expected = {"variables": variables, "coords": axes()}
        samples.append({"t": START + t, "anchor_s": START + anchor, "expected": expected})
    corpus.scenario("records", {"runs": [{"source": hourly, "records_per_sample": 1, "samples": samples}]})


def bracket(t, first, second):
    h, g = first // HOUR, second // HOUR
    variables = {
        "Q": field(["time", "lat", "lon"], np.array([q(h), q(g)])),
        "area": field(["lat", "lon"], area()),
        "count": field(["lon", "time"], np.array([[h + 10 * i, g + 10 * i] for i in range(3)], dtype="i4")),
    }
    pair = field(["time"], np.array([START + first, START + second], dtype="f8"), **BRACKET_TIME)
    expected = {"variables": variables, "coords": axes(time=pair)}
    return {"t": START + t, "anchor_s": START + first, "expected": expected}


def brackets(corpus, hourly, two_hourly):
    samples = [
        bracket(0, 0, HOUR),  # a missing cell in the second record
        bracket(HOUR + 1800, HOUR, 2 * HOUR),
        bracket(3 * HOUR, 3 * HOUR, 4 * HOUR),  # over the seam of two files
        bracket(7 * HOUR + 59, 7 * HOUR, 8 * HOUR),
        bracket(11 * HOUR, 11 * HOUR, 11 * HOUR),  # behind the last there is none
        bracket(50 * HOUR, 11 * HOUR, 11 * HOUR),
    ]
    pair = field(["time"], np.array([START + 2 * HOUR, START + 4 * HOUR], dtype="f8"), **BRACKET_TIME)
    coarse = field(["time", "lat", "lon"], np.array([ps(2), ps(4)]).astype("f8"))
    expected = {"variables": {"PS": coarse}, "coords": axes(time=pair)}
    runs = [
        {"source": hourly, "records_per_sample": 2, "samples": samples},
        {
            "source": two_hourly,
            "records_per_sample": 2,
            "samples": [{"t": START + 3 * HOUR, "anchor_s": START + 2 * HOUR, "expected": expected}],
        },
    ]
    corpus.scenario("brackets", {"runs": runs})


WINDOWS = [
    {"dims": {"lat": {"slice": [0, 1]}}},
    {"dims": {"lon": {"indices": [2, 0]}}},
    {"dims": {"lon": {"indices": [1, 1, 2]}, "lat": {"indices": [1, 0]}}},
    {"dims": {"lat": {"slice": [1, 1]}}},
    {"dims": {}},
]


def multi_window(corpus, hourly):
    j, i = np.indices((4, 6))
    e, k = np.indices((7, 4))

    def build(nc):
        dimensions(nc, lat=4, lon=6, lon_edge=7)
        put(nc, "lon", "f4", "lon", 60.0 * np.arange(6))
        put(nc, "height", "f8", ("lat", "lon"), (100 * j + i) / 7, chunksizes=(2, 2), zlib=True)
        put(nc, "edge", "i4", ("lon_edge", "lat"), (10 * e + k).astype("i4"))
        put(nc, "zone", "S1", "lat", np.array([b"a", b"b", b"c", b"d"], dtype="S1"))
        put(nc, "crs", "i4", (), np.int32(4326))

    url = f"{BASE}/static/height.nc"
    corpus.blob(url, netcdf(build), "static")
    seam = {"lon": {"indices": [5, 0, 1]}, "lat": {"slice": [0, 4, 3]}}
    constant = [
        {"dims": seam},
        {"dims": {"lat": {"slice": [1, 3]}, "lon": {"slice": [2, 6]}}},
        {"dims": {"lat": {"indices": [2, 2]}, "lon": {"indices": [3]}, "lon_edge": {"slice": [0, 7, 2]}}},
        {"dims": {"lat": {"indices": []}, "lon": "all"}},
        {"dims": {}},
    ]
    content = {
        "const": {"format": "netcdf", "url": url, "variables": ["height", "edge", "zone", "crs"], "windows": constant},
        "discrete": {"source": hourly, "records_per_sample": [1, 2], "windows": WINDOWS},
    }
    corpus.scenario("multi-window", content)


def prefetch(corpus, hourly, two_hourly):
    times = hourly["refresh_times_s"]
    coarse = [t - (t - START) % (2 * HOUR) for t in times]
    changed = [k == 0 or coarse[k] != coarse[k - 1] for k in range(len(times))]
    content = {
        "sources": {"hourly": hourly, "two_hourly": two_hourly},
        "members": [
            {"key": "Q", "source": "hourly", "records_per_sample": 1},
            {"key": "PS", "source": "two_hourly", "records_per_sample": 1},
            {"key": "QQ", "source": "hourly", "records_per_sample": 2},
        ],
        "windows": WINDOWS[:3],
        "orders": ["forward", "reverse", [3, 3, 0, 11, 7, 8, 8, 1]],
        "depth": [1, 2, 3],
        "workers": [1, 4],
        "max_bytes": [None, 1],
        "expect": {
            "boundaries_s": times,
            "anchors_s": {"Q": times, "PS": coarse, "QQ": times},
            "changed_forward": {"Q": [True] * len(times), "PS": changed, "QQ": [True] * len(times)},
        },
    }
    corpus.scenario("prefetch-equivalence", content)
    beyond = source("hourly", ["Q"], HOUR, 4 * HOUR, START + 16 * HOUR)
    errors = {
        "source": beyond,
        "records_per_sample": 1,
        "missing_from": 12,
        "cancel_after": 3,
        "depth": 3,
        "workers": 2,
    }
    corpus.scenario("prefetch-errors", errors)
