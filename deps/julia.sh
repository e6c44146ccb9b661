#!/usr/bin/env bash
# Unpacks the Julia 1.5.3 of Debian 11, with the libraries it was built against, into a
# private folder and prints the path of its `julia`. Needs no root and installs nothing
# system-wide. The archive's address is read from this machine's own apt sources.
#
#   deps/julia.sh FOLDER
#
# The libraries are given to the dynamic loader on its command line, never through
# LD_LIBRARY_PATH: programs started from Julia (cargo, curl, git) keep their own.
set -euo pipefail
prefix=${1:?usage: deps/julia.sh FOLDER}
if [ -x "$prefix/usr/bin/julia" ]; then
    echo "$prefix/usr/bin/julia"
    exit 0
fi

fail() {
    echo "deps/julia.sh: $*" >&2
    exit 1
}
for tool in apt-get dpkg ldd; do
    command -v "$tool" >/dev/null || fail "this system has no $tool; it is not a Debian system"
done

# Prints the address of the Debian archive, from either format of apt sources.
archive_uri() {
    {
        sed -nE 's/^URIs:[[:space:]]*([^[:space:]]+).*/\1/p' /etc/apt/sources.list.d/*.sources
        sed -nE 's/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+)[[:space:]].*/\2/p' \
            /etc/apt/sources.list /etc/apt/sources.list.d/*.list
    } 2>/dev/null | grep -E '/debian/?$' | head -n 1
}
uri=$(archive_uri || true)
[ -n "$uri" ] || fail "no Debian archive among this machine's apt sources"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || fail "$keyring is missing; the package debian-archive-keyring has it"

mkdir -p "$(dirname "$prefix")"
staged=$(mktemp -d "$prefix.XXXXXX")
trap 'rm -rf "$staged"' EXIT
apt=$staged/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
echo "deb [signed-by=$keyring] $uri bullseye main" >"$apt/sources.list"
: >"$apt/nothing-installed"
apt_get() {
    apt-get -qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/nothing-installed" \
        -o Dir::Cache="$apt/cache" -o APT::Install-Recommends=false -o APT::Sandbox::User= \
        -o Acquire::Languages=none "$@"
}

# With no package installed, a simulated installation lists the whole closure. The C and
# C++ run-time libraries stay the system's: they are newer, and other native code in the
# process (our own library among it) was linked against them.
system='^(libc6|libc-bin|libcrypt1|libgcc-s1|gcc-[0-9]+-base|libstdc[+][+]6|perl.*|debconf|dpkg|tar|install-info)$'
echo "downloading Julia 1.5.3 from the Debian archive" >&2
apt_get update
mapfile -t packages < <(apt_get -s install julia | awk '/^Inst /{print $2}' | grep -vE "$system")
[ "${#packages[@]}" -gt 0 ] || fail "the Debian archive offers no package julia in bullseye"
(cd "$apt/debs" && apt_get download "${packages[@]}")
for deb in "$apt"/debs/*.deb; do
    dpkg -x "$deb" "$staged"
done
rm -rf "$apt" "$staged"/usr/share/doc "$staged"/usr/share/man "$staged"/usr/share/locale

# The real program moves aside; `julia` becomes a wrapper around the loader, and
# JULIA_BINDIR tells Julia to find its files, and start its workers, through the wrapper.
cd "$staged"
loader=$(ldd usr/bin/julia | awk '$1 ~ /^\/.*ld-linux/ {print $1}')
[ -n "$loader" ] || fail "cannot tell this system's dynamic loader"
triple=$(cd usr/lib && ls -d -- *-linux-gnu*)
mkdir -p usr/libexec
mv usr/bin/julia usr/libexec/julia
cat >usr/bin/julia <<WRAPPER
#!/bin/sh
bin=\$(dirname "\$(readlink -f "\$0")")
lib=\${bin%/bin}/lib/$triple
export JULIA_BINDIR="\$bin"
exec $loader --library-path "\$lib:\$lib/julia:\$lib/openblas-pthread:\$lib/openblas64-pthread" \\
    "\${bin%/bin}/libexec/julia" "\$@"
WRAPPER
chmod +x usr/bin/julia
trap - EXIT
chmod 755 "$staged"
if ! mv -T "$staged" "$prefix" 2>/dev/null; then
    rm -rf "$staged" # another run was first
fi
[ -x "$prefix/usr/bin/julia" ] || fail "could not put Julia at $prefix"
echo "$prefix/usr/bin/julia"
