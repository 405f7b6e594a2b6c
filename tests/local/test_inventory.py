"""What the demo shows of fleets and services is what the services' APIs say."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cdk_trainyard.account import Account
from cdk_trainyard.cli._made_up import account_of, arns, content, key_pairs, make_existing, network
from cdk_trainyard.cli.inventory import sections, text
from cdk_trainyard.cli.inventory.account import Account as InventoryAccount
from cdk_trainyard.cli.inventory.storage import databases
from cdk_trainyard.local import LocalAws
from cdk_trainyard.operations import Deployed
from tests.asking import asking
from tests.local.apps_of_rooms import CERTIFICATE, REGION, fleet, service, synthesized, uploaded

_NAME = "shown"


@pytest.fixture(scope="module")
def shown(aws: LocalAws, bootstrapped: None) -> Iterator[str]:  # noqa: ARG001  it is deployed into it
    """Deploy a fleet and a service as a deployment's stacks, and return the inventory."""
    client = aws.client("cloudformation", REGION)
    base = "base-oss-nvidia-driver-gpu-ubuntu-22.04"
    built = {"base": base, "nvidia_branch": None, "commands": ["true"], "schedule": "cron(0 4 ? * SUN *)"}
    built |= {"while_deploying": True}
    apps = {
        "training": fleet(instance_type="p3dn.24xlarge", built=built, master="c5n.18xlarge"),
        "serving": service(web_acl=True, tasks=2),
    }
    for stack, build in apps.items():
        body = uploaded(aws, synthesized(aws, build, f"Shown-{stack}"))
        client.create_stack(StackName=f"{_NAME}-{stack}", TemplateURL=body, Capabilities=["CAPABILITY_NAMED_IAM"])
        client.get_waiter("stack_create_complete").wait(
            StackName=f"{_NAME}-{stack}", WaiterConfig={"Delay": 0.1, "MaxAttempts": 600}
        )
    with asking(aws):
        account = Account(REGION)
        yield "\n".join(text(dict(sections(account, Deployed.read(account, _NAME)))))
    for stack in apps:
        client.delete_stack(StackName=f"{_NAME}-{stack}")


@pytest.mark.parametrize(
    "pattern",
    [
        r"== Machines",
        r"placement group +\S+  cluster, available",
        r"group +\S+  2 of 2 instances, 2 to 2",
        r"  hook +set-up  launching, 3600 s, then abandon",
        r"  launch template +lt-\S+  version 1, ami-\w+, 200 GiB, IMDSv2 required",
        r"  instance +i-\w+  p3dn.24xlarge, us-west-1\w, 10\.1\.\S+, in \S+, running",
        r"    interfaces +1 x interface  card 0, 1 with an address",
        r"    interfaces +1 x efa-only  card 0, 0 with an address",
        r"instance +i-\w+  c5n.18xlarge, ",
        r"image pipeline +\S+  from ssm:/aws/service/deeplearning/\S+, cron\(0 4 \? \* SUN \*\)",
        r"  parameter +/imagebuilder/trainyard/\S+  ami-\w+",
        r"key pair +\S+  private half in /ec2/keypair/key-\w+",
        r"== Door",
        r"load balancer +\S+  internal, active",
        r"  from +sg-\w+  tcp 8080$",
        r"  to +nobody$",
        rf"  listener +HTTPS 443  {CERTIFICATE}",
        r"    rule +10 +path-pattern /v1/\*; http-request-method GET POST  then a token of ",
        r"    rule .*  then a token of \S+ with client_id chat, then forward to \S+",
        r"    rule +default anything else  then answer 404",
        r"  target group +\S+  HTTP 8080, health /health on traffic-port",
        r"  web ACL +\S+  AWSManagedRulesAmazonIpReputationList, .*TooManyRequests",
        r"== Services",
        r"service +\S+  replica, 2 of 2 tasks",
        r"service +\S+  daemon",
        r"    container +engine  \S+text-generation-inference\S+, /dev/neuron0",
    ],
)
@pytest.mark.slow
def test_lines(shown: str, pattern: str) -> None:
    assert re.search(f"^{pattern}", shown, re.MULTILINE), shown


@pytest.mark.slow
def test_what_is_not_there_has_no_section(shown: str) -> None:
    assert "== Clusters" not in shown
    assert dict(sections(Account(REGION), Deployed(name="nobody", stacks={}))) == {}


def test_arns_of_a_deployment_file() -> None:
    file = {"a": ["arn:aws:s3:::x", {"b": "arn:aws:sns:::y"}], "c": "not one", "d": 3}
    assert list(arns(file)) == ["arn:aws:s3:::x", "arn:aws:sns:::y"]


def test_key_pairs_of_a_deployment_file() -> None:
    file = {"cluster": {"head_node": {"key_pair": "mine"}, "master": [{"key_pair": "theirs"}]}, "key": "none"}
    assert list(key_pairs(file)) == ["mine", "theirs"]


