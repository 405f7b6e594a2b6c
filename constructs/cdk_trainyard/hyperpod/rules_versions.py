"""Whether Neuron's Python packages and file systems fit the image of the nodes: pure functions, silent about Tokens."""

from collections.abc import Iterator
from dataclasses import replace

from cdk_trainyard.hyperpod.limits import IMAGE_BY_DEFAULT
from cdk_trainyard.hyperpod.resolved import ResolvedCluster
from cdk_trainyard.problems import At, Problem, within
from cdk_trainyard.storage.clients import client_problems
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import Judgement, image_facts, judge_packages, pinned_packages

_IMAGE = "hyperpod-slurm"


def neuron_package_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that no source rules out Neuron's packages on the image of the nodes."""
    at = ("node_setup", "neuron_environment", "packages")
    return (Problem(at, text) for text in judge_neuron(cluster).refused)


def file_system_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that HyperPod's image mounts the file systems of the groups that have it."""
    told: set[At] = set()
    for group in cluster.groups:
        if group.spec.image_id not in {None, IMAGE_BY_DEFAULT}:
            continue
        at = ("mounts",) if group.facts.mounts is None else (*group.at, "mounts")
        for problem in within(at, client_problems([each.lustre_version for each in group.mounts], _IMAGE)):
            if problem.at not in told:
                yield problem
            told.add(problem.at)


def judge_neuron(cluster: ResolvedCluster) -> Judgement:
    """Judge the packages of ``neuron_environment`` on HyperPod's image, unless every group brings its own.

    Args:
        cluster: The cluster.
    """
    setup = cluster.spec.node_setup
    asked = setup.neuron_environment if setup is not None and not unresolved(setup) else None
    image = image_facts(_IMAGE)
    if asked is None or unresolved(asked) or image is None:
        return Judgement()
    if cluster.groups and all(group.spec.image_id not in {None, IMAGE_BY_DEFAULT} for group in cluster.groups):
        said = "'neuron_environment': every group has an 'image_id', so Python and driver of its nodes are not known"
        return Judgement(unknown=(said,))
    packages = pinned_packages("hyperpod") if asked.packages is None else asked.packages
    judged = judge_packages([package for package in packages if not unresolved(package)], image)
    return replace(judged, unknown=tuple(f"'packages' of 'neuron_environment': {doubt}" for doubt in judged.unknown))
