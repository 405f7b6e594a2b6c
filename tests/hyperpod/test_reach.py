"""Options of nodes whose downloads do not arrive in a network without NAT."""

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod import HyperPodCluster, Lifecycle, NodeProvisioning
from cdk_trainyard.lifecycle import Containers, Exporters, NodeSetup, NodeTool, S3Mount, ToolFile
from cdk_trainyard.network import HYPERPOD_ENDPOINTS, Endpoint, Nat, TrainingNetwork
from cdk_trainyard.storage import AccountingDatabase
from tests.hyperpod.parts import REGION, controller, worker
from tests.parts import existing_network

SUM = "0" * 64


def build(stack: Stack, setup: NodeSetup, *, nat: Nat = Nat.NONE, **changes: Any) -> HyperPodCluster:
    given: dict[str, Any] = {
        "groups": [controller(), worker()],
        "lifecycle": Lifecycle(on_create="on_create.sh"),
        "scripts_bucket": bucket(stack, "scripts"),
        "node_setup": setup,
    }
    if "network" not in changes:
        zone, endpoints = f"{REGION}a", HYPERPOD_ENDPOINTS
        given["network"] = TrainingNetwork(stack, "Network", zone=zone, nat=nat, interface_endpoints=endpoints)
    return HyperPodCluster(stack, "Cluster", **given | changes)


def bucket(stack: Stack, name: str) -> s3.IBucket:
    return s3.Bucket.from_bucket_name(stack, name.capitalize(), name)


def test_a_download_that_does_not_arrive_is_refused(stack: Stack) -> None:
    mount = S3Mount(bucket=bucket(stack, "data"), path="/data")
    with pytest.raises(ConfigurationError) as refused:
        build(stack, NodeSetup(exporters=Exporters(), s3_mounts=[mount]))
    exporters, mounts = refused.value.problems
    assert exporters.startswith("'node_setup.exporters' fetches files of releases at GitHub from github.com, ")
    assert mounts.startswith("'node_setup.s3_mounts' fetches Mountpoint for Amazon S3 from s3.amazonaws.com: ")
    assert all(problem.endswith("or give the network a NAT gateway") for problem in refused.value.problems)


def test_nat_or_files_of_ones_own_are_enough(stack: Stack) -> None:
    tools = [
        ToolFile(tool=NodeTool.NODE_EXPORTER, bucket=bucket(stack, "tools"), key="node.tar.gz", sha256=SUM),
    ]
    build(stack, NodeSetup(exporters=Exporters(), tools=tools))


def test_with_nat_everything_arrives(stack: Stack) -> None:
    build(stack, NodeSetup(exporters=Exporters()), nat=Nat.ONE)


def test_missing_endpoints_are_a_warning(stack: Stack) -> None:
    some = [endpoint for endpoint in HYPERPOD_ENDPOINTS if endpoint not in {Endpoint.STS, Endpoint.SAGEMAKER_API}]
    network = TrainingNetwork(stack, "Network", zone=f"{REGION}a", nat=Nat.NONE, interface_endpoints=some)
    build(stack, NodeSetup(), network=network)
    text = "HyperPod nodes use sagemaker.api, sts too .HYPERPOD_ENDPOINTS., and containers ecr.api, ecr.dkr .*:no-nat"
    assert len(Annotations.from_stack(stack).find_warning("/Stack/Cluster", Match.string_like_regexp(text))) == 1


@pytest.mark.parametrize(("endpoint", "warned"), [((), 1), ((Endpoint.SECRETS_MANAGER,), 0)])
def test_a_password_that_nobody_may_fetch_is_a_warning(
    stack: Stack, endpoint: tuple[Endpoint, ...], warned: int
) -> None:
    zones, endpoints = [f"{REGION}a", f"{REGION}b"], (*HYPERPOD_ENDPOINTS, *endpoint)
    network = TrainingNetwork(
        stack, "Network", zone=zones[0], service_zones=zones, nat=Nat.NONE, interface_endpoints=endpoints
    )
    HyperPodCluster(
        stack,
        "Cluster",
        network=network,
        groups=[controller(), worker()],
        provisioning=NodeProvisioning.CONTINUOUS,
        accounting=AccountingDatabase(stack, "Database", network=network),
    )
    text = "add secretsmanager to 'interface_endpoints' .*:accounting-out-of-reach"
    found = Annotations.from_stack(stack).find_warning("/Stack/Cluster", Match.string_like_regexp(text))
    assert len(found) == warned


def test_of_another_network_nobody_knows(stack: Stack) -> None:
    build(stack, NodeSetup(exporters=Exporters()), network=existing_network(stack))


@pytest.mark.parametrize(("nat", "warned"), [(Nat.NONE, 1), (Nat.ONE, 0)])
def test_what_another_image_may_lack_is_a_warning(stack: Stack, nat: Nat, warned: int) -> None:
    build(stack, NodeSetup(containers=Containers()), nat=nat)
    text = "without NAT the nodes cannot install docker.io, gcc, make of 'containers' from Ubuntu's archive .*"
    found = Annotations.from_stack(stack).find_warning("/Stack/Cluster", Match.string_like_regexp(text))
    assert len(found) == warned
