"""A command on several nodes side by side, each in a session of its own.

Sessions reach the nodes of HyperPod as those of EC2; Run Command does not (``SendCommand`` takes no target of a
cluster). A session says nothing of how its command ended, so the command's own shell does, between marks.

Sources: source code of aws/session-manager-plugin (ends with 0; ends where its input ends) and aws/amazon-ssm-agent
(``shell_unix.go``: splits a command that is not interactive into words, gives it no input and one output); AWS Systems
Manager user guide, "Turn off or turn on ssm-user account administrative permissions" (sudo without a password); read
2026-11.
"""

import base64
import re
import secrets
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from typing import Final

from cdk_trainyard.account import Account
from cdk_trainyard.operations import sessions
from cdk_trainyard.operations.protocol import Node, OperationError
from cdk_trainyard.operations.sessions import Plugin, Program

MOST_AT_ONCE: Final = 64
"""How many sessions there are at once."""
_BETWEEN_SECONDS: Final = 0.35
"""HyperPod starts three sessions a second for an account ("SageMaker HyperPod" mental model of
awslabs/awsome-distributed-ai, 2026-07)."""
_MOST: Final = 65_535
"""The longest value of a session's parameter (botocore's model)."""
_USER: Final = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_MARK: Final = "trainyard"
_PATIENCE_SECONDS: Final = 5

Heard = Callable[[Node, str], None]
"""Told each line of a node's output."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a command ended on a node.

    Attributes:
        node: The node.
        code: Its exit code. None: it is not known, and `why` says why.
        why: Why it is not known.
    """

    node: Node
    code: int | None
    why: str = ""


class Output:
    """The output of a session, read line by line: what is between the marks is the command's.

    Args:
        identifier: What tells the marks from anything else.

    Attributes:
        code: The command's exit code. None: it has not ended.
        other: What was said before the command began: by the plugin.
    """

    def __init__(self, identifier: str) -> None:
        self.code: int | None = None
        self.other: list[str] = []
        self._begin = f"{_MARK}-{identifier} begin"
        self._end = re.compile(rf"{_MARK}-{identifier} end (\d+)")
        self._began = False
        self._empty = False

    def hear(self, line: str) -> Iterator[str]:
        """Take a line, and yield what is the command's; an empty line is held back, since the last one is not.

        Args:
            line: The line, without its end.
        """
        line = line.rstrip("\r")
        if self.code is not None:
            return
        if not self._began:
            self._began = line == self._begin
            self.other += [line] if line.strip() and not self._began else []
        elif found := self._end.fullmatch(line):
            self.code = int(found[1])
        else:
            if self._empty:
                yield ""
            self._empty = not line
            if line:
                yield line


def line_of(words: Sequence[str]) -> str:
    """Return a command as a line for a shell: a single word is one already.

    Args:
        words: What stands after ``--``.
    """
    return words[0] if len(words) == 1 else shlex.join(words)


def wrapped(line: str, identifier: str, user: str = "root") -> str:
    """Return a session's command that runs a line as a user, in its login shell, and says how it ended.

    The line is written in base64: nothing between here and the shell can take a part of it for its own.

    Args:
        line: The line.
        identifier: What tells the marks from anything else.
        user: The user.

    Raises:
        OperationError: It is too long for a session, or nobody can have that name.
    """
    if not _USER.fullmatch(user):
        raise OperationError(f"{user!r} is no name of a user")
    packed = base64.b64encode(line.encode()).decode()
    script = (
        f'line="$(echo {packed} | base64 -d)"; as=; [ "$(id -u)" = 0 ] || as="sudo -n"; '
        f'printf "{_MARK}-%s begin\\n" {identifier}; $as su - {user} -c "$line"; '
        f'printf "\\n{_MARK}-%s end %d\\n" {identifier} $?'
    )
    made = f"sh -c '{script}'"
    if len(made) > _MOST:
        raise OperationError(f"the command is too long for a session: {len(line.encode())} bytes; put it into a script")
    return made


def _token() -> str:
    return secrets.token_hex(8)


class _Pace:
    """Lets sessions start one after the other, and not too often."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._next = 0.0

    def wait(self) -> None:
        with self._lock:
            now = time.monotonic()
            time.sleep(max(0.0, self._next - now))
            self._next = max(now, self._next) + _BETWEEN_SECONDS


class Commands:
    """Commands on the nodes of an account.

    Args:
        account: The account.
        plugin: What carries sessions.
    """

    def __init__(self, account: Account, plugin: Plugin) -> None:
        self._account = account
        self._plugin = plugin
        self._pace = _Pace()
        self._carried: set[subprocess.Popen[str]] = set()
        self._ends = False

    def one(self, node: Node, line: str, heard: Heard, *, user: str = "root") -> Ended:
        """Run a line on a node.

        Args:
            node: The node.
            line: The line.
            heard: Told each line of its output.
            user: As whom.

        Raises:
            OperationError: The line is too long.
        """
        identifier = _token()
        command = wrapped(line, identifier, user)
        if not node.target:
            return Ended(node=node, code=None, why=f"no session can be opened: it is {node.state}")
        self._pace.wait()
        asked = sessions.call(node.target, sessions.COMMAND, command=command)
        try:
            program = sessions.start(self._account, self._plugin, asked, called=sessions.called(node))
        except OperationError as error:
            return Ended(node=node, code=None, why=str(error).removeprefix(f"{sessions.called(node)}: "))
        output = Output(identifier)
        with self._running(program) as process:
            for text in process.stdout or ():
                for each in output.hear(text.rstrip("\n")):
                    heard(node, each)
        if output.code is None:
            said = "; ".join(line for line in output.other if not line.startswith("Starting session"))
            return Ended(node=node, code=None, why=f"the session ended before the command did{said and f': {said}'}")
        return Ended(node=node, code=output.code)

    def all(self, nodes: Sequence[Node], line: str, heard: Heard, *, user: str = "root") -> Iterator[Ended]:
        """Run a line on nodes side by side, and yield how it ended on each, as it ends.

        Args:
            nodes: The nodes.
            line: The line.
            heard: Told each line of their output, one line at a time.
            user: As whom.

        Raises:
            OperationError: The line is too long.
        """
        lock = Lock()

        def tell(node: Node, text: str) -> None:
            with lock:
                heard(node, text)

        wrapped(line, _token(), user)
        pool = ThreadPoolExecutor(max_workers=max(1, min(MOST_AT_ONCE, len(nodes))))
        try:
            waiting: list[Future[Ended]] = [pool.submit(self.one, node, line, tell, user=user) for node in nodes]
            for future in as_completed(waiting):
                yield future.result()
        except BaseException:  # an interrupt: what has not begun does not, what goes on is told
            self._ends = True
            pool.shutdown(wait=False, cancel_futures=True)
            _interrupt(list(self._carried))
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    @contextmanager
    def _running(self, program: Program) -> Iterator[subprocess.Popen[str]]:
        """Run the plugin during a block; its input stays open, or it would end at once."""
        with subprocess.Popen(  # noqa: S603  the plugin
            list(program.words),
            env=dict(program.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            self._carried.add(process)
            try:
                if self._ends:
                    _interrupt([process])
                yield process
            except BaseException:
                _interrupt([process])
                raise
            finally:
                self._carried.discard(process)


def _interrupt(processes: Sequence[subprocess.Popen[str]]) -> None:
    """Tell plugins what Ctrl-C tells them, and end those that do not end by it."""
    for process in processes:
        process.send_signal(signal.SIGINT)
    patient_until = time.monotonic() + _PATIENCE_SECONDS
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, patient_until - time.monotonic()))
        process.kill()
