"""What stand-ins stand for."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs

from cdk_trainyard.options.stand_ins import Removal, Retention, Span
from cdk_trainyard.real import REMOVAL, RETENTION, real


def test_every_retention_and_removal_that_a_file_can_say_is_one_of_cdk() -> None:
    assert set(RETENTION) == set(Retention.kind.values)
    assert set(RETENTION.values()) == set(logs.RetentionDays) - {logs.RetentionDays.INFINITE}
    assert set(REMOVAL) == set(Removal.kind.values)


def test_stand_ins_become_objects_and_the_rest_stays() -> None:
    retention: object = real(Retention(90))
    removal: object = real(Removal("DESTROY"))
    assert retention is logs.RetentionDays.THREE_MONTHS
    assert removal is RemovalPolicy.DESTROY
    assert real(Span(300)).to_seconds() == 300
    assert real("text") == "text"
