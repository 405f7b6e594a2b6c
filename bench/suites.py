"""What the tests take here beside those of another commit: whole runs of ``make`` in fresh clones, in turns.

``python bench/suites.py COMMIT`` prints seconds; days' machines differ by more than commits, so only runs in turns
compare. ``make bench`` leaves it out: a run of the unit tests takes minutes, and one of everything half an hour.
"""

import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*words: str, folder: Path) -> str:
    """Run a program in a folder, without this clone's own on its path, and return what it printed.

    Raises:
        SystemExit: It failed; with the end of what it printed.
    """
    path = os.pathsep.join(each for each in os.get_exec_path() if not Path(each).is_relative_to(ROOT))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")} | {"PATH": path}
    done = subprocess.run(words, cwd=folder, env=inherited, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} in {folder}:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def clone(commit: str, folder: Path) -> Path:
    """Return a clone of a commit, set up."""
    run("git", "clone", "--quiet", str(ROOT), str(folder), folder=ROOT)
    run("git", "checkout", "--quiet", "--detach", commit, folder=folder)
    run("make", "setup", folder=folder)
    return folder


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the commit to compare with")
    parser.add_argument("--target", default="test-unit", help="what is made: test-unit (Default) or test")
    parser.add_argument("--turns", type=int, default=3, help="after a first one, which compiles all that it imports")
    options = parser.parse_args()
    took: dict[str, list[float]] = {"HEAD": [], options.commit: []}
    with tempfile.TemporaryDirectory(prefix="cdk-trainyard-bench-") as folder:
        clones = {commit: clone(commit, Path(folder, str(number))) for number, commit in enumerate(took)}
        print(f"make {options.target:<23} tests  seconds", flush=True)
        for commit in [*took] * (1 + options.turns):
            began = time.monotonic()
            passed = re.findall(r"(\d+) passed", run("make", options.target, folder=clones[commit]))
            took[commit].append(time.monotonic() - began)
            print(f"{commit:<28}{passed[-1]:>6}{took[commit][-1]:9.1f}", flush=True)
    _, *ratios = (head / other for head, other in zip(*took.values(), strict=True))
    print(f"{f'HEAD/{options.commit}':<28}{'':6}{statistics.median(ratios):9.2f}")


if __name__ == "__main__":
    main()
