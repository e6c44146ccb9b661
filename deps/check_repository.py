"""Rules of the repository that no formatter knows. Prints each breach; exits 1 if there is one.

1. No file names the host of a package registry: a user's own settings say where packages come from.
2. No file holds an absolute path of somebody's machine.
3. Rust and Julia sources outside tests stay within 500 lines, unless LONG_FILES gives the cause.
4. A relative link on a page in Markdown leads to a file.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE_LIMIT = 500

# path -> why it is longer than LINE_LIMIT
LONG_FILES = {}

REGISTRY_HOST = re.compile(
    r"\b(?:(?:[\w-]+\.)?crates\.io/|(?:[\w-]+\.)?pypi\.org|(?:[\w-]+\.)?pythonhosted\.org"
    r"|registry\.npmjs\.\w+|(?:deb|archive|security|snapshot|ftp)\.debian\.org|\w+\.pkg\.julialang\.org)",
    re.IGNORECASE,
)
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:root|work|home/\w+|Users/\w+)/")
MARKDOWN_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")


def tracked_files():
    """Files under version control, and those that could be added."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    for name in sorted(set(listing.decode().split("\0")) - {""}):
        if (ROOT / name).is_file():
            yield name


def is_test(path):
    return "tests" in path.parts or "test" in path.parts or path.name in ("tests.rs", "test.rs")


def breaches(name):
    """Yields (line number or None, what is wrong) for one file."""
    raw = (ROOT / name).read_bytes()
    if b"\0" in raw[:8192]:
        return
    lines = raw.decode("utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        if REGISTRY_HOST.search(line):
            yield number, "names the host of a package registry"
        if MACHINE_PATH.search(line):
            yield number, "holds an absolute path of one machine"
        for link in MARKDOWN_LINK.findall(line) if name.endswith(".md") else ():
            if not (ROOT / name).parent.joinpath(link).exists():
                yield number, f"links to {link}, which does not exist"
    path = pathlib.PurePosixPath(name)
    if path.suffix in (".rs", ".jl") and not is_test(path):
        if len(lines) > LINE_LIMIT and name not in LONG_FILES:
            yield None, f"has {len(lines)} lines, over {LINE_LIMIT}; split it or give the cause in deps/check_repository.py"
        if len(lines) <= LINE_LIMIT and name in LONG_FILES:
            yield None, "is listed as a long file in deps/check_repository.py, but is not long"


def main():
    found = 0
    for name in tracked_files():
        for number, what in breaches(name):
            found += 1
            print(f"{name}:{number}: {what}" if number else f"{name}: {what}")
    for name in LONG_FILES:
        if not (ROOT / name).is_file():
            found += 1
            print(f"{name}: listed as a long file in deps/check_repository.py, but does not exist")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
