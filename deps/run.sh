#!/usr/bin/env bash
# Runs one program in the environment that `make setup` prepared:
#   deps/run.sh julia --project=julia script.jl
#   deps/run.sh cargo test --release -p forcings
#   deps/run.sh python deps/bench.py
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
program=${1:?usage: deps/run.sh julia|cargo|python ARGUMENTS}
shift
case $program in
julia)
    use_julia
    exec "$julia" --startup-file=no "$@"
    ;;
cargo)
    use_rust
    exec cargo "$@"
    ;;
python)
    use_rust
    find_python
    exec "$python" "$@"
    ;;
*) die "deps/run.sh runs julia, cargo or python, not $program" ;;
esac
