"""A value of another kind in a mapping whose names are the user's is answered, beside well-formed ones of any name."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from cdk_trainyard.deployment._document import KeyPath, read_document
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.options.fields import Json, Named, fields_of
from cdk_trainyard.tokens import UNKNOWN
from tests.deployment.good_file import GOOD, GOOD_FLEET, GOOD_PARALLELCLUSTER, GOOD_SERVING, problems_of
from tests.deployment.mutations import mutations
from tests.options.test_every_option import reachable
from tests.support import DEPLOYMENTS

WRONG = ("", "17", "[x]", "{x: y}", "true", '"a\\nb"')
TAGS = {"team": "research", "cost-center": '"4711"', "aws:x": "x", "parallelcluster:x": "x"}
NODES = {"Networking": "{AdditionalSecurityGroups: []}", "Image": "{CustomAmi: ami-0123456789abcdef0}", "Name": "x"}
SLURM = {"MaxTime": '"1-00:00:00"', "PriorityTier": "10", "Weight": "3", "Gres": "gpu:8", "Nodes": "x"}
VARIABLES = {
    **dict.fromkeys(("MAX_INPUT_TOKENS", "MAX_BATCH_PREFILL_TOKENS", "MAX_BATCH_TOTAL_TOKENS"), '"4000"'),
    **dict.fromkeys(("MAX_BATCH_SIZE", "HF_NUM_CORES", "NEURON_RT_NUM_CORES", "MAX_CONCURRENT_REQUESTS"), '"2"'),
    **dict.fromkeys(("SM_ON_MAX_MODEL_LEN", "SM_ON_BATCH_SIZE", "VLLM_HTTP_TIMEOUT_KEEP_ALIVE"), '"9000"'),
    **dict.fromkeys(("HF_HUB_OFFLINE", "NEURON_RT_VISIBLE_CORES"), '"1"'),
    "MODEL_ID": "x",
    "REVISION": "main",
    "HOSTNAME": "127.0.0.1",
    "VLLM_PLUGINS": "x",
    "NEURON_CC_FLAGS": "--lnc=2",
}
MAPPINGS = {  # a good file, a line of it, what stands below that, and names with values that are right in some file
    "DeploymentSpec.tags": (GOOD_FLEET, "region: us-west-2\n", "tags: …", TAGS),
    "ParallelClusterSection.tags": (GOOD_PARALLELCLUSTER, "cluster:\n", "  tags: …", TAGS),
    "ParallelClusterSection.raw_overrides": (
        GOOD_PARALLELCLUSTER,
        "cluster:\n",
        "  raw_overrides: …",
        {"DeploymentSettings": "{DefaultUserHome: Local}", "DevSettings": "{Timeouts: {HeadNodeBootstrapTimeout: 60}}"},
    ),
    "HeadNode.raw_overrides": (GOOD_PARALLELCLUSTER, "  head_node:\n", "    raw_overrides: …", NODES),
    "Queue.slurm": (GOOD_PARALLELCLUSTER, "      placement: cluster\n", "      slurm: …", SLURM),
    "Queue.tags": (GOOD_PARALLELCLUSTER, "      placement: cluster\n", "      tags: …", TAGS),
    "Queue.raw_overrides": (GOOD_PARALLELCLUSTER, "      placement: cluster\n", "      raw_overrides: …", NODES),
    "ComputeResource.slurm": (GOOD_PARALLELCLUSTER, "          min_count: 0\n", "          slurm: …", SLURM),
    "ComputeResource.tags": (GOOD_PARALLELCLUSTER, "          min_count: 0\n", "          tags: …", TAGS),
    "ComputeResource.raw_overrides": (
        GOOD_PARALLELCLUSTER,
        "          min_count: 0\n",
        "          raw_overrides: …",
        {"HealthChecks": "{Gpu: {Enabled: true}}", "Networking": "{PlacementGroup: {Enabled: true}}", "MinCount": "1"},
    ),
    "LoginPool.raw_overrides": (
        GOOD_PARALLELCLUSTER,
        "cluster:\n",
        "  login_pools: [{name: login, instance_type: c5.large, raw_overrides: …}]",
        NODES,
    ),
    "HyperPodSection.raw_overrides": (
        GOOD,
        "cluster:\n",
        "  raw_overrides: …",
        {"TieredStorageConfig": "{Mode: Disable}", "NodeRecovery": "Automatic", "ClusterName": "x"},
    ),
    "GroupSection.raw_overrides": (
        GOOD,
        "      role: compute\n",
        "      raw_overrides: …",
        {"ThreadsPerCore": "2", "InstanceCount": "4", "OnStartDeepHealthChecks": "[InstanceStress]"},
    ),
    "TextGenerationEngine.environment": (GOOD_SERVING, "    kind: tgi\n", "    environment: …", VARIABLES),
}


def test_every_mapping_of_names_is_tried() -> None:
    found = {
        f"{spec.__name__}.{option.key}"
        for spec in reachable(DeploymentSpec)
        for option in fields_of(spec).values()
        if isinstance(option.shape, Named | Json)
    }
    assert found == set(MAPPINGS)


@pytest.mark.slow
@pytest.mark.parametrize(("good", "after", "text", "values"), MAPPINGS.values(), ids=MAPPINGS)
def test_no_value_of_another_kind_ends_in_a_trace(
    good: str, after: str, text: str, values: dict[str, str], write: Callable[[str], Path]
) -> None:
    assert good.count(after) == 1
    for name in values:
        for wrong in WRONG:
            pairs = (f"{key!r}: {value}" for key, value in (values | {name: wrong}).items())
            below = text.replace("…", f"{{{', '.join(pairs)}}}")
            said = "\n".join(problems_of(write(good.replace(after, f"{after}{below}\n"))))
            assert "object at 0x" not in said
            assert "Unknown" not in said


EVERYTHING = sorted((Path(__file__).parent / "data").glob("*.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("path", [*DEPLOYMENTS, *EVERYTHING], ids=lambda path: path.stem)
def test_nothing_is_said_of_what_follows_from_a_value_that_is_refused(path: Path, tmp_path: Path) -> None:
    text, changed = path.read_text(), tmp_path / path.name
    places = read_document(text, path.name).values
    for beside in (each for each in path.parent.iterdir() if each.is_dir()):
        (tmp_path / beside.name).symlink_to(beside)
    misspelt = {each.pattern: each for each in mutations(text, path.name) if each.name == "misspelt"}
    for mutation in misspelt.values():
        changed.write_text(mutation.text)
        place = f"{places[mutation.path].line}:{places[mutation.path].column}: "
        said = problems_of(changed)
        if here := [each for each in said if each.startswith(place)]:
            assert said == here, mutation.path
    assert misspelt


@pytest.mark.slow
@pytest.mark.parametrize("path", EVERYTHING, ids=lambda path: path.stem)
def test_what_nobody_knows_is_not_shown_beside_another_fault(path: Path, tmp_path: Path) -> None:
    text, changed = path.read_text(), tmp_path / path.name
    document = read_document(text, path.name)
    lines, columns = text.splitlines(), {at: place for at, place in document.values.items() if at in document.sources}

    def put(written: list[str], at: KeyPath, value: str) -> list[str]:
        line, column = columns[at].line - 1, columns[at].column - 1
        rest = re.sub(r"^[^\s,\]}#]+", value, written[line][column:])
        return [*written[:line], written[line][:column] + rest, *written[line + 1 :]]

    for first, second in pairwise(columns):
        for unknown, wrong, fault in ((first, second, "0"), (second, first, "x")):
            if columns[first].line != columns[second].line:
                changed.write_text("\n".join(put(put(lines, unknown, "[[]]"), wrong, fault)))
                said = "\n".join(problems_of(changed))
                assert "object at 0x" not in said
                assert UNKNOWN not in said


def test_a_schedule_is_told_of_beside_one_whose_name_nobody_knows(write: Callable[[str], Path]) -> None:
    night = '{name: night, schedule: "cron(0 20 ? * * *)", min_tasks: 0, max_tasks: 0}'
    once = '{name: 5, schedule: "at(2027-06-02T06:00:00)", min_tasks: 1, max_tasks: 1}'
    scaling = f"  scaling: {{min_tasks: 1, max_tasks: 1, schedules: [{night}, {once}]}}\n"
    said = problems_of(write(GOOD_SERVING.replace("    tasks: 2\n", "") + scaling))
    assert [each.partition("; ")[2] for each in said] == ["give '5' a cron(…) of every year", 'put it in quotes: "5"']


@pytest.mark.parametrize(
    ("good", "right", "wrong", "more"),
    [
        (
            GOOD_FLEET.replace("  master:\n    instance_type: c5n.18xlarge\n", ""),
            "p4d.24xlarge",
            "p4d.24xlage",
            "monitoring: {exporters: {gpu: true}}\n",
        ),
        (
            GOOD.replace(
                "    capacity_gib: 1200\n", "    capacity_gib: 19200\n    efa_enabled: true\n    lustre_version: x\n"
            ),
            "lustre_version: '2.15'",
            "lustre_version: x",
            "",
        ),
    ],
)
def test_no_rule_judges_a_value_that_is_refused(
    good: str, right: str, wrong: str, more: str, write: Callable[[str], Path]
) -> None:
    (said,) = problems_of(write(good.replace(right, wrong) + more))
    assert f"got '{wrong.rpartition(' ')[2]}'" in said
