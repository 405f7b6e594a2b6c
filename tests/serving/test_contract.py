"""What a caller gets: a real client, a proxy that does what the synthesized door says, and a stand-in engine.

Everything is asked twice: of the stand-in's own proxy, and of Envoy, which is among the locked requirements.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import requests
from aws_cdk import Duration
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Template
from cryptography.hazmat.primitives.asymmetric import rsa

from cdk_trainyard.serving import ClaimFormat, ClientAuthentication, JwtClaim
from tests.serving.envoy_door import proxied
from tests.serving.parts import load_balancer, new_stack, service
from tests.serving.stand_in import WORDS, Door, serve, stand_in_proxy, token

pytestmark = pytest.mark.programs

ISSUER = "https://issuer.example/pool"
KEYS_URL = "https://issuer.example/pool/keys"
API_KEY = "sk-test"
MESSAGES = [{"role": "user", "content": "Hello?"}]


Proxy = Callable[[Door, int, Mapping[str, rsa.RSAPublicKey]], AbstractContextManager[str]]


@pytest.fixture(scope="module", params=["stand-in", "envoy"])
def proxy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Proxy:
    """What stands before the engine."""
    if request.param == "stand-in":
        return stand_in_proxy
    found = find_spec("envoy")
    if found is None or found.origin is None:
        pytest.fail("there is no Envoy: make setup installs it")
    program = Path(found.origin).with_name("_bin") / "envoy"
    return lambda door, engine, keys: proxied(program, tmp_path_factory.mktemp("envoy"), door, engine, keys)


def synthesized(**changes: Any) -> Door:
    stack = new_stack()
    timeout = changes.pop("request_timeout", None)
    if changes.pop("api_key", False):
        secret = secretsmanager.Secret.from_secret_name_v2(stack, "Key", "api-key")
        changes["authentication"] = ClientAuthentication.api_key(secret)
    load_balancer(stack, service(stack, request_timeout=timeout), **changes)
    return Door.of(Template.from_stack(stack))


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    """The issuer's key."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="module")
def with_tokens(key: rsa.RSAPrivateKey, proxy: Proxy) -> Iterator[str]:
    """A door that verifies tokens."""
    with serve(synthesized(), proxy=proxy, keys={KEYS_URL: key.public_key()}, payload_limit=2_000_000) as url:
        yield url


@pytest.fixture(scope="module")
def with_a_key(proxy: Proxy) -> Iterator[str]:
    """A door whose engine compares a key."""
    with serve(synthesized(api_key=True), proxy=proxy, api_key=API_KEY) as url:
        yield url


@pytest.fixture
def headers(key: rsa.RSAPrivateKey) -> dict[str, str]:
    """Headers with a token that passes."""
    return {"Authorization": f"Bearer {token(key, iss=ISSUER, client_id='chat')}"}


def chat(url: str, headers: dict[str, str], **fields: Any) -> requests.Response:
    body = {"model": "llama", "messages": MESSAGES, **fields}
    return requests.post(f"{url}/v1/chat/completions", json=body, headers=headers, stream=True, timeout=300)


def streamed(response: requests.Response) -> list[str]:
    lines = [line.removeprefix(b"data: ") for line in response.iter_lines() if line]
    assert lines[-1] == b"[DONE]"
    return [json.loads(line)["choices"][0]["delta"]["content"] for line in lines[:-1]]


def test_a_chat_completion_streams(with_tokens: str, headers: dict[str, str]) -> None:
    response = chat(with_tokens, headers, stream=True)
    assert response.status_code == 200
    assert streamed(response) == list(WORDS)


def test_a_chat_completion_at_once(with_tokens: str, headers: dict[str, str]) -> None:
    assert chat(with_tokens, headers).json()["choices"][0]["message"]["content"] == "".join(WORDS)


def test_models_are_listed(with_tokens: str, headers: dict[str, str]) -> None:
    listed = requests.get(f"{with_tokens}/v1/models", headers=headers, timeout=300)
    assert [model["id"] for model in listed.json()["data"]] == ["llama"]


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"client_id": "another-application"},
        {"client_id": "chat", "iss": "https://another.example"},
        {"client_id": "chat", "exp": 1},
    ],
)
def test_a_token_with_a_wrong_claim_is_refused(
    claims: dict[str, Any], with_tokens: str, key: rsa.RSAPrivateKey
) -> None:
    wrong = token(key, **{"iss": ISSUER, **claims})
    assert chat(with_tokens, {"Authorization": f"Bearer {wrong}"}).status_code == 401


