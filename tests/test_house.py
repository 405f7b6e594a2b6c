"""Completeness of the house: floors, exports, documentation, and rules that are really asked."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from textwrap import dedent

import constructs
import pytest

import cdk_trainyard
from cdk_trainyard import identifiers
from cdk_trainyard.lazy import public_names

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "constructs" / "cdk_trainyard"
STOREYS = (
    (
        "acknowledgments assembly_metadata data_files identifiers json_value lazy managed_policy node_scripts "
        "operators origin places policy problems project retention signals tokens versions"
    ),
    "account annotations errors log_groups partitions",
    "inline_function instances names options reach",
    "quotas real surroundings",
    "lifecycle network",
    "storage",
    "monitoring",
    "cluster",
    "fleet hyperpod parallelcluster serving",
    "deployment local rehearsal report review",
    "doctor operations",
    "app cli",
    "__main__",
)
"""The floors of the library, the lowest first: a room imports only from floors below its own."""
FLOORS = {room: floor for floor, rooms in enumerate(STOREYS) for room in rooms.split()}
APART = {"local", "rehearsal"}
ROOF = len(STOREYS)
"""The floor of what is no room: a name that is imported from the package itself, whatever room it comes from."""
MODULES = sorted(module.name for module in pkgutil.walk_packages(cdk_trainyard.__path__, "cdk_trainyard."))
SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if "__pycache__" not in path.parts]


def room_of(dotted: str) -> str:
    return dotted.split(".")[1] if "." in dotted else ""


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imported_rooms(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {room_of(name) for name in names if name.startswith("cdk_trainyard.")}


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
        above[str(relative)] = {
            other for other in imported_rooms(path) - {room} if FLOORS.get(other, ROOF) >= FLOORS[room]
        }
    assert {path: rooms for path, rooms in above.items() if rooms} == {}


def test_rooms_apart_import_what_the_architecture_page_names() -> None:
    """``local`` and ``rehearsal`` prove nothing about facts that they share with the library."""
    page = (ROOT / "docs" / "architecture.md").read_text().partition("## Rooms apart")[2].partition("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", page, re.MULTILINE))
    apart = {room for room, _ in named}
    assert apart == APART
    used = {
        (room, other) for room in apart for path in (PACKAGE / room).rglob("*.py") for other in imported_rooms(path)
    }
    assert {(room, other) for room, other in used if room != other} == named


def test_facts_of_rooms_are_read_in_one_way() -> None:
    """By ``data_files``, which reads each file once."""
    own = [path for path in SOURCES if path.relative_to(PACKAGE).parts[0] not in APART]
    reading = re.compile(r"^import json$[^\0]*(joinpath\(\"data\"|parent / \"data\")", re.MULTILINE)
    assert [path.name for path in own if reading.search(path.read_text())] == ["matrix.py"]  # beside data_files


def test_tags_and_types_that_several_rooms_find_things_by_are_named_in_one_place() -> None:
    tags = {value for name, value in vars(identifiers).items() if name.endswith(("_TAG", "_TYPE"))}
    rooms = [path for path in SOURCES if path.relative_to(PACKAGE).parts[0] not in APART]
    texts = {
        path.name: {each.value for each in ast.walk(parsed(path)) if isinstance(each, ast.Constant)} for path in rooms
    }
    assert [name for name, said in texts.items() if said & tags] == ["identifiers.py"]


_OF_ACCOUNT = 17
"""Nodes of a function's syntax tree: what is smaller may say the same by chance."""


def test_no_function_stands_twice() -> None:
    """But in rooms apart, which share nothing."""
    copies: dict[str, list[tuple[str, ast.Module]]] = {}
    for path in SOURCES:
        relative, lines = path.relative_to(PACKAGE), path.read_text().splitlines()
        functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef)]
        for function in functions if relative.parts[0] not in APART else ():
            body = function.body[1:] if ast.get_docstring(function) else function.body
            if body:
                said = dedent("\n".join(lines[body[0].lineno - 1 : function.end_lineno])) + ast.dump(function.args)
                copies.setdefault(said, []).append((f"{relative}: {function.name}", ast.Module(body, [])))
    assert [
        [name for name, _ in same]
        for same in copies.values()
        if len(same) > 1 and sum(1 for _ in ast.walk(same[0][1])) > _OF_ACCOUNT
    ] == []


@pytest.mark.parametrize("place", ["cli/plan", "cli/review", "report"])
def test_what_aws_would_do_is_not_asked_of_the_emulator(place: str) -> None:
    """``local`` agrees with AWS for its own ends: a plan or a review that asked it would be as right as it is."""
    used = {room for path in (PACKAGE / place).rglob("*.py") for room in imported_rooms(path)}
    assert used & {"local", "rehearsal"} == set()


@pytest.mark.parametrize("room", ["instances", "versions"])
def test_a_room_of_facts_needs_no_cdk(room: str) -> None:
    for path in (PACKAGE / room).glob("*.py"):
        assert "aws_cdk" not in path.read_text()


_SAID_AND_JUDGED = ("fleet", "hyperpod", "lifecycle", "monitoring", "parallelcluster", "serving")


