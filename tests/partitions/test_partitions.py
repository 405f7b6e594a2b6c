"""Partitions and their domains are botocore's."""

import botocore.session
import pytest

from cdk_trainyard.partitions import domain_of, partition_of, region_at
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


@pytest.mark.parametrize(
    ("place", "region"),
    [
        ("Frankfurt", "eu-central-1"),
        ("EU (Frankfurt)", "eu-central-1"),
        ("US East (N. Virginia)", "us-east-1"),
        ("US West (Oregon)", "us-west-2"),
        ("tokyo", "ap-northeast-1"),
        ("S\u00e3o Paulo", "sa-east-1"),
        ("Z\u00fcrich", "eu-central-2"),
        ("Canada", None),
        ("us-west", None),
        ("us-west-3", None),
        ("", None),
    ],
)
def test_a_place_in_words_is_one_region_or_none(place: str, region: str | None) -> None:
    assert region_at(place) == region


def test_partitions_are_generated() -> None:
    assert generate_partitions.OUTPUT.read_text() == generate_partitions.text()
