"""What a network is planned with as long as CDK has not looked up its zones or blocks.

The CLI of CDK synthesizes an app, looks up what it asked for, and synthesizes again; of the first time nothing is
deployed. So any plan will do, as long as there is one.
"""

from collections.abc import Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import Final

from cdk_trainyard.network.spec import NetworkSpec
from cdk_trainyard.tokens import dummy

_BLOCK: Final = "10.1.0.0/16"
_SECOND_BLOCK: Final = "100.64.0.0/16"


def provisional(spec: NetworkSpec, region: str | None) -> NetworkSpec:
    """Return a network with zones and blocks in place of those that are yet to be looked up.

    Args:
        spec: The network, which the rules have passed.
        region: The stack's Region. None: not known.
    """
    own = [spec.zone, *spec.public_zones, *spec.service_zones]
    free = (name for letter in ascii_lowercase if (name := f"{region}{letter}") not in own)
    zones = {zone: next(free) for zone in dict.fromkeys(own) if dummy(zone)}
    if not zones and not any(map(dummy, (spec.cidr, spec.secondary_cidr, spec.accelerator_cidr))):
        return spec

    def known(given: Sequence[str]) -> tuple[str, ...]:
        return tuple(zones.get(zone, zone) for zone in given)

    return replace(
        spec,
        zone=zones.get(spec.zone, spec.zone),
        public_zones=known(spec.public_zones),
        service_zones=known(spec.service_zones),
        cidr=_BLOCK if dummy(spec.cidr) else spec.cidr,
        secondary_cidr=_SECOND_BLOCK if dummy(spec.secondary_cidr) else spec.secondary_cidr,
        accelerator_cidr=None if dummy(spec.accelerator_cidr) or dummy(spec.cidr) else spec.accelerator_cidr,
    )
