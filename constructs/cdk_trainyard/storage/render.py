"""A resolved file system in CloudFormation's words. Nothing is decided here."""

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_logs as logs

from cdk_trainyard.storage.lustre_deployment import LustreDeployment
from cdk_trainyard.storage.lustre_facts import LustreStorage
from cdk_trainyard.storage.resolve import has_metadata
from cdk_trainyard.storage.spec import LustreBackups, LustreSpec


def lustre_configuration(
    spec: LustreSpec, log_group: logs.LogGroup | None
) -> fsx.CfnFileSystem.LustreConfigurationProperty:
    """Return the settings of a file system.

    ``CopyTagsToBackups`` is left alone: changing it replaces the file system.

    Args:
        spec: The resolved file system.
        log_group: Where events of data repositories go. None: nowhere.
    """
    deployment, backups = spec.deployment, _backups(spec)
    kept = backups if backups is not None and backups.retention_days else None
    return fsx.CfnFileSystem.LustreConfigurationProperty(
        deployment_type=str(deployment.type),
        per_unit_storage_throughput=deployment.throughput_mb_s_per_tib,
        throughput_capacity=deployment.throughput_mb_s,
        drive_cache_type=_drive_cache(deployment),
        data_read_cache_configuration=_read_cache(deployment),
        metadata_configuration=_metadata(spec) if has_metadata(spec) else None,
        efa_enabled=True if spec.efa_enabled else None,
        data_compression_type=str(spec.compression),
        automatic_backup_retention_days=None if backups is None else backups.retention_days,
        daily_automatic_backup_start_time=None if kept is None else kept.start,
        weekly_maintenance_start_time=None if spec.maintenance is None else spec.maintenance.text,
        log_configuration=_log_configuration(spec, log_group),
    )


def _backups(spec: LustreSpec) -> LustreBackups | None:
    """Return what is said of backups: nothing of a file system with links, which has none by default.

    FSx refuses UpdateFileSystem with ``automaticBackupRetentionDays`` 0 for one with a link, be it for tags alone
    (aws-cloudformation/cloudformation-coverage-roadmap#1687, 2023-05-15); 0 is its default (botocore 1.44.5, fsx).
    """
    return None if spec.data_repositories else spec.backups


def _metadata(spec: LustreSpec) -> fsx.CfnFileSystem.MetadataConfigurationProperty:
    mode = "AUTOMATIC" if spec.metadata_iops is None else "USER_PROVISIONED"
    return fsx.CfnFileSystem.MetadataConfigurationProperty(mode=mode, iops=spec.metadata_iops)


def _log_configuration(spec: LustreSpec, log_group: logs.LogGroup | None) -> fsx.CfnFileSystem.LogConfigurationProperty:
    if log_group is None:
        return fsx.CfnFileSystem.LogConfigurationProperty(level=str(spec.log_level))
    # FSx takes the ARN without the ":*" that the log group's own attribute ends with.
    destination = Stack.of(log_group).format_arn(
        service="logs",
        resource="log-group",
        resource_name=log_group.log_group_name,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    return fsx.CfnFileSystem.LogConfigurationProperty(level=str(spec.log_level), destination=destination)


def _drive_cache(deployment: LustreDeployment) -> str | None:
    if deployment.storage != LustreStorage.HDD:
        return None
    return "READ" if deployment.hdd_read_cache else "NONE"


def _read_cache(deployment: LustreDeployment) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty | None:
    cache = deployment.read_cache
    if cache is None:
        return None
    return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(sizing_mode=cache.mode, size_gib=cache.size_gib)
