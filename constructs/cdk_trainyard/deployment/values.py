"""Sections as the values that constructs take. Nothing is defined here; the rules are asked with the same values."""

from typing import Any

from cdk_trainyard.deployment._section import Section


def fields(section: Section, *, without: str = "") -> dict[str, Any]:
    """Return the fields of a section whose value has the same, one to one."""
    return {name: getattr(section, name) for name in type(section).model_fields if name != without}


def plain(value: Any) -> Any:
    """Return raw overrides as JSON values: what was read as a tuple is a list."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value
