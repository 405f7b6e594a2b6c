"""Whether subnets have an address for whatever stands in them."""

from dataclasses import replace

from cdk_trainyard.parallelcluster.context import ClusterContext, MountedFileSystem
from cdk_trainyard.parallelcluster.rules_addresses import address_problems
from cdk_trainyard.problems import sentence
from tools.contract.table.clusters import OTHER_ZONE, PLACE, PRIVATE, Candidate, cluster

SMALL = replace(PLACE, accelerator_cidr="10.1.128.0/26")


def said(candidate: Candidate, context: ClusterContext) -> list[str]:
    """Return what is said of a cluster that stands elsewhere."""
    return [sentence(problem) for problem in address_problems(candidate.said, context)]


def test_file_servers_count_in_the_subnet_that_they_stand_in() -> None:
    def beside(subnet: str | None) -> list[str]:
        lustre = MountedFileSystem(at="/fsx", file_system_id="fs-1", subnet=subnet, file_servers=60)
        return said(cluster(), ClusterContext(place=SMALL, mounts=[lustre]))

    (text,) = beside(PRIVATE)
    assert "Lustre file servers = 60" in text
    assert beside(OTHER_ZONE) == beside(None) == []
