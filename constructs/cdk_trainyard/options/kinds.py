"""Kinds of values: what a text, a number or an ARN must look like, wherever it stands.

One table for the whole library: an option is annotated with a kind, and the constructor, the deployment file, its JSON
Schema and its reference ask the kind. A text without a kind is refused by a test, as it would reach a template, a
script or a configuration file unlooked at.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network
from typing import Any, Final, Protocol

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.options.signs import UNSEEN, unseen
from cdk_trainyard.partitions import domain_of, partition_of
from cdk_trainyard.problems import Flaw, either, shown


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """Where something is deployed, as far as it is known.

    Attributes:
        region: The Region. None: not known.
        account: The account number. None: not known.
        regions: The Regions that there are, as far as somebody knows them; ARNs of another one lead nowhere.
        offered: Those of them that have what is deployed, which are proposed before others. Empty: that is not known.
    """

    region: str | None = None
    account: str | None = None
    regions: frozenset[str] = frozenset()
    offered: frozenset[str] = frozenset()

    @property
    def partition(self) -> str | None:
        """The partition of the Region."""
        return None if self.region is None else partition_of(self.region)

    @property
    def suffix(self) -> str | None:
        """The domain of the services of the Region's partition."""
        return None if self.region is None else domain_of(self.region)


NOWHERE: Final = Environment()
"""An environment of which nothing is known."""
ALL_IN: Final = "the reference of the deployment file"
"""Where all choices are listed."""
_FEW: Final = 8
"""Choices that a sentence names all."""


