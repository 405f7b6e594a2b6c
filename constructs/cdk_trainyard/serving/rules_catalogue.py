"""What the catalogue says against an engine image on a host image. Pure."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.instances import InstanceType, catalogue_date, regions, zone_ids
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.secrets import TOKENS
from cdk_trainyard.options.texts import IMAGE_REFERENCE
from cdk_trainyard.problems import Flaw, Problem, either, option, shown
from cdk_trainyard.serving.catalogue import (
    EngineImage,
    HostImage,
    engine_images,
    gpu_repositories,
    host_image,
    hosts_for,
    images_for,
    of_repository,
    registry_account,
)
from cdk_trainyard.serving.engine_settings import MANAGED_VARIABLES, PORT
from cdk_trainyard.serving.spec_model import ARCHITECTURES, IMAGE_OF_YOURS, NeuronModel, TextGenerationEngine
from cdk_trainyard.serving.spec_service import ServingHosts
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import driver_conflicts

_ALWAYS_SECRET = frozenset(
    {"SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASSKEY", "PWD", "PASS"}
    | {"CREDENTIAL", "CREDENTIALS", "CREDS", "CRED"}
)
"""Last words of the names of what is secret, short as it may be."""
_LONG_SECRET = frozenset({"TOKEN", "TOKENS", "KEY", "APIKEY", "PAT", "BEARER", "AUTH", "AUTHORIZATION", "JWT"})
"""The same of what a machine made, which has eight signs or more."""
_LEAST_SIGNS = 8
_BEHIND = frozenset({"VALUE", "BASE", "BASE64", "B64", "JSON", "PEM", "PROD", "DEV"})
"""Words that may be behind the last, as numbers may."""
_OF_MODELS = frozenset(
    {"PAD", "EOS", "BOS", "UNK", "SEP", "CLS", "MASK", "STOP", "START", "END", "IMAGE", "AUDIO", "VIDEO", "SPECIAL"}
)
"""Words beside TOKEN: of those that a model reads and writes (Transformers, ``SpecialTokensMixin``, read 2026-11)."""
_OF_CALLERS = frozenset({"API", "ACCESS", "AUTH", "BEARER"})
"""Words beside TOKENS, which are a model's else."""
_NAMING = frozenset({"PUBLIC", "KMS", "OBJECT", "PARTITION", "SORT", "CACHE"})
"""Words beside KEY, which anybody may know then."""
_SECRET_BEGINNINGS = (
    *("sk-", "AKIA", "ASIA", "-----BEGIN", "Bearer ", "Basic ", "eyJ"),  # the last of a JSON Web Token
    *TOKENS,
)
"""Beginnings of secrets: of tokens, and of RFC 6750, 7617 and 7519; read 2026-11."""
_WITH_PASSWORD = re.compile(r"[a-z0-9+.-]://[^\s/?#@:]*:[^\s/?#@]+@", re.IGNORECASE)
"""A URL with a password (RFC 3986, section 3.2.1)."""
_NONE = re.compile(
    r"(~|[.]{1,2})?(/[\w.-]{1,30})+/?|[\w.-]+(/[\w.-]+)*/[\w-]+[.][a-z][a-z0-9]{1,5}|"  # paths
    r"[A-Za-z][A-Za-z0-9+.-]*://[^\s?#@]*|arn:aws[a-z-]*:\S+|<.+>"
)
"""Values that are no secrets: a path, whose parts are shorter than keys are, a URL without a user, an ARN, and what
holds the place of another, or is a token of a model."""
_LONGEST_PLAIN = 20
_MOST_BYTES = 60 * 1024
"""Of a task definition's 64 KiB; more than 4 are what stands in it anyway."""
_PORTS = ("PORT", "SM_ON_PORT")
_SMALLEST: Final = "inf2.xlarge"
_SWITCHES = frozenset({"", "true", "false", "on", "off", "yes", "no"})


def engine_problems(engine: TextGenerationEngine, region: str | None) -> Iterator[Problem]:
    """Check what an engine says of itself, whatever it serves."""
    yield from image_problems(engine, region)
    yield from environment_problems(engine)
    if engine.tag is not None and engine.repository is None:
        text = f"is said of a repository of yours, got {shown(engine.tag)} alone; give {option('repository')} too"
        yield Problem(("tag",), text)


