#!/usr/bin/env bash
# `make header` writes rust/forcings-capi/include/forcings.h from the Rust sources;
# without `--write` it compares the two. The work is done by the crate's test `header`.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
source deps/checked.sh
use_rust
if [ "${1:-}" = --write ]; then
    export FORCINGS_WRITE_HEADER=1
fi
exec cargo test --quiet --release --package forcings-capi --test header "${checked[@]}"
