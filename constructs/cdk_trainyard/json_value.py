"""What a file of JSON or YAML may hold: what a user hands on to a service as it is, and what nodes are told."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
"""Any value; in what is rendered, text and numbers may be Tokens."""
JsonObject = Mapping[str, JsonValue]
"""Names and their values."""
