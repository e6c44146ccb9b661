#!/usr/bin/env bash
# `make test`: the Rust tests, the Julia suite with one and with two threads, the code of
# the documentation. Goes on after a failure, so that one run tells everything.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
source deps/checked.sh
use_rust
use_julia

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

# The threads of a prefetch group under a scheduler that explores their interleavings.
interleavings() {
    cargo test --quiet --release --package forcings --features shuttle --lib "${checked[@]}" prefetch::explored |
        sed -E '/^(|running [0-9]+ tests?)$/d'
}

stage "Rust tests" rust_tests
stage "interleavings of threads" interleavings
for threads in 1 2; do
    stage "Julia tests, $threads thread(s)" env JULIA_NUM_THREADS="$threads" \
        "$julia" --startup-file=no --project=julia julia/test/runtests.jl
done
stage "code of the documentation" deps/docs.sh
exit "$status"
