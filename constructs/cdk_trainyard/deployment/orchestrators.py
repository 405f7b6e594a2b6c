"""What runs jobs on nodes: one row for each orchestrator, its code imported when a file asks for it.

Another package adds an orchestrator with an entry point of the group ``cdk_trainyard.orchestrators``, whose object is a
row: ``slurm-on-pcs = "my_package:ROW"``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any, Final

from cdk_trainyard.errors import did_you_mean, nearest
from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.remedies import bare
from cdk_trainyard.problems import Flaw, either, shown

GROUP: Final = "cdk_trainyard.orchestrators"
"""The group of entry points."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Namesakes:
    """What of an account may have the name of a cluster already, by the call that tells.

    Attributes:
        service: The service that is asked.
        operation: The operation.
        rows: The member of its answer that lists them.
        name: The key of a row's name.
        id: The key of its physical id, by which the deployment knows its own.
        asked: The parameter that takes the name. Default - the call lists all.
    """

    service: str
    operation: str
    rows: str
    name: str
    id: str
    asked: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Orchestrator:
    """An orchestrator: what is true of each, and where its code is, as ``module:name``.

    Attributes:
        section: The specification of the file's ``cluster:`` section.
        problems: Of a `Deployment`, yields what is wrong with its cluster, and what else in the file does not go with
            it. Imports nothing of CDK.
        needs: Of a `Deployment`, returns what the cluster needs of the account.
        build: Defines the cluster in a stack, and returns it as a `cdk_trainyard.cluster.Cluster`.
        holds: What the stack of the cluster holds, for its description.
        service_addresses: Of a `Deployment`, returns how many addresses its nodes take that are in service subnets
            alone. Default - none are.
        warnings: Of a `Deployment` in which nothing is wrong, yields what may surprise about its cluster, as
            `cdk_trainyard.problems.Warned`. Imports nothing of CDK. Default - nothing does.
        numbers: Of the section, returns where the file says how many nodes a group has, or may have, by the group's
            name; groups that run jobs come first. Default - nowhere.
        metrics: Of a `Deployment`, returns what its nodes give metrics of, as
            `cdk_trainyard.deployment.monitoring.NodeMetrics`. Default - nobody knows, and every alarm may be changed.
        user: Of the section, returns the user that people work as on its nodes. Default - ``ubuntu``.
        resource: The CloudFormation type of which its stack has at least one. Default - its nodes are looked after
            elsewhere.
        system: The class that looks after its nodes, a `cdk_trainyard.operations.System`. Default - none does.
        services: The services that it asks, beside CloudFormation; their clients are made while that answers.
        namesakes: What may have the ``cluster_name`` of the section already. Default - the name is never taken.
        publishes: The service that tells a topic of trouble in its own name, which the topic's policy must let, as its
            principal begins. Default - none does.
        added_tags: How many tags its nodes get beside those of the file.
        has_slurm: Whether jobs are submitted to Slurm.
        begins: The shipped deployment that ``trainyard init`` begins with, or the path of a file. Default - none.
        regions: Returns the Regions that it is offered in, of which one is proposed for a misspelt one. Default - any.
    """

    section: str
    problems: str
    needs: str
    build: str
    holds: str
    service_addresses: str | None = None
    warnings: str | None = None
    numbers: str | None = None
    metrics: str | None = None
    user: str | None = None
    resource: str | None = None
    system: str | None = None
    services: tuple[str, ...] = ()
    namesakes: Namesakes | None = None
    publishes: str | None = None
    added_tags: int = 0
    has_slurm: bool = False
    begins: str | None = None
    regions: str | None = None

    @property
    def spec(self) -> type:
        """The specification of the file's ``cluster:`` section."""
        found: type = resolve_name(self.section)
        return found

    def define(self, stack: Any, deployment: Any, around: Any) -> Any:
        """Define the cluster.

        Args:
            stack: Where.
            deployment: The deployment.
            around: What it has beside its cluster, as `cdk_trainyard.cluster.Surroundings`.

        Returns:
            A `cdk_trainyard.cluster.Cluster`.

        Raises:
            TypeError: What was defined lacks what every cluster has.
        """
        from cdk_trainyard.cluster import Cluster  # noqa: PLC0415  a file is checked without CDK

        made = resolve_name(self.build)(stack, deployment, around)
        wanted = [name for name in vars(Cluster) if not name.startswith("_")]
        missing = [name for name in wanted if not hasattr(type(made), name) and not hasattr(made, name)]
        if missing:
            raise TypeError(f"{self.build} must return a Cluster of cdk_trainyard.cluster, got one without {missing}")
        return made


