#!/usr/bin/env bash
# `make interop`: stores that pass between this repository and others. What Julia writes, netCDF4-python and sqlite3 read;
# and our crate and the crate infrastore-core 0.3.0 go on with each other's stores. With `--tools`, only the first.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
use_rust
use_julia
need_netcdf
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

status=0
"$julia" --startup-file=no --project=julia deps/interop_store.jl "$folder" &&
    "$netcdf" deps/interop.py "$folder" || status=1
if [ "${1:-}" != --tools ]; then
    peer=$(deps/peers.sh interop)
    cargo build --quiet --release --package forcings --example interop
    rm -rf "${folder:?}"/*
    "$netcdf" deps/interop_peer.py "${peer#* }" "$target/release/examples/interop" "$folder" || status=1
fi
exit "$status"
