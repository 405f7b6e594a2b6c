"""Which rules the parts of the serving section are asked, as far as they have the right form."""

from cdk_trainyard.deployment._sections import Said, Sections
from cdk_trainyard.deployment.network import AnyNetwork
from cdk_trainyard.deployment.serving import rules
from cdk_trainyard.deployment.serving.reach import serving_reach_problems
from cdk_trainyard.deployment.serving.section import (
    CompileSection,
    DoorSection,
    EngineSection,
    HostsSection,
    ModelSection,
    ScalingSection,
    ServiceMonitoringSection,
    ServingSection,
)


def serving_said(sections: Sections) -> Said:
    """Ask the rules of what is served.

    Args:
        sections: The parts of the file that have the right form.
    """
    yield from _served(sections)
    yield from _door(sections)
    monitoring = sections.get(ServiceMonitoringSection, "serving", "monitoring")
    if monitoring is not None:
        yield ("serving", "monitoring"), rules.monitoring_problems(monitoring)


def _served(sections: Sections) -> Said:
    model = sections.get(ModelSection, "serving", "model")
    engine = _or_default(sections, EngineSection, "engine")
    hosts = sections.get(HostsSection, "serving", "hosts")
    region = sections.get(str, "region")
    shapeless = rules.shape_choice_problems(model) if model is not None else []
    yield ("serving", "model"), shapeless
    if engine is not None:
        yield ("serving", "engine"), rules.repository_problems(engine)
    if model is None or engine is None or region is None or shapeless:
        return
    if hosts is not None and _sound(sections, "scaling"):
        yield (
            ("serving",),
            rules.service_problems(
                model,
                engine,
                hosts,
                sections.get(ScalingSection, "serving", "scaling"),
                region=region,
                request_seconds=sections.get(int, "serving", "request_timeout_seconds")
                or ServingSection.model_fields["request_timeout_seconds"].default,
            ),
        )
    compilation = sections.get(CompileSection, "serving", "compile")
    if compilation is not None:
        yield ("serving",), rules.compile_problems(compilation, model, engine, region=region)


def _door(sections: Sections) -> Said:
    door = sections.get(DoorSection, "serving", "door")
    region = sections.get(str, "region")
    network = sections.get(AnyNetwork, "network")
    if door is not None:
        yield ("serving", "door", "authentication"), rules.caller_problems(door)
    if door is not None and region is not None:
        yield ("serving", "door"), rules.door_problems(door, region)
    yield ("network",), serving_reach_problems(network, region, _or_default(sections, EngineSection, "engine"))
    if door is not None and network is not None:
        yield ("network",), rules.place_problems(door, network)
        yield ("serving", "door"), rules.client_problems(door, network)


def _or_default(sections: Sections, kind: type[EngineSection], key: str) -> EngineSection | None:
    """Return a section that may be left out; None when it is there in another form."""
    found: EngineSection | None = sections.get(kind, "serving", key)
    return kind() if found is None and _sound(sections, key) else found


def _sound(sections: Sections, key: str) -> bool:
    """Say whether a section that may be left out is left out, or has the right form."""
    return key not in sections.keys("serving") or sections.get(object, "serving", key) is not None
