"""What the rules of a HyperPod cluster say of its section, and the few that only a file can break.

The constructs make some combinations impossible to write (two lifecycle modes, two topologies); in a file they can be
written, so they are refused here.
"""

from cdk_trainyard.deployment._locate import quoted
from cdk_trainyard.deployment.hyperpod.node_extras import neuron_environment
from cdk_trainyard.deployment.hyperpod.section import GroupSection, HyperPodSection, LifecycleSection
from cdk_trainyard.deployment.hyperpod.values import Presence, instance_group, lifecycle, topology
from cdk_trainyard.hyperpod import NodeProvisioning
from cdk_trainyard.hyperpod.checks import everything_wrong
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup, resolve_group
from cdk_trainyard.lifecycle import NodeSetup, SlurmTopology


def hyperpod_problems(cluster: HyperPodSection) -> list[str]:
    """The groups, one by one and together."""
    groups = tuple(_resolved(name, group, cluster.lifecycle) for name, group in cluster.groups.items())
    resolved = ResolvedCluster(
        name=cluster.cluster_name or "unnamed",
        region=None,
        groups=groups,
        topology=topology(cluster),
        continuous=cluster.provisioning is NodeProvisioning.CONTINUOUS,
        network=None,
        security_groups=(),
        mounts=(),
        accounting=None,
        scripts_bucket=any(group.lifecycle.runs_scripts for group in groups),
        node_setup=NodeSetup(neuron_environment=neuron_environment(cluster.node_setup)),
        raw_overrides=cluster.raw_overrides,
    )
    problems = _lifecycle_problems("'lifecycle' of the cluster", cluster.lifecycle)
    for name, group in cluster.groups.items():
        problems += _lifecycle_problems(f"'lifecycle' of group {name!r}", group.lifecycle)
    if cluster.topology is SlurmTopology.LEGACY and cluster.slurm_config_strategy:
        problems.append("'slurm_config_strategy' must not be given with topology legacy; the file knows no strategy")
    return problems + everything_wrong(resolved)


def partial_hyperpod_problems(cluster: HyperPodSection) -> list[str]:
    """What is wrong with single groups of a cluster that cannot be judged as a whole.

    Args:
        cluster: The parts of the section that have the right form; defaults stand for the others.
    """
    others = set(HyperPodSection.model_fields) - {"lifecycle"}
    return [
        problem
        for problem in hyperpod_problems(cluster)
        if (words := set(quoted(problem))) & cluster.groups.keys() and not words & others
    ]


def _resolved(name: str, group: GroupSection, common: LifecycleSection) -> ResolvedGroup:
    given = instance_group(name, group, imports=Presence(), find_scripts=lambda _: None)
    return resolve_group(given, lifecycle=lifecycle(common, lambda _: None), mounts=())


def _lifecycle_problems(what: str, section: LifecycleSection | None) -> list[str]:
    if section is None:
        return []
    scripts = [section.on_create, section.on_init_complete]
    if all(script is not None for script in scripts):
        why = "the first replaces what the image does, the second adds to it"
        return [f"{what} must have one of 'on_create' and 'on_init_complete', got both; {why}"]
    if section.folder is not None and not any(script is not None for script in scripts):
        return [f"{what} must say which script of 'folder' runs, got neither 'on_create' nor 'on_init_complete'"]
    return []
