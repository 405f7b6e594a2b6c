"""The ``storage:`` section: the shared file systems and the buckets."""

from dataclasses import dataclass
from typing import Annotated

from cdk_trainyard.deployment._section import Section
from cdk_trainyard.deployment._specified import Specified
from cdk_trainyard.options.fields import Part
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


LUSTRE = Part(spec=LustreSection, existing=ExistingLustreSection, unless="file_system_id")
"""A new file system, or with ``file_system_id`` one that exists."""
OPEN_ZFS = Part(spec=OpenZfsSection)
BUCKETS = Part(spec=BucketsSpec)
AnyLustre = Annotated[LustreSection | ExistingLustreSection, Specified(LUSTRE)]


class StorageSection(Section):
    """What the nodes share, and what outlives them."""

    lustre: AnyLustre | None = None
    """The shared file system: a new one, or with file_system_id one that exists. Default - none."""
    open_zfs: Annotated[OpenZfsSection, Specified(OPEN_ZFS)] | None = None
    """An existing OpenZFS file system, for home directories. Default - none."""
    buckets: Annotated[BucketsSpec, Specified(BUCKETS)] = BucketsSpec()
    """The buckets. Default - all are made, and retained when the deployment goes."""
