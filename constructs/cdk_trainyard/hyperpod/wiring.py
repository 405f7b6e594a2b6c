"""What the rules need to know of the constructs that a cluster is wired to."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from cdk_trainyard.hyperpod.resolved import GroupFacts, SubnetFacts, Surroundings
from cdk_trainyard.hyperpod.spec import HyperPodSpec
from cdk_trainyard.network import Network, TrainingNetwork
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.reach import Gateway, Place, Route
from cdk_trainyard.storage import Mount
from cdk_trainyard.tokens import unresolved

_Construct = TypeVar("_Construct", bound=Any)


def wired(
    spec: HyperPodSpec,
    environment: Environment,
    *,
    network: Network | None,
    mounts: Sequence[Mount],
    security_groups: int,
    accounting: bool,
    scripts_bucket: bool,
) -> Surroundings:
    """Return what is known of the constructs that a cluster and its groups are wired to.

    Args:
        spec: What was said, with the groups' own networks, file systems and security groups.
        environment: Where the stack goes.
        network: The cluster's network.
        mounts: The cluster's file systems.
        security_groups: How many security groups were given.
        accounting: Whether there is an accounting database.
        scripts_bucket: Whether there is a bucket for the project's own scripts.
    """
    groups = () if unresolved(spec.groups) else [group for group in spec.groups if not unresolved(group, group.name)]
    closed = isinstance(network, TrainingNetwork) and not network.has_nat
    return Surroundings(
        environment=environment,
        subnet=_subnet(network),
        mounts=[mount.facts for mount in mounts],
        security_groups=security_groups,
        accounting=accounting,
        scripts_bucket=scripts_bucket,
        groups={
            group.name: GroupFacts(
                subnet=_subnet(group.network),
                mounts=None if group.mounts is None else [mount.facts for mount in group.mounts],
                security_groups=len(group.security_groups),
            )
            for group in groups
        },
        # of another network, and of an open one, nobody knows more than that things arrive
        place=Place(name="nodes", route=Route.NONE, gateways={"s3": Gateway()}) if closed else None,
    )


def distinct(constructs: Iterable[_Construct | None]) -> list[_Construct]:
    """Return every construct once, in the order of its first appearance, without the missing ones.

    Args:
        constructs: The constructs.
    """
    return list({one.node.path: one for one in constructs if one is not None}.values())


def _subnet(network: Network | None) -> SubnetFacts | None:
    if network is None or unresolved(network):
        return None
    return SubnetFacts(identity=network.node.path, zone=network.zone, cidr=network.accelerator_cidr)
