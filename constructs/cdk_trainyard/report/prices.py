"""Prices of what is paid by the hour or by the gibibyte, each with the Region, the source and the date that it is of.

They come from files of one form: the shipped snapshot, a copy of AWS's price list, and the user's own, which go before
one another in the other direction. ``{"sources": {NAME: {"title": …, "date": …}}, "regions": {REGION: {NAME: {ITEM:
USD}}}}``; an item is one of `instance`, `hyperpod`, `database`, `lustre`, `prometheus_samples`, or one of the
names below.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import ConfigurationError

NAT_GATEWAY: Final = "NatGateway"
PUBLIC_ADDRESS: Final = "PublicIPv4"
INTERFACE_ENDPOINT: Final = "InterfaceEndpoint"
"""An interface endpoint in one zone."""
LOAD_BALANCERS: Final = {
    "application": "ApplicationLoadBalancer",
    "network": "NetworkLoadBalancer",
    "gateway": "GatewayLoadBalancer",
}
"""Type of a load balancer to its item."""
PER_GIB: Final = "Lustre:"
"""How the items of storage begin."""
PROMETHEUS_STORAGE: Final = "PrometheusStorage"
_SAMPLES: Final = "PrometheusSamples:"
SAMPLE_TIERS: Final = {0: 2_000, 2_000: 252_000}
"""Tiers of the price of samples, in millions a month: from and to."""
LAST_TIER: Final = max(SAMPLE_TIERS.values())
"""Millions of samples a month from which the last tier is."""
FREE_SAMPLES: Final = 40
"""Millions of samples a month that an account has for nothing."""
FREE_GIB: Final = 10
"""GB of samples that an account keeps for nothing."""
BY_MONTH: Final = {
    PER_GIB: "GiB, a month",
    PROMETHEUS_STORAGE: "GB, a month",
    _SAMPLES: "million, a month",
}
"""How the items begin whose price is for a month, and of what; all others are for an hour."""
MONTH: Final = 730
"""Hours of a month, as AWS's price examples count them."""
_FORM: Final = '{"sources": {NAME: {"title": …, "date": "2026-09-24"}}, "regions": {REGION: {NAME: {ITEM: "1.25"}}}}'


def instance(kind: str) -> str:
    """Return the item of an EC2 instance (on demand, Linux), or of a SageMaker instance of training and notebooks.

    Args:
        kind: The instance type.
    """
    return kind


def hyperpod(kind: str) -> str:
    """Return the item of an instance of a HyperPod cluster, as AWS's usage types have it.

    Args:
        kind: The instance type, with its ``ml.``.
    """
    return f"Cluster:{kind}"


def database(kind: str, *, multi_az: bool) -> str:
    """Return the item of an RDS instance of MySQL, MariaDB or PostgreSQL.

    Args:
        kind: The instance class.
        multi_az: Whether it has a standby.
    """
    return f"{kind}:Multi-AZ" if multi_az else kind


def lustre(storage: str, throughput: int) -> str:
    """Return the item of FSx for Lustre storage, for a GiB and month.

    Args:
        storage: ``SSD`` or ``HDD``.
        throughput: MB/s per TiB; 0 for scratch.
    """
    return f"{PER_GIB}{storage}:{throughput}"


def prometheus_samples(least: int) -> str:
    """Return the item of a million samples that Amazon Managed Service for Prometheus takes.

    Args:
        least: The millions a month from which the tier is.
    """
    return f"{_SAMPLES}{least}"


