"""What a constructor was given, held against its specification: types and kinds, as a file's sections are when read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from enum import Enum
from typing import Any, Final, TypeVar, cast

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.options.fields import Chosen, Field, Items, Json, Named, Object, Part, Scalar, Shape, fields_of
from cdk_trainyard.options.kinds import NOWHERE, Arn, Environment, Kind
from cdk_trainyard.options.repeated import repeated_problems
from cdk_trainyard.options.secrets import secret_problem
from cdk_trainyard.options.stand_ins import Enumeration, StandIn
from cdk_trainyard.options.wiring import got, wiring_problems
from cdk_trainyard.problems import At, Flaw, Problem, either
from cdk_trainyard.tokens import Unknown, unresolved

_Spec = TypeVar("_Spec")
_WORDS: Final = {int: "a whole number", float: "a number", bool: "True or False", str: "text"}


def given(spec: Callable[..., _Spec], keywords: Mapping[str, Any]) -> _Spec:
    """Return what a constructor was given as its specification.

    Args:
        spec: The specification.
        keywords: The constructor's ``locals()``; what the specification does not have is a construct, or left alone.

    Raises:
        ConfigurationError: Constructs of another kind than the keyword takes.
    """
    if problems := wiring_problems(keywords):  # whatever else is judged asks these constructs
        raise_problems(keywords["self"], problems)
    options = fields_of(cast("type", spec)).items()
    said = {name: (option, keywords[name]) for name, option in options if name in keywords}
    return spec(**{name: value for name, (option, value) in said.items() if not left_out(option, value)})


def _name_of_type(value: Any) -> Any:
    """Return the name of an ``ec2.InstanceType``; any other value as it is."""
    is_type = type(value).__name__ == "InstanceType" and hasattr(type(value), "__jsii_type__")
    return value.to_string() if is_type else value


def left_out(option: Field, value: Any) -> bool:
    """Return whether a value says nothing, so that the specification's default counts.

    A signature cannot have an object for a default, as a duration or a part: it has None, where None is no value of the
    option's own.
    """
    items = option.default if isinstance(option.default, tuple) else (option.default,)
    plain = all(isinstance(item, str | int | float | Enum | Enumeration | None) for item in items)
    return value is None and not option.required and not option.optional and not plain


@dataclass(frozen=True, kw_only=True, slots=True)
class Judge:
    """Judges types and kinds of values.

    Attributes:
        environment: Where the stack goes.
        problems: What was found.
    """

    environment: Environment
    problems: list[Problem] = field(default_factory=list)

    def judged(self, value: _Spec, at: At = ()) -> _Spec:
        """Return a specification with unknowns where a value is of a wrong type or kind, so that rules can be asked.

        Args:
            value: The specification.
            at: Where it stands.
        """
        spec: type = type(value)
        better: dict[str, Any] = {}
        for name, option in fields_of(spec).items():
            inner = getattr(value, name)
            if inner is None and option.optional:
                continue
            found = self._value(option.shape, inner, (*at, name))
            if found is not inner:
                better[name] = found
        return cast("_Spec", replace(cast("Any", value), **better)) if better else value

    def _value(self, shape: Shape, value: Any, at: At) -> Any:  # noqa: PLR0911  one for each shape
        if unresolved(value):
            return self._token(shape, value, at)
        match shape:
            case Scalar():
                if isinstance(value, shape.also):
                    return value
                return self._scalar(shape.type, shape.kinds, _name_of_type(value), at)
            case Object():
                return self._object(shape, value, at)
            case Part():
                specs = (shape.spec, shape.existing) if shape.existing else (shape.spec,)
                if is_dataclass(value) and isinstance(value, specs):
                    return self.judged(value, at)
                return self._wrong(at, either(f"{spec.__name__}(…)" for spec in specs), value)
            case Chosen():
                return self.judged(value, at) if is_dataclass(value) else self._wrong(at, "a specification", value)
            case Items():
                return self._items(shape, value, at)
            case Named() | Json():
                return self._mapping(shape, value, at)

    def _token(self, shape: Shape, value: Any, at: At) -> Any:
        """Take a Token for a value or for a list of values, and for nothing that has options of its own."""
        if isinstance(value, Unknown | list | tuple) or isinstance(shape, Scalar | Object):
            return value
        return self._refused(at, "must be known when the app is synthesized, got a Token; write it out")

    def _items(self, shape: Items, value: Any, at: At) -> Any:
        if isinstance(value, str) or not isinstance(value, Sequence):
            return self._wrong(at, "a list", value)
        names = [getattr(item, shape.by_name, index) if shape.by_name else index for index, item in enumerate(value)]
        found = [self._value(shape.item, item, (*at, name)) for name, item in zip(names, value, strict=True)]
        self.problems.extend(repeated_problems(shape, [_name_of_type(item) for item in value], at, self.environment))
        return value if all(new is old for new, old in zip(found, value, strict=True)) else tuple(found)

    def _mapping(self, shape: Named | Json, value: Any, at: At) -> Any:
        if not isinstance(value, Mapping):
            return self._wrong(at, "a mapping", value)
        if isinstance(shape, Json):
            return value
        for name in value:
            found = self._said(shape.names, name)
            self.problems.extend(wrong.as_name().at((*at, name), of_key=True) for wrong in found)
        items = {name: self._value(shape.item, item, (*at, name)) for name, item in value.items()}
        return value if all(items[name] is item for name, item in value.items()) else items

    def _scalar(self, wanted: type, kinds: Sequence[Kind], value: Any, at: At) -> Any:
        if issubclass(wanted, Enum):
            if isinstance(value, wanted):
                return value
            return self._wrong(at, either(f"{wanted.__name__}.{member.name}" for member in wanted), value)
        fits = isinstance(value, (int, float) if wanted is float else wanted)
        if not fits or (isinstance(value, bool) and wanted is not bool):
            return self._wrong(at, _WORDS[wanted], value)
        return self._of_kinds(kinds, value, value, at)

    def _object(self, shape: Object, value: Any, at: At) -> Any:
        wanted = shape.type
        if isinstance(value, StandIn):
            return self._of_kinds((wanted.kind,), value.value, value, at)
        if shape.section is not None and isinstance(value, shape.section.spec):
            return self.judged(value, at)
        if not wanted.stands_for(value):
            return self._wrong(at, wanted.what, value)
        if isinstance(wanted.kind, Arn) and not unresolved(arn := getattr(value, wanted.member)):
            wrong = wanted.kind.elsewhere(arn, self.environment)
            self.problems.extend([wrong.at(at)] if wrong else [])
        return value

    def _of_kinds(self, kinds: Sequence[Kind], value: Any, right: Any, at: At) -> Any:
        if text := secret_problem(value):
            return self._refused(at, text)
        self.problems.extend(wrong.at(at) for wrong in self._said(kinds, value))
        return Unknown() if any(kind.problem(value, NOWHERE) for kind in kinds) else right

    def _said(self, kinds: Sequence[Kind], value: Any) -> list[Flaw]:
        return [wrong for kind in kinds if (wrong := kind.problem(value, self.environment))]

    def _wrong(self, at: At, wanted: str, value: Any) -> Unknown:
        return self._refused(at, f"must be {wanted}, got {got(value)}")

    def _refused(self, at: At, text: str) -> Unknown:
        self.problems.append(Problem(at, text))
        return Unknown()
