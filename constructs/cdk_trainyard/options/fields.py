"""The options of a specification: what a frozen dataclass says of itself.

A specification (``spec.py`` of a room) declares each option once: name, type, default, and below it a docstring. What
this module finds out from that serves the constructor, the deployment file, its JSON Schema and its reference.
"""

import ast
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from cdk_trainyard.options.kinds import Choice, Kind
from cdk_trainyard.options.stand_ins import CDK_TYPES, StandIn


@dataclass(frozen=True, slots=True)
class ByName:
    """Marks a sequence of parts that is a mapping in a file: each part's name is its key.

    Attributes:
        field: The part's field that has the name.
    """

    field: str = "name"


@dataclass(frozen=True, slots=True)
class Repeats:
    """Marks a sequence whose values may stand in it twice, as arguments may; others name each once."""


@dataclass(frozen=True, slots=True)
class Unless:
    """Marks ``New | Existing``: a file's section with this key describes something that exists already.

    Attributes:
        key: A key that only the second of both has.
    """

    key: str


@dataclass(frozen=True, slots=True)
class Unit:
    """Marks a duration: the unit in which a file has it, which its key ends with.

    Attributes:
        name: ``seconds``, ``minutes``, ``hours`` or ``days``.
    """

    name: Literal["seconds", "minutes", "hours", "days"]

    @property
    def seconds(self) -> int:
        """Seconds in it."""
        return {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}[self.name]


@dataclass(frozen=True, slots=True)
class Said:
    """Marks an option that a file calls something else, or that only one of both has.

    Attributes:
        key: Its key in a file. None: a file does not have it.
        python: Whether the constructor has it.
    """

    key: str | None
    python: bool = True


@dataclass(frozen=True, slots=True)
class NoneAs:
    """Marks an option that may be None, which a file writes as a value.

    Attributes:
        value: What a file writes.
    """

    value: Any


@dataclass(frozen=True, slots=True)
class InFile:
    """Marks an object of CDK for which a file has a section that says which one it is.

    Attributes:
        spec: The section's specification.
    """

    spec: type


@dataclass(frozen=True, slots=True)
class Chosen:
    """Marks a part whose specification another option of the whole decides.

    Attributes:
        key: That option's key.
        spec: From its value to the specification; None when it is none of those that are known.
        choices: Returns the values that are known. Default - none is named where a key is one of another's.
    """

    key: str
    spec: Callable[[Any], type | None]
    choices: Callable[[], Iterable[str]] = tuple


@dataclass(frozen=True, slots=True)
class As:
    """Marks an object of CDK for which a file says something else than usual.

    Attributes:
        stand_in: What a file has in its place.
    """

    stand_in: type[StandIn]


INLINE: Final = "inline"
"""Marks a part whose options stand among those of the whole in a file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scalar:
    """A number, text, truth value or member of an enumeration, of certain kinds; in Python another object too."""

    type: type
    kinds: tuple[Kind, ...] = ()
    also: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Object:
    """An object of CDK, for which a file has a stand-in, a value that stands for nothing, or a section."""

    type: type[StandIn]
    unit: Unit | None = None
    nothing: Any = None
    section: "Part | None" = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A specification inside another one, or one of two of which a key decides."""

    spec: type
    existing: type | None = None
    unless: str = ""

    def chosen(self, keys: Any) -> type:
        """Return the specification that a section with these keys is of."""
        return self.existing if self.existing is not None and self.unless in keys else self.spec


@dataclass(frozen=True, kw_only=True, slots=True)
class Items:
    """Several values of one shape; a mapping in a file when parts have names there."""

    item: "Shape"
    by_name: str | None = None
    repeats: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """Values of one shape by names of the user's."""

    item: "Shape"
    names: tuple[Kind, ...] = ()


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON object that is handed on as it is."""


Shape = Scalar | Object | Part | Chosen | Items | Named | Json


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One option.

    Attributes:
        name: Its keyword in Python.
        key: Its key in a file. None: a file does not have it.
        shape: What its value is.
        optional: Whether it may be None.
        required: Whether it has no default.
        default: Its default.
        inline: Whether the options of the part stand among those of the whole in a file.
    """

    name: str
    key: str | None
    shape: Shape
    optional: bool
    required: bool
    default: Any
    inline: bool


@cache
def fields_of(spec: type) -> Mapping[str, Field]:
    """Return the options of a specification by their names in Python, in the order of their declaration.

    A field whose name begins with ``_`` is nobody's to say.
    """
    hints = get_type_hints(spec, localns=CDK_TYPES, include_extras=True)
    return {field.name: _field(field, hints[field.name]) for field in fields(spec) if not field.name.startswith("_")}


@cache
def keys_of(spec: type) -> Mapping[str, Field]:
    """Return the options that a file's section has by their keys, those of inline parts among them."""
    found: dict[str, Field] = {}
    for field in fields_of(spec).values():
        if field.inline and isinstance(field.shape, Part):
            found |= keys_of(field.shape.spec)
        elif field.key is not None:
            found[field.key] = field
    return found


def first_keys(spec: type, *, without: str = "") -> list[str]:
    """Return the keys that a section needs, else the one with which it most likely begins."""
    known = {key: option for key, option in keys_of(spec).items() if key != without}
    own = [key for key, option in known.items() if option.name in inspect.get_annotations(spec)]
    return [key for key in required_keys(spec) if key != without] or [next(iter([*own, *known]), "key")]


