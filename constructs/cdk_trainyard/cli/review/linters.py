"""What others say of templates: AWS's template validation, and cfn-lint and checkov when they are installed."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.report import Assembly, Finding
from cdk_trainyard.report.assembly import Stack
from cdk_trainyard.report.findings import part_of
from cdk_trainyard.review import engine

CFN_LINT: Final = "cfn-lint"
CHECKOV: Final = "checkov"
_ELSEWHERE: Final = "us-east-1"
"""What cfn-lint takes a template of no known Region to be of: its own default."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a program said.

    Attributes:
        tool: Its name, with its version as far as it says one.
        findings: What it found.
        failure: Why it said nothing. Nothing: it ran.
    """

    tool: str
    findings: tuple[Finding, ...] = ()
    failure: str = ""


def asked(assembly: Assembly, without: Sequence[str] = ()) -> list[Answer]:
    """Return what each says of an assembly's templates; a program that is not installed says that.

    Args:
        assembly: The assembly. What its own synthesis has validated, AWS's validation is not asked about again.
        without: Programs that are not to be asked.
    """
    return [
        *([] if assembly.validation is not None else [_validated(assembly)]),
        *(
            Answer(tool=name, failure="left out") if name in without else _answer(name, ask, assembly)
            for name, ask in _PROGRAMS.items()
        ),
    ]


def _validated(assembly: Assembly) -> Answer:
    rules = engine.start_engine()
    findings = [
        Finding(
            tools=(engine.NAME,),
            rules=(each.rule_id,),
            severity=engine.SEVERITIES[each.severity.name],
            text=engine.description(each),
            place=_place(stack, engine.logical_id(each) or ""),
            part=part_of(each.property_path),
        )
        for stack in assembly.stacks
        for each in engine.diagnostics(rules, str(assembly.folder / stack.file), stack.region or None)
    ]
    return Answer(tool=f"{engine.NAME} {engine.engine_version()}", findings=tuple(findings))


def variable(tool: str) -> str:
    """Return the variable that names a program which is not on the path.

    Args:
        tool: Its name.
    """
    return f"TRAINYARD_{tool.upper().replace('-', '_')}"


def _answer(name: str, ask: "_Ask", assembly: Assembly) -> Answer:
    program = os.environ.get(variable(name)) or shutil.which(name)
    if program is None:
        return Answer(tool=name, failure=f"not installed: on the path, or named by {variable(name)}")
    try:
        version, said = ask(program, assembly)
        findings = tuple(said)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return Answer(tool=name, failure=f"failed: {error}")
    return Answer(tool=f"{name} {version}".strip(), findings=findings)


def _said(*words: str) -> str:
    """Return a program's standard output; without any it has failed, whatever its exit code."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise ValueError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it says nothing")
    return done.stdout


def _by_file(assembly: Assembly) -> dict[Path, Stack]:
    return {(assembly.folder / each.file).resolve(): each for each in assembly.stacks}


def _cfn_lint(program: str, assembly: Assembly) -> tuple[str, Iterator[Finding]]:
    by_file = _by_file(assembly)
    found = []
    for region in sorted({each.region or _ELSEWHERE for each in assembly.stacks}):
        files = [str(file) for file, stack in by_file.items() if (stack.region or _ELSEWHERE) == region]
        found += json.loads(_said(program, "--format", "json", "--regions", region, "--", *files))
    version = _said(program, "--version").split()[-1]
    return version, (_linted(each, by_file) for each in found if each["Rule"]["Id"] not in engine.IGNORED_RULES)


def _linted(each: Mapping[str, Any], by_file: Mapping[Path, Stack]) -> Finding:
    path = each["Location"].get("Path") or []
    key, name = "Resources", str(path[1]) if len(path) > 1 else ""
    is_resource = bool(name) and path[0] == key
    return Finding(
        tools=(CFN_LINT,),
        rules=(str(each["Rule"]["Id"]),),
        severity={"Error": "error", "Warning": "warning"}.get(each["Level"], "info"),
        text=str(each["Message"]),
        place=_place(by_file[Path(each["Filename"]).resolve()], name if is_resource else ""),
        part=part_of(path),
    )


def _checkov(program: str, assembly: Assembly) -> tuple[str, Iterator[Finding]]:
    by_file = _by_file(assembly)
    words = [word for file in by_file for word in ("--file", str(file))]
    # without --skip-download it asks its vendor's servers for descriptions
    options = ("--framework", "cloudformation", "--output", "json", "--compact", "--soft-fail", "--skip-download")
    report = json.loads(_said(program, *options, *words))
    if "results" not in report:  # of templates without anything to check it has numbers alone
        return str(report["checkov_version"]), iter(())
    return str(report["summary"].get("checkov_version", "")), _checked(report["results"], by_file)


def _checked(results: Mapping[str, Any], by_file: Mapping[Path, Stack]) -> Iterator[Finding]:
    for kind in ("failed_checks", "skipped_checks"):
        for each in results.get(kind, []):
            reason = str(each["check_result"].get("suppress_comment") or "no reason is given")
            yield Finding(
                tools=(CHECKOV,),
                rules=(str(each["check_id"]),),
                severity="warning",
                text=str(each["check_name"]),
                place=_place(by_file[Path(each["file_abs_path"]).resolve()], str(each["resource"]).rpartition(".")[2]),
                reason=reason if kind == "skipped_checks" else "",
            )


def _place(stack: Stack, name: str) -> str:
    return stack.resources[name].path if name in stack.resources else stack.id


_Ask = Callable[[str, Assembly], tuple[str, Iterator[Finding]]]
_PROGRAMS: Final[Mapping[str, _Ask]] = {CFN_LINT: _cfn_lint, CHECKOV: _checkov}
NAMES: Final = tuple(_PROGRAMS)
"""The programs that are asked."""
