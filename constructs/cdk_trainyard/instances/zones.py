"""Availability Zones by name and by id.

A zone *id* (``use1-az4``) is one place for everybody; which zone *name* (``us-east-1a``) stands for it differs from
account to account, so nothing here turns one into the other. Only the Region can be told from either.
"""

import re
from functools import cache

from cdk_trainyard.data_files import load
from cdk_trainyard.tokens import unresolved

_DIRECTIONS = {
    "n": "north",
    "s": "south",
    "e": "east",
    "w": "west",
    "c": "central",
    "ne": "northeast",
    "nw": "northwest",
    "se": "southeast",
    "sw": "southwest",
}
# us-east-1a; us-west-2-lax-1a (Local Zone); us-east-1-wl1-bos-wlz-1 (Wavelength Zone)
_ZONE_NAME = re.compile(
    rf"([a-z]{{2,4}}(?:-[a-z]+)?-(?:{'|'.join(_DIRECTIONS.values())})-[0-9]+)"
    r"(?:[a-z]|-[a-z]{3}-[0-9]+[a-z]|-wl[0-9]+-[a-z]{3}-wlz-[0-9]+)"
)
_LOCAL_ZONE_NAME = re.compile(r"[a-z-]+-[0-9]+-[a-z]{3}-[0-9]+[a-z]")
# use1-az4; usgw1-az1 (GovCloud); usw2-lax1-az1 (Local Zone); use1-wl1-bos-wlz1 (Wavelength Zone)
_BESIDE = r"(?:-az|-[a-z]{3}[0-9]+-az|-wl[0-9]+-[a-z]{3}-wlz)[0-9]+"
_ZONE_ID = re.compile(rf"([a-z]{{2}})(g?)({'|'.join(_DIRECTIONS)})([0-9]+){_BESIDE}", re.ASCII)
_ANY_ZONE_ID = re.compile(rf"[a-z]+[0-9]+{_BESIDE}", re.ASCII)


def zone_region(zone: str) -> str | None:
    """Return the Region of a zone, or None when ``zone`` is no zone that can be read.

    The Region is read from the zone itself, so zones of Regions newer than the catalogue work too. A test holds the
    reading against every zone id of the catalogue.

    Args:
        zone: A zone name (``us-east-1a``) or zone id (``use1-az4``), of an Availability, Local or Wavelength Zone.
    """
    if name := _ZONE_NAME.fullmatch(zone):
        return name[1]
    if zone_id := _ZONE_ID.fullmatch(zone):
        country, government, direction, number = zone_id.groups()
        return "-".join([country, *(["gov"] if government else []), _DIRECTIONS[direction], number])
    return None


def is_zone_id(zone: str) -> bool:
    """Return whether ``zone`` has the form of a zone id (``use1-az4``), not of a zone name (``us-east-1a``)."""
    return _ANY_ZONE_ID.fullmatch(zone) is not None


def is_one_place(zone: str) -> bool:
    """Return whether ``zone`` means one place for everybody: an id, or a Local Zone's name (``us-west-2-lax-1a``).

    Source: VPC user guide, "AZ IDs for your AWS resources": what is mapped account by account are Availability Zones.
    """
    return is_zone_id(zone) or _LOCAL_ZONE_NAME.fullmatch(zone) is not None


def differ(zone: str | None, other: str | None) -> bool:
    """Return whether two zones are known to be two.

    Args:
        zone: A zone. None: not known.
        other: Another. Both are compared only when both are names or both are ids: which is which differs from account
            to account.
    """
    if zone is None or other is None or unresolved(zone, other):
        return False
    return is_zone_id(zone) == is_zone_id(other) and zone != other


def zone_ids(region: str) -> tuple[str, ...]:
    """Return the ids of the Availability Zones of a Region, without Local Zones; empty when it is not known.

    Source: the zones that moto lists and those that offer an instance type, of the date ``catalogue_date()``. An
    account may see fewer of them.
    """
    return decode_zones(load("instances", "zones")["regions"].get(region, "")).get(region, ())


def regions() -> tuple[str, ...]:
    """Return the Regions that public lists have, of the date ``catalogue_date()``; without the isolated partitions.

    Those that botocore's list of endpoints names before EC2's zones there are known have no zones here.
    """
    data = load("instances", "zones")
    return (*data["regions"], *data["named_alone"])


def decode_zones(text: str) -> dict[str, tuple[str, ...]]:
    """Return Region -> zone ids for ``use1:1,2,4 usw2:1``, the way the data files write them."""
    regions = _regions_by_prefix()
    zones = {}
    for word in text.split():
        prefix, numbers = word.split(":")
        zones[regions[prefix]] = tuple(f"{prefix}-az{number}" for number in numbers.split(","))
    return zones


@cache
def _regions_by_prefix() -> dict[str, str]:
    return {text.partition(":")[0]: region for region, text in load("instances", "zones")["regions"].items()}
