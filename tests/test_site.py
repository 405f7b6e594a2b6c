"""The documentation site: it builds without a warning, its links lead somewhere, nothing is loaded from elsewhere."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest

from tools.pages import ROOT, main, shown

BROWSER = ROOT / ".venv-browser" / "bin" / "python"
ZENSICAL = ROOT / ".venv-docs" / "bin" / "zensical"
CONFIGURATION = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]
ROOMS = sorted(path.stem for path in (ROOT / "docs" / "api").glob("*.md"))
PICTURES = shown(".svg")


@dataclass
class Page(HTMLParser):
    """What a page has: places in it, links out of it, and what a browser loads for it."""

    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.ids |= {said[name] for name in ("id", "name") if name in said}
        if tag == "a" and "href" in said:
            self.links.add(said["href"])
        elif "src" in said or (tag == "link" and said.get("rel") in {"stylesheet", "icon", "preload"}):
            self.loaded.add(said.get("src") or said["href"])


@pytest.fixture(scope="module")
def site() -> dict[Path, Page]:
    """The pages by their files, built as ``make docs`` builds them."""
    assert ZENSICAL.exists(), "make test sets it up; alone: make .venv-docs/.ready"
    main()
    done = subprocess.run(
        [str(ZENSICAL), "build", "--clean", "--strict"],
        cwd=ROOT,
        env=os.environ | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.fail((done.stdout + done.stderr).partition("Traceback")[0], pytrace=False)
    pages = {}
    for path in (ROOT / CONFIGURATION["site_dir"]).rglob("*.html"):
        pages[path] = Page()
        pages[path].feed(path.read_text())
    return pages


@pytest.mark.review
def test_every_page_has_its_own_title_in_the_navigation(site: dict[Path, Page]) -> None:
    """A section that takes its first page for itself hides it."""
    text = (ROOT / CONFIGURATION["site_dir"] / "docs" / "api" / "errors" / "index.html").read_text()
    shown_titles = {" ".join(each.split()) for each in re.findall(r'md-ellipsis">(.*?)</span>', text, re.DOTALL)}
    assert {title for title, _ in named(CONFIGURATION["nav"]) if title not in shown_titles} == set()
    assert site


@pytest.mark.review
def test_a_real_browser_finds_nothing_wrong_with_any_page(site: dict[Path, Page]) -> None:
    """Chromium, as wide as a desk and as a phone: `tools/browse_site.py` says what it looks at."""
    assert BROWSER.exists(), "make test sets it up; alone: make .venv-browser/.ready"
    words = [BROWSER, "-m", "tools.browse_site", CONFIGURATION["site_dir"]]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    said = f"{len(site)} pages on desk and phone: 0 problems\n"
    assert (done.returncode, done.stdout) == (0, said), done.stdout + done.stderr


def target(page: Path, link: str) -> tuple[Path, str]:
    """Return the file that a link within the site leads to, and the place in it."""
    parts = urlsplit(link)
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    return (path / "index.html" if path.is_dir() else path), unquote(parts.fragment)


@pytest.mark.review
def test_every_link_leads_to_a_page_and_a_place(site: dict[Path, Page]) -> None:
    lost = []
    for path, page in site.items():
        if path.name == "404.html":  # its links are from the root of wherever the site is
            continue
        for link in page.links:
            if urlsplit(link).scheme:
                continue
            file, place = target(path, link)
            if not file.is_file() or (place and place not in site[file].ids):
                lost.append(f"{path.relative_to(ROOT)}: {link}")
    assert lost == []


@pytest.mark.review
def test_pages_load_nothing_from_elsewhere(site: dict[Path, Page]) -> None:
    outside = {link for page in site.values() for link in page.loaded if urlsplit(link).netloc}
    assert outside == set()
    assert {link for page in site.values() for link in page.links if urlsplit(link).scheme == "http"} == set()


@pytest.mark.review
@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_in_the_reference(room: str, site: dict[Path, Page]) -> None:
    page = site[ROOT / CONFIGURATION["site_dir"] / "docs" / "api" / room / "index.html"]
    package = f"cdk_trainyard.{room}"
    module = import_module(package)
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if getattr(value, "__module__", "") == package and name[0] != "_"
    ]
    assert names
    # a function that has its module's name is shown as the module's
    places = {name: {f"{package}.{name}", f"{package}.{name}.{name}"} for name in names}
    assert {name for name in names if not places[name] & page.ids} == set()
    verbs = {f"{package}.{name}.{verb}" for name in names for verb in verbs_of(getattr(module, name))}
    assert verbs - page.ids == set()


def verbs_of(value: object) -> Iterator[str]:
    """Yield the public methods of a class, those of its bases among them that are the library's."""
    for base in value.__mro__ if isinstance(value, type) else ():
        if base.__module__.startswith("cdk_trainyard."):
            yield from (name for name, member in vars(base).items() if isfunction(member) and name[0] != "_")


def named(entries: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the pages of the navigation with their titles in it."""
    for entry in entries:
        ((title, inner),) = entry.items()
        yield from [(title, inner)] if isinstance(inner, str) else named(inner)


def test_every_page_is_in_the_navigation_or_in_a_list_of_its_folder() -> None:
    listed = {ROOT / name for _, name in named(CONFIGURATION["nav"])}
    decisions = set((ROOT / "docs" / "decisions").glob("0*.md"))
    text = (ROOT / "docs" / "decisions" / "README.md").read_text()
    assert {page.name for page in decisions if f"]({page.name})" not in text} == set()
    assert set(shown(".md")) - listed - decisions == set(), "a page needs its line in zensical.toml"
    assert listed - set(shown(".md")) == set()


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_for_light_and_dark_and_says_what_it_shows(picture: Path) -> None:
    root = ET.fromstring(picture.read_text())  # noqa: S314  our own
    name = {"svg": "http://www.w3.org/2000/svg"}
    assert root.findtext("svg:title", namespaces=name)
    assert re.search(r"prefers-color-scheme: ?dark", root.findtext("svg:style", namespaces=name) or "")
    assert {element.get("href") for element in root.iter() if element.get("href")} == set()


def test_the_program_writes_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.pages.PAGES", tmp_path / "pages")
    sys.modules["tools.pages"].main()
    written = {path.relative_to(tmp_path / "pages") for path in (tmp_path / "pages").rglob("*") if path.is_file()}
    assert written == {path.relative_to(ROOT) for path in shown()}
