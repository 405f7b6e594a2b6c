"""What the catalogue says against an engine image on a host image. Pure."""

from collections.abc import Iterator

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.serving.catalogue import (
    EngineImage,
    HostImage,
    engine_images,
    hosts_for,
    images_for,
    registry_account,
)
from cdk_trainyard.serving.engine import TextGenerationEngine
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import driver_conflicts


def image_problems(image: EngineImage, family: str) -> list[str]:
    """Check that an image runs on an instance family, as far as the catalogue knows the image."""
    if not image.known or not image.families or family in image.families:
        return []
    others = ", ".join(other.key for other in images_for(image.server, family))
    return [f"'image' must run on {family}, got {image.key} for {', '.join(image.families)}; use {others}"]


def driver_problems(image: EngineImage, host: HostImage) -> list[str]:
    """Check that the release notes say nothing against the image's runtime library on the host's driver."""
    return [
        f"'host_image' must carry a driver that runtime library {image.runtime} of {image.key} works with, got "
        f"{host.version} with driver {host.driver}: {said}; use {hosts_for(image)[0].version}"
        for said in driver_conflicts(image.runtime, host.driver)
    ]


def registry_problems(engine: TextGenerationEngine, region: str) -> list[str]:
    """Check that AWS's registry is known in the Region, for an image that is pulled from it."""
    image = engine.image
    if engine.repository is not None or image.repository is None:
        return []
    if not unresolved(region) and registry_account(region) is not None:
        return []
    others = [row.key for row in images_for(image.server, "inf2") if row.reference is not None]
    where = "a stack whose Region is not given" if unresolved(region) else region
    return [
        (
            f"'image' must be in a registry that is known in {where}, got {image.key}; "
            f"use {' or '.join([*others, 'a repository of yours'])}"
        )
    ]


def image_name_problems(image: EngineImage) -> list[str]:
    """Check that what is not a key of the catalogue at least looks like an image."""
    if image.known or image.reference is None or unresolved(image.reference) or "/" in image.reference:
        return []
    keys = [row.key for row in engine_images() if row.server is image.server]
    return [
        (
            f"'image' must be {', '.join(keys)} or a reference with its registry, got {image.key!r}"
            f"{did_you_mean(image.key, keys)}"
        )
    ]


def doubts(image: EngineImage, host: HostImage, family: str) -> Iterator[str]:
    """Yield what is not known, or contradicted, about a pair that nothing refutes."""
    if not image.known:
        yield (
            f"engine image {image.key} is not in the catalogue: nobody knows whether it works with a driver, nor "
            f"whether it logs prompts, as vLLM before 0.10.1 does"
        )
    if family in image.disputed:
        yield f"sources contradict each other on whether {image.key} works on {family}: {image.source}"
    if host.driver is None:
        yield f"host image {host.version} is not in the catalogue: its driver is checked when a host boots, not here"
