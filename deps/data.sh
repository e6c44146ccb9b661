#!/usr/bin/env bash
# `make data`: makes examples/data/monthly_winds.nc anew from Debian's package
# ferret-datasets, unpacked into the private folder. Needs no root.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
need_ferret
need_netcdf

source_file=$ferret/monthly_navy_winds.cdf
"$netcdf" examples/data/derive.py "$source_file" examples/data/monthly_winds.nc
if command -v sha256sum >/dev/null; then
    sha256sum "$source_file" examples/data/monthly_winds.nc
fi
