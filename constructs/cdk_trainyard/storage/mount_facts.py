"""What rules ask of a file system at a path. No CDK: a deployment file says it too."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class MountFacts:
    """A file system that nodes mount.

    Attributes:
        path: Where.
        kind: ``Lustre`` or ``OpenZFS``.
        identity: What tells the file system from others.
        dns_name: Its DNS name. None: not known yet.
        zone: Its zone. None: not known.
        efa_enabled: Whether nodes reach it over EFA.
        lustre_version: Its version of Lustre. None: not known.
        file_servers: Addresses that it takes in its subnet. None: not known.
        repositories: Directories on nodes that show buckets, as far as they are known.
    """

    path: str
    kind: str = "Lustre"
    identity: str = ""
    dns_name: str | None = None
    zone: str | None = None
    efa_enabled: bool = False
    lustre_version: str | None = None
    file_servers: int | None = None
    repositories: Sequence[str] = ()


def hidden_home(path: str, user: str) -> str:
    """Return the warning of a file system over the home of the nodes' user, which their set-up does not make on it.

    Args:
        path: Where the file system is mounted.
        user: The user.
    """
    text = f"a file system at {path} hides /home/{user}, and the set-up makes no home on it: it must have one, which is"
    return f"{text} {user}'s, or be mounted elsewhere, as at /fsx"
