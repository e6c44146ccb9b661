#!/usr/bin/env bash
# `make bench-peers`: builds programs of rust/bench-peers, and prints the name and the address of each. They share one
# build folder in the private folder, whatever CARGO_TARGET_DIR says: their C libraries are not ours. Arguments name the
# programs; without any, those of the benchmarks are built, and Python with netCDF4 and zarr is prepared.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
use_rust
peers=("$@")
if [ $# -eq 0 ]; then
    need_readers
    echo "python $readers"
    echo "epochs $root/rust/bench-peers/python/read_epochs.py"
    peers=(infrastore earthsciio)
fi
for peer in "${peers[@]}"; do
    program=$cache/peers/target/release/peer-$peer
    [ -x "$program" ] || echo "forcings: building the peer $peer (the first build takes minutes)" >&2
    cargo build --quiet --release --locked --manifest-path "$root/rust/bench-peers/$peer/Cargo.toml" \
        --target-dir "$cache/peers/target"
    echo "$peer $program"
done
