"""CloudFormation's API: every operation that the CDK CLI and boto3 users need, instead of moto's."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from moto.cloudformation import urls
from moto.core.responses import BaseResponse

from cdk_trainyard.local.engine import describe
from cdk_trainyard.local.engine.deploy import Target
from cdk_trainyard.local.engine.drift import drifts
from cdk_trainyard.local.engine.operations import Engine, read_template
from cdk_trainyard.local.engine.parameters import given_parameters
from cdk_trainyard.local.engine.plan import plan
from cdk_trainyard.local.engine.state import ChangeSet, Stack
from cdk_trainyard.local.engine.template import Template, parse
from cdk_trainyard.local.engine.validation import check
from cdk_trainyard.local.errors import ApiError, ResourceFailed, validation_error
from cdk_trainyard.local.services.api import Operation, Request, install


def _engine(request: Request) -> Engine:
    return Engine(request.account, request.region)


def _template(request: Request, stack: Stack | None) -> Template:
    if request.get("UsePreviousTemplate"):
        if stack is None:
            raise validation_error("UsePreviousTemplate needs a stack that exists")
        return stack.template
    body, url = request.get("TemplateBody"), request.get("TemplateURL")
    if body is None and url is None:
        raise validation_error("Either Template URL or Template Body must be specified.")
    return parse(body if body is not None else read_template(url, request.region))


def _target(request: Request, stack: Stack | None) -> Target:
    """Return what the request wants a stack to become, checked."""
    template = _template(request, stack)
    check(template)
    tags = request.get("Tags")
    previous = stack.tags if stack else {}
    return Target(
        template=template,
        parameters=given_parameters(template, request.get("Parameters", []), stack.parameters if stack else None),
        tags=previous if tags is None else {tag["Key"]: tag["Value"] for tag in tags},
        role=request.get("RoleARN"),
    )


def _unchanged(stack: Stack, target: Target) -> bool:
    same_words = stack.template.body == target.template.body and stack.parameters == dict(target.parameters)
    return same_words and stack.tags == dict(target.tags)


# ---------------------------------------------------------------- stacks
def create_stack(request: Request) -> dict[str, Any]:
    """Create a stack from a template."""
    engine = _engine(request)
    target = _target(request, None)
    with engine.region.lock:
        stack = engine.region.begin(request["StackName"])
    stack.protected = bool(request.get("EnableTerminationProtection"))
    keep = request.get("DisableRollback", False) or request.get("OnFailure") == "DO_NOTHING"
    engine.deploy(stack, target, keep_on_failure=keep)
    return {"StackId": stack.stack_id}


def update_stack(request: Request) -> dict[str, Any]:
    """Update a stack to a template."""
    engine = _engine(request)
    stack = engine.region.get(request["StackName"])
    target = _target(request, stack)
    if _unchanged(stack, target):
        raise validation_error("No updates are to be performed.")
    engine.deploy(stack, target, keep_on_failure=request.get("DisableRollback", False))
    return {"StackId": stack.stack_id}


def delete_stack(request: Request) -> dict[str, Any]:
    """Delete a stack; one that is not there is deleted already."""
    engine = _engine(request)
    stack = engine.region.find(request["StackName"])
    if stack is not None and not stack.deleted:
        engine.delete(stack, frozenset(request.get("RetainResources", [])))
    return {}


def rollback_stack(request: Request) -> dict[str, Any]:
    """Undo an operation that failed without rollback."""
    engine = _engine(request)
    stack = engine.region.get(request["StackName"])
    engine.roll_back(stack)
    return {"StackId": stack.stack_id}


def update_termination_protection(request: Request) -> dict[str, Any]:
    """Protect a stack against deletion, or no longer."""
    stack = _engine(request).region.get(request["StackName"])
    stack.protected = bool(request["EnableTerminationProtection"])
    return {"StackId": stack.stack_id}


# ---------------------------------------------------------------- change sets
def create_change_set(request: Request) -> dict[str, Any]:
    """Say what an update would change, without doing it."""
    engine, kind = _engine(request), request.get("ChangeSetType", "UPDATE")
    if kind == "IMPORT":
        raise validation_error("local AWS: importing resources into a stack is not emulated")
    region = engine.region
    stack = region.find(request["StackName"])
    _refuse_change_set(request["StackName"], kind, stack)
    target = _target(request, stack if kind == "UPDATE" else None)
    with region.lock:
        if stack is None or stack.deleted:
            stack = region.begin(request["StackName"])
            stack.note("REVIEW_IN_PROGRESS", "User Initiated")
    change_set = ChangeSet(
        change_set_id=region.arn(f"changeSet/{request['ChangeSetName']}/{uuid4()}"),
        name=request["ChangeSetName"],
        stack=stack,
        kind=kind,
        template=target.template,
        parameters=dict(target.parameters),
        tags=dict(target.tags),
        role=target.role,
        description=request.get("Description"),
        created=datetime.now(UTC),
    )
    region.change_sets[change_set.change_set_id] = change_set
    if kind == "UPDATE" and _unchanged(stack, target):
        change_set.status, change_set.execution = "FAILED", "UNAVAILABLE"
        change_set.reason = (
            "The submitted information didn't contain changes. Submit different information to create a change set."
        )
        return {"Id": change_set.change_set_id, "StackId": stack.stack_id}
    try:
        change_set.changes = plan(region, stack, target)
    except (ResourceFailed, ApiError) as error:
        change_set.status, change_set.execution, change_set.reason = "FAILED", "UNAVAILABLE", str(error)
    return {"Id": change_set.change_set_id, "StackId": stack.stack_id}


def _refuse_change_set(name: str, kind: str, stack: Stack | None) -> None:
    """Raise when a change set of this kind makes no sense for the stack as it is."""
    lives = stack is not None and not stack.deleted
    if kind == "UPDATE" and not lives:
        raise validation_error(f"Stack [{name}] does not exist")
    if kind == "UPDATE" and stack is not None:
        Engine.refuse_update(stack)
    if kind == "CREATE" and lives and stack is not None and stack.status != "REVIEW_IN_PROGRESS":
        raise validation_error(f"Stack [{name}] already exists and cannot be created again")


def _change_set(request: Request) -> ChangeSet:
    name = request["ChangeSetName"]
    found = _engine(request).region.change_set(name, request.get("StackName"))
    if found is None:
        raise ApiError("ChangeSetNotFound", f"ChangeSet [{name}] does not exist")
    return found


def describe_change_set(request: Request) -> dict[str, Any]:
    """Return a change set with its changes."""
    return describe.change_set(_change_set(request))


def delete_change_set(request: Request) -> dict[str, Any]:
    """Forget a change set; one that is not there is forgotten already."""
    region = _engine(request).region
    found = region.change_set(request["ChangeSetName"], request.get("StackName"))
    while found is not None:
        del region.change_sets[found.change_set_id]
        found = region.change_set(request["ChangeSetName"], request.get("StackName"))
    return {}


def execute_change_set(request: Request) -> dict[str, Any]:
    """Do what a change set says."""
    change_set = _change_set(request)
    if change_set.execution != "AVAILABLE":
        raise ApiError("InvalidChangeSetStatus", f"ChangeSet [{change_set.change_set_id}] cannot be executed")
    change_set.execution = "EXECUTE_COMPLETE"
    target = Target(
        template=change_set.template, parameters=change_set.parameters, tags=change_set.tags, role=change_set.role
    )
    _engine(request).deploy(change_set.stack, target, keep_on_failure=request.get("DisableRollback", False))
    return {}


def list_change_sets(request: Request) -> dict[str, Any]:
    """Return the change sets of a stack."""
    region = _engine(request).region
    stack = region.get(request["StackName"])
    found = [change_set for change_set in region.change_sets.values() if change_set.stack is stack]
    return {"Summaries": [describe.change_set(change_set) for change_set in found]}


# ---------------------------------------------------------------- looking
def describe_stacks(request: Request) -> dict[str, Any]:
    """Return one stack, or all that live."""
    region, name = _engine(request).region, request.get("StackName")
    return {"Stacks": [describe.stack(found) for found in ([region.get(name)] if name else region.living)]}


def list_stacks(request: Request) -> dict[str, Any]:
    """Return a line for every stack, deleted ones too."""
    wanted = request.get("StackStatusFilter")
    stacks = [stack for stack in _engine(request).region.stacks.values() if not wanted or stack.status in wanted]
    return {"StackSummaries": [describe.stack(stack) for stack in stacks]}


def describe_stack_events(request: Request) -> dict[str, Any]:
    """Return the history of a stack, newest first."""
    stack = _engine(request).region.get(request["StackName"])
    return {"StackEvents": [describe.event(stack, event) for event in reversed(stack.events)]}


def describe_events(request: Request) -> dict[str, Any]:
    """Return the failed events of a stack's operations; there is no early validation here."""
    stack = _engine(request).region.find(request.get("StackName") or "")
    if stack is None:
        return {"OperationEvents": []}
    failed_only = request.get("Filters", {}).get("FailedEvents")
    events = [event for event in reversed(stack.events) if not failed_only or event.status.endswith("_FAILED")]
    return {"OperationEvents": [describe.event(stack, event) for event in events]}


