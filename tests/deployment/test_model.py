"""A deployment as a value: loaded, dumped, frozen; and nothing but a ConfigurationError for anything else."""

import copy
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment._document import write_document
from cdk_trainyard.deployment.schema import deployment_schema
from cdk_trainyard.instances import InstanceType, hyperpod_type_names
from tests.deployment.good_file import GOOD, edited, problems_of
from tests.support import DEPLOYMENTS

DATA = Path(__file__).parent / "data"
FILES = [*DEPLOYMENTS, *sorted(DATA.glob("*.yaml"))]


load = Deployment.load


def test_the_smallest_file_has_every_default(write: Callable[[str], Path]) -> None:
    deployment = load(write(edited()))
    assert (deployment.name, deployment.region, deployment.account, deployment.tags) == ("demo", "us-east-1", None, {})
    assert deployment.network.zone == "use1-az4"
    assert deployment.storage.lustre is not None
    assert deployment.storage.lustre.at == "/fsx"
    assert deployment.storage.buckets.auto_delete is False
    assert deployment.alerts is None
    assert [group.name for group in deployment.cluster.groups] == ["head", "workers"]
    assert deployment.cluster.groups[1].volumes[0].size_gb == 500
    assert deployment.cluster.node_recovery == "Automatic"


def test_a_loaded_deployment_knows_its_lines(write: Callable[[str], Path]) -> None:
    path = write(edited())
    deployment = load(path)
    assert deployment.locate("cluster", "groups", "workers", "count") == f"{path}:18:14"
    assert deployment.locate("cluster", "groups", "workers", "partition") == f"{path}:15:5"
    assert deployment.resolve_path("scripts") == path.parent / "scripts"


def test_a_deployment_made_in_python_has_no_lines(write: Callable[[str], Path]) -> None:
    loaded = load(write(edited()))
    made = replace(loaded, _document=None)
    assert made == loaded
    assert made.locate("name") == "demo"
    assert made.resolve_path("scripts") == Path("scripts")


def test_a_deployment_cannot_be_changed(write: Callable[[str], Path]) -> None:
    deployment = load(write(edited()))
    with pytest.raises(FrozenInstanceError):
        deployment.name = "other"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_dumped_and_loaded_again_is_equal(path: Path, write: Callable[[str], Path]) -> None:
    deployment = Deployment.load(path)
    written = write(deployment.dump())
    shutil.copytree(DATA / "scripts", written.parent / "scripts")
    assert Deployment.load(written) == deployment


def used(data: Any, path: str = "") -> Iterator[str]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield f"{path}.{key}"
            yield from used(value, f"{path}.{key}")
    elif isinstance(data, list):
        for value in data:
            yield from used(value, path)


def test_the_everything_files_use_every_key() -> None:
    """So that the tests that go through them see everything."""
    keys = {key.rpartition(".")[2] for path in DATA.glob("*.yaml") for key in used(yaml.safe_load(path.read_text()))}
    schema = deployment_schema()
    known = {key for node in (schema, *schema["$defs"].values()) for key in node.get("properties", {})}
    assert known - keys == set()


# ---------------------------------------------------------------- properties
NAMES = st.from_regex(r"[a-zA-Z0-9](-?[a-zA-Z0-9]){0,20}", fullmatch=True)
TAGS = st.text("abcdefgh 019_.:/=+-@", max_size=20).map(str.strip)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


PUBLISHED = [name for name in hyperpod_type_names() if "hyperpod_addresses" not in InstanceType.of(name).unknown]
"""Types of which it is known how many addresses a node takes."""


@st.composite
def groups(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(NAMES, min_size=2, max_size=5, unique=True))
    found: dict[str, Any] = {
        name: {
            "role": "compute",
            "instance_type": draw(st.sampled_from(PUBLISHED)),
            "count": draw(st.integers(0, 40)),
        }
        | draw(
            st.sampled_from(
                [
                    {},
                    {"partition": "p1"},
                    {"volumes": []},
                    {
                        "raw_overrides": {
                            "OverrideVpcConfig": {
                                "Subnets": ["subnet-01234567", {"Fn::ImportValue": "c"}],
                                "SecurityGroupIds": ["sg-01234567"],
                            }
                        }
                    },
                ]
            )
        )
        for name in names
    }
    found[names[0]] = {"role": "controller", "instance_type": "ml.m5.large", "count": 1}
    return found


NETWORKS = [{"zone": "us-east-1a"}, {"zone": "use1-az4", "nat": "none", "cidr": "10.9.0.0/20"}]
DEPLOYMENT = st.fixed_dictionaries(
    {
        "name": st.from_regex(r"[a-zA-Z][a-zA-Z0-9-]{0,40}", fullmatch=True),
        "region": st.just("us-east-1"),
        "network": st.sampled_from(NETWORKS),
        "orchestrator": st.just("hyperpod"),
        "cluster": st.fixed_dictionaries({"groups": groups()}, optional={"node_recovery": st.just("None")}),
    },
    optional={
        "account": st.from_regex(r"[0-9]{12}", fullmatch=True),
        "tags": st.dictionaries(TAGS.filter(bool), TAGS, max_size=3),
        "storage": st.fixed_dictionaries({}, optional={"lustre": st.just({"capacity_gib": 2400})}),
    },
)


@settings(max_examples=60 * settings().max_examples // 100, suppress_health_check=list(HealthCheck))
@given(data=DEPLOYMENT)
def test_any_deployment_dumped_and_loaded_again_is_equal(data: dict[str, Any], write: Callable[[str], Path]) -> None:
    first = load(write(write_document(data)))
    assert load(write(first.dump())) == first


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-5, 10**6), st.floats(-2, 2), TEXT, st.sampled_from([*"{[}]", "Spot"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield from places(value, (*path, key))


EVERYTHING = [yaml.safe_load(path.read_text()) for path in FILES]


@settings(max_examples=3 * settings().max_examples, suppress_health_check=list(HealthCheck))
@given(choice=st.data(), value=VALUES)
def test_any_value_anywhere_is_taken_or_refused_in_our_words(
    choice: st.DataObject, value: Any, write: Callable[[str], Path]
) -> None:
    data = copy.deepcopy(choice.draw(st.sampled_from(EVERYTHING)))
    *above, last = choice.draw(st.sampled_from(list(places(data))))
    target = data
    for part in above:
        target = target[part]
    target[last] = value
    problems_of(write(write_document(data)))


@settings(max_examples=settings().max_examples, suppress_health_check=list(HealthCheck))
@given(data=st.dictionaries(st.one_of(TEXT, st.sampled_from(["name", "network", "cluster", "orchestrator"])), VALUES))
def test_any_mapping_is_taken_or_refused(data: dict[str, Any], write: Callable[[str], Path]) -> None:
    assert problems_of(write(write_document(data)))


@pytest.mark.parametrize("key", ["name", "network", "storage", "orchestrator", "cluster", "tags", "alerts"])
@pytest.mark.parametrize("value", ["hello", "[]", "{}", "[a, b]", "5", "true", "''"])
def test_every_wrong_form_of_a_section_is_refused_or_taken(key: str, value: str, write: Callable[[str], Path]) -> None:
    without = re.sub(rf"^{key}:.*\n( .*\n)*", "", GOOD, flags=re.MULTILINE)
    problems_of(write(f"{without}{key}: {value}\n"))
