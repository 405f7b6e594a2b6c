"""Public names of a room, imported when they are first used: nobody waits for what they do not use (PEP 562).

A room's ``__init__`` imports them for type checkers, under ``if TYPE_CHECKING``, and says
``__getattr__ = lazily(__name__)``. What is imported from where is read from those very lines.
"""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

# What a public name was called once; who imports it from where only the new one is now is told.
_FORMER: Final = {
    "ClusterMetrics": "ClusterMonitoring",
    "ClusterMonitoring": "ParallelClusterMonitoring",
    "FrontDoor": "InferenceLoadBalancer",
}


def lazily(package: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    Args:
        package: Its ``__name__``.
    """

    def find(name: str) -> Any:
        module = public_names(package).get(name)
        if module is None and (new := _FORMER.get(name)) in public_names(package):
            # not an AttributeError, of which ``from … import …`` would keep no word
            raise ImportError(f"{name} of {package} is {new} now: write that name", name=package)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(_imported(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except AttributeError as error:  # ``from … import …`` would say that the name is not there, and nothing of why
        raise ImportError(f"{module} cannot be imported: {error}", name=module) from error


@cache
def public_names(package: str) -> dict[str, str]:
    """Return what a package imports for type checkers: names, and the module that each comes from.

    Args:
        package: Its name; it need not be imported.
    """
    root, _, inside = package.partition(".")
    folder = (
        Path(__file__).parent if root == __name__.partition(".")[0] else Path(str(sys.modules[root].__file__)).parent
    )
    tree = ast.parse((folder / inside.replace(".", "/") / "__init__.py").read_bytes())
    found: dict[str, str] = {}
    for block in tree.body:
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom) and line.module:
                    names = [alias.name for alias in line.names]
                    inner = public_names(line.module) if names == ["*"] else names
                    found |= dict.fromkeys(inner, line.module)
    return found
