"""The gate: nothing is done for a request that is not this run's own, whichever way it comes in."""

import http.client
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.access import signature
from cdk_trainyard.local.custom_resources import answers
from tests.local.stacks import stack_names
from tests.local.support import TRUST

_REGION = "sa-east-1"
"""No other test deploys to it."""
_TAKEN_OVER = "taken-over"
_CODE = "def handler(event, context):\n    open('{}', 'w').close()\n    raise SystemError"


def _creation(name: str, marker: Path) -> str:
    """Return the content of a call that creates a stack whose function makes a file."""
    function = {
        "Runtime": "python3.12",
        "Handler": "index.handler",
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
        "Code": {"ZipFile": _CODE.format(marker)},
    }
    resources = {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST}},
        "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Run": {"Type": "Custom::Run", "Properties": {"ServiceToken": {"Fn::GetAtt": ["Function", "Arn"]}}},
    }
    template = json.dumps({"Resources": resources})
    return urlencode({"Action": "CreateStack", "Version": "2010-05-15", "StackName": name, "TemplateBody": template})


_CREATION = _creation(_TAKEN_OVER, Path("/dev/null/taken-over"))
_LISTING = "Action=ListStacks&Version=2010-05-15"
_MADE_UP = "AWS4-HMAC-SHA256 Credential={}/20260101/x/cloudformation/aws4_request, SignedHeaders=host, Signature={}"
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True, kw_only=True)
class _Answer:
    status: int
    text: str

    @property
    def refused(self) -> bool:
        return self.status == http.HTTPStatus.FORBIDDEN


def _send(aws: LocalAws, headers: dict[str, str], body: str = "", *, method: str = "POST", path: str = "/") -> _Answer:
    """Send a request as it is: every header is the sender's own."""
    connection = http.client.HTTPConnection(urlsplit(aws.endpoint).netloc, timeout=600)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in ({"Host": urlsplit(aws.endpoint).netloc} | headers | {"Content-Length": str(len(body))}).items():
        connection.putheader(name, value)
    connection.endheaders(body.encode())
    answer = connection.getresponse()
    return _Answer(status=answer.status, text=answer.read().decode())


