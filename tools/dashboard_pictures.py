"""Draw dashboards from what their queries gave on a rehearsed cluster: there is no Grafana here to take pictures of.

``tests/monitoring/data/rehearsed.json`` has the answers, with their day; every query and legend in it is one of
``data/dashboards.json``. ``python -m tools.dashboard_pictures`` exits with 1 when a picture in ``docs/pictures`` is
another; ``--write`` renews them.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.monitoring.panels import Dashboard, Panel, dashboards

ROOT: Final = Path(__file__).parents[1]
RECORDED: Final = ROOT / "tests" / "monitoring" / "data" / "rehearsed.json"
PICTURES: Final = ROOT / "docs" / "pictures"
_WIDTH: Final = 1120
_GAP: Final = 10
_SIZES: Final = {"stat": (4, 110), "table": (1, 150), "timeseries": (2, 250)}
"""How many panels of a kind stand beside one another, and how high one is."""
_COLOURS: Final = ("#3d63dd", "#b8741a", "#2f8f5b", "#b23a48", "#7a4fc0", "#00838f", "#8d6e00", "#6b7280")
_LEGENDS: Final = 8
_EVERYWHERE: Final = {"__name__", "cluster", "instance", "job"}
"""Labels that tell no row of a table from another."""
_STYLE: Final = """\
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1c2434}.small{font-size:11px;fill:#56607a}\
.title{font-weight:600}.head{font-size:17px;font-weight:600}.number{font-size:30px;font-weight:600}\
.box{fill:#fff;stroke:#b9c2d6}.grid{stroke:#e3e7f0}.page{fill:#f3f5fa}\
@media(prefers-color-scheme:dark){text{fill:#e6e9f2}.small{fill:#a9b2c9}.box{fill:#1c2230;stroke:#3a4359}\
.grid{stroke:#2b3347}.page{fill:#12161f}}"""
Points = Sequence[tuple[int, float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """What queries gave: of each panel its series by legend; seconds since the recording began, and the number."""

    day: str
    seconds: int
    says: str
    panels: Mapping[str, Mapping[str, Sequence[tuple[str, Mapping[str, Points]]]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or write, the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew the pictures")
    write = parser.parse_args(arguments).write
    stale = False
    for name, text in pictures().items():
        path = PICTURES / f"dashboard-{name}.svg"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale = True
            if write:
                path.write_text(text, encoding="utf-8")
    return 1 if stale and not write else 0


def recorded() -> Recording:
    """Return what was recorded."""
    return Recording(**json.loads(RECORDED.read_text(encoding="utf-8")))


def pictures() -> dict[str, str]:
    """Return every picture, by the name of its dashboard."""
    recording = recorded()
    return {each.name: _picture(each, recording) for each in dashboards() if each.name in recording.panels}


def reduced(found: Sequence[Mapping[str, Any]], begins: int, legend: str) -> dict[str, Points]:
    """Return series of Prometheus' query_range by their legend, as they are kept.

    Args:
        found: The result.
        begins: When the recording began, in seconds since 1970.
        legend: The legend of the query: ``{{label}}`` stands for a label's value.
    """
    kept: dict[str, Points] = {}
    for each in found:
        name = legend or ", ".join(each["metric"][label] for label in sorted(each["metric"].keys() - _EVERYWHERE))
        for label, value in each["metric"].items():
            name = name.replace(f"{{{{{label}}}}}", value)
        kept[name] = [(round(float(at)) - begins, float(f"{float(number):.4g}")) for at, number in each["values"]]
    return dict(sorted(kept.items()))


def _picture(shown: Dashboard, recording: Recording) -> str:
    answers = recording.panels[shown.name]
    parts: list[str] = []
    left, top, row = _GAP, 44, 0
    for panel in shown.panels:
        series = {name: points for _, found in answers.get(panel.title, ()) for name, points in found.items()}
        if not series:
            continue  # of Slurm's and nodes' metrics, what such a cluster does not have
        beside, height = _SIZES[panel.kind]
        width = (_WIDTH - _GAP) // beside - _GAP
        if left + width > _WIDTH or (row and row != height):
            left, top, row = _GAP, top + row + _GAP, 0
        parts += _panel(panel, series, recording.seconds, left, top, width, height)
        left, row = left + width + _GAP, height
    total = top + row + _GAP
    title = f"Trainyard: {shown.title}"
    said = escape(f"{recording.says}, {recording.day}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {total}" role="img">'
        f"<title>{escape(title)}</title>"
        f'<desc>{said}</desc><style>{_STYLE}</style><rect class="page" width="{_WIDTH}" height="{total}"/>'
        f'<text class="head" x="{_GAP}" y="28">{escape(title)}</text>'
        f'<text class="small" x="{_WIDTH - _GAP}" y="28" text-anchor="end">{said}</text>{"".join(parts)}</svg>\n'
    )


def _panel(
    panel: Panel, series: Mapping[str, Points], seconds: int, left: int, top: int, width: int, height: int
) -> Iterator[str]:
    yield f'<rect class="box" x="{left}" y="{top}" width="{width}" height="{height}" rx="4"/>'
    size = min(13, 1.75 * width / len(panel.title))
    style = f"font-size:{size:.1f}px"
    yield f'<text class="title" style="{style}" x="{left + 12}" y="{top + 22}">{escape(panel.title)}</text>'
    if panel.kind == "stat":
        yield f'<text class="number" x="{left + 12}" y="{top + 72}">{_said(_last(series), panel.unit)}</text>'
    elif panel.kind == "table":
        for number, (name, points) in enumerate(list(series.items())[:4]):
            at, value = points[-1]
            until = "" if at == seconds else f", until {at / 60:.1f} min"
            said = f"{escape(name)}: {_said(value, panel.unit)}{until}"
            yield f'<text x="{left + 12}" y="{top + 50 + 22 * number}">{said}</text>'
    else:
        yield from _graph(panel, series, seconds, left + 64, top + 36, width - 80, height - 106)
        yield from _legend(list(series), left + 12, top + height - 42, width - 24)


def _last(series: Mapping[str, Points]) -> float:
    return next(iter(series.values()))[-1][1]


def _graph(
    panel: Panel, series: Mapping[str, Points], seconds: int, left: int, top: int, width: int, height: int
) -> Iterator[str]:
    below: dict[int, float] = {}
    lines: list[tuple[list[tuple[int, float]], list[float]]] = []
    for points in series.values():
        floor = [below.get(at, 0.0) if panel.stacked else 0.0 for at, _ in points]
        summed = [(at, number + under) for (at, number), under in zip(points, floor, strict=True)]
        below |= dict(summed)
        lines.append((summed, floor))
    most = max((number for points, _ in lines for _, number in points), default=0) or 1

    def place(at: int, number: float) -> str:
        return f"{left + width * at / seconds:.1f},{top + height * (1 - number / most):.1f}"

    for share in (0, 0.5, 1):
        across = top + height * (1 - share)
        yield f'<line class="grid" x1="{left}" x2="{left + width}" y1="{across:.1f}" y2="{across:.1f}"/>'
        said = _said(most * share, panel.unit)
        yield f'<text class="small" x="{left - 6}" y="{across + 4:.1f}" text-anchor="end">{said}</text>'
    for minute in range(seconds // 60 + 1):
        at = left + width * 60 * minute / seconds
        yield f'<text class="small" x="{at:.1f}" y="{top + height + 16}" text-anchor="middle">{minute} min</text>'
    for number, (points, floor) in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        for start, end in _runs(points):
            line = " ".join(place(at, value) for at, value in points[start:end])
            if panel.stacked:
                back = " ".join(
                    place(at, under)
                    for (at, _), under in zip(points[start:end][::-1], floor[start:end][::-1], strict=True)
                )
                yield f'<polygon points="{line} {back}" fill="{colour}" fill-opacity=".2"/>'
            yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>'


def _runs(points: Points) -> Iterator[tuple[int, int]]:
    """Yield where a line begins and ends: where there is no sample it is broken."""
    start, step = 0, min((after - at for (at, _), (after, _) in pairwise(points)), default=0)
    for number in range(1, len(points) + 1):
        if number == len(points) or points[number][0] - points[number - 1][0] > 2 * step:
            yield start, number
            start = number


def _legend(names: Sequence[str], left: int, top: int, width: int) -> Iterator[str]:
    shown = [*names[:_LEGENDS], *([f"and {len(names) - _LEGENDS} more"] if len(names) > _LEGENDS else [])]
    x, y = left, top
    for number, name in enumerate(shown):
        needed = 22 + int(6.2 * len(name))
        if x + needed > left + width:
            x, y = left, y + 17
        if number < _LEGENDS:
            colour = _COLOURS[number % len(_COLOURS)]
            yield f'<rect x="{x}" y="{y - 4}" width="10" height="4" fill="{colour}"/>'
        yield f'<text class="small" x="{x + 14}" y="{y + 1}">{escape(name)}</text>'
        x += needed


def _said(number: float, unit: str) -> str:
    if unit == "percentunit":
        return f"{100 * number:.3g} %"
    if unit == "s":
        return f"{number / 60:.3g} min" if number >= 60 else f"{number:.3g} s"  # noqa: PLR2004  a minute
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= factor:
            return f"{number / factor:.3g} {prefix}{'B/s' if unit == 'Bps' else ''}".rstrip()
    return f"{number:.3g}{' B/s' if unit == 'Bps' else ''}"


if __name__ == "__main__":
    sys.exit(main())
