"""What is taken of a deployment, and may surprise: what its constructs say at synthesis, as far as a file tells.

What only an object of CDK's tells, as whether the policy of a key can be changed, is said at synthesis alone. No CDK.
"""

from collections.abc import Iterator
from pkgutil import resolve_name

from cdk_trainyard.deployment.monitoring_unused import alarm_warnings
from cdk_trainyard.deployment.network import accelerator_cidr
from cdk_trainyard.deployment.orchestrators import find
from cdk_trainyard.deployment.serving.rules import serving_warnings
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.network.spec import NetworkSpec
from cdk_trainyard.network.warnings import WARNINGS
from cdk_trainyard.problems import Warned, warnings_of, within
from cdk_trainyard.storage.resolve import resolve_lustre
from cdk_trainyard.storage.rules import lustre_warnings
from cdk_trainyard.storage.spec import LustreSpec


def warnings(deployment: DeploymentSpec) -> Iterator[Warned]:
    """Yield what may surprise about a deployment.

    Args:
        deployment: The deployment, in which nothing is wrong.
    """
    network, region = deployment.network, deployment.environment.region
    if isinstance(network, NetworkSpec):
        yield from within(("network",), warnings_of("network", WARNINGS, network))
    if isinstance(lustre := deployment.storage.lustre, LustreSpec):
        found = lustre_warnings(resolve_lustre(lustre), region, accelerator_cidr(network, region))
        yield from within(("storage", "lustre"), found)
    row = find(deployment.orchestrator)
    if row is not None and row.warnings is not None:
        yield from resolve_name(row.warnings)(deployment)
    yield from serving_warnings(deployment)
    yield from alarm_warnings(deployment)
