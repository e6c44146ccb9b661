"""Derives monthly_winds.nc, the input of the example, from a data set of Debian's package ferret-datasets.

    derive.py SOURCE.cdf TARGET.nc

SOURCE is monthly_navy_winds.cdf: classic netCDF, two float32 variables on (time, latitude, longitude).
The values are packed to 16-bit integers in steps of 0.01 m/s; nothing else about them changes.
`make data` fetches the source and runs this program with the versions that PROVENANCE.md names.
"""

import sys

import netCDF4
import numpy

SCALE = 0.01
FILL = numpy.int16(-32768)

# name in the source -> name, standard_name, long_name
WINDS = {
    "UWND": ("uwnd", "eastward_wind", "zonal wind at the surface"),
    "VWND": ("vwnd", "northward_wind", "meridional wind at the surface"),
}


def main(source_path, target_path):
    with netCDF4.Dataset(source_path) as source, netCDF4.Dataset(target_path, "w", format="NETCDF4") as target:
        target.Conventions = "CF-1.8"
        target.title = "Monthly mean surface winds, global, 2.5 degrees"
        target.source = "monthly_navy_winds.cdf of Debian's package ferret-datasets"
        target.history = "packed to int16 by examples/data/derive.py; source: " + source.history

        axes = (
            ("time", "TIME", {"standard_name": "time", "axis": "T", "calendar": "standard"}),
            ("lat", "FNOCY", {"standard_name": "latitude", "axis": "Y"}),
            ("lon", "FNOCX", {"standard_name": "longitude", "axis": "X"}),
        )
        for name, source_name, attributes in axes:
            values = source[source_name][:]
            target.createDimension(name, len(values))
            axis = target.createVariable(name, "f8", (name,), contiguous=True, fill_value=False)
            axis.units = source[source_name].units
            axis.setncatts(attributes)
            axis[:] = values

        for source_name, (name, standard_name, long_name) in WINDS.items():
            write_packed(target, name, source[source_name][:], standard_name, long_name)


def write_packed(target, name, values, standard_name, long_name):
    """Writes `values` as int16 with a scale factor, one time step per chunk."""
    packed = numpy.ma.round(values.astype("f8") / SCALE)
    if abs(packed).max() >= -int(FILL):
        raise SystemExit(f"{name}: a value does not fit 16 bits at a step of {SCALE}")
    variable = target.createVariable(
        name,
        "i2",
        ("time", "lat", "lon"),
        zlib=True,
        complevel=4,
        shuffle=True,
        chunksizes=(1, *values.shape[1:]),
        fill_value=FILL,
    )
    variable.set_auto_maskandscale(False)
    variable.standard_name = standard_name
    variable.long_name = long_name
    variable.units = "m s-1"
    variable.scale_factor = SCALE
    variable[:] = numpy.ma.filled(packed, FILL).astype("i2")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
