"""A project whose app copies what is synthesized already: what the cdk CLI asks of an app is a cloud assembly."""

import json
import shlex
from pathlib import Path

from tests.support import OF_THE_CLI, ROOT, synthesize_here

FILE = ROOT / "deployments" / "hyperpod-cpu-ddp.yaml"
"""A deployment file for the commands that a test runs in a project."""


def project(folder: Path, assembly: Path | None = None) -> Path:
    """Make a project, and return its folder: its app says a line in the file ``runs`` whenever it runs.

    Args:
        folder: Its folder.
        assembly: What the app copies. Default - what `FILE` is synthesized to.
    """
    if assembly is None:
        assembly = folder / "synthesized"
        assert synthesize_here(FILE, assembly, OF_THE_CLI, checked=False).stderr == ""
    app = f'echo run >> runs; cp -r {shlex.quote(str(assembly))}/. "$CDK_OUTDIR"'
    (folder / "cdk.json").write_text(json.dumps({"app": app}))
    return folder
