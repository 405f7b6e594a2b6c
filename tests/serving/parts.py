"""Small legal parts of a service, for the tests of serving to change one thing of."""

from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

from cdk_trainyard.network import Network, TrainingNetwork
from cdk_trainyard.serving import (
    DoorAuthentication,
    FrontDoor,
    InferenceService,
    JwtClaim,
    ModelShape,
    NeuronModel,
    TextGenerationEngine,
)

ACCOUNT = "111111111111"
REGION = "us-west-2"
CERTIFICATE = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/12345678-1234-1234-1234-123456789012"
JWT = DoorAuthentication.jwt(
    issuer="https://issuer.example/pool",
    key_set_url="https://issuer.example/pool/keys",
    claims=[JwtClaim(name="client_id", values=["chat"])],
)


def new_stack(app: App | None = None, region: str | None = REGION) -> Stack:
    """Return an empty stack."""
    return Stack(app or App(), "Stack", env=Environment(account=ACCOUNT, region=region) if region else None)


def network(
    scope: Construct, *, public: bool = True, cidr: str | None = "10.1.0.0/16", region: str = REGION
) -> Network:
    """Return a network that exists, with service subnets and public ones in two zones."""
    zones = [f"{region}{letter}" for letter in "ab"]
    vpc = ec2.Vpc.from_vpc_attributes(
        scope, "Vpc", vpc_id="vpc-11111111", availability_zones=zones, vpc_cidr_block=cidr
    )

    def subnet(name: str, zone: str, number: int) -> ec2.ISubnet:
        return ec2.Subnet.from_subnet_attributes(
            scope, name, subnet_id=f"subnet-{number:08x}", availability_zone=zone, route_table_id=f"rtb-{number:08x}"
        )

    return TrainingNetwork.from_existing(
        scope,
        "Network",
        vpc=vpc,
        accelerator_subnet=subnet("Accelerator", zones[0], 1),
        zone=zones[0],
        service_subnets=[subnet(f"Service{zone}", zone, 16 + n) for n, zone in enumerate(zones)],
        public_subnets=[subnet(f"Public{zone}", zone, 32 + n) for n, zone in enumerate(zones)] if public else (),
    )


def model(scope: Construct | None = None, preset: str = "llama-3.2-3b", **changes: Any) -> NeuronModel:
    """Return a legal model with changes; without a scope its bucket is none, for the pure floors."""
    bucket: Any = None if scope is None else s3.Bucket.from_bucket_name(scope, "Models", "some-models")
    settings = {
        "name": "llama",
        "shape": ModelShape.preset(preset),
        "bucket": bucket,
        "prefix": "models/llama/",
        "tensor_parallel": 2,
        "batch": 4,
        **changes,
    }
    return NeuronModel(**settings)


def service(scope: Construct, *, of_model: dict[str, Any] | None = None, **changes: Any) -> InferenceService:
    """Return a legal service with changes."""
    settings = {
        "network": None,
        "model": None,
        "engine": TextGenerationEngine.tgi(),
        "instance_type": "inf2.xlarge",
        **changes,
    }
    settings["network"] = settings["network"] or network(scope)
    settings["model"] = settings["model"] or model(scope, **(of_model or {}))
    return InferenceService(scope, "Serving", **settings)


def certificate(scope: Construct, arn: str = CERTIFICATE) -> acm.ICertificate:
    """Return a certificate that exists."""
    return acm.Certificate.from_certificate_arn(scope, "Certificate", arn)


def door(scope: Construct, served: InferenceService | None = None, **changes: Any) -> FrontDoor:
    """Return a legal door with changes."""
    settings = {"authentication": JWT, **changes}
    if "certificate" not in settings and not settings.get("plain_http"):
        settings["certificate"] = certificate(scope)
    return FrontDoor(scope, "Door", service=served or service(scope), **settings)


def only(template: Template, kind: str) -> dict[str, Any]:
    """Return the properties of the one resource of a type."""
    (resource,) = template.find_resources(kind).values()
    return dict(resource["Properties"])


def warnings(stack: Stack) -> list[str]:
    """Return the warnings of a stack."""
    found = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    return [str(entry.entry.data) for entry in found]
