"""Between a stack's record of a resource and what the steps of its type see."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.engine.state import Deployed, Region, Stack
from cdk_trainyard.local.errors import ResourceFailed
from cdk_trainyard.local.registry import type_of
from cdk_trainyard.local.resources.model import Host, Resource, ResourceType, Where, facts_of

_PROPAGATED = "AWS::AutoScaling::AutoScalingGroup"


class _NoHost:
    """For looking at a resource: nothing can be deployed."""

    def deploy_nested(self, resource: Resource) -> dict[str, Any]:
        """Refuse."""
        raise NotImplementedError(resource.where.logical_id)

    def delete_nested(self, stack_id: str) -> None:
        """Refuse."""
        raise NotImplementedError(stack_id)


_NO_HOST = _NoHost()


def where_is(region: Region, stack: Stack, logical_id: str, type_name: str, host: Host = _NO_HOST) -> Where:
    """Return who and where a resource is."""
    return Where(
        account=region.account,
        region=region.name,
        partition=region.partition,
        stack_id=stack.stack_id,
        stack_name=stack.name,
        logical_id=logical_id,
        type_name=type_name,
        host=host,
    )


def as_resource(region: Region, stack: Stack, deployed: Deployed, host: Host = _NO_HOST) -> Resource:
    """Return a deployed resource as steps see it."""
    return Resource(
        where_is(region, stack, deployed.logical_id, deployed.type_name, host),
        deployed.properties,
        physical_id=deployed.physical_id,
        result=deployed.result,
    )


def attribute_of(region: Region, stack: Stack, deployed: Deployed, attribute: str) -> Any:
    """Return an attribute of a deployed resource (``Fn::GetAtt``).

    Raises:
        ResourceFailed: The attribute does not exist, or is not emulated.
    """
    type_ = type_of(deployed.type_name)
    subject = as_resource(region, stack, deployed)
    reader = type_.attributes.get(attribute) or type_.attributes.get("*")
    if attribute in type_.attributes and reader:
        return reader(subject)
    if reader:
        found: Mapping[str, Any] = reader(subject)
        if attribute in found:
            return found[attribute]
        raise ResourceFailed(
            f"CustomResource attribute error: Vendor response doesn't contain {attribute} key in object "
            f"{deployed.physical_id}"
        )
    if attribute in deployed.properties:
        return deployed.properties[attribute]
    raise ResourceFailed(f"local AWS: the attribute {attribute} of {deployed.type_name} is not emulated")


def complete(
    type_: ResourceType,
    where: Where,
    wanted: Mapping[str, Any],
    stack_tags: Mapping[str, str],
    named: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Add what CloudFormation adds to the properties of a template.

    Args:
        type_: Type of the resource.
        where: Which resource.
        wanted: Evaluated properties of the template.
        stack_tags: Tags of the stack, which its resources inherit.
        named: A name that was made up before and stays.

    Returns:
        All properties, and those among them that were made up.
    """
    made_up = dict(named)
    if type_.named and type_.named.property not in wanted:
        made_up.setdefault(type_.named.property, type_.named.make(where))
    full = {**wanted, **{name: value for name, value in made_up.items() if name not in wanted}}
    facts = facts_of(type_.name)
    if stack_tags and facts and "Tags" in facts.properties:
        full["Tags"] = _with_tags(type_.name, wanted.get("Tags") or [], stack_tags)
    return full, made_up


def _with_tags(type_name: str, own: Any, inherited: Mapping[str, str]) -> Any:
    if isinstance(own, Mapping):
        return {**inherited, **own}
    present = {tag["Key"] for tag in own}
    extra = {"PropagateAtLaunch": True} if type_name == _PROPAGATED else {}
    more = [{"Key": key, "Value": value, **extra} for key, value in inherited.items() if key not in present]
    return [*own, *more]
