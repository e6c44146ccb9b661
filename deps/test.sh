#!/usr/bin/env bash
# `make test`: the Rust tests, a minute of fuzzing, the Julia suite with one and with two threads, stores and files read by
# other tools, the code of the documentation. Goes on after a failure, so that one run tells
# everything.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
source deps/checked.sh
use_rust
use_julia
need_netcdf

# The HDF5 and netCDF-C of netCDF4-python share a process with ours in a Julia test.
other_library() {
    local found
    found=$(find "$cache/netcdf/lib" \( -name "lib$1-*" -o -name "lib$1.[0-9]*" \) \( -path '*.libs/*' -o -path '*.dylibs/*' \))
    [ -f "$found" ] || die "netCDF4-python in $cache/netcdf has no single lib$1"
    echo "$found"
}
FORCINGS_OTHER_NETCDF=$(other_library netcdf)
FORCINGS_OTHER_HDF5=$(other_library hdf5)
export FORCINGS_OTHER_NETCDF FORCINGS_OTHER_HDF5

status=0
stage() {
    echo "--- $1"
    shift
    "$@" </dev/null || {
        status=1
        echo "--- failed: $*" >&2
    }
}

# Without the blank lines and headings that cargo prints for every program.
rust_tests() {
    cargo test --quiet --release --workspace --no-fail-fast "${checked[@]}" | sed -E '/^(|running [0-9]+ tests?)$/d'
}

# The threads of prefetch groups and of readahead under a scheduler that explores their interleavings.
interleavings() {
    cargo test --quiet --release --package forcings --features shuttle --lib "${checked[@]}" explored |
        sed -E '/^(|running [0-9]+ tests?)$/d'
}

stage "Rust tests" rust_tests
stage "interleavings of threads" interleavings
stage "parsers under mutated bytes" deps/fuzz.sh 45 all 1
for threads in 1 2; do
    stage "Julia tests, $threads thread(s)" env JULIA_NUM_THREADS="$threads" \
        "$julia" --startup-file=no --project=julia julia/test/runtests.jl
done
stage "stores read by other tools" deps/interop.sh --tools
stage "files read by other readers" deps/crosscheck.sh --tests
stage "code of the documentation" deps/docs.sh
exit "$status"
