"""A rehearsal as its user starts it: a deployment file, the real cdk CLI, the local AWS, nodes, scripts, a job."""

import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import __main__ as command_line
from cdk_trainyard.rehearsal import scenarios
from cdk_trainyard.rehearsal.deploy import Assembly
from tests.deployed import deploy_file
from tests.rehearsal.node_role import started_in

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "cdk_trainyard.rehearsal"]
README = "constructs/cdk_trainyard/rehearsal/README.md"
ENVIRONMENT = os.environ | {"PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}


ON_CREATE = {"lifecycle": {"on_create": "on_create.sh"}}


def deployment(directory: Path, cluster: Mapping[str, object]) -> Path:
    """Return the default deployment with another lifecycle, and what else ``cluster`` says."""
    content = yaml.safe_load((ROOT / "deployments" / "hyperpod-cpu-ddp.yaml").read_text())
    del content["cluster"]["lifecycle"]
    path = directory / "deployment.yaml"
    path.write_text(yaml.safe_dump(content | {"cluster": content["cluster"] | cluster}))
    return path


def rehearse(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *words], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def rehearse_here(
    aws: LocalAws, file: Path, *words: str, kept: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """The same in this process, without the cdk CLI: one rehearsal of every orchestrator shows what that does.

    With ``kept`` its nodes are kept while that runs.
    """

    def synthesize(file: Path, directory: Path) -> Assembly:
        return Assembly(directory=directory, account=aws.account, region=Deployment.load(file).region)

    aws.reset()
    said, told = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(told):
        started_in(aws, patch)
        patch.setattr(scenarios, "synthesize", synthesize)
        patch.setattr(scenarios, "deploy", lambda _assembly, _say: deploy_file(aws, file))
        patch.setattr(command_line, "_keep", lambda _report: kept and kept())
        code = command_line.main([str(file), *words, *(["--keep"] if kept else [])])
    return subprocess.CompletedProcess(words, code, said.getvalue(), told.getvalue())


INTERRUPTIBLE = ["/usr/bin/env", "--default-signal=INT"]
"""What a shell starts in the background ignores Ctrl-C, and so would the rehearsal."""
OTHER_TERMINAL = """
set -Eeuo pipefail
trainyard() { "$PYTHON" -P -m cdk_trainyard "$@"; }
eval "$(trainyard rehearse environment --rehearsal "$KEPT")"
"""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A rehearsal that is kept.

    Attributes:
        number: Its process id.
        file: Its deployment file.
        folder: Where another terminal works, and what it has said is.
        program: What was started.
    """

    number: str
    file: Path
    folder: Path
    program: "subprocess.Popen[bytes]"

    def elsewhere(self, script: str) -> list[str]:
        """Run a script in another terminal, with the deployment file as FILE, and return the lines that it says."""
        environment = {"PYTHON": sys.executable, "KEPT": self.number, "FILE": str(self.file)}
        done = subprocess.run(
            ["/bin/bash", "-c", f"{OTHER_TERMINAL}{script}"],
            cwd=self.folder,
            env=ENVIRONMENT | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    def end(self) -> subprocess.CompletedProcess[str]:
        """End it as Ctrl-C does, and return what it has said."""
        os.kill(int(self.number), signal.SIGINT)
        code = self.program.wait(600)
        said = [(self.folder / name).read_text() for name in ("out", "err")]
        return subprocess.CompletedProcess(self.program.args, code, *said)


@contextmanager
def keep(file: Path, folder: Path, *words: str) -> Iterator[Kept]:
    """Rehearse a deployment file, and keep its nodes for a block."""
    out, err = folder / "out", folder / "err"
    with (
        out.open("w") as stdout,
        err.open("w") as stderr,
        subprocess.Popen(
            [*INTERRUPTIBLE, *PROGRAM, str(file), "--keep", *words],
            cwd=ROOT,
            env=ENVIRONMENT,
            stdout=stdout,
            stderr=stderr,
        ) as program,
    ):
        try:
            deadline = time.monotonic() + 3600
            while "the nodes are kept" not in (said := err.read_text()):
                assert program.poll() is None, said + out.read_text()
                assert time.monotonic() < deadline, said
                time.sleep(0.2)
            child = ["pgrep", "--parent", str(program.pid), "--full", "cdk_trainyard.rehearsal"]
            number = subprocess.run(child, capture_output=True, text=True, check=True).stdout.strip()
            yield Kept(number=number, file=file, folder=folder, program=program)
        finally:
            program.send_signal(signal.SIGTERM)


def assert_went_on(done: "subprocess.CompletedProcess[str]", said: str) -> None:
    """The job went on from a snapshot: the one of step 20, or a later one that was written before the power was cut."""
    found = re.search(said, done.stdout)
    assert found, done.stdout
    step = int(found[1])
    assert step >= 20
    assert step % 5 == 0
