"""Talking to a rehearsal that runs: a socket of its own, one line of JSON each way.

The rehearsal alone changes its nodes; a command from another terminal asks it to. Its socket and its record vanish with
it; a record whose process is gone is a leftover that ``leftovers`` finds.
"""

import contextlib
import json
import os
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cdk_trainyard.rehearsal._process import alive
from cdk_trainyard.rehearsal.errors import RehearsalError

Handler = Callable[..., str]


def state_directory() -> Path:
    """Return where the sockets of running rehearsals are."""
    return Path(os.environ.get("XDG_RUNTIME_DIR") or "/run") / "cdk-trainyard"


class Control:
    """The socket of a rehearsal: answers one command at a time. Use it in a ``with`` block."""

    def __init__(self, commands: Mapping[str, Handler]) -> None:
        """Prepare to answer.

        Args:
            commands: What each command does: called with its arguments, returns what the caller is shown.
        """
        self._path = state_directory() / f"{os.getpid()}.sock"
        self._commands = commands
        self._lock = threading.Lock()
        self._server: socketserver.ThreadingUnixStreamServer | None = None

    def __enter__(self) -> Self:
        """Start to answer."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.unlink(missing_ok=True)
        control = self

        class Connection(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                request = json.loads(self.rfile.readline())
                answer = control.answer(request["command"], request["arguments"])
                with contextlib.suppress(BrokenPipeError):  # the caller may have gone
                    self.wfile.write(json.dumps(answer).encode() + b"\n")

        self._server = socketserver.ThreadingUnixStreamServer(str(self._path), Connection)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop to answer."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
        self._path.unlink(missing_ok=True)

    def answer(self, command: str, arguments: Sequence[str]) -> dict[str, Any]:
        """Do a command, and return what the caller is told."""
        handler = self._commands.get(command)
        if handler is None:
            return {"error": f"no command is named '{command}'; there are {', '.join(sorted(self._commands))}"}
        try:
            with self._lock:
                return {"result": handler(*arguments)}
        except (RehearsalError, TypeError, ValueError) as error:
            return {"error": str(error)}


def running() -> list[int]:
    """Return the process ids of the rehearsals that run, oldest first."""
    return [number for number in _recorded() if alive(number)]


def leftovers() -> list[Path]:
    """Return the sockets of rehearsals whose process is gone."""
    return [state_directory() / f"{number}.sock" for number in _recorded() if not alive(number)]


def ask(command: str, *arguments: str, rehearsal: int | None = None) -> str:
    """Ask a running rehearsal to do something, and return what it says.

    Args:
        command: What to do.
        arguments: Its arguments.
        rehearsal: Process id of the rehearsal. Default - the one that runs.

    Raises:
        RehearsalError: None runs, several do, or it refused.
    """
    numbers = running()
    if rehearsal is None and len(numbers) != 1:
        several = f"{len(numbers)} rehearsals run ({', '.join(map(str, numbers))}): choose one with --rehearsal"
        raise RehearsalError(several if numbers else "no rehearsal runs; start one with --keep")
    path = state_directory() / f"{rehearsal or numbers[0]}.sock"
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(json.dumps({"command": command, "arguments": arguments}).encode() + b"\n")
            answer = json.loads(connection.makefile().readline())
    except OSError as error:
        raise RehearsalError(f"rehearsal {rehearsal or numbers[0]} does not answer: {error}") from error
    if "error" in answer:
        raise RehearsalError(answer["error"])
    return str(answer["result"])


def _recorded() -> Iterator[int]:
    yield from sorted(int(path.stem) for path in state_directory().glob("*.sock") if path.stem.isdigit())
