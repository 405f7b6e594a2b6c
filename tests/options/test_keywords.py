"""Keywords of constructors, and what docstrings say of them, are what the specifications declare."""

from pathlib import Path

import pytest

from cdk_trainyard.options.judging import given
from cdk_trainyard.real import real
from cdk_trainyard.storage.spec import AccountingSpec, LustreSpec
from tests.options.example_spec import Cluster, Group
from tools import keywords

LUSTRE = keywords.PACKAGE / "storage" / "lustre.py"


@pytest.mark.parametrize("path", keywords.sources(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_constructor_differs_from_its_specification(path: Path) -> None:
    source = path.read_text()
    assert keywords.renewed(source) == source, "python -m tools.keywords --write"


@pytest.mark.parametrize(
    ("declared", "drifted"),
    [
        ("        capacity_gib: int | None = None,\n", "        capacity_gib: int = 1200,\n"),
        ("        capacity_gib: int | None = None,\n", ""),
        ("can only grow.", "can grow."),
        ("            mount_name: Its mount name, as the FSx console shows it", "            mount_name: It"),
        ("        key: KMS key of a persistent file system.", "        clef: KMS key of a persistent file system."),
    ],
)
def test_what_drifted_is_written_anew(declared: str, drifted: str) -> None:
    source = LUSTRE.read_text()
    assert source.count(declared) == 1
    assert keywords.renewed(source.replace(declared, drifted)) == source


def test_types_and_defaults_are_plain_python() -> None:
    found = {
        each.name: (each.annotation, each.default) for spec in (Cluster, Group) for each in keywords.keywords_of(spec)
    }
    assert found == {
        "groups": ("Sequence[Group]", None),
        "store": ("NewStore | ExistingStore | None", "None"),
        "tags": ("Mapping[str, str] | None", "None"),
        "logs": ("logs.RetentionDays | None", "logs.RetentionDays.THREE_MONTHS"),
        "raw_overrides": ("Mapping[str, Any] | None", "None"),
        "name": ("str", None),
        "job": ("Job", None),
        "count": ("int", None),
        "volumes": ("Sequence[Volume] | None", "None"),
        "cooldown": ("Duration | None", "None"),
        "alarms": ("Sequence[cloudwatch.IAlarm]", "()"),
        "source": ("Capacity | None", "None"),
        "security_group": ("ec2.ISecurityGroup | None", "None"),
    }


def test_none_means_the_default_where_a_signature_cannot_have_it() -> None:
    assert given(LustreSpec, {"deployment": None, "log_level": None}).deployment == LustreSpec().deployment
    assert given(LustreSpec, {"log_level": None}).log_level is None
    assert real(given(AccountingSpec, {"backup_retention": None}).backup_retention).to_days() == 35