def _network(region: str, zone_id: str, **more: Any) -> dict[str, Any]:
    table = {"route_table_id": "rtb-0a1b2c3d4e5f60718"}
    return {
        "vpc_id": "vpc-0a1b2c3d4e5f60718",
        "accelerator_subnet": {"subnet_id": "subnet-0a1b2c3d4e5f60711", "zone": zone_id, "cidr": "10.3.64.0/18"},
        "service_subnets": [
            {"subnet_id": "subnet-0a1b2c3d4e5f60712", "zone": f"{region}a", **table},
            {"subnet_id": "subnet-0a1b2c3d4e5f60713", "zone": f"{region}c", **table},
        ],
        "public_subnets": [{"subnet_id": "subnet-0a1b2c3d4e5f60714", "zone": f"{region}c"}],
        "security_group_id": "sg-0a1b2c3d4e5f60718",
        **more,
    }


@pytest.mark.parametrize(
    ("region", "zone_id", "more"),
    [
        ("ap-south-1", "aps1-az1", {}),
        ("sa-east-1", "sae1-az1", {"cidr": "10.3.0.0/16"}),
        (
            "ap-northeast-3",
            "apne3-az1",
            {"accelerator_subnet": {"subnet_id": "subnet-0a1b2c3d4e5f60711", "zone": "apne3-az1"}},
        ),
    ],
)
def test_the_network_of_a_deployment_file_is_made_up(
    aws: LocalAws, capsys: pytest.CaptureFixture[str], region: str, zone_id: str, more: dict[str, Any]
) -> None:
    make_existing(aws, network(_network(region, zone_id, **more), f"arn:aws:ec2:{region}:123456789012"))
    assert "not made up" not in capsys.readouterr().out
    ec2 = aws.client("ec2", region)
    within = [{"Name": "vpc-id", "Values": ["vpc-0a1b2c3d4e5f60718"]}]
    subnets = {row["SubnetId"]: row for row in ec2.describe_subnets(Filters=within)["Subnets"]}
    assert len(subnets) == 4
    assert subnets["subnet-0a1b2c3d4e5f60711"]["AvailabilityZoneId"] == zone_id
    ways = {
        association["SubnetId"]: [route["GatewayId"] for route in table["Routes"][1:]]
        for table in ec2.describe_route_tables(Filters=within)["RouteTables"]
        for association in table["Associations"]
        if "SubnetId" in association
    }
    assert ways == {name: ["igw-0a1b2c3d4e5f60718"] if name.endswith("4") else [] for name in subnets}


def test_a_network_that_is_made_exists_nowhere_before() -> None:
    assert network({"zone": "us-west-1a"}, "x") == network(None, "x") == []


@pytest.mark.parametrize(
    ("file", "account"),
    [
        ({}, "123456789012"),
        ({"account": "111111111111", "key": "arn:aws:kms:us-west-1:222222222222:key/1"}, "111111111111"),
        ({"bucket": "arn:aws:s3:::x", "key": "arn:aws:kms:us-west-1:222222222222:key/1"}, "222222222222"),
    ],
)
def test_the_account_of_a_deployment_file(file: dict[str, str], account: str) -> None:
    assert account_of(file, list(arns(file))) == account


def test_what_cannot_be_made_up_is_said(aws: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    existing, other = "arn:aws:s3:::shown-existing", "arn:aws:ec2:us-west-1:123456789012:instance/i-1"
    make_existing(aws, [existing, other])
    printed = capsys.readouterr().out
    assert f"\n{existing}\n" in printed
    assert f"\nnot made up: '{other}' cannot be made up" in printed


def test_the_demo_reads_a_file_as_the_app_does(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: on\nat: 1:30\n")
    assert content(file) == {"name": "on", "at": "1:30"}
    file.write_text("name: [")
    assert content(file) == content(tmp_path / "none.yaml") == {}


def test_a_database_is_shown_with_its_engine_and_its_endpoint(aws: LocalAws) -> None:
    rds = aws.client("rds", REGION)
    size = {"DBInstanceClass": "db.t4g.medium", "AllocatedStorage": 20, "MultiAZ": True}
    rds.create_db_instance(
        DBInstanceIdentifier="jobs", Engine="mariadb", EngineVersion="11.4.10", Port=3307, MasterUsername="slurm",
        MasterUserPassword="not-a-secret", **size,
    )  # fmt: skip
    asked = cast("InventoryAccount", SimpleNamespace(ids={"RDS::DBInstance": ["jobs"]}.get, client={"rds": rds}.get))
    database, endpoint = map(str, databases(asked))
    rds.delete_db_instance(DBInstanceIdentifier="jobs", SkipFinalSnapshot=True)
    said = "mariadb 11.4.10, db.t4g.medium, 20 GB, a standby in a second zone, available"
    assert re.fullmatch(rf"database +jobs  {said}", database)
    assert re.fullmatch(r"  endpoint +jobs\.\S+:3307 *", endpoint)
