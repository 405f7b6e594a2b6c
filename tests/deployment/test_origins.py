"""Constructs know the line of the deployment file that asked for them; templates do not."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App
from constructs import IConstruct

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.origins import say_origins
from cdk_trainyard.origin import MADE, ORIGIN, PROPERTIES, WRITTEN
from cdk_trainyard.report import read_assembly
from stacks import build_stacks
from tests.support import ROOT

DATA = Path(__file__).parent / "data"
FILE = ROOT / "deployments" / "parallelcluster-trn1-ultracluster.yaml"


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Synthesize without and with origins."""
    folders = []
    for says in (False, True):
        folder = tmp_path_factory.mktemp("cdk")
        app = App(outdir=str(folder))
        deployment = Deployment.load(FILE)
        build_stacks(app, deployment)
        if says:
            say_origins(app, deployment)
        app.synth()
        folders.append(folder)
    return folders


def test_templates_stay_as_they_are(apps: list[Path]) -> None:
    one, other = ({path.name: path.read_bytes() for path in each.glob("*.template.json")} for each in apps)
    assert one == other


def test_each_resource_of_the_library_has_its_line(apps: list[Path]) -> None:
    lines = FILE.read_text().splitlines()
    section = {}
    for resource in read_assembly(apps[1]).resources.values():
        file, line, _ = resource.origin.written.rsplit(":", 2)
        assert file == str(FILE)
        section[resource.path] = lines[int(line) - 1].strip().partition(" #")[0]
    assert section["StorageStack/Lustre"] == "lustre:"
    assert section["StorageStack/Accounting"] == "accounting: {}"
    assert section["NetworkStack/Network"] == "network:"
    assert section["TrainingStack/Cluster"] == "cluster:"


@pytest.fixture(scope="module")
def origin() -> Callable[[str, str], dict[str, Any]]:
    """Return what a construct of a deployment says of itself; each file is built once."""

    @cache
    def built(file: str) -> App:
        app, deployment = App(), Deployment.load(DATA / f"{file}.yaml")
        build_stacks(app, deployment)
        say_origins(app, deployment)
        return app

    def said(file: str, path: str) -> dict[str, Any]:
        construct: IConstruct = built(file)
        for name in path.split("/"):
            construct = construct.node.find_child(name)
        (data,) = (each.data for each in construct.node.metadata if each.type == ORIGIN)
        return dict(data)

    return said


def line(written: str) -> str:
    file, number, _ = written.rsplit(":", 2)
    return Path(file).read_text().splitlines()[int(number) - 1].strip()


@pytest.mark.parametrize(
    ("file", "path", "key"),
    [
        ("everything_monitored", "TrainingStack/Metrics", "monitoring:"),
        ("everything_monitored", "TrainingStack/AlertRules", "alarms:"),
        ("everything_monitored", "TrainingStack/Environment", "monitoring:"),
        ("everything_monitored", "TrainingStack/Grafana", "grafana:"),
        ("everything_fleet", "TrainingStack/Master", "master:"),
        ("everything_fleet", "TrainingStack/Fleet/Logs", "log_retention_days:"),
        ("everything_serving", "ServingStack/Door", "load_balancer:"),
        ("everything_serving", "ServingStack/WebAcl", "web_acl: { requests_per_address: 1000 }"),
        ("everything_serving", "ServingStack/Monitoring", "monitoring: {"),
        ("everything_serving", "ServingStack/Compilation", "compile:"),
        ("everything_serving", "ServingStack/Service", "serving:"),
        ("everything_serving", "ServingStack/Service/Hosts", "hosts:"),
        ("everything_serving", "ServingStack/Service/Task", "engine:"),
        ("everything_new", "NetworkStack/Network", "network:"),
        ("everything_new", "NetworkStack/Network/FlowLogs", "flow_logs_"),
        ("everything_new", "NetworkStack/Network/Public", "public_zones:"),
        ("everything_new", "NetworkStack/Network/Endpoints", "interface_endpoints:"),
        ("everything_new", "StorageStack/Accounting", "accounting:"),
    ],
)
def test_what_is_said_by_itself_has_its_own_line(file: str, path: str, key: str, origin: Any) -> None:
    """What a file says nothing of is its section's."""
    written = origin(file, path)[WRITTEN]
    assert line(written).startswith(key)


@pytest.mark.parametrize(
    ("file", "path", "name", "key"),
    [
        ("everything_new", "TrainingStack/Cluster", "InstanceGroups.0", "controller"),
        ("everything_new", "TrainingStack/Cluster", "InstanceGroups.2.InstanceCount", "count: 4"),
        ("everything_parallelcluster", "TrainingStack/Cluster", "ClusterConfiguration.HeadNode", "head_node:"),
        ("everything_fleet", "TrainingStack/Fleet/Template1", "LaunchTemplateData.ImageId", "image:"),
        ("everything_new", "StorageStack/Lustre", "StorageCapacity", "capacity_gib:"),
    ],
)
def test_a_property_has_the_line_of_its_key(file: str, path: str, name: str, key: str, origin: Any) -> None:
    assert key in line(origin(file, path)[PROPERTIES][name])


def test_the_class_that_makes_it_is_found_in_the_library(apps: list[Path]) -> None:
    lustre = next(each for each in read_assembly(apps[1]).resources.values() if each.path == "StorageStack/Lustre")
    module, line = lustre.origin.made.split(":")
    source = ROOT / "constructs" / f"{module.replace('.', '/')}.py"
    assert "def __init__(" in source.read_text().splitlines()[int(line) - 1]


def test_metadata_is_of_one_type(apps: list[Path]) -> None:
    metadata = json.loads((apps[1] / "StorageStack.metadata.json").read_text())
    (entry,) = [each for each in metadata["/StorageStack/Lustre"] if each["type"] == ORIGIN]
    assert {*entry["data"]} == {WRITTEN, MADE, PROPERTIES}
