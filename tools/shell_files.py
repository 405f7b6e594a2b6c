"""Print every shell file that git knows, NUL-separated: by its ending, or by its first line."""

import subprocess
import sys
from pathlib import Path


def is_shell(path: Path) -> bool:
    """Tell whether ``path`` is a shell script."""
    if path.suffix in {".sh", ".sbatch"}:
        return True
    if path.suffix or not path.is_file():
        return False
    first = path.open("rb").readline()
    return first.startswith(b"#!") and first.strip().rsplit(b"/", 1)[-1].split()[-1] in (b"sh", b"bash")


def main() -> None:
    """List the files, so that none can be forgotten."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607  git is a requirement
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    sys.stdout.write("\0".join(name for name in listed.split("\0") if name and is_shell(Path(name))))


if __name__ == "__main__":
    main()
