"""A ParallelCluster deployment's cluster as a construct, with its scripts."""

from dataclasses import dataclass, field
from typing import Any, cast

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.cluster import Surroundings
from cdk_trainyard.deployment.exchange import Exchange
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.parallelcluster.rules import grant_warnings, prepared
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.options.stand_ins import Subnet, UploadedScripts
from cdk_trainyard.parallelcluster import CustomAction, NodeScripts, ParallelCluster, SlurmAccounting
from cdk_trainyard.storage.spec import AccountingSpec


def cluster(stack: Stack, deployment: DeploymentSpec, around: Surroundings) -> ParallelCluster:
    """Define the cluster with its scripts.

    Args:
        stack: Where.
        deployment: The deployment.
        around: What the deployment has beside its cluster.
    """
    existing = Existing(Construct(stack, "Surroundings"))
    exchange = _ClusterExchange(existing=existing, scope=stack, deployment=deployment, around=around)
    said = exchange.keywords(prepared(deployment.cluster, deployment.network, tags=deployment.tags))
    said.pop("scripts")
    grants = said.pop("grants")
    made = ParallelCluster(
        stack,
        "Cluster",
        network=around.network,
        mounts=around.mounts,
        security_group=around.security_group,
        metrics=around.metrics,
        scripts_bucket=around.buckets.scripts,
        **said,
    )
    say_warnings(made, grant_warnings(grants))
    made.allow_pull(grants.image_repositories)
    made.allow_remote_write(grants.prometheus_workspace_arn)
    # the nodes alone wait for the rules that let them in: some of these refer to security groups of the cluster
    made.node.find_child("Resource").node.add_dependency(existing)
    return made


@dataclass(frozen=True, kw_only=True, slots=True)
class _ClusterExchange(Exchange):
    """Exchanges what only a ParallelCluster refers to; the scripts are uploaded when a node runs a file of them."""

    scope: Construct
    deployment: DeploymentSpec
    around: Surroundings
    uploaded: list[NodeScripts] = field(default_factory=list)

    def real(self, value: Any) -> Any:
        """Return a value with real objects in place of stand-ins, however deep."""
        match value:
            case Subnet():
                return self._subnet(*value.value.split("/"))
            case CustomAction() if isinstance(cast("Any", value.scripts), UploadedScripts):
                return self._scripts().action(value.script, *value.args)
            case AccountingSpec() if self.around.accounting is not None:
                return SlurmAccounting.of(self.around.accounting)
        return Exchange.real(self, value)

    def _subnet(self, kind: str, index: str = "0") -> ec2.ISubnet:
        network = self.around.network
        kinds = {
            "accelerator": [network.accelerator_subnet],
            "public": network.public_subnets,
            "service": network.service_subnets,
        }
        return kinds[kind][int(index)]

    def _scripts(self) -> NodeScripts:
        if not self.uploaded:
            own = self.deployment.cluster.scripts.folder
            folder = None if own is None else self.deployment.resolve_path(own)
            bucket = self.around.buckets.scripts
            self.uploaded.append(NodeScripts(self.scope, "Scripts", bucket=bucket, folder=folder))
        return self.uploaded[0]
