"""Shipped deployments in the local AWS, as the cdk CLI deploys them, without the CLI: a second for each stack."""

import io
import json
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from aws_cdk.cx_api import CloudAssembly, CloudFormationStackArtifact
from botocore.exceptions import ClientError, WaiterError

from cdk_trainyard.cli._made_up import arns, content
from cdk_trainyard.local import LocalAws
from tests.local.stacks import stack_names
from tests.support import ROOT, every, synthesize_here

DEFAULT = "us-east-1"
_PATIENCE = {"Delay": 0.1, "MaxAttempts": 600}
_Files = dict[str, dict[str, Any]]


class RolledBackError(Exception):
    """A stack that did not become what it should: its name, its status, and what failed."""


def deploy(aws: LocalAws, name: str) -> Path:
    """Deploy a shipped deployment, unless it is there already, and return its file."""
    file = ROOT / "deployments" / f"{name}.yaml"
    if f"{name}-network" not in stack_names(aws.client("cloudformation", content(file)["region"])):
        _deploy(aws, file, _shipped(file).name)
    return file


def deploy_file(aws: LocalAws, file: Path) -> None:
    """Deploy what a deployment file says now: its stacks are made, or updated where there is something new."""
    with _synthesized(file) as folder:
        _deploy(aws, file, folder)


def _deploy(aws: LocalAws, file: Path, folder: str) -> None:
    for arn in dict.fromkeys(arns(content(file))):
        aws.add_existing(arn)
    deploy_assembly(aws, content(file)["region"], Path(folder))


def _synthesized(file: Path) -> "tempfile.TemporaryDirectory[str]":
    made = tempfile.TemporaryDirectory()
    synthesize_here(file, Path(made.name), checked=False)
    return made


_shipped = cache(_synthesized)
"""A shipped deployment is synthesized once for the tests of a process."""


def deploy_assembly(aws: LocalAws, region: str, folder: Path, stack: str | None = None) -> list[str]:
    """Deploy a cloud assembly, and return the names of the stacks in which something changed.

    Args:
        aws: Where.
        region: Its Region.
        folder: The assembly.
        stack: Construct id of the one to deploy, with what it stands on. Default - all.

    Raises:
        RolledBackError: Something failed.
    """
    bucket, files = upload(aws, region, folder)
    there, changed = stack_names(aws.client("cloudformation", region)), []
    for wanted in _wanted(CloudAssembly(str(folder)), stack):
        (template,) = [key for key, asset in files.items() if asset["source"]["path"] == wanted.template_file]
        said = {
            "TemplateURL": f"{aws.endpoint}/{bucket}/{template}",
            "Capabilities": ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
            "Tags": [{"Key": key, "Value": value} for key, value in wanted.tags.items()],
        }
        if _changed(aws.client("cloudformation", region), wanted.stack_name, wanted.stack_name in there, said):
            changed.append(wanted.stack_name)
    return changed


def delete(client: Any, *names: str) -> None:
    """Delete stacks, in this order, by a client of CloudFormation; what is not there is deleted already."""
    for name in names:
        client.delete_stack(StackName=name)
        client.get_waiter("stack_delete_complete").wait(StackName=name, WaiterConfig=_PATIENCE)


def _wanted(assembly: CloudAssembly, stack: str | None) -> list[CloudFormationStackArtifact]:
    """Return the stacks to deploy, each after those that it stands on."""
    wanted = {stack}
    found = []
    for one in reversed(assembly.stacks):
        if stack is None or one.id in wanted:
            wanted |= {needed.id for needed in one.dependencies}
            found.append(one)
    return found[::-1]


def _changed(client: Any, name: str, there: bool, said: dict[str, Any]) -> bool:
    """Make a stack, or update it, and return whether there was anything to do."""
    change, done = (
        (client.update_stack, "stack_update_complete") if there else (client.create_stack, "stack_create_complete")
    )
    try:
        change(StackName=name, **said)
        client.get_waiter(done).wait(StackName=name, WaiterConfig=_PATIENCE)
    except WaiterError as error:
        (stack,) = client.describe_stacks(StackName=name)["Stacks"]
        raise RolledBackError(f"{name} {stack['StackStatus']}: {'; '.join(_reasons(client, name))}") from error
    except ClientError as error:
        if "No updates are to be performed" not in str(error):
            raise
        return False
    return True


def _reasons(client: Any, name: str) -> Iterator[str]:
    """Yield what failed in the newest operation on a stack, newest first."""
    for event in every(client, "describe_stack_events", StackName=name)["StackEvents"]:
        if event["ResourceStatus"].endswith("_FAILED"):
            yield event["ResourceStatusReason"]
        if event["LogicalResourceId"] == name and event.get("ResourceStatusReason") == "User Initiated":
            return


def bootstrap(aws: LocalAws, region: str) -> str:
    """Make what deployments need of what ``cdk bootstrap`` makes, unless it is there, and return the bucket."""
    bucket = f"cdk-hnb659fds-assets-{aws.account}-{region}"
    where = {} if region == DEFAULT else {"CreateBucketConfiguration": {"LocationConstraint": region}}
    if bucket not in {row["Name"] for row in aws.client("s3", region).list_buckets()["Buckets"]}:
        aws.client("s3", region).create_bucket(Bucket=bucket, **where)
        version = {"Name": "/cdk-bootstrap/hnb659fds/version", "Value": "30", "Type": "String"}
        aws.client("ssm", region).put_parameter(**version, Overwrite=True)
    return bucket


def _files(folder: Path) -> _Files:
    """Return the files of an assembly by the key under which each is uploaded: code, data and templates."""
    manifests = [json.loads(manifest.read_text()) for manifest in folder.glob("*.assets.json")]
    return {
        destination["objectKey"]: asset
        for manifest in manifests
        for asset in manifest["files"].values()
        for destination in asset["destinations"].values()
    }


def upload(aws: LocalAws, region: str, folder: Path) -> tuple[str, _Files]:
    """Upload what an assembly has and is not there yet; return the bucket, and the assembly's files by their keys."""
    s3, bucket, files = aws.client("s3", region), bootstrap(aws, region), _files(folder)
    there = {row["Key"] for row in every(s3, "list_objects_v2", Bucket=bucket).get("Contents", [])}
    for key in files.keys() - there:
        source = files[key]["source"]
        path = folder / source["path"]
        body = _zipped(path) if source["packaging"] == "zip" else path.read_bytes()
        s3.put_object(Bucket=bucket, Key=key, Body=body)
    return bucket, files


def _zipped(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return packed.getvalue()
