"""Guards of the layout: what one careless file would break for everybody."""

import re
import subprocess
import sys
from pathlib import Path

import constructs
import pytest

ROOT = Path(__file__).parent.parent
TEXT = {".cfg", ".in", ".ini", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml", ".ts", ""}


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_the_pypi_package_constructs_wins() -> None:
    assert "site-packages" in str(Path(constructs.__file__))


def test_the_source_root_constructs_is_no_package() -> None:
    trap = ROOT / "constructs" / "__init__.py"
    assert not trap.exists(), f"{trap} would shadow the PyPI package 'constructs': see docs/decisions/0001"


def test_a_program_at_the_root_finds_both() -> None:
    code = "import constructs, cdk_trainyard; print(constructs.Construct.__module__, cdk_trainyard.__name__)"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert shown.split() == ["constructs", "cdk_trainyard"]


def test_no_file_names_a_registry_host() -> None:
    # written in two halves, so that this file is not one of them
    hosts = re.compile("|".join(f"{name}{dot}" for name, dot in [
        ("pypi", r"\.org"), ("pythonhosted", r"\.org"), ("npmjs", r"\.org"), ("deb.debian", r"\.org"),
    ]))  # fmt: skip
    named = [str(path) for path in tracked() if path.suffix in TEXT and hosts.search(path.read_text(errors="replace"))]
    assert named == []


def test_the_cli_is_pinned_to_the_right_major() -> None:
    lock = (ROOT / "package-lock.json").read_text()
    assert re.search(r'"node_modules/aws-cdk": \{\s*"version": "2\.1148\.\d+"', lock), "aws-cdk@latest is an accident"
    assert '"resolved"' not in lock


@pytest.mark.parametrize("lock", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_every_requirement_is_pinned_and_hashed(lock: Path) -> None:
    pins = [block for block in re.split(r"\n(?=\S)", lock.read_text()) if not block.startswith("#")]
    assert pins
    assert [pin.split()[0] for pin in pins if "==" not in pin.split()[0] or "--hash=sha256:" not in pin] == []


def test_no_source_file_outgrows_its_room() -> None:
    sources = [path for path in tracked() if path.suffix in {".py", ".sh"} and "tests" not in path.parts]
    assert {str(path.relative_to(ROOT)) for path in sources if len(path.read_text().splitlines()) > 400} == set()


def test_warnings_of_rules_are_said_in_one_place() -> None:
    """One that only an object of CDK's tells has its id written out."""
    made = re.compile(r"add_warning_v2\(\s*(?:f[\"']|each)")
    sources = [path for path in tracked() if path.suffix == ".py" and "constructs" in path.parts]
    assert [path.name for path in sources if made.search(path.read_text())] == ["annotations.py"]


def test_stacks_only_wire() -> None:
    long = {path.name for path in (ROOT / "stacks").glob("*.py") if len(path.read_text().splitlines()) > 60}
    assert long == set()


def test_the_app_is_short() -> None:
    assert len((ROOT / "app.py").read_text().splitlines()) <= 40


@pytest.mark.parametrize(
    ("other", "said"),
    [(r"must not be given\b", "must be left out"), (r"Default: (none|nothing|an?|the)\b", "Default - …")],
)
def test_what_recurs_is_said_in_the_same_words(other: str, said: str) -> None:
    package = ROOT / "constructs" / "cdk_trainyard"
    ours = [path for path in package.rglob("*.py") if package / "local" not in path.parents]  # which has AWS's words
    assert [str(path) for path in ours if re.search(other, path.read_text())] == [], f"write '{said}'"


OTHER_DIGITS = {
    "cli": "reads what commands and other programs say",
    "doctor": "reads AWS's answers",
    "jobs": "reads what nodes say",
    "local": "answers in AWS's place",
    "operations": "reads what nodes say",
    "policy": "reads policies that CDK has made",
    "rehearsal": "reads what nodes say",
    "report": "reads templates",
    "remedies.py": "reads what may have been meant by what is refused",
}
"""Rooms that judge no value of a user's, where ``\\d`` may be a digit of any writing."""


def test_values_have_digits_of_ascii() -> None:
    """Python's ``\\d`` takes digits of every writing, which AWS and Slurm do not."""
    package = ROOT / "constructs" / "cdk_trainyard"
    rooms = {path: path.relative_to(package).parts for path in package.rglob("*.py")}
    judging = [path for path, parts in rooms.items() if not {parts[0], parts[-1]} & OTHER_DIGITS.keys()]
    assert [str(path) for path in judging if re.search(r"(?<!`)\\d", path.read_text())] == [], "write '[0-9]'"


def test_letters_of_names_that_aws_has_are_those_of_ascii() -> None:
    """A pattern with ``\\w`` is compared with ``re.ASCII``, as those of ARNs and of names are."""
    package = ROOT / "constructs" / "cdk_trainyard"
    patterns = {
        path: re.findall(r"(?:pattern|resource)=r?f?\"[^\"]*\\w", path.read_text()) for path in package.rglob("*.py")
    }
    found = {str(path.relative_to(package)) for path, each in patterns.items() if each}
    assert found == {"names.py", "options/stand_ins.py"}
