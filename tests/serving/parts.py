"""Small legal parts of a service, for the tests of serving to change one thing of."""

from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

from cdk_trainyard.network import Network, TrainingNetwork
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.serving import (
    ClientAuthentication,
    InferenceLoadBalancer,
    InferenceService,
    JwtClaim,
    NeuronModel,
    ScalingSchedule,
    ServingHosts,
    TextGenerationEngine,
)

ACCOUNT = "111111111111"
REGION = "us-west-2"
CERTIFICATE = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/12345678-1234-1234-1234-123456789012"
JWT = ClientAuthentication.jwt(
    issuer="https://issuer.example/pool",
    key_set_url="https://issuer.example/pool/keys",
    claims=[JwtClaim(name="client_id", values=["chat"])],
)

SCHEDULES = [
    ScalingSchedule(name="Night", schedule="cron(0 20 ? * MON-FRI *)", min_tasks=0, max_tasks=0),
    ScalingSchedule(
        name="Day", schedule="cron(0 6 ? * MON-FRI *)", min_tasks=1, max_tasks=4, time_zone="Europe/Berlin"
    ),
]


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


def model(scope: Construct | None = None, **changes: Any) -> NeuronModel:
    """Return a legal model with changes; without a scope its bucket is a deployment's, for the pure floors."""
    place = {} if scope is None else {"bucket": s3.Bucket.from_bucket_name(scope, "Models", "some-models")}
    settings: dict[str, Any] = {
        "name": "llama",
        "preset": None if "shape" in changes else "llama-3.2-3b",
        **place,
        "prefix": "models/llama/",
        "tensor_parallel": 2,
        "batch": 4,
        **changes,
    }
    return NeuronModel(**settings)


def service(scope: Construct, *, of_model: dict[str, Any] | None = None, **changes: Any) -> InferenceService:
    """Return a legal service with changes, of its hosts too."""
    of_hosts = {name: changes.pop(name) for name in fields_of(ServingHosts) if name in changes}
    settings = {
        "network": None,
        "model": None,
        "engine": TextGenerationEngine.tgi(),
        "hosts": hosts(**of_hosts),
        **changes,
    }
    settings["network"] = settings["network"] or network(scope)
    settings["model"] = settings["model"] or model(scope, **(of_model or {}))
    return InferenceService(scope, "Serving", **settings)


def hosts(**changes: Any) -> ServingHosts:
    """Return legal hosts with changes."""
    settings: dict[str, Any] = {"instance_type": "inf2.xlarge", **changes}
    return ServingHosts(**settings)


def certificate(scope: Construct, arn: str = CERTIFICATE) -> acm.ICertificate:
    """Return a certificate that exists."""
    return acm.Certificate.from_certificate_arn(scope, "Certificate", arn)


def load_balancer(scope: Construct, served: InferenceService | None = None, **changes: Any) -> InferenceLoadBalancer:
    """Return a legal load balancer with changes."""
    settings = {"authentication": JWT, **changes}
    if "certificate" not in settings and not settings.get("plain_http"):
        settings["certificate"] = certificate(scope)
    return InferenceLoadBalancer(scope, "Door", service=served or service(scope), **settings)


def only(template: Template, kind: str) -> dict[str, Any]:
    """Return the properties of the one resource of a type."""
    (resource,) = template.find_resources(kind).values()
    return dict(resource["Properties"])


def warnings(stack: Stack) -> list[str]:
    """Return the warnings of a stack."""
    found = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    return [str(entry.entry.data) for entry in found]
