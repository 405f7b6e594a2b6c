"""The table of what is fetched holds what the shipped files fetch, and nothing else."""

from typing import Any

import pytest

from cdk_trainyard.reach import Region, addresses, addresses_at, fetches
from cdk_trainyard.reach.table import address_problems, fetch_problems
from cdk_trainyard.versions import rows
from tests.reach.collector import FOR_PEOPLE, LIBRARIES, Finding, collect, findings
from tests.reach.parts import REGIONS, US
from tests.support import ROOT


def lacking(found: Any) -> list[tuple[str, str]]:
    """Return what files fetch and the table does not say of them."""
    known: dict[str, set[str]] = {}
    for fetch in fetches():
        known.setdefault(fetch.by, set()).update(address.name for address in fetch.addresses)
    return [(name, said) for name, said, meant in found if not meant & known.get(name, set())]


@pytest.fixture(scope="module")
def fetched() -> list[Finding]:
    return collect()


def test_whatever_a_shipped_file_fetches_is_in_the_table(fetched: list[Finding]) -> None:
    assert lacking(fetched) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lifecycle_scripts/hyperpod/steps/motd.sh", "curl -fsS https://motd.example.org/today"),
        ("lifecycle_scripts/hyperpod/steps/motd.sh", "install_packages figlet"),
        ("lifecycle_scripts/hyperpod/steps/motd.sh", "aws dynamodb get-item --table-name x"),
        ("lifecycle_scripts/hyperpod/steps/s3_mounts.sh", "fetch_tool node_exporter x y"),
        ("lifecycle_scripts/fleet/steps/node.sh", 'docker pull "ghcr.io/acme/thing:1"'),
        ("lifecycle_scripts/compile/compile.py", 'import urllib.request as r\nr.urlopen("https://weights.example.org/x")'),
        ("lifecycle_scripts/fleet/node.py", "import boto3\nboto3.client('sqs')"),
        ("constructs/cdk_trainyard/serving/node_health.py", '_IMAGE = "quay.io/acme/thing:v1"'),
        ("constructs/cdk_trainyard/versions/data/engines.json", '{"reference": "gcr.io/acme/thing:v1"}'),
    ],
)  # fmt: skip
def test_a_file_that_fetches_what_the_table_lacks_is_found(name: str, text: str) -> None:
    assert {found for found, _ in lacking(findings(name, text))} == {name}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lifecycle_scripts/fleet/setup.sh", "# see https://docs.example.org"),
        ("constructs/cdk_trainyard/fleet/x.py", '"""Source: https://docs.example.org/x."""'),
        ("constructs/cdk_trainyard/versions/data/engines.json", '{"source": "https://docs.example.org/x"}'),
    ],
)
def test_who_says_so_is_no_fetch(name: str, text: str) -> None:
    assert list(findings(name, text)) == []


def test_every_row_of_a_file_is_what_the_file_fetches(fetched: list[Finding]) -> None:
    found: dict[str, set[str]] = {}
    for name, _, meant in fetched:
        found.setdefault(name, set()).update(meant)
    stale = [
        (fetch.by, address.name)
        for fetch in fetches()
        if not fetch.by.startswith("agent: ")
        for address in fetch.addresses
        if address.name not in found.get(fetch.by, set())
    ]
    assert stale == []


def test_every_address_is_fetched_by_somebody() -> None:
    assert set(addresses()) == {address.name for fetch in fetches() for address in fetch.addresses}


def test_libraries_and_commands_for_people_are_what_they_are_called() -> None:
    """A file that fetches nothing itself, and one whose commands are printed: neither list outlives its reason."""
    for name in (*LIBRARIES, *FOR_PEOPLE):
        assert list(findings(name, (ROOT / name).read_text())), name
    for name in LIBRARIES:
        body = [line for line in (ROOT / name).read_text().splitlines() if "apt-get" in line or "curl " in line]
        assert all(line.startswith("  ") for line in body if not line.startswith("#")), name


def test_a_step_fetches_its_tool_from_where_it_is_pinned() -> None:
    """Whoever gives the option is told of the address that is really asked."""
    pinned = {row["tool"]: row["files"] for row in rows("tools")}
    of_table = {fetch.tool: fetch for fetch in fetches() if fetch.tool}
    assert set(of_table) == set(pinned)
    for tool, fetch in of_table.items():
        for file in pinned[tool].values():
            host, _, path = file["url"].removeprefix("https://").partition("/")
            bucket = path.partition("/")[0] if host == "s3.amazonaws.com" else None
            assert addresses_at(host, US, bucket) == list(fetch.addresses)


def test_a_host_that_no_table_knows_is_nowhere() -> None:
    assert addresses_at("downloads.example.org", US) == []
    (found,) = addresses_at("s3.amazonaws.com", US, "mountpoint-s3-release")
    assert found.name == "mountpoint-release"
    assert addresses_at("s3.amazonaws.com", US, "somebodys-bucket") == []


def test_every_text_can_be_written_out_in_every_region() -> None:
    for name in REGIONS:
        region = Region(name=name)
        for address in addresses().values():
            for target in address.targets:
                for text in (target.host, target.bucket, target.bucket_region, target.resource):
                    assert text is None or "{" not in region.write(text)


def test_layers_of_kubernetes_images_come_from_one_bucket_in_every_region() -> None:
    (address,) = [each for each in addresses().values() if each.name == "kubernetes-registry"]
    for name in REGIONS:
        assert len([each for each in address.targets if each.bucket and each.asked_in(name)]) == 1, name


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"what": "x", "targets": [], "date": "2026-11-22"}, "address 'a' must have 'source'"),
        ({"what": "x", "targets": [], "source": "y"}, "address 'a' must have 'date'"),
        (
            {"what": "x", "targets": [{"port": 80}], "source": "y", "date": "z"},
            "address 'a' has a target that says no 'host', 'public', 'service' or 'bucket'",
        ),
    ],
)
def test_an_address_without_a_source_or_a_place_is_refused(row: dict[str, Any], problem: str) -> None:
    assert address_problems({"a": row}) == [problem]


def test_a_fetch_of_what_no_table_knows_is_refused_by_name() -> None:
    rows = [
        {"by": "agent: X", "addresses": ["neuron-pipp"], "source": "y", "date": "z"},
        {"by": "agent: Y", "addresses": ["pypi"]},
        {"by": "a.sh", "addresses": [], "where": "there"},
    ]
    assert fetch_problems(rows, addresses()) == [
        (
            "the fetch of 'agent: X' names the address 'neuron-pipp', which the table lacks; "
            "did you mean 'neuron-pip' or 'neuron-apt' or 'neuron-yum'?"
        ),
        "the fetch of 'agent: Y' must have 'source' and 'date'",
        "the fetch of 'a.sh' has 'where', which no fetch has",
    ]
