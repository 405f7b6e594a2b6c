"""The stacks connect what the constructs build: who stands on whom, what is put out, what is tagged."""

import ast
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import Stack
from aws_cdk.assertions import Match, Template
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.needs import deployment_needs
from cdk_trainyard.local import supported_types
from tests.authorization import defeated, documents
from tests.stacks.snapshots import difference, reviewed, shipped_templates, whole_of
from tests.support import DEPLOYMENTS, ROOT

CPU = ROOT / "deployments" / "hyperpod-cpu-ddp.yaml"
TRN1 = ROOT / "deployments" / "hyperpod-trn1-llama2.yaml"
EVERYTHING = ROOT / "tests" / "review" / "deployments" / "everything.yaml"
SERVING = ROOT / "deployments" / "serving-inf2-tgi.yaml"
ONLY_SERVING = ROOT / "deployments" / "serving-inf2-vllm.yaml"
ULTRACLUSTER = ROOT / "deployments" / "parallelcluster-trn1-ultracluster.yaml"
HELLO = ROOT / "deployments" / "parallelcluster-hello.yaml"
EVERYTHING_PARALLELCLUSTER = EVERYTHING.with_name("everything-parallelcluster.yaml")

Templates = Callable[[Path], dict[str, Template]]


def changed(folder: Path, change: Callable[[dict[str, Any]], object], source: Path = CPU) -> Path:
    content = yaml.safe_load(source.read_text())
    change(content)
    path = folder / "changed.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_the_stacks_of_a_deployment_are_these(path: Path, templates: Templates, snapshot: SnapshotAssertion) -> None:
    """Read the change of this snapshot as a reviewer would: it is what CloudFormation will be asked to do."""
    for name, template in templates(path).items():
        shown, whole = reviewed(path, template.to_json()), whole_of(path, name)
        if path != whole:
            shown = difference(reviewed(whole, templates(whole)[name].to_json()), shown)
        assert shown == snapshot(name=name, extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_the_templates_can_be_read_from_the_snapshots(path: Path, templates: Templates) -> None:
    kept = shipped_templates()[path.stem]
    assert {name: reviewed(path, template) for name, template in kept.items()} == {
        name: reviewed(path, template.to_json()) for name, template in templates(path).items()
    }


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_a_first_creation_that_fails_leaves_nothing_but_logs(path: Path, templates: Templates) -> None:
    """Plain ``Retain`` would keep a file system or a database of every try; a bucket with logs cannot be deleted."""
    left = {
        logical_id
        for template in templates(path).values()
        for logical_id, resource in template.to_json()["Resources"].items()
        if resource.get("DeletionPolicy") == "Retain"
    }
    assert {logical_id for logical_id in left if "AccessLogs" not in logical_id} == set()


@pytest.mark.parametrize("path", [TRN1, EVERYTHING, ULTRACLUSTER], ids=lambda path: path.stem)
def test_training_stands_on_storage_and_both_on_the_network(
    path: Path, build: Callable[[Path], dict[str, Stack]], templates: Templates
) -> None:
    templates(path)  # a synthesis finds out who needs whom
    stacks = build(path)
    depends = {name: {other.node.id for other in stack.dependencies} for name, stack in stacks.items()}
    assert depends == {
        "NetworkStack": set(),
        "StorageStack": {"NetworkStack"},
        "TrainingStack": {"NetworkStack", "StorageStack"},
    }


def test_serving_stands_on_storage_and_the_network_and_not_on_training(
    build: Callable[[Path], dict[str, Stack]], templates: Templates
) -> None:
    templates(SERVING)
    stacks = build(SERVING)
    assert {other.node.id for other in stacks["ServingStack"].dependencies} == {"NetworkStack", "StorageStack"}
    assert "ServingStack" not in {other.node.id for other in stacks["TrainingStack"].dependencies}


def test_a_file_that_only_serves_has_three_stacks(build: Callable[[Path], dict[str, Stack]]) -> None:
    assert {name: stack.stack_name for name, stack in build(ONLY_SERVING).items()} == {
        "NetworkStack": "serving-inf2-vllm-network",
        "StorageStack": "serving-inf2-vllm-storage",
        "ServingStack": "serving-inf2-vllm-serving",
    }


def test_a_served_model_puts_out_how_to_call_it_and_where_to_look(templates: Templates) -> None:
    outputs = templates(ONLY_SERVING)["ServingStack"].find_outputs("*")
    assert set(outputs) == {
        "BaseUrl", "DoorAddress", "CallWithOpenAi", "CallWithCurl", "ClusterName", "ServiceName", "LogGroupName",
        "DashboardName", "CompileCommand", "CompileLogGroupName", "Quotas", "Prerequisites",
    }  # fmt: skip
    assert outputs["BaseUrl"]["Value"] == "https://models.example.com/v1"
    called = shlex.split(outputs["CallWithCurl"]["Value"])
    assert called[:4] == [
        "curl",
        "https://models.example.com/v1/chat/completions",
        "-H",
        "Authorization: Bearer <token>",
    ]
    assert json.loads(called[-1]) == {"model": "qwen3-14b", "messages": [{"role": "user", "content": "Hello"}]}
    ast.parse(outputs["CallWithOpenAi"]["Value"])


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["serving"]["hosts"].update(tasks=4),
        lambda content: content["serving"]["model"].update(prefix="another/"),
        lambda content: content["serving"].update(engine={"image": "hf-vllm-0.4.5-ghcr"}),
        lambda content: content.update(alerts={"emails": ["ops@example.com"]}),
    ],
    ids=["more hosts", "another model", "another image", "alerts"],
)
def test_changing_what_is_served_never_touches_what_holds_data(
    change: Callable[[dict[str, Any]], object], templates: Templates, tmp_path: Path
) -> None:
    before, after = templates(ONLY_SERVING), templates(changed(tmp_path, change, ONLY_SERVING))
    for stack in ("NetworkStack", "StorageStack"):
        assert after[stack].to_json()["Resources"] == before[stack].to_json()["Resources"]
    assert after["ServingStack"].to_json() != before["ServingStack"].to_json()


