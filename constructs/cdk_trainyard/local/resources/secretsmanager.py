"""Secrets Manager: secrets, what they are attached to, their rotation and policies."""

import json
from collections.abc import Callable
from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, given, identity, nothing, tagger

SECRETS = Api("secretsmanager")


def _value(it: Resource) -> dict[str, Any]:
    """Return the secret's text: as given, or made up as ``GenerateSecretString`` wants it."""
    if "SecretString" in it:
        return {"SecretString": it["SecretString"]}
    wanted = dict(it.get("GenerateSecretString") or {})
    template, key = wanted.pop("SecretStringTemplate", None), wanted.pop("GenerateStringKey", None)
    password = it.call("secretsmanager", "get_random_password", wanted)["RandomPassword"]
    return {"SecretString": json.dumps({**json.loads(template), key: password}) if template else password}


def _update(it: Resource) -> None:
    described = it.pick("Description", "KmsKeyId")
    regenerate = it.changed("SecretString") or it.changed("GenerateSecretString")
    it.call("secretsmanager", "update_secret", {"SecretId": it.id, **described, **(_value(it) if regenerate else {})})


def _instance(it: Resource) -> dict[str, Any]:
    found = it.call("rds", "describe_db_instances", {"DBInstanceIdentifier": it["TargetId"]})["DBInstances"][0]
    return {
        "engine": found["Engine"],
        "host": found["Endpoint"]["Address"],
        "port": found["Endpoint"]["Port"],
        "dbInstanceIdentifier": found["DBInstanceIdentifier"],
        **({"dbname": found["DBName"]} if found.get("DBName") else {}),
    }


def _cluster(it: Resource) -> dict[str, Any]:
    found = it.call("rds", "describe_db_clusters", {"DBClusterIdentifier": it["TargetId"]})["DBClusters"][0]
    names = {"Engine": "engine", "Endpoint": "host", "Port": "port", "DBClusterIdentifier": "dbClusterIdentifier"}
    return {mine: found[theirs] for theirs, mine in names.items()}


_TARGETS: dict[str, Callable[[Resource], dict[str, Any]]] = {
    "AWS::RDS::DBInstance": _instance,
    "AWS::RDS::DBCluster": _cluster,
}


def _attach(it: Resource) -> dict[str, Any]:
    """Write where the database is into the secret, as the attachment does."""
    secret = {"SecretId": it["SecretId"]}
    old = json.loads(it.call("secretsmanager", "get_secret_value", secret)["SecretString"])
    connection = _TARGETS[it["TargetType"]](it)
    it.call("secretsmanager", "put_secret_value", {**secret, "SecretString": json.dumps({**old, **connection})})
    return secret


def _rotate(it: Resource) -> dict[str, Any]:
    """Note the schedule; the rotation function is not called."""
    it.pick("RotateImmediatelyOnUpdate")
    parameters = {**it.pick("SecretId", "RotationLambdaARN", "RotationRules"), "RotateImmediately": False}
    return it.call("secretsmanager", "rotate_secret", parameters)


TYPES = (
    ResourceType(
        name="AWS::SecretsManager::Secret",
        create=SECRETS.apply("create_secret", _value, but=("SecretString",)),
        identity=answer("ARN"),
        update=_update,
        retag=tagger("secretsmanager", "tag_resource", "untag_resource", lambda it: {"SecretId": it.id}),
        delete=SECRETS.forget("delete_secret", lambda it: {"SecretId": it.id, "ForceDeleteWithoutRecovery": True}),
        read=SECRETS.read("describe_secret", lambda it: {"SecretId": it.id}, "{Description: Description}"),
        attributes={"Id": identity},
        named=Name(property="Name", limit=128),
    ),
    ResourceType(
        name="AWS::SecretsManager::SecretTargetAttachment",
        create=_attach,
        identity=given("SecretId"),
        update=_attach,
        delete=nothing,
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::SecretsManager::RotationSchedule",
        create=_rotate,
        identity=given("SecretId"),
        update=_rotate,
        delete=SECRETS.forget("cancel_rotate_secret", lambda it: {"SecretId": it["SecretId"]}),
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::SecretsManager::ResourcePolicy",
        create=SECRETS.put("put_resource_policy"),
        identity=given("SecretId"),
        update=SECRETS.put("put_resource_policy"),
        delete=SECRETS.forget("delete_resource_policy", lambda it: {"SecretId": it["SecretId"]}),
        attributes={"Id": identity},
    ),
)
