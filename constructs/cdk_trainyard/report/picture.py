"""The picture: nested boxes as SVG, drawn the same at each run; labels are wrapped and never cut."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate, takewhile
from typing import Any, Final

from cdk_trainyard.report.scene import cards_of, described

_WIDTH: Final = 1120
_GAP: Final = 12
_LINE: Final = 17
_HEAD: Final = 24
_NETWORK: Final = 620
_GUTTER: Final = 110
_EMS: Final = {
    letter: ems
    for letters, ems in {
        " ',.:;IJijl|": 0.4,
        "!()-/[\\]_`frt": 0.5,
        '"*?csz': 0.6,
        "$0123456789EFLTaekovxy": 0.7,
        "ABCKPRSVXYZbdghnpqu{}": 0.8,
        "#&+<=>DGHNOQU^~": 0.9,
        "@Mw": 1.0,
        "%m": 1.1,
        "W": 1.2,
    }.items()
    for letter in letters
}
"""Letter to its width in ems: DejaVu Sans Bold's, the widest of common system fonts, rounded up to a tenth."""
_WIDEST: Final = 1.3
"""Ems of what is not in the table: an ideograph takes one, an emoji a little more."""
_THIN: Final = 0.92
"""What letters take that are not bold, of what bold ones take: DejaVu Sans's most."""
_INTERNET: Final = "internet"


