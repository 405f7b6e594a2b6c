"""The reviewers' tools find nothing here that is not explained, and no explanation is idle."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App
from aws_cdk import aws_kms as kms

from cdk_trainyard.network import HYPERPOD_ENDPOINTS, EfaSecurityGroup, Endpoint, Nat, PlacementGroup
from cdk_trainyard.review import attach_checks, unmatched_acknowledgments
from tests.network.parts import new_network, new_stack

NETWORKS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "everything": {
        "zone": "use1-az4",
        "public_zones": ["use1-az5"],
        "service_zones": ["use1-az4", "use1-az5"],
        "nat": Nat.PER_ZONE,
        "interface_endpoints": list(Endpoint),
        "secondary_cidr": "100.64.0.0/16",
    },
    "closed": {"nat": Nat.NONE, "interface_endpoints": HYPERPOD_ENDPOINTS},
}


def synthesize(changes: dict[str, Any], outdir: Path) -> App:
    app = App(outdir=str(outdir))
    attach_checks(app)
    stack = new_stack(app=app)
    key = kms.Key(stack, "Key", enable_key_rotation=True) if changes else None
    network = new_network(stack, flow_logs_key=key, **changes)
    EfaSecurityGroup(stack, "Efa", vpc=network.vpc, outbound=not changes)
    PlacementGroup(stack, "Group")
    app.synth()
    return app


@pytest.mark.parametrize("changes", NETWORKS.values(), ids=NETWORKS)
def test_no_finding_is_unexplained_and_no_explanation_idle(changes: dict[str, Any], tmp_path: Path) -> None:
    app = synthesize(changes, tmp_path)
    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert [plugin["violations"] for plugin in report["pluginReports"] if plugin["violations"]] == []
    assert unmatched_acknowledgments(app, tmp_path) == []


@pytest.mark.review
def test_cfn_lint_has_no_open_finding(tmp_path: Path) -> None:
    for name, changes in NETWORKS.items():
        synthesize(changes, tmp_path / name)
    templates = sorted(map(str, tmp_path.glob("*/Stack.template.json")))
    run = subprocess.run(
        [str(Path(sys.executable).with_name("cfn-lint")), "--include-checks", "W", "--", *templates],
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(templates) == len(NETWORKS)
    assert run.stdout == ""
