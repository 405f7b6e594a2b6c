"""What looks like a secret, in every text of a file and of a constructor."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.secrets import secret_problem
from cdk_trainyard.parallelcluster.spec_nodes import CustomAction
from tests.deployment.good_file import GOOD_FLEET, GOOD_PARALLELCLUSTER, GOOD_SERVING, Edit, edited, problems_of

SAID = (
    "must hold no secret: everybody who reads the template reads it, got {}; keep it in AWS Secrets Manager and fetch "
    "it from there"
)
TOKEN = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA2cD4"
IMAGE = "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04"
HEAD = "    public: true\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"--token={TOKEN}", "a token"),
        ("AIza" + "SyB-7x9Qw2Er4Ty6Ui8Op0As1Df3Gh5Jk7L", "a token"),
        ("https://hooks.slack.com/services/T0A1B2C3D4/B0E1F2G3H4/" + "aB3dE5gH7jK9mN1pQ3sT5vW7", "a webhook of Slack"),
        ("AccountName=x;AccountKey=" + "aB3dE5gH7jK9mN1pQ3sT" * 4 + "aB3dE5==", "a key of Azure Storage"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"),
        ("export AWS_ACCESS_KEY_ID=" + "AKIA" + "Q3EGUYPLJWRT4ZXC", "an AWS access key"),
    ],
)
def test_a_secret_is_refused_and_not_shown(text: str, what: str) -> None:
    assert secret_problem(text) == SAID.format(what)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "hf_token",
            "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "-----BEGIN CERTIFICATE-----",
            "AKIAIOSFODNN7EXAMPLE",
        ),
        *("${HF_TOKEN}", "AccountKey=$KEY", "https://hooks.slack.com/services/", "AIza", "eyes-only"),
    ],
)
def test_what_holds_its_place_is_taken(text: str) -> None:
    assert secret_problem(text) is None
    assert secret_problem(17) is None


@pytest.mark.parametrize(
    ("good", "edit", "place"),
    [
        (GOOD_FLEET, ("region:", f"tags: {{team: {TOKEN}}}\nregion:"), "2:14: 'tags.team'"),
        (
            GOOD_FLEET,
            (IMAGE, f'build: {{base: ubuntu-24.04, commands: [ls, "export X={TOKEN}"]}}'),
            "13:48: 'cluster.image.build.commands[1]'",
        ),
        (
            GOOD_PARALLELCLUSTER,
            (HEAD, f"{HEAD}    on_start: [{{script: neuron.sh, args: [{TOKEN}]}}]\n"),
            "14:43: 'cluster.head_node.on_start[0].args[0]'",
        ),
        (
            GOOD_SERVING,
            ("kind: tgi", f"kind: tgi\n    environment: {{LEVEL: {TOKEN}}}"),
            "15:26: 'serving.engine.environment.LEVEL'",
        ),
    ],
)  # fmt: skip
def test_a_secret_is_refused_in_every_text(good: str, edit: Edit, place: str, write: Callable[[str], Path]) -> None:
    found = problems_of(write(edited(edit, good=good)))
    assert f"{place} {SAID.format('a token')}" in found


def test_a_secret_is_refused_of_a_constructor() -> None:
    judge = Judge(environment=NOWHERE)
    judge.judged(CustomAction(script="s3://bucket/a.sh", args=[TOKEN]))
    assert [problem.text for problem in judge.problems] == [SAID.format("a token")]
