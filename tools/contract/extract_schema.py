"""Extract ParallelCluster's schema as JSON Schema into ``cdk_trainyard/local/parallelcluster/schema.json``.

Runs in ParallelCluster's own environment: ``.venv-pcluster/bin/python -m tools.contract.extract_schema 2026-11-22``;
with ``--check`` it compares and writes nothing. The local AWS judges by this file; the library has facts of its own
(``extract_facts``), and tests hold the two against one another.

Fields become keywords of JSON Schema. What ParallelCluster's schemas check by code is read from that code where it is
``fields_coexist``; every other check of that kind stands in ``CODE`` by its name, and one that does not is an error.
``x-update`` is a key's update policy, ``x-update-key`` what identifies an entry of a list, ``x-unique`` a key that no
two entries share, ``x-max-count`` the largest number of nodes of a compute resource that names none.
"""

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marshmallow import fields, validate
from pcluster import constants
from pcluster.config.update_policy import UpdatePolicy
from pcluster.schemas import cluster_schema
from pcluster.schemas.common_schema import ALLOWED_VALUES
from pcluster.utils import get_installed_version

from tools.contract.extracted import renew

OUTPUT = Path(__file__).parents[2] / "constructs" / "cdk_trainyard" / "local" / "parallelcluster" / "schema.json"
TYPES = {
    fields.Str: "string",
    fields.Int: "integer",
    fields.Bool: "boolean",
    fields.Float: "number",
    fields.Dict: "object",
}
Schema = dict[str, Any]


def only_with(name: str, *others: str) -> Schema:
    """Return the rule that beside ``name`` only ``others`` may stand."""
    return {"if": {"required": [name]}, "then": {"propertyNames": {"enum": [name, *others]}}}


def never_with(name: str, *others: str) -> Schema:
    """Return the rule that beside ``name`` none of ``others`` may stand."""
    return {"if": {"required": [name]}, "then": {"propertyNames": {"not": {"enum": list(others)}}}}


def storage_settings() -> Schema:
    """Return the rule that settings are those of the storage type."""
    kinds = ("Ebs", "Efs", "FsxLustre", "FsxOpenZfs", "FsxOntap", "FileCache")
    return {
        "allOf": [
            {
                "if": {"required": [f"{kind}Settings"], "properties": {f"{kind}Settings": {"$ref": "#/$defs/given"}}},
                "then": {"properties": {"StorageType": {"const": kind}}},
            }
            for kind in kinds
        ]
    }


PROVISIONED = {"required": ["ThroughputMode"], "properties": {"ThroughputMode": {"const": "provisioned"}}}
TAGS = {
    "properties": {
        "Tags": {
            "x-unique": "Key",
            "items": {"properties": {"Key": {"pattern": "^(?!parallelcluster:(?!custom_resource$))"}}},
        }
    }
}
CODE: dict[str, Schema] = {
    "EfsSettingsSchema.validate_file_system_id_ignored_parameters": only_with(
        "FileSystemId", "EncryptionInTransit", "IamAuthorization", "AccessPointId"
    ),
    "EfsSettingsSchema.validate_existence_of_mode_throughput": {
        "if": PROVISIONED,
        "then": {"required": ["ProvisionedThroughput"]},
        "else": {"not": {"required": ["ProvisionedThroughput"]}},
    },
    "FsxLustreSettingsSchema.validate_file_system_id_ignored_parameters": only_with("FileSystemId"),
    "FsxLustreSettingsSchema.validate_backup_id_unsupported_parameters": never_with(
        "BackupId",
        "DeploymentType",
        "PerUnitStorageThroughput",
        "StorageCapacity",
        "ImportPath",
        "ExportPath",
        "ImportedFileChunkSize",
        "KmsKeyId",
    ),
    "SharedStorageSchema.right_storage_settings": storage_settings(),
    "SharedStorageSchema.shared_dir_validator": {"properties": {"MountDir": {"not": {"pattern": "^/?NONE$"}}}},
    "SlurmComputeResourceSchema.instance_type_declaration": {
        "anyOf": [
            {"required": ["Instances"]},
            {"required": ["InstanceType"]},
            {
                "required": ["CapacityReservationTarget"],
                "properties": {"CapacityReservationTarget": {"required": ["CapacityReservationId"]}},
            },
        ],
        "description": "A Compute Resource needs to specify Instances, InstanceType or CapacityReservationId.",
    },
    "SlurmComputeResourceSchema.no_duplicate_instance_types": {
        "properties": {"Instances": {"x-unique": "InstanceType"}}
    },
    "SlurmComputeResourceSchema.validate_tags": TAGS,
    "SlurmQueueSchema.validate_tags": TAGS,
    "ClusterSchema.validate_tags": TAGS,
    "CookbookSchema.validate_extra_chef_attributes": {},  # text that is JSON: no keyword says that
}


# ---------------------------------------------------------------- fields
def section(schema: Any) -> Schema:
    """Return the keys of one section."""
    found: Schema = {
        "type": "object",
        "properties": {field.data_key: node(field) for field in schema.fields.values()},
        "additionalProperties": False,
    }
    required = [field.data_key for field in schema.fields.values() if field.required]
    rules = [rule for hook in hooks(schema) if (rule := code_rule(schema, hook))]
    return found | ({"required": required} if required else {}) | ({"allOf": rules} if rules else {})


