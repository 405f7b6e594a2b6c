"""Whether an image is known, can be built, and fits the instance types. Pure: nothing is created here."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from cdk_trainyard.fleet.images import KnownImage, known_base, known_image, names_of_family, other_device
from cdk_trainyard.fleet.rules_drivers import build_driver_problems, build_for
from cdk_trainyard.fleet.rules_parameter import parameter_problems
from cdk_trainyard.fleet.spec_image import NodeImage, TrainingImageSpec
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import At, Problem, either, option, shown, within
from cdk_trainyard.tokens import dummy, unresolved
from cdk_trainyard.versions import (
    Judgement,
    default_efa_installer,
    image_facts,
    judge_efa,
    judge_lustre,
    judge_nvidia,
)

_SOURCES = ("dlami", "ami_id", "parameter", "build")
_OF_ONES_OWN = ("architecture", "user")
LONGEST_COMPONENT = 16_000
"""Characters of a component's document (CreateComponent, ``data``)."""
_AROUND_COMMANDS = 400
"""Characters of the document around the commands, with room to spare."""
_QUOTES_OF_ITS_OWN = re.compile(r"[#`]|\$[({']|<<")
"""Where Bash reads quotes otherwise: comments, substitutions, ``$'…'`` and here-documents."""
_CLOSED = re.compile(r"""(?:[^\\'"]|\\.|'[^']*'|"(?:[^\\"]|\\.)*")*""", re.DOTALL)
"""Text with its quotes closed (bash(1), QUOTING)."""


def node_image_problems(image: NodeImage, environment: Environment) -> Iterator[Problem]:
    """Return everything that is wrong with an image by itself.

    Args:
        image: The image.
        environment: Region and account of its stack.
    """
    said = [source for source in _SOURCES if getattr(image, source) is not None]
    if not said:
        others = " or ".join(option(source) for source in _SOURCES[1:])
        yield Problem(("dlami",), f"or {others} must be given: which image it is")
    for source in said[1:]:
        remedy = "; to build on that one, name it as the 'base' instead" if source == "build" else ""
        yield Problem((source,), f"must be left out with {option(said[0])}: an image is one of them{remedy}")
    if isinstance(image.dlami, str) and unresolved(image.dlami) and not dummy(image.dlami):
        text = f"must be known when the app is synthesized, got a Token; use {option('parameter')}"
        yield Problem(("dlami",), text)
    if said and not {"ami_id", "parameter"} & set(said):
        for name in _OF_ONES_OWN:
            if getattr(image, name) is not None:
                yield Problem((name,), f"must be left out with {option(said[0])}, whose it is known")
    yield from parameter_problems(image)
    if image.said_build is not None:
        yield from within(("build",), training_image_problems(image.said_build, environment))


def drivers_problems(at: At, image: NodeImage, types: Sequence[InstanceType]) -> Iterator[Problem]:
    """The image runs on the processors of the types, and has drivers for their accelerators."""
    if unresolved(image):
        return
    known, build = known_image(image), image.said_build if at[-1] == "image" else None
    name = "" if unresolved(known.name) else shown(known.name)
    for kind in types:
        if not unresolved(known.architecture) and known.architecture not in {None, kind.architecture}:
            wanted = f"must be one for {kind.architecture}, the architecture of {kind.name}"
            got = f"{name or 'one'} for {known.architecture}"
            if at != ("image",):
                wanted = f"must be one of {known.architecture}, the architecture of the image {name}".rstrip()
                got = f"{kind.name} of {kind.architecture}"
            yield Problem(at, f"{wanted}, got {got}")
        elif (
            (device := _device(kind))
            and not unresolved(known.families, *(known.families or ()))
            and (known.families is not None and kind.family not in known.families)
        ):
            if build is not None and build.families and kind.family in (known_base(build).families or ()):
                text = f"must have {kind.family} too, the family of {kind.name}, got {either(build.families)}"
                yield Problem((*at, "build", "families"), f"{text}; add it, or leave {option('families')} out")
                continue
            families = either(known.families) if known.families else "no accelerators"
            remedy = _remedy(kind) if known.families or image.said_build is None else _remedy_of_build(kind)
            yield Problem(
                at,
                f"must be one with drivers for the {device} devices of {kind.name}, got "
                f"{name or 'one'} for {families}; {remedy}",
            )


def _device(kind: InstanceType) -> str | None:
    return kind.accelerators[0].name if kind.accelerated else other_device(kind.family)


def _remedy(kind: InstanceType) -> str:
    if named := names_of_family(kind.family):
        return f"use {either(named)}"
    if kind.gpus and kind.architecture == "x86_64":
        return f"no Deep Learning AMI is made for it any more: use {build_for(kind.family)}"
    return "use an AMI of yours by its id"


def _remedy_of_build(kind: InstanceType) -> str:
    branch = "'nvidia_branch' or " if kind.gpus else ""
    return f"give its 'build' a base with them, or 'families' [{kind.family}] and {branch}'commands' that install them"


# ---------------------------------------------------------------- images that are built
def training_image_problems(spec: TrainingImageSpec, environment: Environment) -> list[Problem]:
    """Return everything that would end a build.

    Args:
        spec: The image.
        environment: Region and account of its stack.
    """
    return [
        *builder_problems(spec),
        *build_driver_problems(spec),
        *snapshot_problems(spec.volume_gib, known_base(spec)),
        *base_user_problems(spec),
        *regions_problems(spec, environment),
        *schedule_problems(spec),
        *commands_problems(spec),
        *quotes_problems(spec),
        *(Problem(at, text) for at, judgement in build_judgements(spec) for text in judgement.refused),
    ]


