"""Deploying small templates through boto3, as tests say it."""

import json
from itertools import count
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.support import every

Template = dict[str, Any]
_numbers = count(1)


def template(resources: Template, **sections: Any) -> Template:
    return {"Resources": resources, **sections}


def outputs_of(**values: Any) -> Template:
    return {name: {"Value": value} for name, value in values.items()}


def stack_names(client: Any) -> set[str]:
    """Return the names of the stacks that a CloudFormation client sees."""
    return {row["StackName"] for row in every(client, "describe_stacks")["Stacks"]}


class Stacks:
    """CloudFormation through boto3.

    Attributes:
        client: A CloudFormation client.
    """

    def __init__(self, aws: LocalAws) -> None:
        self.aws = aws
        self.client = aws.client("cloudformation")
        self._made: list[str] = []

    def name(self) -> str:
        name = f"stack-{next(_numbers)}"
        self._made.append(name)
        return name

    def create(self, body: Template, name: str = "", **more: Any) -> str:
        """Create a stack, and return its name."""
        name = name or self.name()
        if name not in self._made:
            self._made.append(name)
        self.client.create_stack(StackName=name, TemplateBody=json.dumps(body), **more)
        return name

    def update(self, name: str, body: Template, **more: Any) -> str:
        """Update a stack, and return its status."""
        self.client.update_stack(StackName=name, TemplateBody=json.dumps(body), **more)
        return self.status(name)

    def deployed(self, body: Template, name: str = "", **more: Any) -> str:
        """Create a stack that must succeed, and return its name."""
        name = self.create(body, name, **more)
        assert self.status(name) == "CREATE_COMPLETE", self.reasons(name)
        return name

    def stack(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.describe_stacks(StackName=name)["Stacks"][0]
        return found

    def status(self, name: str) -> str:
        return str(self.stack(name)["StackStatus"])

    def outputs(self, name: str) -> dict[str, str]:
        return {row["OutputKey"]: row["OutputValue"] for row in self.stack(name).get("Outputs", [])}

    def exports(self) -> dict[str, str]:
        return {row["Name"]: row["Value"] for row in every(self.client, "list_exports")["Exports"]}

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return events, oldest first."""
        found: list[dict[str, Any]] = every(self.client, "describe_stack_events", StackName=name)["StackEvents"]
        return found[::-1]

    def reasons(self, name: str) -> list[str]:
        """Return what the events say beside their status."""
        return [
            f"{row['LogicalResourceId']} {row['ResourceStatus']}: {row['ResourceStatusReason']}"
            for row in self.events(name)
            if row.get("ResourceStatusReason")
        ]

    def physical_id(self, name: str, logical_id: str) -> str:
        found = self.client.describe_stack_resource(StackName=name, LogicalResourceId=logical_id)
        return str(found["StackResourceDetail"]["PhysicalResourceId"])

    def delete(self, name: str) -> str:
        """Delete a stack, and return its status."""
        stack_id = self.stack(name)["StackId"]
        self.client.delete_stack(StackName=stack_id)
        return self.status(stack_id)

    def refusal(self, body: Template) -> str:
        """Return why CloudFormation does not take a template."""
        try:
            self.client.create_stack(StackName=self.name(), TemplateBody=json.dumps(body))
        except ClientError as error:
            return str(error.response["Error"]["Message"])
        return ""

    def failure(self, body: Template) -> str:
        """Return the first reason why a stack of this template rolls back."""
        name = self.create(body)
        assert self.status(name) == "ROLLBACK_COMPLETE", self.reasons(name)
        failed = [row for row in self.events(name) if row["ResourceStatus"].endswith("CREATE_FAILED")]
        return str(failed[0]["ResourceStatusReason"])

    def clean_up(self) -> None:
        for name in reversed(self._made):
            try:
                self.client.delete_stack(StackName=name)
            except ClientError:
                continue