def likeliest_first(spec: type, keys: Iterable[str], given: Collection[str] = ()) -> list[str]:
    """Return keys in the order in which they help: those that a section lacks, its own, and what others have, too.

    Args:
        spec: The section's specification.
        keys: Keys of it.
        given: Those that stand there. Default - none is known.
    """
    options, lacking = keys_of(spec), {*required_keys(spec)}.difference(given)
    bases = [inspect.get_annotations(base) for base in spec.__mro__]
    of_base = {key: next((i for i, own in enumerate(bases) if options[key].name in own), len(bases)) for key in keys}
    return sorted(of_base, key=lambda key: (key not in lacking, of_base[key]))


def required_keys(spec: type) -> list[str]:
    """Return the keys without which a section is none."""
    keys: list[str] = []
    for field in fields_of(spec).values():
        if field.inline and isinstance(field.shape, Part):
            keys += [] if field.optional else required_keys(field.shape.spec)
        elif field.required and field.key is not None:
            keys.append(field.key)
    return keys


@cache
def docs_of(spec: type) -> Mapping[str, str]:
    """Return what stands below the options in the source, in one line each."""
    found: dict[str, str] = {}
    for base in reversed(spec.__mro__):
        if is_dataclass(base):
            [definition] = ast.parse(inspect.getsource(base)).body
            for node, text in pairwise(ast.iter_child_nodes(definition)):
                match node, text:
                    case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(docstring))):
                        found[name] = " ".join(docstring.split())
    return found


def default_in_words(spec: type, name: str) -> str:
    """Return what an option's docstring says of its default, without the full stop."""
    return docs_of(spec).get(name, "").partition("Default - ")[2].replace("``", "").removesuffix(".")


def _field(field: Any, hint: Any) -> Field:
    marks = list(get_args(hint)[1:]) if get_origin(hint) is Annotated else []
    choices = _choices(get_args(hint)[0] if marks else hint)
    types = [choice for choice in choices if choice is not NoneType]
    shape = _shape(types, marks)
    required = field.default is MISSING and field.default_factory is MISSING
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return Field(
        name=field.name,
        key=next((mark.key for mark in marks if isinstance(mark, Said)), _key(field.name, shape)),
        shape=shape,
        optional=NoneType in choices,
        required=required,
        default=None if required else default,
        inline=INLINE in marks,
    )


def _key(name: str, shape: Shape) -> str:
    match shape:
        case Object(unit=Unit(name=unit)):
            return f"{name}_{unit}"
        case Object(type=kind) if not name.endswith(kind.suffix):
            return f"{name}{kind.suffix}"
        case Items(item=Object(type=kind)) if kind.suffix:
            return f"{name.removesuffix('s')}{kind.suffix}s"
    return name


def _shape(types: Sequence[Any], marks: Sequence[Any]) -> Shape:
    """Return the shape of a type, or of a union of a specification and one of what exists already."""
    if chosen := next((mark for mark in marks if isinstance(mark, Chosen)), None):
        return chosen
    if types[0] is str:  # a name, for which Python may have an object
        return Scalar(type=str, kinds=_marked(marks), also=tuple(types[1:]))
    if len(types) > 1:
        [unless] = [mark for mark in marks if isinstance(mark, Unless)]
        new, existing = types
        return Part(spec=new, existing=existing, unless=unless.key)
    [found] = types
    if get_origin(found) is Annotated:
        found, *inner = get_args(found)
        return _shape(_choices(found), [*marks, *inner])
    return _plain_shape(found, marks)


def _plain_shape(found: Any, marks: Sequence[Any]) -> Shape:
    kinds = _marked(marks)
    origin, arguments = get_origin(found), get_args(found)
    shape: Shape
    if origin is Literal:
        shape = Scalar(type=type(arguments[0]), kinds=kinds or (Choice(values=arguments),))
    elif origin in {tuple, Sequence}:
        by_name = next((mark.field for mark in marks if isinstance(mark, ByName)), None)
        repeats = any(isinstance(mark, Repeats) for mark in marks)
        shape = Items(item=_shape([arguments[0]], kinds), by_name=by_name, repeats=repeats)
    elif origin is Mapping:
        shape = Json() if arguments[1] is Any else Named(item=_shape([arguments[1]], ()), names=_kinds(arguments[0]))
    elif issubclass(found, StandIn):
        found = next((mark.stand_in for mark in marks if isinstance(mark, As)), found)
        unit = next((mark for mark in marks if isinstance(mark, Unit)), None)
        nothing = next((mark.value for mark in marks if isinstance(mark, NoneAs)), None)
        section = next((Part(spec=mark.spec) for mark in marks if isinstance(mark, InFile)), None)
        shape = Object(type=found, unit=unit, nothing=nothing, section=section)
    elif is_dataclass(found):
        shape = Part(spec=cast("type", found))
    else:
        shape = Scalar(type=found, kinds=kinds)
    return shape


def _choices(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the one type."""
    return get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)


def _kinds(annotation: Any) -> tuple[Kind, ...]:
    return _marked(get_args(annotation)[1:])


def _marked(marks: Sequence[Any]) -> tuple[Kind, ...]:
    return tuple(mark for mark in marks if hasattr(mark, "problem"))
