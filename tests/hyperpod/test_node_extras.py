"""What the nodes' role may do for what they are to have beside mounts, users and Slurm."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod import HyperPodCluster, Lifecycle
from cdk_trainyard.lifecycle import Exporters, NeuronEnvironment, NodeSetup, NodeTool, S3Mount, ToolFile
from cdk_trainyard.review import attach_checks, unmatched_acknowledgments
from cdk_trainyard.storage import TrainingBuckets
from tests.hyperpod.parts import ACCOUNT, REGION, controller, policy_document, worker

KEY = "12345678-1234-1234-1234-123456789012"


def cluster(stack: Stack, setup: NodeSetup, **changes: Any) -> HyperPodCluster:
    """A cluster that runs the project's own scripts."""
    return HyperPodCluster(
        stack,
        "Cluster",
        **{
            "groups": [controller(), worker()],
            "lifecycle": Lifecycle(on_create="on_create.sh"),
            "scripts_bucket": s3.Bucket.from_bucket_name(stack, "Scripts", "scripts"),
            "node_setup": setup,
            **changes,
        },
    )


def mounts(stack: Stack) -> NodeSetup:
    key = kms.Key.from_key_arn(stack, "Key", stack.format_arn(service="kms", resource="key", resource_name=KEY))
    datasets = s3.Bucket.from_bucket_attributes(stack, "Datasets", bucket_name="datasets", encryption_key=key)
    results = s3.Bucket.from_bucket_name(stack, "Results", "results")
    return NodeSetup(
        s3_mounts=[
            S3Mount(bucket=datasets, path="/data", prefix="tokenized/"),
            S3Mount(bucket=results, path="/out", read_only=False),
        ],
        tools=[ToolFile(tool=NodeTool.MOUNTPOINT, bucket=datasets, key="tools/m.tar.gz", sha256="0" * 64)],
    )


def allowed(stack: Stack, bucket: str) -> dict[str, list[str]]:
    """Actions by the end of the resource they are allowed on, of one bucket."""
    found: dict[str, list[str]] = {}
    for statement in policy_document(stack)["Statement"]:
        text = json.dumps(statement["Resource"])
        if f"s3:::{bucket}" in text:
            actions = statement["Action"]
            place = text.partition(f"s3:::{bucket}")[2].partition('"')[0]
            found[place] = [actions] if isinstance(actions, str) else actions
    return found


def test_the_role_reads_and_writes_what_is_mounted_and_never_deletes(stack: Stack) -> None:
    cluster(stack, mounts(stack))
    assert allowed(stack, "datasets") == {
        "/tokenized/*": ["s3:GetObject"],
        "": ["s3:ListBucket"],
        "/tools/m.tar.gz": ["s3:GetObject"],
    }
    assert allowed(stack, "results") == {
        "/*": [
            "s3:AbortMultipartUpload",
            "s3:GetObject",
            "s3:ListMultipartUploadParts",
            "s3:PutObject",
            "s3:PutObjectTagging",
        ],
        "": ["s3:ListBucket"],
    }
    decrypts = [entry for entry in policy_document(stack)["Statement"] if "kms:Decrypt" in entry["Action"]]
    assert KEY in json.dumps([entry["Resource"] for entry in decrypts])


def test_the_role_reads_the_tool_of_an_odd_key_and_no_other_object(stack: Stack) -> None:
    tools = s3.Bucket.from_bucket_name(stack, "Tools", "tools")
    file = ToolFile(tool=NodeTool.MOUNTPOINT, bucket=tools, key="a b~ü/m*?.tar.gz", sha256="0" * 64)
    cluster(stack, replace(mounts(stack), tools=[file]))
    [statement] = [each for each in policy_document(stack)["Statement"] if "s3:::tools" in json.dumps(each)]
    assert statement["Resource"]["Fn::Join"][1][-1] == ":s3:::tools/a b~ü/m${*}${?}.tar.gz"


