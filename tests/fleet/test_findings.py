"""The reviewers' tools find nothing here that is not explained, and no explanation is idle."""

import pytest
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.fleet import (
    EfaLaunchTemplate,
    FleetCapacity,
    FleetPlacement,
    FleetSize,
    NodeImage,
    TrainingImage,
)
from cdk_trainyard.instances import AcceleratorKind
from cdk_trainyard.network import EfaBackend
from tests.fleet.parts import existing_lustre, existing_network, new_fleet, new_master, new_stack, shared_group
from tests.review.tools import Review


def fleet_with_master(stack: Stack) -> None:
    new_master(stack, new_fleet(stack, lustre=existing_lustre(stack, efa=True)))


def capacity_block(stack: Stack) -> None:
    new_fleet(
        stack,
        instance_type="p5.48xlarge",
        size=FleetSize.fixed(16),
        capacity=FleetCapacity.capacity_block("cr-0123456789abcdef0", instances=16),
    )


def mixed_spot(stack: Stack) -> None:
    new_fleet(
        stack,
        instance_types=["p5.48xlarge", "p4d.24xlarge"],
        capacity=FleetCapacity.spot(),
        placement=FleetPlacement.anywhere(),
        size=FleetSize.between(0, 4),
    )


def image(stack: Stack) -> None:
    TrainingImage(
        stack,
        "Image",
        base=NodeImage.dlami("ubuntu-24.04"),
        network=existing_network(stack),
        accelerator=AcceleratorKind.GPU,
        families=["p3dn"],
        nvidia_branch="580",
        schedule="rate(7 days)",
        build=True,
    )


def public_template(stack: Stack) -> None:
    group = shared_group(stack)
    ec2.CfnSecurityGroupIngress(
        stack, "Inside", group_id=group.security_group_id, ip_protocol="tcp", from_port=8888, to_port=8888,
        cidr_ip="10.0.0.0/8", description="notebooks",
    )  # fmt: skip
    EfaLaunchTemplate(
        stack,
        "Template",
        instance_type="g5.48xlarge",
        security_group=group,
        backend=EfaBackend.LEGACY,
        public_address=True,
    )


BUILDS = {build.__name__: build for build in (fleet_with_master, capacity_block, mixed_spot, image, public_template)}


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Review[Stack]:
    return Review(BUILDS, lambda app: new_stack(app=app), tmp_path_factory.mktemp("review"))


@pytest.mark.review
@pytest.mark.parametrize("name", BUILDS)
def test_no_finding_is_unexplained_and_no_explanation_idle(review: Review[Stack], name: str) -> None:
    assert review.open_findings(name) == []


@pytest.mark.review
def test_cfn_lint_has_no_open_finding(review: Review[Stack]) -> None:
    assert review.lint() == []


@pytest.mark.review
def test_checkov_has_no_open_finding_and_no_idle_skip(review: Review[Stack]) -> None:
    assert review.checkov() == []
