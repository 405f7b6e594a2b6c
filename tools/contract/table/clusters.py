"""Clusters to make rows of: parts that exist already, and functions that return a cluster with changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager

from cdk_trainyard.instances import UsageClass
from cdk_trainyard.network import EfaSecurityGroup
from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.parallelcluster import (
    ComputeResource,
    HeadNode,
    LoginPool,
    Queue,
    SlurmAccounting,
    SlurmSettings,
)
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts, Place
from cdk_trainyard.parallelcluster.render import Config, cluster_config
from cdk_trainyard.parallelcluster.resolve import resolve_cluster
from cdk_trainyard.parallelcluster.rules import cluster_problems
from cdk_trainyard.parallelcluster.rules_config import ANYTHING
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import sentence
from cdk_trainyard.storage import LustreFileSystem, Mount

PRIVATE, PUBLIC, OTHER_ZONE = "subnet-" + "a" * 17, "subnet-" + "b" * 17, "subnet-" + "c" * 17
SUBNETS: Mapping[str, Mapping[str, Any]] = {
    PRIVATE: {"zone": "us-east-1a", "public": False, "cidr": "10.1.128.0/17"},
    PUBLIC: {"zone": "us-east-1a", "public": True, "cidr": "10.1.0.0/20"},
    OTHER_ZONE: {"zone": "us-east-1b", "public": False, "cidr": "10.1.16.0/20"},
}
PLACE = Place(
    accelerator_subnet=PRIVATE,
    accelerator_cidr="10.1.128.0/17",
    public_subnets=(PUBLIC,),
    zone="us-east-1a",
    has_nat=True,
    zones={identity: subnet["zone"] for identity, subnet in SUBNETS.items()},
)
GROUP_ARN = "arn:aws:resource-groups:us-east-1:111111111111:group/reserved"
BLOCK = "cr-0123456789abcdef0"
SECRET_ARN = "arn:aws:secretsmanager:us-east-1:111111111111:secret:slurm-AbCdEf"  # noqa: S105  a name, not a secret


class Imported:
    """Parts that exist already, for rows that need them."""

    def __init__(self) -> None:
        stack = Stack(App(), "Agreement")
        vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-00000000", availability_zones=["us-east-1a"])
        group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-" + "a" * 17)
        self.vpc = vpc
        self.group = EfaSecurityGroup.from_security_group(stack, "Efa", group, self_rules_exist=True)
        self.other_zone = ec2.Subnet.from_subnet_attributes(stack, "Other", subnet_id=OTHER_ZONE)
        self.private = ec2.Subnet.from_subnet_attributes(stack, "Private", subnet_id=PRIVATE)
        self.public = ec2.Subnet.from_subnet_attributes(stack, "Public", subnet_id=PUBLIC)
        self.lustre = LustreFileSystem.from_attributes(
            stack,
            "Lustre",
            file_system_id="fs-" + "a" * 17,
            dns_name=f"fs-{'a' * 17}.fsx.us-east-1.amazonaws.com",
            mount_name="fsx",
            security_group=self.group,
            zone="us-east-1a",
        )
        self.secret = secretsmanager.Secret.from_secret_complete_arn(stack, "Secret", SECRET_ARN)
        self.rsa = ec2.KeyPair.from_key_pair_attributes(stack, "Rsa", key_pair_name="rsa", type=ec2.KeyPairType.RSA)
        self.ed25519 = ec2.KeyPair.from_key_pair_attributes(
            stack, "Ed25519", key_pair_name="ed25519", type=ec2.KeyPairType.ED25519
        )
        self.boundary = iam.ManagedPolicy.from_managed_policy_arn(
            stack, "Boundary", "arn:aws:iam::111111111111:policy/boundary"
        )


# ---------------------------------------------------------------- clusters
def cpu(**changes: Any) -> ComputeResource:
    """Return CPU nodes, with changes."""
    return ComputeResource(**_with({"instance_type": "c5.xlarge", "max_count": 8}, changes))


def trn1(**changes: Any) -> ComputeResource:
    """Return Trainium nodes, with changes."""
    return ComputeResource(**_with({"instance_type": "trn1.32xlarge", "max_count": 16}, changes))


def flexible(*types: str, **changes: Any) -> ComputeResource:
    """Return nodes of several types, with changes."""
    return ComputeResource(**_with({"instance_types": types, "name": "mixed"}, changes))


def queue(*compute: ComputeResource, **changes: Any) -> Queue:
    """Return a queue, with changes."""
    return Queue(**_with({"name": "compute", "compute": compute or (cpu(),)}, changes))


def p5(**changes: Any) -> Queue:
    """Return a queue on a capacity block, with changes of its nodes."""
    nodes = ComputeResource(**_with({"instance_type": "p5.48xlarge", "max_count": 4}, changes))
    return Queue(name="p5", compute=[nodes], capacity=UsageClass.CAPACITY_BLOCK, reservation_id=BLOCK)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A cluster that is judged.

    Attributes:
        said: What was said.
        context: What it stands in.
    """

    said: ParallelClusterSpec
    context: ParallelClusterFacts

    @property
    def name(self) -> str:
        """Its name."""
        return self.said.cluster_name or self.context.default_name

    @property
    def problems(self) -> list[str]:
        """What our rules say of it."""
        judge = Judge(environment=Environment(region=self.context.region))
        spec = resolve_cluster(judge.judged(self.said), self.context)
        return [sentence(problem) for problem in (*judge.problems, *cluster_problems(spec, self.context))]

    @property
    def config(self) -> Config:
        """Its configuration, whatever is wrong with it."""
        wiring = replace(ANYTHING, region=self.context.region or ANYTHING.region)
        return cluster_config(resolve_cluster(self.said, self.context), self.context, wiring)


CONTEXT = ("region", "other_names", "stack_name")
"""Changes that are of what a cluster stands in."""


def cluster(*queues: Queue, head: HeadNode | None = None, mounts: Sequence[Mount] = (), **changes: Any) -> Candidate:
    """Return a cluster, with changes of it and of what it stands in."""
    around = {"region": "us-east-1", **{name: changes.pop(name) for name in CONTEXT if name in changes}}
    return Candidate(
        said=ParallelClusterSpec(
            **_with(
                {
                    "cluster_name": "train",
                    "head_node": head or HeadNode(instance_type="c5.xlarge", public=True),
                    "queues": tuple(queues or (queue(),)),
                },
                changes,
            )
        ),
        context=ParallelClusterFacts(place=PLACE, mounts=[mount.facts for mount in mounts], **around),
    )


def head(**changes: Any) -> HeadNode:
    """Return a head node, with changes."""
    return HeadNode(**_with({"instance_type": "c5.xlarge", "public": True}, changes))


def login(**changes: Any) -> LoginPool:
    """Return login nodes, with changes."""
    return LoginPool(**_with({"name": "login", "instance_type": "c5.large"}, changes))


def accounting(parts: Imported, **changes: Any) -> SlurmSettings:
    """Return settings with a database, with changes."""
    given = _with({"endpoint": "db.example", "user_name": "slurm", "password_secret": parts.secret}, changes)
    return SlurmSettings(accounting=SlurmAccounting(**given))


def _with(usual: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return usual | changes
