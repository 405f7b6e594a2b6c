"""What is wrong with a HyperPod cluster as a file has it: its own rules, and what only a file can get wrong."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from cdk_trainyard.deployment.accounting import (
    caller_key_problems,
    existing_accounting_problems,
    new_accounting_problems,
    new_accounting_warnings,
    secret_problems,
)
from cdk_trainyard.deployment.hyperpod.facts import facts_of
from cdk_trainyard.deployment.hyperpod.legacy_file import legacy_file_problems
from cdk_trainyard.deployment.hyperpod.section import HyperPodSection, LifecycleSection
from cdk_trainyard.deployment.mounts import mounts_of
from cdk_trainyard.deployment.network import address_problem
from cdk_trainyard.deployment.repositories import POLICIES, repository_problems
from cdk_trainyard.deployment.script_folder import entries_problems, read_folder
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.hyperpod import rules as room
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, resolve
from cdk_trainyard.hyperpod.warnings import WARNINGS
from cdk_trainyard.lifecycle.bundle import Bundle
from cdk_trainyard.lifecycle.rules import library_problems, topology_problems, users_problems
from cdk_trainyard.lifecycle.settings import LEGACY_FILE
from cdk_trainyard.lifecycle.spec import SlurmTopology
from cdk_trainyard.problems import At, Problem, Warned, option, shown, warnings_of, within
from cdk_trainyard.tokens import unresolved

_ACCOUNTING: Final = ("cluster", "accounting")
_OF_A_TEMPLATE: Final = re.compile(r"[0-9A-F]{8}$|^BootstrapVersion$")
"""What templates of a file call their resources, and their one parameter: names end with CDK's hash (aws-cdk-lib
2.275.0, ``core/lib/private/uniqueid.ts``)."""


def cluster_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    """Yield what is wrong with the cluster, and with what stands elsewhere in the file for it.

    Args:
        deployment: The deployment.
    """
    cluster: HyperPodSection = deployment.cluster
    network, environment = deployment.network, deployment.environment
    mounts = mounts_of(deployment)
    places = list(mounts)
    paths = [mount.path for mount in mounts.values()]
    for problem in room.cluster_problems(_resolved(deployment)):
        if problem.at[:1] == ("mounts",):
            yield replace(problem, at=(*places[int(problem.at[1])], *problem.at[2:]))
        elif problem.at[:1] == ("metrics",):
            yield replace(problem, at=("monitoring", *problem.at[1:]))
        elif problem.at == ("network", "accelerator_cidr"):
            yield address_problem(network, problem)
        else:
            yield problem if problem.at == ("region",) else replace(problem, at=("cluster", *problem.at))
    yield from within(("cluster",), folder_problems(cluster, deployment.resolve_path, paths))
    yield from within(("cluster",), reference_problems(cluster))
    yield from within(("cluster",), repository_problems(cluster, policies=POLICIES))
    yield from new_accounting_problems(deployment, _ACCOUNTING)
    yield from existing_accounting_problems(cluster.accounting, environment.region, _ACCOUNTING)
    yield from caller_key_problems(cluster.accounting, deployment.serving)
    if cluster.role is None and cluster.controller_role is None:  # one of yours may be allowed to use the key
        secret = getattr(cluster.accounting, "secret", None)
        yield from secret_problems(secret, environment.account, (*_ACCOUNTING, "secret"))


def cluster_warnings(deployment: DeploymentSpec) -> Iterator[Warned]:
    """Return what may surprise about the cluster.

    Args:
        deployment: The deployment.
    """
    yield from within(("cluster",), warnings_of("hyperpod", WARNINGS, _resolved(deployment)))
    yield from new_accounting_warnings(deployment, _ACCOUNTING)


def _resolved(deployment: DeploymentSpec) -> ResolvedCluster:
    cluster, mounts = deployment.cluster, list(mounts_of(deployment).values())
    facts = facts_of(cluster, deployment.network, mounts, deployment.environment, deployment.monitoring)
    return resolve(cluster, facts)


def reference_problems(cluster: HyperPodSection) -> Iterator[Problem]:
    """Check that overrides refer to nothing that no template of a deployment has.

    Args:
        cluster: The cluster.
    """
    groups = () if unresolved(cluster.groups) else cluster.groups
    said: dict[At, object] = {(): cluster.raw_overrides}
    said |= {("groups", group.name): group.raw_overrides for group in groups if not unresolved(group)}
    for at, overrides in said.items():
        yield from within((*at, "raw_overrides"), _reference_problems((), overrides))


def _reference_problems(at: At, value: object) -> Iterator[Problem]:
    names: Sequence[str] = ()
    match value:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_] | str(name)}:
            names = re.findall(r"^(\w+)(?:\.|$)", name)
        case {"Fn::Sub": str(text)}:
            names = re.findall(r"\$\{(\w+)[.}]", text)
    for name in names:
        if not _OF_A_TEMPLATE.search(name):
            yield Problem(at, f"must be written out, got a reference to {shown(name)}, which no template here has")
    items = value.items() if isinstance(value, Mapping) else enumerate(value if isinstance(value, list) else ())
    for key, inner in items:
        yield from _reference_problems((*at, key), inner)


def folder_problems(cluster: HyperPodSection, find: Callable[[str], Path], mounts: Sequence[str]) -> Iterator[Problem]:
    """Check folders of scripts: that they are there, that what is in them can run, and that something of them runs.

    Args:
        cluster: The cluster.
        find: Finds what stands beside the file.
        mounts: Paths at which nodes mount shared file systems.
    """
    said: dict[At, LifecycleSection | None] = {("lifecycle",): cluster.lifecycle}
    groups = () if unresolved(cluster.groups) else cluster.groups
    said |= {("groups", group.name, "lifecycle"): group.lifecycle for group in groups if not unresolved(group)}
    for at, lifecycle in said.items():
        folder = None if lifecycle is None or unresolved(lifecycle) else lifecycle.folder
        if lifecycle is None or folder is None or unresolved(folder, lifecycle.script):
            continue
        of_folder: At = (*at, "folder")
        if lifecycle.script is None:
            neither = f"got neither {option('on_create')} nor {option('on_init_complete')}"
            yield Problem(of_folder, f"must have a script that runs, {neither}")
            continue
        bundle, problems = read_folder(find(folder), folder, of_folder, entries=[lifecycle.script])
        yield from problems
        name = "on_init_complete" if lifecycle.on_create is None else "on_create"
        yield from entries_problems(bundle, {(*at, name): lifecycle.script})
        if bundle is not None:
            yield from library_problems(bundle, lifecycle.script, at=of_folder)
            yield from users_problems(bundle, at=of_folder, mounts=mounts)
            yield from _topology_problems(bundle, cluster.topology, of_folder)
            if cluster.topology is SlurmTopology.LEGACY and (file := bundle.find(LEGACY_FILE)) is not None:
                named = [group for group in groups if not unresolved(group, group.name)]
                yield from legacy_file_problems(file.data, named, of_folder)


def _topology_problems(bundle: Bundle, topology: SlurmTopology, at: At) -> Iterator[Problem]:
    """Check that the legacy file is there exactly when the topology is legacy."""
    if topology is SlurmTopology.LEGACY and bundle.find(LEGACY_FILE) is None:
        yield Problem(at, f"must hold {LEGACY_FILE} at its top when 'topology' of the cluster is {topology.value}")
    elif topology is SlurmTopology.API_DRIVEN:
        yield from (replace(problem, at=at) for problem in topology_problems(bundle, topology, None))
