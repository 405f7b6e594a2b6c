"""Extract what ParallelCluster itself knows into ``cdk_trainyard/parallelcluster/data/pcluster.json``.

Runs in ParallelCluster's own environment: ``.venv-pcluster/bin/python -m tools.contract.extract_facts 2026-11-20``. The
date is an argument, so that the same package gives the same file on any day; ``--check`` compares and writes nothing.
"""

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marshmallow import fields, validate
from pcluster import constants
from pcluster.constants import Feature
from pcluster.schemas import cluster_schema
from pcluster.utils import get_installed_version
from pcluster.validators import cluster_validators, ebs_validators, slurm_settings_validator
from pcluster.validators.common import Validator

from tools.contract.extracted import renew

OUTPUT = Path(__file__).parents[2] / "constructs" / "cdk_trainyard" / "parallelcluster" / "data" / "pcluster.json"
_TYPES = {fields.Str: "string", fields.Int: "integer", fields.Bool: "boolean", fields.Float: "number"}


def schema_of(schema: Any) -> dict[str, Any]:
    """Return the keys of one section, in the order of the schema."""
    return {field.data_key: node_of(field) for field in schema.fields.values()}


def node_of(field: Any) -> dict[str, Any]:
    """Return what may stand under one key."""
    node = {**_shape(field), **_limits(field)}
    if field.required:
        node["required"] = True
    return node


def _shape(field: Any) -> dict[str, Any]:
    if isinstance(field, cluster_schema.OneOrManyCustomActionField):
        one = schema_of(field.schema)
        many = {"type": "list", "keys": one}
        return {"type": "section", "keys": {**one, "Sequence": many}, "one_of_keys": ["Script", "Sequence"]}
    if isinstance(field, fields.Nested):
        return {"type": "list" if field.many else "section", "keys": schema_of(field.schema)}
    if isinstance(field, fields.List):
        inner = field.inner
        return {"type": "values", "item": {"type": "map"} if isinstance(inner, fields.Dict) else node_of_value(inner)}
    if isinstance(field, fields.Dict):
        return {"type": "map"}
    return {"type": next((name for kind, name in _TYPES.items() if isinstance(field, kind)), "any")}


def node_of_value(field: Any) -> dict[str, Any]:
    """Return what an item of a list of plain values may be."""
    return {**_shape(field), **_limits(field)}


def _limits(field: Any) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    for check in _flat(field.validate):
        match check:
            case validate.OneOf():
                limits["choices"] = list(check.choices)
            case validate.Regexp():
                limits["pattern"] = check.regex.pattern
            case validate.Range():
                limits |= {key: value for key, value in (("min", check.min), ("max", check.max)) if value is not None}
            case validate.Length():
                lengths = (("min_length", check.min), ("max_length", check.max), ("length", check.equal))
                limits |= {key: value for key, value in lengths if value is not None}
            case _ if check is cluster_schema.is_cidr_or_prefix_list:
                limits["pattern"] = cidr_or_prefix_list()
            case _:
                raise TypeError(f"{field.data_key}: {check} is a check that this program does not know")
    return limits


def cidr_or_prefix_list() -> str:
    """Return the two patterns that ParallelCluster tries one after the other, as one."""
    from pcluster.schemas.common_schema import ALLOWED_VALUES  # noqa: PLC0415  named here alone

    return f"{ALLOWED_VALUES['cidr']}|{ALLOWED_VALUES['prefix-list']}"


def _flat(checks: Any) -> Iterator[Any]:
    for check in checks if isinstance(checks, (list, tuple)) else [] if checks is None else [checks]:
        if isinstance(check, validate.And):
            yield from check.validators
        else:
            yield check


def reserved_directories() -> list[str]:
    """Return the list that stands inside the validator of mount directories."""
    source = inspect.getsource(cluster_validators.SharedStorageMountDirValidator)
    lists = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.List)]
    return list(ast.literal_eval(max(lists, key=lambda node: len(node.elts))))


def validator_names() -> list[str]:
    """Return the names that ``SuppressValidators`` takes after ``type:``."""
    return sorted({kind.__name__ for kind in _subclasses(Validator) if not kind.__name__.startswith("_")})


def _subclasses(kind: Any) -> Iterator[Any]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)


