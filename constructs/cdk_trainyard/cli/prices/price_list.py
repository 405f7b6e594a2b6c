"""AWS's price list, asked for what a review prices: machines, gateways, load balancers, databases, Lustre, metrics.

Sources: AWS Billing User Guide, "Getting product and price information using the AWS Price List Query API", for the
form of the answers and the attributes of EC2 and RDS; AWS Cost and Usage Reports, for the usage types of gateways, load
balancers and SageMaker (``USW2-Cluster:ml.…`` is HyperPod); AWS Billing User Guide, "Services with free tiers", for
those of Managed Service for Prometheus, whose pricing page has the tiers: what is free comes first. An answer without
the attributes that are looked for prices nothing, and so do two prices of one item.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from cdk_trainyard.report.prices import (
    FREE_GIB,
    FREE_SAMPLES,
    INTERFACE_ENDPOINT,
    LAST_TIER,
    LOAD_BALANCERS,
    NAT_GATEWAY,
    PROMETHEUS_STORAGE,
    PUBLIC_ADDRESS,
    SAMPLE_TIERS,
    database,
    hyperpod,
    instance,
    lustre,
    prometheus_samples,
)

ENDPOINT: Final = "us-east-1"
"""The Region whose endpoint is asked; the price list has few, and each knows every Region."""
_HOURS: Final = {"hrs", "hours", "hour"}
_MONTHS: Final = {"gb-mo"}
_MILLION: Final = 10**6

Attributes = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is asked of one service.

    Attributes:
        service: The service's code.
        filters: Attributes that products must have.
        item: From a product's attributes to the item that it is the price of; None where it is of nothing.
        units: Units that its price may have, in small letters. Nothing: any, for its tiers say what it is of.
        tiers: Beginning of a tier to the item that its price is of. Default - none, there are no tiers.
        times: How many of the unit make one of the item. Default: 1.
    """

    service: str
    filters: Mapping[str, str]
    item: Callable[[Attributes], str | None]
    units: frozenset[str] = frozenset(_HOURS)
    tiers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1


def _used(pattern: str, item: Callable[[str], str]) -> Callable[[Attributes], str | None]:
    """Return what reads an item from a usage type, whose beginning is the Region's."""
    compiled = re.compile(rf"(?:[A-Z0-9]+-)?{pattern}")

    def read(attributes: Attributes) -> str | None:
        found = compiled.fullmatch(attributes.get("usagetype", ""))
        return item(found[1] if found.groups() else "") if found else None

    return read


def _instance(attributes: Attributes) -> str | None:
    kind = attributes.get("instanceType")
    return instance(kind) if kind else None


def _database(attributes: Attributes) -> str | None:
    kind, option = attributes.get("instanceType"), attributes.get("deploymentOption")
    return database(kind, multi_az=option == "Multi-AZ") if kind and option in {"Single-AZ", "Multi-AZ"} else None


def _lustre(attributes: Attributes) -> str | None:
    speed = re.match(r"\d+", attributes.get("throughputCapacity", ""))
    storage = attributes.get("storageType", "")
    return lustre(storage, int(speed[0])) if speed and storage in {"SSD", "HDD"} else None


def _load_balancer(kind: str) -> Question:
    read = _used("LoadBalancerUsage", lambda _: LOAD_BALANCERS[kind])
    return Question(service="AWSELB", filters={"productFamily": f"Load Balancer-{kind.title()}"}, item=read)


QUESTIONS: Final = (
    Question(
        service="AmazonEC2",
        filters={
            "productFamily": "Compute Instance",
            "operatingSystem": "Linux",
            "preInstalledSw": "NA",
            "tenancy": "Shared",
            "capacitystatus": "Used",
            "marketoption": "OnDemand",
        },
        item=_instance,
    ),
    Question(
        service="AmazonEC2",
        filters={"productFamily": "NAT Gateway"},
        item=_used("NatGateway-Hours", lambda _: NAT_GATEWAY),
    ),
    Question(service="AmazonVPC", filters={}, item=_used("PublicIPv4:InUseAddress", lambda _: PUBLIC_ADDRESS)),
    Question(
        service="AmazonVPC",
        filters={"productFamily": "VpcEndpoint"},
        item=_used("VpcEndpoint-Hours", lambda _: INTERFACE_ENDPOINT),
    ),
    *map(_load_balancer, LOAD_BALANCERS),
    Question(service="AmazonSageMaker", filters={"component": "Cluster"}, item=_used(r"Cluster:(ml\..+)", hyperpod)),
    Question(service="AmazonSageMaker", filters={"component": "Training"}, item=_used(r"Train:(ml\..+)", instance)),
    Question(
        service="AmazonRDS",
        filters={"productFamily": "Database Instance", "databaseEngine": "MySQL"},
        item=_database,
    ),
    Question(
        service="AmazonFSx",
        filters={"fileSystemType": "Lustre", "productFamily": "Storage"},
        item=_lustre,
        units=frozenset(_MONTHS),
    ),
    Question(
        service="AmazonPrometheus",
        filters={},
        item=_used("AMP:MetricSampleCount", lambda _: prometheus_samples(0)),
        units=frozenset(),
        tiers={
            str(_MILLION * (least or FREE_SAMPLES)): prometheus_samples(least) for least in (*SAMPLE_TIERS, LAST_TIER)
        },
        times=_MILLION,
    ),
    Question(
        service="AmazonPrometheus",
        filters={},
        item=_used("AMP:MetricStorageByteHrs", lambda _: PROMETHEUS_STORAGE),
        units=frozenset(_MONTHS),
        tiers={str(FREE_GIB): PROMETHEUS_STORAGE},
    ),
)


def prices_of(client: Any, region: str) -> dict[str, str]:
    """Return what AWS asks for in a Region: item to price.

    Args:
        client: boto3's client of the price list.
        region: The Region.

    Raises:
        ClientError: AWS refuses.
        BotoCoreError: It cannot be asked.
    """
    found: dict[str, set[str]] = {}
    for question in QUESTIONS:
        filters = {"regionCode": region, **question.filters}
        pages = client.get_paginator("get_products").paginate(
            ServiceCode=question.service,
            Filters=[{"Type": "TERM_MATCH", "Field": key, "Value": value} for key, value in filters.items()],
            FormatVersion="aws_v1",
        )
        for product in (product for page in pages for product in page["PriceList"]):
            for item, usd in _priced(json.loads(product), question):
                found.setdefault(item, set()).add(usd)
    return {item: min(prices) for item, prices in sorted(found.items()) if len(prices) == 1}


def _priced(product: Mapping[str, Any], question: Question) -> Iterator[tuple[str, str]]:
    """Yield the item of a product with its on-demand price, where it has one."""
    item = question.item(product.get("product", {}).get("attributes", {}))
    for term in product.get("terms", {}).get("OnDemand", {}).values() if item else ():
        for dimension in term.get("priceDimensions", {}).values():
            usd = _amount(dimension.get("pricePerUnit", {}).get("USD"), question.times)
            of = question.tiers.get(str(dimension.get("beginRange"))) if question.tiers else item
            if of and usd and (not question.units or str(dimension.get("unit", "")).lower() in question.units):
                yield of, usd


def _amount(usd: Any, times: int) -> str:
    """Return an amount of several units, without idle zeros; nothing where it is none, or 0."""
    try:
        amount = Decimal(str(usd)) * times
    except InvalidOperation:
        return ""
    return f"{amount.normalize():f}" if amount.is_finite() and amount > 0 else ""
