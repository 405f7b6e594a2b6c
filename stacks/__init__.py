"""The stacks: they instantiate, connect and put out. Constructs and the deployment decide what is built."""

from pkgutil import resolve_name
from typing import Final

from aws_cdk import Stack, Tags
from constructs import Construct

from cdk_trainyard.deployment import Deployment, build
from cdk_trainyard.deployment.orchestrators import find
from stacks.network import NetworkStack
from stacks.storage import StorageStack

__all__ = ["NetworkStack", "StorageStack", "build_stacks"]

_TRAINING: Final = "stacks.training:TrainingStack"
_SERVING: Final = "stacks.serving:ServingStack"
"""Imported when a deployment asks for them."""


def build_stacks(app: Construct, deployment: Deployment) -> list[Stack]:
    """Instantiate the stacks that a deployment needs, each standing on the ones before it."""
    network = NetworkStack(app, "NetworkStack", deployment=deployment)
    storage = StorageStack(app, "StorageStack", deployment=deployment, network=network)
    stacks: list[Stack] = [network, storage]
    metrics = None
    if orchestrator := find(deployment.orchestrator):
        training = resolve_name(_TRAINING)(
            app,
            "TrainingStack",
            deployment=deployment,
            orchestrator=orchestrator,
            network=network,
            storage=storage,
        )
        stacks.append(training)
        metrics = training.metrics
    if deployment.serving is not None:
        serving = resolve_name(_SERVING)
        stacks.append(
            serving(app, "ServingStack", deployment=deployment, network=network, storage=storage, metrics=metrics)
        )
    for stack in stacks:
        build.occupy(stack)
        for key, value in deployment.tags.items():
            Tags.of(stack).add(key, value)
    return stacks
