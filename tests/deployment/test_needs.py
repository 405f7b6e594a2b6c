"""What a deployment needs of its account, from its file; the pages that say so are as the data are."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.needs import PARTS, deployment_needs
from cdk_trainyard.quotas import Needs
from tests.support import DEPLOYMENTS, ROOT
from tools.needs import FOLDER, page, shown, write

Change = Callable[[str], str]


def needs_of(tmp_path: Path, name: str, *changes: tuple[str, str]) -> Needs:
    text = (FOLDER / f"{name}.yaml").read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (tmp_path / "changed.yaml").write_text(text)
    return deployment_needs(Deployment.load(tmp_path / "changed.yaml"))


def amounts(needs: Needs) -> dict[str, int]:
    return {need.quota.name: need.amount for need in needs.quotas}


def test_the_page_of_the_deployments_is_as_the_data_are() -> None:
    assert page(DEPLOYMENTS) in (FOLDER / "README.md").read_text(), "run python -m tools.needs"


def test_the_page_is_written_between_its_marks(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text((FOLDER / "README.md").read_text().replace("| all |", "| stale |"))
    write(readme, DEPLOYMENTS)
    assert readme.read_text() == (FOLDER / "README.md").read_text()


def test_one_file_is_shown_with_the_commands_that_ask_for_what_new_accounts_lack() -> None:
    lines = list(shown(FOLDER / "fleet-p3dn-bert.yaml"))
    assert lines[0].startswith("ec2 'Running On-Demand P instances'")
    assert lines[1].strip().endswith("--quota-code L-417A185B --desired-value 768 --region us-west-2")
    assert any(line.startswith("cdk bootstrap") for line in lines)


TIERING = """{ storage: INTELLIGENT_TIERING, capacity_gib: null,
  read_cache: { mode: USER_PROVISIONED, size_gib: 200 } }"""


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_the_parts_are_the_whole(path: Path) -> None:
    deployment = Deployment.load(path)
    whole = sum((needs(deployment) for needs in PARTS.values()), Needs())
    assert deployment_needs(deployment) == whole
    assert whole.quotas


def test_everything_that_exists_needs_nothing() -> None:
    deployment = Deployment.load(ROOT / "tests" / "deployment" / "data" / "everything_existing.yaml")
    assert PARTS["network"](deployment) == Needs()
    assert PARTS["storage"](deployment) == Needs()


# ---------------------------------------------------------------- network and storage
@pytest.mark.parametrize(("nat", "gateways", "addresses"), [("one", 1, 1), ("per-zone", 1, 2), ("none", None, None)])
def test_each_nat_gateway_has_an_address(nat: str, gateways: int | None, addresses: int | None, tmp_path: Path) -> None:
    zones = "" if nat == "none" else "\n  public_zones: [usw2-az1]"
    needs = amounts(needs_of(tmp_path, "hyperpod-trn1-llama2", ("network:\n", f"network:\n  nat: {nat}{zones}\n")))
    assert needs.get("NAT gateways per Availability Zone") == gateways
    assert needs.get("EC2-VPC Elastic IPs") == addresses
    assert needs.get("Internet gateways per Region") == (1 if gateways else None)


def test_interface_endpoints_are_counted(tmp_path: Path) -> None:
    endpoints = ("network:\n", "network:\n  interface_endpoints: [ssm, ssmmessages]\n")
    assert amounts(needs_of(tmp_path, "hyperpod-cpu-ddp", endpoints))["Interface VPC endpoints per VPC"] == 2


@pytest.mark.parametrize(
    ("kind", "quota", "amount"),
    [
        ("throughput_mb_s_per_tib: 250", "Lustre Persistent_2 storage capacity", 4800),
        (
            "{ deployment: PERSISTENT_1, throughput_mb_s_per_tib: 100 }",
            "Lustre Persistent_1 storage capacity",
            4800,
        ),
        ("deployment: SCRATCH_2", "Lustre Scratch storage capacity", 4800),
        (
            "{ deployment: PERSISTENT_1, storage: HDD, throughput_mb_s_per_tib: 12, capacity_gib: 6000 }",
            "Lustre Persistent HDD storage capacity (per file system)",
            6000,
        ),
        (
            TIERING,
            "Lustre Persistent Intelligent-Tiering throughput capacity",
            4000,
        ),
        (
            TIERING,
            "Lustre Persistent Intelligent-Tiering SSD read cache storage capacity",
            200,
        ),
    ],
)
def test_storage_counts_against_the_quota_of_its_kind(kind: str, quota: str, amount: int, tmp_path: Path) -> None:
    content = yaml.safe_load((FOLDER / "hyperpod-trn1-llama2.yaml").read_text())
    lustre = {"capacity_gib": 4800, **yaml.safe_load(kind)}
    content["storage"]["lustre"] = {key: value for key, value in lustre.items() if value is not None}
    (tmp_path / "changed.yaml").write_text(yaml.safe_dump(content))
    assert amounts(deployment_needs(Deployment.load(tmp_path / "changed.yaml")))[quota] == amount


# ---------------------------------------------------------------- what computes
@pytest.mark.parametrize(
    ("name", "quota", "amount"),
    [
        ("hyperpod-trn1-llama2", "ml.trn1.32xlarge for cluster usage", 4),
        ("hyperpod-trn1-llama2", "Total number of instances allowed across SageMaker HyperPod clusters", 5),
        (
            "hyperpod-trn1-llama2",
            "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
            500,
        ),
        ("parallelcluster-trn1-ultracluster", "Running On-Demand Trn instances", 144 * 128 + 8 * 8),
        ("parallelcluster-trn1-ultracluster", "DB instances", 1),
        ("parallelcluster-trn1-ultracluster", "Network Load Balancers per Region", 1),
        ("parallelcluster-hello", "EC2-VPC Elastic IPs", 2),
        ("fleet-p3dn-bert", "Running On-Demand P instances", 8 * 96),
        (
            "fleet-p3dn-bert",
            "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
            72 + 8,
        ),
        ("serving-inf2-vllm", "Running On-Demand Inf instances", 2 * 96),
        ("serving-inf2-vllm", "Application Load Balancers per Region", 1),
        ("serving-inf2-tgi", "Running On-Demand Inf instances", 2 * 4),
    ],
)
def test_a_shipped_deployment_needs(name: str, quota: str, amount: int) -> None:
    assert amounts(deployment_needs(Deployment.load(FOLDER / f"{name}.yaml")))[quota] == amount


def test_each_block_of_clients_is_a_rule(tmp_path: Path) -> None:
    clients = ", ".join(f"10.0.{number}.0/24" for number in range(61))
    changed = needs_of(
        tmp_path, "serving-inf2-tgi", ("  load_balancer:", f"  load_balancer:\n    clients: [{clients}]")
    )
    (rules,) = [need for need in changed.quotas if need.quota.name == "Inbound or outbound rules per security group"]
    assert (rules.amount, rules.exceeds_first) == (61, True)


@pytest.mark.parametrize("name", ["fleet-p5-capacity-block", "parallelcluster-p5-capacity-block"])
def test_a_capacity_block_is_bought_and_counts_no_vcpus(name: str) -> None:
    needs = deployment_needs(Deployment.load(FOLDER / f"{name}.yaml"))
    assert "Running On-Demand P instances" not in amounts(needs)
    assert "capacity-block" in needs.services


@pytest.mark.parametrize(
    ("name", "services"),
    [
        ("serving-inf2-vllm", {"ecs", "autoscaling", "elasticloadbalancing", "certificate"}),
        (
            "serving-inf2-tgi",
            {"ecs", "autoscaling", "elasticloadbalancing", "certificate", "api-key", "hyperpod", "fsx"},
        ),
        ("hyperpod-cpu-ddp", {"hyperpod", "fsx"}),
        ("fleet-p3dn-bert", {"autoscaling", "fsx", "imagebuilder"}),
        ("parallelcluster-hello", set()),
    ],
)
def test_services_that_need_a_role_once(name: str, services: set[str]) -> None:
    assert deployment_needs(Deployment.load(FOLDER / f"{name}.yaml")).services == services


def test_spot_and_training_plans_have_quotas_of_their_own(tmp_path: Path) -> None:
    spot = needs_of(
        tmp_path,
        "hyperpod-trn1-llama2",
        ("      count: 4\n", "      count: 4\n      capacity: spot\n"),
        ("cluster:\n", "cluster:\n  provisioning: Continuous\n"),
    )
    assert amounts(spot)["ml.trn1.32xlarge for cluster spot instance usage"] == 4
    plan = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/mine"
    planned = needs_of(
        tmp_path, "hyperpod-trn1-llama2", ("      count: 4\n", f"      count: 4\n      training_plan_arn: {plan}\n")
    )
    assert "training-plan" in planned.services