def image_problems(engine: TextGenerationEngine, region: str | None) -> Iterator[Problem]:
    """Check that the image is one of the catalogue or a reference, and where it is pulled from."""
    said = engine.image
    if unresolved(said, engine.kind):
        return
    image = engine.container
    if said is not None and not image.known and (wrong := _unknown_image(said, engine, region)):
        yield wrong.at(("image",))
        return
    if said is not None and "/" in said and engine.repository is not None:
        text = f"must be a key of the catalogue beside {option('repository')}, which is where it is pulled from, got"
        yield Problem(("image",), f"{text} {shown(said)}; leave one out")
    if engine.repository is None and image.repository is not None:
        yield from _registry_problems(image, region)


def server_problems(engine: TextGenerationEngine) -> Iterator[Problem]:
    """Check that the image is one of the engine's server, as far as the catalogue knows its repository."""
    if unresolved(engine, engine.kind, engine.image):
        return
    image, kind = engine.container, engine.kind
    others = {row.server for row in of_repository(image)} or {image.server}
    if kind not in others:
        use = either(row.key for row in engine_images() if row.server is kind)
        of = " or ".join(sorted(others))
        text = f"must be an image of {kind}, got {engine.image}, which is one of {of}; use {use}"
        yield Problem(("engine", "image"), text)


def _unknown_image(said: str, engine: TextGenerationEngine, region: str | None) -> Flaw | None:
    """What is no key of the catalogue is at least a reference."""
    if "/" in said:
        here = Environment(region=None if unresolved(region) else region, regions=frozenset(regions()))
        return IMAGE_REFERENCE.problem(said, here)
    keys = [row.key for row in engine_images() if row.server is engine.kind]
    allowed = either([*keys, "a reference with its registry"])
    return Flaw(f"must be {allowed}", got=shown(said), remedy=did_you_mean(said, keys))


def _registry_problems(image: EngineImage, region: str | None) -> Iterator[Problem]:
    """Check that AWS's registry is known in the Region, for an image that is pulled from it."""
    if unresolved(region) or (region is not None and registry_account(region) is not None):
        return
    if region is not None and not InstanceType.of(_SMALLEST).offered_in(region) and zone_ids(region):
        there = [each for each in InstanceType.of(_SMALLEST).zones if registry_account(each) is not None]
        there.sort(key=lambda each: each.partition("-")[0] != region.partition("-")[0])  # its own continent's first
        text = f"is in no registry of {region} that is known, got {image.key}; inf2 is not known to be offered there"
        use = f"use the Region {either(there)}, or an image of yours where you know better"
        yield Problem(("image",), f"{text} either (data of {catalogue_date()}); {use}")
        return
    others = [row.key for row in images_for(image.server, "inf2") if row.reference is not None]
    where = region or "a stack whose Region is not given"
    use = either([*others, "a repository of yours"])
    yield Problem(("image",), f"must be in a registry that is known in {where}, got {image.key}; use {use}")


def environment_problems(engine: TextGenerationEngine) -> Iterator[Problem]:
    """Check that no secret is written as text, as it would stand in the template, nor another port than callers use.

    Source of the size: Amazon ECS developer guide, "Amazon ECS service quotas", task definition size limit, 64 KB.
    """
    known = [part for pair in engine.environment.items() for part in pair if not unresolved(part)]
    size = sum(len(part.encode()) for part in known)
    if size > _MOST_BYTES:
        text = (
            f"must have {_MOST_BYTES} bytes or fewer, names and values, got {size}: a task definition of ECS has 64 KiB"
        )
        yield Problem(("environment",), f"{text}; put what is large into the model's folder, or into an image of yours")
    for name, value in engine.environment.items():
        at = ("environment", name)
        if name in MANAGED_VARIABLES or (not unresolved(value) and _is_secret(name, value)):
            yield Problem(at, f"must be left out: a secret would stand in the template, {_secrets()}", of_key=True)
        elif name in _PORTS and not unresolved(value) and value != str(PORT):
            yield Problem(at, f"must be {PORT}, where the load balancer asks, got {shown(value)}; leave it out")


def _secrets() -> str:
    token = (
        f"the token of the Hub is {option('hub_token', up=2)}, of 'compile' for a model that a build compiles, and of "
        "the engine for one that is not precompiled"
    )
    return f"which Secrets Manager keeps; {token}, and the key of callers is that of 'authentication'"


