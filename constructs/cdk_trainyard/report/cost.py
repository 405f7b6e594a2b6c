"""What an assembly costs at least: line items with quantity, price, source and date, and what is not priced.

Prices come from a dated snapshot or from a file of the user's own in the same form. What has no price is not priced,
and never free; machines that are not on demand have another price, and are not priced either.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.machines import ON_DEMAND, Machines
from cdk_trainyard.report.verdict import counted, joined

NOT_PRICED: Final = "not priced"
_CENTS: Final = 2
_SHOWN: Final = 3
_LOAD_BALANCERS: Final = {"network": "NetworkLoadBalancer", "gateway": "GatewayLoadBalancer"}
_BY_USE: Final = {
    "AWS::DynamoDB::Table": "by what is stored, read and written",
    "AWS::EC2::EIP": "by the hour, each public address",
    "AWS::EC2::VPCEndpoint": "interface endpoints by the hour and by traffic; gateway endpoints are free",
    "AWS::EC2::Volume": "by size and performance",
    "AWS::ECS::TaskDefinition": "on Fargate by processor and memory; on instances nothing of its own",
    "AWS::EFS::FileSystem": "by what is stored",
    "AWS::FSx::FileSystem": "by size, performance and backups",
    "AWS::KMS::Key": "by the month, and by use",
    "AWS::Lambda::Function": "by use",
    "AWS::Logs::LogGroup": "by what is written and stored",
    "AWS::RDS::DBCluster": "by instance, storage and requests",
    "AWS::RDS::DBInstance": "by instance and storage",
    "AWS::S3::Bucket": "by what is stored and requested",
    "AWS::SecretsManager::Secret": "by the month, and by use",
}
"""What else costs, and by what. Source: the pricing pages of these services (read 2026-11)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What one of something costs for an hour.

    Attributes:
        usd: The price.
        region: The Region that it is of.
        source: Where it is from.
        date: Of when it is.
    """

    usd: Decimal
    region: str
    source: str
    date: str


class Prices:
    """Prices by Region and item, with where they are from."""

    def __init__(self, file: str | Path | None = None) -> None:
        """Take prices.

        Args:
            file: A file of one's own, in the form of ``report/data/prices.json``. Default - the shipped snapshot.

        Raises:
            ConfigurationError: The file cannot be read, or has another form.
        """
        self._table: dict[tuple[str, str], Price] = {}
        content = load("report", "prices") if file is None else _own(Path(file))
        self.date = str(content.get("date", "no date"))
        for region, sources in content["regions"].items():
            for name, items in sources.items():
                about = content["sources"][name]
                for item, usd in items.items():
                    self._table[region, item] = Price(
                        usd=Decimal(str(usd)), region=region, source=about["title"], date=about["date"]
                    )

    def of(self, item: str, region: str) -> Price | None:
        """Return a price, of the Region or of another one, which it then says; None when nobody knows it.

        Args:
            item: The item: an instance type, ``NatGateway``.
            region: The Region.
        """
        found = self._table.get((region, item))
        return found or next((price for (_, name), price in sorted(self._table.items()) if name == item), None)


def _own(file: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(file.read_bytes())
        for sources in content["regions"].values():
            for name, items in sources.items():
                _ = content["sources"][name]["title"], content["sources"][name]["date"]
                _ = [Decimal(str(usd)) for usd in items.values()]
    except OSError as error:
        raise ConfigurationError(str(file), [f"cannot be read: {error.strerror}"]) from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(str(file), [f"is no JSON: {error}"]) from None
    except (KeyError, TypeError, AttributeError, InvalidOperation) as error:
        form = '{"sources": {NAME: {"title": …, "date": …}}, "regions": {REGION: {NAME: {ITEM: USD an hour}}}}'
        raise ConfigurationError(str(file), [f"is no file of prices ({error!r}); it has the form {form}"]) from None
    return dict(content)


def cost(graph: Graph, machines: Sequence[Machines], prices: Prices) -> dict[str, Any]:
    """Return what an assembly costs, as data.

    Args:
        graph: Its resources.
        machines: Its machines.
        prices: The prices.
    """
    items = [*_machines(graph, machines, prices), *_by_the_hour(graph, prices)]
    priced = [each for each in items if each["is_priced"]]
    total = sum((Decimal(each["hourly"]) for each in priced), Decimal())
    most = sum((Decimal(each["most"]) for each in priced), Decimal())
    unpriced = [*(each for each in items if not each["is_priced"]), *_by_use(graph)]
    regions = sorted({each["of"] for each in priced if each["of"]})
    missing = [each["name"] for each in items if not each["is_priced"] and each["is_machine"]]
    headline = _headline(total, regions, missing) if priced else NOT_PRICED
    return {
        "currency": "USD",
        "date": prices.date,
        "hourly": _usd(total),
        "most": _usd(most),
        "headline": headline,
        "unpriced_said": _unpriced([each["name"] for each in unpriced]),
        "sentence": _sentence(headline, total, most, regions, len(unpriced)),
        "notes": [*_notes(priced, regions)],
        "items": [*priced, *unpriced],
    }


def _usd(amount: Decimal) -> str:
    """Return an amount with cents, and with what is smaller as far as there is any."""
    text = f"{amount.normalize():f}"
    return text if len(text.partition(".")[2]) > _CENTS else f"{amount:.2f}"


def _unpriced(names: Sequence[str]) -> str:
    shown = [*names[:_SHOWN], *([f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else [])]
    return f"not priced: {joined(shown)}" if shown else ""


def _headline(total: Decimal, regions: Sequence[str], missing: Sequence[str]) -> str:
    said = f"{'about' if regions else 'at least'} {total:,.2f} USD an hour"
    return f"{said} without {joined([*dict.fromkeys(missing)])}" if missing else said


def _sentence(headline: str, total: Decimal, most: Decimal, regions: Sequence[str], unpriced: int) -> str:
    if headline == NOT_PRICED:
        return f"Not priced: {counted(unpriced, 'item')}." if unpriced else "Nothing here costs by the hour."
    said = f"{headline[:1].upper()}{headline[1:]} when it is deployed"
    if most > total:
        said += f", {most:,.2f} when every machine runs that may"
    if regions:
        said += f"; at prices of {', '.join(regions)}, as this Region's are not known here"
    return f"{said}; {counted(unpriced, 'item')} not priced, which come on top. A month has 730 hours."


def _notes(priced: Sequence[Mapping[str, Any]], regions: Sequence[str]) -> Iterator[str]:
    if regions:
        yield "A price of another Region is an indication. A file of prices of your own (--prices) replaces it."
    for source in dict.fromkeys(each["source"] for each in priced):
        yield f"Prices: {source}."


def _machines(graph: Graph, machines: Sequence[Machines], prices: Prices) -> Iterator[dict[str, Any]]:
    for each in machines:
        what = f"{each.type}: {each.resource.path}{f', {each.name}' if each.name else ''}"
        price = prices.of(each.type, graph.region(each.resource)) if each.paid == ON_DEMAND else None
        assumption = f"on demand, Linux; {each.count} when it is deployed" + (
            f", up to {each.most}" if each.most > each.count else ""
        )
        if each.paid != ON_DEMAND:
            assumption = f"paid as {each.paid}, which has a price of its own"
        yield _item(what, each.resource, price, each.count, each.most, assumption, graph, is_machine=True)


def _by_the_hour(graph: Graph, prices: Prices) -> Iterator[dict[str, Any]]:
    for each in graph.of_type("AWS::EC2::NatGateway"):
        price = prices.of("NatGateway", graph.region(each))
        yield _item(f"NAT gateway: {each.path}", each, price, 1, 1, "without what flows through it", graph)
    for each in graph.of_type("AWS::ElasticLoadBalancingV2::LoadBalancer"):
        kind = str(graph.properties(each).get("Type", "application"))
        price = prices.of(_LOAD_BALANCERS.get(kind, "ApplicationLoadBalancer"), graph.region(each))
        yield _item(f"Load balancer: {each.path}", each, price, 1, 1, "without capacity units", graph)


def _by_use(graph: Graph) -> Iterator[dict[str, Any]]:
    for kind, assumption in _BY_USE.items():
        if found := graph.of_type(kind):
            name = kind.removeprefix("AWS::").replace("::", " ")
            yield _item(name, found[0], None, len(found), len(found), assumption, graph)


def _item(
    what: str,
    resource: Resource,
    price: Price | None,
    count: int,
    most: int,
    assumption: str,
    graph: Graph,
    *,
    is_machine: bool = False,
) -> dict[str, Any]:
    region = graph.region(resource)
    other = price.region if price and price.region != region else ""
    return {
        "what": what,
        "name": what.partition(":")[0],
        "quantity": count,
        "price": _usd(price.usd) if price else NOT_PRICED,
        "hourly": _usd(price.usd * count) if price else NOT_PRICED,
        "most": _usd(price.usd * most) if price else NOT_PRICED,
        "assumption": assumption + (f"; the price of {other}" if other else ""),
        "source": f"{price.source} ({price.date})" if price else "",
        "of": other,
        "is_priced": price is not None,
        "is_machine": is_machine,
    }
