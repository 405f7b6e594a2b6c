"""Every shipped file with one thing changed is refused at the right line, or synthesizes and passes validation."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import cloudformation_validate as engine
import pytest
from aws_cdk import App
from cloudformation_validate.bindings_python import ValidateConfig

from cdk_trainyard import ConfigurationError
from cdk_trainyard.deployment import Deployment, explain
from cdk_trainyard.review.engine import IGNORED_RULES
from stacks import build_stacks
from tests.deployment.mutations import Mutation, mutations
from tests.support import DEPLOYMENTS, ROOT

pytestmark = pytest.mark.slow
PLACED = re.compile(r"(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<text>.+)")
CONTEXT = json.loads((ROOT / "cdk.json").read_text())["context"]


def every_mutation() -> Iterable[tuple[Path, Mutation]]:
    """One of each pattern, whichever file has it first."""
    seen: set[tuple[str, ...]] = set()
    for path in DEPLOYMENTS:
        for mutation in mutations(path.read_text(), path.name):
            if mutation.pattern not in seen:
                seen.add(mutation.pattern)
                yield path, mutation


def told(mutation: Mutation, lines: list[str]) -> bool:
    """Whether a refusal says the line of what was changed, or names it, or its value, where its partner stands."""
    found = [match for line in lines if (match := PLACED.fullmatch(line))]
    assert len(found) == len(lines), lines
    words = {part.lower() for part in mutation.path[-2:] if isinstance(part, str)}
    words.add("anchor")  # of what is gone, an alias may be left
    words |= {mutation.value.lower().strip("\"'")[:40]} - {""}
    return any(
        int(match["line"]) == mutation.line or any(word in match["text"].lower() for word in words) for match in found
    )


def verdict(mutation: Mutation, path: Path, out: Path, rules: engine.CelEngine) -> str | None:
    """What is wrong with the answer to a mutation, or None."""
    changed = out / path.name
    changed.write_text(mutation.text)
    deployment = None
    try:
        deployment = Deployment.load(changed)
        app = App(context=CONTEXT, outdir=str(out / "cdk.out"))
        build_stacks(app, deployment)
        assembly = app.synth()
    except ConfigurationError as error:
        lines = [line.removeprefix("  - ") for line in explain(error, deployment).splitlines()[1:]]
        return None if told(mutation, lines) else f"refused elsewhere: {lines}"
    except Exception as error:  # noqa: BLE001  what a user would see as a trace
        return f"a trace: {type(error).__name__}: {error}"
    findings = [finding for stack in assembly.stacks for finding in invalid(rules, stack.template_full_path, stack)]
    return f"template validation alone: {findings}" if findings else None


def invalid(rules: engine.CelEngine, template: str, stack: object) -> list[str]:
    config = ValidateConfig(
        exclude=engine.RuleFilterConfig(ids=sorted(IGNORED_RULES)),
        detail_level=engine.DetailLevel.STANDARD,
        severity_level=engine.Severity.ERROR,
        pseudo_parameter_overrides=engine.PseudoParameterOverrides(region=stack.environment.region),  # type: ignore[attr-defined]
    )
    return [f"{found.rule_id} {found.message}" for found in rules.validate_template(template, config).diagnostics]


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_a_changed_file_is_refused_at_its_line_or_good(path: Path, tmp_path: Path) -> None:
    rules = engine.CelEngine()  # it must not outlive Python
    found = {
        (mutation.name, *mutation.path): verdict(mutation, path, tmp_path, rules)
        for source, mutation in every_mutation()
        if source == path
    }
    assert found
    assert {what: wrong for what, wrong in found.items() if wrong} == {}