def test_physical_stack_names_begin_with_the_deployments_name(build: Callable[[Path], dict[str, Stack]]) -> None:
    assert {name: stack.stack_name for name, stack in build(CPU).items()} == {
        "NetworkStack": "hyperpod-cpu-ddp-network",
        "StorageStack": "hyperpod-cpu-ddp-storage",
        "TrainingStack": "hyperpod-cpu-ddp-training",
    }


def test_monitoring_that_is_switched_off_leaves_every_export_in_its_place(
    build: Callable[[Path], dict[str, Stack]], tmp_path: Path
) -> None:
    """Its users are updated later: what CloudFormation was to remove before would be in use, and be refused."""
    monitored = EVERYTHING.with_name("hyperpod-monitored.yaml")

    def say(content: dict[str, Any]) -> None:
        content["network"]["service_zones"] = ["use1-az4", "use1-az6"]
        content["cluster"] |= {"accounting": {}, "provisioning": "Continuous"}

    def fall_silent(content: dict[str, Any]) -> None:
        say(content)
        for key in ("monitoring", "alerts"):
            content.pop(key, None)

    folders = {"before": say, "after": fall_silent}
    for name in folders:
        (tmp_path / name).mkdir()
    files = [changed(tmp_path / name, change, monitored) for name, change in folders.items()]
    exports = [
        {
            name: {key for key in Template.from_stack(stacks[name]).find_outputs("*") if key.startswith("Exports")}
            for name in ("NetworkStack", "StorageStack")
        }
        for stacks in map(build, files)
    ]
    assert exports[0] == exports[1]
    assert any("NATGateway" in key for key in exports[1]["NetworkStack"])


