"""Every command on the pages of docs/ is run as it stands, in order, and answers what the page says it answers.

A page's blocks are one session in one folder: a block with ``title="FILE"`` is written there, lines of ``console``
blocks that begin with ``$`` are run, and answer the lines below (tests/shown.py). Where no line begins with ``$``, each
is a command. The credentials are a local AWS's.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cdk_trainyard.local import LocalAws
from tests.shown import Step, lacking, steps

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
INSTALLED = ("pip install ", "npm install ")
"""What the locked environment has done already; tests/test_wheel.py does it from the wheel."""
HEAVY = re.compile(r"\b(cdk|demo|deploy|destroy|diff|synth|plan|pytest)\b")


def run_on(page: Path) -> list[Step]:
    """Return what is run of a page: not what has been installed, nor the AWS CLI (tests/test_shown_aws.py)."""
    return [step for step in steps(page) if step.file or not step.command.startswith((*INSTALLED, "aws "))]


def pages() -> list[pytest.ParameterSet]:
    """Return the pages that are run: of two, not the one whose commands the other has, in the same order."""
    commands = {page: [step.command for step in run_on(page)] for page in sorted(ROOT.glob("docs/**/*.md"))}
    return [
        pytest.param(
            page, id=page.stem, marks=pytest.mark.cli if HEAVY.search("\n".join(run)) else pytest.mark.programs
        )
        for page, run in commands.items()
        if run and not any(within(run, other) for name, other in commands.items() if name != page)
    ]


def within(commands: list[str], others: list[str]) -> bool:
    """Return whether commands are among others, in their order; a file of a page's own is among nobody's."""
    left = iter(others)
    return "" not in commands and all(command in left for command in commands)


def platform_vpc(aws: LocalAws) -> None:
    """What the page own-vpc says that a platform team made: a VPC with a private subnet behind a NAT gateway."""
    ec2 = aws.client("ec2", "us-west-2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.64.0/18", AvailabilityZone="us-west-2b")["Subnet"]["SubnetId"]
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
    nat = ec2.create_nat_gateway(SubnetId=subnet, ConnectivityType="private")["NatGateway"]["NatGatewayId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "Name", "Value": "platform"}])


EXISTING = {"own-vpc": platform_vpc}
"""What a page says that is there already."""


@pytest.fixture
def account(aws: LocalAws, page: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a shell that is logged in to an account, with what the page takes for granted."""
    aws.reset()
    EXISTING.get(page.stem, lambda _: None)(aws)
    own = {"PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]), "HOME": str(tmp_path)}
    # jsii unpacks 60 MB of CDK for every home anew
    own["JSII_RUNTIME_PACKAGE_CACHE_ROOT"] = str(Path.home() / ".cache" / "aws" / "jsii" / "package-cache")
    yield aws.environment | own
    aws.reset()


@pytest.mark.parametrize("page", pages())
def test_the_page_does_what_it_says(page: Path, account: dict[str, str], tmp_path: Path) -> None:
    where = tmp_path / "here"
    where.mkdir()
    for step in run_on(page):
        if step.file:
            target = where / step.file[0]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(step.file[1])
            continue
        script = f"set -e\n{step.command}\npwd > {tmp_path}/where"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", script],  # noqa: S607
            cwd=where,
            env=account,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{step.command}\n{done.stdout}"
        assert lacking(step.said, done.stdout) == [], f"{step.command}\n{done.stdout}"
        where = Path((tmp_path / "where").read_text().strip())


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: page.stem)
def test_what_a_page_names_of_the_repository_is_there(page: Path) -> None:
    named = re.findall(
        r"`((?:bench|constructs|docs|lifecycle_scripts|tests|tools)/[\w./-]+)(?:::\w+)?`", page.read_text()
    )
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_map_names_what_is_there() -> None:
    """A path from the repository or from the package; a file that no path leads to is in some room."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    package = ROOT / "constructs" / "cdk_trainyard"
    named = re.findall(r"`((?:[\w*.-]+/)+[\w*.-]*|[\w*]+\.py)`", text)
    assert [
        name for name in named if not any([*ROOT.glob(name), *package.glob(name), *package.glob(f"*/{name}")])
    ] == []


def workflows() -> list[pytest.ParameterSet]:
    return [
        pytest.param(page, step.file[1], id=page.stem)
        for page in sorted(ROOT.glob("docs/**/*.md"))
        for step in steps(page)
        if step.file and "workflows" in step.file[0]
    ]


@pytest.mark.parametrize(("page", "text"), workflows())
def test_a_pipeline_runs_what_its_page_runs(page: Path, text: str) -> None:
    jobs = yaml.safe_load(text)["jobs"]
    run = {line for job in jobs.values() for step in job["steps"] for line in step.get("run", "").splitlines()}
    assert run
    assert run <= {step.command for step in steps(page)}
