#!/usr/bin/env bash
# `make check`: formatters, linters, the C header and the rules of the repository.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
use_rust
need_fatou

status=0
step() {
    local output
    if ! output=$("$@" 2>&1 </dev/null); then
        status=1
        printf '%s\n--- failed: %s\n' "$output" "$*" >&2
    else
        echo "ok: $*"
    fi
}

julia_folders=()
for folder in julia examples bench deps; do
    [ ! -d "$folder" ] || julia_folders+=("$folder")
done

step "$cache/fatou/bin/python" deps/check_repository.py
step "$cache/fatou/bin/python" deps/mutants.py --check
step cargo fmt --all --check -- --color never
step "$fatou" --color never --quiet format --check "${julia_folders[@]}"
step "$fatou" --color never --quiet lint "${julia_folders[@]}"
step cargo clippy --quiet --release --workspace --all-targets --locked -- --deny warnings
step deps/header.sh
exit "$status"
