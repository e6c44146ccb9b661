#!/usr/bin/env bash
# `make corpus`: makes julia/test/corpus anew with pinned packages. With `--check`, makes it elsewhere and compares: the same
# versions give the same bytes.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
need_readers
export PYTHONDONTWRITEBYTECODE=1
folder=julia/test/corpus
if [ "${1:-}" = --check ]; then
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    "$readers" "$folder/generator/main.py" "$made"
    diff --recursive --brief --exclude generator --exclude README.md "$made" "$folder" ||
        die "$folder is not what its generator makes"
else
    "$readers" "$folder/generator/main.py" "$folder"
fi
