"""What is wrong with a fleet as a file has it, and with what stands elsewhere in the file for it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cdk_trainyard.deployment.fleet.reach import fleet_reach_problems
from cdk_trainyard.deployment.fleet.section import FleetSection
from cdk_trainyard.deployment.monitoring import exporters, scrape_seconds
from cdk_trainyard.deployment.mounts import mounts_of
from cdk_trainyard.deployment.network import (
    ACCELERATOR,
    accelerator_cidr,
    accelerator_zone,
    address_problem,
    endpoint_addresses,
)
from cdk_trainyard.deployment.repositories import POLICIES, repository_problems
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.fleet.facts import FleetFacts
from cdk_trainyard.fleet.rules import fleet_problems
from cdk_trainyard.fleet.rules_nodes import master_problems
from cdk_trainyard.fleet.spec import MasterSpec
from cdk_trainyard.fleet.warnings import BUILD_WARNINGS, MASTER_WARNINGS, WARNINGS
from cdk_trainyard.network.spec import NetworkSpec
from cdk_trainyard.problems import At, Problem, Warned, warnings_of, within


def cluster_problems(deployment: DeploymentSpec) -> Iterator[Problem]:
    """Yield what is wrong with the fleet, and with what stands elsewhere in the file for it.

    Args:
        deployment: The deployment.
    """
    section: FleetSection = deployment.cluster
    network, environment = deployment.network, deployment.environment
    mounts = mounts_of(deployment)
    for problem in fleet_problems(section, _facts(deployment)):
        of_size = problem.at == ("network", "accelerator_cidr")
        yield address_problem(network, problem) if of_size else _placed(problem, list(mounts))
    if isinstance(section.master, MasterSpec):
        found = master_problems(section.master, section.image, environment, types=section.types)
        yield from within(("cluster", "master"), found)
    yield from within(("cluster",), repository_problems(section, policies=POLICIES))
    yield from fleet_reach_problems(section, network, environment.region, deployment.monitoring)


def cluster_warnings(deployment: DeploymentSpec) -> Iterator[Warned]:
    """Yield what may surprise about the fleet and its master.

    Args:
        deployment: The deployment.
    """
    section: FleetSection = deployment.cluster
    yield from within(("cluster",), warnings_of("fleet", WARNINGS, section, _facts(deployment)))
    if section.master is not None:
        of_master = warnings_of("fleet", MASTER_WARNINGS, section.master.image or section.image)
        yield from within(("cluster", "master"), of_master)
    for at, image in {
        ("cluster",): section.image,
        ("cluster", "master"): getattr(section.master, "image", None),
    }.items():
        if image and image.build:
            yield from within((*at, "image", "build"), warnings_of("fleet", BUILD_WARNINGS, image.build))


def _facts(deployment: DeploymentSpec) -> FleetFacts:
    network, environment = deployment.network, deployment.environment
    return FleetFacts(
        environment=environment,
        zone=accelerator_zone(network, environment.region),
        accelerator_subnet=ACCELERATOR,
        accelerator_cidr=accelerator_cidr(network, environment.region),
        endpoint_addresses=endpoint_addresses(network),
        has_nat=not isinstance(network, NetworkSpec) or network.has_nat,
        endpoints=network.interface_endpoints if isinstance(network, NetworkSpec) else (),
        mounts=list(mounts_of(deployment).values()),
        masters=int(isinstance(deployment.cluster.master, MasterSpec)),
        scrape_seconds=scrape_seconds(deployment.monitoring),
        exporters=exporters(deployment.monitoring),
    )


def _placed(problem: Problem, file_systems: Sequence[At]) -> Problem:
    """Return a problem with its path in the file: of the fleet, or of what is around it."""
    match problem.at:
        case ("network", *_):
            return problem
        case ("metrics", *inner):
            return replace(problem, at=("monitoring", *inner))
        case ("mounts", int(index), *inner):
            return replace(problem, at=(*file_systems[index], *inner))
    return replace(problem, at=("cluster", *problem.at))