def get_template(request: Request) -> dict[str, Any]:
    """Return the template of a stack or of a change set, as it was sent."""
    if request.get("ChangeSetName"):
        return {"TemplateBody": _change_set(request).template.text, "StagesAvailable": ["Original", "Processed"]}
    stack = _engine(request).region.get(request["StackName"])
    return {"TemplateBody": stack.template.text, "StagesAvailable": ["Original", "Processed"]}


def get_template_summary(request: Request) -> dict[str, Any]:
    """Return what a template declares."""
    name = request.get("StackName")
    template = _engine(request).region.get(name).template if name else _template(request, None)
    return describe.template_summary(template)


def validate_template(request: Request) -> dict[str, Any]:
    """Check a template as a deployment would."""
    template = _template(request, None)
    check(template)
    return describe.template_summary(template)


def describe_stack_resources(request: Request) -> dict[str, Any]:
    """Return the resources of a stack, or the one asked for."""
    stack = _stack_of_resources(request)
    wanted = request.get("LogicalResourceId")
    found = [row for name, row in stack.resources.items() if wanted in (None, name)]
    return {"StackResources": [describe.resource(stack, deployed) for deployed in found]}


def _stack_of_resources(request: Request) -> Stack:
    region, name, physical = _engine(request).region, request.get("StackName"), request.get("PhysicalResourceId")
    if name:
        return region.get(name)
    for stack in region.living:
        if any(deployed.physical_id == physical for deployed in stack.resources.values()):
            return stack
    raise validation_error(f"Stack for {physical} does not exist")


