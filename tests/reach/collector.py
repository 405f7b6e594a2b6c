"""What the shipped files fetch, by their own text: addresses, commands of package managers, calls of the AWS CLI."""

import ast
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from cdk_trainyard.reach import addresses
from cdk_trainyard.versions import rows
from tests.support import ROOT

SHIPPED = ("lifecycle_scripts", "examples", "constructs/cdk_trainyard")
NOT_ON_NODES = ("account", "cli", "local", "operations", "options", "quotas", "rehearsal", "reach", "report", "review")
"""Rooms that stand on the machine of whoever deploys, and the table itself."""
LIBRARIES = ("lifecycle_scripts/lib/packages.sh", "lifecycle_scripts/parallelcluster/neuron_node.sh")
"""Files with functions alone: who calls these fetches."""
TOOLS = "constructs/cdk_trainyard/versions/data/tools.json"
PINNED = (
    TOOLS,
    "constructs/cdk_trainyard/versions/neuron.py",
    "lifecycle_scripts/lib/neuron-requirements.txt",
    "lifecycle_scripts/parallelcluster/neuron_versions.sh",
)
"""Files that steps name: what stands there, they fetch."""
FOR_PEOPLE = (
    "constructs/cdk_trainyard/deployment/serving/build.py",
    "constructs/cdk_trainyard/fleet/fleet_base.py",
    "constructs/cdk_trainyard/fleet/training_image.py",
    "constructs/cdk_trainyard/hyperpod/cluster_base.py",
    "constructs/cdk_trainyard/parallelcluster/cluster_base.py",
    "constructs/cdk_trainyard/serving/compilation.py",
)
"""Files with commands that people run where they are: outputs of stacks."""
REPEATED = ("constructs/cdk_trainyard/serving/node_health.py", "constructs/cdk_trainyard/serving/spec_service.py")
"""Files that repeat in words what the matrix has, where it is found."""
NEVER_ASKED = ("json-schema.org",)
"""Hosts in names that nobody looks up."""

_URL = re.compile(r"(?:https?|s3)://((?:[A-Za-z0-9*.-]|\$\{[^}]*\})+)")
_IMAGE = re.compile(r"(?:^|[\s\"'=])((?:[a-z0-9-]+\.)+[a-z]{2,})/[a-z0-9][a-z0-9._/-]*[:@](?:[A-Za-z0-9]|$)")
_COMMENT = re.compile(r"(^|\s)#.*$")
_AWS = re.compile(r"(?:^|[\s(\"'])aws (s3api|s3|[a-z][a-z0-9-]+) [a-z-]+")
_WORDS = {
    r"\bapt(-get|_install)\b": ("ubuntu", "neuron-apt"),
    r"\b(dnf|yum)\b.* (install|makecache)": ("amazon-linux-2023", "neuron-yum"),
    r"\bpip3? install\b": ("pypi",),
    r"\binstall_packages\b": ("ubuntu", "neuron-apt", "amazon-linux-2023", "neuron-yum"),
    r"\binstall_package_files\b": ("ubuntu",),
    r"\bmount-s3$": ("amazon-linux-2023",),
    r"(mount-s3 %s|s3_mounts_program)": ("account-bucket",),
    r"\bdocker (run|pull)\b": ("given",),
    r"^repository ": ("ecr",),
    r"\b(snapshot_download|hf_hub_download|from_pretrained|load_dataset)\(": ("hugging-face",),
    r"\bcfnresponse\b|ResponseURL": ("cloudformation-answers",),
}
"""What a line fetches that says no address: one of these."""
_SERVICES = {
    "s3": ("account-bucket", "account-bucket-written"),
    "s3api": ("account-bucket", "account-bucket-written"),
    "ssm": ("ssm-parameters",),
    "secretsmanager": ("secrets-manager",),
}
_TOOL = re.compile(r"fetch_(?:tool|program) (?!\"\$1\")(\S+)")
_RUN = re.compile(r"/(image/[a-z]+\.sh)")
"""A step that runs another script fetches what that one does."""
_BOTO3 = re.compile(r"boto3\.client\(\"?([a-z0-9]+)")

