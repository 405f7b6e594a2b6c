"""The files of a new project."""

import json
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Final

import cdk_trainyard
from cdk_trainyard.project import project_folder

_TEST: Final = '''"""The deployment synthesizes, with every check."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def test_the_deployment_synthesizes(tmp_path: Path) -> None:
    context = json.loads((PROJECT / "cdk.json").read_text())["context"]
    environment = {**os.environ, "CDK_OUTDIR": str(tmp_path), "CDK_CONTEXT_JSON": json.dumps(context)}
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.glob("*.template.json")} >= {
        "NetworkStack.template.json",
        "StorageStack.template.json",
    }
'''
_IGNORED: Final = ".venv/\ncdk.out/\ncdk.context.json\n__pycache__/\nnode_modules/\n"


def write(folder: Path, deployment: str) -> list[str]:
    """Write a project.

    Args:
        folder: Where.
        deployment: What its deployment file says.

    Returns:
        The names of what was written.
    """
    ours = project_folder()
    settings = json.loads((ours / "cdk.json").read_text(encoding="utf-8"))
    settings["context"]["deployment"] = "deployment.yaml"
    (folder / "tests").mkdir(parents=True, exist_ok=True)
    (folder / "deployment.yaml").write_text(deployment, encoding="utf-8")
    (folder / "cdk.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    shutil.copyfile(ours / "app.py", folder / "app.py")
    shutil.copytree(
        ours / "stacks", folder / "stacks", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    schema = files("cdk_trainyard") / "deployment" / "deployment.schema.json"
    (folder / "deployment.schema.json").write_text(schema.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "requirements.txt").write_text(
        f"cdk-trainyard[cli,file,local,review]=={cdk_trainyard.__version__}\npytest\n", encoding="utf-8"
    )
    (folder / "tests" / "test_synth.py").write_text(_TEST, encoding="utf-8")
    (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")
    return [
        "app.py",
        "cdk.json",
        "stacks/",
        "deployment.yaml",
        "deployment.schema.json",
        "requirements.txt",
        "tests/test_synth.py",
        ".gitignore",
    ]
