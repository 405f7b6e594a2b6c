"""CDK's ``BucketDeployment``, done in Python.

CDK's own handler is Python, too, but it calls the ``aws`` command of a Lambda layer, which is no part of this project;
what it does with ``aws s3 sync`` is done here with S3's API.
"""

import io
import json
import mimetypes
import zipfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Any
from uuid import uuid4

from cdk_trainyard.local.custom_resources.request import Answer, Request

_OWNER_TAG = "aws-cdk:cr-owned"
_SYSTEM_METADATA = {
    "content-type": "ContentType",
    "content-encoding": "ContentEncoding",
    "content-language": "ContentLanguage",
    "content-disposition": "ContentDisposition",
    "cache-control": "CacheControl",
    "expires": "Expires",
    "storage-class": "StorageClass",
    "sse": "ServerSideEncryption",
    "sse-kms-key-id": "SSEKMSKeyId",
    "website-redirect": "WebsiteRedirectLocation",
    "acl": "ACL",
}


def bucket_deployment(request: Request) -> Answer:
    """Unpack the sources into the bucket; on deletion, remove what is there unless it is to be kept."""
    bucket, prefix = _destination(request.properties)
    keep = request.flag("RetainOnDelete", default=True)
    if request.kind == "Delete":
        if not keep and not _owned_by_another(request, bucket, prefix):
            _empty(request, bucket, prefix)
        return Answer()
    if request.kind == "Update" and not keep and _destination(request.previous) != (bucket, prefix):
        _empty(request, *_destination(request.previous))
    written = set(_deploy(request, bucket, prefix))
    if request.flag("Prune", default=True):
        _prune(request, bucket, prefix, written)
    keys = request.properties["SourceObjectKeys"] if request.flag("OutputObjectKeys", default=True) else []
    data = {"DestinationBucketArn": request.properties.get("DestinationBucketArn"), "SourceObjectKeys": keys}
    return Answer(physical_id=request.physical_id or f"aws.cdk.s3deployment.{uuid4()}", data=data)


def _destination(properties: Mapping[str, Any]) -> tuple[str, str]:
    prefix = str(properties.get("DestinationBucketKeyPrefix", "")).strip("/")
    return properties["DestinationBucketName"], f"{prefix}/" if prefix else ""


def _deploy(request: Request, bucket: str, prefix: str) -> Iterator[str]:
    s3, metadata = request.client("s3"), _metadata(request.properties)
    for name, data in _files(request):
        if _passes(name, request.properties):
            key = f"{prefix}{name}"
            guessed = mimetypes.guess_type(name)[0] or "binary/octet-stream"
            s3.put_object(**{"Bucket": bucket, "Key": key, "Body": data, "ContentType": guessed, **metadata})
            yield key


def _files(request: Request) -> Iterator[tuple[str, bytes]]:
    """Yield every file of every source, with its markers replaced."""
    s3, properties = request.client("s3"), request.properties
    sources = zip(properties["SourceBucketNames"], properties["SourceObjectKeys"], strict=True)
    markers = properties.get("SourceMarkers") or []
    settings = properties.get("SourceMarkersConfig") or []
    for index, (bucket, key) in enumerate(sources):
        body: bytes = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        replacements = _replacements(
            markers[index] if index < len(markers) else {}, settings[index] if index < len(settings) else {}
        )
        for name, data in _unpacked(key, body, extract=request.flag("Extract", default=True)):
            for marker, value in replacements.items():
                data = data.replace(marker, value)  # noqa: PLW2901  one replacement after the other
            yield name, data


def _unpacked(key: str, body: bytes, *, extract: bool) -> Iterator[tuple[str, bytes]]:
    if not extract:
        yield PurePosixPath(key).name, body
        return
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        for name in archive.namelist():
            if not name.endswith("/"):
                yield name, archive.read(name)


def _replacements(markers: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[bytes, bytes]:
    escaped = str(settings.get("jsonEscape", "")).lower() == "true"
    values = {marker: json.dumps(value)[1:-1] if escaped else str(value) for marker, value in markers.items()}
    return {marker.encode(): value.encode() for marker, value in values.items()}


def _passes(name: str, properties: Mapping[str, Any]) -> bool:
    """Return whether ``aws s3 sync --exclude … --include …`` would copy ``name``: the last filter that matches wins."""
    filters = [(pattern, False) for pattern in properties.get("Exclude") or []]
    filters += [(pattern, True) for pattern in properties.get("Include") or []]
    verdicts = [passes for pattern, passes in filters if fnmatch(name, pattern)]
    return verdicts[-1] if verdicts else True


def _metadata(properties: Mapping[str, Any]) -> dict[str, Any]:
    system = {key.lower(): value for key, value in (properties.get("SystemMetadata") or {}).items()}
    user = {key.lower(): value for key, value in (properties.get("UserMetadata") or {}).items()}
    named = {_SYSTEM_METADATA[key]: value for key, value in system.items() if key in _SYSTEM_METADATA}
    return {**named, **({"Metadata": user} if user else {})}


def _prune(request: Request, bucket: str, prefix: str, written: set[str]) -> None:
    """Delete what was not written just now; like the CLI, leave alone what the filters exclude."""
    s3 = request.client("s3")
    for key in _keys(request, bucket, prefix):
        if key not in written and _passes(key.removeprefix(prefix), request.properties):
            s3.delete_object(Bucket=bucket, Key=key)


def _empty(request: Request, bucket: str, prefix: str) -> None:
    s3 = request.client("s3")
    for key in _keys(request, bucket, prefix):
        s3.delete_object(Bucket=bucket, Key=key)


def _keys(request: Request, bucket: str, prefix: str) -> list[str]:
    pages = request.client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return [row["Key"] for page in pages for row in page.get("Contents", [])]


def _owned_by_another(request: Request, bucket: str, prefix: str) -> bool:
    """Return whether the bucket's tags say that a newer deployment owns the files."""
    tag = f"{_OWNER_TAG}:{prefix.strip('/')}" if prefix else _OWNER_TAG
    s3 = request.client("s3")
    try:
        found = s3.get_bucket_tagging(Bucket=bucket)["TagSet"]
    except s3.exceptions.ClientError:
        return False
    return any(row["Key"].startswith(tag) for row in found)
