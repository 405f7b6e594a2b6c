"""What data repositories, buckets and the accounting database may look like: pure functions, silent about Tokens."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import ceil
from typing import Any

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.options.stand_ins import StandIn
from cdk_trainyard.problems import At, Problem, Warned, either, option, shown, warned
from cdk_trainyard.storage.bucket_purpose import BucketPurpose
from cdk_trainyard.storage.lustre_facts import MAX_REPOSITORIES, REPOSITORY_VERSIONS
from cdk_trainyard.storage.spec import (
    AccountingSpec,
    BucketSpec,
    BucketsSpec,
    DataRepository,
    LustreSpec,
)
from cdk_trainyard.tokens import dummy, unresolved

_MAX_PATH = 4096
_MAX_PREFIX = 1024  # of a key of S3
_STANDS_FOR = re.compile(r"\*+|<[^>]*>|\$\w+")
"""What other programs put something else in the place of: wildcards, names for what is to be filled in, variables."""
_MAX_STORAGE_GB = 65536  # of RDS for MySQL and for MariaDB
_GROWTH_PERCENT = 110
"""Least maximum storage threshold of RDS, of the storage: "at least 10% more" ("Managing capacity
automatically with Amazon RDS storage autoscaling", Amazon RDS user guide, read 2026-11)."""
_GROWTH_GB = 10
"""What storage grows by at least, a tenth of it if that is more, and it stays below the threshold (the same page)."""
_ZONES_OF_A_SUBNET_GROUP = 2
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|0b[01]+|[0-9]+[eE][0-9].*")
_BACKUP_DAYS = range(1, 36)
"""Automatic backups of RDS; 0 would turn them off (RDS ``BackupRetentionPeriod``)."""


def repositories_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check the links of a file system to S3: whether it can have them, and each of them."""
    links = spec.data_repositories
    if not links or unresolved(links):
        return
    yield from linking_problems(spec)
    for index, link in enumerate(links):
        if not unresolved(link):
            yield from (Problem(("data_repositories", index, name), text) for name, text in repository_problems(link))
    yield from overlap_problems(links)


def linking_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check that such a file system can be linked to S3, and how often."""
    at, count = ("data_repositories",), len(spec.data_repositories)
    facts = spec.deployment.facts
    if facts is not None and not unresolved(facts) and not facts.repositories:
        yield Problem(at, f"cannot be linked to {spec.deployment.label}, got {count}")
    if not unresolved(spec.lustre_version) and spec.lustre_version not in REPOSITORY_VERSIONS:
        got = f"got {option('lustre_version')} {spec.lustre_version}; use '2.15'"
        yield Problem(at, f"need Lustre {' or '.join(REPOSITORY_VERSIONS)}, {got}")
    if count > MAX_REPOSITORIES:
        yield Problem(at, f"must be at most {MAX_REPOSITORIES}, got {count}; link a common parent directory")


def repository_problems(repository: DataRepository) -> Iterator[tuple[str, str]]:
    """Check the path, the prefix and the events of one link: yield options with what is wrong."""
    path, prefix = repository.file_system_path, repository.prefix
    if isinstance(path, str) and unresolved(path) and not dummy(path):
        yield "file_system_path", "must be known at synthesis, got a Token: it identifies the link; write it out"
    elif isinstance(path, str) and not unresolved(path) and not _is_directory(path):
        must = f"must be an absolute directory such as '/datasets', of at most {_MAX_PATH} characters"
        why = "it starts at the root of the file system, not at its mount point"
        yield "file_system_path", f"{must}, got {shown(path)}; {why}"
    if not unresolved(prefix) and (prefix.startswith(("/", "s3:")) or "//" in prefix):
        text = f"must be a key prefix such as 'tokenized/', got {shown(prefix)}; remove the bucket and extra slashes"
        yield "prefix", text
    elif not unresolved(prefix) and (part := next(filter(_STANDS_FOR.fullmatch, prefix.split("/")), None)):
        yield "prefix", f"must be a key prefix to the letter, got {shown(part)} in it, in whose place nothing is put"
    elif not unresolved(prefix) and ({".", ".."} & set(prefix.split("/")) or len(prefix) > _MAX_PREFIX):
        text = f"must have no part '.' or '..' and at most {_MAX_PREFIX} characters, got {shown(prefix)}"
        yield "prefix", text
    yield from _export_problems(repository)


def _export_problems(repository: DataRepository) -> Iterator[tuple[str, str]]:
    """Check that nobody but who may write the scripts that root runs writes them."""
    exported, bucket = repository.export_events, repository.bucket
    if exported and not unresolved(exported) and isinstance(bucket, StandIn) and bucket.value == BucketPurpose.SCRIPTS:
        why = "root runs what it holds, and every user of the file system would write there"
        yield "export_events", f"must be left out for the bucket {BucketPurpose.SCRIPTS}: {why}"


def _is_directory(path: str) -> bool:
    parts = path.removesuffix("/").split("/")[1:]
    sound = path.startswith("/") and all(part.strip() == part and part not in {"", ".", ".."} for part in parts)
    return (path == "/" or sound) and len(path) <= _MAX_PATH and path.isprintable()


def overlap_problems(repositories: Sequence[DataRepository]) -> Iterator[Problem]:
    """Check that no two links share a directory, or a prefix of a bucket, nor is one of them within another.

    Source: FSx for Lustre user guide, "Linking your file system to an Amazon S3 bucket" (read 2026-11).
    """
    for (_, one), (index, other) in combinations(enumerate(repositories), 2):
        if unresolved(one, other, one.file_system_path, other.file_system_path, one.prefix, other.prefix):
            continue
        if not (_is_directory(one.file_system_path) and _is_directory(other.file_system_path)):
            continue
        if _overlap(one.segments, other.segments):
            got = f"got {shown(one.file_system_path)} and {shown(other.file_system_path)}; use directories side by side"
            text = f"must not overlap that of another data repository, {got}"
            yield Problem(("data_repositories", index, "file_system_path"), text)
        if _identity(one.bucket) == _identity(other.bucket) and _overlap(_parts(one.prefix), _parts(other.prefix)):
            got = f"got {shown(one.prefix)} and {shown(other.prefix)}; use prefixes side by side, or one link"
            text = f"must not overlap that of another data repository on the bucket, {got}"
            yield Problem(("data_repositories", index, "prefix"), text)


def _overlap(one: Sequence[str], other: Sequence[str]) -> bool:
    depth = min(len(one), len(other))
    return one[:depth] == other[:depth]


def _parts(prefix: str) -> Sequence[str]:
    return [part for part in prefix.split("/") if part]


def _identity(bucket: Any) -> object:
    return bucket.value if isinstance(bucket, StandIn) or unresolved(bucket) else bucket.node.path


# ---------------------------------------------------------------- buckets
def bucket_problems(spec: BucketSpec) -> Iterator[Problem]:
    """Check what a bucket of a purpose can be given."""
    purpose, days = spec.purpose, spec.expire_after_days
    if unresolved(purpose):
        return
    if purpose is BucketPurpose.ACCESS_LOGS and spec.key is not None:
        why = "S3 delivers logs only under its own encryption"
        yield Problem(("key",), f"must be left out for {purpose.name}: {why}")
    if purpose is BucketPurpose.ACCESS_LOGS and spec.access_logs is not None:
        text = f"must be left out for {purpose.name}: its own log would log itself"
        yield Problem(("access_logs",), text)
    if days is not None and purpose.policy.expire_days is None:
        text = f"is for CHECKPOINTS and ACCESS_LOGS, got {shown(days)} for {purpose.name}; remove it"
        yield Problem(("expire_after_days",), text)


def buckets_problems(spec: BucketsSpec) -> Iterator[Problem]:
    """Check that what is said of buckets that are made here is of one that is, and what S3 asks of those of yours."""
    if spec.checkpoint_days is not None and spec.checkpoints is not None:
        text = f"must be left out with {option('checkpoints')}: the rules of your own bucket are yours"
        yield Problem(("checkpoint_days",), text)
    buckets = (spec.scripts, spec.datasets, spec.checkpoints, spec.models)
    if None not in buckets and not unresolved(*buckets):
        for name in ("key", "auto_delete", "access_logs"):
            if getattr(spec, name) not in (None, False):
                yield Problem((name,), "must be left out where every bucket exists: none is made", of_key=True)
    given: dict[object, str] = {}
    for name in ("scripts", "datasets", "checkpoints", "models", "access_logs"):
        bucket = getattr(spec, name)
        known = None if bucket is None or unresolved(bucket) else bucket.bucket_name
        if known is None or unresolved(known):
            continue
        if known in given:
            yield Problem((name,), f"must be a bucket of its own, got {known}, which is {option(given[known])} too")
        given[known] = name


# ---------------------------------------------------------------- accounting
def accounting_problems(spec: AccountingSpec) -> Iterator[Problem]:
    """Check engine, storage and backups of the accounting database."""
    if isinstance(spec.engine, str) and unresolved(spec.engine):
        yield Problem(("engine",), "must be known at synthesis, got a Token: each has its parameters; write it out")
    least, most = spec.storage_gb, spec.max_storage_gb
    if not unresolved(least, most) and most < ceil(least * _GROWTH_PERCENT / 100):
        growing = _growing_gb(least)
        fits = growing <= _MAX_STORAGE_GB
        remedy = growing if fits else f"at most {_MAX_STORAGE_GB * 100 // _GROWTH_PERCENT} for {option('storage_gb')}"
        text = f"must be a tenth more than {option('storage_gb')} {least}, got {most}; use {remedy}"
        yield Problem(("max_storage_gb",), text)
    yield from _class_problems(spec)
    yield from _schema_problems(spec)
    retention = spec.backup_retention
    days = None if unresolved(retention) else retention.to_seconds() / 86400
    if days is not None and days not in _BACKUP_DAYS:
        yield Problem(("backup_retention",), f"must be 1 to 35 days, got {days:g}")


def accounting_warnings(spec: AccountingSpec) -> Iterator[Warned]:
    """Yield what may go wrong with a new database without being wrong.

    Args:
        spec: The database.
    """
    yield from warned("storage", "database-growth", growth_warnings(spec))


def growth_warnings(spec: AccountingSpec) -> Iterator[str]:
    """Say when the storage never grows, since its first step would reach the threshold."""
    least, most = spec.storage_gb, spec.max_storage_gb
    if not unresolved(least, most) and most < (growing := _growing_gb(least)):
        why = f"RDS adds {_GROWTH_GB} GB or a tenth at a time, and stays below 'max_storage_gb'"
        yield f"the database never grows from {least} GB with at most {most} GB: {why}; use {growing} or more"


def _growing_gb(storage_gb: int) -> int:
    """Return the least threshold with which storage grows at all."""
    return storage_gb + max(_GROWTH_GB, storage_gb // 10) + 1


def _schema_problems(spec: AccountingSpec) -> Iterator[Problem]:
    """Check that the schema, which slurmdbd makes, has a name that needs no quotes: slurmdbd writes none.

    Sources: ``_create_db`` in ``mysql_common.c`` of Slurm (``create database %s``); MySQL 8.4 Reference Manual,
    "Hexadecimal Literals", "Bit-Value Literals" and "Numeric Literals". One that exists is only connected to.
    """
    name, words = spec.schema_name, load("storage", "reserved_words")
    if name is None or unresolved(name, spec.engine):
        return
    reserved = name.lower() in {*words["both"], *words.get(spec.engine.value, ())}
    if reserved or _NUMBER.fullmatch(name):
        what = f"a reserved word of {spec.engine.value}" if reserved else "a number to it"
        text = f"must be a name that the database takes without quotes, got {shown(name)}, {what}"
        yield Problem(("schema_name",), f"{text}; use {shown(f'slurm_{name}')}")


def schema_warnings(name: str | None) -> Iterator[str]:
    """Say of a schema in a database that exists that slurmdbd could not make it: which server it is, nobody knows.

    Sources: as above; where the schema exists, slurmdbd only connects to it.

    Args:
        name: The schema. None: nothing was said.
    """
    if name is None or unresolved(name):
        return
    words = load("storage", "reserved_words")
    reserved = name.lower() in {word for server in ("both", "mysql") for word in words[server]}
    if reserved or _NUMBER.fullmatch(name):
        what = "reserves as a word" if reserved else "takes for a number"
        yield (
            f"Slurm's accounting asks for the schema {name!r}, which MySQL {what}: slurmdbd cannot make it, as it "
            f"writes no quotes; make it there before, or name it as {shown(f'slurm_{name}')}"
        )


def _class_problems(spec: AccountingSpec) -> Iterator[Problem]:
    """Check that RDS has such a class for what is made."""
    said = spec.instance_type
    name = said.value if isinstance(said, StandIn) else None
    if name is None or unresolved(name):
        return
    families = load("storage", "database_classes")["families"]
    family, _, size = name.partition(".")
    if size not in families.get(family, ()):
        text = f"must be a class of RDS without 'db.', as t4g.medium, got {shown(name)}"
        near = did_you_mean(name, [f"{each}.{size}" for each, sizes in families.items() for size in sizes])
        of_family = f"; the family has {either(families[family])}" if family in families else ""
        yield Problem(("instance_type",), f"{text}{of_family or near}")


def subnet_zone_problems(at: At, zones: Sequence[str], *, remedy: str = "") -> Iterator[Problem]:
    """Check that a subnet group of RDS spans two zones.

    Args:
        at: The option of the network that says where its service subnets stand.
        zones: Zones of those subnets.
        remedy: What to do, after a semicolon. Default - that is clear.
    """
    if not unresolved(*zones) and len(set(zones)) < _ZONES_OF_A_SUBNET_GROUP:
        found = ", ".join(sorted(set(zones))) or "none"
        text = f"must be in at least {_ZONES_OF_A_SUBNET_GROUP} zones for the accounting database, got {found}"
        yield Problem(at, f"{text}{remedy}")
