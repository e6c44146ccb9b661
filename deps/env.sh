# Sourced by the scripts of this repository. Sets `root` (the repository) and `cache` (the
# one private folder), and defines what finds Rust, Python and Julia. Prints nothing unless
# something is missing. Needs bash 3.2 or newer.
#
# Variables that a user may set: FORCINGS_CACHE (the private folder), FORCINGS_LIBRARY (another
# library than the one built here), JULIA, PYTHON, CC, CARGO_TARGET_DIR.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
unset CDPATH

die() {
    echo "forcings: $*" >&2
    exit 1
}

# The private folder lies outside the repository if there is a home to write to, else inside
# (`.cache` is ignored by git), and then serves as a home for the tools that want one.
home_is_usable() {
    [ -n "${HOME:-}" ] && [ -d "$HOME" ] && [ -w "$HOME" ]
}
if [ -n "${FORCINGS_CACHE:-}" ]; then
    cache=$FORCINGS_CACHE
elif [ -n "${XDG_CACHE_HOME:-}" ]; then
    cache=$XDG_CACHE_HOME/forcings-dev
elif home_is_usable; then
    cache=$HOME/.cache/forcings-dev
else
    cache=$root/.cache/forcings-dev
fi
mkdir -p "$cache" || die "cannot make the folder $cache; set FORCINGS_CACHE to one that can be written"
cache=$(cd "$cache" && pwd)
if ! home_is_usable; then
    export HOME=$cache/home
    mkdir -p "$HOME"
fi
export PIP_CACHE_DIR=$cache/pip PIP_DISABLE_PIP_VERSION_CHECK=1

