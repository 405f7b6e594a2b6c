"""A stand-in of AWS's session-manager-plugin: what a session carries goes to a node of a rehearsal that runs.

It is started as the AWS CLI starts the plugin, and behaves as its source code does (``session.go``,
``shellsession_unix.go`` of aws/session-manager-plugin, and ``shell_unix.go`` of aws/amazon-ssm-agent, read 2026-11):
says when a session starts and ends, ends with 0 whatever the command did, and at once where its input ends; a command
that is not interactive is split into words, is run without a shell, and writes both its streams to one.
"""

import json
import os
import re
import select
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.rehearsal import control
from cdk_trainyard.rehearsal._process import become
from cdk_trainyard.rehearsal.errors import RehearsalError

NAME: Final = "session-manager-plugin"
_VERSION: Final = "1.2.764.0"
_BY_VARIABLE: Final = "AWS_SSM_START_SESSION_RESPONSE"
_WHICH: Final = "TRAINYARD_REHEARSAL"
_WORDS: Final = 6
_INSTANCE: Final = re.compile(r"i-[0-9a-f]+$")
_PIPE: Final = """
import os, socket, sys, threading
there = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def up():
    while data := os.read(0, 65536):
        there.sendall(data)
    there.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while data := there.recv(65536):
    os.write(1, data)
"""
"""Run on the node: carries a connection to one of its ports."""


def put(folder: Path, rehearsal: int | None = None) -> Path:
    """Write the stand-in under the plugin's name, for a folder of the path, and return where it is.

    Args:
        folder: The folder.
        rehearsal: Process id of the rehearsal whose nodes it enters. Default - the one that runs.
    """
    program = folder / NAME
    words = shlex.join([sys.executable, "-P", "-m", __name__])
    package = Path(__file__).parents[2]
    which = f"{_WHICH}={rehearsal or ''}"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(package))} {which} exec {words} "$@"\n')
    program.chmod(0o755)
    return program


def main(words: Sequence[str]) -> int:
    """Do what the plugin does, and return its exit code.

    Args:
        words: Its arguments.
    """
    if list(words) == ["--version"]:
        sys.stdout.write(f"{_VERSION}\n")
        return 0
    if len(words) != _WORDS or words[2] != "StartSession":
        sys.stdout.write("Invalid Operation")
        return 0
    response = json.loads(os.environ.pop(_BY_VARIABLE) if words[0].startswith(_BY_VARIABLE) else words[0])
    asked = json.loads(words[4])
    found = _INSTANCE.search(asked["Target"])
    if not found or not {"SessionId", "StreamUrl", "TokenValue"} <= set(response):
        sys.stdout.write("Cannot perform start session: no such session\n")
        return 0
    _write(f"\nStarting session with SessionId: {response['SessionId']}\n")
    try:
        enter = json.loads(control.ask("enter", found[0], rehearsal=int(os.environ.get(_WHICH) or 0) or None))
    except RehearsalError as error:
        sys.stdout.write(f"Cannot perform start session: {error}\n")
        return 0
    if _carry(enter, asked):
        _write(f"\n\nExiting session with sessionId: {response['SessionId']}.\n\n")
    return 0


def _carry(enter: Sequence[str], asked: Mapping[str, Any]) -> bool:
    """Carry a session, and return whether it came to its end."""
    parameters = {name: values[0] for name, values in asked.get("Parameters", {}).items()}
    match asked.get("DocumentName"):
        case "AWS-StartSSHSession":
            become([*enter, "python3", "-c", _PIPE, parameters.get("portNumber", "22")])
        case "AWS-StartNonInteractiveCommand":
            return _not_interactive([*enter, *shlex.split(parameters["command"])])
        case "AWS-StartInteractiveCommand":
            subprocess.run([*enter, "sh", "-c", parameters["command"]], check=False)  # noqa: S603
        case _:
            subprocess.run([*enter, "bash", "--login"], check=False)  # noqa: S603  the caller's own node
    return True


def _not_interactive(words: Sequence[str]) -> bool:
    with subprocess.Popen(  # noqa: S603  the caller's own node
        list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as command:
        output = command.stdout
        waiting = [0, output.fileno()] if output else []
        while waiting:
            ready, _, _ = select.select(waiting, [], [])
            if 0 in ready and not os.read(0, 1024):
                command.kill()
                _write("Cannot perform start session: EOF\n")
                return False
            if output and output.fileno() in ready:
                data = os.read(output.fileno(), 65536)
                if not data:
                    break
                _write(data)
    return True


def _write(data: str | bytes) -> None:
    sys.stdout.buffer.write(data.encode() if isinstance(data, str) else data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
