"""Where the project's app, stacks and deployment files are. No CDK import: who only reads them starts at once."""

from importlib.resources import files
from pathlib import Path


def project_folder() -> Path:
    """Return the folder with ``app.py``, ``cdk.json``, ``stacks/`` and ``deployments/``.

    An installed wheel carries copies; in a checkout it is the checkout.
    """
    installed = Path(str(files("cdk_trainyard"))) / "_project"
    return installed if installed.is_dir() else Path(__file__).parents[2]
