"""The ``storage:`` section: the shared file systems and the buckets."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from cdk_trainyard.options.fields import Unless
from cdk_trainyard.problems import Problem, shown
from cdk_trainyard.storage.spec import BucketsSpec, ExistingLustreSpec, LustreSpec, MountPath, OpenZfs
from cdk_trainyard.tokens import unresolved


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
    """The buckets. Default - all are made, and kept unless their ``auto_delete`` is true."""


def storage_problems(storage: StorageSection) -> Iterator[Problem]:
    """Check that no file system is said to be of both kinds.

    Args:
        storage: The section.
    """
    lustre, zfs = storage.lustre, storage.open_zfs
    if not isinstance(lustre, ExistingLustreSection) or not isinstance(zfs, OpenZfsSection):
        return
    if unresolved(lustre.file_system_id, zfs.dns_name) or zfs.dns_name.partition(".")[0] != lustre.file_system_id:
        return
    text = f"must be of another file system than 'lustre', got {shown(zfs.dns_name)}; one is not of both kinds"
    yield Problem(("open_zfs", "dns_name"), text)
