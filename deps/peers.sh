#!/usr/bin/env bash
# `make bench-peers`: builds the executables of the peers and prepares Python with netCDF4. Each has a build folder of its
# own, whatever CARGO_TARGET_DIR says: their C libraries are not ours.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
use_rust
need_netcdf
for peer in infrastore earthsciio; do
    folder=$root/rust/bench-peers/$peer
    [ -x "$folder/target/release/peer-$peer" ] ||
        echo "forcings: building the peer $peer (the first build takes minutes)" >&2
    cargo build --quiet --release --locked --manifest-path "$folder/Cargo.toml" --target-dir "$folder/target"
    echo "$peer $folder/target/release/peer-$peer"
done
echo "python $netcdf"
