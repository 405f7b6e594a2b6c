"""How an answer is held to what a page shows of it, and that each shown answer is held to one."""

import re
from itertools import chain

import pytest

from tests.shown import lacking, steps
from tools.pages import ROOT, shown

READMES = [str(page.relative_to(ROOT)) for page in shown(".md") if ROOT / "docs" not in page.parents]
"""The pages whose commands tests/test_docs.py does not run."""
_ASKED = re.compile(r'promised\([^()]*?"([^"]+)"\s*\)')


@pytest.mark.parametrize(
    ("said", "answer", "missing"),
    [
        (["a…c", "d"], "abc\nd", []),
        (["a…c", "d"], "abc\nx\nd", ["a…c", "d"]),
        (["a…c", "…", "d"], "abc\nx\ny\nd\n", []),
        (["…", "d"], "d\nd", []),
        (["…", "d"], "d\nx", ["d"]),
        (["a", "..."], "a", []),
        (["a", "…", "b", "b"], "a\nb", ["b", "b"]),
        (["d", "abc"], "abc\nd", ["d", "abc"]),
        (["a…"], "ba", ["a…"]),
        (["a", ""], "\na\nb", ["not shown: b"]),
        ([], "a", []),
        (["x  2 s"], "x       17 s", []),
        (["x  2 s"], "x", ["x  2 s"]),
        (["x  0.1  one 2 s; two 3 s"], "x   12.0  three 1 s", []),
        (["x  0.1  one 2 s; two 3 s"], "x   12.0", []),
        (["x  2 s"], "x  2 bytes", ["x  2 s"]),
        (["i-0123456789abcdef0 at 10.1.0.4"], "i-abcdef01234567890 at 10.1.128.17", []),
        (["fs-0123456789abcdef0"], "i-abcdef01234567890", ["fs-0123456789abcdef0"]),
        (["mine.yaml:3:9"], "deployments/yours.yaml:12:30", []),
        (["2026-11-23T04:12:07Z  1.5  6fe1efc8eda2"], "2027-01-03T00:00:00Z  107.3  000000000000", []),
        (["4 nodes"], "5 nodes", ["4 nodes"]),
    ],
)
def test_what_a_page_promises_is_looked_for(said: list[str], answer: str, missing: list[str]) -> None:
    assert lacking(said, answer) == missing


@pytest.mark.parametrize("path", READMES)
def test_what_a_readme_promises_is_held_to_an_answer(path: str) -> None:
    """Some test asks for it by the page's path, or a name of that, and the command."""
    answered = set(
        chain.from_iterable(_ASKED.findall(test.read_text()) for test in (ROOT / "tests").rglob("test_*.py"))
    )
    assert [step.command for step in steps(ROOT / path) if step.said and step.command not in answered] == []
