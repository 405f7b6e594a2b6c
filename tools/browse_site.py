"""Look at a site in a real browser: ``.venv-browser/bin/python -m tools.browse_site [--shots DIR] .build/site``.

Every page on a desk and on a phone, loaded on the one and then moved to the other: no console message, no request to
anywhere else, no horizontal scroll. The environment is ``make .venv-browser/.ready``.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import sync_playwright

from tools.chromium import chromium

WIDTHS = {"desk": 1280, "phone": 390}


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_words: Any) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine until the block ends.

    Args:
        folder: The folder.
    """
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def problems(page: Any, root: str, name: str, modes: Sequence[str], shots: Path | None) -> Iterator[str]:
    """Yield what is wrong with a page.

    Args:
        page: A page of the browser.
        root: Where the site is served.
        name: The page's file in it.
        modes: Where it is loaded, and where it is then.
        shots: Where screenshots go. None: nowhere.
    """
    heard: list[str] = []
    listeners = {
        "console": lambda each: heard.append(f"console: {each.text}"),
        "pageerror": lambda each: heard.append(f"error: {each}"),
        "request": lambda each: None if each.url.startswith((root, "data:")) else heard.append(f"asks {each.url}"),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    for mode in modes:
        page.set_viewport_size({"width": WIDTHS[mode], "height": 900})
        if mode == modes[0]:
            page.goto(f"{root}{name}", wait_until="load")
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            yield f"{mode}: scrolls sideways by {wide} px"
        if shots:
            page.screenshot(path=shots / f"{name.replace('/', '-')}-{mode}.png")
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    yield from heard


def main() -> int:
    """Check the site that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--shots", type=Path)
    given = parser.parse_args()
    names = sorted(str(path.relative_to(given.site)) for path in given.site.rglob("*.html"))
    found = 0
    with sync_playwright() as playwright, served(given.site.resolve()) as root:
        browser = chromium(playwright)
        page, modes = browser.new_page(), [*WIDTHS]
        for name in names:
            for problem in problems(page, root, name, modes, given.shots):
                print(f"{name}: {problem}")
                found += 1
            modes.reverse()  # the next one is loaded where this one was last: another width is half a load
        browser.close()
    print(f"{len(names)} pages on {' and '.join(WIDTHS)}: {found} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
