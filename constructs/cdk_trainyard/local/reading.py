"""What moto reads when it is imported: its Regions once, and which Region offers what when that is asked for.

moto makes three sessions of boto3 to list Regions, each of which reads all that EC2 is, and reads 90 files of offers.
"""

from importlib import import_module
from typing import Any, Final

import boto3
from moto.core.base_backend import AccountSpecificBackend
from moto.utilities import utils

_OFFERS: Final = "ec2/resources/instance_type_offerings"
_session, _load = boto3.Session, utils.load_resource


class _Offers(dict[str, list[dict[str, str]]]):
    """Which types are offered, by Region, in places of a kind: ``availability-zone``."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, region: str) -> list[dict[str, str]]:
        try:
            read = _load(f"{_OFFERS}/{self._kind}/{region}.json")
        except FileNotFoundError:
            raise KeyError(region) from None
        self[region] = [{**each, "LocationType": self._kind} for each in read]
        return self[region]

    def get(self, region: str, default: Any = None) -> Any:
        """Return what a Region offers, or ``default`` where moto knows nothing of it."""
        try:
            return self[region]
        except KeyError:
            return default


def _later(resource: str) -> Any:
    return [] if resource.startswith(_OFFERS) else _load(resource)


boto3.Session, utils.load_resource = AccountSpecificBackend.get_session, _later
try:
    offers = import_module("moto.ec2.models.instance_types").INSTANCE_TYPE_OFFERINGS
finally:
    boto3.Session, utils.load_resource = _session, _load
offers |= {kind: _Offers(kind) for kind in offers}
