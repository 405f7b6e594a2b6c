"""RDS: instances, subnet groups, parameter groups."""

from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, given, tagger

RDS = Api("rds")
_NOT_CHANGED = ("DBSecurityGroups", "EnableCloudwatchLogsExports", "Port", "Tags")


def _instance(it: Resource) -> dict[str, Any]:
    return {"VpcSecurityGroupIds": it.get("VPCSecurityGroups", [])}


def _changes(it: Resource) -> dict[str, Any]:
    return {**_instance(it), "ApplyImmediately": True}


def _deletion(it: Resource) -> dict[str, Any]:
    return {"DBInstanceIdentifier": it.id, "SkipFinalSnapshot": True}


def _arn(kind: str) -> Any:
    return lambda it: it.where.arn("rds", f"{kind}:{it.id}")


def _parameters(it: Resource) -> None:
    rows = [
        {"ParameterName": name, "ParameterValue": value, "ApplyMethod": "pending-reboot"}
        for name, value in (it.get("Parameters") or {}).items()
    ]
    if rows:
        it.call("rds", "modify_db_parameter_group", {"DBParameterGroupName": it.id, "Parameters": rows})


def _retag(kind: str) -> Any:
    return tagger(
        "rds", "add_tags_to_resource", "remove_tags_from_resource", lambda it: {"ResourceName": _arn(kind)(it)}
    )


TYPES = (
    ResourceType(
        name="AWS::RDS::DBInstance",
        create=RDS.apply("create_db_instance", _instance),
        identity=answer("DBInstance.DBInstanceIdentifier"),
        update=RDS.apply("modify_db_instance", _changes, but=_NOT_CHANGED),
        retag=_retag("db"),
        delete=RDS.forget("delete_db_instance", _deletion),
        read=RDS.read(
            "describe_db_instances",
            lambda it: {"DBInstanceIdentifier": it.id},
            "DBInstances[0].{DBInstanceClass: DBInstanceClass, AllocatedStorage: AllocatedStorage}",
        ),
        attributes={
            "DBInstanceArn": _arn("db"),
            "DbiResourceId": answer("DBInstance.DbiResourceId"),
            "Endpoint.Address": answer("DBInstance.Endpoint.Address"),
            "Endpoint.Port": lambda it: str(answer("DBInstance.Endpoint.Port")(it)),
            "MasterUserSecret.SecretArn": answer("DBInstance.MasterUserSecret.SecretArn"),
        },
        named=Name(property="DBInstanceIdentifier", limit=63, lower=True),
        # the schema says "under conditions": CloudFormation's provider changes engines of Oracle and Aurora in place,
        # no other (aws-cloudformation-resource-providers-rds, ImmutabilityHelper.isEngineMutable, read 2026-11)
        replace_also=frozenset({"Engine"}),
    ),
    ResourceType(
        name="AWS::RDS::DBSubnetGroup",
        create=RDS.apply("create_db_subnet_group"),
        identity=given("DBSubnetGroupName"),
        update=RDS.apply("modify_db_subnet_group"),
        retag=_retag("subgrp"),
        delete=RDS.forget("delete_db_subnet_group", lambda it: {"DBSubnetGroupName": it.id}),
        read=RDS.read("describe_db_subnet_groups", lambda it: {"DBSubnetGroupName": it.id}),
        attributes={"DBSubnetGroupArn": _arn("subgrp")},
        named=Name(property="DBSubnetGroupName", lower=True),
    ),
    ResourceType(
        name="AWS::RDS::DBParameterGroup",
        create=RDS.apply("create_db_parameter_group", lambda it: {"DBParameterGroupFamily": it["Family"]}),
        identity=given("DBParameterGroupName"),
        settle=_parameters,
        update=_parameters,
        retag=_retag("pg"),
        delete=RDS.forget("delete_db_parameter_group", lambda it: {"DBParameterGroupName": it.id}),
        read=RDS.read("describe_db_parameter_groups", lambda it: {"DBParameterGroupName": it.id}),
        attributes={"DBParameterGroupArn": _arn("pg")},
        named=Name(property="DBParameterGroupName", lower=True),
    ),
)