def _own(room: str, section: str, system: str, **more: Any) -> Orchestrator:
    inside = f"cdk_trainyard.deployment.{room}"
    return Orchestrator(
        section=f"{inside}.section:{section}",
        problems=f"{inside}.rules:cluster_problems",
        needs=f"{inside}.needs:cluster_needs",
        build=f"{inside}.build:cluster",
        warnings=f"{inside}.rules:cluster_warnings",
        numbers=f"{inside}.nodes:numbers",
        metrics=f"{inside}.nodes:metrics",
        user=f"{inside}.nodes:user",
        system=f"cdk_trainyard.operations.{room}:{system}",
        **more,
    )


OWN: Final[Mapping[str, Orchestrator]] = {
    "hyperpod": _own(
        "hyperpod",
        "HyperPodSection",
        "HyperPod",
        holds="HyperPod training cluster",
        regions="cdk_trainyard.hyperpod.rules_region:regions_with_clusters",
        resource="AWS::SageMaker::Cluster",
        services=("sagemaker",),
        namesakes=Namesakes(
            service="sagemaker",
            operation="ListClusters",
            rows="ClusterSummaries",
            name="ClusterName",
            id="ClusterArn",
        ),
        publishes="events",
        has_slurm=True,
        begins="hyperpod-cpu-ddp",
    ),
    "parallelcluster": _own(
        "parallelcluster",
        "ParallelClusterSection",
        "ParallelCluster",
        holds="ParallelCluster training cluster",
        service_addresses="cdk_trainyard.deployment.parallelcluster.rules:service_addresses",
        regions="cdk_trainyard.parallelcluster.rules_cluster:supported_regions",
        resource=PARALLELCLUSTER_TYPE,
        services=("ec2",),
        namesakes=Namesakes(
            service="cloudformation",
            operation="DescribeStacks",
            rows="Stacks",
            name="StackName",
            id="StackName",
            asked="StackName",
        ),
        added_tags=10,  # that ParallelCluster adds to those of its nodes, and room for more: its rules take 40
        has_slurm=True,
        begins="parallelcluster-hello",
    ),
    "fleet": _own(
        "fleet",
        "FleetSection",
        "Fleet",
        holds="fleet of EC2 instances for training",
        resource="AWS::AutoScaling::AutoScalingGroup",
        services=("ec2", "autoscaling"),
        begins="fleet-p3dn-bert",
    ),
}
"""The orchestrators of this package by their names in a file."""


@cache
def orchestrators() -> Mapping[str, Orchestrator]:
    """Return every orchestrator by its name in a file, those of other packages among them."""
    return {**OWN, **{point.name: point.load() for point in entry_points(group=GROUP)}}


def find(name: object) -> Orchestrator | None:
    """Return an orchestrator by its name in a file, or None when nobody knows it."""
    if not isinstance(name, str):
        return None
    return OWN.get(name) or orchestrators().get(name)


def recognized(name: object) -> str | None:
    """Return the orchestrator that a name means, be it misspelt, or None when nobody knows."""
    if not isinstance(name, str):
        return None
    found = [name] if find(name) is not None else nearest(bare(name), orchestrators())
    return found[0] if len(found) == 1 else None


def regions_of(name: object) -> frozenset[str]:
    """Return the Regions that an orchestrator is offered in, be its name misspelt; none where that is not known."""
    row = find(recognized(name))
    return frozenset(resolve_name(row.regions)()) if row and row.regions else frozenset()


def spec_of(name: object) -> type | None:
    """Return the specification of the ``cluster:`` section by the name of the orchestrator, be it misspelt."""
    row = find(recognized(name))
    return row.spec if row else None


_SLURM: Final = "; use hyperpod or parallelcluster for Slurm"
_OTHERS: Final = {
    "none": "; leave it out where nothing trains: such a deployment has 'serving'",
    "slurm": _SLURM,
    **dict.fromkeys(("eks", "k8s", "kubernetes"), f"; clusters with Kubernetes are not made here{_SLURM}"),
    **dict.fromkeys(("ec2", "asg", "autoscaling"), "; use fleet for instances of EC2 without Slurm"),
    "sagemaker": "; use hyperpod",
}
"""What to use in place of a word that is the name of no orchestrator here."""


@dataclass(frozen=True, slots=True)
class OrchestratorName:
    """The kind of a text that names an orchestrator."""

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Look it up."""
        if find(value) is not None:
            return None
        names = orchestrators()
        remedy = _OTHERS.get(value.lower()) or did_you_mean(value, names)
        return Flaw(f"must be {either(names)}", got=shown(value), remedy=remedy)

    def schema(self) -> dict[str, Any]:
        """Return the names of this package's own."""
        return {"enum": list(OWN)}