def test_what_people_need_is_put_out(templates: Templates) -> None:
    outputs = {
        name: {key for key in template.find_outputs("*") if not key.startswith("ExportsOutput")}
        for name, template in templates(CPU).items()
    }
    assert outputs == {
        "NetworkStack": {"VpcId", "AcceleratorSubnetId", "SecurityGroupId", "Quotas", "Prerequisites"},
        "StorageStack": {
            "ScriptsBucket", "DatasetsBucket", "CheckpointsBucket", "ModelsBucket",
            "LustreFileSystemId", "LustreMountSource", "Quotas", "Prerequisites",
        },
        "TrainingStack": {
            "ClusterName", "ClusterArn", "LogGroupName", "ConnectCommand", "Quotas", "Prerequisites",
        },
    }  # fmt: skip


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_what_computes_puts_out_the_quotas_and_prerequisites_it_needs(path: Path, templates: Templates) -> None:
    computing = {name: one for name, one in templates(path).items() if name in {"TrainingStack", "ServingStack"}}
    assert computing
    for template in computing.values():
        outputs = template.find_outputs("*")
        assert ", a new account has " in outputs["Quotas"]["Value"]
        assert outputs["Prerequisites"]["Value"].startswith("cdk bootstrap ")


COUNTED = {
    "VPCs per Region": "AWS::EC2::VPC",
    "Internet gateways per Region": "AWS::EC2::InternetGateway",
    "EC2-VPC Elastic IPs": "AWS::EC2::EIP",
    "Lustre Persistent_2 file systems": "AWS::FSx::FileSystem",
    "Application Load Balancers per Region": "AWS::ElasticLoadBalancingV2::LoadBalancer",
    "DB instances": "AWS::RDS::DBInstance",
}


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_what_is_needed_is_what_the_templates_make(path: Path, templates: Templates) -> None:
    """The needs are read off the file, the templates off the constructs: they must agree about what both can count."""
    made = {
        quota: sum(len(one.find_resources(kind)) for one in templates(path).values()) for quota, kind in COUNTED.items()
    }
    deployment = Deployment.load(path)
    if deployment.orchestrator == "parallelcluster":
        made["EC2-VPC Elastic IPs"] += 1  # ParallelCluster makes it, for a public head node
    needed = {need.quota.name: need.amount for need in deployment_needs(deployment).quotas}
    assert {quota: needed.get(quota, 0) for quota in COUNTED} == made


def test_a_parallelcluster_puts_out_how_to_reach_it_and_where_it_tells_of_trouble(templates: Templates) -> None:
    outputs = templates(HELLO)["TrainingStack"].find_outputs("*")
    assert set(outputs) == {
        "ClusterName", "HeadNodeAddress", "HeadNodePublicAddress", "ConnectCommand", "LogGroupPrefix",
        "ProviderLogGroup", "ValidationMessages", "Quotas", "Prerequisites",
    }  # fmt: skip
    name = outputs["ClusterName"]["Value"]
    assert outputs["LogGroupPrefix"]["Value"] == f"/aws/parallelcluster/{name}-"


def test_a_parallelcluster_with_a_key_pair_puts_out_ssh_too(templates: Templates) -> None:
    outputs = templates(EVERYTHING_PARALLELCLUSTER)["TrainingStack"].find_outputs("*")
    name = outputs["ClusterName"]["Value"]
    assert outputs["SshCommand"]["Value"] == f"pcluster ssh --cluster-name {name} --region us-west-2"


