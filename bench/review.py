"""Measure a review: from a synthesized app to its files, by the number of resources.

``python bench/review.py [CDK.OUT…]`` reviews what it is given, and made-up apps of 50 to 500 resources: units of a
security group with a rule, an instance, a role with a policy, and a bucket, each reading the bucket of its own.
"""

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cdk_trainyard.report import write_review

TURNS = 5


def template(units: int) -> dict[str, Any]:
    """Return a template with five resources for each unit.

    Args:
        units: How many.
    """
    resources: dict[str, Any] = {}
    for number in range(units):
        group, bucket = {"Fn::GetAtt": [f"G{number}", "GroupId"]}, {"Fn::GetAtt": [f"B{number}", "Arn"]}
        rule = {"GroupId": group, "SourceSecurityGroupId": group, "IpProtocol": "-1"}
        statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": {"Fn::Join": ["", [bucket, "/*"]]}}
        policies = [{"PolicyName": "read", "PolicyDocument": {"Statement": [statement]}}]
        resources |= {
            f"G{number}": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "x"}},
            f"R{number}": {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": rule},
            f"I{number}": {"Type": "AWS::EC2::Instance", "Properties": {"SecurityGroupIds": [group]}},
            f"Role{number}": {"Type": "AWS::IAM::Role", "Properties": {"Policies": policies}},
            f"B{number}": {"Type": "AWS::S3::Bucket"},
        }
    return {"Resources": resources}


def fastest(given: Path, folder: Path) -> float:
    """Return the seconds of the fastest of some turns.

    Args:
        given: What is reviewed.
        folder: Where to write.
    """
    times = []
    for _ in range(TURNS):
        start = time.perf_counter()
        write_review(given, folder)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print seconds and the size of the page."""
    with TemporaryDirectory() as directory:
        given = [Path(each) for each in sys.argv[1:]]
        for units in (10, 25, 50, 100):
            file = Path(directory) / f"{units * 5}-resources.json"
            file.write_text(json.dumps(template(units)), encoding="utf-8")
            given.append(file)
        for each in given:
            taken = fastest(each, Path(directory) / "out")
            size = (Path(directory) / "out" / "review.html").stat().st_size
            print(f"{each.name:34} {taken:6.3f} s {size / 1024:8.0f} KiB")


if __name__ == "__main__":
    main()
