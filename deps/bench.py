"""Builds the peers, runs the benchmarks of the core, prints one table, and writes bench/results.json. Arguments name
benchmarks (`store`, `readers`, `providers`, ..., and `julia` for those in Julia); the other rows of the file then stay as they are. The files that
`providers` reads are made once, in the private folder (about 900 MB).

Each benchmark prints one JSON object a row on a line of its own (see `FIELDS`); all else it prints goes to the
terminal. Whether a goal is met is computed here from the times and never stored. A row about memory has no time but
`ours_bytes` and `bound_bytes`.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results.json"
WRITER = ROOT / "rust" / "bench-peers" / "python" / "write_epochs.py"
# The folders of gridded files, and what is written there; see `WRITER`.
GRIDDED = {
    "epochs": {},
    "tiles": {"records": 8, "records_per_file": 8, "chunk": [91, 144]},
    "classic": {"records": 8, "records_per_file": 8, "format": "NETCDF3_64BIT_OFFSET"},
    "zarr": {"format": "zarr"},
}
FIELDS = ("area", "row", "ours_s", "peer", "peer_s", "bound_s", "goal_ratio_peer", "goal_ratio_bound")


def peers():
    """Where the programs of the peers are, as variables of the environment."""
    built = subprocess.run([ROOT / "deps" / "peers.sh"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {f"FORCINGS_PEER_{name.upper()}": path for name, path in (line.split(" ", 1) for line in built.splitlines())}


def gridded(python, peer):
    """Makes the gridded files beside the folder of the peers, where they are not there yet; the folder of all of them."""
    data = Path(peer).parents[3] / "bench"
    for folder, request in GRIDDED.items():
        subprocess.run([python, WRITER, json.dumps({"folder": str(data / folder), **request})], check=True)
    return str(data)


def run(names):
    """Yields the rows that the benchmarks print."""
    environment = {**os.environ, **peers()}
    if not names or {"providers", "julia"} & set(names):
        found = environment["FORCINGS_PEER_PYTHON"], environment["FORCINGS_PEER_EARTHSCIIO"]
        environment["FORCINGS_BENCH_DATA"] = gridded(*found)
    in_rust = [name for name in names if name != "julia"]
    if in_rust or not names:
        command = ["cargo", "bench", "--package", "forcings"]
        command += [part for name in in_rust for part in ("--bench", name)] or ["--benches"]
        yield from rows_of(command, environment)
    if not names or "julia" in names:
        command = [ROOT / "deps" / "run.sh", "julia", "--project=julia", ROOT / "bench" / "prefetch.jl"]
        yield from rows_of(command, {**environment, "JULIA_NUM_THREADS": "2"})


def rows_of(command, environment):
    """Yields the rows that a program prints."""
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            row = parse(line)
            if row is None:
                print(line, end="", flush=True)
            else:
                yield row
    if process.returncode:
        sys.exit(f"a benchmark failed (exit code {process.returncode})")


def parse(line):
    """The row on this line, or None where it holds something else."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError:
        return None
    if not isinstance(row, dict) or "row" not in row:
        return None
    missing = [field for field in FIELDS if field not in row]
    if missing:
        sys.exit(f"a row lacks {', '.join(missing)}: {line}")
    return row


def ratios(row):
    """How often faster than the peer and how much slower than the bound, and whether each goal is met."""
    ours, bound = row["ours_s"], row["bound_s"]
    against_peer = row["peer_s"] / ours if ours and row["peer_s"] else None
    if ours is None:
        ours, bound = row["ours_bytes"], row["bound_bytes"]
    against_bound = ours / bound if ours and bound else None
    met = []
    if row["goal_ratio_peer"] is not None and against_peer is not None:
        met.append(against_peer >= row["goal_ratio_peer"])
    if row["goal_ratio_bound"] is not None and against_bound is not None:
        met.append(against_bound <= row["goal_ratio_bound"])
    return against_peer, against_bound, met


def key(row):
    return row["area"], row["row"], row["peer"]


def cell(value, form="{:.2f}"):
    return "" if value is None else form.format(value)


def show(rows):
    head = ("area", "row", "ours", "x faster than peer", "goal", "x bound", "goal", "")
    lines = [head]
    for row in rows:
        peer, bound, met = ratios(row)
        lines.append(
            (
                row["area"],
                row["row"],
                cell(row["ours_s"], "{:.4g} s") or f"{row['ours_bytes'] / 2**20:.1f} MiB",
                f"{peer:.2f} ({row['peer']})" if peer is not None else "",
                cell(row["goal_ratio_peer"], ">= {:g}"),
                cell(bound),
                cell(row["goal_ratio_bound"], "<= {:g}"),
                "" if not met else "met" if all(met) else "MISSED",
            )
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def main(names):
    rows = list(run(names))
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    cores = len(os.sched_getaffinity(0))
    for row in rows:
        row["commit"] = commit
        row["machine"] = f"{processor()}, {cores} cores, {platform.system()} {platform.machine()}"
    old = json.loads(RESULTS.read_text()) if names and RESULTS.exists() else []
    measured = {key(row) for row in rows}
    rows = [row for row in old if key(row) not in measured] + rows
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
    print()
    show(rows)
    print(f"\nwritten to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
