"""The Chromium of the environment ``.venv-browser``, with its own libraries and fonts: the same on every machine."""

import sys
from pathlib import Path
from typing import Any

HOME = Path(sys.prefix)
"""The environment, which has Chromium and axe-core beside its Python."""
PATIENCE = 300_000
"""Milliseconds that a step may take: of a machine that does other things, too."""
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{fonts}</dir><cachedir>{cache}</cachedir></fontconfig>
"""


def chromium(playwright: Any) -> Any:
    """Start it.

    Args:
        playwright: Playwright.
    """
    run = HOME / "run"
    fonts = run / "fonts.conf"
    fonts.write_text(_FONTS.format(fonts=run / "fonts", cache=run / "fonts-cache"), encoding="utf-8")
    environment = {"LD_LIBRARY_PATH": str(run / "al2023" / "lib"), "FONTCONFIG_FILE": str(fonts), "HOME": str(run)}
    return playwright.chromium.launch(
        executable_path=run / "chromium", args=["--no-sandbox"], env=environment, timeout=PATIENCE
    )
