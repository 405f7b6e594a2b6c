"""File systems on the nodes, as HyperPod is told of them."""

from collections.abc import Mapping

from aws_cdk.aws_sagemaker import CfnCluster

from cdk_trainyard.storage import Lustre, Mount


def storage_config(mount: Mount) -> CfnCluster.ClusterInstanceStorageConfigProperty:
    """Return the entry of a group's ``InstanceStorageConfigs``."""
    if isinstance(mount.file_system, Lustre):
        return CfnCluster.ClusterInstanceStorageConfigProperty(
            fsx_lustre_config=CfnCluster.ClusterFsxLustreConfigProperty(
                dns_name=mount.file_system.dns_name, mount_name=mount.file_system.mount_name, mount_path=mount.path
            )
        )
    return CfnCluster.ClusterInstanceStorageConfigProperty(
        fsx_open_zfs_config=CfnCluster.ClusterFsxOpenZfsConfigProperty(
            dns_name=mount.file_system.dns_name, mount_path=mount.path
        )
    )


def legacy_fields(mount: Mount) -> Mapping[str, str]:
    """Return the fields of ``provisioning_parameters.json``, which has none for the path."""
    if isinstance(mount.file_system, Lustre):
        return {"fsx_dns_name": mount.file_system.dns_name, "fsx_mountname": mount.file_system.mount_name}
    return {"fsx_openzfs_dns_name": mount.file_system.dns_name}
