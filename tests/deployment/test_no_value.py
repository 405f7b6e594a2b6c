"""A key without a value is answered once: nothing is said of what follows from it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.deployment.good_file import GOOD, GOOD_FLEET, GOOD_PARALLELCLUSTER, GOOD_SERVING, edited, problems_of

GROUPS = "  groups:\n    head:\n    workers:\n"


def without_a_value(text: str) -> Iterator[tuple[str, str]]:
    """Yield each key with the text that has nothing for its value, be it a section or a word."""
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        key = re.match(r"( *(?:- )?)(\w+):", line)
        if key is None:
            continue
        end = index + 1
        while end < len(lines) and re.match(rf" {{{len(key[1]) + 1}}}|{' ' * len(key[1])}- ", lines[end]):
            end += 1
        yield key[2], "".join([*lines[:index], f"{key[0]}\n", *lines[end:]])


@pytest.mark.parametrize("good", [GOOD, GOOD_PARALLELCLUSTER, GOOD_FLEET, GOOD_SERVING])
def test_nothing_follows_from_any_key(good: str, write: Callable[[str], Path]) -> None:
    for key, text in without_a_value(good):
        [problem] = problems_of(write(text))
        assert re.search(rf"[ '.]{key}' has no value; write one(, or remove the key)?$", problem)


def test_groups_are_counted_with_those_that_have_none(write: Callable[[str], Path]) -> None:
    says = "has no value; write one, or remove the key"
    text = GOOD[: GOOD.index("  groups:")] + GROUPS
    assert problems_of(write(text)) == [
        f"11:10: 'cluster.groups.head' {says}",
        f"12:13: 'cluster.groups.workers' {says}",
    ]


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        (
            [("cluster:\n  groups:", "cluster:\ngroups:")],
            ["9:9: 'cluster' has no value; indent 'groups' from line 10 on below it"],
        ),
        (
            [("cluster:\n  groups:", "cluster: # here\nlifecycle: {}\ngroups:")],
            ["9:9: 'cluster' has no value; indent 'lifecycle' to 'groups' from line 10 on below it"],
        ),
        (
            [("  zone:", "zone:"), ("  lustre:\n    capacity", "  lustre:\n  capacity")],
            [
                "3:9: 'network' has no value; indent 'zone' from line 4 on below it",
                "6:10: 'storage.lustre' has no value; indent 'capacity_gib' from line 7 on below it",
            ],
        ),
        (
            [("storage:\n  lustre:\n    capacity_gib: 1200\n", "alerts:\nregions: a\n")],
            [
                "5:8: 'alerts' has no value; write one, or remove the key",
                "6:1: 'regions' is no key here; 'region' is given already; leave one of both out",
            ],
        ),
    ],
)
def test_keys_beside_their_section_are_to_be_indented(
    edits: list[tuple[str, str]], says: list[str], write: Callable[[str], Path]
) -> None:
    assert problems_of(write(edited(*edits))) == says


def test_brackets_have_no_indentation(write: Callable[[str], Path]) -> None:
    text = '{"name": "x", "region": "us-east-1", "network": {"zone": "us-east-1a"},\n"cluster": null,\n"groups": {}}\n'
    assert problems_of(write(text))[:2] == [
        "2:12: 'cluster' has no value; write one, or remove the key",
        "3:1: 'groups' is no key here; 'cluster.groups' is for hyperpod; 'orchestrator' is missing",
    ]


def test_a_key_that_can_say_none_says_how(write: Callable[[str], Path]) -> None:
    [problem] = problems_of(write(edited(("zone: use1-az4", "zone: use1-az4\n  flow_logs_retention_days: null"))))
    says = "'network.flow_logs_retention_days' has no value; write one, or remove the key; 0 stands for none"
    assert problem == f"5:29: {says}"


EXISTING = """\
network:
  vpc_id: vpc-0123456789abcdef0
  cidr: 10.1.0.0/16
  accelerator_subnet: { subnet_id: subnet-0123456789abcdef0, zone: us-east-1a, cidr: 10.1.0.0/20 }
  public_subnets:
"""
ZONE = "network:\n  zone: us-east-1a\n"
VENV = "    on_configured: [{{ script: neuron.sh, args: [--venv, {0}/n] }}]\n"
ON_FSX, ON_SHARED = (
    edited(
        ("alinux2023", "ubuntu2404"),
        ("    public: true\n", f"    public: true\n{VENV.format(place)}"),
        ("    - name: training\n", f"    - name: training\n  {VENV.format(place)}"),
        good=GOOD_PARALLELCLUSTER,
    )
    for place in ("/fsx", "/shared")
)
BUCKETS = """\
  buckets:
    datasets: { bucket_name: sets }
    checkpoints: { bucket_name: points }
    scripts: { bucket_name: scripts }
    models:
    auto_delete: true
"""
ALARM = "monitoring:\n  alarms: { DiskFull: { enabled: false, threshold: } }\n"
ON_CREATE = "  lifecycle: { on_create: on_create.sh }\n"
SETUP = f"""\
{ON_CREATE}\
  node_setup: {{ exporters: {{ gpu: true, neuron: true }}, neuron_environment: {{}} }}
