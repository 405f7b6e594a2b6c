"""What an assembly costs at least: line items with quantity, price, source and date, and what is not priced.

What has no price is not priced, and never free; machines that are not on demand have another price, and are not priced
either. A price of another Region, or of training where HyperPod's own is not known, is an indication: "about".
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final

from cdk_trainyard.report.billed import BY_USE, Billed, billed
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.machines import Machines, of_type
from cdk_trainyard.report.prices import MONTH, Prices, by_month
from cdk_trainyard.report.words import counted, joined

NOT_PRICED: Final = "not priced"
_CENT: Final = Decimal("0.01")
_CENTS: Final = 2
_SHOWN: Final = 3
_SMALLEST: Final = Decimal("0.0001")


def cost(graph: Graph, machines: Sequence[Machines], prices: Prices) -> dict[str, Any]:
    """Return what an assembly costs, as data.

    Args:
        graph: Its resources.
        machines: Its machines.
        prices: The prices.
    """
    items = [_line(graph, each, prices) for each in billed(graph, machines)]
    priced = [each for each in items if each["is_priced"]]
    total = sum((Decimal(each["hourly"]) for each in priced), Decimal())
    most = sum((Decimal(each["most"]) for each in priced), Decimal())
    known = {each["where"] for each in items if each["is_priced"] or each["type"] not in BY_USE}
    unpriced = [
        *(each for each in items if not each["is_priced"] and each["type"] not in BY_USE),
        *_by_use(graph, prices, known),
    ]
    stand_ins = sorted({each["of"] for each in priced if each["of"]})
    missing = [each["name"] for each in items if not each["is_priced"] and each["is_machine"]]
    headline = _headline(total, stand_ins, missing) if priced else NOT_PRICED
    at_most = f"{_cents(most)} when every machine runs that may" if most > total else ""
    span = ", ".join(filter(None, (headline, at_most)))
    return {
        "currency": "USD",
        "date": min((each["date"] for each in priced), default=""),
        "hourly": _usd(total),
        "most": _usd(most),
        "headline": headline,
        "at_most": at_most,
        "span": span,
        "unpriced_said": _unpriced([each["name"] for each in unpriced]),
        "sentence": _sentence(span, stand_ins, len(unpriced)),
        "notes": [*_notes(priced, stand_ins)],
        "items": [*priced, *unpriced],
    }


def _usd(amount: Decimal) -> str:
    """Return an amount with cents, and with what is smaller as far as there is any."""
    text = f"{amount.normalize():f}"
    return text if len(text.partition(".")[2]) > _CENTS else f"{amount:.2f}"


def _cents(amount: Decimal) -> str:
    """Return an amount in whole cents, never more than it is."""
    return f"{amount.quantize(_CENT, ROUND_DOWN):,}"


def _unpriced(names: Sequence[str]) -> str:
    shown = [*names[:_SHOWN], *([f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else [])]
    return f"not priced: {joined(shown)}" if shown else ""


def _headline(total: Decimal, stand_ins: Sequence[str], missing: Sequence[str]) -> str:
    said = f"{'about' if stand_ins else 'at least'} {_cents(total)} USD an hour"
    without = dict.fromkeys(of_type(each, "machines") for each in missing)
    return f"{said} without {joined([*without])}" if missing else said


def _sentence(span: str, stand_ins: Sequence[str], unpriced: int) -> str:
    if span == NOT_PRICED:
        return f"Not priced: {counted(unpriced, 'item')}." if unpriced else "Of nothing here a price is known."
    said = f"{span[:1].upper()}{span[1:]}"
    if stand_ins:
        instead = joined([f"of {each}" for each in sorted(stand_ins, key=lambda each: (" " in each, each))])
        said += f"; at prices {instead} where its own are not known here"
    if unpriced:
        said += f"; {counted(unpriced, 'item')} not priced, which come on top"
    return f"{said}. A month has {MONTH} hours."


def _notes(priced: Sequence[Mapping[str, Any]], stand_ins: Sequence[str]) -> Iterator[str]:
    if stand_ins:
        yield (
            "A price of something else is an indication. 'trainyard prices refresh' asks AWS for the prices of a "
            "Region, and a file of prices of your own (--prices) goes before both."
        )
    for name, source in dict.fromkeys((each["source_name"], each["source"]) for each in priced):
        yield f"{name}: {source}."


def _line(graph: Graph, each: Billed, prices: Prices) -> dict[str, Any]:
    region = graph.region(each.resource)
    known = ((item, instead, prices.of(item, region)) for item, instead in each.items)
    item, instead, price = next((one for one in known if one[2]), ("", "", None))
    monthly = by_month(item)
    one = (price.usd / MONTH if monthly else price.usd) if price else None
    other = price.region if price and price.region != region else ""
    stand_in = " in ".join(filter(None, (instead, other)))
    group = f", {each.group}" if each.group else ""
    return {
        "what": f"{each.name}: {each.resource.path}{group}",
        "name": each.name,
        "where": each.resource.path,
        "written": each.written or each.resource.origin.written,
        "type": each.resource.type,
        "quantity": each.count,
        "unit": monthly or "an hour",
        "price": _usd(price.usd) if price else NOT_PRICED,
        "hourly": _sum(one, each.count),
        "most": _sum(one, each.most),
        "assumption": each.assumption + (f"; the price of {stand_in}" if stand_in else ""),
        "source": f"{price.source} ({price.date})" if price else "",
        "source_name": price.name if price else "",
        "date": price.date if price else "",
        "of": stand_in,
        "is_priced": price is not None,
        "is_machine": each.is_machine,
    }


def _sum(one: Decimal | None, count: int) -> str:
    return NOT_PRICED if one is None else _usd((one * count).quantize(_SMALLEST))


def _by_use(graph: Graph, prices: Prices, known: Collection[str]) -> Iterator[dict[str, Any]]:
    for kind, assumption in BY_USE.items():
        if found := [each for each in graph.of_type(kind) if each.path not in known]:
            name = kind.removeprefix("AWS::").replace("::", " ")
            line = Billed(
                resource=found[0], name=name, items=(), count=len(found), most=len(found), assumption=assumption
            )
            more = f" and {counted(len(found) - 1, 'other')}" if len(found) > 1 else ""
            said = _line(graph, line, prices)
            written = said["written"] if len(found) == 1 else ""
            yield {**said, "what": f"{said['what']}{more}", "unit": "", "written": written}
