"""Cases about time axes: every calendar, units of all kinds, and the refresh times they stand for.

`decode.refresh_times_s` are Unix seconds counted in the calendar of the data, by cftime: another implementation than ours.
"""

import cftime
import numpy as np

from corpus import field, netcdf, put
from masking import dimensions

CALENDARS = {
    "standard": (
        "days since 1582-10-01 00:00:00",
        [0.0, 3.0, 4.0, 5.25],
        "across the reform: the 4th precedes the 15th",
    ),
    "gregorian": ("hours since 2000-02-28 12:00:00", [0.0, 12.0, 36.0, 60.0], "another name of standard"),
    "proleptic_gregorian": ("days since 1582-10-01 00:00:00", [0.0, 3.0, 4.0, 14.5], "no reform"),
    "julian": ("days since 1900-02-28 00:00:00", [0.0, 1.0, 2.0, 2.5], "1900 is a leap year"),
    "noleap": ("days since 2000-02-28 00:00:00", [0.0, 1.0, 366.0], "2000 is none"),
    "365_day": ("hours since 1999-12-31 18:00:00", [0.0, 6.0, 8766.0], "another name of noleap"),
    "all_leap": ("days since 2001-02-28 00:00:00", [0.0, 1.0, 2.0, 367.0], "2001 has a 29 February"),
    "366_day": ("minutes since 2001-02-28 23:00:00", [0.0, 60.0, 1500.0], "another name of all_leap"),
    "360_day": ("days since 2000-02-29 00:00:00", [0.0, 1.0, 2.0, 331.5], "every month has 30 days"),
}

UNITS = {
    "seconds": ("seconds since 1970-01-01T00:00:00Z", "f8", [0.0, 1.5, 86400.0]),
    "milliseconds": ("milliseconds since 2031-06-15 00:00:00.5", "i8", [0, 1, 86400000]),
    "minutes-short": ("min since 2000-1-1 0:0:0", "i4", [0, 90, 1440]),
    "hours-short": ("hr since 1900-01-01", "i4", [0, 1148000, 1148001]),
    "days-early": ("days since 0001-01-01 00:00:00", "f8", [730120.0, 730120.0 + 1 / 24, 730121.0]),
    "days-single": ("days since 1950-01-01", "f4", [0.5, 1.5, 20000.5]),
    "zone": ("hours since 2000-01-01 00:00:00 -06:00", "f8", [0.0, 6.0, 12.0]),
}


def unix_seconds(values, units, calendar):
    dates = cftime.num2date(values, units, calendar)
    seconds = [cftime.date2num(d, "milliseconds since 1970-01-01 00:00:00", calendar) for d in dates]
    return [round(float(s)) / 1000 for s in seconds]


def axis_case(corpus, id, kind, units, calendar, values, format, notes):
    values = np.array(values, dtype=kind)
    load = 100.0 * np.arange(len(values)) + 0.5
    attributes = {"units": units} if calendar is None else {"units": units, "calendar": calendar}

    def build(nc):
        dimensions(nc, time=len(values))
        put(nc, "time", kind, "time", values, attributes)
        put(nc, "load", "f8", "time", load)

    raw = values.astype("f8") if kind.startswith("f") else values
    corpus.case(
        id,
        data=netcdf(build, format),
        variables={"load": field(["time"], load)},
        coords={"time": field(["time"], raw, **attributes)},
        decode={"time_dim": "time", "refresh_times_s": unix_seconds(raw, units, calendar or "standard")},
        notes=notes,
    )


def add_to(corpus):
    for calendar, (units, values, notes) in CALENDARS.items():
        id = "calendar-" + calendar.replace("_", "-")
        axis_case(corpus, id, "f8", units, calendar, values, "NETCDF3_CLASSIC", notes)
    for name, (units, kind, values) in UNITS.items():
        axis_case(
            corpus,
            "time-" + name,
            kind,
            units,
            None,
            values,
            "NETCDF4",
            "the standard calendar is meant if none is named",
        )
    raw_axis(corpus)


def raw_axis(corpus):
    """A time axis keeps its type, although it declares a missing value: its numbers mean nothing without their units."""
    times = np.array([1, 2, 4], dtype="i2")
    about = {"units": "days since 2031-01-01", "missing_value": np.int16(-1), "calendar": "standard"}

    def build(nc):
        dimensions(nc, time=3, month=2)
        put(nc, "time", "i2", "time", times, about)
        put(nc, "load", "i4", "time", np.array([10, 20, 40], dtype="i4"))
        # Not a time axis: units without a reference.
        put(nc, "month", "i2", "month", np.array([1, 2], dtype="i2"), {"units": "months", "scale_factor": 0.5})

    corpus.case(
        "time-raw",
        data=netcdf(build),
        variables={"load": field(["time"], np.array([10, 20, 40], dtype="i4"))},
        coords={
            "time": field(["time"], times.astype("i4"), units=about["units"], calendar="standard"),
            "month": field(["month"], [0.5, 1.0], units="months"),
        },
        decode={"time_dim": "time", "refresh_times_s": unix_seconds(times, about["units"], "standard")},
    )
