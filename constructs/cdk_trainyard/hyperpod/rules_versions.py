"""Whether Neuron's Python packages fit the image of the nodes. Pure: nothing is created here."""

from cdk_trainyard.hyperpod.resolved import ResolvedCluster
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import Judgement, image_facts, judge_packages, pinned_packages

_IMAGE = "hyperpod-slurm"
_DEFAULT = "default"  # HyperPod's own name for its newest image


def neuron_package_problems(cluster: ResolvedCluster) -> list[str]:
    """No source rules out Neuron's packages on the image of the nodes."""
    return list(judge_neuron(cluster).refused)


def judge_neuron(cluster: ResolvedCluster) -> Judgement:
    """Judge the packages of ``neuron_environment`` on HyperPod's image, unless every group brings its own.

    Args:
        cluster: The cluster.
    """
    asked = cluster.node_setup.neuron_environment if cluster.node_setup else None
    image = image_facts(_IMAGE)
    if asked is None or image is None:
        return Judgement()
    if cluster.groups and all(group.given.image_id not in {None, _DEFAULT} for group in cluster.groups):
        said = "'neuron_environment': every group has an 'image_id', so Python and driver of its nodes are not known"
        return Judgement(unknown=(said,))
    packages = [package for package in asked.packages if not unresolved(package)]
    return judge_packages(
        "'packages' of 'neuron_environment'", packages if asked.packages else pinned_packages("hyperpod"), image
    )
