"""Every shipped deployment passes every reviewer's tool: no open finding, and no explanation of nothing.

So do the files in ``deployments`` beside this one, which say as much, and switch off as much, as a file can.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from cdk_trainyard.deployment.spec import LONGEST_NAME
from cdk_trainyard.report import review, write_review
from cdk_trainyard.report.picture import picture
from tests.authorization import defeated, documents, statements, unmet
from tests.report.labels import labels_leaving
from tests.review.tools import Templates
from tests.support import DEPLOYMENTS, ROOT, Synthesis, looked_at, synthesize_here

pytestmark = pytest.mark.review
VARIANTS = sorted((Path(__file__).parent / "deployments").glob("*.yaml"))


FILES = {path.stem: path for path in (*DEPLOYMENTS, *VARIANTS)}
Synthesize = Callable[[str], Synthesis]
NARROWER = {
    "NetworkStack/Network/FlowLogs": "flow_logs_",
    "NetworkStack/Network/Accelerator": "zone",
    "NetworkStack/Network/Public": "(public_)?zone",
    "StorageStack/Accounting": "accounting",
    "StorageStack/Lustre": "lustre|log_",
    "TrainingStack/Grafana": "grafana",
    "TrainingStack/Images": "image",
    "TrainingStack/Master": "master",
    "ServingStack/Compilation": "compile",
    "ServingStack/Door": "load_balancer|access_logs",
    "ServingStack/NodeHealth": "node_health",
    "ServingStack/Service/Hosts": "hosts",
}
"""What stands where, and the key that asks for it where a file has it."""


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Synthesize:
    """Synthesizes a file, once."""

    @cache
    def synthesized(name: str) -> Synthesis:
        return synthesize_here(FILES[name].relative_to(ROOT), tmp_path_factory.mktemp(name))

    return synthesized


@pytest.fixture(params=FILES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def synthesis(name: str, synthesized: Synthesize) -> Synthesis:
    return synthesized(name)


@pytest.fixture(scope="module")
def templates(synthesized: Synthesize, tmp_path_factory: pytest.TempPathFactory) -> Templates:
    found = Templates(tmp_path_factory.mktemp("templates"))
    for name in FILES:
        found.add(name, synthesized(name).outdir)
    return found


def test_the_app_synthesizes(synthesis: Synthesis) -> None:
    assert synthesis.returncode == 0, synthesis.stderr
    assert "NetworkStack" in synthesis.templates


def open_findings(synthesis: Synthesis) -> set[tuple[str, str, str]]:
    return {
        (plugin["pluginName"], violation["ruleName"], construct["constructPath"])
        for plugin in synthesis.report["pluginReports"]
        if plugin["pluginName"] != "Construct Annotations"  # this library's own advice to the user
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    }


def test_no_rule_pack_and_no_template_validation_has_an_open_finding(synthesis: Synthesis) -> None:
    assert open_findings(synthesis) == set()


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda path: path.stem)
def test_every_shipped_deployment_passes_with_monitoring_on_and_the_longest_name(
    deployment: Path, tmp_path: Path
) -> None:
    """Two lines of the file; what cfn-lint and checkov say of each resource of it, the monitored variants show."""
    content = yaml.safe_load(deployment.read_text())
    if content.get("orchestrator") == "hyperpod":  # metrics need the project's own scripts
        content["cluster"].setdefault("lifecycle", {"on_create": "on_create.sh"})
    file = tmp_path / deployment.name
    file.write_text(yaml.safe_dump(content | {"name": "a" * LONGEST_NAME, "monitoring": {}}))
    synthesis = synthesize_here(file, tmp_path / "cdk.out")
    assert synthesis.returncode == 0, synthesis.stderr
    assert open_findings(synthesis) == set()
    made = Counter(
        resource["Type"] for template in synthesis.templates.values() for resource in template["Resources"].values()
    )
    monitored = sum(section in content for section in ("orchestrator", "serving"))
    assert (made["AWS::APS::Workspace"], made["AWS::APS::RuleGroupsNamespace"]) == (1, monitored)


def test_every_acknowledged_finding_has_its_reason(synthesis: Synthesis) -> None:
    reasons = [
        violation["reason"]
        for plugin in synthesis.report["pluginReports"]
        for violation in plugin.get("suppressedViolations", [])
    ]
    assert reasons
    assert [reason for reason in reasons if len(reason.split()) < 4] == []


def test_machines_and_findings_have_the_lines_that_ask_for_them(name: str, synthesis: Synthesis) -> None:
    """Each group and queue its own; a finding is at a whole section only where the file says nothing narrower of it."""
    lines = FILES[name].read_text().splitlines()
    found = review(synthesis.outdir)

    def at(written: str) -> list[str]:
        assert written.count(":") == 2, written
        file, number, _ = written.rsplit(":", 2)
        assert (ROOT / file) == FILES[name]
        return [line.strip() for line in lines[int(number) - 1 :]]

    for machine in found["machines"]:
        first, *rest = at(machine["written"])
        asked = " ".join([first, *rest[:6]])
        assert machine["type"].removeprefix("ml.").split(" or ")[0] in asked, machine
    for finding in found["findings"]:
        first = at(finding["written"])[0].strip()
        for place, key in NARROWER.items():
            if finding["place"].startswith(place) and any(re.match(rf"\s+({key})\w*:", line) for line in lines):
                assert re.match(key, first), finding


def test_cfn_lint_has_no_open_finding(name: str, templates: Templates) -> None:
    assert templates.lint(name) == set()


def test_checkov_has_no_open_finding_and_no_idle_skip(name: str, templates: Templates) -> None:
    assert templates.checkov(name) == set()


def test_a_request_can_meet_every_statement(synthesis: Synthesis) -> None:
    written = [one for template in synthesis.templates.values() for one in statements(template)]
    assert [(unmet(one), one) for one in written if unmet(one)] == []


def test_no_statement_lets_in_whom_the_condition_of_another_keeps_out(synthesis: Synthesis) -> None:
    policies = [policy for template in synthesis.templates.values() for policy in documents(template)]
    assert [policy for policy in policies if defeated(policy)] == []


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


APP = """
import json, sys
from cdk_trainyard.app import run
from stacks import build_stacks
for deployment, outdir in json.load(sys.stdin).items():
    context = json.load(open("cdk.json"))["context"] | {"deployment": deployment}
    run(build_stacks, context, outdir)
