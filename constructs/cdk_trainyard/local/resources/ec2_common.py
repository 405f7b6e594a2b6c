"""What the tables of EC2 share."""

from typing import Any

from cdk_trainyard.local.resources.model import Resource, Step
from cdk_trainyard.local.resources.steps import Api, identity, tagger

EC2 = Api("ec2")


def tagged(it: Resource, kind: str) -> dict[str, Any]:
    """Return the tags of a resource as EC2's creating calls take them."""
    tags = it.get("Tags")
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": tags}]} if tags else {}


def _named(it: Resource) -> dict[str, Any]:
    return {"Resources": [identity(it)]}


RETAG: Step = tagger("ec2", "create_tags", "delete_tags", _named, keys="Tags", keys_as_tags=True)
