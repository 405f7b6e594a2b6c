"""Stand-in for the aws CLI: the three commands of s3api that the job uses, with their options and no others.

It speaks to AWS_ENDPOINT_URL in S3's own requests. What S3 does and the local AWS does not is done here: one whose
SHA-256 is not the given one is refused. Calls are recorded in the file that AWS_CALLS names; what AWS_FAULT names
fails: ``put-object KEY-ENDING CODE TIMES``. The little of the standard library that starts quickly, and no more: it is
started for every call.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, urlsplit

OPTIONS = {
    "head-object": ["--checksum-mode"],
    "get-object": [],
    "put-object": ["--body", "--checksum-algorithm", "--checksum-sha256", "--if-none-match"],
}
HEADERS = {
    "checksum_algorithm": "x-amz-sdk-checksum-algorithm", "checksum_sha256": "x-amz-checksum-sha256",
    "checksum_mode": "x-amz-checksum-mode", "if_none_match": "If-None-Match",
    "expected_bucket_owner": "x-amz-expected-bucket-owner",
}  # fmt: skip
ANSWERS = {"x-amz-checksum-sha256": "ChecksumSHA256", "content-length": "ContentLength", "etag": "ETag"}


def fail(code, operation, message):
    print(f"\nAn error occurred ({code}) when calling the {operation} operation: {message}", file=sys.stderr)
    sys.exit(254)


def main():
    words = sys.argv[1:]
    with Path(os.environ["AWS_CALLS"]).open("a") as calls:
        calls.write(json.dumps(words) + "\n")
    assert words[0] == "s3api"
    action = words[1]
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("--bucket", "--key", "--expected-bucket-owner", "--output", *OPTIONS[action]):
        parser.add_argument(name)
    if action == "get-object":
        parser.add_argument("outfile")
    chosen = vars(parser.parse_args(words[2:]))
    operation = "".join(part.title() for part in action.split("-"))
    injected(action, chosen["key"], operation)
    body = b""
    if action == "put-object":
        body = Path(chosen["body"]).read_bytes()
        actual = base64.b64encode(hashlib.sha256(body).digest()).decode()
        if (chosen.get("checksum_sha256") or actual) != actual:
            fail("BadDigest", operation, "The SHA256 you specified did not match the calculated checksum.")
        chosen["checksum_sha256"] = actual
    status, headers, content = request(action, chosen, body)
    if status >= 400:
        code = re.search(rb"<Code>(\w+)</Code>", content)
        fail(code[1].decode() if code else status, operation, headers.get("x-amz-error", "refused"))
    if action == "get-object":
        Path(chosen["outfile"]).write_bytes(content)
    print(json.dumps({ANSWERS[name]: value for name, value in headers.items() if name in ANSWERS}))


def request(action, chosen, body):
    headers = {header: chosen[name] for name, header in HEADERS.items() if chosen.get(name)}
    place, method = urlsplit(os.environ["AWS_ENDPOINT_URL"]), action.split("-")[0].upper()
    path = quote(f"/{chosen['bucket']}/{chosen['key']}")
    headers |= {"Host": place.netloc, "Content-Length": len(body), **signature(method, place.netloc, path, headers)}
    lines = [
        f"{method} {path} HTTP/1.0",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    with socket.create_connection((place.hostname, place.port), timeout=300) as link, link.makefile("rb") as answer:
        link.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        head, _, content = answer.read().partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    pairs = (field.split(": ", 1) for field in fields)
    return int(status.split()[1]), {name.lower(): value for name, value in pairs}, content


def signature(method, host, path, headers):
    """Return the headers of a request that is signed with version 4, with those of AWS's that it has already."""
    time = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    own = {"host": host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": time}
    own |= {name: value for name, value in headers.items() if name.startswith("x-amz-")}
    own = dict(sorted(own.items()))
    names = ";".join(own)
    lines = [method, path, "", *(f"{name}:{value}" for name, value in own.items()), "", names, "UNSIGNED-PAYLOAD"]
    scope = [time[:8], os.environ["AWS_REGION"], "s3", "aws4_request"]
    canonical = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    key = b"AWS4" + os.environ["AWS_SECRET_ACCESS_KEY"].encode()
    for part in [*scope, "\n".join(["AWS4-HMAC-SHA256", time, "/".join(scope), canonical])]:
        key = hmac.digest(key, part.encode(), "sha256")
    credential = "/".join([os.environ["AWS_ACCESS_KEY_ID"], *scope])
    words = f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={key.hex()}"
    return {"Authorization": words, "X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD", "X-Amz-Date": time}


def injected(action, key, operation):
    fault = os.environ.get("AWS_FAULT", "").split()
    if not fault or fault[0] != action or not key.endswith(fault[1]):
        return
    counter = Path(os.environ["AWS_CALLS"] + ".faults")
    done = int(counter.read_text()) if counter.exists() else 0
    if done < int(fault[3]):
        counter.write_text(str(done + 1))
        fail(fault[2], operation, "injected")


main()
