"""The reviewers' tools find nothing here that is not explained, and no explanation is idle."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

from cdk_trainyard.review import attach_checks, unmatched_acknowledgments
from cdk_trainyard.serving import (
    ConcurrencyLimit,
    DoorAuthentication,
    NeuronNodeHealth,
    PromptWebAcl,
    Rollout,
    ScalingMetric,
    ScalingSchedule,
    ServiceMonitoring,
    ServiceScaling,
    TextGenerationEngine,
)
from tests.serving.parts import door, new_stack, service
from tests.support import ROOT

SCHEDULES = [
    ScalingSchedule(name="Night", schedule="cron(0 20 ? * MON-FRI *)", min_tasks=0, max_tasks=0),
    ScalingSchedule(name="Day", schedule="cron(0 6 ? * MON-FRI *)", min_tasks=1, max_tasks=4),
]


def alone(stack: Stack) -> None:
    service(stack)


def internal_and_plain(stack: Stack) -> None:
    door(stack, plain_http=True, authentication=DoorAuthentication.none())


def public_with_tokens(stack: Stack) -> None:
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    served = service(
        stack,
        engine=TextGenerationEngine.hf_vllm(),
        instance_type="inf2.48xlarge",
        of_model={"preset": "llama-3.3-70b", "tensor_parallel": 24},
        scaling=ServiceScaling(min_tasks=1, max_tasks=4, schedules=SCHEDULES),
        rollout=Rollout.SURGE,
        volume_key=key,
        log_key=key,
        protect_hosts=True,
    )
    acl = PromptWebAcl(stack, "Acl", log_key=key)
    opened = door(stack, served, public=True, web_acl=acl, deletion_protection=True, concurrency=ConcurrencyLimit())
    topic = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-west-2:111111111111:alerts")
    ServiceMonitoring(stack, "Monitoring", service=served, door=opened, topic=topic)
    NeuronNodeHealth(stack, "NodeHealth", service=served)


def compiled_on_start_with_a_key(stack: Stack) -> None:
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "ApiKey", "api-key")
    served = service(
        stack,
        engine=TextGenerationEngine.neuron_vllm(hub_token=secret),
        instance_type="inf2.24xlarge",
        of_model={"precompiled": False},
        scaling=ServiceScaling(min_tasks=1, max_tasks=4, metric=ScalingMetric.ALB_REQUESTS),
    )
    PromptWebAcl(stack, "Acl")
    door(stack, served, authentication=DoorAuthentication.api_key(secret))


BUILDS = [alone, internal_and_plain, public_with_tokens, compiled_on_start_with_a_key]


@pytest.mark.parametrize("build", BUILDS)
def test_no_finding_is_unexplained_and_no_explanation_idle(build: Callable[[Stack], None], tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    attach_checks(app)
    build(new_stack(app))
    app.synth()
    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert [plugin["violations"] for plugin in report["pluginReports"] if plugin["violations"]] == []
    assert unmatched_acknowledgments(app, tmp_path) == []


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a template of each build."""
    folder = tmp_path_factory.mktemp("templates")
    for build in BUILDS:
        app = App(outdir=str(folder / f"{build.__name__}.out"))
        build(new_stack(app))
        app.synth()
        shutil.copy(
            folder / f"{build.__name__}.out" / "Stack.template.json", folder / f"{build.__name__}.template.json"
        )
        shutil.rmtree(folder / f"{build.__name__}.out")
    return folder


@pytest.mark.review
def test_cfn_lint_has_no_open_finding(templates: Path) -> None:
    run = subprocess.run(
        [str(Path(sys.executable).with_name("cfn-lint")), "--include-checks", "W", "--",
         *sorted(map(str, templates.glob("*.json")))],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert run.stdout == ""


@pytest.mark.review
def test_checkov_has_no_open_finding_and_no_idle_skip(templates: Path) -> None:
    run = subprocess.run(
        [str(ROOT / ".venv-checkov" / "bin" / "checkov"), "--directory", str(templates), "--framework",
         "cloudformation", "--output", "json", "--skip-download"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    report = json.loads(run.stdout)
    results = report["results"]
    assert {(found["check_id"], found["resource"]) for found in results["failed_checks"]} == set()
    written = {
        (skip["id"], f"{resource['Type']}.{logical_id}")
        for path in templates.glob("*.json")
        for logical_id, resource in json.loads(path.read_text())["Resources"].items()
        for skip in resource.get("Metadata", {}).get("checkov", {}).get("skip", [])
    }
    assert written == {(found["check_id"], found["resource"]) for found in results.get("skipped_checks", [])}
