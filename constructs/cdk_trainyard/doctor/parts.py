"""The parts of a deployment, by which what it makes is known, and the stack that each is made in."""

from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.deployment.storage import LustreSection
from cdk_trainyard.network.spec import NetworkSpec


def parts_of(deployment: DeploymentSpec) -> dict[str, str]:
    """Return the parts that a deployment makes, each with its stack: ``"lustre": "storage"``.

    Args:
        deployment: The deployment.
    """
    last = "training" if deployment.cluster is not None else "serving"
    made = {
        "network": ("network", isinstance(deployment.network, NetworkSpec)),
        "storage": ("storage", True),
        "lustre": ("storage", isinstance(deployment.storage.lustre, LustreSection)),
        "accounting": ("storage", deployment.new_accounting is not None),
        str(deployment.orchestrator): ("training", deployment.cluster is not None),
        "serving": ("serving", deployment.serving is not None),
        "compile": ("serving", deployment.serving is not None and deployment.serving.compile is not None),
        "monitoring": (last, deployment.monitoring is not None and deployment.monitoring.workspace_arn is None),
    }
    return {part: stack for part, (stack, is_made) in made.items() if is_made}
