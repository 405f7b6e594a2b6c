"""What can be said of monitoring: where metrics go, and which alarms ring when. No CDK."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

from cdk_trainyard.lifecycle.spec import SCRAPE_SECONDS, Exporters
from cdk_trainyard.options.addresses import Url
from cdk_trainyard.options.fields import ByName, Said
from cdk_trainyard.options.flow import NoList
from cdk_trainyard.options.kinds import Number, Open, Text, resource_id
from cdk_trainyard.options.texts import EXACT

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms


class AlarmSeverity(StrEnum):
    """How soon somebody is needed: the label ``severity`` of what rings."""

    CRITICAL = "critical"
    """Now: something is lost, or stands."""
    WARNING = "warning"
    """In working hours."""


class MetricsSource(StrEnum):
    """Whose metrics there are: alarms on others are left out."""

    CONTROLLER = "controller"
    """A node that is there as long as the cluster is, so that silence is trouble: controller, head node; a node of a
    fleet, unless there may be none."""
    SLURM = "slurm"
    """Slurm's nodes, jobs and daemons, from the controller."""
    NODE = "node"
    """Every node: disks, memory, clock."""
    EFA = "efa"
    """Counters of EFA interfaces."""
    LUSTRE = "lustre"
    """The Lustre client of nodes that mount FSx for Lustre."""
    NEURON = "neuron"
    """Neuron devices, from neuron-monitor."""
    GPU = "gpu"
    """GPUs, from dcgm-exporter."""
    ENGINE = "engine"
    """What serves a model, from its own metrics; each task has an agent of its own."""
    VLLM = "vllm"
    """What of these vLLM alone tells: how full its KV cache is, and which requests it puts back."""
    TGI = "tgi"
    """What of these text-generation-inference alone tells."""


OF_ENGINES: Final = (MetricsSource.ENGINE, MetricsSource.VLLM, MetricsSource.TGI)
"""Sources that tasks of a served model have, and no node of a cluster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlarmOverride:
    """What is other than in the table of alarms."""

    name: Annotated[str, Open(rule="override_problems", examples=("DiskFull", "JobsStarving"))]
    """The alarm's name."""
    threshold: Annotated[
        float | None, Number(unit="the alarm's own unit (percent free of DiskFull, seconds of waiting of JobsStarving)")
    ] = None
    """The number that is compared with, in the unit that the table of alarms has in the README of ``monitoring``: of
    DiskFull and InodesLow, the percent that are free. Default - the table's."""
    minutes: Annotated[int | None, Number(minimum=0, maximum=1440, unit="minutes")] = None
    """How many minutes that must hold. Default - the table's."""
    severity: AlarmSeverity | None = None
    """How soon somebody is needed. Default - the table's."""
    enabled: bool = True
    """Whether there is such an alarm at all. Default: true."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnAlarm:
    """An alarm that the table does not have: an alerting rule of Prometheus."""

    name: Annotated[
        str, Text(pattern=r"[A-Za-z_][A-Za-z0-9_]*", words="letters, digits and underscores", example="LossIsNaN")
    ]
    """The alarm's name: ``alertname`` of what it rings with."""
    expr: Annotated[
        str,
        Open(rule="own_alarm_problems", examples=("sum by (cluster) (training_loss{$cluster} != training_loss) > 0",)),
    ]
    """PromQL; ``$cluster`` in a selector is the matcher of the cluster's metrics."""
    minutes: Annotated[int, Number(minimum=0, maximum=1440, unit="minutes")]
    """How many minutes that must hold."""
    summary: Annotated[
        str, Open(rule="own_alarm_problems", examples=("The loss of {{ $labels.cluster }} is no number",))
    ]
    """What it says, in a line; a template of Prometheus."""
    severity: AlarmSeverity = AlarmSeverity.WARNING
    """How soon somebody is needed. Default: warning."""


@dataclass(frozen=True, kw_only=True)  # without slots, so that a section can have several bases
class ClusterMonitoringSpec:
    """What is taken of a cluster's nodes, and how often."""

    scrape_seconds: Annotated[int, SCRAPE_SECONDS] = 30
    """How many seconds lie between two samples of a series. Default: 30."""
    exporters: Exporters | None = None
    """What nodes of a ParallelCluster or a fleet run; those of HyperPod are said in ``node_setup`` of the cluster, and
    a service has its own.
    Default - all but that of GPUs, which needs an image that has dcgm-exporter, or ``gpu_image``."""


