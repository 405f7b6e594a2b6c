"""The reviewers' tools find nothing here that is not explained, and no explanation is idle."""

import pytest
from aws_cdk import Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

from cdk_trainyard.serving import (
    ConcurrencyLimit,
    DoorAuthentication,
    ModelCompilation,
    NeuronNodeHealth,
    PromptWebAcl,
    Rollout,
    ScalingMetric,
    ScalingSchedule,
    ServiceMonitoring,
    ServiceScaling,
    TextGenerationEngine,
)
from tests.review.tools import Review
from tests.serving.parts import door, model, new_stack, service

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


def compiled_beforehand(stack: Stack) -> None:
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    encrypted = s3.Bucket.from_bucket_attributes(stack, "Encrypted", bucket_name="own-models", encryption_key=key)
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "HubToken", "hub-token")
    engine = TextGenerationEngine.hf_vllm()
    of_hub = {"source": "Qwen/Qwen3-8B", "revision": "0" * 40}
    ModelCompilation(stack, "Plain", model=model(stack), engine=engine, **of_hub)
    ModelCompilation(stack, "Keyed", model=model(bucket=encrypted), engine=engine, hub_token=secret, **of_hub)
    exported = model(bucket=encrypted, prefix="exported")
    ModelCompilation(stack, "Exported", model=exported, engine=TextGenerationEngine.tgi(), exported="exports/llama")


def watched_by_nobody(stack: Stack) -> None:
    served = service(stack)
    ServiceMonitoring(stack, "Monitoring", service=served, door=door(stack, served))


BUILDS = {
    build.__name__: build
    for build in (
        alone,
        internal_and_plain,
        public_with_tokens,
        compiled_on_start_with_a_key,
        compiled_beforehand,
        watched_by_nobody,
    )
}


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Review[Stack]:
    return Review(BUILDS, new_stack, tmp_path_factory.mktemp("review"))


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
