"""The packages of the Llama job are said once for pip and once for the deployment file: the same."""

import re

from tests.support import ROOT

JOB = ROOT / "lifecycle_scripts" / "jobs" / "neuron-llama"


def test_the_readmes_deployment_keys_ask_for_what_is_pinned() -> None:
    lines = (JOB / "requirements.txt").read_text().splitlines()
    pinned = [line for line in lines if re.match(r"[a-z]", line)]
    listed = re.search(r"packages: \[(.+)\]", (JOB / "README.md").read_text())
    assert listed
    assert listed[1].split(", ") == pinned
    assert all("==" in line for line in pinned)
