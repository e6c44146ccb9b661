#!/usr/bin/env bash
# `make docs`: runs the Julia code of every page of the documentation.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
use_julia
shopt -s nullglob
exec env JULIA_NUM_THREADS=2 "$julia" --startup-file=no --project=julia deps/run_docs.jl README.md docs/*.md