"""


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (edited((ZONE, EXISTING), good=GOOD_PARALLELCLUSTER), "network.public_subnets"),
        (
            edited(
                (ZONE, f"{ZONE}  service_zones:\n"),
                ("- name: cpu\n", "- name: cpu\n      subnets: [service]\n"),
                good=GOOD_PARALLELCLUSTER,
            ),
            "network.service_zones",
        ),
        (
            edited(
                ("  head_node:\n", "  scripts:\n  head_node:\n    on_configured: [{ script: mine.sh }]\n"),
                good=GOOD_PARALLELCLUSTER,
            ),
            "cluster.scripts",
        ),
        (
            f"{GOOD_PARALLELCLUSTER}  slurm:\n    custom:\n      - DebugFlags:\n",
            r"cluster.slurm.custom\[0\].DebugFlags",
        ),
        (
            f"{GOOD_PARALLELCLUSTER}  raw_overrides:\n    HeadNode:\n      Imds: [{{ A: ~ }}]\n",
            r"cluster.raw_overrides.HeadNode.Imds\[0\].A",
        ),
        (f"{GOOD[: GOOD.index('    workers:')]}    workers:\n{SETUP}", "cluster.groups.workers"),
        (edited((ZONE, f"{ZONE}  vpc_id:\n"), good=GOOD_PARALLELCLUSTER), "network.vpc_id"),
        (
            GOOD.replace(ZONE.replace("us-east-1a", "use1-az4"), EXISTING.replace("vpc-0123456789abcdef0", "")).replace(
                "  public_subnets:\n", ""
            ),
            "network.vpc_id",
        ),
        (edited(("capacity_gib: 1200", "capacity_gib: 1200\n    file_system_id:")), "storage.lustre.file_system_id"),
        (edited(("  count: 8", "  count: 8\n  min_count:"), good=GOOD_FLEET), "cluster.min_count"),
        (edited(("    dlami:", "    ami_id:\n    dlami:"), good=GOOD_FLEET), "cluster.image.ami_id"),
        (edited(("    preset:", "    shape:\n    preset:"), good=GOOD_SERVING), "serving.model.shape"),
        (edited(("1200", "1200\n    backups: { retention_days: 7 }\n    data_repositories:")), "data_repositories"),
        (edited(("orchestrator:", f"{BUCKETS}orchestrator:")), "storage.buckets.models"),
        (
            edited(("  count: 8", "  count: 8\n  placement: cluster\n  reservation_id:"), good=GOOD_FLEET),
            "cluster.reservation_id",
        ),
        (f"{GOOD_SERVING}orchestrator:\n", "orchestrator"),
        (f"{GOOD_SERVING}cluster:\n", "cluster"),
        (edited(("storage:\n  lustre:\n    capacity_gib: 1200\n", "storage:\n"), good=ON_FSX), "storage"),
        (edited(("    capacity_gib: 1200\n", ""), good=ON_FSX), "storage.lustre"),
        (edited(("    ebs:\n      - at: /shared\n", ""), good=ON_SHARED), "cluster.shared_storage"),
        (edited(("      - at: /shared\n", ""), good=ON_SHARED), "cluster.shared_storage.ebs"),
        (
            edited((f"true\n{VENV.format('/fsx')}", "true\n    on_configured:\n"), good=ON_FSX),
            "cluster.head_node.on_configured",
        ),
        (
            edited(("[{ script: neuron.sh, args: [--venv, /fsx/n] }]\n  q", "[{ script: }]\n  q"), good=ON_FSX),
            r"cluster.head_node.on_configured\[0\].script",
        ),
        (
            edited(("orchestrator:", f"{ALARM}orchestrator:"), ("  groups:\n", f"{ON_CREATE}  groups:\n")),
            "monitoring.alarms.DiskFull.threshold",
        ),
    ],
)
def test_nothing_follows_beside_what_uses_it(text: str, path: str, write: Callable[[str], Path]) -> None:
    [problem] = problems_of(write(text))
    assert re.search(f"['.]{path}' has no value; write one(, or remove the key)?$", problem)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("own_alarms:\n    Full:", "10:10: 'monitoring.own_alarms.Full' has no value; write one, or remove the key"),
        (
            "own_alarms:\n    Full: 5",
            "10:11: 'monitoring.own_alarms.Full' must be a mapping ('expr: …', 'minutes: …' and 'summary: …'",
        ),
        (
            "alarms:\n    enabled: true",
            "belongs in 'monitoring.alarms.<name>', where it is true unless you say otherwise; leave it out here",
        ),
        ("alarms:\n    NodeDown: 5", "10:15: 'monitoring.alarms.NodeDown' must be a mapping ('threshold: …' on lines"),
    ],
)
def test_an_alarm_that_is_none(written: str, says: str, write: Callable[[str], Path]) -> None:
    found = problems_of(write(edited(("orchestrator:", f"monitoring:\n  {written}\norchestrator:"))))
    assert [problem for problem in found if says in problem], found


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (("zone: use1-az4", "nta:\n  zone: use1-az4"), "4:3: 'network.nta' is no key here; did you mean 'nat'?"),
        (("count: 1\n", "cuont:\n"), "14:7: 'cluster.groups.head.cuont' is no key here; did you mean 'count'?"),
        (("zone: use1-az4", "foo:\n  zone: use1-az4"), "4:3: 'network.foo' is no key here; there are "),
    ],
)
def test_a_key_that_is_none_is_no_key_without_a_value_either(
    edit: tuple[str, str], says: str, write: Callable[[str], Path]
) -> None:
    [problem] = problems_of(write(edited(edit)))
    assert problem.startswith(says)


def test_nothing_follows_from_what_a_misspelt_key_meant(write: Callable[[str], Path]) -> None:
    edits = [("  groups:\n", f"{ON_CREATE}  acounting: {{}}\n  groups:\n"), ("count: 1\n", "cuont: 1\n")]
    says = "is no key here; did you mean"
    assert problems_of(write(edited(*edits))) == [
        f"11:3: 'cluster.acounting' {says} 'accounting'?",
        f"16:7: 'cluster.groups.head.cuont' {says} 'count'?",
    ]
