"""Which resources CloudFormation replaces when templates change, and what follows from that for what refers to them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.data_files import load
from cdk_trainyard.report.nested import at, properties_of

Template = Mapping[str, Any]
Replacing = Callable[[str, Template, Any], list[str]]
"""From a type, its properties before and after, to those that replace the resource."""
_LAUNCH_TEMPLATE, _DATA, _VERSION = "AWS::EC2::LaunchTemplate", "LaunchTemplateData", "LatestVersionNumber"
_FSX = "AWS::FSx::FileSystem"
_ALSO = {
    _FSX: (
        "StorageType",
        "LustreConfiguration/DeploymentType",
        "LustreConfiguration/DriveCacheType",
        "LustreConfiguration/EfaEnabled",
        "LustreConfiguration/ImportPath",
        "LustreConfiguration/ExportPath",
        "LustreConfiguration/ImportedFileChunkSize",
        "OpenZFSConfiguration/DeploymentType",
    ),
    "AWS::DynamoDB::Table": ("KeySchema", "LocalSecondaryIndexes"),
    "AWS::EC2::VPCGatewayAttachment": ("InternetGatewayId",),
    "AWS::RDS::DBInstance": ("Engine",),
}
"""What the schema does not say. Source: AWS CloudFormation User Guide, the pages of these types, of FSx with those of
its LustreConfiguration and OpenZFSConfiguration: "Update requires: Replacement" (read 2026-11)."""


def replacing(kind: str, before: Template, after: Any) -> list[str]:
    """Return the properties that replace a resource, as CloudFormation's provider schemas say.

    Args:
        kind: Its type.
        before: Its properties before.
        after: Its properties after.
    """
    return _differing(before, after, [*_facts(kind).get("always", ()), *_ALSO.get(kind, ())])


def perhaps_replacing(kind: str, before: Template, after: Any) -> list[str]:
    """Return the properties that replace a resource under conditions that the schemas do not say.

    Args:
        kind: Its type.
        before: Its properties before.
        after: Its properties after.
    """
    return _differing(before, after, _facts(kind).get("maybe", ()))


INSTANCE_ENDS: Final = (
    "instance is terminated, with its jobs and all that its root volume holds: let jobs end, and save what is to stay"
)
"""What becomes of one that goes, be it in the place of another or for good."""
MEANWHILE = {
    "AWS::ElasticLoadBalancingV2::TargetGroup": "the load balancer forwards to an empty one, and answers 503, until "
    "targets are registered there and healthy: as long as new tasks take to start",
    "AWS::AutoScaling::AutoScalingGroup": "every node of the former group ends, with what runs there and what is on "
    "their own disks: let jobs end, and save what is to stay",
    "AWS::EC2::Instance": f"the former {INSTANCE_ENDS}",
}
"""What the replacement of a type costs while it lasts. Sources: AWS CloudFormation User Guide, "Update behaviors of
stack resources" (what refers to it is changed to the new one); User Guide for Application Load Balancers, "Troubleshoot
your Application Load Balancers", HTTP 503; Amazon EC2 User Guide, "Preserve data when an instance is terminated" (the
root volume goes by default). Read 2026-11-28."""


def stays(body: Template) -> str:
    """Return what becomes of a resource of a template that leaves its stack and is kept.

    Source: Extension development for CloudFormation, "Contract tests for resource types", contract_create_create: a
    second one of the same identifier fails with AlreadyExists (read 2026-11-28).

    Args:
        body: The resource.
    """
    name = _name(body)
    if not name:
        return "stays in the account, and in no stack"
    return (
        f"stays in the account as {name}, and in no stack; delete or import it before it is added again: "
        "CloudFormation makes no second one of a name"
    )


def _name(body: Template) -> str:
    """Return the name that a resource was given, ``…`` for what is known at deployment only; nothing without one."""
    match at(body, "Properties", *_facts(body["Type"]).get("name", ("",))):
        case str(name):
            return name
        case {"Fn::Join": [str(between), list(parts)]}:
            return between.join(part if isinstance(part, str) else "…" for part in parts)
        case _:
            return ""


def _facts(kind: str) -> Mapping[str, Sequence[str]]:
    found: Mapping[str, Sequence[str]] = load("report", "create_only")["types"].get(kind, {})
    return found


def _differing(before: Template, after: Any, paths: Sequence[str]) -> list[str]:
    return sorted({path.split("/")[0] for path in paths if at(before, *path.split("/")) != at(after, *path.split("/"))})


def replaced(
    old: Mapping[str, Template], new: Mapping[str, Template], replaces: Replacing = replacing
) -> dict[tuple[str, str], list[str]]:
    """Return what is replaced, and by which properties: round by round, until no reference changes any more.

    A launch template whose data changes has another version without being replaced: ``NAME.LatestVersionNumber``.
    Source: AWS CloudFormation User Guide, AWS::EC2::LaunchTemplate, "Update requires" and "Return values" (read
    2026-11-28).

    Args:
        old: Stack to its template, before.
        new: Stack to its template, after.
        replaces: Which properties replace a resource. Default - what CloudFormation's schemas say.
    """
    exported = {name: (stack, value) for stack, template in new.items() for name, value in exports(template).items()}
    found: dict[tuple[str, str], list[str]] = {}
    while True:
        more = {
            (stack, called): keys
            for stack, template in new.items()
            for name, after in resources(template).items()
            if (before := resources(old.get(stack, {})).get(name)) is not None and before["Type"] == after["Type"]
            for called, keys in _kept(name, before, marked(properties_of(after), stack, found, exported), replaces)
        }
        if more == found:
            return found
        found = more


def _kept(name: str, before: Template, after: Any, replaces: Replacing) -> Iterator[tuple[str, list[str]]]:
    """Yield what changes for those who refer to a resource that is there before and after, and by which properties."""
    keys = replaces(before["Type"], properties_of(before), after)
    if keys:
        yield name, keys
    if before["Type"] == _LAUNCH_TEMPLATE and (keys or at(before, "Properties", _DATA) != at(after, _DATA)):
        yield f"{name}.{_VERSION}", keys or [_DATA]


def newer_versions(found: Mapping[tuple[str, str], list[str]]) -> dict[tuple[str, str], list[str]]:
    """Return of what is replaced the versions of launch templates alone.

    Args:
        found: What is replaced.
    """
    return {key: keys for key, keys in found.items() if key[1].endswith(f".{_VERSION}")}


def marked(
    value: Any, stack: str, found: Mapping[tuple[str, str], list[str]], exported: Mapping[str, tuple[str, Any]]
) -> Any:
    """Return a value in which a reference to what is replaced differs from the same reference before.

    Args:
        value: The value.
        stack: Its stack.
        found: What is replaced.
        exported: Name of an export to its stack and value.
    """
    match value:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), _]} if (stack, name) in found:
            return {"replaced": value}
        case {"Fn::GetAtt": [str(name), str(attribute)]} if (stack, f"{name}.{attribute}") in found:
            return {"replaced": value}
        case {"Fn::ImportValue": str(name)} if name in exported:
            owner, inner = exported[name]
            other = {key: each for key, each in exported.items() if key != name}  # an export of itself ends here
            changed = marked(inner, owner, found, other)
            return value if changed == inner else {"replaced": value}
        case Mapping():
            return {key: marked(inner, stack, found, exported) for key, inner in value.items()}
        case list():
            return [marked(inner, stack, found, exported) for inner in value]
        case _:
            return value


def exports(template: Template) -> dict[str, Any]:
    """Return what a template exports: name to value.

    Args:
        template: The template.
    """
    outputs = template.get("Outputs")
    return {
        output["Export"]["Name"]: output.get("Value")
        for output in (outputs.values() if isinstance(outputs, Mapping) else ())
        if isinstance(at(output, "Export", "Name"), str)
    }


def resources(template: Template) -> Mapping[str, Template]:
    """Return a template's resources.

    Args:
        template: The template.
    """
    found = template.get("Resources", {})
    return {
        name: each for name, each in found.items() if isinstance(each, Mapping) and isinstance(each.get("Type"), str)
    }
