#!/usr/bin/env bash
# `make data`: makes examples/data/monthly_winds.nc anew from Debian's package
# ferret-datasets, unpacked into the private folder. Needs no root.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
command -v apt-get >/dev/null || die "make data needs a Debian system: it takes its input from a Debian package"
need_netcdf

source_file=$cache/ferret-datasets/usr/share/ferret-vis/data/monthly_navy_winds.cdf
if [ ! -f "$source_file" ]; then
    rm -rf "$cache/ferret-datasets"
    mkdir -p "$cache/ferret-datasets"
    (
        cd "$cache/ferret-datasets"
        apt-get -qq -o APT::Sandbox::User= download ferret-datasets ||
            die "apt-get cannot download ferret-datasets; does this machine need \`apt-get update\` first?"
        dpkg -x ferret-datasets_*.deb .
        rm ferret-datasets_*.deb
    )
fi
"$netcdf" examples/data/derive.py "$source_file" examples/data/monthly_winds.nc
if command -v sha256sum >/dev/null; then
    sha256sum "$source_file" examples/data/monthly_winds.nc
fi
