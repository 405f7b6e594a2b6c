"""From a CloudFormation property to the parameter of the API behind it.

The two differ in the case of keys (``SubnetIds`` and ``subnetIds``), in types (CloudFormation passes ``"3"`` and
``"true"``), in how tags are written (a list of pairs, a map), and in what they know.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any


def fit(value: Any, shape: Any, dropped: list[str], path: str = "") -> Any:
    """Return ``value`` as ``shape`` wants it: its spelling, its types, and nothing that it does not know.

    Args:
        value: A value in CloudFormation's spelling.
        shape: botocore's shape of the parameter.
        dropped: Takes the path of everything in ``value`` that ``shape`` does not know.
        path: Where ``value`` stands, for ``dropped``.
    """
    return _FITTERS.get(shape.type_name, _as_it_is)(value, shape, dropped, path)


def _structure(value: Any, shape: Any, dropped: list[str], path: str) -> dict[str, Any]:
    names = {member.lower(): member for member in shape.members}
    fitted = {}
    for key, inner in dict(value).items():
        here = f"{path}.{key}" if path else key
        name = names.get(key.lower())
        if name is None:
            dropped.append(here)
        else:
            fitted[name] = fit(inner, shape.members[name], dropped, here)
    return fitted


def _list(value: Any, shape: Any, dropped: list[str], path: str) -> list[Any]:
    if isinstance(value, Mapping):
        value = [{"Key": key, "Value": inner} for key, inner in value.items()]
    items = value if isinstance(value, list | tuple) else [value]
    return [fit(item, shape.member, dropped, path) for item in items]


def _map(value: Any, shape: Any, dropped: list[str], path: str) -> dict[str, Any]:
    if isinstance(value, list):
        value = {pair["Key"]: pair.get("Value", "") for pair in value}
    return {str(key): fit(inner, shape.value, dropped, f"{path}.{key}") for key, inner in dict(value).items()}


def _string(value: Any, _shape: Any, _dropped: list[str], _path: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value)


def _boolean(value: Any, _shape: Any, _dropped: list[str], _path: str) -> bool:
    return value if isinstance(value, bool) else str(value).lower() == "true"


def _integer(value: Any, _shape: Any, _dropped: list[str], _path: str) -> int:
    return int(value)


def _float(value: Any, _shape: Any, _dropped: list[str], _path: str) -> float:
    return float(value)


def _blob(value: Any, _shape: Any, _dropped: list[str], _path: str) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _as_it_is(value: Any, _shape: Any, _dropped: list[str], _path: str) -> Any:
    return value


_FITTERS: dict[str, Callable[[Any, Any, list[str], str], Any]] = {
    "structure": _structure,
    "list": _list,
    "map": _map,
    "string": _string,
    "boolean": _boolean,
    "integer": _integer,
    "long": _integer,
    "float": _float,
    "double": _float,
    "blob": _blob,
}
