"""Everything that is wrong with a served model, and with the network that it asks for."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pkgutil import resolve_name
from typing import cast

from cdk_trainyard.deployment.network import zones_of
from cdk_trainyard.deployment.orchestrators import find
from cdk_trainyard.deployment.serving.place import place_problems
from cdk_trainyard.deployment.serving.reach import serving_reach_problems
from cdk_trainyard.deployment.serving.section import ServingSection
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.deployment.storage import StorageSection
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.problems import At, Problem, Warned, option, shown, within
from cdk_trainyard.serving.findings import Findings
from cdk_trainyard.serving.rules import service_findings
from cdk_trainyard.serving.rules_compilation import (
    compilation_problems,
    compilation_warnings,
    known_compilation_problems,
)
from cdk_trainyard.serving.rules_concurrency import limit_warnings, queue_problems, waiting_problems
from cdk_trainyard.serving.rules_environment import listening_problems
from cdk_trainyard.serving.rules_load_balancer import known_client_problems, load_balancer_problems
from cdk_trainyard.serving.rules_secrets import hub_token_problems, key_problems
from cdk_trainyard.serving.rules_service import monitoring_problems
from cdk_trainyard.serving.spec_service import CompilationSpec
from cdk_trainyard.serving.warnings import load_balancer_warnings, monitoring_warnings, placed_warnings
from cdk_trainyard.storage.spec import ExistingBucket
from cdk_trainyard.tokens import Unknown, unresolved

_OF_OTHERS = ("model", "engine")


def serving_problems(deployment: DeploymentSpec, account: str | None) -> Iterator[Problem]:
    """Yield what is wrong with what is served, and with the network that it asks for.

    Args:
        deployment: The deployment.
        account: Its account. None: not known.
    """
    section, network = deployment.serving, deployment.network
    region = deployment.environment.region or cast("str", Unknown())
    if section is None or unresolved(section):
        return
    yield from within(("serving",), section_problems(section, region))
    yield from within(("serving",), secret_problems(section, account))
    if isinstance(network, NetworkSpec | ExistingNetworkSpec):
        balancer, monitored = section.load_balancer, deployment.monitoring is not None
        known = isinstance(network, NetworkSpec) or network.cidr is not None
        for problem in place_problems(section, network, region, nodes=_nodes(deployment)):
            yield problem if problem.at[0] == "serving" else replace(problem, at=("network", *problem.at))
        yield from within(("network",), serving_reach_problems(network, region, section, monitored=monitored))
        yield from within(("serving", "load_balancer"), known_client_problems(balancer, cidr_known=known))
    yield from _log_bucket_problems(section, deployment.storage)


def _nodes(deployment: DeploymentSpec) -> int:
    """Return how many addresses the cluster takes in service subnets."""
    orchestrator = find(deployment.orchestrator)
    if orchestrator is None or orchestrator.service_addresses is None:
        return 0
    found: int = resolve_name(orchestrator.service_addresses)(deployment)
    return found


def _log_bucket_problems(section: ServingSection, storage: StorageSection) -> Iterator[Problem]:
    """Check that the bucket of access logs is none of data, nor one that the file itself says has a KMS key."""
    logs, buckets = section.load_balancer.access_logs, storage.buckets
    if logs is None or unresolved(logs, logs.bucket_name, buckets):
        return
    kind: type = type(buckets)
    for name in fields_of(kind):
        bucket = getattr(buckets, name)
        if not isinstance(bucket, ExistingBucket) or bucket.bucket_name != logs.bucket_name:
            continue
        text = f"must be a bucket of its own, got {shown(logs.bucket_name)}, which is 'storage.buckets.{name}' too"
        if bucket.key is not None:
            why = f"has one by 'storage.buckets.{name}': load balancers write to SSE-S3 alone"
            text = f"must be a bucket without a KMS key, got {shown(logs.bucket_name)}, which {why}"
        yield Problem(("serving", "load_balancer", "access_logs", "bucket_name"), text)


def section_problems(section: ServingSection, region: str) -> Iterator[Problem]:
    """Check every part of the section, and what they say of each other.

    Args:
        section: The section.
        region: The Region.
    """
    yield from service_findings(section, region).problems
    if not unresolved(section.load_balancer):
        yield from within(("load_balancer",), load_balancer_problems(section.load_balancer))
        limit, model = section.load_balancer.concurrency, section.model
        yield from within(("engine",), listening_problems(section.engine, limit))
        yield from within(("load_balancer", "concurrency"), queue_problems(limit, model, section.scaling))
        if not unresolved(section.monitoring):
            yield from within(("monitoring",), waiting_problems(section.monitoring, limit, section.engine, model))
    if not unresolved(section.monitoring):
        seconds = None if unresolved(section.request_timeout) else section.request_timeout.to_seconds()
        yield from within(("monitoring",), monitoring_problems(section.monitoring, seconds))
    if section.compile is not None and not unresolved(section.compile):
        for problem in _compilation_findings(section, section.compile).problems:
            yield problem if problem.at[0] in _OF_OTHERS else replace(problem, at=("compile", *problem.at))
    if section.node_health_repository is not None and section.node_health == "off":
        text = f"must be left out with {option('node_health')} off: nothing is pulled"
        yield Problem(("node_health_repository",), text)


def _compilation_findings(section: ServingSection, compilation: CompilationSpec) -> Findings:
    parts = compilation, section.model, section.engine
    known, warnings = known_compilation_problems(*parts), compilation_warnings(compilation)
    return Findings.of(section.engine, compilation_problems(*parts), known, warnings)


def serving_warnings(deployment: DeploymentSpec) -> Iterator[Warned]:
    """Yield what may surprise about what is served.

    Args:
        deployment: The deployment, in which nothing is wrong.
    """
    section, network, region = deployment.serving, deployment.network, deployment.environment.region
    if section is None:
        return
    zones = list(zones_of(network, "service")[1] or ()) or [network.zone]
    said: dict[At, Iterable[Warned]] = {
        (): [
            *service_findings(section, region).warnings,
            *placed_warnings(section.hosts, zones, region, has_nat=network.has_nat),
        ],
        ("compile",): _compilation_findings(section, section.compile).warnings if section.compile else (),
        ("load_balancer",): load_balancer_warnings(section.load_balancer),
        ("load_balancer", "concurrency"): limit_warnings(section.load_balancer.concurrency, section),
        ("monitoring",): monitoring_warnings(section.monitoring),
    }
    for at, found in said.items():
        yield from within(("serving", *at), found)


def secret_problems(section: ServingSection, account: str | None) -> Iterator[Problem]:
    """Check that the secrets of another account can be read.

    Args:
        section: The section.
        account: The deployment's account. None: not known.
    """
    authentication = section.load_balancer.authentication
    yield from within(("load_balancer", "authentication"), key_problems(authentication, account))
    yield from within(("engine",), hub_token_problems(section.engine.hub_token, account))
    if section.compile is not None:
        yield from within(("compile",), hub_token_problems(section.compile.hub_token, account))
