"""The model bucket, through the aws CLI: what is there, and putting what is missing. Nothing is listed or deleted.

A prefix is written once. ``config.json`` comes after the weights, without which no engine takes a model, and the
manifest comes last; it is put only where none is. Every object goes up with its SHA-256, which S3 checks and keeps.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from model_export import ExportError, TemporaryError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MANIFEST = "trainyard-manifest.json"
LARGEST_PUT = 5 * 1024**3
"""Bytes of an object that S3 takes in one piece; more pieces would need more rights and have another sum."""


_FINAL = (
    "400", "AccessDenied", "AllAccessDisabled", "ExpiredToken", "InvalidAccessKeyId", "InvalidBucketName",
    "KMS.DisabledException", "KMS.NotFoundException", "NoSuchBucket", "PermanentRedirect", "SignatureDoesNotMatch",
)  # fmt: skip
"""Errors of S3 that are the same the next time."""


class TakenError(ExportError):
    """There is a manifest already."""


@dataclass(frozen=True)
class Target:
    """A prefix of a bucket.

    Attributes:
        bucket: Its name.
        prefix: With its slash, as ``"models/llama-2-7b/"``.
        owner: Account that must own the bucket; None when any may.
    """

    bucket: str
    prefix: str
    owner: str | None = None

    @classmethod
    def parse(cls, uri: str, owner: str | None) -> Target:
        """Return the target of ``s3://BUCKET/PREFIX``.

        Raises:
            ExportError: It is none.
        """
        bucket, _, prefix = uri.removeprefix("s3://").partition("/")
        prefix = prefix.strip("/")
        if not uri.startswith("s3://") or not bucket or not prefix or "//" in prefix:
            raise ExportError(f"'--to' must be s3://BUCKET/PREFIX, and never the whole bucket, got {uri!r}")
        if owner is not None and not (owner.isdecimal() and len(owner) == 12):  # noqa: PLR2004  account numbers
            raise ExportError(f"'--bucket-owner' must be an account number of 12 digits, got {owner!r}")
        return cls(bucket, f"{prefix}/", owner)

    @property
    def uri(self) -> str:
        """As it is written."""
        return f"s3://{self.bucket}/{self.prefix}"


class Bucket:
    """Objects below a prefix."""

    def __init__(self, target: Target, say: Callable[[str], None]) -> None:
        self._target, self._say = target, say
        self._environment = {"AWS_RETRY_MODE": "standard", "AWS_MAX_ATTEMPTS": "6", **os.environ, "AWS_PAGER": ""}

    def upload(
        self, directory: Path, names: Sequence[str], sums: Mapping[str, str], manifest: Mapping[str, Any]
    ) -> None:
        """Put files that are not there, in this order, look at all of them, and put the manifest.

        Raises:
            ExportError: Another model is there, or the bucket refuses.
        """
        document = json.dumps(
            {**manifest, "files": {name: self._facts(directory, name, sums) for name in names}}, indent=2
        )
        if self._is_there(document):
            self._say(f"{self._target.uri} has this model already")
            return
        for name in names:
            if self._has(name, sums[name]):
                self._say(f"{name}: there already")
            else:
                self._put(directory / name, name, sums[name])
                self._say(f"{name}: uploaded")
        if wrong := [name for name in names if not self._has(name, sums[name])]:
            raise ExportError(f"{self._target.uri} has another {', '.join(wrong)}: something else writes there")
        path = directory / MANIFEST
        path.write_text(document, encoding="utf-8")
        try:
            self._put(path, MANIFEST, None, "--if-none-match", "*")
        except TakenError:  # by somebody else, or by a try of ours whose answer was lost
            if not self._is_there(document):
                raise
        self._say(f"{self._target.uri} is complete: {len(names)} files")

    def _facts(self, directory: Path, name: str, sums: Mapping[str, str]) -> dict[str, Any]:
        return {"bytes": (directory / name).stat().st_size, "sha256": sums[name]}

    def _is_there(self, document: str) -> bool:
        """Tell whether the prefix has this model; another one is refused."""
        if self._head(MANIFEST) is None:
            return False
        with TemporaryDirectory() as directory:
            path = Path(directory) / MANIFEST
            self._aws("get-object", MANIFEST, str(path))
            there = json.loads(path.read_text(encoding="utf-8"))
        if there != json.loads(document):
            raise ExportError(f"{self._target.uri} has another model already; a prefix is written once, take another")
        return True

    def _has(self, name: str, sha256: str) -> bool:
        found = self._head(name)
        return found is not None and found.get("ChecksumSHA256") == _base64(sha256)

    def _head(self, name: str) -> dict[str, Any] | None:
        done = self._run("head-object", name, "--checksum-mode", "ENABLED")
        if done.returncode == 0:
            return dict(json.loads(done.stdout))
        if "(404)" in done.stderr:
            return None
        if "(403)" in done.stderr:
            raise ExportError(
                f"{self._target.uri} cannot be looked at: the role needs s3:GetObject and s3:PutObject below the "
                "prefix, s3:ListBucket with it, and the bucket's key; without s3:ListBucket S3 does not say that an "
                f"object is missing ({done.stderr.strip()})"
            )
        raise _error(f"{self._target.uri}{name} cannot be looked at: {done.stderr.strip()}")

    def _put(self, path: Path, name: str, sha256: str | None, *options: str) -> None:
        size = path.stat().st_size
        if size > LARGEST_PUT:
            raise ExportError(f"{name} must have at most {LARGEST_PUT} bytes, has {size}; use a smaller '--file-gib'")
        check = ["--checksum-algorithm", "SHA256"]
        if sha256 is not None:
            check += ["--checksum-sha256", _base64(sha256)]
        self._aws("put-object", name, "--body", str(path), *check, *options)

    def _aws(self, action: str, name: str, *options: str) -> None:
        done = self._run(action, name, *options)
        if done.returncode:
            raise _error(f"aws s3api {action} of {self._target.uri}{name} failed: {done.stderr.strip()}")

    def _run(self, action: str, name: str, *options: str) -> subprocess.CompletedProcess[str]:
        owner = ["--expected-bucket-owner", self._target.owner] if self._target.owner else []
        words = ["aws", "s3api", action, "--bucket", self._target.bucket, "--key", f"{self._target.prefix}{name}",
                 *owner, "--output", "json", *options]  # fmt: skip
        try:
            return subprocess.run(words, env=self._environment, capture_output=True, text=True, check=False)  # noqa: S603
        except FileNotFoundError as error:
            raise ExportError("the aws CLI must be installed where this runs, and is not") from error


def _error(text: str) -> ExportError:
    """Return what a failure of the aws CLI is: refused for good, taken, or worth another try."""
    if "(PreconditionFailed)" in text or "(412)" in text:
        return TakenError(text)
    kind = ExportError if any(f"({code})" in text for code in _FINAL) or "Unknown options" in text else TemporaryError
    return kind(text)


def _base64(sha256: str) -> str:
    return base64.b64encode(bytes.fromhex(sha256)).decode()
