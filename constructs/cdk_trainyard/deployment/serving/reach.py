"""What the hosts of a served model fetch, held to the network of the file."""

from cdk_trainyard.deployment.reach import node_place
from cdk_trainyard.deployment.serving import values
from cdk_trainyard.deployment.serving.section import EngineSection
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.reach import Region, judge_target, wanted

_PUBLIC = ("ghcr.io", "public.ecr.aws")
_ECR = "ecr"


def serving_reach_problems(
    network: NetworkSpec | ExistingNetworkSpec | None, region: str | None, engine: EngineSection | None
) -> list[str]:
    """Hosts ask ECS, which no endpoint of a network of this library is for, and pull the engine's image.

    Args:
        network: The network section; None when it has not the right form.
        region: The Region; None likewise.
        engine: The engine; None likewise.
    """
    if network is None or network.has_nat or region is None:
        return []
    at = Region(name=region)
    place = node_place(network, at, at="host")
    if place is None:
        return []
    options = ["", *([_registry(engine)] if engine is not None else [])]
    found = [each for option in options for each in wanted("serving", option, place, "'serving'")]
    targets = [target for each in found for target in each.address.targets if target.asked_in(region)]
    hosts = [at.write(target.host) for target in targets if not judge_target(target, place, at).reached]
    asked = ", ".join(dict.fromkeys(hosts))
    return [f"'nat' of the network must be one or per-zone for 'serving', got none: its hosts ask {asked}"]


def _registry(section: EngineSection) -> str:
    """Return the registry of the engine's image, as the table of fetches calls it."""
    if section.repository_arn is not None:
        return _ECR
    host = (values.engine(section, values.Presence()).image.reference or "").partition("/")[0]
    return host if host in _PUBLIC else _ECR
