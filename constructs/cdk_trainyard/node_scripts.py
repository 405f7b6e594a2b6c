"""Where the project's own node scripts are. No CDK import: commands that only read them start at once."""

from importlib.resources import files
from pathlib import Path


def scripts_folder() -> Path:
    """Return the folder of the project's own node scripts: in an installed wheel, or in a checkout of its sources."""
    installed = Path(str(files("cdk_trainyard"))) / "lifecycle_scripts"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "lifecycle_scripts"
