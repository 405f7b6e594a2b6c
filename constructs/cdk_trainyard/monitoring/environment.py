"""What a cluster stands on, in CloudWatch: alarms and a dashboard of NAT gateways, file system and database."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.monitoring.metric_math import percent
from cdk_trainyard.monitoring.spec import EnvironmentMonitoringSpec
from cdk_trainyard.monitoring.telling import tell
from cdk_trainyard.names import Naming, named
from cdk_trainyard.network import Network
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.storage import AccountingDatabase, Lustre
from cdk_trainyard.surroundings import surroundings
from cdk_trainyard.tokens import unresolved

_GIB: Final = 2**30
_LOST_PERCENT: Final = 0.01  # VPC user guide, "Monitor NAT gateways with Amazon CloudWatch", PacketsDropCount
_BUSY_PERCENT: Final = 90  # CloudWatch user guide, "Best practice alarm recommendations for AWS services", Amazon RDS
_FULL_THROUGHPUT_PERCENT: Final = 80
"""Of what the file system was given: it is the most that it keeps up, whatever it bursts to."""
_DATABASE_FREE: Final = 0.05
"""Of what the database began with: RDS has let its storage grow at a tenth already, where it may grow."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Alarm:
    """An alarm: its id, its metric, when it rings, what it says."""

    id: str
    metric: cloudwatch.IMetric
    threshold: float
    minutes: int
    below: bool = False
    says: str


class EnvironmentMonitoring(Construct):
    """CloudWatch alarms on what a cluster stands on, which no exporter on its nodes can see, and a dashboard of it.

    - NAT gateways that have no port left, or lose packets;
    - a file system whose fullest disk fills up: writes fail when one is full, whatever the others have. Its disks are
      counted by CloudWatch (``SampleCount`` of ``FreeDataStorageCapacity``, FSx for Lustre user guide, "Amazon FSx for
      Lustre metrics and dimensions"), so a file system that grows keeps its alarm;
    - a file system that moves nearly all that its throughput allows;
    - an accounting database that is busy, or fills up.

    A file system whose capacity is elastic, or not known, has no fullest disk in percent, and no alarm.

    Args:
        network: The network. Default - none; nor of one that existed before, whose gateways are its owner's.
        lustre: The file system. Default - none.
        accounting: The database. Default - none.
        topic: What alarms tell; it must let CloudWatch publish. Default - nobody is told.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        free_percent: So much of the fullest disk of a file system must be free, as FSx for Lustre's guide asks.
            Default: 15.

    Attributes:
        alarms: The alarms by their ids.
        dashboard: The dashboard. None: there is nothing to show.

    Raises:
        ConfigurationError: The percentage is none.
    """

    alarms: Mapping[str, cloudwatch.Alarm]
    dashboard: cloudwatch.Dashboard | None = None

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: Network | None = None,
        lustre: Lustre | None = None,
        accounting: AccountingDatabase | None = None,
        topic: sns.ITopic | None = None,
        names: Naming | None = None,
        free_percent: float = 15,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        judge.judged(given(EnvironmentMonitoringSpec, locals()))
        raise_problems(self, judge.problems)
        wanted = [
            *(_of_network(network) if network else ()),
            *(_of_file_system(lustre, free_percent) if lustre else ()),
            *(_of_database(accounting) if accounting else ()),
        ]
        self.alarms = {each.id: self._alarm(each, topic) for each in wanted}
        graphs = [
            *(_graphs_of_network(network) if network else ()),
            *(_graphs_of_file_system(lustre) if lustre else ()),
            *(_graphs_of_database(accounting) if accounting else ()),
        ]
        if graphs:
            self.dashboard = cloudwatch.Dashboard(self, "Dashboard")
            if self.alarms:
                told = cloudwatch.AlarmStatusWidget(alarms=[*self.alarms.values()], width=24, height=3, title="Alarms")
                self.dashboard.add_widgets(told)
            self.dashboard.add_widgets(*graphs)

    def _alarm(self, wanted: _Alarm, topic: sns.ITopic | None) -> cloudwatch.Alarm:
        operators = cloudwatch.ComparisonOperator
        alarm = cloudwatch.Alarm(
            self,
            wanted.id,
            metric=wanted.metric,
            threshold=wanted.threshold,
            evaluation_periods=wanted.minutes,
            comparison_operator=operators.LESS_THAN_THRESHOLD if wanted.below else operators.GREATER_THAN_THRESHOLD,
            # a counter says nothing where nothing happened, and a reading that is missing is not known to be bad
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=wanted.says,
        )
        tell(alarm, topic, untold="no topic was given: whoever made the alarm looks at it")
        return alarm


def _minute() -> Duration:
    """Return how often all of these are counted."""
    return Duration.minutes(1)


def _of_network(network: Network) -> Iterator[_Alarm]:
    for number, gateway in enumerate(network.nat_gateway_ids, 1):
        counted = {name: _nat(gateway, name) for name in ("ErrorPortAllocation", "PacketsDropCount")}
        passed = {
            "source": _nat(gateway, "PacketsInFromSource"),
            "destination": _nat(gateway, "PacketsInFromDestination"),
        }
        yield _Alarm(
            id=f"NatPorts{number}",
            metric=counted["ErrorPortAllocation"],
            threshold=0,
            minutes=5,
            says="The NAT gateway has no source port left: new connections fail. Nodes open too many to one "
            "destination: give S3 and AWS services endpoints, or a NAT gateway to every zone.",
        )
        yield _Alarm(
            id=f"NatDrops{number}",
            metric=cloudwatch.MathExpression(
                expression=percent("FILL(dropped, 0)", "(FILL(source, 0) + FILL(destination, 0))"),
                using_metrics={"dropped": counted["PacketsDropCount"], **passed},
                period=_minute(),
                label="packets lost, percent",
            ),
            threshold=_LOST_PERCENT,
            minutes=15,
            says="The NAT gateway loses more than one packet of ten thousand: look at the AWS Health Dashboard.",
        )


