"""A deployment file with ``orchestrator: fleet``."""

from typing import Literal

from cdk_trainyard.deployment._sections import Said, Sections
from cdk_trainyard.deployment.fleet.reach import fleet_reach_problems
from cdk_trainyard.deployment.fleet.rules import Around, fleet_problems, open_zfs_problems, partial_fleet_problems
from cdk_trainyard.deployment.fleet.section import FleetSection
from cdk_trainyard.deployment.model import Deployment, Orchestrator
from cdk_trainyard.deployment.network import AnyNetwork
from cdk_trainyard.deployment.storage import AnyLustre, OpenZfsSection


class FleetDeployment(Deployment):
    """A fleet of EC2 instances with what it needs."""

    orchestrator: Literal[Orchestrator.FLEET]
    """What runs the jobs."""
    cluster: FleetSection
    """The fleet."""

    @classmethod
    def own_problems(cls, sections: Sections) -> Said:
        """Ask the rules of the fleet, or of its sound parts."""
        yield ("storage",), open_zfs_problems(sections.get(OpenZfsSection, "storage", "open_zfs"))
        around = Around(
            network=sections.get(AnyNetwork, "network"),
            lustre=sections.get(AnyLustre, "storage", "lustre"),
        )
        fleet = sections.get(FleetSection, "cluster")
        if fleet is not None:
            problems = fleet_problems(fleet, around)
        else:
            sound = sections.parts("cluster")
            unsound = {"image", *sections.keys("cluster")} - sound.keys()
            problems = partial_fleet_problems(sound, unsound, around)
        yield ("cluster",), problems
        yield ("cluster",), fleet_reach_problems(fleet, around.network, sections.get(str, "region"))
