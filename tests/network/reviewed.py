"""What the reviewers' tools are asked about: what this room builds."""

from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_kms as kms

from cdk_trainyard.network import HYPERPOD_ENDPOINTS, EfaSecurityGroup, Endpoint, Nat, PlacementGroup
from tests.network.parts import new_network, new_stack
from tests.review.tools import Room


def defaults(stack: Stack) -> None:
    EfaSecurityGroup(stack, "Efa", vpc=new_network(stack).vpc, outbound=True)
    PlacementGroup(stack, "Group")


def everything(stack: Stack) -> None:
    with_key(
        stack,
        zone="use1-az4",
        public_zones=["use1-az5"],
        service_zones=["use1-az4", "use1-az5"],
        nat=Nat.PER_ZONE,
        interface_endpoints=list(Endpoint),
        secondary_cidr="100.64.0.0/16",
    )


def closed(stack: Stack) -> None:
    with_key(stack, nat=Nat.NONE, interface_endpoints=HYPERPOD_ENDPOINTS)


def with_key(stack: Stack, **settings: Any) -> None:
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    EfaSecurityGroup(stack, "Efa", vpc=new_network(stack, flow_logs_key=key, **settings).vpc, outbound=False)
    PlacementGroup(stack, "Group")


ROOM = Room(lambda app: new_stack(app=app), [defaults, everything, closed])
