"""The reviewers' tools find nothing here that is not explained, and no explanation is idle."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App, Stack
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
from cdk_trainyard.review import attach_checks, unmatched_acknowledgments
from tests.fleet.parts import existing_lustre, existing_network, new_fleet, new_master, new_stack, shared_group

ROOT = Path(__file__).parents[2]


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


@pytest.fixture(
    scope="module",
    params=[fleet_with_master, capacity_block, mixed_spot, image, public_template],
    ids=lambda build: build.__name__,
)
def synthesized(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("findings")
    build: Callable[[Stack], None] = request.param
    app = App(outdir=str(directory))
    attach_checks(app)
    build(new_stack(app=app))
    app.synth()
    assert unmatched_acknowledgments(app, directory) == []
    return directory


def test_no_finding_of_a_rule_pack_is_unexplained(synthesized: Path) -> None:
    report = json.loads((synthesized / "validation-report.json").read_text())
    assert [plugin["violations"] for plugin in report["pluginReports"] if plugin["violations"]] == []


@pytest.mark.review
def test_cfn_lint_has_no_open_finding(synthesized: Path) -> None:
    run = subprocess.run(
        [
            str(Path(sys.executable).with_name("cfn-lint")), "--format", "json", "--include-checks", "W", "--",
            str(synthesized / "Stack.template.json"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert [(found["Rule"]["Id"], found["Message"]) for found in json.loads(run.stdout or "[]")] == []


@pytest.mark.review
def test_checkov_has_no_open_finding_and_no_idle_skip(synthesized: Path, tmp_path: Path) -> None:
    shutil.copy(synthesized / "Stack.template.json", tmp_path)
    checkov = ROOT / ".venv-checkov" / "bin" / "checkov"
    run = subprocess.run(
        [str(checkov), "--directory", str(tmp_path), "--framework", "cloudformation", "--output", "json",
         "--skip-download"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    results = json.loads(run.stdout)["results"]
    assert {(found["check_id"], found["resource"]) for found in results["failed_checks"]} == set()
    template = json.loads((synthesized / "Stack.template.json").read_text())
    written = {
        (skip["id"], f"{resource['Type']}.{logical_id}")
        for logical_id, resource in template["Resources"].items()
        for skip in resource.get("Metadata", {}).get("checkov", {}).get("skip", [])
    }
    assert written == {(found["check_id"], found["resource"]) for found in results.get("skipped_checks", [])}
