"""Step Functions: state machines, as CDK's provider framework defines them."""

import json
from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, given, identity

MACHINES = Api("stepfunctions")


def _definition(it: Resource) -> dict[str, Any]:
    text = it.get("DefinitionString") or json.dumps(it.get("Definition") or {})
    for name, value in (it.get("DefinitionSubstitutions") or {}).items():
        text = text.replace(f"${{{name}}}", str(value))
    return {"Definition": text}


def _machine(it: Resource) -> dict[str, Any]:
    return {"Name": it["StateMachineName"], "Type": it.get("StateMachineType", "STANDARD"), **_definition(it)}


TYPES = (
    ResourceType(
        name="AWS::StepFunctions::StateMachine",
        create=MACHINES.apply("create_state_machine", _machine, but=("Definition",)),
        identity=answer("stateMachineArn"),
        update=MACHINES.apply(
            "update_state_machine", lambda it: {"StateMachineArn": it.id, **_definition(it)}, but=("Definition",)
        ),
        delete=MACHINES.forget("delete_state_machine", lambda it: {"StateMachineArn": it.id}),
        read=MACHINES.read("describe_state_machine", lambda it: {"StateMachineArn": it.id}),
        attributes={"Arn": identity, "Name": given("StateMachineName")},
        named=Name(property="StateMachineName", limit=80),
    ),
)
