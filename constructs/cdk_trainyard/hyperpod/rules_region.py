"""Whether a Region has HyperPod clusters, and sells their types: pure functions, silent about Tokens.

A type that neither AWS's price list nor EC2 has in a Region is not there, unless a training plan has it reserved. Where
one of both has it, it is taken: each has gaps, and both have a date.
"""

from collections.abc import Iterator

from cdk_trainyard.data_files import load
from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import Problem, either, option, shown
from cdk_trainyard.tokens import unresolved


def regions_with_clusters() -> list[str]:
    """Return the Regions where CloudFormation makes clusters, as far as its provider schemas are known."""
    found: list[str] = load("hyperpod", "regions")["with"]
    return found


def region_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that CloudFormation makes clusters in the Region, as far as its provider schemas are known."""
    known, region = load("hyperpod", "regions"), cluster.facts.environment.region
    if region is None or region not in known["without"]:
        return
    partition = Environment(region=region).partition
    others = [each for each in known["with"] if Environment(region=each).partition == partition]
    others.sort(key=lambda each: each.partition("-")[0] != region.partition("-")[0])  # its own continent's first
    nowhere = f"it does in none of the partition {partition}; use ParallelCluster or a fleet"
    remedy = f"use {either(others)}" if others else nowhere
    text = f"must be a Region where CloudFormation makes HyperPod clusters (as of {known['date']}), got {shown(region)}"
    yield Problem(("region",), f"{text}; {remedy}")


def sold_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that the Region has one of the types of each group, where no training plan reserves them."""
    region = cluster.facts.environment.region
    for group in cluster.groups:
        plan, names = group.spec.training_plan_arn, group.spec.names_of_types
        if region is None or plan is not None or not names or len(group.types) < len(names):
            continue
        if all(_is_missing(known, region) for known in group.types):
            name = "instance_types" if group.spec.instance_type is None else "instance_type"
            yield Problem((*group.at, name), _missing_text(group, region))


def is_unpriced(group: ResolvedGroup, region: str | None) -> bool:
    """Return whether the price list lacks the one type of a group, of which template validation says E3644.

    Args:
        group: The group.
        region: The Region. None: not known.
    """
    one = group.spec.instance_type
    if one is None or region is None or unresolved(one):
        return False
    return any(region in _priced() and region not in _priced_in(known) for known in group.types)


def _is_missing(known: InstanceType, region: str) -> bool:
    listed = region in _priced() and any(known.sagemaker_name in row["types"] for row in _prices())
    return listed and region not in _priced_in(known) and not known.offered_in(region)


def _missing_text(group: ResolvedGroup, region: str) -> str:
    got = ", ".join(shown(said if isinstance(said, str) else said.name) for said in group.spec.names_of_types)
    data = load("hyperpod", "regions")
    there = {place for known in group.types for place in (*_priced_in(known), *known.zones)} & set(data["with"])
    plan = any(known.sagemaker_name in limits.PLAN_TYPES for known in group.types)
    remedies = [f"it is in {either(sorted(there))}"] if there else []
    remedies += [f"a plan may reserve it, give its {option('training_plan_arn')}"] if plan else []
    return "; ".join([f"must be a type that HyperPod has in {region} (as of {data['date']}), got {got}", *remedies])


def _prices() -> list[dict[str, list[str]]]:
    rows: list[dict[str, list[str]]] = load("hyperpod", "regions")["prices"]
    return rows


def _priced() -> set[str]:
    """Return the Regions that have a price list and clusters."""
    return {region for row in _prices() for region in row["regions"]} & set(load("hyperpod", "regions")["with"])


def _priced_in(known: InstanceType) -> list[str]:
    return next((row["regions"] for row in _prices() if known.sagemaker_name in row["types"]), [])