class Kind(Protocol):
    """What a value must be. What is wrong without an environment is wrong in form; the rest is out of place there."""

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Return what is wrong with a value of the right type, after the option's name, or None."""

    def schema(self) -> dict[str, Any]:
        """Return the keywords of JSON Schema that say the same, as far as it can."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A number within bounds.

    Attributes:
        minimum: The smallest. None: there is none.
        maximum: The largest. None: there is none.
        unit: What is counted, in messages.
    """

    minimum: float | None = None
    maximum: float | None = None
    unit: str = ""

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Compare with the bounds."""
        low, high = self.minimum, self.maximum
        if (low is None or value >= low) and (high is None or value <= high):
            return None
        unit = self.unit and f" {self.unit}"
        bounds = (
            f"at most {high}{unit}"
            if low is None
            else f"{low}{unit} or more"
            if high is None
            else f"{low} to {high}{unit}"
        )
        return Flaw(f"must be {bounds}", got=shown(value))

    def schema(self) -> dict[str, Any]:
        """Return the bounds."""
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        return {word: bound for word, bound in bounds.items() if bound is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """One of several values.

    Attributes:
        values: The values.
        open: Whether another value may be right too, which a rule decides: editors complete, and nothing is refused.
        where: Where all of them are listed, when they are many.
        offered: Those that are named where none was given. Empty: all.
        remedy: From a text that is none to what to do about it, as the end of a sentence; nothing where the nearest of
            those that are offered will do.
    """

    values: tuple[Any, ...]
    open: bool = False
    where: str = ALL_IN
    offered: tuple[Any, ...] = ()
    remedy: Callable[[str], str] | None = None

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Look for the value."""
        if self.open or value in self.values:
            return None
        offered, hint = self.offered or self.values, ""
        if isinstance(value, str):
            hint = (self.remedy(value) if self.remedy else "") or did_you_mean(value, offered)
        elif len(offered) > _FEW and type(value) is int and all(type(each) is int for each in offered):
            around = [max((each for each in offered if each < value), default=None)]
            around += [min((each for each in offered if each > value), default=None)]
            hint = f"; the nearest are {around[0]} and {around[1]}" if None not in around else ""
        return Flaw(f"must be {either(map(str, offered), all_in=self.where)}", got=shown(value), remedy=hint)

    def schema(self) -> dict[str, Any]:
        """Return the values."""
        return {"anyOf": [{"enum": list(self.values)}, {}]} if self.open else {"enum": list(self.values)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """Text of a certain form.

    Attributes:
        pattern: A regular expression for all of it.
        words: What it is, after "must be".
        example: One that fits.
        longest: Characters at most.
        shortest: Characters at least.
    """

    pattern: str
    words: str
    example: str
    longest: int | None = None
    shortest: int = 1
    remedy: str = ""

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Match the text."""
        if re.fullmatch(self.pattern, value) is None:
            remedy = self.remedy and f"; {self.remedy}"
            return Flaw(f"must be {self.words}, as {self.example}", got=shown(value), remedy=remedy)
        if not self.shortest <= len(value) <= (self.longest or len(value)):
            bounds = f"{self.shortest} to {self.longest}" if self.longest else f"{self.shortest} or more"
            return Flaw(f"must have {bounds} characters", got=str(len(value)))
        return None

    def schema(self) -> dict[str, Any]:
        """Return the pattern, with words for editors that show them."""
        length = {"minLength": self.shortest} if self.shortest > 1 else {}
        longest = {"maxLength": self.longest} if self.longest else {}
        return {
            "pattern": f"^(?:{self.pattern})$",
            "patternErrorMessage": f"must be {self.words}",
            "examples": [self.example],
            **length,
            **longest,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Arn:
    """The ARN of one kind of resource, of the deployment's partition, Region and account.

    Attributes:
        service: The service's part.
        resource: A regular expression for what follows the account.
        form: The same in words, for messages.
        what: What it is the ARN of.
        regional: Whether it has a Region; it must be the deployment's.
        any_region: Whether another Region will do.
        any_account: Whether another account's will do.
        of_aws: Whether it may be one of AWS's own, which have ``aws`` for an account.
    """

    service: str
    resource: str
    form: str
    what: str
    regional: bool = True
    any_region: bool = False
    any_account: bool = True
    of_aws: bool = False

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Compare each part."""
        if re.search(rf"{_BETWEEN}arn:[a-z-]+:|arn:[a-z-]+:{self.service}:", value.strip()[1:]):
            return Flaw("must be one ARN alone", got=shown(value), remedy=ONE_EACH)
        found = _ARN.fullmatch(value)
        if found is None or found["service"] != self.service:
            return self._refused(value, environment)
        resource = re.fullmatch(self.resource, found["resource"], re.ASCII)
        of_aws = found["account"] == _AWS and not self.of_aws
        if resource is None or of_aws or bool(found["region"]) is not self.regional:
            return self._refused(value, environment)
        return self.elsewhere(value, environment) or _nowhere(found["partition"], found["region"], environment, value)

    def _refused(self, value: str, environment: Environment) -> Flaw:
        got = f"{shown(value)}{(sign := unseen(value)) and f' with {sign}'}"
        return Flaw(f"must be the ARN of {self.what}, {self._form(environment)}", got=got)

    def elsewhere(self, value: str, environment: Environment) -> Flaw | None:
        """Compare the place alone: partition, Region and account, as far as they are known."""
        found = _ARN.fullmatch(value)
        if found is None:
            return None
        region = environment.region if self.regional and not self.any_region else None
        wanted = {
            "partition": environment.partition,
            "region": region if found["region"] else None,
            "account": None if self.any_account or found["account"] == _AWS else environment.account,
        }
        names = {"region": "Region"}
        wrong = [f"{names.get(name, name)} {want}" for name, want in wanted.items() if want not in {None, found[name]}]
        return Flaw(f"must be of {' and '.join(wrong)}", got=shown(value)) if wrong else None

    def schema(self) -> dict[str, Any]:
        """Return the form as a pattern."""
        region, aws = "[a-z0-9-]+" if self.regional else "", "|aws" if self.of_aws else ""
        return {
            "pattern": f"^arn:[a-z0-9-]+:{self.service}:{region}:([0-9]{{12}}{aws}):(?:{self.resource})$",
            "patternErrorMessage": f"must be the ARN of {self.what}",
            "examples": [self._form(Environment())],
        }

    def _form(self, environment: Environment) -> str:
        own = None if self.any_region else environment.region
        region = (own or "<region>") if self.regional else ""
        account = (None if self.any_account else environment.account) or "<account>"
        partition = environment.partition or "<partition>"
        return f"arn:{partition}:{self.service}:{region}:{account}:{self.form}"


REGION: Final = r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}"
_AWS: Final = "aws"
_BETWEEN: Final = r"[,;|\s]"
"""What is between values in one text. Other ARNs may be in names: ``TargetTracking-arn:…`` is an alarm of Application
Auto Scaling for what is known to it by an ARN."""
ONE_EACH: Final = "; write one, and in a list one item each"
_ARN: Final = re.compile(
    r"(?!.*(\{\{resolve:|\$\{))arn:(?P<partition>[a-z0-9-]+):(?P<service>[a-z0-9-]+)"
    rf":(?P<region>({REGION})?):(?P<account>[0-9]{{12}}|aws):(?P<resource>[^{UNSEEN}]+(?<!\s))"
)


def _nowhere(partition: str, region: str, environment: Environment, value: str) -> Flaw | None:
    """Return what is wrong with an ARN whose Region is in another partition, or in none."""
    if not region:
        return None
    wanted = Environment(region=region).partition
    if partition != wanted:
        return Flaw(f"must be of partition {wanted}, where {region} is", got=shown(value))
    return region_flaw(region, environment, value)


