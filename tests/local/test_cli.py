"""The real ``cdk`` CLI against the local AWS: small apps of this folder, from bootstrapping to destruction."""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

import cdk_trainyard.local
from cdk_trainyard.local import LocalAws
from tests.deployed import RolledBackError, delete, deploy_assembly
from tests.local.stacks import stack_names
from tests.support import OF_THE_CLI, STAGED

_HERE = Path(__file__).parent
_ROOT = _HERE.parent.parent
_BIN = Path(sys.executable).parent
_README = Path(cdk_trainyard.local.__file__).parent / "README.md"

_REGION = "us-east-2"
"""Of the apps here."""

pytestmark = [pytest.mark.cli, pytest.mark.usefixtures("empty_aws")]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _environment(aws: LocalAws) -> dict[str, str]:
    path = os.pathsep.join([str(_BIN), os.environ["PATH"]])
    return {**aws.environment, "PATH": path, "PYTHONPATH": str(_ROOT / "constructs")}


@pytest.fixture(scope="module")
def cdk(aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run ``cdk`` in an empty folder, bootstrapped."""
    folder = tmp_path_factory.mktemp("cdk")

    def run(*arguments: str | Path, code: int = 0) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [_BIN / "cdk", *arguments],
            env=_environment(aws),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"cdk {' '.join(map(str, arguments))}\n{done.stdout}\n{done.stderr}"
        return done

    run("bootstrap", f"aws://{aws.account}/{_REGION}")
    return run


@pytest.fixture(scope="module")
def synth(aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Synthesize an app of this folder once per context, as in the CLI, and return its cloud assembly.

    The zones, which it looks up, are said here; `test_run_with_bootstrap` has the CLI look.
    """
    zones = [row["ZoneName"] for row in _client(aws, "ec2").describe_availability_zones()["AvailabilityZones"]]
    said = OF_THE_CLI | {f"availability-zones:account={aws.account}:region={_REGION}": zones}

    @cache
    def run(app: str = "training", **context: str) -> Path:
        out = tmp_path_factory.mktemp("assembly")
        made = App(outdir=str(out), context=said | context, post_cli_context=STAGED)
        runpy.run_path(str(_HERE / "apps" / f"{app}.py"))["define"](made)
        made.synth()
        return out

    return run


def _client(aws: LocalAws, service: str) -> Any:
    return aws.client(service, _REGION)


_YES = ("--require-approval", "never")


def _cluster(aws: LocalAws) -> dict[str, Any]:
    sagemaker = _client(aws, "sagemaker")
    (found,) = sagemaker.list_clusters()["ClusterSummaries"]
    described: dict[str, Any] = sagemaker.describe_cluster(ClusterName=found["ClusterArn"])
    return described


def _counts(aws: LocalAws) -> dict[str, int]:
    return {group["InstanceGroupName"]: group["CurrentCount"] for group in _cluster(aws)["InstanceGroups"]}


def _status(aws: LocalAws) -> str:
    return str(_client(aws, "cloudformation").describe_stacks(StackName="Training")["Stacks"][0]["StackStatus"])


def _bucket(aws: LocalAws) -> str:
    buckets = _client(aws, "s3").list_buckets()["Buckets"]
    return str(next(row["Name"] for row in buckets if row["Name"].startswith("storage-")))


Synth = Callable[..., Path]


def test_from_creation_to_destruction(aws: LocalAws, cdk: Run, synth: Synth) -> None:
    two, four, failing = synth(), synth(workers="4"), synth(answer="FAILED")
    # a creation that fails leaves nothing, and can be tried again
    done = cdk("deploy", "--all", *_YES, "--app", failing, code=1)
    assert "the answer is FAILED" in done.stdout + done.stderr
    assert _status(aws) == "ROLLBACK_COMPLETE"
    assert _client(aws, "sagemaker").list_clusters()["ClusterSummaries"] == []
    # deploy
    done = cdk("deploy", "--all", *_YES, "--app", two)
    assert (done.stdout + done.stderr).count("(no changes)") == 2
    assert re.search(r"Training\.Answered = 42", done.stdout + done.stderr)
    assert _counts(aws) == {"controller": 1, "workers": 2}
    arn = _cluster(aws)["ClusterArn"]
    # deploy again
    done = cdk("deploy", "--all", *_YES, "--app", two)
    assert (done.stdout + done.stderr).count("(no changes)") == 3
    # diff
    done = cdk("diff", "Training", "--app", four)
    assert "[~] AWS::SageMaker::Cluster Cluster" in done.stdout + done.stderr
    assert "may be replaced" not in done.stdout + done.stderr
    assert "Could not create a change set" not in done.stdout + done.stderr
    # an update that fails is undone
    done = cdk("deploy", "Training", *_YES, "--app", failing, code=1)
    assert "the answer is FAILED" in done.stdout + done.stderr
    assert _status(aws) == "UPDATE_ROLLBACK_COMPLETE"
    with pytest.raises(RolledBackError, match=re.escape("ml.inf2.xlarge")):
        deploy_assembly(aws, _REGION, synth(instance_type="ml.inf2.xlarge"))
    assert _status(aws) == "UPDATE_ROLLBACK_COMPLETE"
    assert _counts(aws) == {"controller": 1, "workers": 2}
    # an unknown type stops before anything is done
    events = len(_client(aws, "cloudformation").describe_stack_events(StackName="Training")["StackEvents"])
    done = cdk("deploy", "Training", *_YES, "--app", synth(extra_type="AWS::Foo::Bar"), code=1)
    assert "AWS::Foo::Bar (Extra) is not emulated here" in done.stdout + done.stderr
    assert len(_client(aws, "cloudformation").describe_stack_events(StackName="Training")["StackEvents"]) == events
    # update in place
    cdk("deploy", "Training", *_YES, "--app", four)
    assert _counts(aws) == {"controller": 1, "workers": 4}
    assert _cluster(aws)["ClusterArn"] == arn
    # drift
    cdk("drift", "--fail", "--app", four)
    (alarm,) = _client(aws, "cloudwatch").describe_alarms()["MetricAlarms"]
    _client(aws, "cloudwatch").delete_alarms(AlarmNames=[alarm["AlarmName"]])
    done = cdk("drift", "Training", "--fail", "--app", four, code=1)
    assert "AWS::CloudWatch::Alarm" in done.stdout + done.stderr
    # a producer whose exports are in use cannot be destroyed
    done = cdk("destroy", "Network", "--exclusively", "--force", "--app", four, code=1)
    assert "Failed to destroy" in done.stdout + done.stderr or "in use by" in done.stdout + done.stderr
    # destroy
    bucket = _bucket(aws)
    assert _client(aws, "s3").list_objects_v2(Bucket=bucket)["KeyCount"] == 1
    cdk("destroy", "--all", "--force", "--app", four)
    assert _client(aws, "sagemaker").list_clusters()["ClusterSummaries"] == []
    assert _client(aws, "fsx").describe_file_systems()["FileSystems"] == []
    assert bucket not in [row["Name"] for row in _client(aws, "s3").list_buckets()["Buckets"]]
    assert stack_names(_client(aws, "cloudformation")).isdisjoint({"Network", "Storage", "Training"})


def _hello(aws: LocalAws) -> dict[str, Any]:
    """Return the configuration of the cluster that the app ``parallelcluster`` makes."""
    body = _client(aws, "cloudformation").get_template(StackName="hello")["TemplateBody"]
    config: dict[str, Any] = body["Metadata"]["Config"]
    return config


def _max_count(aws: LocalAws) -> str:
    return str(_hello(aws)["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0]["MaxCount"])


@pytest.mark.usefixtures("cdk")
def test_a_parallelcluster(aws: LocalAws, synth: Synth) -> None:
    """Without the CLI, which tests/test_parallelcluster_environment.py shows with a cluster that ships."""
    client = _client(aws, "cloudformation")
    deploy_assembly(aws, _REGION, synth("parallelcluster"))
    (slurm,) = client.describe_stacks(StackName="Slurm")["Stacks"]
    outputs = {row["OutputKey"]: row["OutputValue"] for row in slurm["Outputs"]}
    assert re.match(r"aws ssm start-session --target i-\w+", outputs["ConnectCommand"])
    assert re.match(r"\d+\.", outputs["HeadNodePublicAddress"])
    assert _max_count(aws) == "8"
    # an update in place
    assert deploy_assembly(aws, _REGION, synth("parallelcluster", max_count="16")) == ["Slurm"]
    assert _max_count(aws) == "16"
    # what ParallelCluster never changes is refused, and undone
    with pytest.raises(RolledBackError, match=re.escape("'HeadNode.InstanceType' cannot be changed")):
        deploy_assembly(aws, _REGION, synth("parallelcluster", head_type="c5.2xlarge"))
    assert _max_count(aws) == "16"
    delete(client, "Slurm", "Scripts")
    assert stack_names(client).isdisjoint({"Slurm", "Scripts", "hello"})


def test_weak_references_at_once_and_without_change_sets(aws: LocalAws, cdk: Run, synth: Synth) -> None:
    assembly = synth(**{"@aws-cdk/core:defaultCrossStackReferences": "weak"})
    template = json.loads((assembly / "Training.template.json").read_text(encoding="utf-8"))
    assert "Fn::GetStackOutput" in json.dumps(template)
    cdk("deploy", "--all", *_YES, "--concurrency", "3", "--method", "direct", "--app", assembly)
    assert _counts(aws) == {"controller": 1, "workers": 2}
    delete(_client(aws, "cloudformation"), "Training", "Storage", "Network")


def test_run_with_bootstrap(tmp_path: Path) -> None:
    """In a process of its own, as users start it, with the app as a program, which looks zones up."""
    command = [sys.executable, "-m", "cdk_trainyard.local", "run", "--region", _REGION, "--bootstrap", "--"]
    environment = {**os.environ, "PATH": os.pathsep.join([str(_BIN), os.environ["PATH"]]), "AWS_PROFILE": "production"}
    done = subprocess.run(
        [*command, "cdk", "deploy", "Network", *_YES, "--app", f"{sys.executable} {_HERE / 'apps' / 'training.py'}"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "✅  Network" in done.stdout + done.stderr


def test_the_pytest_example_of_the_readme(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", _README.read_text(encoding="utf-8"), flags=re.DOTALL)
    (example,) = [block for block in blocks if "pytest.fixture" in block]
    Path(tmp_path, "test_example.py").write_text(example, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
