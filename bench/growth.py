"""How synthesis and the check of a file grow with the number of groups: one warm process, turns, medians, a fit.

``make bench`` runs it. Starting Python and Node takes several times what a hundred groups take, so whole processes
would compare noise with noise: here everything is loaded before the clock starts, and what groups add is fitted. Calls
of Python functions are counted as well: on a busy machine they are the steadier measure.
"""

import argparse
import cProfile
import gc
import pstats
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml
from aws_cdk import App

from cdk_trainyard.deployment import Deployment
from stacks import build_stacks

SIZES = (1, 20, 40, 60, 80, 99)  # a cluster has at most 100 groups, and one of them is the controller


def grown(source: Path, groups: int, folder: Path) -> Path:
    """Return a copy of a deployment file with ``groups`` groups of compute."""
    content = yaml.safe_load(source.read_text())
    members = content["cluster"]["groups"]
    worker = members.pop("worker-group-1")
    members |= {f"worker-group-{number}": worker for number in range(1, groups + 1)}
    path = folder / f"{groups}.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


Measure = Callable[[Path], float]


def synthesis(path: Path) -> float:
    """Synthesize once, from the file to the templates, and return the wall time."""
    gc.collect()
    with tempfile.TemporaryDirectory(prefix="cdk-trainyard-bench-") as out:
        start = time.perf_counter()
        app = App(outdir=out)
        build_stacks(app, Deployment.load(path))
        app.synth()
        return time.perf_counter() - start


def check(path: Path) -> float:
    """Ask every rule about a file once, and return the wall time."""
    gc.collect()
    start = time.perf_counter()
    Deployment.load(path)
    return time.perf_counter() - start


def calls(measure: Measure, path: Path) -> int:
    """Return how many calls of Python functions one run takes."""
    profile = cProfile.Profile()
    profile.runcall(measure, path)
    return sum(count for _, count, *_ in pstats.Stats(profile).stats.values())  # type: ignore[attr-defined]


def exponent(found: Mapping[int, float]) -> float:
    """Return the exponent of ``fixed + each * size ** exponent``, by least squares."""

    def misfit(power: float) -> float:
        x: list[float] = [size**power for size in found]
        each, fixed = statistics.linear_regression(x, list(found.values()))
        return sum((fixed + each * at - y) ** 2 for at, y in zip(x, found.values(), strict=True))

    return min((hundredth / 100 for hundredth in range(10, 301)), key=misfit)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the deployment file that grows")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    gc.disable()  # as in app.py; it collects between the turns
    with tempfile.TemporaryDirectory(prefix="cdk-trainyard-bench-") as folder:
        files = {size: grown(options.source, size, Path(folder)) for size in SIZES}
        for measure in (synthesis, check):
            grow(measure, files, options.runs)


def grow(measure: Measure, files: Mapping[int, Path], runs: int) -> None:
    """Measure and print how one thing grows."""
    for size in (1, SIZES[-1]):
        measure(files[size])  # load and warm everything
    turns = [{size: measure(files[size]) for size in SIZES} for _ in range(runs)]
    counts = {size: calls(measure, files[size]) for size in SIZES}
    times = {size: [turn[size] for turn in turns] for size in SIZES}
    medians = {size: statistics.median(found) for size, found in times.items()}
    heading = f"{measure.__name__}: groups of compute ({runs} turns)"
    print(f"{heading:<50} median    min    max     calls")
    for size, found in times.items():
        print(f"{size:<50} {medians[size]:6.3f} {min(found):6.3f} {max(found):6.3f} {counts[size]:9,}")
    print(f"{'milliseconds per group':<50} {(medians[SIZES[-1]] - medians[1]) / (SIZES[-1] - 1) * 1000:6.2f}")
    print(f"{'exponent of the time that groups add':<50} {exponent(medians):6.2f}   goal <= 1.1")
    print(f"{'exponent of the calls that groups add':<50} {exponent(counts):6.2f}   goal <= 1.1")


if __name__ == "__main__":
    main()