def _signed(
    aws: LocalAws, body: str = _CREATION, *, secret: str = "", token: str | None = None, **headers: str
) -> dict[str, str]:
    """Return the headers of a call of CloudFormation, signed with the key of this run."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = AWSRequest(method="POST", url=aws.endpoint, data=body, headers={**_FORM, **named})
    key = aws.credentials
    signing = Credentials(key.access_key_id, secret or key.secret_access_key, token)
    SigV4Auth(signing, "cloudformation", _REGION).add_auth(request)
    return dict(request.headers)


def _nothing_was_done(aws: LocalAws) -> bool:
    return _TAKEN_OVER not in stack_names(aws.client("cloudformation", _REGION))


def test_with_the_key_of_this_run_the_function_runs(aws: LocalAws, tmp_path: Path) -> None:
    creation = _creation("own", tmp_path / "marker")
    assert _send(aws, _signed(aws, creation), creation).status == 200
    assert (tmp_path / "marker").exists()


def test_a_page_that_calls_itself_this_machine_runs_nothing(aws: LocalAws, tmp_path: Path) -> None:
    """DNS rebinding, as it was tried: the name of the page resolves to 127.0.0.1, and the credentials are made up."""
    host = f"evil.example.com:{urlsplit(aws.endpoint).port}"
    headers = {**_FORM, "Host": host, "Origin": f"http://{host}", "Authorization": _MADE_UP.format("AKIAMADEUP", 0)}
    answer = _send(aws, headers, _creation(_TAKEN_OVER, tmp_path / "marker"))
    assert answer.refused
    assert f"requests for the host '{host}' are refused" in answer.text
    assert _nothing_was_done(aws)
    assert not (tmp_path / "marker").exists()


_WAYS: dict[str, tuple[Callable[[LocalAws], dict[str, str]], str]] = {
    "foreign host": (lambda aws: _signed(aws) | {"Host": "evil.example.com"}, "AccessDenied"),
    "signed for a foreign host": (lambda aws: _signed(aws, Host="evil.example.com"), "AccessDenied"),
    "host that ends like AWS's": (lambda aws: _signed(aws) | {"Host": "evilamazonaws.com"}, "AccessDenied"),
    "another port": (lambda aws: _signed(aws) | {"Host": "127.0.0.1:1"}, "AccessDenied"),
    "no host": (lambda aws: _signed(aws) | {"Host": ""}, "AccessDenied"),
    "foreign page": (lambda aws: _signed(aws) | {"Origin": "http://evil.example.com"}, "AccessDenied"),
    "page in a file": (lambda aws: _signed(aws) | {"Origin": "null"}, "AccessDenied"),
    "page of another port": (lambda aws: _signed(aws) | {"Origin": "http://127.0.0.1:1"}, "AccessDenied"),
    "from another site": (lambda aws: _signed(aws) | {"Sec-Fetch-Site": "cross-site"}, "AccessDenied"),
    "from another port": (lambda aws: _signed(aws) | {"Sec-Fetch-Site": "same-site"}, "AccessDenied"),
    "no key": (lambda _aws: _FORM, "MissingAuthenticationToken"),
    "a password": (lambda _aws: _FORM | {"Authorization": "Basic eDp5"}, "MissingAuthenticationToken"),
    "made-up key": (
        lambda aws: _signed(aws) | {"Authorization": _MADE_UP.format("AKIAMADEUP", "0" * 64)},
        "InvalidClientTokenId",
    ),
    "another secret": (lambda aws: _signed(aws, secret="guessed"), "SignatureDoesNotMatch"),  # noqa: S106
    "a token that is none": (lambda aws: _signed(aws, token="guessed"), "SignatureDoesNotMatch"),  # noqa: S106
    "another call": (lambda aws: _signed(aws, _LISTING), "SignatureDoesNotMatch"),
    "no date": (
        lambda aws: {name: value for name, value in _signed(aws).items() if name != "X-Amz-Date"},
        "MissingAuthenticationToken",
    ),
    "version 2": (lambda aws: _FORM | {"Authorization": f"AWS {aws.credentials.access_key_id}:x"}, "InvalidRequest"),
}


@pytest.mark.parametrize(("headers", "code"), _WAYS.values(), ids=_WAYS)
def test_is_refused_before_anything_runs(
    aws: LocalAws, headers: Callable[[LocalAws], dict[str, str]], code: str
) -> None:
    answer = _send(aws, headers(aws), _CREATION)
    assert answer.refused
    assert f"<Code>{code}</Code>" in answer.text
    assert _nothing_was_done(aws)


@pytest.mark.parametrize("host", ["localhost:{port}", "cloudformation.sa-east-1.amazonaws.com"])
def test_other_names_of_its_own_are_let_in(aws: LocalAws, host: str) -> None:
    """The second is how nodes of a rehearsal find it."""
    body = _LISTING
    named = host.format(port=urlsplit(aws.endpoint).port)
    assert _send(aws, _signed(aws, body, Host=named), body).status == 200


def test_a_page_may_not_even_ask_whether_it_may(aws: LocalAws) -> None:
    asked = {"Origin": "http://evil.example.com", "Access-Control-Request-Method": "POST"}
    assert _send(aws, asked, method="OPTIONS").refused


@pytest.mark.parametrize("path", ["/moto-api/", "/moto-api/data.json", "/moto-api/reset", "/latest/meta-data/iam/"])
def test_what_is_motos_own_is_closed(aws: LocalAws, path: str) -> None:
    aws.client("sns", _REGION).create_topic(Name="stays")
    assert _send(aws, {}, path=path).refused
    signed = AWSRequest(method="POST", url=aws.endpoint + path, data="")
    SigV4Auth(Credentials(aws.credentials.access_key_id, aws.credentials.secret_access_key), "s3", _REGION).add_auth(
        signed
    )
    assert _send(aws, dict(signed.headers), path=path).refused
    assert aws.client("sns", _REGION).list_topics()["Topics"]


# ---------------------------------------------------------------- addresses that carry what they need
@pytest.fixture(scope="module")
def presigned(aws: LocalAws) -> str:
    """The path of an object, presigned."""
    s3 = aws.client("s3", _REGION)
    s3.create_bucket(Bucket="gate-objects", CreateBucketConfiguration={"LocationConstraint": _REGION})
    s3.put_object(Bucket="gate-objects", Key="a/first one", Body=b"first")
    s3.put_object(Bucket="gate-objects", Key="second", Body=b"second")
    url = urlsplit(s3.generate_presigned_url("get_object", Params={"Bucket": "gate-objects", "Key": "a/first one"}))
    return f"{url.path}?{url.query}"


def test_a_presigned_address_is_enough(aws: LocalAws, presigned: str) -> None:
    assert f"X-Amz-Credential={aws.credentials.access_key_id}%2F" in presigned
    assert _send(aws, {}, method="GET", path=presigned) == _Answer(status=200, text="first")


def _changed(old: str, new: str) -> Callable[[str], str]:
    def change(path: str) -> str:
        assert old in path
        return path.replace(old, new)

    return change


@pytest.mark.parametrize(
    ("change", "method", "code"),
    [
        (_changed("a/first%20one", "second"), "GET", "SignatureDoesNotMatch"),
        (_changed("X-Amz-Expires=3600", "X-Amz-Expires=604800"), "GET", "SignatureDoesNotMatch"),
        (_changed("X-Amz-Signature=", "versionId=1&X-Amz-Signature="), "GET", "SignatureDoesNotMatch"),
        (_changed("", ""), "PUT", "SignatureDoesNotMatch"),
        (_changed("X-Amz-Signature=", "X-Amz-Other="), "GET", "SignatureDoesNotMatch"),
        (_changed("X-Amz-Credential=AKIA", "X-Amz-Credential=ASIA"), "GET", "InvalidClientTokenId"),
        (_changed("X-Amz-Algorithm=AWS4-HMAC-SHA256&", ""), "GET", "MissingAuthenticationToken"),
        (_changed("X-Amz-Date=2", "X-Amz-Date=x"), "GET", "MissingAuthenticationToken"),
    ],
    ids=["object", "time", "version", "method", "no signature", "key", "no algorithm", "no date"],
)
def test_a_presigned_address_is_good_for_what_it_signs(
    aws: LocalAws, presigned: str, change: Callable[[str], str], method: str, code: str
) -> None:
    answer = _send(aws, {}, method=method, path=change(presigned))
    assert answer.refused
    assert f"<Code>{code}</Code>" in answer.text


def test_a_presigned_address_is_good_for_no_other_header(aws: LocalAws, presigned: str) -> None:
    answer = _send(aws, {"X-Amz-Server-Side-Encryption-Customer-Key": "x"}, method="GET", path=presigned)
    assert answer.refused
    assert "headers present in the request which were not signed" in answer.text


def test_an_address_that_is_presigned_with_version_2_is_refused(aws: LocalAws, presigned: str) -> None:
    query = urlencode({"AWSAccessKeyId": aws.credentials.access_key_id, "Signature": "x", "Expires": "4102444800"})
    answer = _send(aws, {}, method="GET", path=f"{presigned.partition('?')[0]}?{query}")
    assert answer.refused
    assert "Please use AWS4-HMAC-SHA256" in answer.text


def test_a_presigned_address_ends(aws: LocalAws, presigned: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return super().now(tz) + timedelta(hours=1, seconds=1)

    monkeypatch.setattr(signature, "datetime", Later)
    answer = _send(aws, {}, method="GET", path=presigned)
    assert answer.refused
    assert "Request has expired" in answer.text


def test_an_answer_to_cloudformation_needs_its_token_and_comes_once(aws: LocalAws) -> None:
    token, url = answers.new_url()
    path = urlsplit(url).path
    body = json.dumps({"Status": "SUCCESS"})
    assert _send(aws, {}, body, method="PUT", path=path[:-1] + "!").refused
    assert _send(aws, {}, body, method="POST", path=path).refused
    assert _send(aws, {"Host": "evil.example.com"}, body, method="PUT", path=path).refused
    assert _send(aws, {}, body, method="PUT", path=path).status == 200
    assert _send(aws, {}, json.dumps({"Status": "FAILED"}), method="PUT", path=path).refused
    assert answers.take(token, 0) == {"Status": "SUCCESS"}
    assert _send(aws, {}, body, method="PUT", path=path).refused, "nobody waits any more"
