"""Constructs know the line of the deployment file that asked for them; templates do not."""

import json
from pathlib import Path

import pytest
from aws_cdk import App

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.origins import say_origins
from cdk_trainyard.origin import MADE, ORIGIN, WRITTEN
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
        file, line, _ = resource.written.rsplit(":", 2)
        assert file == str(FILE)
        section[resource.path] = lines[int(line) - 1].strip().partition(" #")[0]
    assert section["StorageStack/Lustre"] == "lustre:"
    assert section["StorageStack/Accounting"] == "accounting: {}"
    assert section["NetworkStack/Network"] == "network:"
    assert section["TrainingStack/Cluster"] == "cluster:"


@pytest.mark.parametrize(
    ("file", "path", "line"),
    [
        ("everything_monitored", "TrainingStack/Metrics", "monitoring:"),
        ("everything_monitored", "TrainingStack/AlertRules", "monitoring:"),
        ("everything_monitored", "TrainingStack/Environment", "monitoring:"),
        ("everything_monitored", "TrainingStack/Grafana", "grafana:"),
        ("everything_fleet", "TrainingStack/Master", "master:"),
        ("everything_serving", "ServingStack/Door", "load_balancer:"),
        ("everything_serving", "ServingStack/WebAcl", "web_acl: { requests_per_address: 1000 }"),
        ("everything_serving", "ServingStack/Monitoring", "monitoring: {"),
        ("everything_serving", "ServingStack/Compilation", "compile:"),
        ("everything_serving", "ServingStack/Service", "serving:"),
    ],
)
def test_what_is_said_by_itself_has_its_own_line(file: str, path: str, line: str) -> None:
    """What a file says nothing of is its section's."""
    place = DATA / f"{file}.yaml"
    app, deployment = App(), Deployment.load(place)
    build_stacks(app, deployment)
    say_origins(app, deployment)
    stack, child = path.split("/")
    made = app.node.find_child(stack).node.find_child(child)
    (written,) = (each.data[WRITTEN] for each in made.node.metadata if each.type == ORIGIN)
    text = place.read_text().splitlines()[int(written.rsplit(":", 2)[1]) - 1]
    assert text.strip().startswith(line)


def test_the_class_that_makes_it_is_found_in_the_library(apps: list[Path]) -> None:
    lustre = next(each for each in read_assembly(apps[1]).resources.values() if each.path == "StorageStack/Lustre")
    module, line = lustre.made.split(":")
    source = ROOT / "constructs" / f"{module.replace('.', '/')}.py"
    assert "def __init__(" in source.read_text().splitlines()[int(line) - 1]


def test_metadata_is_of_one_type(apps: list[Path]) -> None:
    metadata = json.loads((apps[1] / "StorageStack.metadata.json").read_text())
    (entry,) = [each for each in metadata["/StorageStack/Lustre"] if each["type"] == ORIGIN]
    assert {*entry["data"]} == {WRITTEN, MADE}
