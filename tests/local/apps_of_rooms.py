"""Apps of the rooms `fleet` and `serving`, in the configurations that they offer, for the local AWS to deploy."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aws_cdk import App, Environment, RemovalPolicy, Stack
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

from cdk_trainyard import (
    AcceleratorKind,
    ClientAuthentication,
    ConcurrencyLimit,
    EfaFleet,
    EfaSecurityGroup,
    InferenceLoadBalancer,
    InferenceService,
    JwtClaim,
    LustreFileSystem,
    MasterNode,
    Mount,
    NeuronModel,
    NeuronNodeHealth,
    NodeImage,
    PromptWebAcl,
    ServiceMonitoring,
    ServingHosts,
    TextGenerationEngine,
    TrainingBuckets,
    TrainingImage,
    TrainingNetwork,
)
from cdk_trainyard.local import LocalAws
from cdk_trainyard.options.fields import fields_of
from tests import deployed
from tests.support import STAGED

REGION = "us-west-1"
ACCOUNT = "123456789012"
ZONE = "usw1-az1"
OTHER_ZONE = "usw1-az3"
CERTIFICATE = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/12345678-1234-1234-1234-123456789012"
KEY = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:api-key-AbCdEf"
JWT = "jwt"
_ASSETS = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"
Build = Callable[[Stack], None]


def bootstrap(aws: LocalAws) -> None:
    """Make what ``cdk bootstrap`` makes and these apps need, and what they name as existing; again does nothing."""
    if _ASSETS in [bucket["Name"] for bucket in aws.client("s3", REGION).list_buckets()["Buckets"]]:
        return
    deployed.bootstrap(aws, REGION)
    for arn in (CERTIFICATE, KEY):
        aws.add_existing(arn)


def synthesized(aws: LocalAws, build: Build, name: str) -> dict[str, Any]:
    """Synthesize a stack, upload its assets as the CLI does, and return its template.

    A web ACL's log group has a name of its own, which tells the stack, and outlives it: each app needs another name.
    """
    app = App(analytics_reporting=False, post_cli_context=STAGED)
    stack = Stack(app, name, env=Environment(account=ACCOUNT, region=REGION))
    build(stack)
    assembly = app.synth()
    deployed.upload(aws, REGION, Path(assembly.directory))
    return dict(assembly.get_stack_by_name(name).template)


def broken(body: dict[str, Any]) -> dict[str, Any]:
    """Add what CloudWatch refuses, after everything else."""
    properties = {"ComparisonOperator": "Nonsense", "EvaluationPeriods": 1}
    last = {"Type": "AWS::CloudWatch::Alarm", "Properties": properties, "DependsOn": list(body["Resources"])}
    return {**body, "Resources": {**body["Resources"], "Broken": last}}


def uploaded(aws: LocalAws, body: dict[str, Any]) -> str:
    """Upload a template, and return its address."""
    aws.client("s3", REGION).put_object(Bucket=_ASSETS, Key="template.json", Body=json.dumps(body))
    return f"{aws.endpoint}/{_ASSETS}/template.json"


# ---------------------------------------------------------------- fleets
def fleet(
    *,
    nodes: int = 2,
    image: str = "base-oss-nvidia-driver-gpu-ubuntu-24.04",
    built: dict[str, Any] | None = None,
    lustre: bool = False,
    master: str | None = None,
    topic: bool = False,
    **settings: Any,
) -> Build:
    """Return what builds a fleet in a network of its own."""

    def build(stack: Stack) -> None:
        network = TrainingNetwork(stack, "Network", zone=ZONE)
        members = EfaSecurityGroup(stack, "Members", vpc=network.vpc)
        taken = NodeImage(dlami=image)
        if built is not None:
            made = TrainingImage(stack, "Image", network=network, **{**_GPU, **built})
            taken = NodeImage(build=made)
        shared = (
            LustreFileSystem(
                stack, "Lustre", network=network, security_group=members, removal_policy=RemovalPolicy.DESTROY
            )
            if lustre
            else None
        )
        wanted = {"count": nodes, "instance_type": "p4d.24xlarge", **settings}
        if "min_count" in wanted:
            del wanted["count"]
        if "instance_types" in wanted:
            del wanted["instance_type"]
        made_fleet = EfaFleet(
            stack,
            "Fleet",
            network=network,
            security_group=members,
            scripts_bucket=TrainingBuckets(stack, "Buckets", auto_delete=True).scripts,
            image=taken,
            mounts=[Mount(file_system=shared)] if shared else [],
            **wanted,
        )
        if topic:
            made_fleet.tell(sns.Topic(stack, "Topic"))
        if master:
            MasterNode(stack, "Master", fleet=made_fleet, instance_type=master)

    return build


_GPU: dict[str, Any] = {
    "base": "ubuntu-24.04",
    "accelerator": AcceleratorKind.GPU,
    "families": ["p3dn"],
    "nvidia_branch": "580",
}


# ---------------------------------------------------------------- services
def service(
    *,
    engine: TextGenerationEngine | None = None,
    prefix: str = "models/llama/",
    model: dict[str, Any] | None = None,
    authentication: str = JWT,
    plain_http: bool = False,
    public: bool = False,
    web_acl: bool = False,
    concurrency: bool = False,
    encrypted: bool = False,
    **settings: Any,
) -> Build:
    """Return what builds a service with its door, its monitoring and its daemon in a network of its own."""

    def build(stack: Stack) -> None:
        zones = [ZONE, OTHER_ZONE]
        network = TrainingNetwork(stack, "Network", zone=ZONE, service_zones=zones, public_zones=zones)
        key = kms.Key(stack, "Key", removal_policy=RemovalPolicy.DESTROY) if encrypted else None
        described = {"preset": "llama-3.2-3b", "tensor_parallel": 2, "batch": 4, **(model or {})}
        bucket = s3.Bucket.from_bucket_name(stack, "Models", "some-models")
        served = InferenceService(
            stack,
            "Serving",
            network=network,
            model=NeuronModel(name="llama", bucket=bucket, prefix=prefix, **described),
            engine=engine or TextGenerationEngine.tgi(),
            hosts=_hosts(key, settings),
            scaling=settings.get("scaling"),
            log_key=key,
        )
        secret = secretsmanager.Secret.from_secret_complete_arn(stack, "ApiKey", KEY)
        load_balancer = InferenceLoadBalancer(
            stack,
            "Door",
            service=served,
            authentication=_JWT if authentication == JWT else ClientAuthentication.api_key(secret),
            certificate=None if plain_http else acm.Certificate.from_certificate_arn(stack, "Certificate", CERTIFICATE),
            plain_http=plain_http,
            public=public,
            web_acl=PromptWebAcl(stack, "WebAcl", log_key=key) if web_acl else None,
            concurrency=ConcurrencyLimit(requests=12) if concurrency else None,
        )
        ServiceMonitoring(
            stack, "Monitoring", service=served, load_balancer=load_balancer, topic=sns.Topic(stack, "Topic")
        )
        NeuronNodeHealth(stack, "Health", service=served)

    return build


def _hosts(key: kms.IKey | None, settings: dict[str, Any]) -> ServingHosts:
    said: dict[str, Any] = {name: value for name, value in settings.items() if name in fields_of(ServingHosts)}
    return ServingHosts(**{"instance_type": "inf2.xlarge", "volume_key": key, **said})


_JWT = ClientAuthentication.jwt(
    issuer="https://issuer.example/pool",
    key_set_url="https://issuer.example/pool/keys",
    claims=[JwtClaim(name="client_id", values=["chat"])],
)
