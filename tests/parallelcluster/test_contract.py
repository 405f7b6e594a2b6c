"""The contract with ParallelCluster: what is taken out of an app, and what ParallelCluster says of it."""

import re
from copy import deepcopy
from pathlib import Path

import pytest
from aws_cdk import App

from cdk_trainyard.cli.contract.ask import ask
from cdk_trainyard.cli.contract.collect import clusters
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.parallelcluster import ComputeResource, ParallelCluster, SharedEbs, SharedStorage
from stacks import build_stacks
from tests.parallelcluster.parts import DEPLOYMENTS, head, new_network, new_stack, queue, trn1
from tools.contract import agreement
from tools.contract.agreement import disagreement, main
from tools.contract.table import rows


@pytest.fixture(scope="module")
def assemblies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The four deployments, each with its own cdk.out."""
    made = {}
    for name, define in DEPLOYMENTS.items():
        made[name] = tmp_path_factory.mktemp(name)
        app = App(outdir=str(made[name]))
        define(new_stack(app))
        app.synth()
    return made


def test_the_configuration_is_found_with_its_name_and_version(assemblies: dict[str, Path]) -> None:
    (found,) = clusters(assemblies["hello"])
    assert (found.stack, found.logical_id) == ("Stack", "ClusterEB0386A7")
    assert (found.name, found.version, found.kept) == ("Stack-Cluster-F0EB02FA", "3.16.1", False)


def test_references_become_ids_that_look_like_ones_and_subnets_bring_their_facts(assemblies: dict[str, Path]) -> None:
    (found,) = clusters(assemblies["trn1"])
    subnet = found.config["HeadNode"]["Networking"]["SubnetId"]
    assert re.fullmatch(r"subnet-[0-9a-f]{17}", subnet)
    # public, and giving no public address by itself
    assert found.subnets[subnet] == {"zone": "us-east-1a", "public": False, "cidr": "10.1.0.0/24"}
    (private,) = found.config["Scheduling"]["SlurmQueues"][0]["Networking"]["SubnetIds"]
    assert found.subnets[private] == {"zone": "us-east-1a", "public": False, "cidr": "10.1.128.0/17"}
    assert re.fullmatch(r"fs-[0-9a-f]{17}", found.config["SharedStorage"][0]["FsxLustreSettings"]["FileSystemId"])
    assert "Fn::" not in str(found.config)


def test_references_across_stacks_are_followed(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    owner, user = new_stack(app, name="Owner"), new_stack(app, name="User")
    ParallelCluster(user, "Cluster", network=new_network(owner), head_node=head(), queues=[queue()])
    app.synth()
    (found,) = clusters(tmp_path)
    assert found.subnets[found.config["HeadNode"]["Networking"]["SubnetId"]]["zone"] == "us-east-1a"


@pytest.mark.contract
def test_parallelcluster_takes_all_four_and_every_shipped_deployment_and_agrees_on_the_table(
    assemblies: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = sorted((Path(__file__).parents[2] / "deployments").glob("parallelcluster-*.yaml"))
    assert len(files) == 4
    for file in files:
        app = App(outdir=str(tmp_path / file.stem))
        build_stacks(app, Deployment.load(file))
        app.synth()
    assert main([*map(str, assemblies.values()), *(str(tmp_path / file.stem) for file in files)]) == 0
    said = capfd.readouterr().out
    assert said.count(": taken\n") == said.count("  renders ") == len(DEPLOYMENTS) + len(files)
    assert f"agreement: {len(rows())} of {len(rows())} clusters get the same verdict from both" in said
    assert "not asked, for it takes an account: AdditionalIamPolicyValidator" in said
    assert "pcluster.json is that of the package" in said


@pytest.mark.contract
def test_reserved_capacity_is_in_the_zone_of_its_first_queue(tmp_path: Path) -> None:
    """Whatever the zone is called; two queues in two zones cannot share it."""
    requests = []
    for zone in ("us-east-1b", "use1-az4"):
        app = App(outdir=str(tmp_path / zone))
        stack = new_stack(app)
        compute = ComputeResource(instance_type="p5.48xlarge", max_count=2)
        ParallelCluster(
            stack,
            "Cluster",
            network=new_network(stack, zone=zone),
            head_node=head(),
            queues=[
                queue(compute, name="block", capacity=UsageClass.CAPACITY_BLOCK, reservation_id="cr-0123456789abcdef0"),
                queue(trn1(), name="reserved", reservation_id="cr-0123456789abcdef1"),
            ],
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/old", volume_id="vol-0123456789abcdef0")]),
        )
        app.synth()
        (found,) = clusters(tmp_path / zone)
        requests.append({"name": zone, "config": found.config, "subnets": found.subnets})
    shared = deepcopy(requests[0])
    one, other = shared["config"]["Scheduling"]["SlurmQueues"]
    other["CapacityReservationTarget"] = one["CapacityReservationTarget"]
    other["Networking"]["SubnetIds"] = ["subnet-" + "e" * 17]  # of the first zone, as nobody says otherwise
    answers = ask({"checks": [*requests, shared]})["checks"]
    assert [answer["errors"] for answer in answers[:2]] == [[], []]
    assert "CapacityReservationValidator" in {error.split(":")[0] for error in answers[2]["errors"]}


@pytest.mark.contract
def test_what_parallelcluster_refuses_fails_the_contract(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though nothing else is amiss: the table and the data are asked about above."""
    monkeypatch.setattr(agreement, "rows", list)
    monkeypatch.setattr(agreement, "is_that_of_the_package", lambda _extractor: True)
    app = App(outdir=str(tmp_path))
    cluster = ParallelCluster(
        made := new_stack(app), "Cluster", network=new_network(made), head_node=head(), queues=[queue()]
    )
    resource = cluster.node.find_child("Resource").node.default_child
    resource.add_property_override("ClusterConfiguration.Image.Os", "alinux2")
    app.synth()
    assert main([str(tmp_path)]) == 1
    assert "refused\n  error: schema: Image.Os: Must be one of: alinux2023" in capfd.readouterr().out


def test_a_disagreement_is_said_from_both_sides() -> None:
    good = next(row for row in rows() if row.good)
    bad = next(row for row in rows() if not row.good and row.stricter is None)
    stricter = next(row for row in rows() if row.stricter)
    agreed, refused = {"errors": [], "unknown_instance_types": []}, {"errors": ["x"], "unknown_instance_types": []}
    assert disagreement(good, agreed) is None
    assert disagreement(bad, refused) is None
    assert disagreement(stricter, agreed) is None
    assert disagreement(good, refused) == f"{good.name}: ParallelCluster says ['x']"
    assert disagreement(bad, agreed) == f"{bad.name}: ParallelCluster says nothing"
    assert disagreement(stricter, refused) == f"{stricter.name}: ParallelCluster says ['x']"
    unasked = {"errors": [], "unknown_instance_types": ["p9.large"]}
    assert "ParallelCluster was not asked" in str(disagreement(good, unasked))
