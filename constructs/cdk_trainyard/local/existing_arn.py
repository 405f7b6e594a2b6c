"""How what exists already is named: its ARN, and what the ARN does not say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_PARTS = 6
_ATTRIBUTE = re.compile(r",(?=[A-Z][A-Za-z]+=)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Arn:
    """An ARN's parts, and what is said beside it; ``kind`` and ``name`` are those of its resource."""

    text: str
    service: str
    region: str
    account: str
    kind: str
    name: str
    said: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> "Arn":
        """Return the parts of ``text``: an ARN, and ``,Key=value`` for what it does not say.

        Raises:
            ValueError: It is no ARN.
        """
        arn, *attributes = _ATTRIBUTE.split(text)
        parts = arn.split(":", _PARTS - 1)
        if len(parts) != _PARTS or parts[0] != "arn":
            raise ValueError(f"'{text}' is no ARN: arn:<partition>:<service>:<region>:<account>:<resource>")
        _, _, service, region, account, resource = parts
        cut = min((resource.find(mark) for mark in "/:" if mark in resource), default=-1)
        kind, name = (resource[:cut], resource[cut + 1 :]) if cut >= 0 else ("", resource)
        said = dict(attribute.split("=", 1) for attribute in attributes)
        return cls(text=arn, service=service, region=region, account=account, kind=kind, name=name, said=said)

    def listed(self, key: str) -> list[str]:
        """Return what is said of ``key``, which may be several: ``a,b``."""
        return self.said[key].split(",") if key in self.said else []