def by_month(item: str) -> str:
    """Return of what and for how long the price of an item is, when it is for a month; else nothing.

    Args:
        item: The item.
    """
    return next((unit for begin, unit in BY_MONTH.items() if item.startswith(begin)), "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What one of something costs, for an hour or for a gibibyte and month.

    Attributes:
        usd: The price.
        region: The Region that it is of.
        name: The source, in a word.
        source: Where it is from.
        date: Of when it is.
    """

    usd: Decimal
    region: str
    name: str
    source: str
    date: str


class Prices:
    """Prices by Region and item."""

    def __init__(self, *files: str | Path) -> None:
        """Take prices.

        Args:
            files: Files of prices, the first goes before the next; the shipped snapshot comes last.

        Raises:
            ConfigurationError: A file cannot be read, or has another form; every problem of it, with its path.
        """
        self._layers = [*(_table(read_prices(Path(file))) for file in files), _shipped()]

    def of(self, item: str, region: str) -> Price | None:
        """Return a price, of the Region or of another one, which it then says; None when nobody knows it.

        Args:
            item: The item.
            region: The Region.
        """
        known = [layer[item] for layer in self._layers if item in layer]
        exact = (regions[region] for regions in known if region in regions)
        others = (regions[min(regions)] for regions in known)
        return next(exact, None) or next(others, None)


@cache
def _shipped() -> dict[str, dict[str, Price]]:
    return _table(load("report", "prices"))


def _table(content: Mapping[str, Any]) -> dict[str, dict[str, Price]]:
    """Return item and Region to price."""
    found: dict[str, dict[str, Price]] = {}
    for region, sources in content["regions"].items():
        for name, items in sources.items():
            about = content["sources"][name]
            for item, usd in items.items():
                found.setdefault(item, {})[region] = Price(
                    usd=Decimal(str(usd)), region=region, name=name, source=about["title"], date=about["date"]
                )
    return found


def read_prices(file: Path) -> Mapping[str, Any]:
    """Return what a file of prices says.

    Args:
        file: The file.

    Raises:
        ConfigurationError: It cannot be read, or has another form; every problem of it, with its path.
    """
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise ConfigurationError(str(file), [f"cannot be read: {error.strerror}"]) from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(str(file), [f"is no JSON: {error}"]) from None
    if problems := [*prices_problems(content)]:
        raise ConfigurationError(str(file), [*problems, f"a file of prices has the form {_FORM}"])
    return dict(content)


def prices_problems(content: Any) -> Iterator[str]:
    """Yield what is wrong with a file of prices, each with its path.

    Args:
        content: Its content.
    """
    regions, sources = (content.get(key) if isinstance(content, Mapping) else None for key in ("regions", "sources"))
    for key, value in (("regions", regions), ("sources", sources)):
        if not isinstance(value, Mapping):
            yield f"{key}: is missing" if value is None else f"{key}: {value!r} is no object"
    if not isinstance(regions, Mapping) or not isinstance(sources, Mapping):
        return
    for name, about in sources.items():
        yield from _source_problems(f"sources.{name}", about)
    for region, named in regions.items():
        if not isinstance(named, Mapping):
            yield f"regions.{region}: {named!r} is no object of sources"
            continue
        for name, items in named.items():
            if name not in sources:
                yield f"regions.{region}.{name}: there is no source {name!r}; there are {', '.join(sources) or 'none'}"
            yield from _item_problems(f"regions.{region}.{name}", items)


def _source_problems(path: str, about: Any) -> Iterator[str]:
    title, when = (about.get(key) if isinstance(about, Mapping) else None for key in ("title", "date"))
    if not isinstance(title, str) or not title:
        yield f"{path}.title: {title!r} does not say where the prices are from"
    try:
        date.fromisoformat(when if isinstance(when, str) else "")
    except ValueError:
        yield f"{path}.date: {when!r} is no date, as 2026-09-24 is one"


def _item_problems(path: str, items: Any) -> Iterator[str]:
    if not isinstance(items, Mapping):
        yield f"{path}: {items!r} is no object of prices"
        return
    for item, usd in items.items():
        if not _is_price(usd):
            yield f"{path}.{item}: {usd!r} is no price: a number of US dollars, more than 0"


def _is_price(usd: Any) -> bool:
    if isinstance(usd, bool) or not isinstance(usd, str | int | float):
        return False
    try:
        return Decimal(str(usd)).is_finite() and Decimal(str(usd)) > 0
    except InvalidOperation:
        return False