Finding = tuple[str, str, frozenset[str]]
"""A file, what it says, and the addresses of the table that this may be; one of them must be there."""


def shipped_files() -> Iterator[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *SHIPPED],  # noqa: S607
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.split("\0"):
        room = name.removeprefix("constructs/cdk_trainyard/").partition("/")[0]
        readme = name.endswith(".md") and not name.startswith(("examples/", "lifecycle_scripts/jobs/"))
        if name and room not in NOT_ON_NODES and not readme and not name.endswith("schema.json"):
            yield name


def collect(names: Iterable[str] | None = None) -> list[Finding]:
    """Return what every shipped file fetches, except what people run, and functions that nobody has called yet."""
    return [
        found
        for name in (shipped_files() if names is None else names)
        if name not in (*LIBRARIES, *FOR_PEOPLE, *PINNED, *REPEATED)
        for found in findings(name, (ROOT / name).read_text(encoding="utf-8"))
    ]


def findings(name: str, text: str) -> Iterator[Finding]:
    """Return what a file with this text fetches."""
    for line in dict.fromkeys(_lines(name, text)):
        for said, meant in _said(line):
            yield name, said, frozenset(meant)
        for run in _RUN.findall(line):
            other = name.replace(name.rpartition("/steps/")[2], "").replace("/steps/", f"/{run}")
            yield from ((name, said, meant) for _, said, meant in findings(other, (ROOT / other).read_text()))


def _said(line: str) -> Iterator[tuple[str, Iterable[str]]]:
    for host in [*_URL.findall(line), *_IMAGE.findall(line)]:
        shown = re.sub(r"\$\{[^}]*\}", "*", host)
        if "." in shown and not shown.endswith(".example") and shown not in NEVER_ASKED:
            yield shown, addresses_like(shown)
    for pattern, meant in _WORDS.items():
        if match := re.search(pattern, line):
            yield match[0], meant
    for service in _AWS.findall(line):
        yield f"aws {service}", _SERVICES.get(service, (service,))
    for service in _BOTO3.findall(line):
        yield f"boto3 {service}", _SERVICES.get(service, (service,))
    for tool in _TOOL.findall(line):
        yield f"fetch_tool {tool}", _of_tool(tool)


def _of_tool(tool: str) -> set[str]:
    """Return where a pinned tool is: every architecture's file; a tool that is not pinned, only the user knows."""
    pinned = [row["files"].values() for row in rows("tools") if row["tool"] == tool]
    if not pinned:
        return {"given"}
    return {name for file in pinned[0] for host in _URL.findall(file["url"]) for name in addresses_like(host)}


def addresses_like(host: str) -> set[str]:
    """Return the addresses of the table with a host like this; ``*`` and ``{region}`` stand for anything."""
    return {
        address.name
        for address in addresses().values()
        for target in address.targets
        for pattern in [re.sub(r"\{[^}]*\}", "*", target.host)]
        if fnmatchcase(host, pattern) or fnmatchcase(pattern, host)
    }


def _lines(name: str, text: str) -> Iterator[str]:
    """Return the lines of a file that do something: no comment, no docstring, no source of a fact."""
    if name.endswith(".py"):
        yield from _python(text)
    elif name.endswith(".json"):
        yield from _values(json.loads(text))
    elif name.endswith(".md"):
        yield from (line for block in text.split("```")[1::2] for line in block.splitlines())
    elif name.endswith("requirements.txt"):
        yield from (line if line.startswith("-") else f"pip install {line}" for line in text.splitlines() if line)
    else:
        yield from (_COMMENT.sub("", line).rstrip() for line in text.splitlines())


def _python(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    prose = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, holders)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield from node.value.splitlines()
        elif isinstance(node, ast.List):
            yield " ".join(str(word.value) if isinstance(word, ast.Constant) else "word" for word in node.elts)
        elif isinstance(node, ast.Call):
            yield ast.unparse(node).replace("'", '"').splitlines()[0]


def _values(value: object, key: str = "") -> Iterator[str]:
    """Return what a data file says, without who says so."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _values(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, key)
    elif isinstance(value, str) and not key.startswith(("source", "says", "$")):
        yield f"repository {value}" if key == "repository" else value