def describe_stack_resource(request: Request) -> dict[str, Any]:
    """Return one resource of a stack."""
    stack, name = _engine(request).region.get(request["StackName"]), request["LogicalResourceId"]
    if name not in stack.resources:
        raise validation_error(f"Resource {name} does not exist for stack {stack.name}")
    return {"StackResourceDetail": describe.resource(stack, stack.resources[name])}


def list_stack_resources(request: Request) -> dict[str, Any]:
    """Return a line for every resource of a stack."""
    stack = _engine(request).region.get(request["StackName"])
    return {"StackResourceSummaries": [describe.resource(stack, row) for row in stack.resources.values()]}


def list_exports(request: Request) -> dict[str, Any]:
    """Return every export of the region."""
    found = _engine(request).region.exports().items()
    rows = [
        {"ExportingStackId": stack.stack_id, "Name": name, "Value": output.value} for name, (stack, output) in found
    ]
    return {"Exports": rows}


def list_imports(request: Request) -> dict[str, Any]:
    """Return the stacks that import an export."""
    users = _engine(request).region.importers(request["ExportName"])
    if not users:
        raise validation_error(f"Export '{request['ExportName']}' is not imported by any stack.")
    return {"Imports": users}


# ---------------------------------------------------------------- drift
def detect_stack_drift(request: Request) -> dict[str, Any]:
    """Compare a stack with what its services say."""
    region = _engine(request).region
    stack = region.get(request["StackName"])
    stack.drift = {row["LogicalResourceId"]: row for row in drifts(region, stack)}
    return {"StackDriftDetectionId": stack.stack_id}


def describe_stack_drift_detection_status(request: Request) -> dict[str, Any]:
    """Return the outcome of a comparison."""
    stack = _engine(request).region.get(request["StackDriftDetectionId"])
    drifted = sum(row["StackResourceDriftStatus"] in ("MODIFIED", "DELETED") for row in stack.drift.values())
    return {
        "StackId": stack.stack_id,
        "StackDriftDetectionId": stack.stack_id,
        "StackDriftStatus": "DRIFTED" if drifted else "IN_SYNC",
        "DetectionStatus": "DETECTION_COMPLETE",
        "DriftedStackResourceCount": drifted,
        "Timestamp": datetime.now(UTC),
    }


def describe_stack_resource_drifts(request: Request) -> dict[str, Any]:
    """Return what differs, resource by resource."""
    stack, wanted = _engine(request).region.get(request["StackName"]), request.get("StackResourceDriftStatusFilters")
    rows = [row for row in stack.drift.values() if not wanted or row["StackResourceDriftStatus"] in wanted]
    return {"StackResourceDrifts": rows}


OPERATIONS: Mapping[str, Operation] = {
    operation.__name__: operation
    for operation in (
        create_change_set,
        create_stack,
        delete_change_set,
        delete_stack,
        describe_change_set,
        describe_events,
        describe_stack_drift_detection_status,
        describe_stack_events,
        describe_stack_resource,
        describe_stack_resource_drifts,
        describe_stack_resources,
        describe_stacks,
        detect_stack_drift,
        execute_change_set,
        get_template,
        get_template_summary,
        list_change_sets,
        list_exports,
        list_imports,
        list_stack_resources,
        list_stacks,
        rollback_stack,
        update_stack,
        update_termination_protection,
        validate_template,
    )
}


class CloudFormation(BaseResponse):
    """CloudFormation, instead of moto's: operations that are not in `OPERATIONS` are refused."""

    def __init__(self) -> None:
        """Answer for the service."""
        super().__init__(service_name="cloudformation")


def replace_cloudformation() -> None:
    """Put this CloudFormation in the place of moto's."""
    install(CloudFormation, OPERATIONS)
    for path in urls.url_paths:
        urls.url_paths[path] = CloudFormation.dispatch
