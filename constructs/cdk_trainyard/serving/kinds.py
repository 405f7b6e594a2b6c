"""Kinds of values that options of serving alone have. No CDK."""

from typing import Annotated, Any, Final

from cdk_trainyard.options.kinds import Environment, Text
from cdk_trainyard.options.texts import BUCKET_FOLDER
from cdk_trainyard.problems import Flaw, shown

_ARCHIVES: Final = (".tar.gz", ".tgz", ".tar", ".zip")
_S3: Final = "s3://"


class FolderName(Text):
    """A folder of a bucket."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Say of an archive that it is none, of a path what it is, and of an address in S3 where its parts stand."""
        must, remedy = "must be a folder of the bucket", ""
        bucket, _, folder = value.removeprefix(_S3).partition("/")
        if value.endswith(_ARCHIVES):
            remedy = "; nothing unpacks an archive: put what is in it into a folder, and name that"
        elif value.startswith("/") and not Text.problem(self, value.lstrip("/"), environment):
            remedy = f"; write {value.lstrip('/')}: it is how keys of the bucket begin, and no path of a node"
        elif value.startswith(_S3) and not Text.problem(self, folder, environment):
            where = f"the bucket {bucket} stands apart, in a file as 'bucket_name' of 'models' in 'storage.buckets'"
            remedy = f"; write {folder}; {where}"
        return Flaw(must, got=shown(value), remedy=remedy) if remedy else Text.problem(self, value, environment)


Folder = Annotated[
    str,
    FolderName(
        pattern=rf"{BUCKET_FOLDER}(/{BUCKET_FOLDER})*/?",
        words="a folder of the bucket, without 's3://' and its name, of letters, digits and any of !_.()=- between "
        "single slashes",
        example="llama-3.1-8b/",
        longest=512,
    ),
]
"""Without ``*`` and ``'``: it stands unquoted in a line of /etc/fstab, in policies and in a URL."""
