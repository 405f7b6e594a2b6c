"""What outlives its stack refers to nothing that goes with the stack."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Template

from tests.stacks.snapshots import shipped_templates
from tests.support import ROOT

FULL = sorted((ROOT / "tests" / "review" / "deployments").glob("*.yaml"))
SPARED = {
    # called while a first creation is rolled back, and never after
    ("Custom::DeletionProtection", "AWS::Lambda::Function"),
    # no node needs the provider, and `pcluster` deletes the cluster without it
    ("Custom::PclusterCluster", "AWS::CloudFormation::Stack"),
}
"""Type of what is kept and of what it refers to."""


def referred(value: Any) -> Iterator[str]:
    """Logical ids in a value of a template."""
    match value:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::Sub": str(text) | [str(text), *_]}:
            yield from re.findall(r"\$\{([A-Za-z0-9]+)", text)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from referred(each)


def is_kept(resource: dict[str, Any]) -> bool:
    return str(resource.get("DeletionPolicy")).startswith("Retain")


def lost(resources: dict[str, Any]) -> set[tuple[str, str]]:
    """Type of what is kept, and of what it refers to and loses."""
    return {
        (resource["Type"], resources[name]["Type"])
        for resource in resources.values()
        if is_kept(resource)
        for name in referred(resource.get("Properties", {}))
        if name in resources and not is_kept(resources[name])
    }


@pytest.mark.parametrize("stem", shipped_templates())
def test_what_a_shipped_deployment_keeps_refers_to_what_is_kept(stem: str) -> None:
    found = [lost(template["Resources"]) for template in shipped_templates()[stem].values()]
    assert set().union(*found) <= SPARED


@pytest.mark.slow
@pytest.mark.parametrize("path", FULL, ids=lambda path: path.stem)
def test_what_a_deployment_keeps_refers_to_what_is_kept(
    path: Path, templates: Callable[[Path], dict[str, Template]]
) -> None:
    found = [lost(template.to_json()["Resources"]) for template in templates(path).values()]
    assert set().union(*found) <= SPARED
