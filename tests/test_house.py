"""Completeness of the house: floors, exports, documentation, and rules that are really asked."""

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import cdk_trainyard

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "constructs" / "cdk_trainyard"
STOREYS = (
    "acknowledgments json_value lazy managed_policy node_scripts policy problems retention tokens versions",
    "errors log_groups",
    "inline_function instances options reach",
    "lifecycle quotas surroundings",
    "network",
    "storage",
    "fleet hyperpod parallelcluster serving",
    "deployment local rehearsal review",
)
"""The floors of the library, the lowest first: a room imports only from floors below its own."""
FLOORS = {room: floor for floor, rooms in enumerate(STOREYS) for room in rooms.split()}
MODULES = sorted(module.name for module in pkgutil.walk_packages(cdk_trainyard.__path__, "cdk_trainyard."))
SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if "__pycache__" not in path.parts]


def room_of(dotted: str) -> str:
    return dotted.split(".")[1] if "." in dotted else ""


def imported_rooms(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {room_of(name) for name in names if name.startswith("cdk_trainyard.") and room_of(name) in FLOORS}


def test_every_module_imports_and_says_what_it_is() -> None:
    names = [name for name in MODULES if not name.endswith("__main__")]
    assert [name for name in names if not importlib.import_module(name).__doc__] == []


def test_modules_import_only_from_floors_below() -> None:
    above = {}
    for path in SOURCES:
        relative = path.relative_to(PACKAGE)
        if relative.name == "__init__.py" and len(relative.parts) == 1:
            continue  # the door of the house opens on every room
        room = relative.parts[0].removesuffix(".py")
        above[str(relative)] = {other for other in imported_rooms(path) - {room} if FLOORS[other] >= FLOORS[room]}
    assert {path: rooms for path, rooms in above.items() if rooms} == {}


@pytest.mark.parametrize("room", ["instances", "versions"])
def test_a_room_of_facts_needs_no_cdk(room: str) -> None:
    for path in (PACKAGE / room).glob("*.py"):
        assert "aws_cdk" not in path.read_text()


IMPORT_EVERYTHING = """
import sys
from importlib import import_module

import jsii
from aws_cdk import App

def refuse(*request, **more):
    raise AssertionError(f"asked of Node while importing: {request}")

for name in ("create", "get", "invoke", "sget", "sinvoke"):
    setattr(jsii, name, refuse)
for name in sys.argv[1:]:
    import_module(name)
"""


def test_importing_asks_nothing_of_node() -> None:
    """Each question is a round trip, and the first of a kind loads a module of CDK: who imports may not need it."""
    names = [name for name in MODULES if not name.endswith("__main__")]
    run = subprocess.run(
        [sys.executable, "-c", IMPORT_EVERYTHING, *names, "stacks"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_only_the_deployment_room_uses_pydantic() -> None:
    users = {
        path.relative_to(PACKAGE).parts[0]
        for path in SOURCES
        if "import pydantic" in path.read_text() or "from pydantic" in path.read_text()
    }
    assert users <= {"deployment"}


def test_public_names_are_unique_and_importable() -> None:
    assert len(cdk_trainyard.__all__) == len(set(cdk_trainyard.__all__))
    assert [name for name in cdk_trainyard.__all__ if not hasattr(cdk_trainyard, name)] == []


@pytest.mark.parametrize(
    "room",
    ["instances", "network", "storage", "lifecycle", "quotas", "hyperpod", "parallelcluster", "fleet", "serving"],
)
def test_every_public_name_of_a_room_is_exported_and_in_its_readme(room: str) -> None:
    module = importlib.import_module(f"cdk_trainyard.{room}")
    readme = (PACKAGE / room / "README.md").read_text()
    assert set(module.__all__) <= set(cdk_trainyard.__all__)
    assert [name for name in module.__all__ if name not in readme] == []


def is_documented(name: str) -> bool:
    """Whether a class or function says what it is: in more than the docstring that a dataclass makes itself."""
    member = getattr(cdk_trainyard, name)
    own = inspect.getdoc(member) or ""
    is_data = not inspect.isclass(member) and not inspect.isfunction(member)
    return is_data or (len(own) > 10 and not own.startswith(f"{name}("))


def test_every_public_name_is_documented() -> None:
    assert [name for name in cdk_trainyard.__all__ if not is_documented(name)] == []


def named_in(tree: ast.AST) -> set[str]:
    """Every name that is read: a rule is called, or stands in a table of rules."""
    nodes = list(ast.walk(tree))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


def is_rules(path: Path) -> bool:
    return path.name.startswith("rules")


@pytest.mark.parametrize(
    "room", sorted({path.parent for path in SOURCES if is_rules(path)}), ids=lambda path: path.name
)
def test_every_rule_of_a_room_is_asked(room: Path) -> None:
    """A rule that no constructor reaches, itself or through another rule, checks nothing."""
    rules = {
        node.name: node
        for path in room.glob("rules*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    tables = [
        named_in(node)
        for path in room.glob("rules*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    reached: set[str] = set()
    waiting = set().union(
        *tables, *(named_in(ast.parse(path.read_text())) for path in room.glob("*.py") if not is_rules(path))
    )
    while waiting := (waiting & rules.keys()) - reached:
        reached |= waiting
        waiting = set().union(*(named_in(rules[name]) for name in waiting))
    asked = {name for name in rules if name.endswith("_problems")}
    assert asked
    assert asked - reached == set()
