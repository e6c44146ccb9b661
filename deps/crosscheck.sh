#!/usr/bin/env bash
# `make crosscheck`: what we decode against other readers: netCDF4-python and xarray over the files of the PyPI package
# iris-sample-data, of Debian's ferret-datasets, and of our tests; zarr-python over stores that are made here. And the
# corpus against its generator. With `--tests`, ferret-datasets only where it was fetched before.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
use_rust
need_readers
if [ "${1:-}" != --tests ]; then
    need_ferret
elif [ ! -d "$ferret" ]; then
    echo "without ferret-datasets, which \`make crosscheck\` fetches"
    ferret=
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PYTHONDONTWRITEBYTECODE=1

status=0
deps/corpus.sh --check || status=1
cargo build --quiet --release --package forcings --example dump
sample_data=$("$readers" -c 'import iris_sample_data as data; print(data.path)')
{
    find "$sample_data" -name '*.nc'
    [ -z "$ferret" ] || find "$ferret" -name '*.cdf' -o -name '*.nc'
    find examples/data julia/test/data julia/test/corpus/cache -name '*.nc' ! -name damaged.nc
} | sort | "$readers" deps/crosscheck.py "$target/release/examples/dump" "$folder" || status=1
"$readers" deps/crosscheck_zarr.py "$target/release/examples/dump" "$folder" || status=1
exit "$status"