def _nat(gateway: str, name: str) -> cloudwatch.Metric:
    """Return a counter of a NAT gateway. Source: VPC user guide, "Monitor NAT gateways with Amazon CloudWatch"."""
    return cloudwatch.Metric(
        namespace="AWS/NATGateway",
        metric_name=name,
        dimensions_map={"NatGatewayId": gateway},
        statistic=cloudwatch.Stats.SUM,
        period=_minute(),
    )


def _of_file_system(lustre: Lustre, free_percent: float) -> Iterator[_Alarm]:
    if lustre.throughput_mb_s is not None:
        yield _Alarm(
            id="FileSystemBusy",
            metric=cloudwatch.MathExpression(
                expression=f"100 * (FILL(read, 0) + FILL(written, 0)) / {lustre.throughput_mb_s * 60 * 10**6}",
                using_metrics={
                    "read": lustre.metric_data_read_bytes(period=_minute()),
                    "written": lustre.metric_data_write_bytes(period=_minute()),
                },
                period=_minute(),
                label="of its throughput, percent",
            ),
            threshold=_FULL_THROUGHPUT_PERCENT,
            minutes=15,
            says=f"The file system has moved more than {_FULL_THROUGHPUT_PERCENT} percent of its throughput for a "
            "quarter of an hour: what reads and writes waits. Raise its throughput or 'capacity_gib'.",
        )
    if lustre.capacity_gib is None or unresolved(lustre.capacity_gib):
        return
    free = "FreeDataStorageCapacity"
    yield _Alarm(
        id="FileSystemFull",
        metric=cloudwatch.MathExpression(
            expression=f"100 * fullest * disks / {lustre.capacity_gib * _GIB}",
            using_metrics={
                "fullest": lustre.metric_free_storage_of_fullest_disk(period=_minute()),
                "disks": lustre.metric(free, statistic=cloudwatch.Stats.SAMPLE_COUNT, period=_minute()),
            },
            period=_minute(),
            label="free on the fullest disk, percent",
        ),
        threshold=free_percent,
        minutes=15,
        below=True,
        says=f"Less than {free_percent:g} percent of the file system's fullest disk is free: writes fail when one disk "
        "is full. On a node: lfs df -h; delete, release what S3 has (lfs hsm_release), or raise 'capacity_gib'.",
    )


def _of_database(accounting: AccountingDatabase) -> Iterator[_Alarm]:
    yield _Alarm(
        id="DatabaseBusy",
        metric=accounting.metric_cpu_utilization(period=_minute()),
        threshold=_BUSY_PERCENT,
        minutes=15,
        says="The accounting database has been busy for a quarter of an hour: slurmdbd falls behind. Archive old jobs "
        "(slurmdbd.conf, ArchiveJobs and PurgeJobAfter), or take a larger 'instance_type'.",
    )
    if not unresolved(accounting.storage_gb):
        yield _Alarm(
            id="DatabaseFull",
            metric=accounting.metric_free_storage_space(period=_minute()),
            threshold=accounting.storage_gb * _GIB * _DATABASE_FREE,
            minutes=15,
            below=True,
            says="The accounting database is nearly full: RDS stops it when it is. Raise 'max_storage_gb', or purge "
            "old jobs (slurmdbd.conf, PurgeJobAfter).",
        )


# ---------------------------------------------------------------- the dashboard
def _graph(
    title: str, left: Sequence[cloudwatch.IMetric], right: Sequence[cloudwatch.IMetric] = ()
) -> cloudwatch.IWidget:
    return cloudwatch.GraphWidget(title=title, left=list(left), right=list(right), width=12)


def _graphs_of_network(network: Network) -> Iterator[cloudwatch.IWidget]:
    if gateways := network.nat_gateway_ids:
        passed = [_nat(each, name) for each in gateways for name in ("BytesOutToDestination", "BytesInFromDestination")]
        yield _graph("NAT gateways: bytes a minute", passed, [_nat(each, "PacketsDropCount") for each in gateways])
        refused = [_nat(each, "ErrorPortAllocation") for each in gateways]
        open_now = [_nat(each, "ActiveConnectionCount").with_(statistic=cloudwatch.Stats.MAXIMUM) for each in gateways]
        yield _graph("NAT gateways: connections, and those for which no port was left", open_now, refused)


def _graphs_of_file_system(lustre: Lustre) -> Iterator[cloudwatch.IWidget]:
    minute = _minute()
    yield _graph(
        "File system: bytes a minute",
        [lustre.metric_data_read_bytes(period=minute), lustre.metric_data_write_bytes(period=minute)],
    )
    yield _graph(
        "File system: free bytes, of all disks and of the fullest",
        [lustre.metric_free_storage_capacity(period=minute)],
        [lustre.metric_free_storage_of_fullest_disk(period=minute)],
    )
    yield _graph("File system: metadata operations a minute", [lustre.metric_metadata_operations(period=minute)])


def _graphs_of_database(accounting: AccountingDatabase) -> Iterator[cloudwatch.IWidget]:
    minute = _minute()
    yield _graph(
        "Accounting database: processors in percent, free bytes",
        [accounting.metric_cpu_utilization(period=minute)],
        [accounting.metric_free_storage_space(period=minute)],
    )
