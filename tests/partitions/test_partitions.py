"""Partitions and their domains are botocore's."""

import botocore.session
import pytest

from cdk_trainyard.partitions import domain_of, partition_of
from tools import generate_partitions


@pytest.mark.parametrize(
    "partition", ["aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f", "aws-eusc"]
)
def test_partitions_are_those_of_botocore(partition: str) -> None:
    data = botocore.session.get_session().get_component("data_loader").load_data("partitions")
    [found] = [entry for entry in data["partitions"] if entry["id"] == partition]
    regions = [region for region in found["regions"] if not region.startswith("aws-")]
    assert regions
    assert {partition_of(region) for region in regions} == {partition}
    assert {domain_of(region) for region in regions} == {found["outputs"]["dnsSuffix"]}


def test_partitions_are_generated() -> None:
    assert generate_partitions.OUTPUT.read_text() == generate_partitions.text()
