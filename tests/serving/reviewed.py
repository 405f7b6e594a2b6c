"""What the reviewers' tools are asked about: what this room builds."""

from aws_cdk import Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

from cdk_trainyard.serving import (
    ClientAuthentication,
    ConcurrencyLimit,
    ModelCompilation,
    NeuronNodeHealth,
    PromptWebAcl,
    Rollout,
    ScalingMetric,
    ServiceMonitoring,
    ServiceScaling,
    TextGenerationEngine,
)
from tests.review.tools import Room
from tests.serving.parts import SCHEDULES, load_balancer, model, new_stack, service


def alone(stack: Stack) -> None:
    service(stack)


def internal_and_plain(stack: Stack) -> None:
    load_balancer(stack, plain_http=True, authentication=ClientAuthentication.none())


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
        protect=True,
    )
    acl = PromptWebAcl(stack, "Acl", log_key=key)
    opened = load_balancer(
        stack, served, public=True, web_acl=acl, deletion_protection=True, concurrency=ConcurrencyLimit(requests=16)
    )
    topic = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-west-2:111111111111:alerts")
    ServiceMonitoring(stack, "Monitoring", service=served, load_balancer=opened, topic=topic)
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
    load_balancer(stack, served, authentication=ClientAuthentication.api_key(secret), clients=["0.0.0.0/0"])


def compiled_beforehand(stack: Stack) -> None:
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    encrypted = s3.Bucket.from_bucket_attributes(stack, "Encrypted", bucket_name="own-models", encryption_key=key)
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "HubToken", "hub-token")
    engine = TextGenerationEngine.hf_vllm()
    of_hub = {"source": "meta-llama/Llama-3.2-3B", "revision": "0" * 40}
    ModelCompilation(stack, "Plain", model=model(stack), engine=engine, **of_hub)
    ModelCompilation(stack, "Keyed", model=model(bucket=encrypted), engine=engine, hub_token=secret, **of_hub)
    exported = model(bucket=encrypted, prefix="exported")
    ModelCompilation(stack, "Exported", model=exported, engine=TextGenerationEngine.tgi(), exported="exports/llama")


def watched_by_nobody(stack: Stack) -> None:
    served = service(stack)
    ServiceMonitoring(stack, "Monitoring", service=served, load_balancer=load_balancer(stack, served))


ROOM = Room(
    new_stack,
    [
        alone,
        internal_and_plain,
        public_with_tokens,
        compiled_on_start_with_a_key,
        compiled_beforehand,
        watched_by_nobody,
    ],
)
