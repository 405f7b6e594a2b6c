"""What changes mean to what runs, where CloudFormation itself makes them without a word.

Sources: botocore 1.44.5, ``ec2/2016-11-15``, DeletePlacementGroup (its instances must be terminated before),
``autoscaling/2011-01-01``, Tag (PropagateAtLaunch is of new instances), and ``elasticloadbalancingv2/2015-12-01``,
DeleteLoadBalancer ("You can't delete a load balancer if deletion protection is enabled"); Amazon EC2 Auto Scaling User
Guide, "Tag Auto Scaling groups and instances"; Amazon ECS Developer Guide, "Service definition parameters"
(minimumHealthyPercent); AWS CloudFormation User Guide, "UpdatePolicy attribute" (which changes of a group replace its
instances), AWS::AutoScaling::AutoScalingGroup (a group that is deleted terminates its instances) and "Stack status
codes" (what a clean-up cannot delete, the update leaves). Read 2026-11-28.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.report.nested import at, properties_of, references
from cdk_trainyard.report.replacement import INSTANCE_ENDS, perhaps_replacing, resources
from cdk_trainyard.report.updates.effects import Effect, PlanRow
from cdk_trainyard.report.updates.kept import kept
from cdk_trainyard.report.updates.meaning import Meaning, ResourceChange, Rule, Template, together
from cdk_trainyard.report.words import counted, joined

_OWN_TAGS: Final = "trainyard:"
_MEMBERS: Final = (
    "nodes that run keep their former tags, and new ones, which find the others by theirs, do not find them: let jobs "
    "end and scale the fleet to none before, and up again after"
)
_KEPT_TAGS: Final = "nodes that run keep their former tags"
_WHICH: Final = "with what runs there; which, nobody can say: let jobs end first"
_GONE: Final = "with what runs there and what is on their own disks: let jobs end, and save what is to stay"
_OF_NODES: Final = frozenset({"LaunchTemplate", "MixedInstancesPolicy", "PlacementGroup", "VPCZoneIdentifier"})
_ROLLING: Final = (
    "CloudFormation replaces every node: at most {} at a time, and at least {} stay in service; what runs on a node "
    "ends with it, and tasks start again on others"
)
_KEPT_TEMPLATE: Final = "nodes that run stay as they are; new ones are made by what is new"
_VERSION: Final = "a new version: nodes that run keep the one they were made by, unless an UpdatePolicy replaces them"
_IN_THE_GROUP: Final = (
    "EC2 deletes no placement group that instances stand in, and the update leaves it in the account: let jobs end and "
    "scale to none before, or delete the group when its nodes are gone"
)
_PROTECTED: Final = (
    "the former one is protected: CloudFormation cannot delete it, and leaves it in the account, with its bill; deploy "
    "it with 'deletion_protection: false' first"
)
_PROTECTION: Final = "deletion_protection.enabled"
_NOBODY: Final = (
    "ECS may end all tasks before new ones are healthy, as minimumHealthyPercent is 0: nobody is answered while these "
    "start and load"
)
_NOT_SAID: Final = (
    "UpdateCluster takes another {}, and no guide says what that does to a cluster that runs; a second one beside it, "
    "with another id and name, is certain"
)
_SQUASHED: Final = (
    "root squash stays on as it was set: deploy 'root_squash: {uid: 0, gid: 0}' first, which switches it off"
)


def with_running(
    rows: Iterable[PlanRow], old: Mapping[str, Template], new: Mapping[str, Template]
) -> Iterator[PlanRow]:
    """Yield rows, with what those of them mean to what runs, or is kept, that say nothing else.

    Args:
        rows: What happens to resources.
        old: Stack to its template, before.
        new: Stack to its template, after.
    """
    before, after = ({stack: resources(template) for stack, template in side.items()} for side in (old, new))
    clusters = any(each["Type"] == PARALLELCLUSTER_TYPE for stack in after.values() for each in stack.values())
    for row in rows:
        stack, name = row.key
        found = None
        if name in before.get(stack, {}) and not row.remedy:
            found = _meaning(
                ResourceChange(
                    name=name,
                    before=before[stack],
                    after=after.get(stack, {}),
                    effect=row.effect,
                    properties=row.properties,
                    has_parallelcluster=clusters,
                )
            )
        yield replace(row, effect=max(row.effect, found[0]), remedy=found[1]) if found else row


def _meaning(change: ResourceChange) -> Meaning | None:
    kind = change.before[change.name]["Type"]
    found = together([*(rule(change) for rule in _RULES.get(kind, ())), kept(kind, change)])
    return found or (_perhaps(kind, change) if change.stays else None)


def _perhaps(kind: str, change: ResourceChange) -> Meaning | None:
    before, after = (properties_of(side[change.name]) for side in (change.before, change.after))
    keys = perhaps_replacing(kind, before, after)
    return (Effect.UNCERTAIN, f"{joined(keys)} may replace it: AWS's page of the type says when") if keys else None


def _group_removed(change: ResourceChange) -> Meaning | None:
    if not change.is_removed:
        return None
    (count, _), (most, _) = change.numbers("DesiredCapacity"), change.numbers("MaxSize")
    nodes = most if count is None else count
    return (Effect.DRAIN, f"its nodes end, {_GONE}") if nodes != 0 else None


def _instance_removed(change: ResourceChange) -> Meaning | None:
    if not change.is_removed:
        return None
    return Effect.LOST, f"the {INSTANCE_ENDS}"


def _fewer(change: ResourceChange) -> Meaning | None:
    if not change.stays:
        return None
    for key, what in (("DesiredCapacity", "{}"), ("MaxSize", "up to {}")):
        one, other = change.numbers(key)
        if one is not None and other is not None:
            less = one - other
            ending = f"{what.format(counted(less, 'node'))} {'ends' if less == 1 else 'end'}"
            return (Effect.DRAIN, f"{ending}, {_WHICH}") if less > 0 else None
    return None


def _rolling(change: ResourceChange) -> Any:
    """Return what replaces the nodes of a group that changes in place; None where they stay."""
    is_of_nodes = change.stays and bool(change.properties & _OF_NODES)
    return at(change.after[change.name], "UpdatePolicy", "AutoScalingRollingUpdate") if is_of_nodes else None


def _rolled(change: ResourceChange) -> Meaning | None:
    """An update policy replaces nodes where their launch template, subnets or placement group change."""
    if not change.stays or not change.properties & _OF_NODES:
        return None
    rolling = _rolling(change)
    if rolling is None:
        return Effect.FREE, _KEPT_TEMPLATE
    some, least = (rolling.get(key, default) for key, default in (("MaxBatchSize", 1), ("MinInstancesInService", 0)))
    return Effect.DRAIN, _ROLLING.format(some, least)


def _tags(change: ResourceChange) -> Meaning | None:
    if not change.stays or _rolling(change) is not None:
        return None
    one, other = map(_tags_of_nodes, change.both("Tags"))
    changed = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    if any(key.startswith(_OWN_TAGS) for key in changed):
        return Effect.DRAIN, _MEMBERS
    return (Effect.FREE, _KEPT_TAGS) if changed else None


def _tags_of_nodes(tags: Any) -> dict[str, Any]:
    return {str(tag["Key"]): tag.get("Value") for tag in tags or () if tag.get("PropagateAtLaunch") in (True, "true")}


def _placement_group(change: ResourceChange) -> Meaning | None:
    """Nodes stand in it whose template or group stays."""
    is_used = any(change.name in references(body) for name, body in change.before.items() if name in change.after)
    return (Effect.DRAIN, _IN_THE_GROUP) if is_used and not change.stays else None


def _launch_template(change: ResourceChange) -> Meaning | None:
    return (Effect.FREE, _VERSION) if "LaunchTemplateData" in change.properties and change.stays else None


def _load_balancer(change: ResourceChange) -> Meaning | None:
    attributes, _ = change.both("LoadBalancerAttributes")
    said = {at(each, "Key"): at(each, "Value") for each in attributes or ()}
    is_protected = str(said.get(_PROTECTION)).lower() == "true"
    return (Effect.FREE, _PROTECTED) if is_protected and not change.stays else None


def _task_definition(change: ResourceChange) -> Meaning | None:
    """A service that may be without tasks gets other ones."""
    services = [
        body
        for body in change.after.values()
        if body["Type"] == "AWS::ECS::Service" and change.name in references(at(body, "Properties", "TaskDefinition"))
    ]
    least = {str(at(each, "Properties", "DeploymentConfiguration", "MinimumHealthyPercent")) for each in services}
    return (Effect.INTERRUPTED, _NOBODY) if change.effect is Effect.REPLACED and "0" in least else None


def _hyperpod(change: ResourceChange) -> Meaning | None:
    keys = sorted(change.properties & {"NodeProvisioningMode", "Orchestrator"}) if change.stays else []
    return (Effect.UNCERTAIN, _NOT_SAID.format(joined(keys))) if keys else None


def _root_squash(change: ResourceChange) -> Meaning | None:
    return (Effect.FREE, _SQUASHED) if change.is_removed else None


_RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "AWS::AutoScaling::AutoScalingGroup": (_group_removed, _fewer, _rolled, _tags),
    "AWS::EC2::Instance": (_instance_removed,),
    "AWS::EC2::LaunchTemplate": (_launch_template,),
    "AWS::EC2::PlacementGroup": (_placement_group,),
    "AWS::ECS::TaskDefinition": (_task_definition,),
    "AWS::ElasticLoadBalancingV2::LoadBalancer": (_load_balancer,),
    "AWS::SageMaker::Cluster": (_hyperpod,),
    "Custom::LustreRootSquash": (_root_squash,),
}
