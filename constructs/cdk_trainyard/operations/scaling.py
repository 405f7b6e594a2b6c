"""Activities of Auto Scaling groups."""

from collections.abc import Iterator

from cdk_trainyard.account import Answer, Call
from cdk_trainyard.operations.timeline import Event


def activities(group: str) -> Call:
    """Return the call that tells what a group has done in the last six weeks.

    Args:
        group: Its name.
    """
    return Call("autoscaling", "DescribeScalingActivities", {"AutoScalingGroupName": group})


def events(answer: Answer) -> Iterator[Event]:
    """Yield the activities of a group as events.

    Args:
        answer: What Auto Scaling said.
    """
    for row in answer.items("Activities"):
        message = row.get("StatusMessage", "")
        yield Event(
            at=row["StartTime"],
            source="Auto Scaling",
            subject=row["AutoScalingGroupName"],
            text=f"{row['Description']}: {message}" if message else row["Description"],
            failed=row["StatusCode"] == "Failed",
        )
