"""An orchestrator from another package: one room and one row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cdk_trainyard.deployment.monitoring import NodeMetrics
from cdk_trainyard.deployment.orchestrators import Namesakes, Orchestrator
from cdk_trainyard.monitoring.spec import MetricsSource
from cdk_trainyard.options.kinds import Number, Text
from cdk_trainyard.problems import Problem
from cdk_trainyard.quotas import Needs

if TYPE_CHECKING:
    from cdk_trainyard.cluster import Surroundings


@dataclass(frozen=True, kw_only=True, slots=True)
class ToySection:
    """A heap of toys."""

    toys: Annotated[int, Number(minimum=1, maximum=9)] = 3
    """How many. Default: 3."""
    cluster_name: Annotated[str | None, Text(pattern="[a-z]+", words="lower-case letters", example="heap")] = None
    """What the heap is called. Default - anything."""


def problems(deployment: Any) -> Iterator[Problem]:
    """Ask for a file system."""
    if deployment.storage.lustre is None:
        yield Problem(("storage", "lustre"), "is missing; toys lie on it")


def needs(_deployment: Any) -> Needs:
    """Need nothing."""
    return Needs()


def numbers(_section: ToySection) -> Mapping[str, tuple[str, ...]]:
    """Return where the file says how many toys there are."""
    return {"heap": ("cluster", "toys")}


def metrics(_deployment: Any) -> NodeMetrics:
    """Return that toys have no Slurm."""
    return NodeMetrics(exporters=None, absent={MetricsSource.SLURM: "toys have no Slurm"})


def user(_section: ToySection) -> str:
    """Return who works on toys."""
    return "child"


class Heap:
    """The toys of a stack."""

    kind = "heap of toys"

    def __init__(self, _account: Any, stack: Any) -> None:
        self.heaps = stack.ids("Toy::Box::Heap")


def build(scope: Any, deployment: Any, around: "Surroundings") -> Any:
    """Define a cluster that does what every cluster does."""
    from aws_cdk import CfnResource  # noqa: PLC0415  as orchestrators do: a check imports nothing of CDK
    from aws_cdk import aws_iam as iam  # noqa: PLC0415  as above
    from constructs import Construct  # noqa: PLC0415  as above

    from cdk_trainyard.cluster import Publisher  # noqa: PLC0415  as above

    class Toy(Construct):
        def __init__(self) -> None:
            super().__init__(scope, "Cluster")
            self.properties = {"Toys": deployment.cluster.toys, "Subnet": around.network.accelerator_subnet.subnet_id}
            self.resource = CfnResource(self, "Resource", type="Toy::Box::Heap", properties=self.properties)

            self.grant_principal = iam.Role(self, "Role", assumed_by=self.publisher.principal)
            self.connections = around.security_group.security_group.connections

        def grant_connect(self, grantee: Any) -> Any:
            return self.grant_describe(grantee)

        def grant_describe(self, grantee: Any) -> Any:
            return iam.Grant.add_to_principal(grantee=grantee, actions=["toys:Describe"], resource_arns=["*"])

        def mount(self, file_system: Any, *, at: str = "/fsx") -> None:
            self.resource.add_property_override("Mounts", {at: file_system.file_system_id})

        @property
        def outputs(self) -> Mapping[str, str]:
            return {"HeapId": self.resource.ref}

        @property
        def publisher(self) -> Publisher:
            return Publisher(principal=iam.ServicePrincipal("toys.amazonaws.com"), sid="Toys")

        def use(self, buckets: Any) -> None:
            self.resource.add_property_override("Bucket", buckets.datasets.bucket_name)

        def tell(self, topic: Any) -> None:
            self.resource.add_property_override("Topic", topic.topic_arn)

    return Toy()


ROW = Orchestrator(
    section="toy_orchestrator:ToySection",
    problems="toy_orchestrator:problems",
    needs="toy_orchestrator:needs",
    build="toy_orchestrator:build",
    holds="heap of toys",
    numbers="toy_orchestrator:numbers",
    metrics="toy_orchestrator:metrics",
    user="toy_orchestrator:user",
    resource="Toy::Box::Heap",
    system="toy_orchestrator:Heap",
    services=("toys",),
    namesakes=Namesakes(service="toys", operation="ListHeaps", rows="Heaps", name="Name", id="Id"),
    publishes="toys",
    added_tags=45,
    begins=str(Path(__file__).with_name("toy.yaml")),
)
