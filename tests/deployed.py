"""Shipped deployments in the local AWS, as the cdk CLI deploys them, without the CLI: a second for each stack."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from aws_cdk import App
from botocore.exceptions import ClientError

from cdk_trainyard.cli._made_up import arns, content
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.local import LocalAws
from stacks import build_stacks
from tests.local.stacks import stack_names
from tests.support import ROOT, STAGED

DEFAULT = "us-east-1"


def deploy(aws: LocalAws, name: str) -> Path:
    """Deploy a shipped deployment, unless it is there already, and return its file."""
    file = ROOT / "deployments" / f"{name}.yaml"
    if f"{name}-network" not in stack_names(aws.client("cloudformation", Deployment.load(file).region)):
        deploy_file(aws, file)
    return file


def deploy_file(aws: LocalAws, file: Path) -> None:
    """Deploy what a deployment file says now: its stacks are made, or updated where there is something new."""
    deployment = Deployment.load(file)
    for arn in dict.fromkeys(arns(content(file))):
        aws.add_existing(arn)
    client, bucket = aws.client("cloudformation", deployment.region), _bootstrap(aws, deployment.region)
    there = stack_names(client)
    app = App(analytics_reporting=False, post_cli_context=STAGED)
    build_stacks(app, deployment)
    assembly = app.synth()
    for manifest in Path(assembly.directory).glob("*.assets.json"):
        for asset in json.loads(manifest.read_text())["files"].values():
            _upload(aws, deployment.region, Path(assembly.directory) / asset["source"]["path"], asset)
    for stack in assembly.stacks:
        aws.client("s3", deployment.region).put_object(Bucket=bucket, Key="template", Body=json.dumps(stack.template))
        change, done = (
            (client.update_stack, "stack_update_complete")
            if stack.stack_name in there
            else (client.create_stack, "stack_create_complete")
        )
        said = {"TemplateURL": f"{aws.endpoint}/{bucket}/template", "Capabilities": ["CAPABILITY_NAMED_IAM"]}
        try:
            change(StackName=stack.stack_name, **said)
        except ClientError as error:
            if "No updates are to be performed" not in str(error):
                raise
        else:
            client.get_waiter(done).wait(StackName=stack.stack_name, WaiterConfig={"Delay": 0.1, "MaxAttempts": 600})


def _bootstrap(aws: LocalAws, region: str) -> str:
    bucket = f"cdk-hnb659fds-assets-{aws.account}-{region}"
    where = {} if region == DEFAULT else {"CreateBucketConfiguration": {"LocationConstraint": region}}
    if bucket not in {row["Name"] for row in aws.client("s3", region).list_buckets()["Buckets"]}:
        aws.client("s3", region).create_bucket(Bucket=bucket, **where)
    version = {"Name": "/cdk-bootstrap/hnb659fds/version", "Value": "30", "Type": "String"}
    aws.client("ssm", region).put_parameter(**version, Overwrite=True)
    return bucket


def _upload(aws: LocalAws, region: str, source: Path, asset: dict[str, Any]) -> None:
    body = _zipped(source) if asset["source"]["packaging"] == "zip" else source.read_bytes()
    for destination in asset["destinations"].values():
        bucket = destination["bucketName"].replace("${AWS::AccountId}", aws.account).replace("${AWS::Region}", region)
        aws.client("s3", region).put_object(Bucket=bucket, Key=destination["objectKey"], Body=body)


def _zipped(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return packed.getvalue()
