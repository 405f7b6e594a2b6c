"""Every resource type: created, read with the service's own API, changed, deleted."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws, supported_types
from tests.local.cases import Case
from tests.local.cases_batch import CASES as BATCH
from tests.local.cases_builder import CASES as BUILDER
from tests.local.cases_compute import CASES as COMPUTE
from tests.local.cases_data import CASES as DATA
from tests.local.cases_ec2 import CASES as EC2
from tests.local.cases_functions import CASES as FUNCTIONS
from tests.local.cases_gateway import CASES as GATEWAY
from tests.local.cases_grafana import CASES as GRAFANA
from tests.local.cases_management import CASES as MANAGEMENT
from tests.local.cases_streams import CASES as STREAMS
from tests.local.stacks import Stacks, outputs_of, template

_CASES = {
    case.type: case
    for case in (*BATCH, *BUILDER, *COMPUTE, *DATA, *EC2, *FUNCTIONS, *GATEWAY, *GRAFANA, *MANAGEMENT, *STREAMS)
}
_ELSEWHERE = frozenset({"AWS::CloudFormation::Stack", "AWS::CloudFormation::CustomResource"})


def _template(case: Case, change: dict[str, Any]) -> dict[str, Any]:
    thing = {"Type": case.type, "Properties": {**case.properties, **change}}
    outputs = {
        f"A{index}": {"Fn::ToJsonString": {"value": {"Fn::GetAtt": ["Thing", name]}}}
        for index, name in enumerate(case.attributes)
    }
    return template({**case.needs, "Thing": thing}, Outputs=outputs_of(**outputs))


def _seen(case: Case, aws: LocalAws, physical_id: str) -> Any:
    try:
        return case.look(aws, physical_id)
    except ClientError:
        return None


@pytest.fixture(scope="module")
def crowd(aws: LocalAws) -> Iterator[None]:
    """Have more log groups than a page of an answer holds, before those that are tried."""
    logs = aws.client("logs")
    names = [f"0-crowd-{number}" for number in range(51)]
    for name in names:
        logs.create_log_group(logGroupName=name)
    yield
    for name in names:
        logs.delete_log_group(logGroupName=name)


@pytest.mark.usefixtures("support", "crowd")
@pytest.mark.parametrize("name", sorted(_CASES))
@pytest.mark.slow
def test_type(name: str, aws: LocalAws, stacks: Stacks) -> None:
    case = _CASES[name]
    stack = stacks.deployed(_template(case, {}))
    physical_id = stacks.physical_id(stack, "Thing")
    seen = _seen(case, aws, physical_id)
    assert seen, "the service does not know it"
    assert case.made in (None, seen)
    assert _ignored(stacks, stack, "CREATE_COMPLETE") == list(case.ignored)
    values = stacks.outputs(stack)
    assert len(values) == len(case.attributes)
    assert not [name for name, value in values.items() if value in ('{"value":null}', '{"value":""}')]
    if case.change:
        assert stacks.update(stack, _template(case, case.change)) == "UPDATE_COMPLETE", stacks.reasons(stack)
        assert stacks.physical_id(stack, "Thing") == physical_id, "replaced, not changed in place"
        assert case.changed in (None, _seen(case, aws, physical_id))
        assert _ignored(stacks, stack, "UPDATE_COMPLETE") == []
    assert stacks.delete(stack) == "DELETE_COMPLETE"
    assert case.stays or not _seen(case, aws, physical_id)


def _ignored(stacks: Stacks, stack: str, status: str) -> list[str]:
    """Return what the event of ``Thing`` says is not emulated."""
    events = [row for row in stacks.events(stack) if row["LogicalResourceId"] == "Thing"]
    reason = next(row.get("ResourceStatusReason", "") for row in events if row["ResourceStatus"] == status)
    return reason.partition(": ")[2].partition(": ")[2].split(", ") if reason else []


def test_every_supported_type_is_tried() -> None:
    assert supported_types() - _CASES.keys() - _ELSEWHERE == set()
