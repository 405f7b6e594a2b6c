"""Batch: compute environments, job queues, job definitions. Nothing is launched, and no job runs."""

from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType, facts_of
from cdk_trainyard.local.resources.steps import Api, answer, identity, tagger

BATCH = Api("batch")
_SERVICE = "batch.amazonaws.com"
_DEFINITION = "AWS::Batch::JobDefinition"
_KEPT = ("JobDefinitionName", "ResourceRetentionPolicy", "Tags")


def _environment(it: Resource) -> dict[str, Any]:
    """Return what is not passed as it is: types, which Batch reads in any case (CDK writes ``managed``)."""
    it.pick("ReplaceComputeEnvironment", "UpdatePolicy")  # how it is changed: at AWS, here in place
    said = {"State": it.get("State", "ENABLED"), "ServiceRole": it.get("ServiceRole") or _linked_role(it)}
    if "ComputeResources" in it:
        resources = dict(it["ComputeResources"])
        said["ComputeResources"] = {**resources, "Type": str(resources["Type"]).upper()}
    return said


def _linked_role(it: Resource) -> str:
    """Return the role that Batch makes for itself where none is named (Batch User Guide, "Service-linked roles")."""
    with suppress(ClientError):  # there is one already
        it.call("iam", "create_service_linked_role", {"AWSServiceName": _SERVICE})
    path = f"role/aws-service-role/{_SERVICE}/AWSServiceRoleForBatch"
    return it.where.arn("iam", path, region="")


def _queue(it: Resource) -> dict[str, Any]:
    return {"State": it.get("State", "ENABLED")}


def _retag() -> Any:
    return tagger("batch", "tag_resource", "untag_resource", lambda it: {"ResourceArn": it.id})


def _forget_definition(it: Resource) -> None:
    if not (it.get("ResourceRetentionPolicy") or {}).get("SkipDeregisterOnUpdate"):
        BATCH.forget("deregister_job_definition", lambda it: {"JobDefinition": it.id})(it)


def _revised() -> frozenset[str]:
    """Return the properties of which a change is the next revision, under an ARN of its own."""
    facts = facts_of(_DEFINITION)
    return facts.properties - set(_KEPT) if facts else frozenset()


TYPES = (
    ResourceType(
        name="AWS::Batch::ComputeEnvironment",
        create=BATCH.apply("create_compute_environment", lambda it: {"Type": it["Type"].upper(), **_environment(it)}),
        identity=answer("computeEnvironmentArn"),
        update=BATCH.apply(
            "update_compute_environment",
            lambda it: {"ComputeEnvironment": it.id, **_environment(it)},
            but=("Context", "UnmanagedvCpus", "UpdatePolicy"),
        ),
        retag=_retag(),
        delete=BATCH.forget("delete_compute_environment", lambda it: {"ComputeEnvironment": it.id}),
        read=BATCH.read(
            "describe_compute_environments",
            lambda it: {"ComputeEnvironments": [it.id]},
            "computeEnvironments[0].{State: state}",
        ),
        attributes={"ComputeEnvironmentArn": identity},
        named=Name(property="ComputeEnvironmentName", limit=128),
    ),
    ResourceType(
        name="AWS::Batch::JobQueue",
        create=BATCH.apply("create_job_queue", _queue),
        identity=answer("jobQueueArn"),
        update=BATCH.apply(
            "update_job_queue",
            lambda it: {"JobQueue": it.id, **_queue(it)},
            but=("JobStateTimeLimitActions", "ServiceEnvironmentOrder"),
        ),
        retag=_retag(),
        delete=BATCH.forget("delete_job_queue", lambda it: {"JobQueue": it.id}),
        read=BATCH.read(
            "describe_job_queues",
            lambda it: {"JobQueues": [it.id]},
            "jobQueues[0].{State: state, Priority: priority}",
        ),
        attributes={"JobQueueArn": identity},
        named=Name(property="JobQueueName", limit=128),
    ),
    ResourceType(
        name=_DEFINITION,
        create=BATCH.apply("register_job_definition"),
        identity=answer("jobDefinitionArn"),
        retag=_retag(),
        delete=_forget_definition,
        read=BATCH.read(
            "describe_job_definitions",
            lambda it: {"JobDefinitions": [it.id]},
            "jobDefinitions[?status=='ACTIVE'] | [0].{Type: type}",
        ),
        attributes={"JobDefinitionArn": identity},
        named=Name(property="JobDefinitionName", limit=128),
        revised=True,
        replace_also=_revised(),
    ),
)
