#!/usr/bin/env bash
# `make format`: the formatters that `make check` asks, writing.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
use_rust
need_fatou
cargo fmt --all
for folder in julia examples bench deps; do
    [ ! -d "$folder" ] || "$fatou" --quiet format "$folder"
done
