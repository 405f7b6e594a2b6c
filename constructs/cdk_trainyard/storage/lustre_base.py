"""What clusters need of a Lustre file system, whether it is made here or stood there before."""

from collections.abc import Sequence

import jsii
from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IDependable

from cdk_trainyard.network import EfaSecurityGroup

LUSTRE_PORT = 988
"""The port on which clients reach a Lustre server. Servers also use 1018 to 1023 among each other and to clients."""


@jsii.implements(ec2.IConnectable)
class Lustre(Construct):
    """A Lustre file system that clusters can mount: a ``LustreFileSystem`` or an imported one.

    Attributes:
        file_system_id: ``fs-0123456789abcdef0``.
        file_system_arn: Its ARN.
        dns_name: The name that clients mount.
        mount_name: The name of the file system on its servers: clients mount ``<dns_name>@tcp:/<mount_name>``.
        security_group: The group of its servers.
        zone: The availability zone it stands in, as its network names it. None: unknown.
        subnet: The subnet it stands in. None: unknown, imported.
        capacity_gib: Its capacity in GiB. None: elastic, or unknown.
        throughput_mb_s: The throughput that it was given, in MB/s. None: unknown.
        efa_enabled: Whether clients can reach it over EFA.
        lustre_version: Its version of Lustre. None: unknown, imported.
        file_servers: Addresses that it takes in its subnet. None: unknown.
        repositories: Its directories that show buckets, from its root. Default - none that are known.
        rules_exist: Whether its group and that of its clients let one another in already.
        ready: What to depend on before mounting: the file system, its links to S3 and its root squash.
    """

    file_system_id: str
    file_system_arn: str
    dns_name: str
    mount_name: str
    security_group: EfaSecurityGroup
    zone: str | None
    subnet: ec2.ISubnet | None
    capacity_gib: int | None
    throughput_mb_s: int | None = None
    efa_enabled: bool
    lustre_version: str | None = None
    file_servers: int | None
    repositories: Sequence[str] = ()
    rules_exist: bool = False
    ready: IDependable

    @property
    def connections(self) -> ec2.Connections:
        """The network connections of the file servers; the default port is Lustre's.

        Groups that are not its own need ports 1018 to 1023 besides, and all traffic when EFA is enabled: let the
        clients share the ``EfaSecurityGroup``.
        """
        return ec2.Connections(
            security_groups=[self.security_group.security_group], default_port=ec2.Port.tcp(LUSTRE_PORT)
        )

    def metric(
        self, metric_name: str, *, statistic: str | None = None, period: Duration | None = None
    ) -> cloudwatch.Metric:
        """Return a metric of this file system.

        Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html

        Args:
            metric_name: The metric's name in the namespace ``AWS/FSx``.
            statistic: What to make of the values of its servers and disks.
                Default - their sum.
            period: What to sum up over.
                Default - five minutes.
        """
        return cloudwatch.Metric(
            namespace="AWS/FSx",
            metric_name=metric_name,
            dimensions_map={"FileSystemId": self.file_system_id},
            statistic=statistic or cloudwatch.Stats.SUM,
            period=period or Duration.minutes(5),
        )

    def metric_free_storage_capacity(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the free space in bytes, of all disks together.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("FreeDataStorageCapacity", period=period)

    def metric_free_storage_of_fullest_disk(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the free space in bytes of the fullest disk; writes fail when one is full.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("FreeDataStorageCapacity", statistic=cloudwatch.Stats.MINIMUM, period=period)

    def metric_data_read_bytes(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the bytes that clients read.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("DataReadBytes", period=period)

    def metric_data_write_bytes(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the bytes that clients wrote.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("DataWriteBytes", period=period)

    def metric_data_read_operations(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the number of reads.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("DataReadOperations", period=period)

    def metric_data_write_operations(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the number of writes.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("DataWriteOperations", period=period)

    def metric_metadata_operations(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the number of metadata operations: what many small files cost.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("MetadataOperations", period=period)
