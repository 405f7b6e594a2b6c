"""The review as data: what ``review.json`` holds, and all that the page shows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.report.assembly import Assembly, read_assembly
from cdk_trainyard.report.change import Row, change
from cdk_trainyard.report.cost import cost
from cdk_trainyard.report.data import Store, stores
from cdk_trainyard.report.endpoints import unjudged
from cdk_trainyard.report.findings import Finding, findings_of, libraries_of, merged, tools_of
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.machines import machines
from cdk_trainyard.report.network import EFA, Member, Network
from cdk_trainyard.report.openings import exits, openings
from cdk_trainyard.report.permissions import Grant, Holder, Permissions, Role
from cdk_trainyard.report.prices import Prices
from cdk_trainyard.report.scene import scene
from cdk_trainyard.report.sides import sides
from cdk_trainyard.report.stores import ACCESS
from cdk_trainyard.report.verdict import sentence

VERSION: Final = 1
_MANY: Final = 40
_WILDCARDS: Final = "AwsSolutions-IAM5"
_NEVER_CHECKED: Final = (
    "quotas, capacity and what exists in the account already",
    "what AWS's managed policies allow, grants of keys, permissions boundaries, and policies of the organization",
    "network ACLs, main route tables, policies of VPC endpoints, firewalls, and routes between networks",
    "what runs on the machines, in containers and in functions",
)
_MADE_ELSEWHERE: Final = {
    "AWS::CloudFormation::CustomResource": "what custom resources make",
    "AWS::EKS::Cluster": "roles, groups and machines that Kubernetes asks for by itself",
    "AWS::Serverless::Function": "what the Serverless transform makes",
    PARALLELCLUSTER_TYPE: "roles, security groups and machines that ParallelCluster makes in a stack of its own",
}
"""What types make beside themselves, in no template."""

Document = dict[str, Any]


def review(
    assembly: Assembly | str | Path,
    *,
    against: Assembly | str | Path | None = None,
    findings: Iterable[Finding] = (),
    tools: Sequence[str] = (),
    title: str = "",
    prices: Sequence[str | Path] = (),
    updates: Iterable[Row] = (),
    not_run: Mapping[str, str] | None = None,
) -> Document:
    """Return the review of what an app synthesizes to.

    Args:
        assembly: A ``cdk.out`` folder, a template, or either as it was read.
        against: What there is before it, in any of these forms. Default - nothing: no change is judged.
        findings: Findings of tools that ran beside the synthesis. Default - those of ``validation-report.json``.
        tools: Tools that ran, also those that found nothing. Default - those that the report names.
        title: What it is called. Default - the names of its stacks.
        prices: Files of prices that go before the shipped snapshot, the first before the next. Default - none.
        updates: What others say about updates of resources (`change.Row`). Default - what CloudFormation does alone.
        not_run: Tools that did not run, each with the reason. Default - none.

    Raises:
        ConfigurationError: The assembly cannot be read.
    """
    read = _read(assembly)
    graph = Graph(read)
    network, permissions = Network(graph), Permissions(graph)
    found = merged([*findings_of(read), *findings], read)
    kept, fleet = stores(graph), machines(graph)
    document: Document = {
        "version": VERSION,
        "title": title or _title(read),
        "stacks": [_stack(each) for each in read.stacks],
        "machines": [
            {
                "where": each.resource.path,
                "name": each.name,
                "type": each.type,
                "count": each.count,
                "most": each.most,
                "paid": each.paid,
                "written": each.written,
            }
            for each in fleet
        ],
        "network": _network(network),
        "permissions": _permissions(graph, permissions, kept, found),
        "data": [*map(_store, kept)],
        "findings": [*map(_finding, found)],
        "cost": cost(graph, fleet, Prices(*prices)),
        "change": None,
    }
    document["picture"] = scene(graph, network, fleet, openings(network), document["permissions"]["access"])
    document["verdict"] = _verdict(document, sentence(graph, fleet))
    document["not_checked"] = [
        *read.notes,
        *sorted(set(permissions.notes)),
        *_conditions(read),
        *_elsewhere(read),
        *_unjudged(network),
        *_NEVER_CHECKED,
    ]
    if against is not None:
        old, new, alone = sides(_read(against), read)
        before, after = review(old, prices=prices), review(new, prices=prices) if alone else document
        document["change"] = change(old, new, before, after, updates, alone)
        document["not_checked"] += [f"what changes in stacks other than {alone}"] if alone else []
    document["provenance"] = _provenance(read, sorted({*tools, *tools_of(read)}), not_run or {})
    return document


def _read(given: Assembly | str | Path) -> Assembly:
    return given if isinstance(given, Assembly) else read_assembly(given)


def _title(assembly: Assembly) -> str:
    """Return the names of the stacks; what all of them begin with, is said once."""
    names = [stack.name for stack in assembly.stacks if stack.parent is None]
    shared = _shared([name.split("-") for name in names]) if len(names) > 1 else ""
    if not shared:
        return ", ".join(names)
    return f"{shared}: {', '.join(name.removeprefix(f'{shared}-') for name in names)}"


def _shared(names: Sequence[Sequence[str]]) -> str:
    """Return the words that all names begin with; none is left without a word of its own."""
    words = takewhile(lambda each: len({*each}) == 1, zip(*(name[:-1] for name in names), strict=False))
    return "-".join(each[0] for each in words)


def _verdict(document: Document, what: str) -> Document:
    opened = [each for each in document["findings"] if not each["reason"]]
    return {
        "sentence": what,
        "cost": document["cost"]["headline"],
        "open": dict(Counter(each["severity"] for each in opened)),
        "accepted": len(document["findings"]) - len(opened),
        "public": [
            f"{each['what']}: {each['ports']}, for {each['who']} ({each['why']})"
            for each in document["network"]["openings"]
        ],
        "kept": [each["name"] for each in document["data"] if each["is_kept"]],
        "lost": [each["name"] for each in document["data"] if not each["is_kept"]],
        "unencrypted": [each["name"] for each in document["data"] if not each["is_encrypted"]],
    }


def _stack(stack: Any) -> Document:
    kinds = Counter(each.type for each in stack.resources.values())
    return {
        "id": stack.id,
        "name": stack.name,
        "region": stack.region,
        "account": stack.account,
        "file": stack.file,
        "sha256": stack.digest,
        "resources": sum(kinds.values()),
        "types": dict(sorted(kinds.items(), key=lambda each: (-each[1], each[0]))),
    }


def _network(network: Network) -> Document:
    path = {key: each.path for key, each in network.graph.resources.items()}
    return {
        "openings": [
            {
                "what": each.resource.path,
                "type": each.resource.type,
                "ports": each.ports,
                "who": each.who,
                "why": each.why,
            }
            for each in openings(network)
        ],
        "exits": [{"who": each.who, "where": each.where, "place": each.resource.path} for each in exits(network)],
        "rules": [
            {
                "group": path[rule.group],
                "direction": "in" if rule.inward else "out",
                "ports": rule.ports,
                "peer": path.get(rule.peer, rule.peer),
                "sentence": network.sentence(rule),
                "why": rule.description,
                "explanation": EFA if network.explains_efa(rule) else "",
            }
            for rule in network.rules
        ],
        "members": [
            {
                "what": each.resource.path,
                "type": each.resource.type,
                "groups": [path[key] for key in each.groups],
                "subnets": [path[key] for key in each.subnets],
            }
            for each in network.members
        ],
        "ways": [*_ways(network)],
    }


def _ways(network: Network) -> Iterator[Document]:
    """Yield who can reach whom; of more than a page can show, none, which the page says."""
    if len(network.members) > _MANY:
        return
    for start, end in _pairs(network.members):
        for way in network.ways(start, end):
            yield {
                "from": start.resource.path,
                "to": end.resource.path,
                "protocol": way.protocol,
                "first": way.first,
                "last": way.last,
                "ports": way.ports,
                "through": " ".join(dict.fromkeys((network.sentence(way.out), network.sentence(way.into)))),
            }


def _pairs(members: Sequence[Member]) -> Iterator[tuple[Member, Member]]:
    for start in members:
        yield from ((start, end) for end in members)


def _permissions(graph: Graph, permissions: Permissions, kept: Sequence[Store], found: Sequence[Finding]) -> Document:
    known = [each.resource for each in kept] + graph.of_type("AWS::SNS::Topic")
    return {
        "roles": [_role(each, found) for each in permissions.roles],
        "access": [
            {
                "store": each.path,
                "type": each.type,
                "readers": [*map(_holder, permissions.readers(each))],
                "writers": [*map(_holder, permissions.writers(each))],
            }
            for each in known
            if each.type in ACCESS
        ],
    }


def _role(role: Role, found: Sequence[Finding]) -> Document:
    return {
        "name": role.resource.path,
        "trusts": [*role.trusts],
        "grants": [_grant(each, found) for each in role.grants],
        "managed": [*role.managed],
        "escalations": [*role.escalations],
    }


def _grant(grant: Grant, found: Sequence[Finding]) -> Document:
    return {
        "effect": grant.effect,
        "actions": [*grant.actions],
        "resources": [*grant.resources],
        "condition": grant.condition,
        "source": grant.source,
        "wildcards": [*grant.wildcards],
        "reasons": _reasons(grant, found),
    }


def _reasons(grant: Grant, found: Sequence[Finding]) -> list[str]:
    """Return why the wildcards of a grant are accepted, as cdk-nag's rule on them was answered."""
    rules = {
        f"{_WILDCARDS}[{'Resource::*' if each == 'any resource' else f'Action::{each}'}]" for each in grant.wildcards
    }
    return [
        *dict.fromkeys(
            each.reason for each in found if each.reason and each.place == grant.source and rules & {*each.rules}
        )
    ]


