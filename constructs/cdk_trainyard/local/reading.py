"""How moto is imported: what it reads again and again is read once, and what is seldom asked for is read then.

moto makes three sessions of boto3 to list Regions, each of which reads all that EC2 is; it reads 90 files of what
Regions offer, and imports what looks at documents of OpenAPI. That is half of the time.
"""

import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final

import boto3
from moto.core.base_backend import AccountSpecificBackend
from moto.utilities import utils

_OF_OPENAPI: Final = {
    "validate": "openapi_spec_validator",
    "OpenAPIValidationError": "openapi_spec_validator.validation.exceptions",
}
"""What moto looks at documents of OpenAPI with, and where it is."""
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


def _validate(document: Any) -> None:
    """Do what moto would, which does it by itself from now on."""
    for name, module in _OF_OPENAPI.items():
        setattr(_gateway, name, getattr(import_module(module), name))
    _gateway.validate(document)


_stand_in = SimpleNamespace(validate=_validate, OpenAPIValidationError=Exception)
_stand_ins: dict[str, Any] = {name: _stand_in for name in _OF_OPENAPI.values() if name not in sys.modules}
boto3.Session, utils.load_resource = AccountSpecificBackend.get_session, _later
sys.modules |= _stand_ins
try:
    _offers = import_module("moto.ec2.models.instance_types").INSTANCE_TYPE_OFFERINGS
    _gateway = import_module("moto.apigateway.models")
finally:
    boto3.Session, utils.load_resource = _session, _load
    for _name in _stand_ins:
        del sys.modules[_name]
_offers |= {kind: _Offers(kind) for kind in _offers}
