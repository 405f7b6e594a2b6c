"""Files on their way to a node: through sessions while they are small, above that by a bucket of the deployment.

Sources: botocore's models of SSM and S3; Amazon S3 user guide, "Sharing objects with presigned URLs" (whoever has the
URL reads the object until it ends, with the rights of who signed it; objects that KMS encrypts want Signature Version
4) and "Uploading objects" (5 GB in one request); read 2026-11.
"""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Self

from cdk_trainyard.account import Account, Call
from cdk_trainyard.operations.deployed import Deployed
from cdk_trainyard.operations.protocol import OperationError

MOST_BY_SESSIONS_BYTES: Final = 2 * 2**20
MOST_BY_BUCKET_BYTES: Final = 256 * 2**20
"""What is packed, sent and unpacked while somebody waits; S3 would take 5 GB at once."""
_PART_BYTES: Final = 32 * 2**10
"""What a session's command takes: it is written in base64 twice, and may be 65,535 characters long."""
_OUTPUT: Final = "DatasetsBucket"
"""The output of the storage stack that names the bucket."""
_FOLDER: Final = "trainyard-jobs/"
_READABLE_SECONDS: Final = 900


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """A bucket that files pass through on their way to a node.

    Attributes:
        account: The account.
        name: The bucket's name.
    """

    account: Account
    name: str

    @classmethod
    def of(cls, account: Account, deployed: Deployed) -> Self | None:
        """Return the bucket of a deployment's datasets; None: it has none of its own.

        Args:
            account: The account.
            deployed: The deployment.
        """
        storage = deployed.stacks.get("storage")
        name = storage.outputs.get(_OUTPUT, "") if storage else ""
        return cls(account=account, name=name) if name else None

    @contextmanager
    def lent(self, name: str, data: bytes) -> Iterator[str]:
        """Put an object into the bucket during a block, with a URL by which a node reads it without rights of its own.

        Args:
            name: Its name.
            data: What it holds.

        Raises:
            OperationError: The bucket does not take it, or keeps it.
        """
        place = {"Bucket": self.name, "Key": f"{_FOLDER}{name}"}
        self._ask("PutObject", place | {"Body": data, "ChecksumAlgorithm": "SHA256"})
        try:
            client = self.account.client("s3")
            yield client.generate_presigned_url("get_object", Params=place, ExpiresIn=_READABLE_SECONDS)
        finally:
            self._ask("DeleteObject", place)

    def _ask(self, operation: str, parameters: dict[str, Any]) -> None:
        call = Call("s3", operation, parameters)
        if refusal := self.account.ask(call).refusal:
            raise OperationError(
                f"s3://{self.name}/{parameters['Key']}: {refusal}; more than {MOST_BY_SESSIONS_BYTES >> 20} MiB go by "
                f"this bucket, which needs {call.permission}, and the use of its key"
            )


def parts(data: bytes, path: str) -> Iterator[str]:
    """Yield lines for a shell that write a file, one session's worth each.

    Args:
        data: The file.
        path: Where it is written, as a word of the shell.
    """
    for first in range(0, len(data), _PART_BYTES):
        part = base64.b64encode(data[first : first + _PART_BYTES]).decode()
        yield f"umask 077; echo {part} | base64 -d >> {path}"


def fetched(url: str, path: str) -> str:
    """Return a line for a shell that writes a file from a URL.

    Args:
        url: The URL.
        path: Where it is written, as a word of the shell.
    """
    return f"umask 077; curl --fail --silent --show-error --retry 3 --output {path} '{url}' 2>&1"
