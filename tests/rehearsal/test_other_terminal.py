import subprocess
from pathlib import Path

from cdk_trainyard.rehearsal.other_terminal import exports


def test_a_shell_reads_what_is_printed(tmp_path: Path) -> None:
    """Values with spaces, the deployment's Region, and the plugin first on a path that stays."""
    folder = tmp_path / "a folder"
    environment = {"AWS_SECRET_ACCESS_KEY": "it's $one", "AWS_REGION": "us-east-1", "HOME": "/root", "no_proxy": "x"}
    lines = exports(environment, "us-west-2", folder)
    asked = 'printf "%s\\n" "$AWS_SECRET_ACCESS_KEY" "$AWS_REGION" "$AWS_DEFAULT_REGION" "$no_proxy" "$PATH" "${HOME-}"'
    words = ["/bin/sh", "-eu", "-c", f"{lines}\n{asked}"]
    said = subprocess.run(words, env={"PATH": "/usr/bin"}, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["it's $one", "us-west-2", "us-west-2", "x", f"{folder}:/usr/bin", ""]
