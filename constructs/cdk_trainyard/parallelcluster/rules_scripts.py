"""What an action of a node must be. Pure."""

import re
from collections.abc import Sequence

from cdk_trainyard.tokens import unresolved

_ADDRESS = re.compile(r"(s3://[^/\s]+/\S+|https://\S+)")


def argument_problems(args: Sequence[str]) -> list[str]:
    """Arguments travel in a line of fields with tabs between.

    Args:
        args: The arguments of one action.
    """
    return [
        f"'args' must be text without tabs and line ends, got {argument!r}"
        for argument in args
        if not isinstance(argument, str) or any(character in argument for character in "\t\r\n")
    ]


def address_problems(where: str, addresses: Sequence[str]) -> list[str]:
    """Scripts are fetched from S3 or over TLS.

    Args:
        where: The keyword and whose it is.
        addresses: The addresses of its actions.
    """
    return [
        f"{where} must be an address as s3://bucket/key or https://host/path, got {address!r}"
        for address in addresses
        if not unresolved(address) and not _ADDRESS.fullmatch(address)
    ]
