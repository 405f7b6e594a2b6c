"""The settings of a Lustre file system with every default resolved: checked, then rendered."""

from dataclasses import dataclass

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_logs as logs

from cdk_trainyard.retention import KEPT
from cdk_trainyard.storage import rules
from cdk_trainyard.storage.lustre_deployment import LustreDeployment, automatic_metadata_iops, file_server_count
from cdk_trainyard.storage.lustre_facts import METADATA_VERSION, LustreStorage
from cdk_trainyard.storage.lustre_values import LustreBackups, LustreCompression, LustreLogLevel, MaintenanceTime
from cdk_trainyard.tokens import unresolved

_TIERING_METADATA_IOPS = 6000  # Intelligent-Tiering has no automatic mode; 6000 is the smaller of its two values
_BACKUP_DAYS = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreSettings:
    """What a file system will be."""

    deployment: LustreDeployment
    lustre_version: str
    capacity_gib: int | None
    efa_enabled: bool
    metadata_iops: int | None
    backups: LustreBackups | None
    compression: LustreCompression
    maintenance: MaintenanceTime | None
    removal_policy: RemovalPolicy
    linked: bool

    @classmethod
    def resolve(
        cls,
        *,
        deployment: LustreDeployment | None,
        lustre_version: str,
        capacity_gib: int | None,
        efa_enabled: bool,
        metadata_iops: int | None,
        backups: LustreBackups | None,
        compression: LustreCompression,
        maintenance: MaintenanceTime | None,
        removal_policy: RemovalPolicy | None,
        linked: bool,
    ) -> "LustreSettings":
        """Fill in what the user left out; the arguments are those of ``LustreFileSystem``."""
        kind = deployment or LustreDeployment.persistent_2(throughput_mb_s_per_tib=250)
        persistent = kind.facts is None or kind.facts.persistent
        smallest = None if kind.tiering else kind.smallest_gib(efa_enabled=efa_enabled)
        daily = LustreBackups(retention_days=0 if linked else _BACKUP_DAYS) if persistent else None
        return cls(
            deployment=kind,
            lustre_version=lustre_version,
            capacity_gib=smallest if capacity_gib is None else capacity_gib,
            efa_enabled=efa_enabled,
            metadata_iops=_TIERING_METADATA_IOPS if metadata_iops is None and kind.tiering else metadata_iops,
            backups=backups or daily,
            compression=compression,
            maintenance=maintenance,
            removal_policy=removal_policy or (KEPT if persistent else RemovalPolicy.DESTROY),
            linked=linked,
        )

    @property
    def has_metadata(self) -> bool:
        """Whether there is a metadata configuration. It cannot be added later, so there is one where there can be."""
        facts = self.deployment.facts
        return facts is not None and bool(facts.metadata_iops) and self.lustre_version == METADATA_VERSION

    @property
    def file_servers(self) -> int | None:
        """Addresses taken in the subnet; None when something that counts is known at deployment only."""
        iops, capacity = self.metadata_iops, self.capacity_gib
        if unresolved(capacity, iops, self.deployment.throughput_mb_s):
            return None
        if iops is None and self.has_metadata and capacity is not None:
            iops = automatic_metadata_iops(capacity)
        return file_server_count(
            self.deployment, capacity_gib=capacity, efa_enabled=self.efa_enabled, metadata_iops=iops
        )

    def problems(self) -> list[str]:
        """Return what FSx would refuse."""
        deployment, version = self.deployment, self.lustre_version
        return [
            *rules.deployment_problems(deployment),
            *rules.capacity_problems(deployment, self.capacity_gib, efa_enabled=self.efa_enabled),
            *rules.version_problems(deployment, version),
            *rules.metadata_problems(deployment, self.metadata_iops, version),
            *rules.efa_problems(deployment, version, efa_enabled=self.efa_enabled),
            *rules.backup_problems(deployment, self.backups, linked=self.linked),
            *rules.maintenance_problems(self.maintenance),
            *rules.removal_problems(self.removal_policy),
        ]

    def render(
        self, log_configuration: fsx.CfnFileSystem.LogConfigurationProperty
    ) -> fsx.CfnFileSystem.LustreConfigurationProperty:
        """Return the settings in CloudFormation's words.

        ``CopyTagsToBackups`` is left alone: changing it replaces the file system.
        """
        deployment = self.deployment
        kept = self.backups if self.backups is not None and self.backups.retention_days else None
        return fsx.CfnFileSystem.LustreConfigurationProperty(
            deployment_type=str(deployment.type),
            per_unit_storage_throughput=deployment.throughput_mb_s_per_tib,
            throughput_capacity=deployment.throughput_mb_s,
            drive_cache_type=_drive_cache(deployment),
            data_read_cache_configuration=_read_cache(deployment),
            metadata_configuration=self._metadata() if self.has_metadata else None,
            efa_enabled=True if self.efa_enabled else None,
            data_compression_type=str(self.compression),
            automatic_backup_retention_days=None if self.backups is None else self.backups.retention_days,
            daily_automatic_backup_start_time=None if kept is None else kept.start,
            weekly_maintenance_start_time=None if self.maintenance is None else self.maintenance.text,
            log_configuration=log_configuration,
        )

    def _metadata(self) -> fsx.CfnFileSystem.MetadataConfigurationProperty:
        mode = "AUTOMATIC" if self.metadata_iops is None else "USER_PROVISIONED"
        return fsx.CfnFileSystem.MetadataConfigurationProperty(mode=mode, iops=self.metadata_iops)


def log_configuration(
    log_group: logs.LogGroup | None, level: LustreLogLevel
) -> fsx.CfnFileSystem.LogConfigurationProperty:
    """Return where events go, in CloudFormation's words."""
    if log_group is None:
        return fsx.CfnFileSystem.LogConfigurationProperty(level=str(level))
    # FSx takes the ARN without the ":*" that the log group's own attribute ends with.
    destination = Stack.of(log_group).format_arn(
        service="logs",
        resource="log-group",
        resource_name=log_group.log_group_name,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    return fsx.CfnFileSystem.LogConfigurationProperty(level=str(level), destination=destination)


def _drive_cache(deployment: LustreDeployment) -> str | None:
    if deployment.storage != LustreStorage.HDD:
        return None
    return "READ" if deployment.hdd_read_cache else "NONE"


def _read_cache(deployment: LustreDeployment) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty | None:
    cache = deployment.read_cache
    if cache is None:
        return None
    return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(sizing_mode=cache.mode, size_gib=cache.size_gib)