def host_image_problems(hosts: ServingHosts) -> Iterator[Problem]:
    """Check that the version of a host image is a day: its images are called by the one on which they were built."""
    said = hosts.host_image
    if said is None or unresolved(said):
        return
    day = host_image(said).version
    try:
        date(int(day[:4]), int(day[4:6]), int(day[6:]))
    except ValueError:
        text = f"must be the day on which the ECS Neuron image was built, as 20260701, got {shown(said)}, which is none"
        yield Problem(("hosts", "host_image"), text)


def _is_secret(name: str, value: str) -> bool:
    """Whether a variable holds a secret: what looks like one, or may be one where the name's last word says so."""
    if _WITH_PASSWORD.search(value) or (value.startswith(_SECRET_BEGINNINGS) and len(value) >= _LONGEST_PLAIN):
        return True
    if value.lower() in _SWITCHES or value.replace(".", "", 1).isdecimal():
        return False
    if _NONE.fullmatch(value):
        return False
    words = [re.sub("[0-9]+$", "", word) if word not in _BEHIND else "" for word in name.upper().split("_")]
    *others, last = list(filter(None, words)) or [""]
    around = {"KEY": _NAMING, "TOKEN": _OF_MODELS}.get(last, frozenset())
    if around.intersection(others) or (last == "TOKENS" and _OF_CALLERS.isdisjoint(others)):
        return False
    return last in _ALWAYS_SECRET or (last in _LONG_SECRET and len(value) >= _LEAST_SIGNS)


def family_problems(image: EngineImage, family: str) -> Iterator[Problem]:
    """Check that an image runs on an instance family, as far as the catalogue knows the image."""
    if not image.known or not image.families or family in image.families:
        return
    others = either(other.key for other in images_for(image.server, family))
    text = f"must run on {family}, got {image.key} for {', '.join(image.families)}; use {others}"
    yield Problem(("engine", "image"), text)


def architecture_problems(model: NeuronModel, engine: TextGenerationEngine) -> Iterator[Problem]:
    """Check that an image serves models of the preset's architecture, as far as the catalogue knows what is in it."""
    image, found = engine.container, ARCHITECTURES.get(model.preset or "")
    copied = engine.repository is not None and engine.image is None  # of whatever image
    if found is None or model.shape is not None or copied or found in (image.architectures or (found,)):
        return
    served = (name for name, each in ARCHITECTURES.items() if each in image.architectures)
    presets = either(served, all_in="serving/README.md, 'What fits'")
    others = [row.key for row in engine_images() if found in row.architectures]
    text = f"must be {presets} for {image.key}, got {shown(model.preset)}, a {found} model, which it does not serve"
    ways = [*(["use " + either(others)] if others else []), IMAGE_OF_YOURS]
    yield Problem(("model", "preset"), f"{text}; {', or '.join(ways)}")


def driver_problems(image: EngineImage, host: HostImage) -> Iterator[Problem]:
    """Check that the release notes say nothing against the image's runtime library on the host's driver."""
    for said in driver_conflicts(image.runtime, host.driver):
        text = (
            f"must carry a driver that runtime library {image.runtime} of {image.key} works with, got "
            f"{host.version} with driver {host.driver}: {said}; use {shown(hosts_for(image)[0].version)}"
        )
        yield Problem(("hosts", "host_image"), text)


def doubts(image: EngineImage, host: HostImage, family: str) -> Iterator[str]:
    """Yield what is not known, or contradicted, about a pair that nothing refutes."""
    if not image.known:
        yield (
            f"engine image {image.key} is not in the catalogue: nobody knows whether it works with a driver, nor "
            f"whether it logs prompts, as vLLM before 0.10.1 does"
        )
        name, _, tag = (image.reference or "").removeprefix("docker.io/").partition(":")
        if "neuron" not in tag and "@" not in name and name in gpu_repositories():
            yield f"engine image {image.key} is documented for GPUs, and nothing in it is known to find Neuron devices"
    if family in image.disputed:
        yield f"sources contradict each other on whether {image.key} works on {family}: {image.source}"
    if host.driver is None:
        yield f"host image {host.name} is not in the catalogue: its driver is checked when a host boots, not here"
