"""Measure synthesis and checks, side by side in one run: this app, the same by hand in two languages, an empty app.

``make bench`` runs it. The programs take turns, so a machine whose speed drifts slows all of them; medians are printed
with minimum and maximum, and ratios are of turns, not of medians. Nothing here fails a build. README.md tells how to
read it.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
NODE = os.environ["JSII_NODE"]
CONTEXT = json.loads((ROOT / "cdk.json").read_text())["context"]
LARGEST = max((ROOT / "deployments").glob("*.yaml"), key=lambda path: path.stat().st_size)


@dataclass(frozen=True, kw_only=True)
class Program:
    """One way to synthesize."""

    label: str
    command: Sequence[str]
    environment: Mapping[str, str]


PYTHON = {"CDK_VALIDATION": "false", "PYTHONPATH": str(ROOT)}


def python(label: str, script: str) -> Program:
    """A Python app; CDK's own validation is off, as in app.py."""
    return Program(label=label, command=[sys.executable, str(ROOT / script)], environment=PYTHON)


PROGRAMS = [
    python("a   TrainingStack, cdk-nag x 2 and validation", "app.py"),
    Program(
        label="b   by hand in TypeScript, CDK's own validation",
        command=[NODE, str(HERE / "typescript" / "app.js")],
        environment={},
    ),
    python("a'  TrainingStack, no checks", "bench/without_checks.py"),
    python("c   an empty Python app", "bench/empty.py"),
    python("d   by hand in Python, no checks", "bench/by_hand.py"),
    Program(
        label=f"e   check of {LARGEST.name}",
        command=[sys.executable, "-m", "cdk_trainyard", "check", str(LARGEST)],
        environment=PYTHON,
    ),
]
RATIOS = [
    (0, 1, "a/b", "goal <= 1.0"),
    (2, 3, "a'/c", "goal <= 2.0"),
    (4, 3, "d/c", ""),
    (2, 4, "a'/d", ""),
    (5, 3, "e/c", "goal <= 0.7"),
]


def seconds(program: Program) -> float:
    """Run once into a fresh directory; return the wall time."""
    out = tempfile.mkdtemp(prefix="cdk-trainyard-bench-")
    context = json.dumps(CONTEXT | {"deployment": str(ROOT / CONTEXT["deployment"])})
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**inherited, "CDK_OUTDIR": out, "CDK_CONTEXT_JSON": context, **program.environment}
    start = time.perf_counter()
    try:
        subprocess.run(program.command, cwd=ROOT, env=environment, check=True, capture_output=True)
        return time.perf_counter() - start
    except subprocess.CalledProcessError as error:
        sys.exit(f"{program.label}: {error.stderr.decode()}")
    finally:
        shutil.rmtree(out)


def side_by_side(runs: int) -> None:
    """Let the programs take turns and print their times and ratios."""
    for program in PROGRAMS:
        seconds(program)  # warm the file cache
    turns = [[seconds(program) for program in PROGRAMS] for _ in range(runs)]
    print(f"{'wall seconds':<50} median    min    max   ({runs} turns)")
    for index, program in enumerate(PROGRAMS):
        times = [turn[index] for turn in turns]
        print(f"{program.label:<50} {statistics.median(times):6.2f} {min(times):6.2f} {max(times):6.2f}")
    for over, under, name, goal in RATIOS:
        ratios = [turn[over] / turn[under] for turn in turns]
        print(f"{name:<50} {statistics.median(ratios):6.2f} {min(ratios):6.2f} {max(ratios):6.2f}   {goal}")


def build_typescript() -> None:
    """Install and compile the TypeScript app; its time does not count."""
    folder = HERE / "typescript"
    npm = str(Path(sys.executable).with_name("npm"))
    if not (folder / "node_modules" / "typescript").exists():
        subprocess.run([npm, "ci", "--no-fund", "--no-audit"], cwd=folder, check=True)
    compiler = folder / "node_modules" / "typescript" / "bin" / "tsc"
    subprocess.run([NODE, str(compiler), "--project", str(folder)], check=True)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    build_typescript()
    side_by_side(options.runs)
    print(flush=True)
    growth = [sys.executable, str(HERE / "growth.py"), str(ROOT / CONTEXT["deployment"])]
    subprocess.run(growth, env={**os.environ, **PYTHON, "CDK_CONTEXT_JSON": json.dumps(CONTEXT)}, check=True)


if __name__ == "__main__":
    main()
