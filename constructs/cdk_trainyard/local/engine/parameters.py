"""Parameters of a template, dynamic references and ``Rules``: where a template meets the values of the day."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.engine.template import Template
from cdk_trainyard.local.errors import ResourceFailed, validation_error

_DYNAMIC = re.compile(r"\{\{resolve:(ssm|ssm-secure|secretsmanager):([^}]+)\}\}")
_SSM_VALUE = "AWS::SSM::Parameter::Value<"
_ARN_PARTS = 7


def given_parameters(
    template: Template, sent: list[dict[str, Any]], previous: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return every parameter of ``template`` as it was given, by default, or as it was before.

    Raises:
        ApiError: One is missing, unknown, or not among the allowed values.
    """
    declared = template.section("Parameters")
    values = {name: row["Default"] for name, row in declared.items() if "Default" in row}
    for item in sent:
        name = item["ParameterKey"]
        if name not in declared:
            raise validation_error(f"Parameters: [{name}] do not exist in the template")
        if item.get("UsePreviousValue"):
            values[name] = (previous or {}).get(name, values.get(name))
        else:
            values[name] = item.get("ParameterValue", "")
    missing = sorted(name for name in declared if values.get(name) is None)
    if missing:
        raise validation_error(f"Parameters: {missing} must have values")
    for name, row in declared.items():
        _check(name, row, values[name])
    return values


def _check(name: str, row: Mapping[str, Any], value: Any) -> None:
    allowed = row.get("AllowedValues")
    if allowed is not None and str(value) not in map(str, allowed):
        raise validation_error(f"Template error: Parameter '{name}' must be one of AllowedValues {allowed}")
    pattern = row.get("AllowedPattern")
    if pattern is not None and not re.fullmatch(pattern, str(value)):
        raise validation_error(f"Template error: Parameter '{name}' must match pattern {pattern}")


def resolve(template: Template, given: Mapping[str, Any], region: str) -> dict[str, Any]:
    """Return the parameter values as the template sees them: SSM parameters read, lists split, numbers parsed."""
    declared = template.section("Parameters")
    return {name: _resolved(declared[name]["Type"], value, region) for name, value in given.items()}


def _resolved(kind: str, value: Any, region: str) -> Any:
    if kind.startswith(_SSM_VALUE):
        return _resolved(kind.removeprefix(_SSM_VALUE).removesuffix(">"), _ssm(str(value), region), region)
    if kind == "CommaDelimitedList" or kind.startswith("List<"):
        items = value if isinstance(value, list) else str(value).split(",")
        return [str(item).strip() for item in items]
    if kind == "Number":
        return json.loads(str(value))
    return str(value)


def _ssm(name: str, region: str) -> str:
    try:
        value: str = client("ssm", region).get_parameter(Name=name, WithDecryption=True)["Parameter"]["Value"]
    except ClientError as error:
        raise validation_error(f"Unable to fetch parameters [{name}] from parameter store for this account.") from error
    return value


def _secret(reference: str, region: str) -> str:
    """Read ``secret-id:SecretString:json-key:stage:version``, where the id may be an ARN."""
    parts = reference.split(":")
    head = _ARN_PARTS if reference.startswith("arn:") else 1
    secret_id, (_, key, stage, version, *_rest) = ":".join(parts[:head]), [*parts[head:], "", "", "", ""]
    wanted = {"VersionStage": stage, "VersionId": version}
    found = client("secretsmanager", region).get_secret_value(
        SecretId=secret_id, **{name: value for name, value in wanted.items() if value}
    )
    text: str = found["SecretString"]
    return str(json.loads(text)[key]) if key else text


_READERS: dict[str, Callable[[str, str], str]] = {"ssm": _ssm, "ssm-secure": _ssm, "secretsmanager": _secret}


def resolve_dynamic(text: str, region: str) -> str:
    """Return ``text`` with every ``{{resolve:…}}`` replaced by the value it names."""
    if "{{resolve:" not in text:
        return text

    def read(match: re.Match[str]) -> str:
        service, reference = match.groups()
        try:
            return _READERS[service](reference, region)
        except (ClientError, KeyError) as error:
            raise ResourceFailed(f"Could not resolve the dynamic reference {match.group()}: {error}") from error

    return _DYNAMIC.sub(read, text)
