"""What secrets look like, in a script or in a text that reaches a template. Pure."""

import re
from collections.abc import Iterator
from typing import Final

TOKENS: Final = {
    "hf_": "(?:[A-Za-z]{34}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{30,})(?![A-Za-z0-9_-])",
    **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{30,}"),
    "github_pat_": "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}",
    "glpat-": "(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",
    "AIza": "[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    **dict.fromkeys(("xoxb-", "xoxp-", "xapp-"), "[0-9][A-Za-z0-9-]{19,}"),
}
"""Beginnings of tokens, as their makers document them, and patterns of what follows: Hugging Face ("User access
tokens"), GitHub ("About authentication to GitHub"), GitLab ("Token prefixes"), Google Cloud ("Manage API keys"), Slack
("Tokens"); read 2026-11. Names and placeholders begin so too: what follows must have a digit. By the rules of gitleaks
(read 2026-11), Slack's begin with one, and Hugging Face's may be 34 letters without any."""
_PRIVATE_KEY: Final = re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_ACCESS_KEY: Final = re.compile(rb"A[KS]IA(?<!\wA[KS]IA)(?![A-Z0-9]*EXAMPLE)[A-Z0-9]{16}\b")
_KEY_VALUE: Final = rb"[\"']?\]?[ \t]*[=:, \t][ \t]*[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
_PATTERNS: Final = (
    (_PRIVATE_KEY, "a private key"),
    (_ACCESS_KEY, "an AWS access key"),
    *(
        (re.compile(name + _KEY_VALUE), "an AWS secret access key")
        for name in (b"aws_secret_access_key", b"AWS_SECRET_ACCESS_KEY")
    ),
    (re.compile(rb"AccountKey=(?<!\wAccountKey=)([A-Za-z0-9+/]{86}==)"), "a key of Azure Storage"),
    (
        re.compile(rb"hooks\.(?<!\whooks\.)slack\.com/services/(T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{24})\b"),
        "a webhook of Slack",
    ),
    *((re.compile(f"{begin}(?<![A-Za-z0-9_-]{begin}){rest}".encode()), "a token") for begin, rest in TOKENS.items()),
)
"""Each with a literal beginning: so megabytes are searched at once."""
_PLACEHOLDER: Final = re.compile(rb"EXAMPLE|YOUR|REPLACE|PLACEHOLDER|TOKEN", re.IGNORECASE)
_LEAST_SIGNS: Final = 12
"""Different characters of a secret; what has fewer holds its place, as ``hf_xxxx``."""


def secrets_in(data: bytes) -> Iterator[tuple[str, int]]:
    """Yield what looks like a secret and where it begins, the first of each kind.

    Args:
        data: What is looked at.
    """
    for pattern, what in _PATTERNS:
        if found := next(filter(_is_real, pattern.finditer(data)), None):
            yield what, found.start()


def secret_problem(value: object) -> str | None:
    """Return what is wrong with a text that reaches a template where it holds a secret, which is not shown, or None.

    Args:
        value: The text; anything else holds none.
    """
    what = (
        next((what for what, _ in secrets_in(value.encode(errors="replace"))), None) if isinstance(value, str) else None
    )
    why = "everybody who reads the template reads it"
    return what and f"must hold no secret: {why}, got {what}; keep it in AWS Secrets Manager and fetch it from there"


def _is_real(found: re.Match[bytes]) -> bool:
    secret = found[found.lastindex or 0]
    made_up = _PLACEHOLDER.search(secret) or len(set(secret)) < _LEAST_SIGNS
    return found.re in {_PRIVATE_KEY, _ACCESS_KEY} or not made_up
