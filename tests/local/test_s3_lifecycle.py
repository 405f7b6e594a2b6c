"""S3 lifecycle rules, from CloudFormation's words to the API's."""

from typing import Any

import pytest

from cdk_trainyard.local.resources.s3_lifecycle import lifecycle


@pytest.mark.parametrize(
    ("rule", "converted"),
    [
        ({}, {"Filter": {"Prefix": ""}}),
        ({"Prefix": "a/"}, {"Filter": {"Prefix": "a/"}}),
        ({"TagFilters": [{"Key": "k", "Value": "v"}]}, {"Filter": {"Tag": {"Key": "k", "Value": "v"}}}),
        (
            {"Prefix": "a/", "TagFilters": [{"Key": "k", "Value": "v"}]},
            {"Filter": {"And": {"Prefix": "a/", "Tags": [{"Key": "k", "Value": "v"}]}}},
        ),
        ({"ObjectSizeGreaterThan": "10"}, {"Filter": {"ObjectSizeGreaterThan": 10}}),
        ({"ExpirationInDays": "3"}, {"Filter": {"Prefix": ""}, "Expiration": {"Days": 3}}),
        (
            {"ExpiredObjectDeleteMarker": "true"},
            {"Filter": {"Prefix": ""}, "Expiration": {"ExpiredObjectDeleteMarker": True}},
        ),
        (
            {"NoncurrentVersionExpirationInDays": 3},
            {"Filter": {"Prefix": ""}, "NoncurrentVersionExpiration": {"NoncurrentDays": 3}},
        ),
        (
            {"NoncurrentVersionExpiration": {"NoncurrentDays": 3, "NewerNoncurrentVersions": 2}},
            {
                "Filter": {"Prefix": ""},
                "NoncurrentVersionExpiration": {"NoncurrentDays": 3, "NewerNoncurrentVersions": 2},
            },
        ),
        (
            {"Transition": {"StorageClass": "GLACIER", "TransitionInDays": 9}},
            {"Filter": {"Prefix": ""}, "Transitions": [{"StorageClass": "GLACIER", "Days": 9}]},
        ),
        (
            {"NoncurrentVersionTransitions": [{"StorageClass": "GLACIER", "TransitionInDays": 9}]},
            {
                "Filter": {"Prefix": ""},
                "NoncurrentVersionTransitions": [{"StorageClass": "GLACIER", "NoncurrentDays": 9}],
            },
        ),
        (
            {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}},
            {"Filter": {"Prefix": ""}, "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}},
        ),
    ],
)
def test_rule(rule: dict[str, Any], converted: dict[str, Any]) -> None:
    found = lifecycle({"Rules": [{"Id": "one", "Status": "Enabled", **rule}]})
    assert found == {"Rules": [{"ID": "one", "Status": "Enabled", **converted}]}
