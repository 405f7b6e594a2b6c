"""The stacks: they instantiate, connect and put out. Constructs and the deployment decide what is built."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Final

from aws_cdk import Stack, Tags
from constructs import Construct

from cdk_trainyard.deployment import Deployment, Orchestrator, build
from stacks.network import NetworkStack
from stacks.storage import StorageStack

__all__ = ["NetworkStack", "StorageStack", "build_stacks"]

_TRAINING: Final[Mapping[Orchestrator, str]] = {
    Orchestrator.HYPERPOD: "stacks.training:TrainingStack",
    Orchestrator.PARALLELCLUSTER: "stacks.parallelcluster:ParallelClusterStack",
    Orchestrator.FLEET: "stacks.fleet:FleetStack",
}
"""The stack of a cluster, which is imported when a deployment asks for it."""
_SERVING: Final = "stacks.serving:ServingStack"


def build_stacks(app: Construct, deployment: Deployment) -> list[Stack]:
    """Instantiate the stacks that a deployment needs, each standing on the ones before it."""
    network = NetworkStack(app, "NetworkStack", deployment=deployment)
    storage = StorageStack(app, "StorageStack", deployment=deployment, network=network)
    stacks: list[Stack] = [network, storage]
    if deployment.orchestrator is not None:
        training = resolve_name(_TRAINING[deployment.orchestrator])
        stacks.append(training(app, "TrainingStack", deployment=deployment, network=network, storage=storage))
    if deployment.serving is not None:
        serving = resolve_name(_SERVING)
        stacks.append(serving(app, "ServingStack", deployment=deployment, network=network, storage=storage))
    for stack in stacks:
        build.occupy(stack)
        for key, value in deployment.tags.items():
            Tags.of(stack).add(key, value)
    return stacks
