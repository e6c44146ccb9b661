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

# Stages of several lanes run at the same time: most of them keep one processor busy. What a stage prints is shown as a
# whole, in the order below.
logs=$(mktemp -d)
lanes=()
end() {
    local lane
    for lane in ${lanes[@]+"${lanes[@]}"}; do
        kill -- "-$lane" 2>/dev/null || true
    done
    rm -rf "$logs"
}
trap end EXIT

# In a lane: runs a stage under this name.
stage() {
    local name=$1 code=0
    shift
    "$@" </dev/null >"$logs/$name" 2>&1 || code=$?
    [ "$code" = 0 ] || echo "--- failed: $*" >>"$logs/$name"
    echo "$code" >"$logs/$name.code.part"
    mv "$logs/$name.code.part" "$logs/$name.code"
}

# Shows a stage when its lane is done with it.
show() {
    local name=$1 lane=$2
    echo "--- $name"
    while [ ! -f "$logs/$name.code" ] && kill -0 "$lane" 2>/dev/null; do
        sleep 0.5
    done
    cat "$logs/$name" 2>/dev/null || true
    [ "$(cat "$logs/$name.code" 2>/dev/null)" = 0 ] || status=1
}

# Without the blank lines and headings that cargo prints for every program.
without_headings() {
    sed -E '/^(|running [0-9]+ tests?)$/d'
}

rust_tests() {
    cargo test --quiet --release --workspace --no-fail-fast "${checked[@]}" "$@" | without_headings
}

# The threads of prefetch groups and of readahead under a scheduler that explores their interleavings.
interleavings() {
    cargo test --quiet --release --package forcings --features shuttle --lib "${checked[@]}" "$@" explored |
        without_headings
}

# The suite on so many threads, with options of Julia's.
julia_tests() {
    local threads=$1
    shift
    env JULIA_NUM_THREADS="$threads" "$julia" --startup-file=no "$@" --project=julia julia/test/runtests.jl
}

rust_lane() {
    stage "Rust tests" rust_tests
    stage "interleavings of threads" interleavings
    stage "parsers under mutated bytes" deps/fuzz.sh 45 all 1
}

first_julia_lane() {
    stage "Julia tests, 1 thread" julia_tests 1
    stage "code of the documentation" deps/docs.sh
}

# Most of the time of these tests goes into compiling them; half of the optimisation will do here.
second_julia_lane() {
    stage "Julia tests, 2 threads" julia_tests 2 -O1
    stage "stores read by other tools" deps/interop.sh --tools
    stage "files read by other readers" deps/crosscheck.sh --tests
}

# Compiled before the lanes begin: tests then share the machine with no compiler, the library is not replaced under Julia,
# and no two processes write one file of Julia's compiled code. What does not compile is told by its stage.
rust_tests --no-run >"$logs/compiler" 2>&1 </dev/null || true
interleavings --no-run >"$logs/compiler" 2>&1 </dev/null || true
"$julia" --startup-file=no --project=julia -e 'using Forcings' </dev/null || true

# Each lane is a process group of its own, which ends with this script.
set -m
rust_lane &
rust=$!
first_julia_lane &
first=$!
second_julia_lane &
second=$!
lanes=("$rust" "$first" "$second")
set +m

status=0
show "Rust tests" "$rust"
show "interleavings of threads" "$rust"
show "parsers under mutated bytes" "$rust"
show "Julia tests, 1 thread" "$first"
show "Julia tests, 2 threads" "$second"
show "stores read by other tools" "$second"
show "files read by other readers" "$second"
show "code of the documentation" "$first"
wait
lanes=()
exit "$status"