def test_rooms_are_said_and_judged_without_cdk() -> None:
    """A file is checked with specifications and rules alone."""
    paths = [path for room in _SAID_AND_JUDGED for path in sorted((PACKAGE / room).glob("*.py"))]
    said = [path for path in paths if path.stem.startswith(("spec", "rules"))]
    names = [f"cdk_trainyard.{path.parent.name}.{path.stem}" for path in said]
    slow = "set(sys.modules) & {'aws_cdk', 'constructs', 'jsii'}"
    after = f"print(*(name for name in sys.argv[1:] if import_module(name) and {slow}))"
    program = f"import sys; from importlib import import_module; {after}"
    run = subprocess.run([sys.executable, "-c", program, *names], capture_output=True, text=True, check=True)
    assert run.stdout == "\n"


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


@pytest.mark.programs
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


def test_public_names_are_unique_and_importable() -> None:
    assert len(cdk_trainyard.__all__) == len(set(cdk_trainyard.__all__))
    assert [name for name in cdk_trainyard.__all__ if not hasattr(cdk_trainyard, name)] == []


@pytest.mark.parametrize(
    ("package", "former", "new"),
    [
        ("cdk_trainyard", "ClusterMetrics", "ClusterMonitoring"),
        ("cdk_trainyard.monitoring", "ClusterMetrics", "ClusterMonitoring"),
        ("cdk_trainyard.parallelcluster", "ClusterMonitoring", "ParallelClusterMonitoring"),
        ("cdk_trainyard", "FrontDoor", "InferenceLoadBalancer"),
    ],
)
def test_a_former_name_is_answered_with_the_new_one(package: str, former: str, new: str) -> None:
    room = importlib.import_module(package)
    with pytest.raises(ImportError, match=f"^{former} of {package} is {new} now: write that name$"):
        getattr(room, former)  # which ``from … import …`` does, too
    assert new in room.__all__


@pytest.mark.parametrize(
    "room",
    [
        *("instances", "network", "storage", "lifecycle", "monitoring", "quotas"),
        *("hyperpod", "parallelcluster", "fleet", "serving"),
    ],
)
def test_every_public_name_of_a_room_is_exported_and_in_its_readme(room: str) -> None:
    module = importlib.import_module(f"cdk_trainyard.{room}")
    readme = (PACKAGE / room / "README.md").read_text()
    assert set(module.__all__) <= set(cdk_trainyard.__all__)
    assert [name for name in module.__all__ if name not in readme] == []


def test_no_module_hides_a_public_name() -> None:
    """Who imports the module first would find it where the name is meant."""
    inits = [path for path in SOURCES if path.name == "__init__.py"]
    packages = [".".join(path.parent.relative_to(PACKAGE.parent).parts) for path in inits]
    public = {f"{package}.{name}" for package in packages for name in public_names(package)}
    assert "cdk_trainyard.deployment.explain" in public
    assert public & {*MODULES} == set()


def is_documented(name: str) -> bool:
    """Whether a class or function says what it is: in more than the docstring that a dataclass makes itself."""
    member = getattr(cdk_trainyard, name)
    own = inspect.getdoc(member) or ""
    is_data = not inspect.isclass(member) and not inspect.isfunction(member)
    return is_data or (len(own) > 10 and not own.startswith(f"{name}("))


def test_every_public_name_is_documented() -> None:
    assert [name for name in cdk_trainyard.__all__ if not is_documented(name)] == []


def test_a_default_is_said_of_an_argument() -> None:
    """In the summary of a function, nobody knows whose default it is."""
    functions = [node for path in SOURCES for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef)]
    summaries = {node.name: (ast.get_docstring(node) or "").partition("\n")[0] for node in functions}
    assert [name for name, summary in summaries.items() if re.search(r"Default( -|:) ", summary)] == []


def constructs_of_the_library() -> list[str]:
    found = {name: getattr(cdk_trainyard, name) for name in cdk_trainyard.__all__}
    return [name for name, kind in found.items() if inspect.isclass(kind) and issubclass(kind, constructs.Construct)]


@pytest.mark.parametrize("name", constructs_of_the_library())
def test_every_public_attribute_of_a_construct_is_documented(name: str) -> None:
    kind = getattr(cdk_trainyard, name)
    own = [base for base in kind.__mro__ if base.__module__.startswith("cdk_trainyard.")]
    said = "\n".join((inspect.getdoc(base) or "").partition("Attributes:\n")[2].partition("\n\n")[0] for base in own)
    written = {
        node.attr
        for base in own
        for node in ast.walk(ast.parse(inspect.getsource(base)))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id == "self"
    }
    public = {attribute for attribute in written if not attribute.startswith("_")}
    assert public - set(re.findall(r"^ +(\w+):", said, re.MULTILINE)) == set()


def named_in(tree: ast.AST) -> set[str]:
    """Every name that is read: a rule is called, or stands in a table of rules, or is named there (``module:name``)."""
    nodes = list(ast.walk(tree))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return (
        {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        | {text.rpartition(":")[2] for text in texts if ":" in text}
    )


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
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef)
    }
    tables = [
        named_in(node)
        for path in room.glob("rules*.py")
        for node in parsed(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    reached: set[str] = set()
    around = [path for path in room.glob("*.py") if not is_rules(path)]
    if room.parent != PACKAGE:  # a package of the deployment room, whose rules the rules of the whole file ask
        around += room.parent.glob("*.py")
    waiting = set().union(*tables, *(named_in(parsed(path)) for path in around))
    while waiting := (waiting & rules.keys()) - reached:
        reached |= waiting
        waiting = set().union(*(named_in(rules[name]) for name in waiting))
    asked = {name for name in rules if name.endswith("_problems")}
    assert asked
    assert asked - reached == set()