def facts(date: str) -> dict[str, Any]:
    """Return everything."""
    regions = Path(inspect.getfile(constants)).parent / "resources" / "supported-regions"
    return {
        "version": get_installed_version(),
        "extracted": date,
        "source": "the package aws-parallelcluster of this version, by tools/contract/extract_facts.py",
        "regions": regions.read_text().split(),
        "operating_systems": {
            name: {"user": constants.OS_MAPPING[name]["user"], "official_image": name not in constants.PRIVATE_OSES}
            for name in constants.SUPPORTED_OSES
        },
        "gb200_operating_systems": sorted(constants.SUPPORTED_OSES_FOR_P6E_GB200),
        "dcv_operating_systems_without_gpu": sorted(
            set(constants.SUPPORTED_OSES) - set(constants.UNSUPPORTED_OSES_FOR_NON_GPU_DCV)
        ),
        "families_without_driver": sorted(constants.NVIDIA_OPENRM_UNSUPPORTED_INSTANCE_TYPES),
        "name_pattern": cluster_validators.NAME_REGEX,
        "name_length": cluster_validators.NAME_MAX_LENGTH,
        "storage_name_length": cluster_validators.SHARED_STORAGE_NAME_MAX_LENGTH,
        "cluster_name_length": constants.PCLUSTER_NAME_MAX_LENGTH,
        "cluster_name_length_with_accounting": constants.PCLUSTER_NAME_MAX_LENGTH_SLURM_ACCOUNTING,
        "queues": constants.MAX_NUMBER_OF_QUEUES,
        "compute_resources": constants.MAX_NUMBER_OF_COMPUTE_RESOURCES_PER_CLUSTER,
        "login_pools": constants.MAX_NUMBER_OF_LOGIN_NODE_POOLS,
        "new_file_systems": constants.MAX_NEW_STORAGE_COUNT,
        "existing_file_systems": constants.MAX_EXISTING_STORAGE_COUNT,
        "ebs_volumes": constants.MAX_EBS_COUNT,
        "root_volume_gib": constants.EBS_ROOT_VOLUME_SIZE_DEFAULT,
        "ebs_size_gib": ebs_validators.EBS_VOLUME_TYPE_TO_VOLUME_SIZE_BOUNDS,
        "ebs_iops": ebs_validators.EBS_VOLUME_IOPS_BOUNDS,
        "ebs_iops_per_gib": ebs_validators.EBS_VOLUME_TYPE_TO_IOPS_RATIO,
        "lustre_ssd_throughput": constants.FSX_SSD_THROUGHPUT,
        "lustre_hdd_throughput": constants.FSX_HDD_THROUGHPUT,
        "reserved_directories": reserved_directories(),
        "denied_slurm_settings": {
            "cluster": sorted(slurm_settings_validator.SLURM_SETTINGS_DENY_LIST["SlurmConf"]["Global"]),
            "accounting": sorted(slurm_settings_validator.SLURM_SETTINGS_DENY_LIST["SlurmConf"]["Accounting"]),
            "queue": sorted(slurm_settings_validator.SLURM_SETTINGS_DENY_LIST["Queue"]["Global"]),
            "compute_resource": sorted(slurm_settings_validator.SLURM_SETTINGS_DENY_LIST["ComputeResource"]["Global"]),
        },
        "regions_without": {
            feature.name.lower(): prefixes
            for feature, prefixes in constants.UNSUPPORTED_FEATURES_MAP.items()
            if prefixes and feature is not Feature.BATCH
        },
        "bootstrap_timeout_seconds": constants.NODE_BOOTSTRAP_TIMEOUT,
        "validators": validator_names(),
        "schema": schema_of(cluster_schema.ClusterSchema(cluster_name="facts")),
    }


def dump(value: dict[str, Any]) -> str:
    """Write JSON that a person can compare: one key of the schema per line."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    # a node without keys below it fits on one line
    short = re.compile(r"\{\n\s+([^{}]*?)\n\s+\}")
    return short.sub(lambda match: "{" + re.sub(r"\s*\n\s*", " ", match.group(1)) + "}", text) + "\n"


def main(arguments: list[str]) -> int:
    """Write the file, or compare it with what would be written."""
    return renew(arguments, OUTPUT, json.loads(OUTPUT.read_text())["extracted"], lambda date: dump(facts(date)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