def node(field: Any) -> Schema:
    """Return what may stand under one key, and how it may change."""
    policy = field.metadata.get("update_policy", UpdatePolicy.UNSUPPORTED)
    key = field.metadata.get("update_key")
    return {**shape(field), "x-update": policy.name, **({"x-update-key": key} if key else {})}


def shape(field: Any) -> Schema:
    """Return the keywords for one value."""
    if isinstance(field, cluster_schema.OneOrManyCustomActionField):
        return custom_action(section(field.schema))
    if isinstance(field, fields.Nested):
        inner = section(field.schema)
        return {"type": "array", "items": inner, **limits(field)} if field.many else inner
    if isinstance(field, fields.List):
        return {"type": "array", "items": shape(field.inner), **limits(field)}
    kind = next((name for kind, name in TYPES.items() if isinstance(field, kind)), None)
    return {**({"type": kind} if kind else {}), **limits(field)}


def custom_action(one: Schema) -> Schema:
    """Return a custom action: one script, or a sequence of them."""
    many = {"type": "array", "items": one, "x-update": one["properties"]["Script"]["x-update"]}
    return {
        "type": "object",
        "properties": {**one["properties"], "Sequence": many},
        "additionalProperties": False,
        "oneOf": [{"required": ["Script"]}, {"required": ["Sequence"]}],
        "description": "Either Script or Sequence field must be provided.",
    }


def limits(field: Any) -> Schema:
    """Return the bounds of a value."""
    found: Schema = {}
    for check in flat(field.validate):
        match check:
            case validate.OneOf():
                found["enum"] = list(check.choices)
            case validate.Regexp():
                found["pattern"] = from_the_start(check.regex.pattern)
            case validate.Range():
                found |= given(minimum=check.min, maximum=check.max)
            case validate.Length():
                noun = "Items" if isinstance(field, (fields.List, fields.Nested)) else "Length"
                least, most = (check.equal, check.equal) if check.equal is not None else (check.min, check.max)
                found |= given(**{f"min{noun}": least, f"max{noun}": most})
            case _ if check is cluster_schema.is_cidr_or_prefix_list:
                found["pattern"] = "|".join(from_the_start(ALLOWED_VALUES[name]) for name in ("cidr", "prefix-list"))
            case _:
                raise TypeError(f"{field.data_key}: {check} is a check that this program does not know")
    return found


def from_the_start(pattern: str) -> str:
    """Return a pattern for a search that finds what ParallelCluster's match finds."""
    return pattern if pattern.startswith("^") and "|" not in pattern else f"^(?:{pattern})"


def given(**values: Any) -> Schema:
    """Return the keywords that have a value."""
    return {name: value for name, value in values.items() if value is not None}


def flat(checks: Any) -> Iterator[Any]:
    """Yield every check of a field."""
    for check in checks if isinstance(checks, (list, tuple)) else [] if checks is None else [checks]:
        yield from check.validators if isinstance(check, validate.And) else (check,)


# ---------------------------------------------------------------- checks that are code
def hooks(schema: Any) -> list[str]:
    """Return the names of the methods with which a schema judges what it has read."""
    noted = schema._hooks  # noqa: SLF001  where marshmallow keeps them
    return sorted({name for kind in ("validates", "validates_schema") for name, *_ in noted.get(kind, ())})


def code_rule(schema: Any, hook: str) -> Schema:
    """Return a check as JSON Schema."""
    method = getattr(type(schema), hook)
    tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
    rules = [
        coexistence(schema, found, test)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and (found := call_of("fields_coexist", test.test))
    ]
    if rules:
        return rules[0] if len(rules) == 1 else {"allOf": rules}
    return CODE[f"{type(schema).__name__}.{hook}"]


def call_of(name: str, tree: ast.AST) -> ast.Call | None:
    """Return a call of a method."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    return next((call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == name), None)


def coexistence(schema: Any, call: ast.Call, test: ast.If) -> Schema:
    """Return ``fields_coexist``: at most one of several keys, or exactly one."""
    names = [schema.fields[name].data_key for name in ast.literal_eval(call.args[1])]
    (refusal,) = [node.exc for node in ast.walk(test) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    words = ast.literal_eval([*refusal.args, *(keyword.value for keyword in refusal.keywords)][0])
    there = [{"required": [name], "properties": {name: {"$ref": "#/$defs/given"}}} for name in names]
    exactly = any(keyword.arg == "one_required" for keyword in call.keywords)
    return {"oneOf": there if exactly else [*there, {"not": {"anyOf": there}}], "description": words}


# ---------------------------------------------------------------- the file
def document(date: str) -> Schema:
    """Return the whole."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"aws-parallelcluster {get_installed_version()}, by tools/contract/extract_schema.py on {date}",
        "x-max-count": constants.DEFAULT_MAX_COUNT,
        "$defs": {"given": {"minLength": 1, "minItems": 1, "minProperties": 1}},
        **section(cluster_schema.ClusterSchema(cluster_name="schema")),
    }


def dump(value: Schema) -> str:
    """Write JSON that a person can compare: what has nothing below it stands on one line."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    for _ in range(2):
        text = re.sub(
            r"[\[{]\n\s+([^\[\]{}]*?)\n\s+[\]}]",
            lambda found: found[0][0] + re.sub(r"\s*\n\s*", " ", found[1]) + found[0][-1],
            text,
        )
    return text + "\n"


def main(arguments: list[str]) -> int:
    """Write the file, or compare it with what would be written."""
    date = json.loads(OUTPUT.read_text())["$comment"].rsplit(" ", 1)[1]
    return renew(arguments, OUTPUT, date, lambda date: dump(document(date)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
