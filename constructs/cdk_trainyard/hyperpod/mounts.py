"""File systems on the nodes."""

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk.aws_sagemaker import CfnCluster

from cdk_trainyard.storage import Lustre


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

    def storage_config(self) -> CfnCluster.ClusterInstanceStorageConfigProperty:
        """Return the entry of a group's ``InstanceStorageConfigs``."""
        if isinstance(self.file_system, Lustre):
            return CfnCluster.ClusterInstanceStorageConfigProperty(
                fsx_lustre_config=CfnCluster.ClusterFsxLustreConfigProperty(
                    dns_name=self.file_system.dns_name, mount_name=self.file_system.mount_name, mount_path=self.path
                )
            )
        return CfnCluster.ClusterInstanceStorageConfigProperty(
            fsx_open_zfs_config=CfnCluster.ClusterFsxOpenZfsConfigProperty(
                dns_name=self.file_system.dns_name, mount_path=self.path
            )
        )

    def legacy_fields(self) -> Mapping[str, str]:
        """Return the fields of ``provisioning_parameters.json``, which has none for the path."""
        if isinstance(self.file_system, Lustre):
            return {"fsx_dns_name": self.file_system.dns_name, "fsx_mountname": self.file_system.mount_name}
        return {"fsx_openzfs_dns_name": self.file_system.dns_name}
