"""The protocol of what runs jobs, held to every construct that is one."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from aws_cdk import RemovalPolicy
from aws_cdk.assertions import Template

from cdk_trainyard import (
    ConfigurationError,
    EfaSecurityGroup,
    HeadNode,
    LustreFileSystem,
    Mount,
    TrainingBuckets,
    TrainingNetwork,
)
from cdk_trainyard.cluster import Cluster
from tests.parts import ZONE, fleet, hyperpod, new_stack, parallelcluster

Build = Callable[..., Any]
NODES: Mapping[Build, str] = {
    hyperpod: "AWS::SageMaker::Cluster",
    parallelcluster: "Custom::PclusterCluster",
    fleet: "AWS::AutoScaling::AutoScalingGroup",
}
"""How each is made, and the resource that starts nodes."""


class Made:
    """A cluster beside a file system that has another security group, which the keyword or the method mounts.

    The method is first given a path that it refuses.
    """

    def __init__(self, build: Build, *, late: bool) -> None:
        self.stack = new_stack()
        network = TrainingNetwork(self.stack, "Network", zone=ZONE)
        self.buckets = TrainingBuckets(self.stack, "Buckets")
        self.lustre = LustreFileSystem(
            self.stack,
            "Lustre",
            network=network,
            security_group=EfaSecurityGroup(self.stack, "Servers", vpc=network.vpc),
            removal_policy=RemovalPolicy.DESTROY,
        )
        mounts = [] if late else [Mount(file_system=self.lustre, at="/shared")]
        head = HeadNode(instance_type="c5.xlarge", public=True)
        changes = {fleet: {"scripts_bucket": self.buckets.scripts}, parallelcluster: {"head_node": head}}
        self.cluster = build(self.stack, network, mounts=mounts, **changes.get(build, {}))
        if late:
            with pytest.raises(ConfigurationError) as caught:
                self.cluster.mount(self.lustre, at="relative")
            self.refused = caught.value
            self.cluster.mount(self.lustre, at="/shared")

    @property
    def template(self) -> dict[str, Any]:
        return dict(Template.from_stack(self.stack).to_json())


@pytest.mark.parametrize("build", NODES, ids=lambda build: build.__name__)
def test_it_is_a_cluster_and_a_late_mount_makes_the_same_template_after_one_that_is_refused(build: Build) -> None:
    made = Made(build, late=True)
    assert isinstance(made.cluster, Cluster)
    assert any("relative" in problem for problem in made.refused.problems)
    assert made.template == Made(build, late=False).template


@pytest.mark.parametrize("build", NODES, ids=lambda build: build.__name__)
def test_nodes_start_after_what_they_need(build: Build) -> None:
    made = Made(build, late=False)
    made.cluster.use(made.buckets)
    resources = made.template["Resources"]
    needed = {
        name
        for name, resource in resources.items()
        if resource["Type"]
        in {
            "AWS::EC2::SecurityGroupIngress",
            "AWS::EC2::SecurityGroupEgress",
            "AWS::EC2::Route",
            "AWS::FSx::FileSystem",
            "AWS::IAM::ManagedPolicy",
            "Custom::CDKBucketDeployment",
        }
        and (resource["Type"] != "AWS::IAM::ManagedPolicy" or name.startswith(made.cluster.node.id))
    }
    (nodes,) = (name for name, resource in resources.items() if resource["Type"] == NODES[build])
    assert needed <= before(nodes, resources)


def before(name: str, resources: Mapping[str, Any]) -> set[str]:
    """Every resource that is made before one."""
    found: set[str] = set()
    todo = [name]
    while todo:
        for other in named(resources[todo.pop()], resources):
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def named(value: Any, resources: Mapping[str, Any]) -> set[str]:
    """The resources that a part of a template depends on."""
    match value:
        case str():
            return {value} & resources.keys()
        case dict():
            return {one for key, part in value.items() if key != "Type" for one in named(part, resources)}
        case list():
            return {one for part in value for one in named(part, resources)}
    return set()
