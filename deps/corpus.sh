#!/usr/bin/env bash
# `make corpus`: makes julia/test/corpus anew with pinned packages. With `--check`, only compares: the same versions give the
# same bytes.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
need_readers
folder=julia/test/corpus
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
PYTHONDONTWRITEBYTECODE=1 "$readers" "$folder/generator/main.py" "$made"
if [ "${1:-}" = --check ]; then
    diff --recursive --brief --exclude generator --exclude README.md "$made" "$folder" ||
        die "$folder is not what its generator makes"
else
    rm -rf "$folder"/{cache,cases,scenarios,cases.json}
    cp -R "$made"/. "$folder"
fi
