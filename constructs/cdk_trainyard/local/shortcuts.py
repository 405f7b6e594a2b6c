"""Shortcuts through what moto works out anew for each value that it answers: written alike, in a third of the time.

It looks for each member of an answer under half a dozen names; which these are depends on the shape, the member and the
class of what is looked at alone. It writes XML through a library that looks at each letter of each name. It rolls a die
for each letter of an id, of which a Region's images have 40,000 letters.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from moto.core import responses, serialize
from moto.core.serialize import AttributePickerContext, ResponseSerializer, XFormedAttributePicker
from moto.core.utils import get_value, method_names_from_class
from moto.ec2 import utils
from moto.moto_api._internal import mock_random

from cdk_trainyard.local.services.api import remember, replace

_NAMES = "names_of_members"
"""Attribute of a shape: under which names moto looks for it, by the class of what has it."""
_TRANSFORMERS = "transformers_of_members"
"""Attribute of what picks the values of one answer: what may be done with a member, by its name."""
_HEADER = '<?xml version="1.0" encoding="utf-8"?>\n'
_MISSING = object()
_slowly = ResponseSerializer.get_value


def _names(picker: Any, value: Any, key: str, shape: Any) -> tuple[str, ...]:
    known: dict[tuple[type, str], tuple[str, ...]] = shape.__dict__.setdefault(_NAMES, {})
    names = known.get((type(value), key))
    if names is None:
        context = AttributePickerContext(obj=value, key=key, shape=shape)
        names = known[type(value), key] = tuple(dict.fromkeys(picker.get_possible_keys(context)))
    return names


def _transformed(picker: Any, found: Any, parents: list[str], key: str) -> Any:
    """Do with a value what the first transformer does whose path its own ends in."""
    known: dict[str, list[str]] = picker.__dict__.setdefault(_TRANSFORMERS, {})
    if key not in known:
        known[key] = [end for end in picker.response_transformers if key.endswith(end.rpartition(".")[2])]
    path = ".".join([*parents, key]) if known[key] else ""
    end = next((end for end in known[key] if path.endswith(end)), None)
    return found if end is None else picker.response_transformers[end](found)


def _get_value(self: Any, value: Any, key: str, shape: Any) -> Any:
    """Return what an answer has as a member of a shape, as `ResponseSerializer.get_value` does."""
    picker = self._value_picker
    if type(picker) is not XFormedAttributePicker:
        return _slowly(self, value, key, shape)
    found = None
    is_dict = type(value) is dict
    for name in _names(picker, value, key, shape):
        if is_dict and name not in value and "." not in name:
            continue
        there = get_value(value, name, _MISSING)
        if there is not _MISSING:
            found = there
            break
    return _transformed(picker, found, self.path, key) if picker.response_transformers else found


def xml(body: Mapping[str, Any], *, full_document: bool = True, **_more: Any) -> str:
    """Write elements as `xmltodict.unparse` does, of those whose names are shapes' and whose empty ones are short.

    Args:
        body: Elements by name; attributes begin with ``@``, and a list is an element each.
        full_document: With the line that begins a document.
    """
    parts = [_HEADER] if full_document else []
    for name, value in body.items():
        _write(parts, name, value)
    return "".join(parts)


def _write(parts: list[str], name: str, value: Any) -> None:
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes | dict)
    for each in value if several else (value,):
        inner: list[str] = []
        attributes = ""
        if isinstance(each, dict):
            for key, child in each.items():
                if key == "#text":
                    inner.append(escape(_text(child)))
                elif key.startswith("@"):
                    attributes += f" {key[1:]}={quoteattr(_text(child))}"
                elif child != []:
                    _write(inner, key, child)
        else:
            inner.append(escape(_text(each)))
        content = "".join(inner)
        parts.append(f"<{name}{attributes}>{content}</{name}>" if content else f"<{name}{attributes}/>")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return "" if value is None else str(value)


def _random_resource_id(size: int = 8) -> str:
    """Return letters of an id, as `moto.ec2.utils.random_resource_id` does."""
    return f"{mock_random.getrandbits(4 * size):0{size}x}"


def extend() -> None:
    """Put these in the place of moto's own; the names of a service's operations are listed once, too."""
    replace(ResponseSerializer, {"get_value": _get_value})
    remember(responses, {"method_names_from_class": cache(method_names_from_class)})
    remember(serialize, {"xmltodict": SimpleNamespace(unparse=xml)})
    remember(utils, {"random_resource_id": _random_resource_id})
