"""The packages of the Llama job are said once for pip and once for the deployment file: the same."""

import re

from tests.jobs.parts import LLAMA


def test_the_readmes_deployment_keys_ask_for_what_is_pinned() -> None:
    lines = (LLAMA / "requirements.txt").read_text().splitlines()
    pinned = [line for line in lines if re.match(r"[a-z]", line)]
    listed = re.search(r"packages: \[(.+)\]", (LLAMA / "README.md").read_text())
    assert listed
    assert listed[1].split(", ") == pinned
    assert all("==" in line for line in pinned)