@dataclass(frozen=True, kw_only=True)  # without slots, so that a section can have several bases
class OwnAlarmsSpec:
    """What is said of alarms to a deployment as to `AlertRules`."""

    own_alarms: Annotated[Sequence[OwnAlarm], ByName()] = ()
    """Alarms beside those of the table, by name. Default - none."""
    update_minutes: Annotated[int, Number(minimum=0, maximum=1440, unit="minutes")] = 120
    """How many minutes a scheduled update may take before what rings of nodes that are away rings. Default: 120."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsWorkspaceSpec:
    """A workspace for metrics."""

    retention_days: Annotated[int, Number(minimum=1, maximum=1095, unit="days")] = 150
    """How many days metrics are kept. Default: 150."""
    key: "kms.IKey | None" = None
    """KMS key of what is kept; another one is another workspace. Default - a key that AWS owns."""


class GrafanaAuthentication(StrEnum):
    """Who says who a user of Grafana is: ``authenticationProviders`` of CreateWorkspace."""

    AWS_SSO = "AWS_SSO"
    """IAM Identity Center of the organization, or of the account."""
    SAML = "SAML"
    """An identity provider that speaks SAML 2.0."""


_METADATA_URL: Final = Url(
    example="https://idp.example/metadata",
    longest=2048,
    query=True,
    public="Amazon Managed Grafana fetches the metadata",
)
"""``IdpMetadata``. A workspace without ``VpcConfiguration`` reaches nothing private (its user guide, "Connect to data
sources or notification channels in Amazon VPC from Amazon Managed Grafana")."""
_SAML_NAME: Final = replace(EXACT, example="Admins")
"""A name in an assertion (AWS::Grafana::Workspace, AssertionAttributes and RoleValues)."""
_ROLE: Final = NoList(pattern=EXACT.pattern, words=EXACT.words, example="Admins", longest=EXACT.longest)


@dataclass(frozen=True, kw_only=True, slots=True)
class GrafanaSaml:
    """An identity provider of SAML 2.0, and who of its users may do what; everybody else of them looks (Viewer)."""

    metadata_url: Annotated[str, _METADATA_URL]
    """Where the identity provider's metadata is, reachable from the internet."""
    role_attribute: Annotated[str, _SAML_NAME]
    """The attribute of an assertion that says a user's roles."""
    admin_roles: Sequence[Annotated[str, _ROLE]]
    """Roles there whose users administer Grafana."""
    editor_roles: Sequence[Annotated[str, _ROLE]] = ()
    """Roles there whose users edit dashboards. Default - none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrafanaWorkspaceSpec:
    """A workspace of Amazon Managed Grafana: who signs in, and from where."""

    authentication: Sequence[GrafanaAuthentication] = (GrafanaAuthentication.AWS_SSO,)
    """Who says who a user is. Default - IAM Identity Center."""
    saml: GrafanaSaml | None = None
    """The identity provider, with SAML. Default - it is set up in Grafana's console, before anybody signs in."""
    prefix_list_ids: Sequence[Annotated[str, resource_id("pl", "a prefix list")]] = ()
    """Prefix lists of the addresses that reach it, 5 at most. Default - none."""
    vpc_endpoint_ids: Sequence[Annotated[str, resource_id("vpce", "an interface endpoint of a VPC")]] = ()
    """Interface endpoints (``com.amazonaws.<region>.grafana-workspace``) that reach it, 5 at most. Default - none."""
    public_access: bool = False
    """Whether every address reaches it; users sign in all the same. Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentMonitoringSpec:
    """When alarms on a network and on storage ring."""

    free_percent: Annotated[float, Number(minimum=1, maximum=99, unit="percent")] = 15
    """So much of the fullest disk of a file system must be free, as FSx for Lustre's guide asks. Default: 15."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterDashboardsSpec:
    """What is asked of the metrics of one cluster."""

    cluster_name: Annotated[
        str,
        Text(pattern=r"[A-Za-z0-9](-*[A-Za-z0-9])*", words="letters, digits and inner hyphens", example="llama2"),
        Said(None),
    ]
    """The cluster, as the label ``cluster`` of its metrics says it."""
    sources: Annotated[Sequence[MetricsSource], Said(None)] = tuple(MetricsSource)
    """Whose metrics there are. Default - everybody's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertRulesSpec(OwnAlarmsSpec, ClusterDashboardsSpec):
    """Alarms on the metrics of one cluster."""

    overrides: Annotated[Sequence[AlarmOverride], ByName()] = ()
    """What is other than in the table of alarms. Default - nothing."""
    update_schedules: Annotated[
        Sequence[Annotated[str, Open(rule="schedule_problems", examples=("cron(0 4 ? * SUN *)",))]], Said(None)
    ] = ()
    """When nodes are updated, in UTC: what rings of nodes that are away is quiet then. Default - never."""
