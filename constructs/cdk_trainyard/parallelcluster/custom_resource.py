"""A cluster as the custom resource that ParallelCluster's provider makes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aws_cdk import CustomResource, RemovalPolicy

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.parallelcluster.provider import ParallelClusterProvider
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec

if TYPE_CHECKING:
    from constructs import Construct


def custom_resource(
    scope: "Construct",
    spec: ParallelClusterSpec,
    config: Mapping[str, Any],
    provider: ParallelClusterProvider,
    removal_policy: RemovalPolicy,
) -> CustomResource:
    """Define the resource.

    Args:
        scope: The cluster.
        spec: Its specification.
        config: The configuration as ParallelCluster gets it.
        provider: The provider.
        removal_policy: What becomes of the cluster when it leaves the stack.
    """
    suppressed = list(spec.suppress_validators)
    # Nothing else may stand here: the provider hands every further property on to ParallelCluster as an argument,
    # and those of creating and of updating differ. ServiceTimeout is one of them; its default is the most there is.
    properties = {
        "ClusterName": str(spec.cluster_name),
        "ClusterConfiguration": config,
        # With RETAIN_ON_UPDATE_OR_DELETE only a first creation that failed is ever asked to delete, and it should.
        "DeletionPolicy": "Retain" if removal_policy is RemovalPolicy.RETAIN else "Delete",
        **({"SuppressValidators": suppressed} if suppressed else {}),
    }
    return CustomResource(
        scope,
        "Resource",
        resource_type=PARALLELCLUSTER_TYPE,
        service_token=provider.service_token,
        properties=properties,
        removal_policy=removal_policy,
    )
