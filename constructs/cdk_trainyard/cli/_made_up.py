"""What a deployment file names as existing at AWS: found in its text, and made up for an AWS on this machine."""

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import click

from cdk_trainyard.deployment._document import read_document
from cdk_trainyard.deployment._load import read_text
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.environment import ACCOUNT
from cdk_trainyard.local.strings import strings

_LARGEST, _USUAL = 16, 20  # prefixes: of a VPC at most, and of a subnet whose block nobody says


def content(deployment: Path) -> Mapping[str, Any]:
    """Return what a deployment file says; nothing when it cannot be read, which the app says in the first command.

    Args:
        deployment: The file.
    """
    try:
        return read_document(read_text(deployment), str(deployment)).data
    except ConfigurationError:
        return {}


def arns(value: Any) -> Iterator[str]:
    """Yield every ARN in a deployment file."""
    return (text for text in strings(value) if text.startswith("arn:"))


def key_pairs(value: Any) -> Iterator[str]:
    """Yield the name of every SSH key pair in a deployment file."""
    if isinstance(value, Mapping):
        yield from (str(inner) for key, inner in value.items() if key == "key_pair")
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from key_pairs(inner)


def network(value: Any, at: str) -> list[str]:
    """Return what makes the VPC of a deployment file that exists already, with its subnets and routes.

    Args:
        value: The section ``network``.
        at: How the ARN of a thing of EC2 begins there.
    """
    if not isinstance(value, Mapping) or "vpc_id" not in value:
        return []
    vpc, gateway = str(value["vpc_id"]), f"igw-{str(value['vpc_id']).removeprefix('vpc-')}"
    public, private = list(value.get("public_subnets") or ()), list(value.get("service_subnets") or ())
    subnets = {row["subnet_id"]: row for row in [value["accelerator_subnet"], *private, *public]}
    blocks = _blocks(value.get("cidr"), {name: row.get("cidr") for name, row in subnets.items()})
    made = [f"vpc/{vpc},CidrBlock={blocks[None]}", *([f"internet-gateway/{gateway},VpcId={vpc}"] if public else [])]
    made += [
        f"subnet/{name},VpcId={vpc},CidrBlock={blocks[name]},AvailabilityZone={row['zone']}"
        for name, row in subnets.items()
    ]
    tables: dict[str, list[str]] = {}
    for name, row in subnets.items():
        number = str(name).removeprefix("subnet-")
        tables.setdefault(str(row.get("route_table_id") or f"rtb-{number}"), []).append(str(name))
    open_ones = {row["subnet_id"] for row in public}
    for table, names in tables.items():
        way = f",GatewayId={gateway}" if open_ones & set(names) else ""
        made.append(f"route-table/{table},VpcId={vpc},SubnetIds={','.join(names)}{way}")
    if group := value.get("security_group_id"):
        made.append(f"security-group/{group},VpcId={vpc}")
    return [f"{at}:{thing}" for thing in made]


def _blocks(vpc: str | None, said: Mapping[str, str | None]) -> dict[str | None, str]:
    """Return the block of each subnet, and under None that of the VPC: free ones where the file says none."""
    known = [ip_network(block) for block in said.values() if block]
    whole = ip_network(vpc or (known[0].supernet(new_prefix=_LARGEST) if known else "10.0.0.0/16"), strict=False)
    free = (
        block
        for block in whole.subnets(new_prefix=max(_USUAL, whole.prefixlen))
        if not any(block.overlaps(each) for each in known)
    )
    return {None: str(whole), **{name: block or str(next(free, whole)) for name, block in said.items()}}


def account_of(file: Mapping[str, Any], named: list[str]) -> str:
    """Return the account that the deployment is for, as far as the file tells: its own words, or else its ARNs.

    Args:
        file: What the file says.
        named: The ARNs in it.
    """
    numbers = [str(file["account"])] if "account" in file else [arn.split(":")[4] for arn in named]
    return next(filter(None, numbers), ACCOUNT)


def make_existing(aws: LocalAws, named: list[str], *, quiet: bool = False) -> None:
    """Make up what the deployment names as existing; say what cannot be.

    Args:
        aws: Where.
        named: The ARNs.
        quiet: Whether nothing goes to standard output.
    """
    click.echo("\n== Making up what exists already", err=quiet)
    for arn in named:
        try:
            aws.add_existing(arn)
            click.echo(arn, err=quiet)
        except ValueError as problem:
            click.echo(f"not made up: {problem}", err=quiet)
