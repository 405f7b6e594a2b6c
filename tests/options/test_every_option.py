"""Every option of every specification is of a kind, and rules that kinds leave a value to are there."""

from collections.abc import Iterator
from importlib import import_module

from cdk_trainyard.deployment.orchestrators import OWN
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.options.fields import Chosen, Items, Named, Object, Part, Scalar, Shape, fields_of
from cdk_trainyard.options.kinds import NOWHERE, Environment, Kind, Open
from cdk_trainyard.options.reading import Reader
from tests.options.test_defaults import specifications
from tools.keywords import PACKAGE


def reachable(*tops: type) -> Iterator[type]:
    """Yield specifications and those inside them, each once."""
    known, left = set[type](), list(tops)
    while left:
        spec = left.pop()
        if spec not in known:
            known.add(spec)
            yield spec
            left += [part for option in fields_of(spec).values() for part in parts(option.shape)]


def parts(shape: Shape) -> Iterator[type]:
    match shape:
        case Part():
            yield from filter(None, (shape.spec, shape.existing))
        case Chosen():
            yield from filter(None, map(shape.spec, ORCHESTRATORS))
        case Items() | Named():
            yield from parts(shape.item)
        case Object(section=Part() as section):
            yield section.spec


ORCHESTRATORS = tuple(OWN)
OPTIONS = [
    (spec, name, option)
    for spec in reachable(DeploymentSpec, *specifications())
    for name, option in fields_of(spec).items()
]
HERE = Environment(region="us-east-1", account="111111111111")
WRONG = ("${AWS::Region}", "{{resolve:ssm:/x}}", "a\nb", "a\x00", "a\x7fb")
"""What must reach no template, no script and no configuration file as a value."""
COMMANDS = {"a\nb", "a\x7fb"}
"""A shell command has lines."""


def scalars(shape: Shape) -> Iterator[Scalar]:
    match shape:
        case Scalar():
            yield shape
        case Items() | Named():
            yield from scalars(shape.item)


def open_kinds(shape: Shape) -> Iterator[Open]:
    return (kind for scalar in scalars(shape) for kind in scalar.kinds if isinstance(kind, Open))


def test_texts_and_numbers_are_of_a_kind() -> None:
    assert {
        f"{spec.__name__}.{name}"
        for spec, name, option in OPTIONS
        for each in scalars(option.shape)
        if each.type in {str, int, float} and not each.kinds
    } == set()


def test_names_of_the_users_own_are_of_a_kind() -> None:
    named = {f"{spec.__name__}.{name}": option.shape for spec, name, option in OPTIONS}
    assert {place for place, shape in named.items() if isinstance(shape, Named) and not shape.names} == set()


def test_no_text_is_a_reference_or_several_lines() -> None:
    assert {
        (f"{spec.__name__}.{name}", value)
        for spec, name, option in OPTIONS
        for kinds in (scalar.kinds for scalar in scalars(option.shape) if scalar.type is str)
        if not any(isinstance(kind, Open) for kind in kinds)
        for value in WRONG
        if not refused(kinds, value) and not (name == "commands" and value in COMMANDS)
    } == set()


def number(shape: Shape) -> bool:
    wanted = shape.type if isinstance(shape, Scalar) else shape.type.written if isinstance(shape, Object) else None
    return wanted in {int, float}


def test_a_number_beyond_all_range_is_too_long() -> None:
    taken = []
    for spec, name, option in OPTIONS:
        for digits in (308, 309, 400) if number(option.shape) and option.key else ():
            reader = Reader(environment=HERE)
            reader.read(spec, {option.key: f"{10**digits}"}, ())
            said = [problem.text for problem in reader.problems if problem.at == (option.key,)]
            if [" of at most 18 digits, got " in text for text in said] != [True]:
                taken.append((f"{spec.__name__}.{name}", digits, said))
    assert taken == []


def refused(kinds: tuple[Kind, ...], value: str) -> bool:
    return any(kind.problem(value, HERE) or kind.problem(value, NOWHERE) for kind in kinds)


def test_what_a_kind_leaves_to_a_rule_has_one() -> None:
    named = {kind.rule for _, _, option in OPTIONS for kind in open_kinds(option.shape)}
    defined = {
        name
        for path in PACKAGE.rglob("rules*.py")
        for name in vars(import_module(".".join(("cdk_trainyard", *path.relative_to(PACKAGE).with_suffix("").parts))))
    }
    assert named
    assert sorted(named - defined) == []
