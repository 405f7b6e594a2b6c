"""The page: one HTML file that asks nothing of anybody, from the review as data."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.report.picture import picture
from cdk_trainyard.report.words import counted

_DATA: Final = Path(__file__).parent / "data"
LIGHT: Final = {
    "page": "#f5f6f8",
    "card": "#ffffff",
    "text": "#1b1f24",
    "quiet": "#545d68",
    "line": "#d3d9e0",
    "link": "#0b57b0",
    "good": "#1a6b32",
    "warn": "#8a4b00",
    "bad": "#b3141d",
    "net": "#5b3fb0",
    "open": "#fff4e0",
}
"""Colours by day."""
DARK: Final = {
    "page": "#14171c",
    "card": "#1c2128",
    "text": "#e8ecf1",
    "quiet": "#a3adb9",
    "line": "#3b444f",
    "link": "#82b4ff",
    "good": "#6fd08c",
    "warn": "#f0b35a",
    "bad": "#ff8f8a",
    "net": "#b9a5f5",
    "open": "#2e2617",
}
"""Colours by night."""
_TONES: Final = {"error": "bad", "warning": "warn", "info": ""}
_SECTIONS: Final = {
    "verdict": "Verdict",
    "picture": "Picture",
    "change": "Change",
    "network": "Network",
    "permissions": "Permissions",
    "data": "Data",
    "findings": "Findings",
    "cost": "Cost",
    "provenance": "Provenance",
}
_PARTS: Final = re.compile(r"(?:[^/:,_.\s]|\.(?![a-z])){1,40}(?:[/:,_\s]+|\.)?|[/:,_\s]+|\.")
_SHORT: Final = 16
_OPTIONAL: Final = {"picture", "change", "cost"}


def page(review: Mapping[str, Any]) -> str:
    """Return the page of a review.

    Args:
        review: The review, as ``review.json`` has it.
    """
    style, script = style_sheet(), (_DATA / "page.js").read_text(encoding="utf-8")
    content = {
        "it": review,
        "style": _safe(style),
        "style_hash": _hash(style),
        "script": _safe(script),
        "script_hash": _hash(script),
        "picture": _safe(picture(review["picture"])),
        "sections": [(key, name) for key, name in _SECTIONS.items() if key not in _OPTIONAL or review.get(key)],
        "tiles": [*_tiles(review)],
        "stacks": _rows(
            (each["id"], each["region"] or "not said", each["resources"], _most(each["types"]))
            for each in review["stacks"]
        ),
        "openings": _rows(
            (each["what"], each["ports"], each["who"], each["why"]) for each in review["network"]["openings"]
        ),
        "exits": _rows((each["who"], each["where"]) for each in review["network"]["exits"]),
        "ways": _rows((each["from"], each["to"], each["ports"], each["through"]) for each in review["network"]["ways"]),
        "rules": _rows(
            (each["group"], each["sentence"], ". ".join(filter(None, (each["why"], each["explanation"]))))
            for each in review["network"]["rules"]
        ),
        "access": _rows(
            (each["store"], _holders(each["readers"]), _holders(each["writers"]))
            for each in review["permissions"]["access"]
        ),
        "grants": _grants,
        "stores": [*map(_store, review["data"])],
        "findings": _findings(review["findings"]),
        "changes": [*map(_change, (review.get("change") or {}).get("rows", []))],
        "cost": [*map(_cost, (review.get("cost") or {}).get("items", []))],
        "digests": _rows((each["file"], each["sha256"]) for each in review["provenance"]["templates"]),
    }
    return str(_template().render(content))


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  an extra

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["breakable"] = _breakable
    return environment.from_string((_DATA / "page.html").read_text(encoding="utf-8"))


def _breakable(value: object) -> Any:
    """Escape a value, with places where long names may go on in the next line."""
    if hasattr(value, "__html__"):
        return value
    text = str(value)
    if len(text) <= _SHORT and " " not in text:
        return _safe(f'<span class="whole">{escape(text)}</span>') if text else ""
    return _safe("<wbr>".join(escape(part) for part in _PARTS.findall(text)))


def _safe(text: str) -> Any:
    """Mark what this room wrote itself as markup; strings of templates are escaped before they get into it."""
    from markupsafe import Markup  # noqa: PLC0415  of jinja2

    return Markup(text)  # noqa: S704  as the docstring says


def style_sheet() -> str:
    """Return the style of the page."""
    return picture_style() + _coloured("page.css")


def picture_style() -> str:
    """Return the style of the picture alone, as a file of its own has it."""
    return _coloured("picture.css")


def _coloured(name: str) -> str:
    text = (_DATA / name).read_text(encoding="utf-8")
    for mark, palette in (("@LIGHT@", LIGHT), ("@DARK@", DARK)):
        text = text.replace(mark, ";".join(f"--{key}:{value}" for key, value in palette.items()))
    return text


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _rows(cells: Iterable[tuple[Any, ...]], tone: str = "") -> list[dict[str, Any]]:
    return [{"cells": each, "tone": tone} for each in cells]


def _tiles(review: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    verdict = review["verdict"]
    opened = verdict["open"]
    worst = next((_TONES[each] for each in _TONES if opened.get(each)), "good")
    said = ", ".join(counted(opened[each], each) for each in _TONES if opened.get(each))
    accepted = f"{verdict['accepted']:,} accepted, each with its reason" if verdict["accepted"] else ""
    checked = review["provenance"]["validated"]
    yield {
        "name": "Open findings",
        "value": str(sum(opened.values())) if checked else "not checked",
        "more": "; ".join(filter(None, (said, accepted))) if checked else "no rule pack ran",
        "tone": worst if checked else "warn",
    }
    public = len(verdict["public"])
    yield {
        "name": "Open to the internet",
        "value": str(public) if public else "nothing",
        "more": "",
        "tone": "warn" if public else "good",
    }
    kept, lost = len(verdict["kept"]), len(verdict["lost"])
    yield {
        "name": "Stores kept on destroy",
        "value": f"{kept} of {kept + lost}",
        "more": "",
        "tone": "good" if not lost else "",
    }
    plain = len(verdict["unencrypted"])
    yield {
        "name": "Stores not encrypted",
        "value": str(plain) if plain else "none",
        "more": "",
        "tone": "bad" if plain else "good",
    }
    risky = sum(bool(each["escalations"]) for each in review["permissions"]["roles"])
    yield {
        "name": "Roles that could give themselves more",
        "value": str(risky) if risky else "none",
        "more": "",
        "tone": "bad" if risky else "good",
    }
    if cost := review.get("cost"):
        more = "; ".join(filter(None, (cost["at_most"], cost["unpriced_said"])))
        yield {"name": "Cost", "value": cost["headline"], "more": more, "tone": ""}


def _most(types: Mapping[str, int]) -> str:
    first = [*types.items()][:5]
    rest = len(types) - len(first)
    said = ", ".join(f"{count} {kind.removeprefix('AWS::')}" for kind, count in first)
    return f"{said} and {counted(rest, 'other type')}" if rest else said


def _holders(holders: list[Mapping[str, Any]]) -> str:
    return (
        "; ".join(each["role"] + (f" (only {each['part']})" if each["part"] else "") for each in holders)
        or "nobody in these templates"
    )


def _grants(role: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "cells": (
                "allowed" if each["effect"] == "Allow" else "denied",
                ", ".join(each["actions"]),
                ", ".join("any resource" if one == "*" else one for one in each["resources"]),
                each["condition"],
                "; ".join([each["source"], *each["reasons"]]),
            ),
            "tone": "warn" if each["wildcards"] and not each["condition"] and not each["reasons"] else "",
        }
        for each in role["grants"]
    ]


def _store(each: Mapping[str, Any]) -> dict[str, Any]:
    cells = (
        each["name"],
        each["encryption"],
        each["retention"],
        each["backup"],
        each["on_destroy"],
        each["on_replace"],
    )
    return {"cells": cells, "tone": "" if each["is_encrypted"] else "bad"}


def _findings(found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return findings by what is said: one row for each rule and reason, with every place."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for each in found:
        groups.setdefault((each["severity"], each["text"], each["reason"], *each["rules"]), []).append(each)
    return [_group(each) for each in groups.values()]


def _group(group: list[Mapping[str, Any]]) -> dict[str, Any]:
    first = group[0]
    rules = ", ".join(first["rules"])
    status = f"accepted ({first['severity']})" if first["reason"] else f"open {first['severity']}"
    tone = "good" if first["reason"] else _TONES[first["severity"]]
    return {"cells": (status, first["text"], _where(group), first["reason"], rules), "tone": tone}


def _where(group: Iterable[Mapping[str, Any]]) -> Any:
    """Return every place of a group, each with the lines that it comes from."""
    found = dict.fromkeys((each["place"], ", ".join(filter(None, (each["written"], each["made"])))) for each in group)
    noted = (_noted(place, origin) if origin else f"{_breakable(place)}, " for place, origin in found)
    return _safe("".join(noted).removesuffix(", "))


def _noted(text: str, note: str) -> Any:
    """Return a text with a note below it, if there is one."""
    return _safe(f'{_breakable(text)}<span class="note">{_breakable(note)}</span>') if note else text


_EFFECT_TONES: Final = {"lost": "bad", "refused": "bad", "replaced": "warn", "stopped": "warn", "drained": "warn"}


def _change(each: Mapping[str, Any]) -> dict[str, Any]:
    tone = _EFFECT_TONES.get(each["effect"], "")
    return {
        "cells": (each["effect"], _noted(each["where"], each["written"]), each["what"], each["remedy"]),
        "tone": tone,
    }


def _cost(each: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "cells": (
            _noted(each["what"], each["written"]),
            f"{each['quantity']:,}",
            f"{each['price']} {each['unit']}" if each["is_priced"] else each["price"],
            each["hourly"] if each["is_priced"] else "",
            each["assumption"],
            f"{each['source_name']}, {each['date']}" if each["is_priced"] else "",
        ),
        "tone": "",
    }
