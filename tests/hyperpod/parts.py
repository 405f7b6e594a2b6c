"""Small legal parts of clusters, for the tests of hyperpod to change one thing of."""

from pathlib import Path
from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from cdk_trainyard.hyperpod import GroupRole, InstanceGroup
from cdk_trainyard.lifecycle import LifecycleScripts, SlurmTopology
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.storage import Lustre, LustreFileSystem
from tests.parts import subnet_id

ACCOUNT = "111111111111"
REGION = "us-west-2"
SCRIPTS = Path(__file__).parent / "scripts"


def group(name: str = "worker-group", role: GroupRole = GroupRole.COMPUTE, **changes: Any) -> InstanceGroup:
    """Return a legal group with changes."""
    types = {} if {"instance_type", "instance_types"} & set(changes) else {"instance_type": "ml.c5.4xlarge"}
    return InstanceGroup(**{"name": name, "role": role, "count": 1, **types, **changes})


def controller(**changes: Any) -> InstanceGroup:
    """Return a legal controller group with changes."""
    return group(
        **{"name": "controller-group", "role": GroupRole.CONTROLLER, "instance_type": "ml.m5.large", **changes}
    )


def worker(**changes: Any) -> InstanceGroup:
    """Return a legal compute group with changes."""
    return group(**changes)


def new_stack(name: str = "Stack", **options: Any) -> Stack:
    """Return an empty stack of a known account and Region."""
    return Stack(App(), name, env=Environment(account=ACCOUNT, region=REGION), **options)


def service_subnets(stack: Stack, *zones: str) -> list[ec2.ISubnet]:
    """Return existing subnets, one in each zone."""
    return [
        ec2.Subnet.from_subnet_attributes(
            stack, f"Service{number}", subnet_id=subnet_id(f"service{number}"), availability_zone=zone
        )
        for number, zone in enumerate(zones)
    ]


def shared_group(stack: Stack, network: Network, construct_id: str = "Efa") -> EfaSecurityGroup:
    """Return a security group with its self rules."""
    return EfaSecurityGroup(stack, construct_id, vpc=network.vpc)


def existing_lustre(stack: Stack, security_group: EfaSecurityGroup, **changes: Any) -> Lustre:
    """Return a file system that exists, with changes."""
    settings = {
        "file_system_id": "fs-01234567",
        "dns_name": "fs-01234567.fsx.us-west-2.example",
        "mount_name": "abcdefgh",
        "security_group": security_group,
        **changes,
    }
    return LustreFileSystem.from_attributes(stack, "Lustre", **settings)


def legacy_scripts(stack: Stack, topology: dict[str, Any] | None = None) -> LifecycleScripts:
    """Return uploaded scripts for the legacy topology, with what its file says."""
    return LifecycleScripts(
        stack,
        "Scripts",
        bucket=s3.Bucket.from_bucket_name(stack, "Bucket", "some-lifecycle-scripts"),
        folder=SCRIPTS,
        topology=SlurmTopology.LEGACY,
        legacy_topology=topology or {},
    )


def cluster_properties(stack: Stack) -> dict[str, Any]:
    """Return the properties of the one cluster of a stack."""
    return cluster_resource(stack)["Properties"]


def cluster_resource(stack: Stack) -> dict[str, Any]:
    """Return the one cluster of a stack as it stands in the template."""
    (resource,) = Template.from_stack(stack).find_resources("AWS::SageMaker::Cluster").values()
    return dict(resource)


def policy_document(stack: Stack, role: str = "ExecutionRole") -> dict[str, Any]:
    """Return the document of a role's policy, by the role's id."""
    policies = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy")
    (policy,) = [policy for policy_id, policy in policies.items() if role in policy_id]
    return dict(policy["Properties"]["PolicyDocument"])


def statements(stack: Stack, role: str = "ExecutionRole") -> dict[str, dict[str, Any]]:
    """Return the statements of a role's policy, by Sid or first action."""
    found = policy_document(stack, role)["Statement"]
    names = [one.get("Sid") or (one["Action"] if isinstance(one["Action"], str) else one["Action"][0]) for one in found]
    assert len(set(names)) == len(names), names
    return dict(zip(names, found, strict=True))
