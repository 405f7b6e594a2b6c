"""What ParallelCluster refuses because a thing that a configuration names is not there."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.custom_resources.request import Request

Config = Mapping[str, Any]


def place_problems(request: Request, config: Config) -> list[str]:
    """Return what a configuration names and nobody has made: subnets, groups, policies, scripts, file systems."""
    return [
        problem
        for section, look in _LOOKS.items()
        for name in dict.fromkeys(_values(config, section))
        if (problem := _missing(request, look, name))
    ]


def nodes(config: Config) -> list[Mapping[str, Any]]:
    """Return the sections of a configuration that describe nodes: head node, login pools, queues."""
    pools = (config.get("LoginNodes") or {}).get("Pools") or ()
    return [config["HeadNode"], *pools, *config["Scheduling"]["SlurmQueues"]]


def _script(request: Request, address: str) -> None:
    if address.startswith("s3://"):
        bucket, _, key = address.removeprefix("s3://").partition("/")
        request.client("s3").head_object(Bucket=bucket, Key=key)


Look = Callable[[Request, str], object]
_LOOKS: Mapping[str, Look] = {
    "SubnetId": lambda request, name: request.client("ec2").describe_subnets(SubnetIds=[name]),
    "SubnetIds": lambda request, name: request.client("ec2").describe_subnets(SubnetIds=[name]),
    "SecurityGroups": lambda request, name: request.client("ec2").describe_security_groups(GroupIds=[name]),
    "AdditionalSecurityGroups": lambda request, name: request.client("ec2").describe_security_groups(GroupIds=[name]),
    "Policy": lambda request, name: request.client("iam").get_policy(PolicyArn=name),
    "FileSystemId": lambda request, name: request.client("fsx").describe_file_systems(FileSystemIds=[name]),
    "Script": _script,
}


def _missing(request: Request, look: Look, name: str) -> str:
    try:
        look(request, name)
    except ClientError as error:
        return f"{name}: {error.response['Error'].get('Message', '')}"
    return ""


def _values(config: Config, key: str) -> Iterator[str]:
    parts = [*nodes(config), *(one for one in config.get("SharedStorage") or () if "FsxLustreSettings" in one)]
    for part in parts:
        yield from _under(part, key)


def _under(value: Any, key: str) -> Iterator[str]:
    """Yield what stands at ``key`` anywhere in ``value``."""
    if isinstance(value, list):
        for item in value:
            yield from _under(item, key)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name == key:
                yield from inner if isinstance(inner, list) else [inner]
            else:
                yield from _under(inner, key)
