#!/usr/bin/env bash
# `make setup`: everything the other targets need. Fast when nothing is to be done.
#
# Afterwards target/release holds the library, and deps/build/library-path.txt its
# address, which the Julia package reads where FORCINGS_LIBRARY is not set.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"

use_rust
use_julia
quiet=--quiet
[ -f "$library" ] || {
    quiet=
    echo "forcings: building the library (the first build compiles its C libraries: minutes)" >&2
}
cargo build $quiet --release --package forcings-capi
[ -f "$library" ] || die "cargo made no $library"
mkdir -p deps/build
if [ "$(cat deps/build/library-path.txt 2>/dev/null)" != "$library" ]; then
    echo "$library" >deps/build/library-path.txt
fi
if [ "${1:-}" = --report ]; then
    echo "julia   $julia"
    echo "library $library"
    echo "private $cache"
fi
