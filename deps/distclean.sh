#!/usr/bin/env bash
# `make distclean`: removes all that the other targets made outside version control.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"
# The folder's name may come from FORCINGS_CACHE: remove only what is ours in it.
for name in bench cmake fatou netcdf peers pip readers home depot ferret-datasets simbench julia-1.5.3 julia-works lock; do
    rm -rf "${cache:?}/$name"
done
rmdir "$cache" 2>/dev/null || echo "forcings: $cache is not empty; the rest of it is not ours" >&2
rm -rf target deps/build .cache rust/bench-peers/*/target
[ "$target" = "$root/target" ] || echo "forcings: the build in $target stays; CARGO_TARGET_DIR names it" >&2
