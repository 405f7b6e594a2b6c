"""Envoy as the door: a real reverse proxy that is told what the synthesized listener says, in Envoy's own words.

As with the stand-in, time-outs are ``HASTE`` times as short. Tokens, their claims, paths, methods, the answer to what
is not let in and the idle time-out are Envoy's to handle; nothing here looks at a request.
"""

import base64
import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from cryptography.hazmat.primitives.asymmetric import rsa

from tests.serving.stand_in import HASTE, Door

_FILTERS = "type.googleapis.com/envoy.extensions.filters"
_JWT, _RBAC, _ROUTER = (f"envoy.filters.http.{name}" for name in ("jwt_authn", "rbac", "router"))
_REFUSED = 403
_STARTED = 600.0


@contextmanager
def proxied(
    program: Path, folder: Path, door: Door, engine: int, keys: Mapping[str, rsa.RSAPublicKey]
) -> Iterator[str]:
    """Run Envoy before an engine's port; yield its base URL."""
    config, admin = folder / "envoy.json", folder / "admin"
    config.write_text(json.dumps(_bootstrap(door, engine, keys)))
    command = [program, "--config-path", config, "--admin-address-path", admin, "--disable-hot-restart"]
    with (folder / "envoy.log").open("wb") as log:
        envoy = subprocess.Popen([*command, "--concurrency", "1", "--log-level", "warning"], stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{_port(envoy, admin, folder / 'envoy.log')}"
    finally:
        envoy.kill()
        envoy.wait()


def _port(envoy: "subprocess.Popen[bytes]", admin: Path, log: Path) -> int:
    """Wait until Envoy listens, and return where."""
    deadline = time.monotonic() + _STARTED
    while time.monotonic() < deadline:
        assert envoy.poll() is None, log.read_text()
        if admin.exists() and admin.read_text():
            for listening in _listening(admin.read_text()):
                return int(listening["local_address"]["socket_address"]["port_value"])
        time.sleep(0.05)
    raise TimeoutError(log.read_text())


def _listening(admin: str) -> list[dict[str, Any]]:
    """Return the listeners; nothing before the main loop answers, which is after the address is written."""
    try:
        with urlopen(f"http://{admin}/listeners?format=json", timeout=60) as answer:
            return list(json.load(answer).get("listener_statuses", []))
    except OSError:
        return []


def _bootstrap(door: Door, engine: int, keys: Mapping[str, rsa.RSAPublicKey]) -> dict[str, Any]:
    verify = [action["JwtValidationConfig"] for action in door.rule["Actions"] if action["Type"] == "jwt-validation"]
    manager = {
        "@type": f"{_FILTERS}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "door",
        "http_filters": [*(_verifying(verify[0], keys) if verify else []), _filter(_ROUTER, "router.v3.Router")],
        # Envoy forbids where the load balancer says that nobody is known
        "local_reply_config": {"mappers": [{"filter": _status(_REFUSED), "status_code": 401}]},
        "route_config": {
            "virtual_hosts": [{"name": "door", "domains": ["*"], "routes": [_let_in(door), _default(door)]}]
        },
    }
    listener = {
        "name": "door",
        "address": _address(0),
        "filter_chains": [
            {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
        ],
    }
    cluster = {
        "name": "engine",
        "type": "STATIC",
        "load_assignment": {
            "cluster_name": "engine",
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": _address(engine)}}]}],
        },
    }
    return {
        "admin": {"address": _address(0)},
        "static_resources": {"listeners": [listener], "clusters": [cluster]},
    }


# ---------------------------------------------------------------- rules
def _let_in(door: Door) -> dict[str, Any]:
    conditions = {condition["Field"]: condition for condition in door.rule["Conditions"]}
    paths = conditions.pop("path-pattern")["PathPatternConfig"]["Values"]
    methods = conditions.pop("http-request-method")["HttpRequestMethodConfig"]["Values"]
    assert conditions == {}, "no further conditions are known here"
    return {
        "match": {
            "safe_regex": {"regex": "|".join(map(_wildcards, paths))},
            "headers": [{"name": ":method", "string_match": {"safe_regex": {"regex": "|".join(methods)}}}],
        },
        "route": {"cluster": "engine", "timeout": "0s", "idle_timeout": f"{door.idle_seconds / HASTE}s"},
    }


def _default(door: Door) -> dict[str, Any]:
    """What is not let in is answered before anybody looks at tokens."""
    header = {"key": "content-type", "value": door.default["ContentType"]}
    off = {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "disabled": True, "config": {}}
    return {
        "match": {"prefix": "/"},
        "direct_response": {
            "status": int(door.default["StatusCode"]),
            "body": {"inline_string": door.default["MessageBody"]},
        },
        "response_headers_to_add": [{"header": header, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}],
        "typed_per_filter_config": {_JWT: off, _RBAC: off},
    }


def _wildcards(pattern: str) -> str:
    """Return a path pattern of a load balancer as a regular expression: * is anything, ? one character."""
    return "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in pattern)


# ---------------------------------------------------------------- tokens
def _verifying(config: Mapping[str, Any], keys: Mapping[str, rsa.RSAPublicKey]) -> list[dict[str, Any]]:
    claims = config["AdditionalClaims"]
    spaced = [claim["Name"] for claim in claims if claim["Format"] == "space-separated-values"]
    provider = {
        "issuer": config["Issuer"],
        "local_jwks": {"inline_string": json.dumps({"keys": [_key(keys[config["JwksEndpoint"]])]})},
        "forward": True,
        "payload_in_metadata": "claims",
        "normalize_payload_in_metadata": {"space_delimited_claims": spaced},
    }
    rules = [{"match": {"prefix": "/"}, "requires": {"provider_name": "issuer"}}]
    known = {"and_ids": {"ids": [_claimed(claim) for claim in claims]}}
    return [
        _filter(_JWT, "jwt_authn.v3.JwtAuthentication", providers={"issuer": provider}, rules=rules),
        _filter(
            _RBAC,
            "rbac.v3.RBAC",
            rules={"action": "ALLOW", "policies": {"claims": {"permissions": [{"any": True}], "principals": [known]}}},
        ),
    ]


def _claimed(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Any of the values will do."""
    values = [{"string_match": {"exact": value}} for value in claim["Values"]]
    single = claim["Format"] == "single-string"
    matches = values if single else [{"list_match": {"one_of": value}} for value in values]
    path = [{"key": "claims"}, {"key": claim["Name"]}]
    return {"or_ids": {"ids": [{"metadata": {"filter": _JWT, "path": path, "value": match}} for match in matches]}}


def _key(key: rsa.RSAPublicKey) -> dict[str, str]:
    numbers = key.public_numbers()
    return {"kty": "RSA", "alg": "RS256", "n": _number(numbers.n), "e": _number(numbers.e)}


def _number(number: int) -> str:
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# ---------------------------------------------------------------- Envoy's words
def _filter(name: str, kind: str, **config: Any) -> dict[str, Any]:
    return {"name": name, "typed_config": {"@type": f"{_FILTERS}.http.{kind}", **config}}


def _status(code: int) -> dict[str, Any]:
    value = {"default_value": code, "runtime_key": "door.refused"}
    return {"status_code_filter": {"comparison": {"op": "EQ", "value": value}}}


def _address(port: int) -> dict[str, Any]:
    return {"socket_address": {"address": "127.0.0.1", "port_value": port}}
