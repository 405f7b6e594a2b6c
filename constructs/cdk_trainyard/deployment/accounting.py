"""What is wrong with a database of Slurm's accounting, and with the network that a new one stands in."""

import re
from collections.abc import Iterator
from typing import Any, Final

from cdk_trainyard.deployment.network import zones_of
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.network.spec import ExistingNetworkSpec
from cdk_trainyard.problems import At, Problem, shown, within
from cdk_trainyard.storage.rules_data import accounting_problems, subnet_zone_problems
from cdk_trainyard.tokens import unresolved

_OF_RDS: Final = re.compile(r"[a-z0-9.-]+\.(?P<region>[a-z]{2,4}(-[a-z]+)+-[0-9])\.rds\.amazonaws\.com(\.cn)?")
"""``<name>.<identifier>.<region>.rds.amazonaws.com`` (Amazon RDS user guide, "Finding the connection information")."""


def existing_accounting_problems(said: Any, region: str | None, at: At) -> Iterator[Problem]:
    """Check that a database that exists is where its security group can let the cluster in.

    Args:
        said: What is said of the database: ``endpoint`` and its security group.
        region: The Region of the cluster. None: not known.
        at: Where it is said.
    """
    endpoint = getattr(said, "endpoint", None)
    group = getattr(said, "security_group_id", None) or getattr(said, "security_group", None)
    if endpoint is None or group is None or region is None or unresolved(endpoint):
        return
    found = _OF_RDS.fullmatch(endpoint.lower())
    if found and found["region"] != region:
        text = f"must be of {region}, where its security group must be that lets the cluster in, got {shown(endpoint)}"
        yield Problem((*at, "endpoint"), text)


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
    if zones is not None and not (exists and zones):  # of those that exist, the network says that one zone is too few
        remedy = "; name private subnets of the VPC in two zones" if exists else ""
        yield from subnet_zone_problems(("network", name), zones, remedy=remedy)
