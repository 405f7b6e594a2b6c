"""What the hosts of a served model fetch, held to the network of the file."""

from collections.abc import Iterator

from cdk_trainyard.deployment.reach import node_place
from cdk_trainyard.deployment.serving.section import ServingSection
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.problems import Problem
from cdk_trainyard.reach import Region, judge_target, wanted
from cdk_trainyard.serving.spec_model import TextGenerationEngine
from cdk_trainyard.tokens import unresolved

_PUBLIC = ("ghcr.io", "public.ecr.aws")
_ECR = "ecr"


def serving_reach_problems(
    network: NetworkSpec | ExistingNetworkSpec, region: str, section: ServingSection, *, monitored: bool = False
) -> Iterator[Problem]:
    """Hosts ask ECS, which no endpoint of a network of this library is for, and pull the engine's image.

    Args:
        network: The network section.
        region: The Region.
        section: What is served.
        monitored: Whether its metrics go to a workspace.
    """
    if network.has_nat or unresolved(region):
        return
    at = Region(name=region)
    place = node_place(network, at, at="host")
    if place is None:
        return
    said = ("", *_registry(section.engine), *(("metrics",) if monitored else ()))
    found = [each for asked in said for each in wanted("serving", asked, place)]
    targets = [target for each in found for target in each.address.targets if target.asked_in(region)]
    hosts = [at.write(target.host) for target in targets if not judge_target(target, place, at).reached]
    asked = ", ".join(dict.fromkeys(hosts))
    yield Problem(("nat",), f"must be one or per-zone for 'serving', got none: its hosts ask {asked}")


def _registry(engine: TextGenerationEngine) -> Iterator[str]:
    """Yield the registry of the engine's image, as the table of fetches calls it."""
    if unresolved(engine, engine.kind, engine.image):
        return
    host = "" if engine.repository else (engine.container.reference or "").partition("/")[0]
    yield host if host in _PUBLIC else _ECR
