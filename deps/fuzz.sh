#!/usr/bin/env bash
# `make fuzz`: feeds mutated bytes to every parser. Arguments: seconds in all, a target or `all`, a seed.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
source deps/checked.sh
use_rust

exec cargo run --quiet --release --package forcings-fuzz "${checked[@]}" -- "$@"
