"""Every shipped file with one thing changed is refused at the right line, or synthesizes and passes validation."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import cloudformation_validate as engine
import pytest
from aws_cdk import App
from aws_cdk.cx_api import CloudFormationStackArtifact
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
Invalid = Callable[[CloudFormationStackArtifact], list[str]]


@pytest.fixture(scope="module")
def every_mutation() -> dict[Path, list[Mutation]]:
    """One of each pattern, of whichever file has it first."""
    seen: set[tuple[str, ...]] = set()
    made: dict[Path, list[Mutation]] = {path: [] for path in DEPLOYMENTS}
    for path, found in made.items():
        for mutation in mutations(path.read_text(), path.name):
            if mutation.pattern not in seen:
                seen.add(mutation.pattern)
                found.append(mutation)
    return made


@pytest.fixture(scope="module")
def invalid() -> Invalid:
    """Says what template validation finds in a stack: of templates that are the same, once."""
    rules = engine.CelEngine()  # it must not outlive Python
    known: dict[tuple[str, str], list[str]] = {}

    def found(stack: CloudFormationStackArtifact) -> list[str]:
        path, region = stack.template_full_path, stack.environment.region
        asked = (Path(path).read_text(), region)
        if asked not in known:
            config = ValidateConfig(
                exclude=engine.RuleFilterConfig(ids=sorted(IGNORED_RULES)),
                detail_level=engine.DetailLevel.STANDARD,
                severity_level=engine.Severity.ERROR,
                pseudo_parameter_overrides=engine.PseudoParameterOverrides(region=region),
            )
            told = rules.validate_template(path, config).diagnostics
            known[asked] = [f"{each.rule_id} {each.message}" for each in told]
        return known[asked]

    return found


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


def verdict(mutation: Mutation, path: Path, out: Path, invalid: Invalid) -> str | None:
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
        if any(sign in line for line in lines for sign in ("object at 0x", "Unknown")):
            return f"shows what it does not know: {lines}"
        return None if told(mutation, lines) else f"refused elsewhere: {lines}"
    except Exception as error:  # noqa: BLE001  what a user would see as a trace
        return f"a trace: {type(error).__name__}: {error}"
    findings = [finding for stack in assembly.stacks for finding in invalid(stack)]
    return f"template validation alone: {findings}" if findings else None


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_a_changed_file_is_refused_at_its_line_or_good(
    path: Path, every_mutation: dict[Path, list[Mutation]], invalid: Invalid, tmp_path: Path
) -> None:
    found = {
        (mutation.name, *mutation.path): verdict(mutation, path, tmp_path, invalid) for mutation in every_mutation[path]
    }
    assert found
    assert {what: wrong for what, wrong in found.items() if wrong} == {}
