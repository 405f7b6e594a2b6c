"""The stacks: they instantiate, connect and put out. Constructs and the deployment decide what is built."""

from aws_cdk import Stack, Tags
from constructs import Construct

from cdk_trainyard.deployment import Deployment, HyperPodDeployment, ParallelClusterDeployment, build
from stacks.network import NetworkStack
from stacks.parallelcluster import ParallelClusterStack
from stacks.storage import StorageStack
from stacks.training import TrainingStack

__all__ = ["NetworkStack", "ParallelClusterStack", "StorageStack", "TrainingStack", "build_stacks"]


def build_stacks(app: Construct, deployment: Deployment) -> list[Stack]:
    """Instantiate the stacks that a deployment needs, each standing on the ones before it."""
    network = NetworkStack(app, "NetworkStack", deployment=deployment)
    storage = StorageStack(app, "StorageStack", deployment=deployment, network=network)
    stacks: list[Stack] = [network, storage]
    match deployment:
        case HyperPodDeployment():
            stacks.append(TrainingStack(app, "TrainingStack", deployment=deployment, network=network, storage=storage))
        case ParallelClusterDeployment():
            stacks.append(
                ParallelClusterStack(app, "TrainingStack", deployment=deployment, network=network, storage=storage)
            )
    for stack in stacks:
        build.occupy(stack)
        for key, value in deployment.tags.items():
            Tags.of(stack).add(key, value)
    return stacks
