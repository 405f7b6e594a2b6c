"""What the rules of a ParallelCluster say of its section, and what only a file can get wrong."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Network
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from cdk_trainyard.deployment.accounting import (
    existing_accounting_problems,
    new_accounting_problems,
    new_accounting_warnings,
    secret_problems,
)
from cdk_trainyard.deployment.monitoring import exporters, scrape_seconds
from cdk_trainyard.deployment.mounts import mounts_of
from cdk_trainyard.deployment.network import (
    ACCELERATOR,
    Side,
    accelerator_cidr,
    accelerator_zone,
    address_problem,
    blocks_of,
    endpoint_addresses,
    zones_of,
)
from cdk_trainyard.deployment.parallelcluster.reach import parallelcluster_reach_problems
from cdk_trainyard.deployment.parallelcluster.section import ParallelClusterSection
from cdk_trainyard.deployment.parallelcluster.venv import venv_place_problems
from cdk_trainyard.deployment.repositories import repository_problems
from cdk_trainyard.deployment.script_folder import entries_problems, read_folder
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.identifiers import stack_name
from cdk_trainyard.lifecycle.bundle import Bundle, read_bundle
from cdk_trainyard.network.rules import no_prometheus
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.options.repositories import other_registries
from cdk_trainyard.options.stand_ins import Subnet, UploadedScripts
from cdk_trainyard.parallelcluster import rules as room
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts, Place
from cdk_trainyard.parallelcluster.resolve import each_changed, known, resolve_cluster
from cdk_trainyard.parallelcluster.rules_addresses import addresses_within
from cdk_trainyard.parallelcluster.rules_metrics import no_metrics
from cdk_trainyard.parallelcluster.rules_venv import other_nodes
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_nodes import CustomAction, NodeSoftware
from cdk_trainyard.parallelcluster.warnings import WARNINGS
from cdk_trainyard.problems import At, Problem, Warned, shown, warned, warnings_of, within
from cdk_trainyard.storage.spec import NodeGrantsSpec
from cdk_trainyard.tokens import Unknown, unresolved

if TYPE_CHECKING:
    from cdk_trainyard.parallelcluster.scripts import NodeScripts

_ACCOUNTING: Final = ("cluster", "slurm", "accounting")
_EVENTS = ("on_start", "on_configured", "on_updated")
_SIDES: Final[tuple[Side, ...]] = ("public", "service")
_Node = TypeVar("_Node", bound=NodeSoftware)


def cluster_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    """Yield what is wrong with the cluster, and with what stands elsewhere in the file for it.

    Args:
        deployment: The deployment.
    """
    if deployment.storage.open_zfs is not None and not unresolved(deployment.storage):
        text = "must be left out with orchestrator parallelcluster, which mounts volumes by id; give 'openzfs' in the "
        yield Problem(("storage", "open_zfs"), f"{text}cluster's 'shared_storage' its 'volume_id'", of_key=True)
    old = no_metrics(deployment.cluster.operating_system)
    why = no_prometheus(deployment.environment.region) or (old and f"'monitoring' must be left out with {old}")
    tells = deployment.serving is not None or (deployment.monitoring is not None and not why)  # these have alarms
    if deployment.alerts is not None and not tells:
        text = "must be left out with orchestrator parallelcluster alone, whose alarms of the head node tell nobody; "
        remedy = f"there is no other: {why}" if why else "give 'monitoring' beside 'cluster', whose alarms tell"
        yield Problem(("alerts",), f"{text}{remedy}", of_key=True)
    section: ParallelClusterSection = deployment.cluster
    network, region = deployment.network, deployment.environment.region
    spec, context = _resolved(deployment)
    stacks = {stack_name(deployment.name, stack) for stack in ("network", "storage", "serving")}
    if section.cluster_name in stacks and not unresolved(deployment.name):
        text = f"must be another than that of a stack of this deployment, got {shown(section.cluster_name)}"
        yield Problem(("cluster", "cluster_name"), f"{text}; ParallelCluster makes a stack of that name")
    for problem in room.cluster_problems(resolve_cluster(spec, context), context):
        yield from _in_file(problem, section, network)
    yield from within(("cluster",), venv_place_problems(spec, context))
    yield from within(("cluster",), _subnet_problems(section, network))
    yield from within(("cluster",), _policy_problems(section))
    yield from within(("cluster",), repository_problems(section.grants))
    yield from new_accounting_problems(deployment, _ACCOUNTING)
    accounting = getattr(section.slurm, "accounting", None)
    yield from existing_accounting_problems(accounting, region, _ACCOUNTING)
    head = section.head_node
    if not (isinstance(head, Unknown) or head.policies or head.raw_overrides or section.raw_overrides):
        secret = getattr(accounting, "password_secret", None)  # a policy of yours may let the head node use the key
        yield from secret_problems(secret, deployment.environment.account, (*_ACCOUNTING, "password_secret"))
    yield from parallelcluster_reach_problems(section, network, region, deployment.monitoring)
    yield from within(("cluster",), script_problems(section, deployment.resolve_path))


def cluster_warnings(deployment: DeploymentSpec) -> Iterator[Warned]:
    """Return what may surprise about the cluster.

    Args:
        deployment: The deployment.
    """
    said, context = _resolved(deployment)
    found = warnings_of("parallelcluster", WARNINGS, resolve_cluster(said, context), context)
    grants = cast("ParallelClusterSection", deployment.cluster).grants
    yield from within(("cluster",), chain(found, grant_warnings(grants)))
    yield from new_accounting_warnings(deployment, _ACCOUNTING)


def grant_warnings(grants: NodeGrantsSpec) -> Iterator[Warned]:
    """Return what may surprise about what nodes may pull.

    Args:
        grants: What nodes may pull and write.
    """
    names = [each.repository_arn for each in grants.image_repositories]
    return warned("parallelcluster", "other-registry", other_registries(names))


def _resolved(deployment: DeploymentSpec) -> tuple[ParallelClusterSpec, ParallelClusterFacts]:
    """Return the cluster as a file says it, and what it stands in."""
    network, region = deployment.network, deployment.environment.region
    place = place_of(network, region)
    mounts = mounts_of(deployment)
    mounted: Any = [one for one in mounts.values() if one.kind == "Lustre"]  # of another its section says it
    if unresolved(deployment.storage, deployment.storage.lustre):
        mounted = Unknown()
    context = ParallelClusterFacts(
        place=place,
        mounts=mounted,
        region=region,
        scrape_seconds=scrape_seconds(deployment.monitoring),
        exporters=exporters(deployment.monitoring),
        scripts_bucket=True,
        stack_name=None if unresolved(deployment.name) else stack_name(deployment.name, "training"),
    )
    tags = {} if unresolved(deployment.tags) else deployment.tags
    return prepared(deployment.cluster, network, tags=tags), context


def service_addresses(deployment: DeploymentSpec) -> int:
    """Return how many addresses the nodes take at their largest that are in service subnets alone.

    Args:
        deployment: The deployment.
    """
    section, network = deployment.cluster, deployment.network
    if not isinstance(section, ParallelClusterSection):
        return 0
    place = place_of(network, deployment.environment.region)
    spec = resolve_cluster(prepared(section, network, tags={}), ParallelClusterFacts(place=place))
    return addresses_within(spec, place, [subnet.subnet_id for subnet in _several("service", network)])


def _in_file(problem: Problem, section: ParallelClusterSection, network: object) -> Iterator[Problem]:
    """Yield a problem of the cluster with its path in the file; what is said of the whole deployment is left out."""
    match problem.at:
        case ("network", "accelerator_cidr"):
            yield address_problem(network, problem)
        case ("region" | "network", *_):
            yield problem
        case ("metrics", *inner):
            yield replace(problem, at=("monitoring", *inner))
        case ("tags", str(key)) if key not in (section.tags or {}):
            yield problem
        case ("tags",) if not section.tags:
            return
        case ("mounts", int(), *inner) | ("mounts", *inner):
            yield replace(problem, at=("storage", "lustre", *inner))
        case _:
            yield replace(problem, at=("cluster", *problem.at))


# ---------------------------------------------------------------- what the cluster stands in
def place_of(network: object, region: str | None) -> Place:
    """Return where nodes are put, subnets by what they are; of a network of the wrong form nothing is known.

    Args:
        network: The network's specification.
        region: The Region.
    """
    public = tuple(subnet.subnet_id for subnet in _several("public", network))
    new = network if isinstance(network, NetworkSpec) else None
    return Place(
        accelerator_subnet=ACCELERATOR,
        accelerator_cidr=accelerator_cidr(network, region),
        public_subnets=public,
        zone=accelerator_zone(network, region),
        has_nat=new is None or new.has_nat,
        gives_addresses=None if new is None else False,
        zones=dict(_zones(network, region)),
        blocks=dict(_blocks(network, region)),
        endpoints=() if new is None or unresolved(new.interface_endpoints) else new.interface_endpoints,
        endpoint_addresses=endpoint_addresses(network),
    )


def _zones(network: object, region: str | None) -> Iterator[tuple[str, str]]:
    """Yield the subnets whose zone is known, each with its zone."""
    if zone := accelerator_zone(network, region):
        yield ACCELERATOR, zone
    for side in _SIDES:
        _, zones = zones_of(network, side)
        yield from zip((subnet.subnet_id for subnet in _several(side, network)), zones or (), strict=False)


def _blocks(network: object, region: str | None) -> Iterator[tuple[str, IPv4Network]]:
    """Yield the subnets but the accelerator subnet whose block is known, each with its block."""
    for side in _SIDES:
        for subnet, block in zip(_several(side, network), blocks_of(network, region, side), strict=False):
            if block:
                yield subnet.subnet_id, block


# ---------------------------------------------------------------- what the file leaves to be found out
def prepared(section: ParallelClusterSection, network: object, *, tags: Mapping[str, str]) -> ParallelClusterSection:
    """Return the section with every subnet of a kind, the folder of the scripts, and the deployment's tags.

    Args:
        section: The section.
        network: The network's specification.
        tags: The deployment's tags.
    """
    scripts = UploadedScripts(section.scripts.folder is None)
    head, pools, queues = section.head_node, section.login_pools, section.queues
    return replace(
        section,
        head_node=head if isinstance(head, Unknown) else _with_scripts(head, scripts),
        login_pools=each_changed(pools, lambda pool: _with_scripts(pool, scripts)),
        queues=each_changed(
            queues, lambda queue: replace(_with_scripts(queue, scripts), subnets=_all_subnets(queue.subnets, network))
        ),
        tags=section.tags if isinstance(section.tags, Unknown) else {**tags, **(section.tags or {})} or None,
    )


def _with_scripts(node: _Node, scripts: UploadedScripts) -> _Node:
    """A file of the folder stands at its top: a script with a slash is an address."""

    def of_folder(action: CustomAction) -> CustomAction:
        if unresolved(action.script) or "/" in action.script:
            return action
        return replace(action, scripts=cast("NodeScripts", scripts))

    said: dict[str, Any] = {event: getattr(node, event) for event in _EVENTS if hasattr(node, event)}
    return replace(node, **{event: each_changed(actions, of_folder) for event, actions in said.items()})


def _all_subnets(said: Any, network: object) -> Any:
    if said is None or isinstance(said, Unknown):
        return said
    return tuple(
        each
        for subnet in said
        for each in (_several(subnet.value, network) or [subnet] if isinstance(subnet, Subnet) else [subnet])
    )


def _several(kind: str, network: object) -> list[Subnet]:
    """Return the subnets of a kind: ``public``, ``public/1`` and so on."""
    match network, kind:
        case _, "accelerator":
            count = 1
        case NetworkSpec(), "public":
            count = _number(network.zones_of_public_subnets)
        case NetworkSpec(), _:
            count = _number(network.service_zones)
        case ExistingNetworkSpec(), _:
            count = _number(network.public_subnets if kind == "public" else network.service_subnets)
        case _:
            count = 1
    return [Subnet(kind if index == 0 else f"{kind}/{index}") for index in range(count)]


def _number(subnets: Any) -> int:
    """Return how many there are: one where that is not known."""
    return 1 if isinstance(subnets, Unknown) else len(subnets)


# ---------------------------------------------------------------- what only a file can get wrong
def script_problems(section: ParallelClusterSection, find: Callable[[str], Path]) -> Iterator[Problem]:
    """Check the folder of scripts, and that what nodes run by name is in it.

    Args:
        section: The section.
        find: Finds what stands beside the file.
    """
    if unresolved(section.scripts) or unresolved(section.scripts.folder):
        return
    folder = section.scripts.folder
    problems: Sequence[Problem] = ()
    entries = dict(_entries(section))
    if folder is None:
        bundle: Bundle | None = read_bundle(("", scripts_folder() / "parallelcluster"))
    else:
        bundle, problems = read_folder(find(folder), folder, ("scripts", "folder"), entries=entries.values())
        yield from problems
    if folder is not None and not problems and not entries and not _is_unknown(section):
        text = "must have a script that nodes run, got none; name one, as in 'on_configured', or leave the folder out"
        yield Problem(("scripts", "folder"), text)
    yield from entries_problems(bundle, entries)


def _entries(section: ParallelClusterSection) -> Iterator[tuple[At, str]]:
    """Yield what nodes run by name, by where the file says it."""
    for at, node in _nodes(section):
        for event in _EVENTS:
            for index, action in known(getattr(node, event, ())):
                if not unresolved(action.script) and "/" not in action.script:
                    yield (*at, event, index, "script"), action.script


def _is_unknown(section: ParallelClusterSection) -> bool:
    """Whether what nodes run has a wrong form somewhere, which is answered there."""
    nodes = [node for _, node in _nodes(section)]
    lists = [getattr(node, event, ()) for node in nodes for event in _EVENTS]
    actions = [action for actions in lists for action in actions]
    return unresolved(section.queues, section.login_pools, *section.queues, *section.login_pools, *nodes) or unresolved(
        *lists, *actions, *(action.script for action in actions)
    )


def _nodes(section: ParallelClusterSection) -> Iterator[tuple[At, Any]]:
    yield ("head_node",), section.head_node
    yield from other_nodes(section)


def _policy_problems(section: ParallelClusterSection) -> Iterator[Problem]:
    """Policies are ones that the provider may attach, and the role one that it may pass; a file gives it no more.

    Source: ``cloudformation/policies/parallelcluster-policies.yaml`` of 3.12.0 (``AttachRolePolicy``, ``PassRole``);
    aws/aws-parallelcluster#6127 (2024-02-28) and #6998 (2025-09-17). Of AWS's own policies it may attach some.
    """
    for at, node in _nodes(section):
        for index, policy in known(getattr(node, "policies", ())):
            arn = policy.managed_policy_arn
            if not unresolved(arn) and ":iam::aws:" not in arn and ":policy/parallelcluster" not in arn:
                text = f"must be one whose path or name begins with 'parallelcluster', got {shown(arn)}"
                yield Problem((*at, "policies", index), f"{text}; the provider may attach no other of an account")
    role = getattr(getattr(section.iam, "lambda_role", None), "role_arn", None)
    if role is not None and not unresolved(role) and ":role/parallelcluster/" not in role:
        text = f"must be one whose path begins with '/parallelcluster/', got {shown(role)}"
        yield Problem(("iam", "lambda_role"), f"{text}; the provider may pass no other to a function")


def _subnet_problems(section: ParallelClusterSection, network: object) -> Iterator[Problem]:
    """Subnets that are named are there."""
    said: list[tuple[At, Any]] = [
        (("queues", index, "subnets", number), subnet)
        for index, queue in known(section.queues)
        for number, subnet in known(queue.subnets or ())
    ]
    said += [(("login_pools", index, "subnet"), pool.subnet) for index, pool in known(section.login_pools)]
    for at, subnet in said:
        if isinstance(subnet, Subnet) and not _several(subnet.value, network):
            yield Problem(at, f"must be a kind of subnets that the network has, got {shown(subnet.value)}")
