"""``trainyard plan``: changes in place that services refuse, or that keep data from its readers."""

from typing import Any

import pytest

from cdk_trainyard.cli.plan.resources import plan_resources
from cdk_trainyard.cli.plan.rows import Effect


def of(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties}


@pytest.mark.parametrize(
    ("kind", "old", "new", "effect"),
    [
        ("LUSTRE", "2.12", "2.15", Effect.STOP),
        ("LUSTRE", "2.15", "2.12", Effect.REFUSED),
        ("LUSTRE", "2.15", None, Effect.FREE),
        ("LUSTRE", "2.15", {"Ref": "Version"}, Effect.STOP),
        ("OPENZFS", "1", "2", Effect.FREE),
    ],
)
def test_lustre_is_updated_while_nobody_has_it_mounted(kind: str, old: Any, new: Any, effect: Effect) -> None:
    before, after = (
        {
            "S": {
                "Resources": {
                    "X": of("AWS::FSx::FileSystem", FileSystemType=kind, **({"FileSystemTypeVersion": v} if v else {}))
                }
            }
        }
        for v in (old, new)
    )
    (row,) = plan_resources(before, after)
    assert row.effect is effect
