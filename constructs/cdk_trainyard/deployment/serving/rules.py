"""What the rules of a service and its door say of their sections, and what only a file can get wrong."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from aws_cdk import aws_s3 as s3

from cdk_trainyard.deployment.serving import values
from cdk_trainyard.deployment.serving.section import (
    AuthenticationSection,
    CompileSection,
    DoorSection,
    EngineSection,
    HostsSection,
    ModelSection,
    ScalingSection,
    ServiceMonitoringSection,
)
from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.network import rules
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.serving import AuthenticationKind, ModelShape
from cdk_trainyard.serving.catalogue import host_image
from cdk_trainyard.serving.checks import ServicePlan, service_findings
from cdk_trainyard.serving.door import METHODS
from cdk_trainyard.serving.rollout import hosts_needed
from cdk_trainyard.serving.rules_compilation import compilation_problems, source_problems
from cdk_trainyard.serving.rules_door import (
    authentication_problems,
    concurrency_problems,
    path_problems,
    transport_problems,
)
from cdk_trainyard.serving.rules_monitoring import threshold_problems
from cdk_trainyard.serving.rules_web_acl import rate_problems

_OF_KIND: Final[Mapping[AuthenticationKind, Sequence[str]]] = {
    AuthenticationKind.JWT: ("issuer", "key_set_url", "claims"),
    AuthenticationKind.API_KEY: ("secret_arn", "secret_key_arn"),
    AuthenticationKind.NONE: (),
}
_NO_BUCKET: Final = cast("s3.IBucket", None)
"""No rule looks at the bucket."""
_ZONES: Final = 2
"""A load balancer stands in two zones."""


# ---------------------------------------------------------------- the model and its hosts
def shape_choice_problems(model: ModelSection) -> list[str]:
    """One preset that there is, or a shape."""
    if (model.preset is None) is (model.shape is None):
        got = "neither" if model.preset is None else "both"
        return [f"'model' must have either 'preset' or 'shape', got {got}"]
    known = ModelShape.presets()
    if model.preset is None or model.preset in known:
        return []
    hint = did_you_mean(model.preset, known) or "; give its 'shape' instead"
    return [f"'preset' must be one of {', '.join(known)}, got {model.preset!r}{hint}"]


def service_problems(
    model: ModelSection,
    engine: EngineSection,
    hosts: HostsSection,
    scaling: ScalingSection | None,
    *,
    region: str,
    request_seconds: int,
) -> list[str]:
    """Everything that is wrong with the model, the engine and the hosts together."""
    bounds = values.scaling(scaling)
    most = max(hosts.tasks, bounds.max_tasks) if bounds else hosts.tasks
    plan = ServicePlan(
        model=values.model(model, _NO_BUCKET),
        engine=values.engine(engine, values.Presence()),
        instance_type=hosts.instance_type,
        host_image=host_image(hosts.host_image),
        region=region,
        tasks=hosts.tasks,
        max_hosts=hosts_needed(hosts.rollout, most) if hosts.max_hosts is None else hosts.max_hosts,
        scaling=bounds,
        rollout=hosts.rollout,
        volume_mib_s=hosts.volume_mib_s,
        request_seconds=request_seconds,
    )
    return list(service_findings(plan).problems)


def repository_problems(engine: EngineSection) -> list[str]:
    """A tag is one of a repository."""
    if engine.tag is None or engine.repository_arn is not None:
        return []
    return [f"'tag' is said of a repository of yours; give its 'repository_arn' too, got {engine.tag!r} alone"]


def compile_problems(
    compilation: CompileSection, model: ModelSection, engine: EngineSection, *, region: str
) -> list[str]:
    """Only what an engine's image compiles on CPU, and is the same when it is compiled again."""
    return [
        *source_problems(compilation.source, compilation.revision, compilation.exported),
        *compilation_problems(
            values.model(model, _NO_BUCKET),
            values.engine(engine, values.Presence()),
            region=region,
            timeout_hours=compilation.timeout_hours,
        ),
    ]


# ---------------------------------------------------------------- the door
def door_problems(door: DoorSection, region: str) -> list[str]:
    """How it is reached."""
    return [
        *transport_problems(door.certificate_arn, region, plain_http=door.plain_http, public=door.public),
        *path_problems(door.paths, METHODS),
        *concurrency_problems(None if door.concurrency is None else door.concurrency.requests),
        *(rate_problems(door.web_acl.requests_per_address) if door.web_acl else []),
        *(
            f"'clients' must be IPv4 blocks, as '10.0.0.0/16', got {cidr!r}"
            for cidr in door.clients
            if rules.parse_cidr(cidr) is None
        ),
    ]


def caller_problems(door: DoorSection) -> list[str]:
    """Callers are looked at, by the keys of one kind."""
    if problems := [*_authentication_keys(door.authentication)]:
        return problems
    who = values.authentication(door.authentication, values.Presence())
    return authentication_problems(who, plain_http=door.plain_http, public=door.public)


def _authentication_keys(section: AuthenticationSection) -> Iterator[str]:
    """Each kind has keys of its own."""
    kind = section.kind
    others = [key for of, keys in _OF_KIND.items() for key in keys if of is not kind]
    for key in others:
        if getattr(section, key):
            yield f"{key!r} must be left out of 'authentication' of kind {kind}, which does not look at it"
    required = {AuthenticationKind.JWT: ("issuer", "key_set_url"), AuthenticationKind.API_KEY: ("secret_arn",)}
    for key in required.get(kind, ()):
        if not getattr(section, key):
            yield f"{key!r} must be given in 'authentication' of kind {kind}"


def place_problems(door: DoorSection, network: NetworkSpec | ExistingNetworkSpec) -> list[str]:
    """A load balancer stands in two zones of the network: an internal one beside the tasks, or a public one."""
    side = "public" if door.public else "service"
    if isinstance(network, ExistingNetworkSpec):
        subnets = network.public_subnets if door.public else network.service_subnets
        key, zones = f"{side}_subnets", [subnet.zone for subnet in subnets]
    else:
        zones = [*(network.zones_of_public_subnets if door.public else network.service_zones)]
        key = f"{side}_zones"
    different = list(dict.fromkeys(zones))
    if len(different) >= _ZONES:
        return []
    kind = "public" if door.public else "internal"
    got = ", ".join(different) or "none"
    return [f"{key!r} of the network must be in {_ZONES} zones or more for the {kind} door of 'serving', got {got}"]


def client_problems(door: DoorSection, network: NetworkSpec | ExistingNetworkSpec) -> list[str]:
    """Somebody is let in: the VPC, when its addresses are known."""
    if door.public or door.clients or isinstance(network, NetworkSpec) or network.cidr is not None:
        return []
    return [
        "'clients' of the door must be given, or 'cidr' of the network: the addresses of the VPC are not known here"
    ]


# ---------------------------------------------------------------- alarms
def monitoring_problems(monitoring: ServiceMonitoringSection) -> list[str]:
    """Thresholds that can be reached."""
    said = {
        "latency_seconds": monitoring.latency_seconds,
        "waiting": monitoring.waiting,
        "error_percent": monitoring.error_percent,
    }
    return threshold_problems({key: value for key, value in said.items() if value is not None})
