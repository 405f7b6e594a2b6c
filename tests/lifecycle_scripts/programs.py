"""The programs of the nodes as modules, for tests of their parts."""

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from cdk_trainyard.lifecycle import scripts_folder


def load(path: str) -> Any:
    """Return a program below the folder of scripts as a module."""
    module = ModuleType(Path(path).stem)
    SourceFileLoader(module.__name__, str(scripts_folder() / path)).exec_module(module)
    return module
