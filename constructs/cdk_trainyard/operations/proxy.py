"""What ssh starts for a node: a session that carries its connection. ``python -m … REGION TARGET PORT``."""

import os
import sys
from collections.abc import Sequence
from typing import Final

from cdk_trainyard.account import Account
from cdk_trainyard.operations.protocol import OperationError
from cdk_trainyard.operations.sessions import SSH, Plugin, call, start

_USAGE: Final = 2


def words(python: str, profile: str = "") -> list[str]:
    """Return the program, as ssh starts it; it is told Region, target and port.

    Args:
        python: The Python that has this package.
        profile: The profile of credentials that it asks with. Default - what is in use when ssh is called.
    """
    return [*(["env", f"AWS_PROFILE={profile}"] if profile else []), python, "-P", "-m", __name__]


def main(arguments: Sequence[str]) -> int:
    """Become the plugin, with a session for one connection.

    Args:
        arguments: Region, target and port.

    Returns:
        The exit code, where there is no session; with one this does not return.
    """
    try:
        region, target, port = arguments
    except ValueError:
        sys.stderr.write("REGION TARGET PORT\n")
        return _USAGE
    try:
        plugin = Plugin.find()
        program = start(Account(region), plugin, call(target, SSH, portNumber=port), called=target)
        os.execve(plugin.path, program.words, program.environment)  # noqa: S606  the plugin has ssh's pipes from here
    except OperationError as error:
        sys.stderr.write(f"{error}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