def _holder(holder: Holder) -> Document:
    return {"role": holder.name, "trusts": [*holder.trusts], "part": holder.part}


def _store(store: Store) -> Document:
    return {
        "name": store.resource.path,
        "stack": store.resource.stack,
        "type": store.resource.type,
        "kind": store.kind,
        "encryption": store.encryption,
        "retention": store.retention,
        "backup": store.backup,
        "on_destroy": store.on_destroy,
        "on_replace": store.on_replace,
        "is_kept": store.is_kept,
        "is_encrypted": store.is_encrypted,
    }


def _finding(finding: Finding) -> Document:
    return {
        "severity": finding.severity,
        "rules": [*finding.rules],
        "tools": [*finding.tools],
        "place": finding.place,
        "resource": finding.key,
        "type": finding.type,
        "text": finding.text,
        "reason": finding.reason,
        "written": finding.written,
        "made": finding.made,
    }


def _conditions(assembly: Assembly) -> list[str]:
    names = [
        f"{stack.id}: condition {name}" for stack in assembly.stacks for name in stack.template.get("Conditions") or {}
    ]
    return (
        [f"conditions, which are decided at deployment; both branches of lists are shown: {', '.join(names)}"]
        if names
        else []
    )


def _elsewhere(assembly: Assembly) -> list[str]:
    types = {each.type for each in assembly.resources.values()}
    return [said for kind, said in _MADE_ELSEWHERE.items() if kind in types]


def _unjudged(network: Network) -> list[str]:
    count = len(network.members)
    found = []
    if count > _MANY:
        found.append(f"who can reach whom among {count:,} members of security groups: more than {_MANY}")
    if types := unjudged(network.graph):
        found.append(f"ways in by types that are not known here: {', '.join(types)}")
    return found


def _provenance(assembly: Assembly, tools: Sequence[str], not_run: Mapping[str, str]) -> Document:
    import cdk_trainyard  # noqa: PLC0415  the version only

    return {
        "trainyard": cdk_trainyard.__version__,
        "tools": [*tools],
        "libraries": libraries_of(assembly),
        "not_run": dict(sorted(not_run.items())),
        "command": f"write_review({assembly.folder.name!r}, …)",
        "validated": assembly.validation is not None or bool(tools),
        "templates": [{"file": each.file, "sha256": each.digest} for each in assembly.stacks],
    }
