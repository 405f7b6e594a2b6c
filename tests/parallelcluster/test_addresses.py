"""Whether subnets have an address for whatever stands in them."""

from dataclasses import replace
from ipaddress import IPv4Network

import pytest

from cdk_trainyard.options.stand_ins import Subnet
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts, Place
from cdk_trainyard.parallelcluster.resolve import resolve_cluster
from cdk_trainyard.parallelcluster.rules_addresses import address_problems
from cdk_trainyard.parallelcluster.warnings import few_addresses
from cdk_trainyard.problems import sentence
from cdk_trainyard.storage.mount_facts import MountFacts
from tools.contract.table.clusters import OTHER_ZONE, PLACE, PRIVATE, PUBLIC, Candidate, cluster, cpu, login, queue

SMALL = replace(
    PLACE,
    accelerator_cidr="10.1.128.0/26",
    blocks={PUBLIC: IPv4Network("10.1.0.0/28"), OTHER_ZONE: IPv4Network("10.1.16.0/28")},
)
ANYWHERE = [Subnet(PUBLIC), Subnet(OTHER_ZONE)]


def said(candidate: Candidate, place: Place, *mounts: MountFacts) -> list[str]:
    """Return what is said of a cluster that stands in small subnets."""
    context = ParallelClusterFacts(place=place, mounts=mounts)
    return [sentence(problem) for problem in address_problems(resolve_cluster(candidate.said, context), context)]


def test_file_servers_count_in_the_subnet_that_they_stand_in() -> None:
    def beside(subnet: str | None) -> list[str]:
        return said(cluster(), SMALL, MountFacts(path="/", identity="fs-1", subnet=subnet, file_servers=60))

    (text,) = beside(PRIVATE)
    assert "Lustre file servers = 60" in text
    assert beside(OTHER_ZONE) == beside(None) == []


@pytest.mark.parametrize("subnets", [[], [Subnet(PRIVATE), Subnet(OTHER_ZONE)]], ids=["one", "several"])
def test_interface_endpoints_count_in_the_private_subnet(subnets: list[Subnet]) -> None:
    nodes = cluster(queue(cpu(max_count=40), subnets=subnets))
    free = 19 if not subnets else 30  # the head node takes one
    assert said(nodes, replace(SMALL, endpoint_addresses=free - 1)) == []
    (text,) = said(nodes, replace(SMALL, endpoint_addresses=free + 1))
    assert f"interface endpoints = {free + 1}" in text


def test_nodes_in_several_subnets_have_the_addresses_of_all() -> None:
    both = cluster(queue(cpu(max_count=21), subnets=ANYWHERE))
    assert said(both, SMALL) == []  # the head node takes one
    (text,) = said(cluster(queue(cpu(max_count=22), subnets=ANYWHERE)), SMALL)
    assert text == (
        "'queues[0].compute[0].max_count' must let the nodes take at most 22 addresses, all of 10.1.0.0/28 and "
        "10.1.16.0/28, got 23 (compute/c5-xlarge 22 x c5.xlarge x 1 = 22, head node 1 x c5.xlarge x 1 = 1); use fewer "
        "nodes, or more or larger subnets"
    )
    private = cluster(queue(cpu(max_count=60), subnets=[Subnet(PRIVATE), Subnet(OTHER_ZONE)]))
    assert said(private, SMALL) == []  # more than the private one has


@pytest.mark.parametrize(("count", "warned"), [(43, 0), (44, 1), (59, 1), (60, 0)])
def test_what_holds_all_nodes_and_few_in_their_place_is_a_warning(count: int, *, warned: int) -> None:
    nodes, context = cluster(queue(cpu(max_count=count))), ParallelClusterFacts(place=SMALL)
    assert [bool(text) for text in said(nodes, SMALL)] == [True] * (count > 59)
    assert len(list(few_addresses(resolve_cluster(nodes.said, context), context))) == warned


@pytest.mark.parametrize(("count", "refused"), [(10, False), (11, True)])
def test_login_nodes_stand_in_one_subnet(count: int, *, refused: bool) -> None:
    pools = cluster(queue(), login_pools=[login(count=count, subnet=Subnet(PUBLIC))])
    assert ["'login_pools[0].count' must let" in text for text in said(pools, SMALL)] == [True] * refused
    assert said(pools, replace(SMALL, blocks={})) == []
