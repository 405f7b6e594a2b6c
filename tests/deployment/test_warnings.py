"""What ``check`` warns of is what the constructs warn of at synthesis."""

from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import Annotations, App

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.warnings import warnings
from stacks import build_stacks
from tests.deployment.good_file import edited

DATA = Path(__file__).parent / "data"
OF_OBJECTS = ("-key", "-policy")
"""How ids end of what only an object of CDK's tells."""
FULL = (
    "everything_new",
    "everything_fleet",
    "everything_parallelcluster",
    "everything_serving",
    "existing_serving",
    "unbuilt_serving",
)


def said_at_synthesis(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    said = set[tuple[str, str]]()
    monkeypatch.setattr(Annotations, "add_warning_v2", lambda _, slug, text: said.add((slug, text)))
    build_stacks(App(), deployment)
    return {(slug, text) for slug, text in said if not slug.endswith(OF_OBJECTS)}


@pytest.mark.parametrize("name", FULL)
def test_a_file_tells_what_its_constructs_tell(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = Deployment.load(DATA / f"{name}.yaml")
    found = {(each.slug, each.text) for each in warnings(deployment)}
    assert found
    assert found == said_at_synthesis(deployment, monkeypatch)


def test_a_warning_stands_at_the_section_that_it_is_about(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = Deployment.load(write(edited(("zone: use1-az4\n", "zone: use1-az4\n  cidr: 172.17.0.0/16\n"))))
    (found,) = warnings(deployment)
    assert (found.at, found.slug) == (("network",), "@cdk-trainyard/network:docker-bridge")
    assert said_at_synthesis(deployment, monkeypatch) == {(found.slug, found.text)}
