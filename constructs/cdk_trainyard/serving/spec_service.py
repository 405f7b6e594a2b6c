"""What can be said of a service: its hosts, their number, its alarms, and the build that compiles its model. No CDK."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, nonmember
from typing import TYPE_CHECKING, Annotated, Final

from cdk_trainyard.options.fields import Said, Unit
from cdk_trainyard.options.kinds import Choice, Number, Text
from cdk_trainyard.options.schedules import Schedule, TimeZone
from cdk_trainyard.options.signs import UNSEEN
from cdk_trainyard.options.stand_ins import Retention, Span
from cdk_trainyard.options.texts import IMAGE_REFERENCE
from cdk_trainyard.serving.kinds import Folder
from cdk_trainyard.serving.spec_model import NeuronModel, TextGenerationEngine
from cdk_trainyard.versions import rows

if TYPE_CHECKING:
    from aws_cdk import Duration
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_ecr as ecr
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_logs as logs
    from aws_cdk import aws_secretsmanager as secretsmanager

INF2_TYPES: Final = ("inf2.xlarge", "inf2.8xlarge", "inf2.24xlarge", "inf2.48xlarge")
MOST_TASKS: Final = 5000
"""Of an ECS service (ECS endpoints and quotas, "Tasks per service")."""
MOST_HOSTS: Final = 10000
"""Steps in which ECS scales a group (``ManagedScaling``, maximumScalingStepSize)."""
_MOST_MIB_S: Final = 2000
"""Of a gp3 volume (``EbsBlockDevice``, ``Throughput``, of EC2 in botocore's model, 1.44.5)."""
_SIGN: Final = "[A-Za-z0-9_]"
"""That a name of the Hub begins and ends with (``validate_repo_id`` of huggingface_hub, read 2026-11)."""


def _of_another_family(name: str) -> str:
    """Say of a type of another family that it is none for serving: nothing of it is like one of inf2."""
    return "" if "inf2" in name.lower() else "; a model is served on Inferentia2 alone"


_Tasks = Annotated[int, Number(minimum=0, maximum=MOST_TASKS)]
_HEALTH: Final = {str(row["program"]): row for row in rows("health_images")}
DETECTOR_VERSION: Final = str(_HEALTH["detector"]["version"])


class Rollout(StrEnum):
    """How a new version takes the place of the old one. A host's Neuron devices serve one task at a time."""

    RECREATE = "recreate"
    """The old tasks end, then the new ones start: no further host, and no service until they have loaded."""
    ROLLING = "rolling"
    """One task after the other: no further host, one task less while it goes on. For two tasks and more."""
    SURGE = "surge"
    """The new tasks start beside the old ones: nothing is missing, and twice the hosts are needed meanwhile."""


class ScalingMetric(StrEnum):
    """What decides how many tasks there are."""

    QUEUE = "queue"
    """Requests that wait in the engine, averaged over the tasks. The collector beside the engine reports it."""
    ALB_REQUESTS = "alb-requests"
    """Requests per task and minute that the load balancer counts: a fallback, since generations differ in length."""

    FORMER_VALUES = nonmember(
        {
            **dict.fromkeys(("num_requests_waiting", "vllm:num_requests_waiting", "tgi_queue_size"), "write queue"),
            **dict.fromkeys(
                ("ALBRequestCountPerTarget", "RequestCountPerTarget", "requests_per_target"), "write alb-requests"
            ),
        }
    )


class NodeHealth(StrEnum):
    """What becomes of a host whose Neuron device breaks."""

    REPLACE = "replace"
    """It is replaced."""
    REPORT = "report"
    """Metrics and logs tell."""
    OFF = "off"
    """Nobody looks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingHosts:
    """The inf2 instances of a service; one task runs on each."""

    instance_type: Annotated["str | ec2.InstanceType", Choice(values=INF2_TYPES, remedy=_of_another_family)]
    """Their type, of inf2."""
    tasks: _Tasks = 1
    """Tasks, and so hosts. Default: 1."""
    max_hosts: Annotated[int | None, Number(minimum=1, maximum=MOST_HOSTS)] = None
    """Most hosts. Default - what ``tasks``, ``scaling`` and ``rollout`` need."""
    rollout: Rollout = Rollout.RECREATE
    """How a new version replaces the old one: recreate (no service meanwhile), rolling (one task less) or surge (twice
    the hosts). Default: recreate."""
    host_image: Annotated[
        str | None,
        Text(
            pattern=r"[0-9]{8}|al2023-ami-ecs-neuron-hvm-2023\.0\.[0-9]{8}-kernel-[0-9]+\.[0-9]+-x86_64",
            words="the version of an ECS Neuron image, eight digits",
            example="20260701",
        ),
    ] = None
    """Version of the ECS Neuron image, in quotes: it decides the driver. Default - the catalogue's."""
    volume_mib_s: Annotated[int, Number(minimum=125, maximum=_MOST_MIB_S, unit="MiB/s")] = 500
    """Throughput of the root volumes, where weights are kept. Default: 500."""
    volume_key: "kms.IKey | None" = None
    """KMS key of the root volumes; it must let EC2 Auto Scaling use it. Default - the account's own for EBS."""
    protect: bool = False
    """Whether hosts with a task are protected from scale-in. ECS leaves the protection on when the stack is deleted,
    and the deletion then waits for you. Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScalingSchedule:
    """From a point in time on, other bounds."""

    name: Annotated[
        str,
        Text(
            pattern=rf"(?!\s)(?!.*(\{{\{{resolve:|\$\{{))[^{UNSEEN}:/|]*(?!\s)[^{UNSEEN}:/|]",
            words="a name without ':', '/', '|' and what nobody sees, and without a blank at its ends",
            example="night",
            longest=256,
        ),
    ]
    """What it is for: its name (``ScheduledActionName``)."""
    schedule: Annotated[str, Schedule()]
    """When: ``cron(…)``, ``at(…)`` or ``rate(…)``, as Application Auto Scaling reads it."""
    min_tasks: _Tasks
    """The least number of tasks from then on; 0 with ``max_tasks`` 0: nothing runs."""
    max_tasks: _Tasks
    """The largest number of tasks from then on."""
    time_zone: Annotated[str, TimeZone()] = "Etc/UTC"
    """Time zone of the schedule. Default: Etc/UTC."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceScaling:
    """Bounds of the number of tasks, and what moves it between them."""

    min_tasks: _Tasks
    """The least number of tasks, 1 or more, since without a task there is no metric to start one by; schedules go to
    zero."""
    max_tasks: _Tasks
    """The largest number of tasks."""
    metric: ScalingMetric = ScalingMetric.QUEUE
    """What moves it: queue (requests that wait in the engine) or alb-requests. Default: queue."""
    target: Annotated[float | None, Number(maximum=1_000_000, unit="requests per task")] = None
    """The metric's value per task that is aimed at. Default - queue: the batch, so that one more waits; alb-requests:
    30 a minute."""
    schedules: Sequence[ScalingSchedule] = ()
    """Other bounds at other times, to zero and back. Default - none."""
    cooldown_seconds: Annotated[int, Number(minimum=0, maximum=604_800)] = 900
    """Pause after tasks were taken away, before more are; a task loads for minutes. Default: 900."""

    @property
    def to_zero(self) -> bool:
        """Whether a schedule ends every task."""
        return any(schedule.max_tasks == 0 for schedule in self.schedules)


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceSpec:
    """A model that is served by tasks of ECS on inf2 hosts."""

    model: NeuronModel
    """What is served."""
    engine: TextGenerationEngine = TextGenerationEngine()  # noqa: RUF009  a frozen value
    """What serves it. Default - vLLM of Hugging Face's optimum-neuron."""
    hosts: ServingHosts
    """The instances it runs on."""
    scaling: ServiceScaling | None = None
    """What moves the number of tasks. Default - it stays as ``hosts`` says."""
    request_timeout: Annotated["Duration", Unit("seconds")] = Span(600)  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """The longest that a request may take, silent or not, 30 seconds to an hour. Default: 600."""
    log_retention: "logs.RetentionDays" = Retention(90)  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """How long logs are kept. Default: 90."""
    log_key: "kms.IKey | None" = None
    """KMS key of the log groups; its policy must let CloudWatch Logs use it. Default - CloudWatch Logs' own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitoringSpec:
    """When alarms of a service ring; ``alerts`` of a deployment file says whom they tell."""

    latency_seconds: Annotated[float | None, Number(maximum=1_000_000)] = None
    """The slowest hundredth of requests may take so long to the first byte. Default - half of the service's
    ``request_timeout``."""
    waiting: Annotated[float | None, Number(maximum=1_000_000)] = None
    """So many requests may wait per task for five minutes. Default - twice the batch, or less where
    ``concurrency`` of the load balancer, or the engine, lets fewer wait."""
    error_percent: Annotated[float, Number(maximum=100)] = 5
    """So many of a hundred requests may fail. Default: 5."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeHealthSpec:
    """AWS's detector of broken Neuron devices on every host of a service."""

    recover: bool = True
    """Whether a host is replaced; otherwise metrics and logs only tell. Default: true."""
    detector_image: Annotated[str, IMAGE_REFERENCE] = str(_HEALTH["detector"]["reference"])
    """The detector, of the version that AWS's documentation names.
    Default: registry.k8s.io/node-problem-detector/node-problem-detector:v0.8.19."""
    detector_repository: "ecr.IRepository | None" = None
    """An ECR repository of yours that has a copy of the detector, with the tag ``v0.8.19``. Default - it is pulled from
    the Kubernetes project's registry."""
    recovery_image: Annotated[str, IMAGE_REFERENCE] = str(_HEALTH["recovery"]["reference"])
    """The recovery. Default: public.ecr.aws/neuron/neuron-node-recovery:1.3.0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompilationSpec:
    """A build on CPU that compiles a model for its shapes into a folder of its own in prefix, when you start it."""

    source: Annotated[
        str | None,
        Text(
            pattern=rf"(?!(datasets|spaces)/|.*(--|[.][.]|[.]git$)){_SIGN}([A-Za-z0-9_.-]*{_SIGN})?/"
            rf"{_SIGN}([A-Za-z0-9_.-]{{0,94}}{_SIGN})?",
            words="the name of a model on the Hugging Face Hub, <organization>/<model>",
            example="meta-llama/Llama-3.1-8B-Instruct",
            longest=200,
        ),
    ] = None
    """A model on the Hugging Face Hub. Default - ``exported`` is given instead."""
    revision: Annotated[
        str | None,
        Text(
            pattern=r"[0-9a-f]{40}",
            words="a commit, 40 hexadecimal digits",
            example="40c069824f4251a91eefaf281ebe4c544efd3e18",
            remedy="a branch moves, and what is compiled again would be another model; the Hub lists commits under "
            "'Files and versions'",
        ),
    ] = None
    """Its commit there, which a branch is not. Default - ``exported`` is given instead."""
    exported: Folder | None = None
    """A folder of the models bucket that jobs/export-for-serving wrote. Default - ``source`` is given instead."""
    hub_token: Annotated["secretsmanager.ISecret | None", Said("hub_token_secret_arn")] = None
    """A secret whose whole value is a token of the Hub, for a gated model; where a file names it, one that no KMS key
    of your own encrypts. Default - none."""
    timeout: Annotated["Duration", Unit("hours")] = Span(8 * 3600)  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """The longest that a build may take, 1 to 36 hours. Default: 8."""
    log_retention: Annotated["logs.RetentionDays", Said(None)] = Retention(90)  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """How long its logs are kept. Default: 90."""
    log_key: Annotated["kms.IKey | None", Said(None)] = None
    """KMS key of the log group. Default - CloudWatch Logs encrypts with its own."""
