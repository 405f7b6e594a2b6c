"""Look at reviews in a real browser: ``.venv-browser/bin/python -m tools.browse_review [--shots DIR] review.html…``.

For light, dark, forced colours, 320 px and paper: no request, no console message, no horizontal scroll; labels of the
picture within their boxes; the search hides and counts; Tab reaches everything that can be reached; axe-core finds no
violation. The environment is ``make .venv-browser/.ready``: playwright, and Chromium with its libraries and fonts.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tools.chromium import HOME, PATIENCE, chromium

TALL = 6000
"""Pixels of a page that a screenshot shows: a graphics card that is emulated has its limit."""
PAPER = 718
"""Pixels between the margins of an A4 sheet: 210 mm less 10 mm at each side, at 96 a sheet's inch."""
_DESK = {"width": 1280, "height": 900}
MODES: dict[str, tuple[dict[str, int], dict[str, str]]] = {
    "light": (_DESK, {"media": "screen", "color_scheme": "light", "forced_colors": "none"}),
    "dark": (_DESK, {"media": "screen", "color_scheme": "dark", "forced_colors": "none"}),
    "forced": (_DESK, {"media": "screen", "color_scheme": "light", "forced_colors": "active"}),
    "narrow": (
        {"width": 320, "height": 800},
        {"media": "screen", "color_scheme": "light", "forced_colors": "none"},
    ),
    "paper": (
        {"width": PAPER, "height": 1000},
        {"media": "print", "color_scheme": "dark", "forced_colors": "none"},
    ),
}
"""Size of the window, and what the page is told of the reader's wishes."""
OUTSIDE = """() => {
  const boxes = [...document.querySelectorAll("#picture svg rect")].map((each) => each.getBBox());
  const within = (text, box) => text.x >= box.x - 1 && text.x + text.width <= box.x + box.width + 1
    && text.y >= box.y - 1 && text.y + text.height <= box.y + box.height + 1;
  return [...document.querySelectorAll("#picture svg text")].filter((each) => {
    const at = each.getBBox();
    const around = boxes.filter((box) => at.x >= box.x && at.y >= box.y
      && at.x < box.x + box.width && at.y < box.y + box.height);
    const smallest = around.sort((a, b) => a.width * a.height - b.width * b.height)[0];
    return !smallest || !within(at, smallest);
  }).map((each) => each.textContent);
}"""
KINDS = """() => {
  const name = (each) => [each.localName, ...each.classList, each.getAttribute("role") ?? ""].join(".");
  return [...new Set([...document.body.querySelectorAll("*")].map(
    (each) => name(each.parentElement) + " > " + name(each)))];
}"""
"""The kinds of elements that a page has, each in its parent: what a style sheet and axe-core can tell apart."""
VIOLATIONS = "(rules) => axe.run({resultTypes: ['violations'], ...rules}).then((found) => found.violations)"
"""What axe-core finds wrong, alone: what it passes is each element of the page, some times."""
RECOLOURED = {mode: {"runOnly": ["color-contrast", "link-in-text-block"]} for mode in ("dark", "forced")}
"""The rules of axe-core about colours, for modes that change nothing else. Of other modes: every rule."""
FOCUSABLE = "document.querySelectorAll('a[href], input, summary, [tabindex]').length"


class Look:
    """Looks at pages, one after the other, in every mode.

    What is the same in every mode is looked at once: search, keyboard. axe-core looks at a page in a mode that has a
    kind of element which no page before it had there: the first page is looked at in all of them.

    Args:
        browser: The browser.
        axe: The text of ``axe.min.js``.
        shots: Where screenshots go, and what a printer would get. None: nowhere.
    """

    def __init__(self, browser: Any, axe: str, shots: Path | None) -> None:
        self._browser, self._axe, self._shots = browser, axe, shots
        self._known: dict[str, set[str]] = {mode: set() for mode in MODES}

    def problems(self, file: Path) -> Iterator[str]:
        """Yield what is wrong with a page.

        Args:
            file: The page.
        """
        context = self._browser.new_context(offline=True, bypass_csp=True)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        heard: list[str] = []
        page.on("console", lambda each: heard.append(f"console: {each.text}"))
        page.on("pageerror", lambda each: heard.append(f"error: {each}"))
        page.on("request", lambda each: heard.append(f"request: {each.url}") if each.url != file.as_uri() else None)
        page.goto(file.as_uri())
        yield from (*_search(page), *_keyboard(page))
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        kinds = {*page.evaluate(KINDS)}
        for mode, (size, media) in MODES.items():
            page.set_viewport_size(size)
            page.emulate_media(**media)
            yield from (f"{mode}: {each}" for each in self._in_mode(page, file, mode, kinds))
        yield from heard
        context.close()

    def _in_mode(self, page: Any, file: Path, mode: str, kinds: set[str]) -> Iterator[str]:
        if mode == "paper":
            yield from _paper(page, file, self._shots)
        elif self._shots:
            page.set_viewport_size({**page.viewport_size, "height": TALL})
            page.screenshot(path=self._shots / f"{file.parent.name}-{mode}.png")
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            yield f"scrolls sideways by {wide} px"
        yield from (f"a label leaves its box: {each}" for each in page.evaluate(OUTSIDE))
        if mode != "paper" and not kinds <= self._known[mode]:
            self._known[mode] |= kinds
            page.evaluate(self._axe)
            found = page.evaluate(VIOLATIONS, RECOLOURED.get(mode, {}))
            yield from (f"axe: {each['id']}: {each['nodes'][0]['html'][:90]}" for each in found)


def _paper(page: Any, file: Path, shots: Path | None) -> Iterator[str]:
    """Yield what would be missing on paper: printed by day, opened, without what only a screen can do."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = false")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    if page.evaluate("[...document.querySelectorAll('details')].some((each) => !each.open)"):
        yield "a folded part is not printed"
    if page.evaluate("[...document.querySelectorAll('nav, input')].some((each) => each.offsetParent)"):
        yield "what only a screen can do is printed"
    if page.evaluate("getComputedStyle(document.documentElement).colorScheme") != "light":
        yield "is printed in the colours of the night"
    if not page.pdf(format="A4", path=shots / f"{file.parent.name}.pdf" if shots else None).startswith(b"%PDF"):
        yield "cannot be printed"


def _search(page: Any) -> Iterator[str]:
    for field in page.query_selector_all("input[data-table]"):
        rows = f"#{field.get_attribute('data-table')} tbody tr"
        field.fill("no such words anywhere")
        if page.evaluate(f"[...document.querySelectorAll('{rows}')].some((each) => !each.hidden)"):
            yield f"the search of {rows} hides nothing"
        field.fill("")
        if page.evaluate(f"[...document.querySelectorAll('{rows}')].some((each) => each.hidden)"):
            yield f"the search of {rows} brings nothing back"


def _keyboard(page: Any) -> Iterator[str]:
    count = page.evaluate(FOCUSABLE)
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.evaluate(
        "window.reached = new Set(); document.addEventListener('focusin', (each) => reached.add(each.target))"
    )
    for _ in range(count + 2):
        page.keyboard.press("Tab")
    reached = page.evaluate("reached.size")
    if reached < count:
        yield f"Tab reaches {reached} of {count}"


def main() -> int:
    """Check the pages that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--shots", type=Path)
    given = parser.parse_args()
    axe = (HOME / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    found = 0
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        look = Look(browser, axe, given.shots)
        for file in given.files:
            for problem in look.problems(file.resolve()):
                print(f"{file}: {problem}")
                found += 1
        browser.close()
    print(f"{len(given.files)} pages in {len(MODES)} modes: {found} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
