"""DynamoDB, where a stream that was switched off can be switched on again, and a tag has one value."""

from typing import Any

from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table

from cdk_trainyard.local.services.api import replace

_change_stream, _tag = DynamoDBBackend.update_table_streams, DynamoDBBackend.tag_resource


def _streams(self: DynamoDBBackend, table: Table, stream_specification: dict[str, Any]) -> None:
    """Forget the stream that was switched off, by which moto takes a table to have one."""
    if not (table.stream_specification or {}).get("StreamEnabled"):
        table.latest_stream_label = None
    _change_stream(self, table, stream_specification)


def _tagged(self: DynamoDBBackend, arn: str, tags: dict[str, str]) -> None:
    """Give tags the values that they have now, to which moto adds."""
    self.untag_resource(arn, list(tags))
    _tag(self, arn, tags)


def extend() -> None:
    """Correct moto's DynamoDB."""
    replace(DynamoDBBackend, {"tag_resource": _tagged, "update_table_streams": _streams})
