"""Breaks one line of the sources at a time and sees whether the tests that should notice do.

    deps/mutants.py [--check] [--only NAME]... [FILE]...

FILE is a list of mutants, by default every one under rust/mutants. A list has a block for each mutant; lines that begin
with # are passed over:

    [name]                  what is broken
    file = PATH             the source, from the root of the repository
    line = TEXT             the line to replace, without its indentation; it occurs once in the file
    with = TEXT             what to put there; nothing for no line at all
    test = NAME             a test that must fail then, by its whole name; may be repeated
    package = NAME          whose test it is, if not of forcings
    target = --test NAME    in which program it is, if not in --lib

--check only looks whether each line still occurs once, and builds nothing. Otherwise the sources are copied into the build
folder, the tests have to pass there first, and each mutant is built and tested in turn. Prints `N killed, M survived`;
exits 1 if any survived, does not build, or cannot be made.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
# Where the sources are copied to and broken, and the build folder of that copy.
COPY = TARGET / "mutants" / "sources"
BUILD = TARGET / "mutants" / "build"
# A test that takes longer is taken to hang, which is a way to fail.
TIMEOUT_S = 300
# Built anew for every mutant: what makes that quick matters more than how fast the tests run.
QUICK = {"CARGO_INCREMENTAL": "1", "CARGO_TERM_COLOR": "never"}
QUICK_PROFILE = ["opt-level=0", "codegen-units=256", "debug=0"]


class Unusable(Exception):
    """A list of mutants, or a mutant, that makes no sense."""


@dataclass
class Mutant:
    """One line to break and the tests that must notice."""

    name: str
    where: str
    file: str = ""
    line: str = ""
    with_: str = ""
    tests: list = field(default_factory=list)
    package: str = "forcings"
    target: str = "--lib"

    def broken(self, root):
        """The text of the file with the line replaced."""
        path = root / self.file
        if not path.is_file():
            raise Unusable(f"{self.where}: there is no file {self.file}")
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        places = [i for i, text in enumerate(lines) if text.strip() == self.line]
        if len(places) != 1:
            raise Unusable(f"{self.where}: the line of {self.name} occurs {len(places)} times in {self.file}, not once")
        old = lines[places[0]]
        indent = old[: len(old) - len(old.lstrip())]
        lines[places[0]] = f"{indent}{self.with_}\n" if self.with_ else ""
        return "".join(lines)


def read(path):
    """The mutants of one list."""
    mutants = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where, text = f"{path.name}:{number}", text.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("[") and text.endswith("]"):
            mutants.append(Mutant(text[1:-1], where))
            continue
        key, equals, value = (part.strip() for part in text.partition("="))
        if not mutants or not equals or key not in ("file", "line", "with", "test", "package", "target"):
            raise Unusable(f"{where}: `{text}` belongs to no mutant, or is none of its parts")
        if key == "test":
            mutants[-1].tests.append(value)
        else:
            setattr(mutants[-1], "with_" if key == "with" else key, value)
    for mutant in mutants:
        if not (mutant.file and mutant.line and mutant.tests):
            raise Unusable(f"{mutant.where}: {mutant.name} lacks its file, its line or its tests")
        if mutant.line == mutant.with_:
            raise Unusable(f"{mutant.where}: {mutant.name} changes nothing")
    return mutants


def copy_sources():
    """Brings the copy up to the working tree. Files that are alike stay untouched, so that nothing is built for them."""
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE,
    ).stdout.decode()
    names = {name for name in listing.split("\0") if name and (ROOT / name).is_file()}
    names = {name for name in names if name.startswith(("rust/", "julia/test/", "Cargo."))}
    for stale in [path for path in COPY.rglob("*") if path.is_file() and str(path.relative_to(COPY)) not in names]:
        stale.unlink()
    for name in names:
        put(COPY / name, (ROOT / name).read_bytes())
    # Dependencies take minutes to build, and are there already.
    if not BUILD.exists() and (TARGET / "release").is_dir():
        ours = shutil.ignore_patterns("incremental", "examples", "*forcings*")
        shutil.copytree(TARGET / "release", BUILD / "release", symlinks=True, ignore=ours)


def put(path, content):
    """Writes a file unless it has this content."""
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def build(package, target):
    """The test program, or None and what the compiler said."""
    command = ["cargo", "test", "--release", "--locked", "--no-run", "--message-format=json-render-diagnostics"]
    command += ["--package", package, *target.split()]
    for setting in QUICK_PROFILE:
        command += ["--config", f"profile.release.package.{package}.{setting}"]
    environment = {**os.environ, **QUICK, "CARGO_TARGET_DIR": str(BUILD)}
    done = subprocess.run(command, cwd=COPY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    programs = []
    for message in done.stdout.splitlines():
        message = json.loads(message) if message.startswith("{") else {}
        if message.get("executable") and message.get("profile", {}).get("test"):
            programs.append(message["executable"])
    if done.returncode or len(programs) != 1:
        return None, done.stderr
    return programs[0], ""


def passes(program, package, tests):
    """Whether these tests pass; those that the program does not have count as failed."""
    command = [program, "--exact", *tests]
    try:
        done = subprocess.run(
            command, cwd=COPY / "rust" / package, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return False, f"took longer than {TIMEOUT_S} s"
    return done.returncode == 0 and f"ok. {len(tests)} passed" in done.stdout, done.stdout


def baseline(mutants):
    """Every named test has to pass while nothing is broken."""
    programs = {}
    for mutant in mutants:
        programs.setdefault((mutant.package, mutant.target), set()).update(mutant.tests)
    for (package, target), tests in programs.items():
        program, why = build(package, target)
        if program is None:
            sys.exit(f"{package} {target} does not build:\n{why}")
        fine, output = passes(program, package, sorted(tests))
        if not fine:
            sys.exit(f"without a mutant, not all of the {len(tests)} tests exist and pass:\n{output}")


def run(mutant):
    """`killed`, `SURVIVED`, or what went wrong."""
    path = COPY / mutant.file
    original = path.read_bytes()
    try:
        path.write_text(mutant.broken(COPY), encoding="utf-8")
        program, why = build(mutant.package, mutant.target)
        if program is None:
            return f"DOES NOT BUILD\n{why}"
        return "SURVIVED" if passes(program, mutant.package, mutant.tests)[0] else "killed"
    finally:
        path.write_bytes(original)


def main():
    parser = argparse.ArgumentParser(description="Breaks the sources line by line and sees whether the tests notice.")
    parser.add_argument("--check", action="store_true", help="only look whether each line still occurs once")
    parser.add_argument("--only", action="append", metavar="NAME", help="this mutant; may be repeated")
    parser.add_argument("lists", nargs="*", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    try:
        mutants = [m for path in options.lists or sorted((ROOT / "rust/mutants").glob("*.txt")) for m in read(path)]
        names = [mutant.name for mutant in mutants]
        for name in options.only or []:
            if name not in names:
                raise Unusable(f"there is no mutant {name}")
        mutants = [m for m in mutants if not options.only or m.name in options.only]
        if len(set(names)) != len(names):
            raise Unusable(f"two mutants have the name {max(names, key=names.count)}")
        for mutant in mutants:
            mutant.broken(ROOT)
    except Unusable as error:
        sys.exit(str(error))
    if options.check:
        print(f"{len(mutants)} mutants can be made")
        return
    copy_sources()
    baseline(mutants)
    outcomes = []
    for mutant in mutants:
        begin = time.monotonic()
        outcomes.append(run(mutant))
        print(f"{mutant.name}: {outcomes[-1]} ({time.monotonic() - begin:.0f} s)", flush=True)
    killed = outcomes.count("killed")
    print(f"{killed} killed, {len(outcomes) - killed} survived")
    sys.exit(killed != len(outcomes))


if __name__ == "__main__":
    main()
