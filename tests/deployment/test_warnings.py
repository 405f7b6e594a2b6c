"""What ``check`` warns of is what the constructs warn of at synthesis."""

from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import Annotations, App

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.warnings import warnings
from stacks import build_stacks
from tests.deployment.good_file import GOOD, GOOD_FLEET, GOOD_SERVING, edited

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


OWN_ALARMS = {
    "Idle": ("slurm_jobs_pending{$cluster} > 5", "no-slurm"),
    "Everywhere": ('max by (node) (node_load1{job="node"}) > 900', "every-cluster"),
    "ByName": ('up{cluster="demo"} == 0', "other-cluster"),
    "Another": ('up{cluster="another-one"} == 0', ""),
    "Right": ("up{$cluster} == 0 unless absent(slurm_up)", ""),
}
"""Each with what is said of it, where that is said."""
SHARED = "  workspace_arn: arn:aws:aps:us-west-2:111111111111:workspace/ws-0123\n"


SERVED = GOOD_SERVING[GOOD_SERVING.index("serving:") :]
BOTH = edited(("usw2-az2\n", "usw2-az2\n  service_zones: [usw2-az1, usw2-az2]\n"), good=GOOD_FLEET) + SERVED


@pytest.mark.parametrize(
    ("good", "more", "slugs"),
    [
        (GOOD_FLEET, SHARED, {"no-slurm", "every-cluster", "other-cluster"}),
        (GOOD_FLEET, "", {"no-slurm", "other-cluster"}),
        (GOOD_SERVING, SHARED, {"no-slurm", "every-cluster", "other-cluster"}),
        (BOTH, "", {"no-slurm", "other-cluster"}),
        (GOOD, "", {"other-cluster"}),
        (GOOD.replace("cluster:\n", "cluster:\n  cluster_name: demo\n"), "", set()),
    ],
)
def test_an_alarm_of_ones_own_asks_for_metrics_of_the_deployment(
    good: str, more: str, slugs: set[str], write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "".join(f"    {name}: {{expr: '{expr}', minutes: 1, summary: x}}\n" for name, (expr, _) in OWN_ALARMS.items())
    scripts = (
        good.replace("cluster:\n", "cluster:\n  lifecycle: {on_create: on_create.sh}\n") if "hyperpod" in good else good
    )
    deployment = Deployment.load(write(f"{scripts}monitoring:\n{more}  own_alarms:\n{own}"))
    prefix = "@cdk-trainyard/monitoring:"
    found = {(each.slug.removeprefix(prefix), each.at[-1]) for each in warnings(deployment) if prefix in each.slug}
    assert found == {(slug, name) for name, (_, slug) in OWN_ALARMS.items() if slug in slugs}
    said = said_at_synthesis(deployment, monkeypatch)
    assert {each for each in said if prefix in each[0]} == {
        (each.slug, each.text) for each in warnings(deployment) if prefix in each.slug
    }


def test_an_alarm_of_what_is_free_rings_when_little_is_used(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = "monitoring:\n  alarms: {InodesLow: {threshold: 50}, DiskFull: {threshold: 90}}\n"
    deployment = Deployment.load(write(f"{GOOD_SERVING}{changed}"))
    (found,) = (each for each in warnings(deployment) if each.at[0] == "monitoring")
    assert (found.at, found.slug) == (("monitoring", "alarms", "DiskFull"), "@cdk-trainyard/monitoring:rings-early")
    assert found.text.endswith("less than 90 percent are free; for 90 percent that are used, write 10")
    assert (found.slug, found.text) in said_at_synthesis(deployment, monkeypatch)
