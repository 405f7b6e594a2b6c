"""The ``storage:`` section: the shared file systems and the buckets."""

from dataclasses import dataclass
from typing import Annotated

from cdk_trainyard.options.fields import Unless
from cdk_trainyard.storage.spec import BucketsSpec, ExistingLustreSpec, LustreSpec, MountPath, OpenZfs


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreSection(LustreSpec):
    """A new FSx for Lustre file system."""

    at: MountPath = "/fsx"
    """Where the nodes mount it. Default: /fsx."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingLustreSection(ExistingLustreSpec):
    """An FSx for Lustre file system that exists already."""

    at: MountPath = "/fsx"
    """Where the nodes mount it. Default: /fsx."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenZfsSection(OpenZfs):
    """An FSx for OpenZFS file system that exists already."""

    at: MountPath = "/home"
    """Where the nodes mount it. Default: /home."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageSection:
    """What the nodes share, and what outlives them."""

    lustre: Annotated[LustreSection | ExistingLustreSection | None, Unless("file_system_id")] = None
    """The shared file system: a new one, or with file_system_id one that exists. Default - none."""
    open_zfs: OpenZfsSection | None = None
    """An existing OpenZFS file system, for home directories. Default - none."""
    buckets: BucketsSpec = BucketsSpec()  # noqa: RUF009  a frozen value
    """The buckets. Default - all are made, and retained when the deployment goes."""
