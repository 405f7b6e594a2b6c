"""Every ParallelCluster configuration of a synthesized app, with stand-ins for what exists only after a deployment.

A reference to a subnet becomes an id that looks like one, and the subnet's facts come along from its own resource, so
that ParallelCluster judges the network that will be there.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.partitions import domain_of, partition_of

RESOURCE_TYPE = PARALLELCLUSTER_TYPE
_ACCOUNT = "111111111111"
_SHAPES = {
    "AWS::EC2::Subnet": "subnet-{id}",
    "AWS::EC2::SecurityGroup": "sg-{id}",
    "AWS::EC2::VPC": "vpc-{id}",
    "AWS::EC2::KeyPair": "key-{id}",
    "AWS::EC2::PlacementGroup": "group-{id}",
    "AWS::EFS::FileSystem": "fs-{id}",
    "AWS::FSx::FileSystem": "fs-{id}",
    "AWS::FSx::Volume": "fsvol-{id}",
    "AWS::IAM::ManagedPolicy": "arn:{partition}:iam::{account}:policy/parallelcluster/{id}",
    "AWS::IAM::Role": "arn:{partition}:iam::{account}:role/parallelcluster/{id}",
    "AWS::KMS::Key": "arn:{partition}:kms:{region}:{account}:key/{id}",
    "AWS::S3::Bucket": "bucket-{id}",
    "AWS::SecretsManager::Secret": "arn:{partition}:secretsmanager:{region}:{account}:secret:{id}",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """One configuration.

    Attributes:
        stack: The stack it is in.
        logical_id: Its resource.
        name: The cluster's name.
        version: Version of its provider, or None when the provider is elsewhere.
        kept: Whether the cluster outlives its removal from the stack.
        config: The configuration, without references.
        subnets: Facts of the app's subnets by id.
    """

    stack: str
    logical_id: str
    name: str
    version: str | None
    kept: bool
    config: dict[str, Any]
    subnets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def clusters(outdir: Path) -> list[Found]:
    """Return the configurations of an app, in the order of stacks and resources.

    Args:
        outdir: Its ``cdk.out``; nested assemblies are looked into.
    """
    templates = templates_of(outdir)
    exports = dict(_exports(templates.values()))
    regions = _regions(outdir)
    found = []
    for path, template in templates.items():
        stack = stack_of(path)
        values = Values(template, exports, regions.get(stack, "us-east-1"))
        found += [_found(stack, name, resource, values, template) for name, resource in _custom_resources(template)]
    return found


def templates_of(outdir: Path) -> dict[Path, dict[str, Any]]:
    """Return the templates of an app's stacks by their files, in order; what is an asset is none.

    Args:
        outdir: Its ``cdk.out``; nested assemblies are looked into.
    """
    return {
        path: json.loads(path.read_text())
        for path in sorted(outdir.rglob("*.template.json"))
        if "asset." not in str(path.relative_to(outdir))
    }


def stack_of(template: Path) -> str:
    """Return the name of a template's stack.

    Args:
        template: Its file.
    """
    return template.name.removesuffix(".template.json")


class Values:
    """What the intrinsic functions of one template stand for.

    Args:
        template: The template.
        exports: Values of every export of the app.
        region: The Region.
    """

    def __init__(self, template: Mapping[str, Any], exports: Mapping[str, Any], region: str) -> None:
        self._resources: Mapping[str, Any] = template.get("Resources", {})
        self._exports = exports
        self.region = region
        self.partition = partition_of(region)
        self.subnets: dict[str, Mapping[str, Any]] = {}

    def of(self, value: Any) -> Any:
        """Return a value without references.

        Args:
            value: A value of the template.
        """
        if isinstance(value, list):
            return [self.of(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        name, argument = next(iter(value.items()), ("", None))
        function = self._functions().get(name) if len(value) == 1 else None
        return function(argument) if function else {key: self.of(inner) for key, inner in value.items()}

    def _functions(self) -> Mapping[str, Callable[[Any], Any]]:
        return {
            "Ref": self._reference,
            "Fn::GetAtt": lambda argument: self._attribute(*argument),
            "Fn::ImportValue": self._imported,
            "Fn::Join": lambda argument: argument[0].join(str(self.of(part)) for part in argument[1]),
            "Fn::Select": lambda argument: self.of(argument[1])[int(argument[0])],
            "Fn::Split": lambda argument: str(self.of(argument[1])).split(argument[0]),
            "Fn::Sub": lambda text: re.sub(r"\$\{([^}]+)\}", lambda match: str(self._reference(match.group(1))), text),
        }

    def _imported(self, name: str) -> Any:
        exported, elsewhere = self._exports[name]
        owner = Values(elsewhere, self._exports, self.region)
        result = owner.of(exported)
        self.subnets |= owner.subnets
        return result

    def _reference(self, name: str) -> Any:
        pseudo = {
            "AWS::Region": self.region,
            "AWS::Partition": self.partition,
            "AWS::AccountId": _ACCOUNT,
            "AWS::URLSuffix": domain_of(self.region),
            "AWS::StackName": "stack",
            "AWS::NoValue": None,
        }
        return pseudo[name] if name in pseudo else self._stand_in(name)

    def _attribute(self, name: str, attribute: str) -> Any:
        resource = self._resources.get(name, {})
        if attribute == "Arn" and resource.get("Type") == "AWS::S3::Bucket":
            return f"arn:{self.partition}:s3:::{self._stand_in(name)}"
        return self._stand_in(name)

    def _stand_in(self, name: str) -> str:
        resource = self._resources.get(name, {})
        shape = _SHAPES.get(resource.get("Type", ""), "value-{id}")
        digest = hashlib.sha256(name.encode()).hexdigest()[:17]
        value = shape.format(id=digest, partition=self.partition, region=self.region, account=_ACCOUNT)
        if resource.get("Type") == "AWS::EC2::Subnet":
            self.subnets[value] = self._subnet(resource.get("Properties", {}))
        return value

    def _subnet(self, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        zone = self.of(properties.get("AvailabilityZone") or properties.get("AvailabilityZoneId"))
        return {
            "zone": zone if isinstance(zone, str) else None,
            "public": bool(properties.get("MapPublicIpOnLaunch")),
            "cidr": self.of(properties.get("CidrBlock")),
        }


def _found(
    stack: str, logical_id: str, resource: Mapping[str, Any], values: Values, template: Mapping[str, Any]
) -> Found:
    properties = resource["Properties"]
    config = values.of(properties["ClusterConfiguration"])
    return Found(
        stack=stack,
        logical_id=logical_id,
        name=str(values.of(properties["ClusterName"])),
        version=_version(properties.get("ServiceToken"), template),
        kept=resource.get("DeletionPolicy") == "Retain",
        config=config,
        subnets=values.subnets,
    )


def _version(token: Any, template: Mapping[str, Any]) -> str | None:
    match token:
        case {"Fn::GetAtt": [str(name), _]}:
            url = json.dumps(template["Resources"].get(name, {}).get("Properties", {}).get("TemplateURL", ""))
            found = re.search(r"/parallelcluster/([0-9.]+)/", url)
            return found.group(1) if found else None
        case _:
            return None


def _custom_resources(template: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, resource in template.get("Resources", {}).items():
        if resource["Type"] == RESOURCE_TYPE:
            yield name, resource


def _exports(templates: Any) -> Iterator[tuple[str, tuple[Any, Mapping[str, Any]]]]:
    for template in templates:
        for output in template.get("Outputs", {}).values():
            if isinstance(name := output.get("Export", {}).get("Name"), str):
                yield name, (output["Value"], template)


def _regions(outdir: Path) -> dict[str, str]:
    return {stack: region for stack, (_, region) in identities(outdir).items() if region}


def identities(outdir: Path) -> dict[str, tuple[str, str]]:
    """Return what CloudFormation knows each stack by: its name and Region, which is nothing where nobody says.

    Args:
        outdir: An app's ``cdk.out``; nested assemblies are looked into.
    """
    found: dict[str, tuple[str, str]] = {}
    for path in outdir.rglob("manifest.json"):
        for name, artifact in json.loads(path.read_text()).get("artifacts", {}).items():
            if artifact.get("type") == "aws:cloudformation:stack":
                properties = artifact["properties"]
                stack = properties["templateFile"].removesuffix(".template.json")
                region = artifact.get("environment", "").rsplit("/", 1)[-1].replace("unknown-region", "")
                found[stack] = properties.get("stackName", name), region
    return found
