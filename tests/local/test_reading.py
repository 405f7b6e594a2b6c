"""What moto reads when it is asked for, and not when it is imported."""

import pytest
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