def test_two_deployments_make_two_parallelclusters(templates: Templates, tmp_path: Path) -> None:
    """The provider deletes by name: two clusters of one name would be the end of the first."""
    other = changed(tmp_path, lambda content: content.update(name="another"), HELLO)
    names = {
        templates(path)["TrainingStack"].find_outputs("ClusterName")["ClusterName"]["Value"] for path in (HELLO, other)
    }
    assert len(names) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["cluster"]["queues"][0]["compute"][0].update(max_count=100),
        lambda content: content["cluster"]["head_node"].update(instance_type="c5.4xlarge"),
        lambda content: content["cluster"].update(version="3.15.0"),
    ],
    ids=["other nodes", "another head node", "another version"],
)
def test_changing_a_parallelcluster_never_touches_what_holds_data(
    change: Callable[[dict[str, Any]], object], templates: Templates, tmp_path: Path
) -> None:
    before, after = templates(HELLO), templates(changed(tmp_path, change, HELLO))
    for stack in ("NetworkStack", "StorageStack"):
        assert after[stack].to_json()["Resources"] == before[stack].to_json()["Resources"]
    assert after["TrainingStack"].to_json() != before["TrainingStack"].to_json()


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["cluster"]["groups"]["worker-group-1"].update(count=100, instance_type="ml.c5.9xlarge"),
        lambda content: content["cluster"].update(provisioning="Continuous", node_recovery="None"),
        lambda content: content["cluster"].update(lifecycle={"on_init_complete": "on_init_complete.sh"}),
        lambda content: content.update(alerts={"emails": ["ops@example.com"]}),
    ],
    ids=["other nodes", "other behavior", "other scripts", "alerts"],
)
def test_changing_compute_never_touches_what_holds_data(
    change: Callable[[dict[str, Any]], object], templates: Templates, tmp_path: Path
) -> None:
    before, after = templates(CPU), templates(changed(tmp_path, change))
    for stack in ("NetworkStack", "StorageStack"):
        assert after[stack].to_json()["Resources"] == before[stack].to_json()["Resources"]
    assert after["TrainingStack"].to_json() != before["TrainingStack"].to_json()


def test_tags_reach_everything_that_takes_them(templates: Templates) -> None:
    for template in templates(EVERYTHING).values():
        for kind in ("AWS::S3::Bucket", "AWS::EC2::VPC", "AWS::FSx::FileSystem", "AWS::SageMaker::Cluster"):
            for resource in template.find_resources(kind).values():
                tags = {tag["Key"]: tag["Value"] for tag in resource["Properties"]["Tags"]}
                assert tags["team"] == "training"


@pytest.mark.parametrize(
    "path",
    [EVERYTHING, EVERYTHING_PARALLELCLUSTER, EVERYTHING.with_name("everything-serving.yaml")],
    ids=lambda p: p.stem,
)
def test_no_statement_lets_in_whom_the_condition_of_another_keeps_out(path: Path, templates: Templates) -> None:
    """As the key of alerts did, which let CloudWatch use it for every account, and once more for this one."""
    policies = [policy for template in templates(path).values() for policy in documents(template.to_json())]
    assert any("cloudwatch.amazonaws.com" in json.dumps(policy) for policy in policies)
    assert [policy for policy in policies if defeated(policy)] == []


def test_alerts_tell_a_topic_about_nodes_and_trouble(templates: Templates) -> None:
    training = templates(EVERYTHING)["TrainingStack"]
    training.resource_count_is("AWS::Events::Rule", 3)
    training.has_resource_properties("AWS::CloudWatch::Alarm", {"AlarmActions": Match.any_value()})
    training.has_resource_properties("AWS::SNS::Subscription", {"Protocol": "email", "Endpoint": "ops@example.com"})
    training.all_resources_properties("AWS::Events::Rule", {"Targets": Match.any_value()})


def test_a_stack_of_what_exists_is_not_empty(templates: Templates, tmp_path: Path) -> None:
    def existing(content: dict[str, Any]) -> None:
        content["network"] = {
            "vpc_id": "vpc-0123456789abcdef0",
            "accelerator_subnet": {
                "subnet_id": "subnet-0123456789abcdef0",
                "zone": "use1-az4",
                "cidr": "10.1.128.0/17",
            },
            "security_group_id": "sg-0123456789abcdef0",
            "self_rules_exist": True,
        }

    network = templates(changed(tmp_path, existing))["NetworkStack"]
    assert set(network.to_json()["Resources"]) == {"Nothing"}


@pytest.mark.parametrize("path", [*DEPLOYMENTS, EVERYTHING, EVERYTHING_PARALLELCLUSTER], ids=lambda path: path.stem)
def test_the_local_aws_knows_every_type_of_every_deployment(path: Path, templates: Templates) -> None:
    types = {
        resource["Type"]
        for template in templates(path).values()
        for resource in template.to_json()["Resources"].values()
        if not resource["Type"].startswith("Custom::")
    }
    assert types - supported_types() == set()