def test_a_token_of_another_key_is_refused(with_tokens: str) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    forged = token(other, iss=ISSUER, client_id="chat")
    assert chat(with_tokens, {"Authorization": f"Bearer {forged}"}).status_code == 401


def test_a_request_without_a_token_is_refused(with_tokens: str) -> None:
    assert chat(with_tokens, {}).status_code == 401


@pytest.mark.parametrize(
    "path", ["/metrics", "/invocations", "/info", "/health", "/generate", "/", "/v2/models", "/v1"]
)
def test_other_paths_are_not_there(path: str, with_tokens: str, headers: dict[str, str]) -> None:
    answer = requests.get(f"{with_tokens}{path}", headers=headers, timeout=300)
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "there is nothing here"


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_other_methods_are_not_there(method: str, with_tokens: str, headers: dict[str, str]) -> None:
    assert requests.request(method, f"{with_tokens}/v1/models", headers=headers, timeout=300).status_code == 404


def test_a_body_of_eight_megabytes_is_refused_by_tgi(with_tokens: str, headers: dict[str, str]) -> None:
    large = [{"role": "user", "content": "x" * 8_000_000}]
    assert chat(with_tokens, headers, messages=large).status_code == 413


def test_a_body_of_eight_megabytes_reaches_vllm(with_a_key: str) -> None:
    large = [{"role": "user", "content": "x" * 8_000_000}]
    assert chat(with_a_key, {"Authorization": f"Bearer {API_KEY}"}, messages=large).status_code == 200


@pytest.mark.parametrize(
    ("written", "good", "bad"),
    [
        (ClaimFormat.SPACE_SEPARATED, "models chat:write", "models chat"),
        (ClaimFormat.STRING_ARRAY, ["models", "chat:write"], ["models"]),
    ],
)
def test_a_claim_that_holds_several_values(
    written: ClaimFormat, good: Any, bad: Any, key: rsa.RSAPrivateKey, proxy: Proxy
) -> None:
    claims = [JwtClaim(name="scope", values=["chat:read", "chat:write"], format=written)]
    said = synthesized(authentication=ClientAuthentication.jwt(issuer=ISSUER, key_set_url=KEYS_URL, claims=claims))
    with serve(said, proxy=proxy, keys={KEYS_URL: key.public_key()}) as url:
        for scope, status in ((good, 200), (bad, 401)):
            signed = token(key, iss=ISSUER, scope=scope)
            assert chat(url, {"Authorization": f"Bearer {signed}"}).status_code == status


def test_two_minutes_of_silence_are_nothing(with_tokens: str, headers: dict[str, str]) -> None:
    response = chat(with_tokens, headers, stream=True, user="120")
    assert streamed(response) == list(WORDS)


def test_more_silence_than_was_said_ends_the_request(proxy: Proxy) -> None:
    impatient = synthesized(
        request_timeout=Duration.minutes(1), plain_http=True, authentication=ClientAuthentication.none()
    )
    with serve(impatient, proxy=proxy) as url:
        assert chat(url, {}, user="120").status_code == 504


def test_an_api_key(with_a_key: str) -> None:
    assert chat(with_a_key, {"Authorization": f"Bearer {API_KEY}"}).status_code == 200
    assert chat(with_a_key, {"Authorization": "Bearer wrong"}).status_code == 401
    assert chat(with_a_key, {}).status_code == 401
    assert requests.get(f"{with_a_key}/metrics", timeout=300).status_code == 404


def test_the_openai_client_streams(with_tokens: str, headers: dict[str, str]) -> None:
    import openai  # noqa: PLC0415  a second of imports, for one test

    client = openai.OpenAI(base_url=f"{with_tokens}/v1", api_key=headers["Authorization"].removeprefix("Bearer "))
    stream = client.chat.completions.create(
        model="llama", messages=MESSAGES, max_tokens=1024, temperature=0.3, top_p=0.3, stream=True
    )
    assert [chunk.choices[0].delta.content for chunk in stream] == list(WORDS)