def region_flaw(region: str, environment: Environment, value: str) -> Flaw | None:
    """Return what is wrong with a value of a Region that there is not, as far as somebody knows those of its partition.

    Args:
        region: The Region that the value names.
        environment: Where the deployment goes.
        value: The value.
    """
    partition = Environment(region=region).partition
    neighbors = {known for known in environment.regions if Environment(region=known).partition == partition}
    if neighbors and region not in neighbors:
        hint = did_you_mean(region, neighbors)
        return Flaw("must be of a Region that there is", got=shown(value), remedy=hint)
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Cidr:
    """An IPv4 block.

    Attributes:
        masks: Lengths of its prefix that are allowed.
        within: Blocks, one of which it must be within. Default - anywhere.
        words: What it is, after "must be".
    """

    masks: tuple[int, int] = (0, 32)
    within: tuple[IPv4Network, ...] = ()
    words: str = "an IPv4 block, as 10.1.0.0/16"

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Read the block: four numbers and a length, no bit set behind it."""
        low, high = self.masks
        form = re.fullmatch(r"((0|[1-9][0-9]{0,2})\.){3}(0|[1-9][0-9]{0,2})/(0|[1-9][0-9]?)", value)
        try:
            block = IPv4Network(value if form else "", strict=False)
        except ValueError:
            return Flaw(f"must be {self.words}", got=shown(value))
        if not low <= block.prefixlen <= high:
            return Flaw(f"must have a mask of /{low} to /{high}", got=shown(value))
        if self.within and not any(block.subnet_of(other) for other in self.within):
            return Flaw(f"must be private, within one of {', '.join(map(str, self.within))}", got=shown(value))
        if str(block) != value:
            return Flaw("must begin where its mask says", got=shown(value), remedy=f"; use {block}")
        if any(block.subnet_of(other) for other in NOBODYS):
            return Flaw("must be of addresses that hosts have", got=shown(value))
        return None

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {"pattern": r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$", "examples": ["10.1.0.0/16"]}


NOBODYS: Final = tuple(
    IPv4Network(block) for block in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4")
)
"""This network, loopback, link-local, multicast and reserved (IANA IPv4 Special-Purpose Address Registry)."""


@dataclass(frozen=True, slots=True)
class Email:
    """An e-mail address alone, without the name of a person: SNS takes no other (Subscribe, Endpoint)."""

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Match its two sides: a local part without quotes, and a domain name of two labels or more."""
        if re.fullmatch(_EMAIL, value, re.ASCII) and max(map(len, value.partition("@"))) <= _LONGEST_SIDE:
            local, most = value.index("@"), _LONGEST_LOCAL
            return Flaw(f"must have at most {most} characters before '@'", got=str(local)) if local > most else None
        return Flaw("must be one e-mail address and nothing else, as ops@example.com", got=shown(value))

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {"pattern": f"^(?:{_EMAIL})$", "examples": ["ops@example.com"]}


_EMAIL: Final = (
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])"
)
"""``dot-atom`` at a domain name (RFC 5322, section 3.4.1)."""
_LONGEST_SIDE, _LONGEST_LOCAL = 253, 64
"""RFC 1035, section 2.3.4, as text; RFC 5321, section 4.5.3.1.1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Open:
    """A value that a rule of the room judges: its form is not of a kind that others have.

    Attributes:
        rule: The name of the rule, which a test looks for.
        examples: For editors and the reference.
        keywords: Further keywords of JSON Schema.
    """

    rule: str
    examples: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict, hash=False)

    def problem(self, _value: Any, _environment: Environment) -> Flaw | None:
        """Leave it to the rule."""
        return None

    def schema(self) -> dict[str, Any]:
        """Return what editors may know."""
        return {**self.keywords, **({"examples": list(self.examples)} if self.examples else {})}


def counted(kinds: Iterable[Kind]) -> str:
    """Return what a number of such kinds counts, after ``a number``; nothing where it has no unit."""
    return next((f" of {kind.unit}" for kind in kinds if isinstance(kind, Number) and kind.unit), "")


class ResourceId(Text):
    """An id of EC2 or FSx; what ends with one, as the ARN of the same thing, is answered with it."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match the id, else look for one at the end."""
        wrong, found = Text.problem(self, value, environment), re.search(f"[/:]({self.pattern})$", value)
        return replace(wrong, remedy=f"; use {shown(found[1])}") if wrong and found else wrong


def resource_id(prefix: str, what: str) -> ResourceId:
    """Return the kind of an id of EC2 or FSx."""
    example = f"{prefix}-0123456789abcdef0"
    return ResourceId(pattern=rf"{prefix}-[0-9a-f]{{8}}([0-9a-f]{{9}})?", words=f"the id of {what}", example=example)
