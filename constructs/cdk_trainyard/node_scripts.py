"""Where the project's own node scripts are. No CDK import: commands that only read them start at once."""

from importlib.machinery import SourceFileLoader
from importlib.resources import files
from pathlib import Path
from types import ModuleType


def scripts_folder() -> Path:
    """Return the folder of the project's own node scripts: in an installed wheel, or in a checkout of its sources."""
    installed = Path(str(files("cdk_trainyard"))) / "lifecycle_scripts"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "lifecycle_scripts"


def node_module(name: str) -> ModuleType:
    """Return a program of HyperPod's nodes as a module, so that what passes here passes there.

    Args:
        name: Its name, as ``shared_users``.
    """
    module = ModuleType(name)
    SourceFileLoader(name, str(scripts_folder() / "hyperpod" / f"{name}.py")).exec_module(module)
    return module
