"""The policy that asking needs stands in the README, and has readings only."""

import json
import os
import re

from cdk_trainyard.doctor import CHECKS, policy
from tests.support import ROOT

README = ROOT / "constructs" / "cdk_trainyard" / "doctor" / "README.md"
BEGIN = "<!-- UPDATE_DOCTOR_POLICY=1 pytest tests/doctor/test_policy.py writes from here -->\n"
END = "<!-- to here -->\n"
READINGS = ("Describe", "Get", "List", "Search", "Simulate")


def test_the_readme_has_the_policy() -> None:
    before, rest = README.read_text().split(BEGIN)
    wanted = f"```json\n{json.dumps(policy(), indent=2)}\n```\n"
    if os.environ.get("UPDATE_DOCTOR_POLICY"):
        README.write_text(f"{before}{BEGIN}{wanted}{END}{rest.split(END)[1]}")
        return
    assert rest.split(END)[0] == wanted


def test_it_only_reads() -> None:
    (statement,) = policy()["Statement"]
    names = [action.partition(":")[2] for action in statement["Action"]]
    assert [name for name in names if not name.startswith(READINGS)] == []


def test_each_check_is_in_the_readme() -> None:
    rows = re.findall(r"^\| `([a-z ]+)` \| ", README.read_text(), re.MULTILINE)
    assert {check.name for check in CHECKS} <= set(rows)