"""
"""What ``app.py`` runs, of one deployment after the other; itself, tests/test_training_environment.py compares."""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The assemblies that one process makes of what is shipped, in another checkout."""
    folder = tmp_path_factory.mktemp("elsewhere")
    checkout = folder / "another checkout"
    checkout.mkdir()
    shutil.copy(ROOT / "cdk.json", checkout)
    for name in ("stacks", "lifecycle_scripts", "deployments"):  # others may be writing byte code
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    made = {path.stem: folder / path.stem for path in DEPLOYMENTS}
    asked = {str(path.relative_to(ROOT)): str(made[path.stem]) for path in DEPLOYMENTS}
    environment = {name: value for name, value in os.environ.items() if name != "CDK_CONTEXT_JSON"}
    done = subprocess.run(
        [sys.executable, "-c", APP],
        cwd=checkout,
        env=environment,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return made


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda path: path.stem)
def test_synthesis_is_the_same_to_the_byte_in_another_process_and_checkout(
    deployment: Path, synthesized: Synthesize, elsewhere: dict[str, Path]
) -> None:
    assert digest(synthesized(deployment.stem).outdir) == digest(elsewhere[deployment.stem])


def data_resources(synthesis: Synthesis) -> dict[str, Any]:
    """Whatever is kept when its stack goes, by stack and logical id."""
    return {
        f"{stack}.{logical_id}": resource["Type"]
        for stack, template in synthesis.templates.items()
        for logical_id, resource in template["Resources"].items()
        if resource.get("DeletionPolicy") in {"Retain", "RetainExceptOnCreate"}
    }


def test_logical_ids_of_what_holds_data_are_pinned(name: str, synthesis: Synthesis) -> None:
    """A changed logical id replaces a file system. Whoever changes the pinned ones has thought about migration."""
    pinned = json.loads((Path(__file__).parent / "data" / "pinned_logical_ids.json").read_text())
    assert data_resources(synthesis) == pinned[name]


def test_shipped_deployments_give_no_advice(name: str, synthesis: Synthesis) -> None:
    advice = [plugin for plugin in synthesis.report["pluginReports"] if plugin["pluginName"] == "Construct Annotations"]
    assert not advice or FILES[name] in VARIANTS


def test_labels_of_its_picture_stay_in_their_boxes(synthesis: Synthesis) -> None:
    assert labels_leaving(picture(review(synthesis.outdir)["picture"], alone=True)) == []


def test_a_real_browser_finds_nothing_wrong_with_their_reviews(synthesized: Synthesize, tmp_path: Path) -> None:
    """Chromium with axe-core: `tools/browse_review.py` says what it looks at. The first page has every section."""
    first = "serving-inf2-tgi"
    others = [path.stem for path in DEPLOYMENTS if path.stem != first]
    old = shutil.copytree(synthesized(first).outdir, tmp_path / "old")
    network = old / "NetworkStack.template.json"
    network.write_text(network.read_text().replace("10.1.0.0/16", "10.2.0.0/16"))
    write_review(synthesized(first).outdir, tmp_path / first, against=old)
    for name in others:
        write_review(synthesized(name).outdir, tmp_path / name)
    evil = "<script>alert(1)</script>" + "x" * 300
    node = {"Type": "AWS::EC2::Instance", "Properties": {"InstanceType": evil}, "Metadata": {"aws:cdk:path": evil}}
    (tmp_path / "evil.json").write_text(json.dumps({"Resources": {"Node": node, "Data": {"Type": "AWS::S3::Bucket"}}}))
    write_review(tmp_path / "evil.json", tmp_path / "evil")
    pages = [tmp_path / name / "review.html" for name in (first, *others, "evil")]
    assert [page for page in pages if page.stat().st_size > 2**20] == []
    done = looked_at("browse_review", *pages)
    said = f"{len(pages)} pages in 5 modes: 0 problems\n"
    assert (done.returncode, done.stdout) == (0, said), done.stdout + done.stderr
