"""Twelve questions that somebody who sees only the review asks, each answered from ``review.json``."""

import json
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.report import review, write_review
from tests.support import ROOT, looked_at, synthesize_here

pytestmark = pytest.mark.review

Review = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def assemblies(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Synthesize each deployment that is asked about, once."""
    made: dict[str, Path] = {}

    def assembly(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            done = synthesize_here(ROOT / "deployments" / f"{name}.yaml", made[name])
            assert done.returncode == 0, done.stderr
        return made[name]

    return assembly


@pytest.fixture(scope="module")
def reviewed(assemblies: Callable[[str], Path]) -> Review:
    made: dict[str, dict[str, Any]] = {}

    def one(name: str) -> dict[str, Any]:
        if name not in made:
            made[name] = review(assemblies(name))
        return made[name]

    return one


def of(found: list[dict[str, Any]], key: str, value: str) -> dict[str, Any]:
    (each,) = [each for each in found if each[key] == value]
    return each


def roles(found: dict[str, Any], store: str, verb: str) -> list[str]:
    return [each["role"] for each in of(found["permissions"]["access"], "store", store)[verb]]


HYPERPOD = "hyperpod-trn1-llama2"
SERVING = "serving-inf2-tgi"
ULTRA = "parallelcluster-trn1-ultracluster"
NODES = ["TrainingStack/Cluster/ControllerRole", "TrainingStack/Cluster/ExecutionRole"]


def test_1_what_is_it(reviewed: Review) -> None:
    assert reviewed(HYPERPOD)["title"] == "hyperpod-trn1-llama2: network, storage, training"
    said = reviewed(HYPERPOD)["verdict"]["sentence"]
    assert "4 ml.trn1.32xlarge" in said
    assert "1 SageMaker HyperPod cluster" in said
    assert "in us-west-2" in said


def test_2_who_can_read_the_checkpoints(reviewed: Review) -> None:
    assert roles(reviewed(HYPERPOD), "StorageStack/Buckets/Checkpoints", "readers") == NODES
    assert roles(reviewed(ULTRA), "StorageStack/Buckets/Checkpoints", "readers") == ["TrainingStack/Cluster"]


def test_3_who_can_write_the_scripts_that_root_runs(reviewed: Review) -> None:
    (writer,) = of(reviewed(HYPERPOD)["permissions"]["access"], "store", "StorageStack/Buckets/Scripts")["writers"]
    assert writer["role"] == "TrainingStack/LifecycleScriptsUploader/Role"
    assert writer["trusts"] == ["the service lambda.amazonaws.com"]


def test_4_what_happens_to_the_file_system_when_i_destroy_a_stack(reviewed: Review) -> None:
    files = of(reviewed(HYPERPOD)["data"], "name", "StorageStack/Lustre")
    assert files["stack"] == "StorageStack"  # nothing happens to it when TrainingStack goes
    assert files["is_kept"]
    assert files["on_destroy"].startswith("stays in the account")


def test_5_which_ports_are_open_to_the_internet(reviewed: Review) -> None:
    assert {name: reviewed(name)["network"]["openings"] for name in (HYPERPOD, SERVING, ULTRA)} == {
        HYPERPOD: [],
        SERVING: [],
        ULTRA: [],
    }


def test_6_can_the_door_reach_the_service_and_on_which_port(reviewed: Review) -> None:
    ways = reviewed(SERVING)["network"]["ways"]
    door = [(way["to"], way["ports"]) for way in ways if way["from"] == "ServingStack/Door"]
    assert door == [("ServingStack/Service/Service/Service", "TCP 8080")]
    assert not [
        way for way in ways if way["to"].startswith("ServingStack/Service") and way["from"] != "ServingStack/Door"
    ]


def test_7_what_does_another_node_add_per_hour(reviewed: Review) -> None:
    found = reviewed(HYPERPOD)["cost"]
    node = of(found["items"], "name", "ml.trn1.32xlarge")
    assert (node["price"], node["quantity"], node["hourly"]) == ("24.73", 4, "98.92")
    assert node["of"] == "training in us-east-1"  # and says that it is another Region's, and not HyperPod's own
    assert "FSx FileSystem" in found["unpriced_said"]


def test_8_which_key_encrypts_the_checkpoints_and_for_how_long_do_they_stay(reviewed: Review) -> None:
    checkpoints = of(reviewed(HYPERPOD)["data"], "name", "StorageStack/Buckets/Checkpoints")
    assert checkpoints["encryption"] == "with the key StorageStack/Buckets/Key (aws:kms)"
    assert checkpoints["retention"] == "objects under runs/ expire after 30 days; some objects expire after 30 days"
    assert reviewed(HYPERPOD)["verdict"]["unencrypted"] == []


def test_9_who_may_take_on_the_nodes_role_and_could_it_give_itself_more(reviewed: Review) -> None:
    nodes = of(reviewed(HYPERPOD)["permissions"]["roles"], "name", NODES[1])
    assert nodes["trusts"] == ["the service sagemaker.amazonaws.com"]
    assert nodes["managed"] == ["AmazonSageMakerClusterInstanceRolePolicy"]
    assert nodes["escalations"] == []
    wide = [grant for grant in nodes["grants"] if grant["wildcards"]]
    assert wide
    assert [grant["actions"] for grant in wide if not grant["reasons"]] == []


def test_10_which_secrets_are_there_and_who_can_read_them(reviewed: Review) -> None:
    found = reviewed(ULTRA)
    secrets = [
        each["store"] for each in found["permissions"]["access"] if each["type"] == "AWS::SecretsManager::Secret"
    ]
    assert secrets == ["StorageStack/Accounting/Password", "StorageStack/Accounting/Secret"]
    assert {each["name"]: each["is_kept"] for each in found["data"] if each["name"] in secrets} == dict.fromkeys(
        secrets, True
    )


def test_11_which_findings_are_accepted_and_why(reviewed: Review) -> None:
    for name in (HYPERPOD, SERVING, ULTRA):
        found = reviewed(name)
        assert found["verdict"]["open"] == {}
        assert found["verdict"]["accepted"] == len(found["findings"]) > 20
        assert [each for each in found["findings"] if len(each["reason"]) < 20 or not each["place"]] == []
        assert [each["place"] for each in found["findings"] if not each["resource"]] == []


def test_12_what_was_not_checked_and_what_was_it_made_of(reviewed: Review) -> None:
    found = reviewed(ULTRA)
    assert (
        "TrainingStack/Cluster/Provider3.16.1: the nested stack's template is not in the assembly"
        in found["not_checked"]
    )
    assert "quotas, capacity and what exists in the account already" in found["not_checked"]
    assert found["provenance"]["libraries"] == [f"aws-cdk-lib {version('aws-cdk-lib')}"]
    assert [each["file"] for each in found["provenance"]["templates"]] == [
        "NetworkStack.template.json",
        "StorageStack.template.json",
        "TrainingStack.template.json",
    ]


def test_what_would_two_more_nodes_and_another_network_do(assemblies: Callable[[str], Path], tmp_path: Path) -> None:
    old, new = assemblies(HYPERPOD), tmp_path / "new"
    shutil.copytree(old, new)
    training, network = (new / f"{name}Stack.template.json" for name in ("Training", "Network"))
    content = json.loads(training.read_text())
    (cluster,) = [each for each in content["Resources"].values() if each["Type"] == "AWS::SageMaker::Cluster"]
    cluster["Properties"]["InstanceGroups"][1]["InstanceCount"] = 6
    training.write_text(json.dumps(content))
    change = review(new, against=old)["change"]
    assert [(row["where"], row["effect"]) for row in change["rows"]] == [("TrainingStack/Cluster", "changed")]
    assert change["rows"][0]["what"] == "InstanceGroups.1.InstanceCount: 4 → 6"
    assert change["cost"] == {"before": "about 99.20 USD an hour", "after": "about 148.66 USD an hour"}

    network.write_text(network.read_text().replace("10.1.0.0/16", "10.2.0.0/16"))
    rows = review(new, against=old)["change"]["rows"]
    assert {row["where"]: row["effect"] for row in rows}["StorageStack/Lustre"] == "lost"
    assert {row["where"]: row["effect"] for row in rows}["TrainingStack/Cluster"] == "refused"


@pytest.mark.parametrize("name", [HYPERPOD, SERVING, ULTRA])
def test_the_page_is_small(name: str, assemblies: Callable[[str], Path], tmp_path: Path) -> None:
    write_review(assemblies(name), tmp_path)
    assert (tmp_path / "review.html").stat().st_size < 2**20


def test_sarif_is_what_its_schema_says(assemblies: Callable[[str], Path], tmp_path: Path) -> None:
    """The schema is OASIS's of SARIF 2.1.0, as models that were generated from it: `tools/check_sarif.py`."""
    for name in (HYPERPOD, SERVING, ULTRA):
        write_review(assemblies(name), tmp_path / name)
    wrong = tmp_path / "wrong.sarif"
    log = json.loads((tmp_path / ULTRA / "review.sarif").read_text())
    log["runs"][0]["results"][0] |= {"level": "info", "more": 1}
    wrong.write_text(json.dumps(log))
    done = looked_at("check_sarif", *(tmp_path / name / "review.sarif" for name in (HYPERPOD, SERVING, ULTRA)))
    assert (done.returncode, done.stdout) == (0, "3 logs: 0 problems\n"), done.stdout + done.stderr
    assert looked_at("check_sarif", wrong).stdout.endswith("1 logs: 2 problems\n")


def test_the_readmes_show_the_picture_of_a_review(assemblies: Callable[[str], Path], tmp_path: Path) -> None:
    """``trainyard review deployments/hyperpod-trn1-llama2.yaml`` writes it: copy ``picture.svg`` when it changes."""
    write_review(assemblies(HYPERPOD), tmp_path)
    assert (ROOT / "docs" / "pictures" / "review.svg").read_text() == (tmp_path / "picture.svg").read_text()


def test_what_only_deployment_decides_is_said_as_that(assembly: Callable[..., Path]) -> None:
    template = {
        "Parameters": {"Kind": {"Type": "String"}},
        "Resources": {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "Subnet": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {
                    "VpcId": {"Ref": "Vpc"},
                    "CidrBlock": "10.0.0.0/24",
                    "AvailabilityZone": {"Fn::Select": [0, {"Fn::GetAZs": ""}]},
                },
            },
            "Host": {
                "Type": "AWS::EC2::Instance",
                "Properties": {"SubnetId": {"Ref": "Subnet"}, "InstanceType": {"Ref": "Kind"}},
            },
            "Nat": {"Type": "AWS::EC2::NatGateway", "Properties": {"SubnetId": {"Ref": "Subnet"}}},
        },
    }
    found = review(assembly(S=template))
    assert found["verdict"]["sentence"].startswith("1 machine of <parameter Kind> and 1 VPC")
    assert found["cost"]["headline"].endswith("an hour without machines of <parameter Kind>")
    assert found["picture"]["networks"][0]["subnets"][0]["note"] == "10.0.0.0/24, a zone of the Region"
