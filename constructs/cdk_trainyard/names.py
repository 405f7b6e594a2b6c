"""Names by convention, for what AWS lets its owner name; without them CloudFormation makes names up."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import jsii
from aws_cdk import Aspects, CfnResource, IAspect, Stack, TagManager
from constructs import Construct, IConstruct, IValidation

from cdk_trainyard.errors import ConfigurationError, raise_problems
from cdk_trainyard.problems import shown
from cdk_trainyard.tokens import unresolved

_PREFIX: Final = re.compile(r"(?!sg-|xn--|sthree-|amzn-s3-demo-)[a-z0-9][a-z0-9-]{0,29}")
"""What the name of everything below may begin with: a bucket's is the narrowest."""
_HIDDEN: Final = frozenset({"Default", "Resource"})
_TAG_PRIORITY: Final = 75
"""Above the tags that a resource is made with (50), below those of ``Tags.of(…).add`` (100)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Named:
    """Where CloudFormation takes a name, and which.

    Attributes:
        option: The property, as Python writes it. None: the tag ``Name``.
        longest: How many characters it may have.
        pattern: What it looks like.
    """

    option: str | None
    longest: int
    pattern: str


_NAMED: Final = {
    "AWS::AutoScaling::AutoScalingGroup": _Named(
        option="auto_scaling_group_name", longest=255, pattern=r"[\x21-\x39\x3b-\x7e]+"
    ),
    "AWS::CloudWatch::Dashboard": _Named(option="dashboard_name", longest=255, pattern=r"[A-Za-z0-9_-]+"),
    "AWS::EC2::LaunchTemplate": _Named(option="launch_template_name", longest=128, pattern=r"[a-zA-Z0-9().\-/_]{3,}"),
    "AWS::EC2::SecurityGroup": _Named(
        option="group_name", longest=255, pattern=r"(?!sg-)[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]+"
    ),
    "AWS::EC2::VPC": _Named(option=None, longest=256, pattern=r".+"),
    "AWS::ECS::Service": _Named(option="service_name", longest=255, pattern=r"[A-Za-z0-9_-]+"),
    "AWS::IAM::InstanceProfile": _Named(option="instance_profile_name", longest=128, pattern=r"[\w+=,.@-]+"),
    "AWS::IAM::ManagedPolicy": _Named(option="managed_policy_name", longest=128, pattern=r"[\w+=,.@-]+"),
    "AWS::IAM::Role": _Named(option="role_name", longest=64, pattern=r"[\w+=,.@-]+"),
    "AWS::S3::Bucket": _Named(
        option="bucket_name",
        longest=63,
        pattern=r"(?!.*\.\.)(?![0-9]{1,3}(\.[0-9]{1,3}){3}$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
    ),
}
"""Sources: CreateAutoScalingGroup, PutDashboard, CreateLaunchTemplate, CreateSecurityGroup, CreateService,
CreateInstanceProfile, CreatePolicy and CreateRole in the API references of the services; Amazon S3 user guide, "General
purpose bucket naming rules"; read 2026-11. Tests hold them to CloudFormation's schemas and botocore's models."""


@jsii.implements(IAspect)
class Naming:
    """Names by convention, for buckets, roles, policies, security groups, launch templates and what else has one.

    A policy of names is an aspect. ``names=`` of a construct gives names to all that the construct makes;
    ``Aspects.of(stack).add(names)`` also to what CDK makes beside it, as the functions of custom resources. What has a
    name already keeps it, so of several policies the outermost counts. A VPC gets the tag ``Name``.

    Named are ``AWS::S3::Bucket``, ``AWS::IAM::Role``, ``AWS::IAM::ManagedPolicy``, ``AWS::IAM::InstanceProfile``,
    ``AWS::EC2::SecurityGroup``, ``AWS::EC2::LaunchTemplate``, ``AWS::EC2::VPC``,
    ``AWS::AutoScaling::AutoScalingGroup``, ``AWS::ECS::Service`` and ``AWS::CloudWatch::Dashboard``.

    Another name is another resource: naming what exists replaces it, and a bucket that is retained stays behind with
    its data. CloudFormation never replaces a resource that has a name: another id or name is needed then.

    Args:
        prefix: What every name begins with, as ``acme-ml-``: 1 to 30 lower-case letters, digits and hyphens. The
            construct's path follows, and a hash of path, account and Region, as far as these are known; in a stack
            without ``env`` two deployments of one app would have the same names.
            Default - ``by`` is given.
        by: Returns the whole name of a resource. None: CloudFormation makes one up.
            Default - ``prefix`` is given.

    Raises:
        ConfigurationError: No convention is said, or two, or no name may begin with ``prefix``. A name that AWS does
            not take fails the synthesis, with the resource's path.
    """

    def __init__(self, prefix: str | None = None, *, by: Callable[[CfnResource], str | None] | None = None) -> None:
        raise_problems("Naming", _problems(prefix, by))
        self._by = by or (lambda resource: _conventional(str(prefix), resource, _place(resource)))

    def visit(self, node: IConstruct) -> None:
        """Give a resource its name, if its type has one.

        Args:
            node: Any construct.
        """
        if not isinstance(node, CfnResource):
            return
        kind = _NAMED.get(node.cfn_resource_type)
        if kind is None or _has_name(node, kind.option):
            return
        name = self._by(node)
        if name is None:
            return
        if not unresolved(name) and (len(name) > kind.longest or re.fullmatch(kind.pattern, name, re.ASCII) is None):
            node.node.add_validation(_Refused(f"{node.cfn_resource_type} cannot be named {shown(name)} by 'names'"))
            return
        _give(node, kind.option, name)


