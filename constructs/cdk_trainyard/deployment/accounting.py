"""What is wrong with a database of Slurm's accounting, and with the network that a new one stands in."""

import re
from collections.abc import Iterator
from typing import Any, Final

from cdk_trainyard.deployment.network import zones_of
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.network.spec import ExistingNetworkSpec
from cdk_trainyard.options.arns import account_of
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import At, Problem, Warned, shown, within
from cdk_trainyard.storage.rules_data import accounting_problems, accounting_warnings, subnet_zone_problems
from cdk_trainyard.tokens import unresolved

_REGION: Final = r"[a-z]{2,4}(-[a-z]+)+-[0-9]"
_OF_RDS: Final = re.compile(
    rf"[a-z0-9.-]+\.((?P<before>{_REGION})\.rds|rds\.(?P<behind>{_REGION})|global\.rds)\.(?P<suffix>amazonaws\.com(\.cn)?)"
)
"""``<name>.<identifier>.<region>.rds.amazonaws.com`` (Amazon RDS user guide, "Finding the connection information"); in
China ``rds`` stands before the Region (the same guide of docs.amazonaws.cn), elsewhere than in ``aws`` it may
(``RdsUtils`` of aws-advanced-jdbc-wrapper, read 2026-11). ``<name>.global-<identifier>.global.rds.amazonaws.com`` is
the writer of an Aurora global database, in whichever Region that is (Amazon Aurora user guide, "Connecting to Amazon
Aurora Global Database"; ``GlobalEndpoint.Address`` of ``AWS::RDS::GlobalCluster``; read 2026-11)."""
_IN_RDS: Final = re.compile(r"(.+\.)?rds(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?")
"""What is in RDS's domain, right or not."""
_READER: Final = ".cluster-ro-"
"""Of the reader endpoint (Amazon Aurora user guide, "Amazon Aurora endpoint connections")."""
_OTHERS: Final = re.compile(
    r".+\.(cache|memorydb|redshift|redshift-serverless|docdb|neptune|fsx|efs|s3)(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?|"
    r"[a-z0-9]+\.dsql\.[a-z0-9-]+\.on\.aws"
)
"""Endpoints of services that do not speak MySQL's protocol, as their user guides have them: ElastiCache, MemoryDB,
Redshift, DocumentDB, Neptune, FSx, EFS, S3 and Aurora DSQL, which speaks PostgreSQL's."""


def existing_accounting_problems(said: Any, region: str | None, at: At) -> Iterator[Problem]:
    """Check that a database that exists takes what is written to it, where its security group can let the cluster in.

    Args:
        said: What is said of the database: ``endpoint`` and its security group.
        region: The Region of the cluster. None: not known.
        at: Where it is said.
    """
    endpoint = getattr(said, "endpoint", None)
    group = getattr(said, "security_group_id", None) or getattr(said, "security_group", None)
    if endpoint is None or unresolved(endpoint):
        return
    at, name = (*at, "endpoint"), endpoint.lower().removesuffix(".")
    found = _OF_RDS.fullmatch(name)
    place = found and (found["before"] or found["behind"])
    if _OTHERS.fullmatch(name):
        yield Problem(at, f"must be of a database that speaks MySQL's protocol, got {shown(endpoint)}")
    if not found and _IN_RDS.fullmatch(name):
        like = "mydb.abcdefghijkl.us-east-1.rds.amazonaws.com"
        yield Problem(at, f"must be as RDS names databases, with the Region, as {like}, got {shown(endpoint)}")
    if found and _READER in name:
        yield Problem(at, f"must be of the database's writer, got {shown(endpoint)}, which is of its readers")
    if found and place:
        around = Environment(region=place)
        if found["suffix"] != around.suffix or (found["behind"] and around.partition == "aws"):
            text = f"must end with .{place}.rds.{around.suffix}, as RDS names databases there, got {shown(endpoint)}"
            yield Problem(at, text)
    if group is not None and region is not None and place and place != region:
        text = f"must be of {region}, where its security group must be that lets the cluster in, got {shown(endpoint)}"
        yield Problem(at, text)


def secret_problems(secret: Any, account: str | None, at: At) -> Iterator[Problem]:
    """Check that a secret with a password is of this account: roles that are made here may use no key of another's.

    Source: Secrets Manager user guide, "Access AWS Secrets Manager secrets from a different account", read 2026-11.

    Args:
        secret: The secret. None: there is none.
        account: The deployment's account. None: not known.
        at: Where it is said.
    """
    arn = getattr(secret, "secret_arn", None)
    if arn is None or account is None or unresolved(arn, account) or account_of(arn) == account:
        return
    text = f"must be of account {account}, got {shown(arn)}, whose key the cluster's role may not use"
    yield Problem(at, f"{text}; copy it into a secret of this account")


def caller_key_problems(accounting: Any, serving: Any) -> Iterator[Problem]:
    """Check that what callers of a model send is not the JSON with which a HyperPod cluster enters its database.

    Args:
        accounting: What is said of the database.
        serving: What is served. None: nothing.
    """
    ours = getattr(getattr(accounting, "secret", None), "secret_arn", None)
    authentication = getattr(getattr(serving, "load_balancer", None), "authentication", None)
    theirs = getattr(getattr(authentication, "secret", None), "secret_arn", None)
    if ours is not None and not unresolved(ours, theirs) and ours == theirs:
        text = (
            f"must be another secret than that of the cluster's 'accounting', got {shown(theirs)}: that holds user and"
        )
        yield Problem(
            ("serving", "load_balancer", "authentication", "secret"),
            f"{text} password of the database as JSON, and all of a secret is the key that callers send",
        )


def new_accounting_problems(deployment: DeploymentSpec, at: At) -> Iterator[Problem]:
    """Check a new database; of one that exists, nothing is known.

    Args:
        deployment: The deployment.
        at: Where its cluster says what the database is.
    """
    if deployment.new_accounting is None:
        return
    yield from within(at, accounting_problems(deployment.new_accounting))
    name, zones = zones_of(deployment.network, "service")
    exists = isinstance(deployment.network, ExistingNetworkSpec)
    if zones is not None and not zones:  # of one alone, the network says that it is too few
        remedy = "; name private subnets of the VPC in two zones" if exists else ""
        yield from subnet_zone_problems(("network", name), zones, remedy=remedy)


def new_accounting_warnings(deployment: DeploymentSpec, at: At) -> Iterator[Warned]:
    """Yield what may surprise about a new database.

    Args:
        deployment: The deployment.
        at: Where its cluster says what the database is.
    """
    if deployment.new_accounting is not None:
        yield from within(at, accounting_warnings(deployment.new_accounting))
