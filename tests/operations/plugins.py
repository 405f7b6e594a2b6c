"""Stand-ins of the session-manager-plugin for tests without nodes: a session's command runs here, as on a node."""

import sys
from collections.abc import Mapping
from pathlib import Path

from cdk_trainyard.operations.sessions import PLUGIN

_HERE = """#!{python}
import json, os, shlex, subprocess, sys
if sys.argv[1:] == ["--version"]:
    print("1.2.764.0")
    sys.exit()
asked = json.loads(sys.argv[5])
print("\\nStarting session with SessionId: s", flush=True)
environment = {{"PATH": {path!r}, "HOME": {home!r}, "TARGET": asked["Target"]}}
subprocess.run(shlex.split(asked["Parameters"]["command"][0]), env=environment, stdin=subprocess.DEVNULL, check=False)
print("\\nExiting session with sessionId: s.", flush=True)
"""
_SU = '#!/bin/sh\ncd "$HOME" && exec /bin/sh -c "$4"\n'


def program(folder: Path, name: str, text: str) -> Path:
    """Write a program."""
    made = folder / name
    made.write_text(text)
    made.chmod(0o755)
    return made


def plugin_that_runs_here(folder: Path, programs: Mapping[str, str] | None = None) -> Path:
    """Write the plugin into a folder for the path; return the home of every user that a session runs as.

    The node has these programs beside its own; ``$TARGET`` is what the session was started for.
    """
    home, tools = folder / "home", folder / "tools"
    home.mkdir()
    tools.mkdir()
    for name, text in {"su": _SU, "id": "#!/bin/sh\necho 0\n", **(programs or {})}.items():
        program(tools, name, text)
    path = f"{tools}:/usr/local/bin:/usr/bin:/bin"
    program(folder, PLUGIN, _HERE.format(python=sys.executable, path=path, home=str(home)))
    return home
