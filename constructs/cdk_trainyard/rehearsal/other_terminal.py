"""What another terminal sets, so that commands of day two find the local AWS and the nodes of a rehearsal."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_OWN: Final = ("AWS_", "CDK_DEFAULT_")
_NO_PROXY: Final = ("NO_PROXY", "no_proxy")
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION", "CDK_DEFAULT_REGION")


def exports(environment: Mapping[str, str], region: str, folder: Path) -> str:
    """Return lines for a shell.

    Args:
        environment: That of the rehearsal, which was started in a local AWS.
        region: The Region of the deployment.
        folder: Where the stand-in of the session-manager-plugin is, first on the path.
    """
    own = {name: value for name, value in environment.items() if name.startswith(_OWN) or name in _NO_PROXY}
    own |= dict.fromkeys(_REGIONS, region)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in sorted(own.items())]
    return "\n".join([*lines, f"export PATH={shlex.quote(str(folder))}:$PATH"])
