"""``trainyard`` on a terminal: it asks before it changes anything, and Ctrl-C leaves nothing running."""

import os
import pty
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.programs
FILE = str(ROOT / "deployments" / "hyperpod-cpu-ddp.yaml")
TRAINYARD = [sys.executable, "-m", "cdk_trainyard"]
CTRL_C = "\x03"
CDK = r"""#!/bin/bash
# a cdk CLI that says what it was asked; while `hold` is there, a deployment goes on
[[ $1 != --version ]] || { echo 2.1148.1; exit; }
echo "$*" >> "$KEPT/asked"
[[ ! $* =~ --output\ ([^ ]+) ]] || echo '{"artifacts": {}}' > "${BASH_REMATCH[1]}/manifest.json"
[[ " $* " != *" diff "* ]] || { echo "IAM Statement Changes"; exit "$(cat "$KEPT/diff" 2> /dev/null || echo 0)"; }
touch "$TMPDIR/of-a-moment"
[[ ! -e $KEPT/deaf ]] || trap "" INT TERM
while [[ -e $KEPT/hold ]]; do sleep 0.1; done
"""
PATIENCE = 300


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self.pid, self._to = pty.fork()
        if self.pid == 0:  # the program; what a shell starts in the background ignores SIGINT, what nohup starts SIGHUP
            for each in (signal.SIGINT, signal.SIGHUP):
                signal.signal(each, signal.SIG_DFL)
            os.execve(words[0], words, environment)  # noqa: S606  no shell is wanted
        self.said = ""

    def until(self, text: str) -> None:
        """Read until it says something; pytest's time limit ends a wait in vain."""
        while text not in self.said:
            self._read()

    def type(self, keys: str) -> None:
        os.write(self._to, keys.encode())

    def end(self) -> int:
        """Read to the end, and return the exit code."""
        with suppress(OSError):  # a terminal that nobody has open any more
            while True:
                self._read()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> None:
        assert select.select([self._to], [], [], 600)[0], self.said
        found = os.read(self._to, 4096)
        if not found:
            raise OSError(f"it ended, and had said {self.said!r}")
        self.said += found.decode()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    for name, text in (("node", "#!/bin/sh\necho v24.0.0\n"), ("cdk", CDK)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "tmp").mkdir()
    return tmp_path


@pytest.fixture
def terminal(kept: Path) -> Iterator[Terminal]:
    environment = os.environ | {
        "PATH": f"{kept}:{os.environ['PATH']}",
        "JSII_NODE": str(kept / "node"),
        "KEPT": str(kept),
        "TMPDIR": str(kept / "tmp"),
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    started = Terminal([*TRAINYARD, "deploy", FILE], environment)
    yield started
    with suppress(ProcessLookupError):
        os.kill(started.pid, signal.SIGKILL)


def asked(kept: Path) -> list[str]:
    lines = (kept / "asked").read_text().splitlines()
    return [next(word for word in line.split() if word in {"diff", "deploy"}) for line in lines]


@pytest.mark.parametrize(
    ("answer", "code", "calls"), [("n", 1, ["diff"]), ("", 1, ["diff"]), ("y", 0, ["diff", "deploy"])]
)
def test_it_shows_what_changes_and_asks(
    answer: str, code: int, calls: list[str], terminal: Terminal, kept: Path
) -> None:
    terminal.until("[y/N]")
    assert "IAM Statement Changes" in terminal.said
    terminal.type(f"{answer}\n")
    assert terminal.end() == code
    assert asked(kept) == calls
    assert ("nothing was changed" in terminal.said) is (code == 1)


def test_nothing_is_asked_where_the_comparison_failed(kept: Path, terminal: Terminal) -> None:
    (kept / "diff").write_text("1")
    assert terminal.end() == 1
    assert "cdk diff failed, as shown above" in terminal.said
    assert asked(kept) == ["diff"]


def test_ctrl_c_at_the_question_changes_nothing(kept: Path, terminal: Terminal) -> None:
    terminal.until("[y/N]")
    terminal.type(CTRL_C)
    assert terminal.end() == 130
    assert asked(kept) == ["diff"]


def begun(kept: Path, terminal: Terminal) -> None:
    """Answer the question, and wait until the CLI deploys."""
    (kept / "hold").touch()
    terminal.until("[y/N]")
    terminal.type("y\n")
    until(lambda: (kept / "asked").exists() and "deploy" in asked(kept))


def until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.05)


def nothing_is_left(kept: Path) -> bool:
    """Whether no process runs that the command has started, and no file of a moment is there."""
    running = [each for each in Path("/proc").glob("[0-9]*/environ") if holds(each, f"KEPT={kept}")]
    return not running and not [*(kept / "tmp").iterdir()]


def test_ctrl_c_ends_the_cli_and_says_what_goes_on(kept: Path, terminal: Terminal) -> None:
    begun(kept, terminal)
    terminal.type(CTRL_C)
    assert terminal.end() == 130
    assert f"trainyard deploy {FILE} goes on from there" in " ".join(terminal.said.split())
    until(lambda: nothing_is_left(kept))


def test_a_second_ctrl_c_leaves_nothing_running_either(kept: Path, terminal: Terminal) -> None:
    """While the CLI, which does not want to end, is given its time."""
    (kept / "deaf").touch()
    begun(kept, terminal)
    terminal.type(CTRL_C)
    time.sleep(0.5)
    with suppress(OSError):  # the CLI may have been quicker than its trap
        terminal.type(CTRL_C)
    assert terminal.end() == 130
    until(lambda: nothing_is_left(kept))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_it_ends_the_cli(number: signal.Signals, kept: Path, terminal: Terminal) -> None:
    begun(kept, terminal)
    os.kill(terminal.pid, number)
    assert terminal.end() == 128 + number
    until(lambda: nothing_is_left(kept))


def holds(environment: Path, text: str) -> bool:
    """Whether a process that runs has a variable."""
    try:
        return text in environment.read_text(errors="replace")
    except OSError:
        return False
