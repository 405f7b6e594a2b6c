"""What a command needs beside the base of the package, and what is said where it is missing."""

from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import Any, Final

import click

from cdk_trainyard.cli._exits import Missing

_LOCAL: Final = ("boto3", "moto", "jsonschema")
_REVIEW: Final = ("cdk_nag", "cloudformation_validate", "jinja2")
BRINGS: Final = {
    "aws": ("boto3",),
    "cli": ("rich", "yaml"),
    "dashboards": ("grafana_foundation_sdk",),
    "file": ("yaml",),
    "review": _REVIEW,
    "local": _LOCAL,
    "rehearsal": (*_LOCAL, *_REVIEW),
}
"""The modules by which an extra is recognized."""


def require(command: str, extras: str) -> None:
    """Refuse a command whose extras are not installed.

    Args:
        command: Its name.
        extras: The extras, in words.

    Raises:
        Missing: One is not installed.
    """
    for extra in extras.split():
        if any(find_spec(module) is None for module in BRINGS[extra]):
            raise Missing(
                f"trainyard {command} needs what the extra '{extra}' brings: pip install 'cdk-trainyard[{extra}]'"
            )


def guarded(command: click.Command, name: str, extras: str) -> click.Command:
    """Return a command that looks for its extras when it is run; its help is there without them.

    Args:
        command: The command.
        name: Its name.
        extras: The extras, in words.
    """
    inner: Callable[..., Any] = command.callback or (lambda: None)

    @wraps(inner)
    def outer(*arguments: Any, **options: Any) -> Any:
        require(name, extras)
        return inner(*arguments, **options)

    command.callback = outer
    return command
