"""Kinds of values that a ParallelCluster alone has. Pure."""

from dataclasses import replace
from typing import Any, Final

from cdk_trainyard.errors import same
from cdk_trainyard.options.kinds import Environment, ResourceId, resource_id
from cdk_trainyard.parallelcluster.facts import operating_systems
from cdk_trainyard.problems import Flaw, either


class ImageOrSystem(ResourceId):
    """The id of an image; a system, of which ParallelCluster has an image itself, is answered with its option."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match the id, else look for a system."""
        wrong, systems = ResourceId.problem(self, value, environment), same(value, operating_systems())
        remedy = f"; a system is 'operating_system' of the cluster: {either(systems)}" if systems else ""
        return replace(wrong, remedy=remedy) if wrong and remedy else wrong


_ID: Final = resource_id("ami", "an image")
IMAGE_ID: Final = ImageOrSystem(pattern=_ID.pattern, words=_ID.words, example=_ID.example)
