"""What nodes, builds and AWS's own agents fetch, and where it is: two data files, read and checked.

``data/addresses.json`` says each address once: hosts, services and buckets, and who signs. ``data/fetches.json`` says
who fetches from it, where that stands, when, and which option asks for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import did_you_mean, raise_problems
from cdk_trainyard.partitions import domain_of, partition_of

_HTTPS = 443
UNKNOWN_REGION = "unknown"
"""The Region of a bucket of which no page says it: then both ways to it must be open."""


class Signer(StrEnum):
    """Whose credentials a request carries: what a condition on ``aws:PrincipalAccount`` compares."""

    ACCOUNT = "account"
    """A role of this account."""
    SERVICE = "service"
    """An account of AWS's own, as in a presigned link."""
    NOBODY = "no"
    """Nobody: the request is anonymous, and has no ``aws:PrincipalAccount``."""


class Need(StrEnum):
    """How sure it is that a fetch is made."""

    ALWAYS = "always"
    """It is made."""
    MISSING = "missing"
    """It is made when the machine image lacks what it brings."""
    ASSUMED = "assumed"
    """No page of AWS says so for certain."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """A Region, with what belongs to its partition.

    Attributes:
        name: The Region.
        account: An account in it. Default: 123456789012.
    """

    name: str
    account: str = "123456789012"

    @property
    def partition(self) -> str:
        """Its partition."""
        return partition_of(self.name)

    @property
    def suffix(self) -> str:
        """The end of its services' names: ``AWS::URLSuffix``."""
        return domain_of(self.name)

    def write(self, text: str) -> str:
        """Return a text of the table with ``{region}``, ``{suffix}`` and the like put in."""
        return text.format(
            region=self.name,
            region_without_dashes=self.name.replace("-", ""),
            partition=self.partition,
            suffix=self.suffix,
            account=self.account,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One server that is asked: of the internet, of a service, or of S3. Texts hold ``{region}`` until written out.

    Attributes:
        host: Its name. ``*`` stands for what only AWS knows; words for a server of the internet that the machine's own
            configuration names.
        port: The port.
        service: The service of AWS, as its endpoint is called. None: none.
        bucket: The bucket. None: not of S3.
        bucket_region: The bucket's Region.
        key: A key in it, as they are.
        signed: Who signs.
        action: The action of IAM that the request is.
        resource: The resource that it is about. None: of a bucket the object; else anything.
        local: Whether it never leaves the machine.
        only: Regions in which it is asked. Empty: all.
        never: Regions in which it is not.
    """

    host: str
    port: int = _HTTPS
    service: str | None = None
    bucket: str | None = None
    bucket_region: str = "{region}"
    key: str = "key"
    signed: Signer = Signer.NOBODY
    action: str = "*"
    resource: str | None = None
    local: bool = False
    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "Target":
        """Return the target that a row of the table says."""
        bucket, service = row.get("bucket"), row.get("service")
        signed = Signer(row.get("signed", "account" if service else "no"))
        name = f"{bucket}.s3" if bucket else service
        return cls(
            host=row.get("host") or row.get("public") or f"{name}.{{region}}.{{suffix}}",
            port=row.get("port", _HTTPS),
            service=service,
            bucket=bucket,
            bucket_region=row.get("bucket_region", "{region}"),
            key=row.get("key", "key"),
            signed=signed,
            action=row.get("action", "s3:GetObject" if bucket else "*"),
            resource=row.get("resource"),
            local=row.get("local", False),
            only=tuple(row.get("in", ())),
            never=tuple(row.get("not_in", ())),
        )

    def asked_in(self, region: str) -> bool:
        """Return whether it is asked in a Region at all."""
        return region not in self.never and (not self.only or region in self.only)


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Something to be had, and the servers that are asked for it, each of them.

    Attributes:
        name: Its name in the table.
        what: What is had there.
        targets: The servers.
        source: Who says so.
        date: When that was read.
    """

    name: str
    what: str
    targets: tuple[Target, ...]
    source: str
    date: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetch:
    """Who fetches what.

    Attributes:
        room: The room of the house whose resources do.
        by: The file that does, from the root of the repository, or ``agent: <name>`` for a program of AWS's own.
        at: Where that runs: ``node``, ``head``, ``login``, ``host``, ``image-build``, or ``outside`` of the VPC.
        when: ``boot``, ``always``, ``job``, ``image build``, ``model build`` or ``deployment``.
        need: How sure it is.
        addresses: What is fetched.
        option: The option that asks for it. Empty: none has to.
        instead: The key that says another place.
        tool: The program of ``tools`` that takes its place.
        system: The package manager of the machine images that do so. Empty: all.
        source: Who says so; of a file, itself.
        date: When that was read.
    """

    room: str
    by: str
    at: str
    when: str
    need: Need
    addresses: tuple[Address, ...]
    option: str = ""
    instead: str = ""
    tool: str = ""
    system: str = ""
    source: str = ""
    date: str = ""


@cache
def addresses() -> Mapping[str, Address]:
    """Return every address by its name.

    Raises:
        ConfigurationError: A row lacks its source or its date.
    """
    rows: Mapping[str, Any] = load("reach", "addresses")["addresses"]
    raise_problems("reach/data/addresses.json", address_problems(rows))
    return {
        name: Address(
            name=name,
            what=row["what"],
            targets=tuple(Target.read(target) for target in row["targets"]),
            source=row["source"],
            date=row["date"],
        )
        for name, row in rows.items()
    }


@cache
def fetches() -> tuple[Fetch, ...]:
    """Return every fetch.

    Raises:
        ConfigurationError: A row names no address of the table, or an agent's lacks its source.
    """
    rows: Sequence[Mapping[str, Any]] = load("reach", "fetches")["fetches"]
    known = addresses()
    raise_problems("reach/data/fetches.json", fetch_problems(rows, known))
    return tuple(
        Fetch(**{**row, "need": Need(row["need"]), "addresses": tuple(known[name] for name in row["addresses"])})
        for row in rows
    )


def address_problems(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Check that each address says what it is, who says so and when; and each of its targets where it is."""
    problems = [
        f"address {name!r} must have {key!r}"
        for name, row in rows.items()
        for key in ("what", "source", "date")
        if not row.get(key)
    ]
    return problems + [
        f"address {name!r} has a target that says no 'host', 'public', 'service' or 'bucket'"
        for name, row in rows.items()
        for target in row["targets"]
        if not {"host", "public", "service", "bucket"} & target.keys()
    ]


def fetch_problems(rows: Sequence[Mapping[str, Any]], known: Mapping[str, Address]) -> list[str]:
    """Check that each fetch names addresses of the table, and that an agent's says who knows of it."""
    keys = {field.name for field in fields(Fetch)}
    problems = []
    for row in rows:
        who = f"the fetch of {row.get('by')!r}"
        problems += [f"{who} has {key!r}, which no fetch has" for key in row.keys() - keys]
        problems += [
            f"{who} names the address {name!r}, which the table lacks{did_you_mean(name, known)}"
            for name in row["addresses"]
            if name not in known
        ]
        if row["by"].startswith("agent: ") and not (row.get("source") and row.get("date")):
            problems.append(f"{who} must have 'source' and 'date'")
    return problems


def addresses_at(host: str, region: Region, bucket: str | None = None, *, signed: bool = False) -> list[Address]:
    """Return the addresses of the table that a request to a host may be for; none for one that no table knows.

    Args:
        host: The host that is asked.
        region: The Region of who asks.
        bucket: The bucket, where the request's path says it. Default - the host does, or there is none.
        signed: Whether a role of the account has signed it; then any bucket may be one of the account's.
    """
    return [
        address
        for address in addresses().values()
        if any(
            target.asked_in(region.name)
            and (signed or target.bucket is None or target.signed is not Signer.ACCOUNT)
            and fnmatchcase(host, region.write(target.host))
            and (
                target.bucket is None
                or target.signed is Signer.ACCOUNT
                or bucket in {None, region.write(target.bucket)}
            )
            for target in address.targets
        )
    ]
