"""What moto reads when it is asked for, and not when it is imported."""

import json
import subprocess
import sys
from importlib import import_module

import pytest
from botocore.exceptions import ClientError
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS

from cdk_trainyard.local import LocalAws


@pytest.mark.parametrize(
    ("kind", "place"),
    [("region", "us-west-2"), ("availability-zone", "us-west-2a"), ("availability-zone-id", "usw2-az2")],
)
def test_offers_are_those_of_the_region(aws: LocalAws, kind: str, place: str) -> None:
    asked = {"LocationType": kind, "Filters": [{"Name": "location", "Values": [place]}]}
    rows = aws.client("ec2", "us-west-2").describe_instance_type_offerings(**asked)["InstanceTypeOfferings"]
    assert {(row["LocationType"], row["Location"]) for row in rows} == {(kind, place)}
    assert "p4d.24xlarge" in {row["InstanceType"] for row in rows}


def test_a_region_that_is_not_known_offers_nothing() -> None:
    offers = INSTANCE_TYPE_OFFERINGS["region"]
    assert offers.get("nowhere") is None
    assert offers.get("nowhere", []) == []
    with pytest.raises(KeyError, match="nowhere"):
        offers["nowhere"]


def test_documents_of_openapi_are_looked_at(aws: LocalAws) -> None:
    client = aws.client("apigateway", "eu-west-3")
    wrong = {"openapi": "3.0.0", "paths": {}}
    right = json.dumps({**wrong, "info": {"title": "mine", "version": "1", "description": "x"}})
    for _ in range(2):  # the first is looked at by what stands in for the rest
        with pytest.raises(ClientError, match="'info' is a required property"):
            client.import_rest_api(failOnWarnings=True, body=json.dumps(wrong))
        assert client.import_rest_api(failOnWarnings=True, body=right)["name"] == "mine"


def test_what_stands_in_is_gone() -> None:
    assert import_module("openapi_spec_validator").__spec__


@pytest.mark.programs
def test_what_was_imported_before_stays() -> None:
    text = (
        "import openapi_spec_validator as found, cdk_trainyard.local, sys; assert found is sys.modules[found.__name__]"
    )
    subprocess.run([sys.executable, "-P", "-c", text], check=True)
