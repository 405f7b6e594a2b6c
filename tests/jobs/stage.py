"""The shell files of a job, with stand-ins of Slurm's programs that record how they were called."""

import subprocess
from pathlib import Path


class JobStage:
    """A directory of recording programs.

    Attributes:
        bin: Where they are; what a job hands on is in the file ``env`` there.
        calls: The file of their calls.
        environment: What scripts are started with; what is empty is not set.
    """

    def __init__(self, scripts: Path, directory: Path) -> None:
        self._scripts = scripts
        self.bin, self.calls = directory / "bin", directory / "calls"
        self.bin.mkdir()
        self.environment = {"PATH": f"{self.bin}:/usr/bin:/bin"}
        for name in ("scontrol", "sleep"):
            self.program(name, "")

    def program(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >>"{self.calls}"\n{script}\n')
        path.chmod(0o755)

    def srun(self, *, offers_auto_resume: bool, code: int) -> None:
        """Make an srun that ends with a code."""
        offer = "echo '  --auto-resume=[0|1]'" if offers_auto_resume else "true"
        self.program("srun", f'if [[ $1 == --help ]]; then {offer}; exit; fi\nenv >"{self.bin}/env"\nexit {code}')

    def run(self, script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/bash", str(self._scripts / script), *arguments],
            env={name: value for name, value in (self.environment | variables).items() if value},
            capture_output=True,
            text=True,
            check=False,
        )

    def called(self, name: str) -> list[str]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]

    def step(self) -> str:
        """Return the one call of srun that starts a step."""
        (call,) = [call for call in self.called("srun") if call != "--help"]
        return call

    def passed_on(self) -> dict[str, str]:
        """Return the environment that the last program had."""
        return dict(line.partition("=")[::2] for line in (self.bin / "env").read_text().splitlines() if "=" in line)