def of_jobs(stack: Stack) -> TrainingBuckets:
    names = ("scripts", "datasets", "checkpoints", "models")
    return TrainingBuckets(
        stack, "Buckets", **{name: s3.Bucket.from_bucket_name(stack, f"{name}-own", name) for name in names}
    )


@pytest.mark.parametrize("count", [1, 40])
def test_what_is_mounted_of_the_jobs_own_buckets_adds_to_the_role_what_jobs_may_not(stack: Stack, count: int) -> None:
    buckets = of_jobs(stack)
    read = [S3Mount(bucket=buckets.datasets, path=f"/d{number}", prefix=f"d{number}/") for number in range(count)]
    written = [
        S3Mount(bucket=buckets.models, path="/m", prefix="m/", read_only=False),
        S3Mount(bucket=buckets.datasets, path="/w", prefix="w/", read_only=False),
    ]
    cluster(stack, NodeSetup(s3_mounts=[*read, *written]), buckets=buckets)
    found = allowed(stack, "datasets")
    assert found == {"/*": ["s3:GetObject"], "": ["s3:ListBucket"], "/w/*": found["/w/*"]}
    assert set(found["/w/*"]) == {
        "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts", "s3:PutObject", "s3:PutObjectTagging",
    }  # fmt: skip
    assert "/m/*" not in allowed(stack, "models")


def test_more_than_a_managed_policy_holds_is_refused(stack: Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Far", "far")
    read = [S3Mount(bucket=bucket, path=f"/d{number}", prefix=f"{number}/") for number in range(25)]
    cluster(stack, NodeSetup(s3_mounts=read))
    with pytest.raises(RuntimeError, match=r"must have at most 6144 characters, all that IAM takes, and has \d{4} or"):
        policy_document(stack)


def test_options_of_no_bucket_give_the_role_nothing(stack: Stack) -> None:
    cluster(stack, NodeSetup(exporters=Exporters()))
    with_exporters = policy_document(stack)
    other = Stack(App(), "Stack", env=Environment(account=ACCOUNT, region=REGION))
    cluster(other, NodeSetup())
    assert with_exporters == policy_document(other)


def test_fails_with_the_clusters_path_for_options_that_it_cannot_have(build: Callable[..., HyperPodCluster]) -> None:
    bucket = s3.Bucket.from_bucket_name(Stack(), "Scripts", "scripts")
    with pytest.raises(ConfigurationError) as raised:
        build(
            groups=[controller(), worker(instance_type="ml.p5.48xlarge")],
            lifecycle=Lifecycle(on_create="on_create.sh"),
            scripts_bucket=bucket,
            node_setup=NodeSetup(neuron_environment=NeuronEnvironment(path="/fsx/neuron")),
        )
    assert "'node_setup.neuron_environment' must be left out when no instance type has Neuron devices" in str(
        raised.value
    )


def test_neuron_packages_for_another_python_than_the_images_are_refused(build: Callable[..., HyperPodCluster]) -> None:
    packages = ["torch-neuronx==2.9.0.2.15.32035", "neuronx-cc==2.26.6360.0"]
    with pytest.raises(ConfigurationError) as raised:
        build(
            groups=[controller(), worker(instance_type="ml.trn1.32xlarge")],
            lifecycle=Lifecycle(on_create="on_create.sh"),
            scripts_bucket=s3.Bucket.from_bucket_name(Stack(), "Scripts", "scripts"),
            node_setup=NodeSetup(neuron_environment=NeuronEnvironment(path="/home/ubuntu/neuron", packages=packages)),
        )
    assert "'node_setup.neuron_environment.packages' must fit Python 3.10.12 of HyperPod's image" in str(raised.value)


@pytest.mark.review
def test_reviewers_find_nothing(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    attach_checks(app)
    stack = Stack(app, "Stack", env=Environment(account=ACCOUNT, region=REGION))
    setup = mounts(stack)
    cluster(stack, replace(setup, tools=[replace(setup.tools[0], key="tools/m*.tar.gz")]))
    app.synth()
    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert [plugin["violations"] for plugin in report["pluginReports"] if plugin["violations"]] == []
    assert unmatched_acknowledgments(app, tmp_path) == []
