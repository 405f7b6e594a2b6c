"""Look at reviews in a real browser: ``python -m tools.browse_review [--axe axe.min.js] [--shots DIR] review.html…``.

For light, dark, forced colours and 320 px: no request, no console message, no horizontal scroll; labels of the picture
within their boxes; the search hides and counts; Tab reaches everything that can be reached; with ``--axe`` (the file
``axe.min.js`` of npm's axe-core) no violation. It needs Chromium (Debian: ``apt-get install chromium``) and ``pip
install playwright``, which are in no lock: this is a check by hand, not a part of ``make test``.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

MODES: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "forced": {"forced_colors": "active", "viewport": {"width": 1280, "height": 900}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 320, "height": 800}},
}
OUTSIDE = """() => {
  const boxes = [...document.querySelectorAll("#picture svg rect")].map((each) => each.getBBox());
  const within = (text, box) => text.x >= box.x - 1 && text.x + text.width <= box.x + box.width + 1
    && text.y >= box.y - 1 && text.y + text.height <= box.y + box.height + 1;
  return [...document.querySelectorAll("#picture svg text")].filter((each) => {
    const around = boxes.filter((box) => { const at = each.getBBox(); return at.x >= box.x && at.y >= box.y
      && at.x < box.x + box.width && at.y < box.y + box.height; });
    const smallest = around.sort((a, b) => a.width * a.height - b.width * b.height)[0];
    return !smallest || !within(each.getBBox(), smallest);
  }).map((each) => each.textContent);
}"""
FOCUSABLE = "document.querySelectorAll('a[href], input, summary, [tabindex]').length"


def problems(browser: Any, file: Path, mode: str, axe: str, shots: Path | None) -> Iterator[str]:
    """Yield what is wrong with a page in a mode.

    Args:
        browser: The browser.
        file: The page.
        mode: One of `MODES`.
        axe: The text of ``axe.min.js``, or nothing.
        shots: Where a screenshot goes. Default - nowhere.
    """
    context = browser.new_context(offline=True, bypass_csp=bool(axe), **MODES[mode])
    page = context.new_page()
    heard: list[str] = []
    page.on("console", lambda each: heard.append(f"console: {each.text}"))
    page.on("pageerror", lambda each: heard.append(f"error: {each}"))
    page.on("request", lambda each: heard.append(f"request: {each.url}") if each.url != file.as_uri() else None)
    page.goto(file.as_uri())
    if shots:
        page.screenshot(path=shots / f"{file.parent.name}-{mode}.png")
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        yield f"scrolls sideways by {wide} px"
    yield from (f"a label leaves its box: {each}" for each in page.evaluate(OUTSIDE))
    yield from _search(page)
    yield from _keyboard(page)
    if axe:
        page.evaluate(axe)
        yield from (
            f"axe: {each['id']}: {each['nodes'][0]['html'][:90]}" for each in page.evaluate("axe.run()")["violations"]
        )
    yield from heard
    context.close()


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
    parser.add_argument("--axe", type=Path)
    parser.add_argument("--shots", type=Path)
    given = parser.parse_args()
    axe = given.axe.read_text(encoding="utf-8") if given.axe else ""
    found = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for file in given.files:
            for mode in MODES:
                for problem in problems(browser, file.resolve(), mode, axe, given.shots):
                    print(f"{file}: {mode}: {problem}")
                    found += 1
        browser.close()
    print(f"{len(given.files)} pages in {len(MODES)} modes: {found} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
