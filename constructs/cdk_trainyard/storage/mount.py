"""A file system at a path of the nodes."""

import re
from dataclasses import dataclass

from cdk_trainyard.storage.lustre_base import Lustre

MOUNT_PATH = re.compile(r"(/[a-zA-Z0-9._-]+)+")
"""Stricter than SageMaker's API, as its CloudFormation type is: no trailing slash, no double slash."""
MOUNT_PATH_LENGTH = 1024
"""Characters (``ClusterFsxLustreConfig.MountPath``)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenZfs:
    """A file system on FSx for OpenZFS that exists already.

    Attributes:
        dns_name: Its DNS name, ``fs-….fsx.….…``.
    """

    dns_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A file system at a path.

    Attributes:
        file_system: The file system: FSx for Lustre or FSx for OpenZFS.
        at: Where it is mounted, an absolute path. Default - ``/fsx`` for Lustre, ``/home`` for OpenZFS.
    """

    file_system: Lustre | OpenZfs
    at: str | None = None

    @property
    def kind(self) -> str:
        """``Lustre`` or ``OpenZFS``; a group takes one of each."""
        return "Lustre" if isinstance(self.file_system, Lustre) else "OpenZFS"

    @property
    def path(self) -> str:
        """Where it is mounted."""
        return self.at or ("/fsx" if isinstance(self.file_system, Lustre) else "/home")
