"""How stacks, resources, events and change sets look in CloudFormation's answers."""

from typing import Any

from cdk_trainyard.local.engine.state import ChangeSet, Deployed, Event, Stack
from cdk_trainyard.local.engine.template import Template
from cdk_trainyard.local.resources.steps import listed


def stack(found: Stack) -> dict[str, Any]:
    """Return a stack as ``DescribeStacks`` and ``ListStacks`` show it."""
    secret = {
        name for name, row in found.template.section("Parameters").items() if str(row.get("NoEcho")).lower() == "true"
    }
    return {
        "StackId": found.stack_id,
        "StackName": found.name,
        "Description": found.template.body.get("Description"),
        "Parameters": [_parameter(found, name, name in secret) for name in found.parameters],
        "CreationTime": found.created,
        "LastUpdatedTime": found.updated,
        "DeletionTime": found.deleted,
        "RollbackConfiguration": {},
        "StackStatus": found.status,
        "StackStatusReason": found.reason,
        "DisableRollback": False,
        "NotificationARNs": [],
        "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
        "Outputs": [
            {
                "OutputKey": output.key,
                "OutputValue": output.value,
                "Description": output.description,
                "ExportName": output.export_name,
            }
            for output in found.outputs.values()
        ],
        "RoleARN": found.role,
        "Tags": listed(found.tags),
        "EnableTerminationProtection": found.protected,
        "ParentId": found.parent,
        "DriftInformation": {"StackDriftStatus": "NOT_CHECKED"},
        "TemplateDescription": found.template.body.get("Description"),
    }


def _parameter(found: Stack, name: str, secret: bool) -> dict[str, Any]:
    value = "****" if secret else str(found.parameters[name])
    resolved = found.resolved.get(name)
    row = {"ParameterKey": name, "ParameterValue": value}
    differs = not secret and resolved is not None and str(resolved) != value
    return {**row, "ResolvedValue": str(resolved)} if differs else row


def event(found: Stack, seen: Event) -> dict[str, Any]:
    """Return an event as ``DescribeStackEvents`` shows it."""
    return {
        "StackId": found.stack_id,
        "StackName": found.name,
        "EventId": seen.event_id,
        "LogicalResourceId": seen.logical_id,
        "PhysicalResourceId": seen.physical_id,
        "ResourceType": seen.type_name,
        "Timestamp": seen.timestamp,
        "ResourceStatus": seen.status,
        "ResourceStatusReason": seen.reason,
    }


def resource(found: Stack, deployed: Deployed) -> dict[str, Any]:
    """Return a resource as the ``…StackResource…`` operations show it."""
    drift = found.drift.get(deployed.logical_id, {}).get("StackResourceDriftStatus", "NOT_CHECKED")
    return {
        "StackId": found.stack_id,
        "StackName": found.name,
        "LogicalResourceId": deployed.logical_id,
        "PhysicalResourceId": deployed.physical_id,
        "ResourceType": deployed.type_name,
        "Timestamp": deployed.updated,
        "LastUpdatedTimestamp": deployed.updated,
        "ResourceStatus": deployed.status,
        "DriftInformation": {"StackResourceDriftStatus": drift},
    }


def change_set(found: ChangeSet) -> dict[str, Any]:
    """Return a change set as ``DescribeChangeSet`` and ``ListChangeSets`` show it."""
    return {
        "ChangeSetName": found.name,
        "ChangeSetId": found.change_set_id,
        "StackId": found.stack.stack_id,
        "StackName": found.stack.name,
        "Description": found.description,
        "Parameters": [
            {"ParameterKey": name, "ParameterValue": str(value)} for name, value in found.parameters.items()
        ],
        "CreationTime": found.created,
        "ExecutionStatus": found.execution,
        "Status": found.status,
        "StatusReason": found.reason,
        "Tags": listed(found.tags),
        "Changes": found.changes,
        "IncludeNestedStacks": False,
    }


def template_summary(template: Template) -> dict[str, Any]:
    """Return what a template declares, as ``GetTemplateSummary`` shows it."""
    resources = template.resources
    return {
        "Parameters": [
            {
                "ParameterKey": name,
                "DefaultValue": row.get("Default"),
                "ParameterType": row.get("Type", "String"),
                "NoEcho": str(row.get("NoEcho")).lower() == "true",
                "Description": row.get("Description"),
                "ParameterConstraints": {"AllowedValues": row.get("AllowedValues", [])},
            }
            for name, row in template.section("Parameters").items()
        ],
        "Description": template.body.get("Description"),
        "ResourceTypes": sorted({row["Type"] for row in resources.values()}),
        "Version": template.body.get("AWSTemplateFormatVersion"),
        "Metadata": None,
    }