def named(scope: Construct, names: object) -> None:
    """Give names to all that is made in a construct.

    Args:
        scope: The construct.
        names: The names. None: CloudFormation makes them up.

    Raises:
        ConfigurationError: They are of another kind.
    """
    if names is None:
        return
    if not isinstance(names, Naming):
        text = f"'names' must be Naming(…), got {shown(names)} ({type(names).__name__})"
        raise ConfigurationError(scope.node.path, [text])
    Aspects.of(scope).add(names)


def fitting(name: str, longest: int) -> str:
    """Return a name as it is, or with a hash of it for what is too much of it.

    Args:
        name: The name. A Token stays.
        longest: How many characters it may have.
    """
    if unresolved(name) or len(name) <= longest:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: longest - len(digest) - 1]}-{digest}"


def _problems(prefix: object, by: object) -> list[str]:
    if (prefix is None) == (by is None):
        return ["'prefix' or 'by' must be given, and only one of them"]
    if isinstance(prefix, str) and _PREFIX.fullmatch(prefix) is None:
        must = "must be 1 to 30 lower-case letters, digits and hyphens, as 'acme-ml-', which names of buckets may begin"
        return [f"'prefix' {must} with, got {shown(prefix)}"]
    if prefix is not None and not isinstance(prefix, str):
        return [f"'prefix' must be text, got {shown(prefix)}"]
    if by is not None and not callable(by):
        return [f"'by' must be a function of a resource, got {shown(by)}"]
    return []


def _place(resource: CfnResource) -> Sequence[str]:
    stack = Stack.of(resource)
    return [text for text in (stack.account, stack.region) if not unresolved(text)]


def _conventional(prefix: str, resource: CfnResource, place: Sequence[str]) -> str:
    """Return prefix, path and hash, the path shortened in its middle where it is too long."""
    digest = hashlib.sha256("|".join([resource.node.path, *place]).encode()).hexdigest()[:8]
    parts = [part for part in resource.node.path.split("/") if part not in _HIDDEN]
    path = "-".join(re.sub(r"[^a-z0-9]", "", part.lower()) for part in parts).strip("-")
    room = _NAMED[resource.cfn_resource_type].longest - len(prefix) - len(digest) - 1
    if len(path) > room:
        path = path[: room // 2] + path[len(path) - (room - room // 2) :]
    return f"{prefix}{path}-{digest}"


def _has_name(resource: CfnResource, option: str | None) -> bool:
    # constructs of CDK give their resources a Token that stands for nothing
    given = getattr(resource, option, None) if option else None
    return given is not None and Stack.of(resource).resolve(given) is not None


def _give(resource: CfnResource, option: str | None, name: str) -> None:
    if option is None:
        tags = TagManager.of(resource)
        if tags is not None:
            tags.set_tag("Name", name, _TAG_PRIORITY)
    elif hasattr(resource, option):
        setattr(resource, option, name)
    else:  # CDK's own custom resources know no properties
        resource.add_property_override("".join(part.title() for part in option.split("_")), name)


@jsii.implements(IValidation)
class _Refused:
    """A name that AWS does not take: said when CDK validates the tree."""

    def __init__(self, text: str) -> None:
        self._text = text

    def validate(self) -> list[str]:
        return [self._text]
