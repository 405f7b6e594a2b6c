"""Token guards: what is known at deployment only is not judged.

CDK is not asked, and not even imported: it writes Tokens in text as ``${Token[…]}``, in lists of text as
``#{Token[…]}``, in numbers as floats whose first 16 bits are FBFF, and as objects that can be resolved (aws-cdk-lib,
``core/lib/private/encoding.ts``). What was written in a wrong form counts as unresolved as well: it is
answered where it is read, and nothing that follows from it is. So do the values that CDK puts in place of what it has
yet to look up (``from_lookup``, ``value_from_lookup``): its CLI looks everything up after a first synthesis, and throws
that away.
"""

import re
import struct
from typing import Any, Final

_IN_TEXT: Final = re.compile(r"\$\{Token\[[a-zA-Z0-9_:. -]*\.[0-9]+\]\}")
_IN_LIST: Final = "#{Token["
_TOKEN_BITS: Final = 0xFBFF
_DUMMIES: Final = frozenset(
    {
        *("dummy1a", "dummy1b", "dummy1c", "1.2.3.4/5", "vpc-12345", "s-12345", "s-67890", "p-12345", "p-67890"),
        *("rtb-12345s", "rtb-67890s", "rtb-12345p", "rtb-57890p", "ami-1234", "pl-xxxxxxxx"),
    }
)  # aws-cdk-lib: core/lib/stack.ts, aws-ec2/lib/vpc.ts, machine-image.ts and prefix-list.ts; a test compares
UNKNOWN: Final = "\ue002"
"""What an unknown is as text: a private character, so that a sentence that shows one can be told, and is not said."""
_DUMMY_PARTS: Final = ("dummy-value-for-", "/DUMMY_ARN")  # aws-ssm/lib/parameter.ts; roles and repositories


def unresolved(*values: object) -> bool:
    """Return whether any of ``values`` is a Token, or text that holds one, and so cannot be judged here."""
    return any(_is_token(value) for value in values)


def dummy(value: object) -> bool:
    """Return whether a value stands for one that CDK has yet to look up.

    Args:
        value: Any value.
    """
    return isinstance(value, str) and (value in _DUMMIES or any(part in value for part in _DUMMY_PARTS))


def looks_like_token(text: str) -> bool:
    """Return whether CDK would take text for a Token, or for a list's.

    Args:
        text: What stands in a file, where no Token can be.
    """
    return _IN_TEXT.search(text) is not None or text.startswith(_IN_LIST)


def _is_token(value: object) -> bool:
    match value:
        case str():
            return ("{Token[" in value and _IN_TEXT.search(value) is not None) or dummy(value)
        case float():
            return bool(struct.unpack(">Q", struct.pack(">d", value))[0] >> 48 == _TOKEN_BITS)
        case list() | tuple():
            return any(isinstance(item, str) and item.startswith(_IN_LIST) for item in value)
        case Unknown():
            return True
        case _:
            return hasattr(value, "__jsii_type__") and hasattr(value, "resolve")


class Unknown:
    """Stands for a value that was written in a wrong form, so that the rules of everything else can still be asked.

    It has every attribute and every item, each as unknown as itself, equals nothing, and is longer or greater than
    nothing: a rule that looks at it finds nothing wrong.
    """

    def __getattr__(self, name: str) -> "Unknown":
        """Return an unknown."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_args: Any, **_more: Any) -> "Unknown":
        """Return an unknown."""
        return self

    def __repr__(self) -> str:
        """Be what no sentence shows."""
        return UNKNOWN

    def __iter__(self) -> Any:
        """Have no items."""
        return iter(())

    def __len__(self) -> int:
        """Have no items."""
        return 0

    def __bool__(self) -> bool:
        """Be there."""
        return True

    def __contains__(self, _item: object) -> bool:
        """Hold nothing."""
        return False

    def _no(self, _other: object) -> bool:
        return False

    def _same(self, *_other: object) -> "Unknown":
        return self

    def __hash__(self) -> int:
        """Be itself."""
        return id(self)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no
    __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = _same
