"""A deployment file that was named on the command line."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.errors import ConfigurationError

if TYPE_CHECKING:
    from cdk_trainyard.deployment.model import Deployment

FILE: Final = click.Path(readable=False, path_type=Path)  # or click would answer in words and with a code of its own
"""The kind of an argument: what it is instead of a file, whoever reads it says."""
_NO_ASSEMBLY: Final = "nor did the cdk CLI write it, for there is no manifest.json in it"
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)


def load(file: Path) -> "Deployment":
    """Return a deployment.

    Args:
        file: Its file.

    Raises:
        Wrong: It cannot be read, or something is wrong with it: every problem, with file, line and column.
    """
    from cdk_trainyard.deployment.model import Deployment

    if _ADDRESS.match(str(file)):
        raise Wrong(f"{written(file)}: this is an address, not a file: download it, and name the file")
    try:
        return Deployment.load(file)
    except ConfigurationError as error:
        raise Wrong("\n".join(said(file, problem) for problem in error.problems)) from None


def is_assembly(given: Path) -> bool:
    """Return whether what was named is a folder that the cdk CLI wrote, where a deployment file may be named as well.

    Args:
        given: What was named.

    Raises:
        Wrong: It cannot be read, or is a folder that the CLI did not write: the message names the deployment files that
            are in it.
    """
    try:
        if given.joinpath("manifest.json").is_file():
            return True
    except PermissionError:
        load(given)
    if given.is_dir():
        try:
            load(given)
        except Wrong as wrong:
            raise Wrong(f"{wrong.message}\n{said(given, _NO_ASSEMBLY)}") from None
    return False


def written(file: Path) -> str:
    """Return a file as its user wrote it: of the two slashes of an address, a path keeps one."""
    return str(file).replace(":/", "://", 1) if _ADDRESS.match(str(file)) else str(file)


def said(file: Path, problem: str) -> str:
    """Return a problem with the name of its file.

    Args:
        file: The file.
        problem: What is wrong with it; a problem of a line has the name already.
    """
    return problem if problem.startswith(f"{file}:") else f"{file}: {problem}"