target=${CARGO_TARGET_DIR:-$root/target}
case $target in
/*) ;;
*) target=$root/$target ;;
esac

case $(uname -s) in
Darwin) library=$target/release/libforcings_capi.dylib ;;
*) library=$target/release/libforcings_capi.so ;;
esac

# Version $1 is at least version $2 (two numbers each).
at_least() {
    local have=${1%%[!0-9.]*} want=$2 rest
    rest=${have#*.}
    [ "${have%%.*}" -gt "${want%%.*}" ] ||
        { [ "${have%%.*}" -eq "${want%%.*}" ] && [ "${rest%%.*}" -ge "${want#*.}" ]; }
}

# Sets `python` to a Python 3 that can make virtual environments.
find_python() {
    local candidate
    for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
            python=$candidate
            return
        fi
    done
    die "no Python 3.8 or newer with the module venv; install one (on Debian: python3 and python3-venv)"
}

# Makes the virtual environment $1 with the packages that follow, all pinned, once.
need_venv() {
    local name=$1 wanted folder
    shift
    folder=$cache/$name
    wanted="$*"
    venv_ready "$folder" "$wanted" && return
    find_python
    lock_cache
    if ! venv_ready "$folder" "$wanted"; then
        echo "forcings: installing $wanted into $folder" >&2
        rm -rf "$folder"
        "$python" -m venv "$folder" || die "could not make a Python environment in $folder"
        "$folder/bin/python" -m pip install --quiet "$@" || die "pip could not install $wanted"
        echo "$wanted" >"$folder/ready"
    fi
    unlock_cache
}

venv_ready() {
    [ -f "$1/ready" ] && [ "$(cat "$1/ready")" = "$2" ] && "$1/bin/python" -c '' 2>/dev/null
}

# Runs of several work trees share the private folder: one installs, the others wait.
lock_cache() {
    if command -v flock >/dev/null; then
        exec 9>"$cache/lock"
        flock 9
    fi
}

unlock_cache() {
    exec 9>&-
}

# Sets `fatou` to the formatter and linter of Julia code.
need_fatou() {
    need_venv fatou fatou==0.24.0
    fatou=$cache/fatou/bin/fatou
}

# Sets `netcdf` to a Python with netCDF4.
need_netcdf() {
    need_venv netcdf netCDF4==1.7.5.1.post1 numpy==2.4.6 cftime==1.6.6.1
    netcdf=$cache/netcdf/bin/python
}

# Sets `readers` to a Python with other people's readers, and files to read. It also makes the corpus.
need_readers() {
    need_venv readers netCDF4==1.7.5.1.post1 numpy==2.4.6 cftime==1.6.6.1 zarr==3.1.6 numcodecs==0.16.6 \
        xarray==2026.9.0 pandas==3.1.1 iris-sample-data==2.5.2
    readers=$cache/readers/bin/python
}

# The files of Debian's package ferret-datasets, unpacked into the private folder without root.
ferret=$cache/ferret-datasets/usr/share/ferret-vis/data

need_ferret() {
    [ -f "$ferret/monthly_navy_winds.cdf" ] && return
    command -v apt-get >/dev/null || die "this needs a Debian system: it takes its input from a Debian package"
    lock_cache
    if [ ! -f "$ferret/monthly_navy_winds.cdf" ]; then
        rm -rf "$cache/ferret-datasets"
        mkdir -p "$cache/ferret-datasets"
        (
            cd "$cache/ferret-datasets"
            apt-get -qq -o APT::Sandbox::User= download ferret-datasets ||
                die "apt-get cannot download ferret-datasets; does this machine need \`apt-get update\` first?"
            dpkg -x ferret-datasets_*.deb .
            rm ferret-datasets_*.deb
        )
    fi
    unlock_cache
}

# Puts a working cargo, rustc and cmake on this script's PATH.
use_rust() {
    command -v cargo >/dev/null || PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
    command -v cargo >/dev/null || die "no cargo on PATH; install Rust 1.85 or newer (rustup)"
    if ! cargo --version >/dev/null 2>&1; then
        # rustup keeps its toolchains in a home that is not this run's: look beside its own programs.
        local beside
        beside=$(cd "$(dirname "$(command -v cargo)")/../.." && pwd)/.rustup
        [ -n "${RUSTUP_HOME:-}" ] || [ ! -d "$beside" ] || export RUSTUP_HOME=$beside
        cargo --version >/dev/null 2>&1 || die "cargo does not run here: $(cargo --version 2>&1 | head -n 1)"
    fi
    command -v "${CC:-cc}" >/dev/null || die "no C compiler (${CC:-cc}); install one (on Debian: gcc and libc6-dev)"
    local version
    version=$(cmake --version 2>/dev/null | sed -n '1s/^cmake version //p' || true)
    if [ -z "$version" ] || ! at_least "$version" 3.26; then
        need_venv cmake cmake==4.4.5
        PATH=$cache/cmake/bin:$PATH
    fi
    export PATH
}

# An exception thrown inside Julia and one thrown by its C run-time are both caught.
julia_works() {
    local probe='VERSION >= v"1.5" || exit(1)
        caught = try; error(); false; catch; true; end
        caught &= try; Libc.Libdl.dlopen("libdoes_not_exist"); false; catch; true; end
        exit(caught ? 0 : 1)'
    "$1" --startup-file=no -e "$probe" >/dev/null 2>&1 </dev/null
}

# Sets `julia` to a usable Julia, unpacking a private one if the system has none, and
# exports what Julia needs to know. The last answer is kept until the program changes.
use_julia() {
    local wanted=${JULIA:-} kept=$cache/julia-works
    if [ -z "$wanted" ]; then
        wanted=$(command -v julia || true)
    elif ! wanted=$(command -v "$JULIA"); then
        die "JULIA names no program: $JULIA"
    fi
    julia=$wanted
    if [ -z "$julia" ] || ! julia_known "$julia"; then
        if [ -z "$julia" ] || ! julia_works "$julia"; then
            [ -z "${JULIA:-}" ] || die "$julia is older than 1.5 or does not survive an exception; name another with JULIA"
            command -v apt-get >/dev/null || die "no usable julia on PATH; install Julia 1.10 or newer with juliaup"
            lock_cache
            julia=$("$root/deps/julia.sh" "$cache/julia-1.5.3") || die "no Julia; install Julia 1.10 or newer with juliaup"
            unlock_cache
            julia_known "$julia" || julia_works "$julia" || die "the Julia at $julia does not work; remove that folder and try again"
        fi
        echo "$julia" >"$kept"
    fi
    make_depot
    export JULIA_DEPOT_PATH=$cache/depot:
    export FORCINGS_LIBRARY=${FORCINGS_LIBRARY:-$library}
}

julia_known() {
    [ -f "$cache/julia-works" ] && [ "$(cat "$cache/julia-works")" = "$1" ] && [ "$cache/julia-works" -nt "$1" ]
}

# A depot with one empty registry: Pkg refuses to work offline without any.
make_depot() {
    local registry=$cache/depot/registries/Empty
    [ ! -f "$registry/Registry.toml" ] || return 0
    mkdir -p "$registry"
    cat >"$registry/Registry.toml" <<'TOML'
name = "Empty"
uuid = "5f9a8f0e-6f3c-4c55-9a53-2a0a2f2c6d11"
repo = ""

[packages]
TOML
}
