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