def route_problems(*, has_nat: bool) -> Iterator[Problem]:
    """A build fetches packages from outside."""
    if not has_nat:
        yield Problem(("network",), "must have NAT: the build of an image fetches packages from outside, got none")


def builder_problems(spec: TrainingImageSpec) -> Iterator[Problem]:
    """What builds has the architecture of the base, and is sold on demand, as Image Builder launches it."""
    if unresolved(spec.instance_type):
        return
    base, kind = known_base(spec), InstanceType.find(spec.instance_type)
    if kind is not None and base.architecture not in {None, kind.architecture}:
        text = f"must be one of {base.architecture}, the architecture of the base {shown(base.name)}"
        yield Problem(("instance_type",), f"{text}, got {kind.name} of {kind.architecture}")
    elif kind is not None:
        yield from sold_problems(kind)


def sold_problems(kind: InstanceType) -> Iterator[Problem]:
    """A master, and what builds, are bought on demand."""
    classes = kind.usage_classes
    if classes and UsageClass.ON_DEMAND not in classes:
        text = f"must be one that is sold on-demand, got {kind.name}, which is sold as {' or '.join(sorted(classes))}"
        yield Problem(("instance_type",), text)


def snapshot_problems(size: int, image: KnownImage) -> Iterator[Problem]:
    """A volume is no smaller than what it is made of."""
    if image.least_gib is not None and not unresolved(size) and size < image.least_gib:
        text = f"must be {image.least_gib} GiB or more for {shown(image.name)}, whose snapshot is larger, got {size}"
        yield Problem(("volume_gib",), f"{text}; leave it out for 200")


def base_user_problems(spec: TrainingImageSpec) -> Iterator[Problem]:
    """The user of a base that is known is known."""
    if spec.user is not None and not unresolved(spec.base) and known_base(spec).parameter is not None:
        yield Problem(("user",), f"must be left out with the base {shown(spec.base)}, whose it is known")


def regions_problems(spec: TrainingImageSpec, environment: Environment) -> Iterator[Problem]:
    """Images are copied within a partition."""
    for index, region in enumerate(spec.regions):
        partition = None if unresolved(region) else Environment(region=region).partition
        if None not in {partition, environment.partition} and partition != environment.partition:
            text = f"must be a Region of the partition {environment.partition}, as the stack's is, got {shown(region)}"
            yield Problem(("regions", index), text)


def schedule_problems(spec: TrainingImageSpec) -> Iterator[Problem]:
    """The base changes meanwhile: else it starts no build.

    Source: CreateImagePipeline of EC2 Image Builder in botocore's model, ``schedule``, and its
    ``pipelineExecutionStartCondition``.
    """
    at = ("schedule",)
    if spec.schedule is None:
        return
    facts = None if unresolved(spec.base) else image_facts(spec.base)
    if not unresolved(spec.base) and (spec.base.startswith("ami-") or (facts and not facts.moving)):
        why = "which never changes, so that nothing is built; run the build command instead"
        yield Problem(at, f"must be left out with the base {shown(spec.base)}, {why}")


def commands_problems(spec: TrainingImageSpec) -> Iterator[Problem]:
    """All commands fit into one component."""
    length = sum(len(command) + 1 for command in spec.commands if not unresolved(command))
    most = LONGEST_COMPONENT - _AROUND_COMMANDS
    if length > most:
        text = f"must have {most} characters together at most, all that a component of Image Builder holds"
        yield Problem(("commands",), f"{text}, got {length}; fetch a script instead")


def quotes_problems(spec: TrainingImageSpec) -> Iterator[Problem]:
    """Quotes are closed, in a later command at the latest: all of them are lines of one script."""
    if unresolved(*spec.commands) or any(map(_QUOTES_OF_ITS_OWN.search, spec.commands)):
        return
    script = "".join(f"{command}\n" for command in spec.commands)
    open_from = len(script) - len(_CLOSED.sub("", script, count=1))
    if open_from < len(script):
        opened = sum(end <= open_from for end in accumulate(len(command) + 1 for command in spec.commands))
        text = f"must close its quotes, got {shown(spec.commands[opened])}; Bash would not run it"
        yield Problem(("commands", opened), text)


def keeps_efa(spec: TrainingImageSpec) -> bool:
    """Return whether a base has an EFA of its own, which stays: a Deep Learning AMI that is told no installer."""
    return spec.efa_installer is None and known_base(spec).families != ()


def build_judgements(spec: TrainingImageSpec) -> Iterator[tuple[At, Judgement]]:
    """Judge what is installed against the kernel of the base, each with the option that says so.

    Args:
        spec: The image.
    """
    installer = spec.efa_installer
    version = default_efa_installer() if installer is None else installer.version
    if unresolved(spec.base, installer, version, spec.nvidia_branch, spec.families, *spec.families):
        return
    facts = image_facts(spec.base)
    if facts is None:
        said = (
            f"no source says which kernel {spec.base!r} has, so whether EFA and Lustre fit it is seen when it is built"
        )
        yield ("base",), Judgement(unknown=(said,))
        return
    yield ("base",), judge_lustre(facts)
    if not keeps_efa(spec):
        yield ("efa_installer", "version") if installer else ("efa_installer",), judge_efa(version, facts)
    if spec.nvidia_branch is not None and known_base(spec).families == ():
        yield (
            ("nvidia_branch",),
            judge_nvidia(spec.nvidia_branch, facts, spec.families or known_base(spec).families or ()),
        )
