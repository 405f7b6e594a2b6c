"""S3 lifecycle rules: from CloudFormation's words to the API's."""

from collections.abc import Mapping
from typing import Any

_NONCURRENT = "NoncurrentDays"


def lifecycle(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return a bucket's ``LifecycleConfiguration`` as ``PutBucketLifecycleConfiguration`` takes it."""
    return {"Rules": [_rule(index, rule) for index, rule in enumerate(configuration["Rules"])]}


def _rule(index: int, rule: Mapping[str, Any]) -> dict[str, Any]:
    parts = {
        "Filter": _filter(rule),
        "Expiration": _expiration(rule),
        "Transitions": [_transition(row, "Days") for row in _many(rule, "Transition")],
        "NoncurrentVersionTransitions": [
            {**_transition(row, _NONCURRENT), **_integers(row, "NewerNoncurrentVersions")}
            for row in _many(rule, "NoncurrentVersionTransition")
        ],
        "NoncurrentVersionExpiration": _noncurrent_expiration(rule),
        "AbortIncompleteMultipartUpload": _integers(
            rule.get("AbortIncompleteMultipartUpload", {}), "DaysAfterInitiation"
        ),
    }
    filled = {name: part for name, part in parts.items() if part or name == "Filter"}
    return {"ID": rule.get("Id", f"rule-{index}"), "Status": rule["Status"], **filled}


def _filter(rule: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = _integers(rule, "ObjectSizeGreaterThan", "ObjectSizeLessThan")
    if "Prefix" in rule:
        parts["Prefix"] = rule["Prefix"]
    tags = rule.get("TagFilters", [])
    if len(tags) == 1 and not parts:
        return {"Tag": tags[0]}
    if tags:
        parts["Tags"] = tags
    return {"And": parts} if len(parts) > 1 or tags else parts or {"Prefix": ""}


def _expiration(rule: Mapping[str, Any]) -> dict[str, Any]:
    marker = str(rule.get("ExpiredObjectDeleteMarker", "")).lower() == "true"
    return {
        **({"Days": int(rule["ExpirationInDays"])} if "ExpirationInDays" in rule else {}),
        **({"Date": rule["ExpirationDate"]} if "ExpirationDate" in rule else {}),
        **({"ExpiredObjectDeleteMarker": True} if marker else {}),
    }


def _noncurrent_expiration(rule: Mapping[str, Any]) -> dict[str, int]:
    given = rule.get("NoncurrentVersionExpiration", {})
    if "NoncurrentVersionExpirationInDays" in rule:
        return {_NONCURRENT: int(rule["NoncurrentVersionExpirationInDays"])}
    return _integers(given, _NONCURRENT, "NewerNoncurrentVersions")


def _many(rule: Mapping[str, Any], name: str) -> list[Any]:
    """Return what stands under ``name`` or, as a list, under its plural."""
    one = [rule[name]] if name in rule else []
    return [*one, *rule.get(f"{name}s", [])]


def _transition(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    dated = {"Date": row["TransitionDate"]} if "TransitionDate" in row else {key: int(row.get("TransitionInDays", 0))}
    return {"StorageClass": row["StorageClass"], **dated}


def _integers(row: Mapping[str, Any], *names: str) -> dict[str, int]:
    return {name: int(row[name]) for name in names if name in row}
