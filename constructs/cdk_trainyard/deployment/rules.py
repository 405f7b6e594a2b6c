"""Everything that is wrong with what a deployment says: the rules of every room, asked in one run. No CDK.

What has a wrong form is unknown here, and rules are silent about it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pkgutil import resolve_name
from typing import Final

from cdk_trainyard.deployment.alerts import alerts_problems
from cdk_trainyard.deployment.monitoring import monitoring_problems
from cdk_trainyard.deployment.monitoring_unused import made_alarms, unused_problems
from cdk_trainyard.deployment.orchestrators import find
from cdk_trainyard.deployment.serving.rules import serving_problems
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.deployment.storage import storage_problems
from cdk_trainyard.network import rules as network_rules
from cdk_trainyard.network.rules_existing import existing_network_problems
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.options.accounts import one_account_problems, own_account
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.options.tags import tags_problems
from cdk_trainyard.problems import Problem, option, shown, within
from cdk_trainyard.storage import rules as storage_rules
from cdk_trainyard.storage import rules_data
from cdk_trainyard.storage.resolve import resolve_lustre
from cdk_trainyard.storage.spec import BucketsSpec, ExistingLustreSpec, LustreSpec
from cdk_trainyard.tokens import Unknown, unresolved

_ADDED_TAGS: Final = 3
"""That CDK gives a subnet (``Name``, ``aws-cdk:subnet-name`` and ``-type``), and a fleet its group."""
_WITH_ALARMS: Final = ("alerts", "monitoring", "serving")
"""Sections with resources whose tags must have a value (CloudFormation's schemas, 2026-11): ``AWS::CloudWatch::Alarm``,
``CompositeAlarm`` and ``Dashboard``, ``AWS::ECS::CapacityProvider``. The other types take an empty one.
"""
_LONGEST_OF_CODEBUILD: Final = (127, 255)
"""Signs of a tag's key and value (botocore 1.44.5, codebuild, ``KeyInput`` and ``ValueInput``)."""
_OF_IMAGE_BUILDER: Final = re.compile(r"[a-zA-Z0-9\s_.:/=+\-@]*")
"""The key of a tag (botocore 1.44.5, imagebuilder, ``TagKey``)."""


def problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    """Yield everything that is wrong with a deployment, with paths from its top.

    Args:
        deployment: The deployment, with unknowns where its file has a wrong form.
    """
    account = deployment.environment.account or own_account(deployment)
    of_cluster = list(_cluster_problems(deployment))
    alerts_left_out = any(problem.at == ("alerts",) for problem in of_cluster)
    return chain(
        purpose_problems(deployment),
        one_account_problems(deployment) if deployment.account is None else (),
        _tags_problems(deployment),
        within(("network",), _network_problems(deployment)),
        within(("storage",), storage_problems(deployment.storage)),
        within(("storage", "lustre"), _lustre_problems(deployment)),
        within(("storage", "buckets"), _buckets_problems(deployment)),
        within(("alerts",), () if alerts_left_out else _alerts_problems(deployment, account)),
        within(("monitoring",), _monitoring_problems(deployment)),
        of_cluster,
        serving_problems(deployment, account),
    )


def purpose_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    """Check that a deployment trains, serves or does both."""
    orchestrator, cluster, serving = deployment.orchestrator, deployment.cluster, deployment.serving
    if orchestrator is not None and cluster is None and not unresolved(orchestrator):
        yield Problem(("cluster",), f"is missing; {option('orchestrator')} needs it")
    if orchestrator is None and cluster is not None:
        yield Problem(("orchestrator",), f"is missing; it says what {option('cluster')} is")
    if orchestrator is None and cluster is None and serving is None:
        remedy = f"give {option('cluster')} with its {option('orchestrator')}, or {option('serving')}"
        yield Problem((), f"a deployment must train, serve or do both, got neither; {remedy}")
    if orchestrator is None and cluster is None and not unresolved(deployment.storage):
        for name in ("lustre", "open_zfs"):
            if getattr(deployment.storage, name) is not None:
                yield Problem(("storage", name), "must be left out where nothing trains: nothing mounts it")


def _tags_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    if unresolved(deployment.tags):
        return
    row = find(deployment.orchestrator)
    added = max(_ADDED_TAGS, row.added_tags if row else 0)
    yield from tags_problems(("tags",), deployment.tags, added=added)
    made_by = [name for name in _WITH_ALARMS if getattr(deployment, name) is not None]
    for key, value in deployment.tags.items():
        if made_by and value == "":
            remedy = f"alarms, dashboards and capacity providers, which {option(made_by[0])} makes, take no empty one"
            yield Problem(("tags", key), f"must have a value, got '': {remedy}")
    yield from _tags_of_builds(deployment)


def _tags_of_builds(deployment: DeploymentSpec) -> Iterator[Problem]:
    """Check tags by the services that build models and images, which take fewer than others."""
    compiles = _said(deployment.serving, "compile")
    builds = _said(deployment.cluster, "image", "build") or _said(deployment.cluster, "master", "image", "build")
    for key, value in deployment.tags.items():
        for text, longest, of_key in zip((key, value), _LONGEST_OF_CODEBUILD, (True, False), strict=True):
            if compiles and not unresolved(text) and len(text) > longest:
                must = f"must have at most {longest} characters{' as a name' if of_key else ''}"
                why = f"CodeBuild, which {option('serving.compile')} makes, takes no more"
                yield Problem(("tags", key), f"{must}, got {len(text)}: {why}", of_key=of_key)
        if builds and _OF_IMAGE_BUILDER.fullmatch(key) is None:
            must = f"must be of plain letters (a to z) and digits, got {shown(key)} as a name"
            yield Problem(
                ("tags", key), f"{must}: Image Builder, which {option('build')} makes, takes no other", of_key=True
            )


def _said(section: object, *names: str) -> bool:
    for name in names:
        section = getattr(section, name, None)
    return section is not None and not unresolved(section)


def _network_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    region = deployment.environment.region
    match deployment.network:
        case NetworkSpec() as network:
            yield from network_rules.network_problems(network, region)
        case ExistingNetworkSpec() as network:
            yield from existing_network_problems(network, region)


def _lustre_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    match deployment.storage.lustre:
        case LustreSpec() as lustre:
            yield from storage_rules.lustre_problems(resolve_lustre(lustre))
        case ExistingLustreSpec() as lustre:
            yield from storage_rules.existing_lustre_problems(lustre, deployment.environment.region)


def _buckets_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    if isinstance(deployment.storage.buckets, BucketsSpec):
        yield from rules_data.buckets_problems(deployment.storage.buckets)


def _alerts_problems(deployment: DeploymentSpec, account: str | None) -> Iterator[Problem]:
    row = find(deployment.orchestrator)
    if deployment.alerts is not None:
        yield from alerts_problems(deployment.alerts, account, row.publishes if row else None)


def _monitoring_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    if deployment.monitoring is not None and not unresolved(deployment.monitoring):
        unused = list(unused_problems(deployment, deployment.monitoring))
        without = {problem.at for problem in unused}
        made = made_alarms(deployment)
        found = monitoring_problems(deployment.monitoring, deployment.environment.region, made)
        yield from (problem for problem in found if without.isdisjoint({problem.at[:2], problem.at}))
        yield from unused
        if deployment.orchestrator is None and deployment.monitoring.exporters is not None:
            yield Problem(
                ("exporters",), "must be left out where there is no cluster: the tasks of a service run their own"
            )


def _cluster_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    """Ask the rules of the orchestrator, which are imported when a file has it; of what it has around it, always."""
    row = find(deployment.orchestrator)
    if row is None or deployment.cluster is None:
        return
    if not unresolved(deployment.cluster):
        yield from resolve_name(row.problems)(deployment)
        return
    nothing_known = row.spec(**{name: Unknown() for name in fields_of(row.spec)})
    found = resolve_name(row.problems)(replace(deployment, cluster=nothing_known))
    yield from (problem for problem in found if problem.at[:1] != ("cluster",))
