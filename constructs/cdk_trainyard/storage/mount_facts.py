"""What rules ask of a file system at a path. No CDK: a deployment file says it too."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cdk_trainyard.instances import InstanceType

_OVER_TCP: Final = "trn2"
"""Beginning of the families with EFA whose clients of Lustre do not use it. Source: FSx for Lustre user guide,
"Configuring EFA clients" (read 2026-11)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MountFacts:
    """A file system that nodes mount.

    Attributes:
        path: Where.
        kind: ``Lustre`` or ``OpenZFS``.
        identity: What tells the file system from others: the id of one of FSx for Lustre, the DNS name of OpenZFS.
        dns_name: Its DNS name. None: not known yet.
        zone: Its zone. None: not known.
        efa_enabled: Whether nodes reach it over EFA.
        lustre_version: Its version of Lustre. None: not known.
        subnet: What tells its subnet from others. None: not known.
        file_servers: Addresses that it takes there. None: not known.
        repositories: Directories on nodes that show buckets, as far as they are known.
    """

    path: str
    kind: str = "Lustre"
    identity: str = ""
    dns_name: str | None = None
    zone: str | None = None
    efa_enabled: bool = False
    lustre_version: str | None = None
    subnet: str | None = None
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


def across_zones(clients: str, zone: str | None, other: str | None) -> str:
    """Return the warning of a file system in another zone than its clients: it works, and every byte is billed twice.

    Args:
        clients: Who mounts it, in words.
        zone: Their zone.
        other: Its zone.
    """
    return (
        f"{clients} in {zone} mount a file system in {other}: what crosses between zones is slower, and billed by the "
        "GB in each direction (Data Transfer within the Region, EC2 on-demand pricing); put the file system into "
        f"{zone}"
    )


def named_twice(path: str, repositories: Iterable[str]) -> Iterator[str]:
    """Yield the warning of directories that begin, in the file system, as the path that it is mounted at.

    Args:
        path: Where the file system is mounted.
        repositories: Its directories that show buckets, as nodes see them.
    """
    for directory in repositories:
        if f"{directory}/".startswith(f"{path}{path}/"):
            inside, meant = directory.removeprefix(path), directory.removeprefix(f"{path}{path}") or "/"
            text = f"nodes see the bucket of the data repository {inside} at {directory}: its 'file_system_path' begins"
            yield f"{text} at the root of the file system; for {inside} on nodes write {meant}"


def takes_efa(kind: InstanceType) -> bool:
    """Whether a client of Lustre of this type can use EFA."""
    return kind.efa_supported and not kind.family.startswith(_OVER_TCP)


def efa_unused(path: str, kinds: Iterable[InstanceType]) -> str:
    """Return what a file system with EFA, whose least capacity is larger, is told when no client reaches it so.

    Args:
        path: Where it is mounted.
        kinds: The types of its clients.
    """
    names = ", ".join(dict.fromkeys(kind.name for kind in kinds))
    return f"the file system at {path} has EFA, and {names} reach it over TCP: leave EFA out, unless others use it"