@dataclass(slots=True)
class _Canvas:
    parts: list[str] = field(default_factory=list)
    places: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Id of a card to the middle of the edge that arrows meet."""

    def box(self, x: float, y: float, width: float, height: float, style: str) -> None:
        self.parts.append(f'<rect class="{style}" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>')

    def text(self, x: float, y: float, text: str, style: str = "", *, size: int = 12, bold: bool = False) -> None:
        weight = ' font-weight="600"' if bold else ""
        shown = f' class="{style}"' if style else ""
        self.parts.append(f'<text x="{x}" y="{y}" font-size="{size}"{weight}{shown}>{escape(_clean(text))}</text>')


def picture(scene: Mapping[str, Any] | None, *, alone: bool = False, style: str = "") -> str:
    """Return the picture of a scene as SVG; nothing where there is no scene.

    Args:
        scene: The scene, as ``review.json`` has it.
        alone: Whether it is a file of its own. Default - it is part of the page, which styles it.
        style: The style sheet of a file of its own.
    """
    if not scene:
        return ""
    canvas = _Canvas()
    top = _HEAD + 2 * _GAP
    y: float = top
    if any(each["from"] == _INTERNET for each in scene["arrows"]):
        y = _internet(canvas, y)
    for network in scene["networks"]:
        y = _network(canvas, network, y) + _GAP
    right = _GAP + _NETWORK + _GUTTER if y > top else _GAP
    bottom = max(y, _stores(canvas, scene["stores"], right, top)) + _GAP
    _arrows(canvas, scene["arrows"])
    bottom = _legend(canvas, scene, bottom)
    head = [
        f"<title>Picture of what is deployed in {escape(_clean(scene['region']))}</title>",
        f"<desc>{escape(_clean(described(scene)))}</desc>",
        _ARROWHEAD,
    ]
    if alone:
        head.append(f"<style>{style}</style>")
    region = _Canvas()
    region.box(1, 1, _WIDTH - 2, bottom - 2, "region")
    region.text(_GAP, _HEAD - 4, scene["title"], size=14, bold=True)
    names = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
    return (
        f'<svg{names} viewBox="0 0 {_WIDTH} {bottom}" role="img" font-family="system-ui, sans-serif">'
        f"{''.join([*head, *region.parts, *canvas.parts])}</svg>"
    )


_ARROWHEAD: Final = (
    '<defs><marker id="picture-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>'
)


def _clean(text: str) -> str:
    """Return a text without what XML does not allow."""
    return "".join(each for each in text if each.isprintable())


def _internet(canvas: _Canvas, y: float) -> float:
    canvas.box(_GAP, y, _NETWORK, _HEAD + _GAP, "public")
    canvas.text(2 * _GAP, y + _HEAD, "The internet", size=13, bold=True)
    canvas.places[_INTERNET] = (_GAP + _NETWORK, y + _HEAD / 2 + _GAP / 2)
    return y + _HEAD + 2 * _GAP


def _network(canvas: _Canvas, network: Mapping[str, Any], y: float) -> float:
    start = len(canvas.parts)
    inner = y + _titles(canvas, 2 * _GAP, y, network, _NETWORK - 2 * _GAP) + _GAP
    for subnet in network["subnets"]:
        inner = _subnet(canvas, subnet, inner) + _GAP
    if network["spread"]:
        spread = {
            "title": "In several subnets, or in one that is not known here",
            "note": "",
            "is_public": False,
            "cards": network["spread"],
        }
        inner = _subnet(canvas, spread, inner) + _GAP
    _behind(canvas, start, (_GAP, y, _NETWORK, inner - y), "net")
    return inner


def _subnet(canvas: _Canvas, subnet: Mapping[str, Any], y: float) -> float:
    start, x, width = len(canvas.parts), 2 * _GAP, _NETWORK - 2 * _GAP
    inner = y + _titles(canvas, x + _GAP, y, subnet, width - 2 * _GAP) + _GAP
    for card in subnet["cards"]:
        inner = _card(canvas, card, x + _GAP, inner, width - 2 * _GAP) + _GAP
    _behind(canvas, start, (x, y, width, inner - y), "public" if subnet["is_public"] else "inner")
    return inner


def _behind(canvas: _Canvas, start: int, box: tuple[float, float, float, float], style: str) -> None:
    """Draw a box behind what was drawn since."""
    drawn = canvas.parts[start:]
    del canvas.parts[start:]
    canvas.box(*box, style)
    canvas.parts += drawn


def _titles(canvas: _Canvas, x: float, y: float, of: Mapping[str, Any], width: float) -> float:
    """Write title and notes, and return the height that they took."""
    lines = [*_wrapped(of["title"], width, 13, bold=True)]
    for number, line in enumerate(lines):
        canvas.text(x, y + _HEAD - 5 + number * _LINE, line, size=13, bold=True)
    notes = [line for note in (of["note"], of.get("shared", "")) for line in _wrapped(note, width, 12)]
    for number, line in enumerate(notes, len(lines)):
        canvas.text(x, y + _HEAD - 5 + number * _LINE, line, "quiet")
    return _HEAD - _LINE + (len(lines) + len(notes)) * _LINE


def _card(canvas: _Canvas, card: Mapping[str, Any], x: float, y: float, width: float) -> float:
    inner = width - 3 * _GAP
    titles = [*_wrapped(card["title"], inner, 13, bold=True)]
    lines = [part for line in [card["noun"], *card["lines"]] if line for part in _wrapped(line, inner, 12)]
    height = _GAP + (len(titles) + len(lines)) * _LINE + _GAP / 2
    canvas.box(x, y, width, height, "cardbox")
    canvas.parts.append(f'<rect class="tab {card["kind"]}" x="{x}" y="{y + 6}" width="4" height="{height - 12}"/>')
    for number, line in enumerate([*titles, *lines]):
        is_title = number < len(titles)
        size = 13 if is_title else 12
        canvas.text(
            x + 1.5 * _GAP, y + _GAP + number * _LINE + 7, line, "" if is_title else "quiet", size=size, bold=is_title
        )
    canvas.places[card["id"]] = (x + width, y + height / 2)
    return y + height


def _stores(canvas: _Canvas, stores: Sequence[Mapping[str, Any]], x: float, y: float) -> float:
    width = _WIDTH - 2 * _GAP - _NETWORK - _GUTTER
    if not stores:
        return y
    canvas.text(x, y + _HEAD - 5, "Stores outside of networks", size=13, bold=True)
    y += _HEAD + _GAP / 2
    for card in stores:
        below = _card(canvas, card, x, y, width)
        canvas.places[card["id"]] = (x, (y + below) / 2)
        y = below + _GAP
    return y


def _arrows(canvas: _Canvas, arrows: Sequence[Mapping[str, Any]]) -> None:
    """Draw arrows in the gutter at the right of the networks; those of one card and kind leave it as one line."""
    lines = list(dict.fromkeys((each["from"], each["kind"]) for each in arrows))
    lane = min(16.0, (_GUTTER - 3 * _GAP) / max(1, len(lines)))
    taken: dict[str, int] = {}
    starts = {line: _port(canvas, taken, line[0]) for line in lines}
    for each in arrows:
        line = (each["from"], each["kind"])
        (x1, y1), (x2, y2) = starts[line], _port(canvas, taken, each["to"])
        middle = _GAP + _NETWORK + _GAP + lane * lines.index(line)
        end = x2 + 1 if x2 < middle else x2 - 1
        canvas.parts.append(
            f'<path class="arrow {each["kind"]}" marker-end="url(#picture-head)" '
            f'd="M{x1:g} {y1:g} H{middle:g} V{y2:g} H{end:g}"/>'
        )


def _port(canvas: _Canvas, taken: dict[str, int], name: str) -> tuple[float, float]:
    """Return where the next line of a card begins or ends: a little below the last one."""
    x, y = canvas.places[name]
    number = taken[name] = taken.get(name, -1) + 1
    return x, y + (number + 1) // 2 * (7 if number % 2 else -7)


def _legend(canvas: _Canvas, scene: Mapping[str, Any], y: float) -> float:
    """Say what arrows and the edges of cards mean, each beside a sample of it."""
    arrows = {each["kind"] for each in scene["arrows"]}
    cards = {each["kind"] for each in (*cards_of(scene), *scene["stores"])}
    middle = y + _LINE / 2
    for kind, said in _ARROWS.items():
        if kind in arrows:
            canvas.parts.append(
                f'<path class="arrow {kind}" marker-end="url(#picture-head)" d="M{_GAP} {middle:g} h{_SAMPLE}"/>'
            )
            canvas.text(2 * _GAP + _SAMPLE, middle + 4, said, "quiet")
            middle += _LINE
    for kind, said in _EDGES.items():
        if kind in cards:
            canvas.parts.append(
                f'<rect class="tab {kind}" x="{_GAP + _SAMPLE - 4}" y="{middle - 6:g}" width="4" height="12"/>'
            )
            canvas.text(2 * _GAP + _SAMPLE, middle + 4, said, "quiet")
            middle += _LINE
    if scene["left_out"]:
        canvas.text(_GAP, middle + 4, f"{scene['left_out']} more are not drawn", "quiet")
        middle += _LINE
    return middle - _LINE / 2 + _GAP


_SAMPLE: Final = 32
_ARROWS: Final = {
    "mounts": "mounts the file system",
    "traffic": "traffic that is let through",
    "reads": "a role of the machines may read what is stored",
}
_EDGES: Final = {"compute": "what computes", "store": "what keeps data", "door": "a way into or out of the network"}


def _wrapped(text: str, width: float, size: int, *, bold: bool = False) -> Iterator[str]:
    """Yield the lines of a text that fit a width; a word that does not fit is broken, after a slash if it can be."""
    room = width / size if bold else width / size / _THIN
    line = ""
    for word in _clean(text).split():
        longer = f"{line} {word}" if line else word
        if line and _fitting(longer, room) < len(longer):
            yield line
            longer = word
        while (most := _fitting(longer, room)) < len(longer):
            cut = longer.rfind("/", 1, most) + 1 or most
            yield longer[:cut]
            longer = longer[cut:]
        line = longer
    if line:
        yield line


def _fitting(text: str, room: float) -> int:
    """Return how many letters of a text fit as many ems: one, at least."""
    reached = accumulate(_EMS.get(letter, _WIDEST) for letter in text)
    return max(1, sum(1 for _ in takewhile(lambda ems: ems <= room, reached)))
