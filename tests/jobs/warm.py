"""Programs with torch, each in processes of its own that need not load it: forks of one that has."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.jobs.parts import ARGUMENTS, LLAMA, PROGRAMS, STAND_INS

_VARIABLES = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"}


class Warm:
    """A process that has loaded torch, and starts programs.

    torchrun itself, and a Python for each process, start the same programs in ``test_on_nodes.py``.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, program: Path, *words: str, ranks: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program to its end; with ``ranks`` as so many processes of torchrun."""
        asked = {
            "words": [str(program), *words],
            "ranks": ranks,
            "variables": {**_VARIABLES, "PYTHONPATH": str(STAND_INS), **variables},
        }
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{json.dumps(asked)}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(asked["words"], answer["code"], answer["out"], answer["err"])

    def train(
        self, folder: Path, name: str, words: Sequence[str] = ARGUMENTS, *, processes: int = 4, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Train the tiny model into ``folder / name``, with the model and the tokens in ``folder``."""
        (folder / name).mkdir(exist_ok=True)
        places = [f"--directory={folder / name}", f"--dataset={folder / 'tokens'}", f"--model={folder / 'tiny.json'}"]
        return self.run(LLAMA / "train.py", *places, *words, ranks=processes, **variables)


@contextmanager
def warmed(environment: Path) -> Iterator[Warm]:
    """Load torch once, for the programs of a block."""
    command = [str(environment / "bin" / "python"), str(PROGRAMS / "warm.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_VARIABLES) as process:
        yield Warm(process)
