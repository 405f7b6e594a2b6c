"""Gather the pages of the documentation site: the Markdown that users read, each where it stands, with its pictures.

``python -m tools.pages`` writes them into ``.build/pages``, from which ``make docs`` builds the site. The tree is the
repository's own, so links between pages are the same on the site, in an editor and wherever the repository is shown.
"""

import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = ROOT / ".build" / "pages"
_SHOWN: Final = (
    "*.md",
    "constructs/**/*.md",
    "deployments/*.md",
    "docs/**/*.css",
    "docs/**/*.md",
    "docs/**/*.svg",
    "examples/**/*.md",
    "lifecycle_scripts/**/*.md",
)


def shown(suffix: str = "") -> list[Path]:
    """Return the files of the site.

    Args:
        suffix: Of those that are wanted. Default - all.
    """
    return sorted(path for pattern in _SHOWN for path in ROOT.glob(pattern) if path.name.endswith(suffix))


def main() -> None:
    """Write them."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for path in shown():
        target = PAGES / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


if __name__ == "__main__":
    main()
