"""What is wrong with a database of Slurm's accounting that is made, and with the network that it stands in."""

from collections.abc import Iterator

from cdk_trainyard.deployment.network import zones_of
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.network.spec import ExistingNetworkSpec
from cdk_trainyard.problems import At, Problem, within
from cdk_trainyard.storage.rules_data import accounting_problems, subnet_zone_problems


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
