"""Kinds of texts that several rooms have: names of hosts, URLs, images, and free text that reaches a template."""

import re
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.options.kinds import SUFFIXES, Environment, Text
from cdk_trainyard.problems import shown

_LABEL: Final = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NO_REFERENCE: Final = r"(?!.*(\{\{resolve:|\$\{))"
_PART: Final = r"[a-z0-9]+([._-]+[a-z0-9]+)*"

DNS_NAME: Final = Text(
    pattern=rf"({_LABEL}\.)+(?![0-9]){_LABEL}",
    words="a domain name alone, without scheme, port, path or wildcard",
    example="models.example.com",
    longest=253,
)
"""RFC 1123, section 2.1; a last label of digits would be an address."""


class ImageText(Text):
    """An image that a host pulls: of another machine than itself, and of its own partition."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> str | None:
        """Match it, and look at its registry."""
        if text := Text.problem(self, value, environment):
            return text
        host = value.partition("/")[0].partition(":")[0]
        if host == "localhost":
            return f"must be in a registry that hosts reach, got {shown(value)}, which is one on the host itself"
        found, wanted = PRIVATE_IMAGE.fullmatch(value), environment.partition
        if found is None or wanted is None:
            return None
        place = Environment(region=found["region"])
        there, domain = place.partition, found["domain"]
        if domain in SUFFIXES - {place.suffix} or domain.endswith(".cn") != (there == "aws-cn"):
            remedy = f"; use {place.suffix} in place of {domain}" if domain in SUFFIXES else ""
            return f"must have the domain of partition {there}, where {found['region']} is, got {shown(value)}{remedy}"
        if there == wanted:
            return None
        return f"must be in a registry of partition {wanted}, got {shown(value)} of {there}; copy it to one there"


IMAGE_REFERENCE: Final = ImageText(
    pattern=rf"{_LABEL}([.]{_LABEL})*(:[0-9]{{1,5}})?(/{_PART})+(:[A-Za-z0-9_][A-Za-z0-9._-]{{0,127}})?"
    r"(@sha256:[0-9a-f]{64})?",
    words="an image with its registry, and a tag or a digest unless it is latest",
    example="registry.example.com/team/image:1.0",
    longest=512,
)
"""``reference`` of distribution/reference, lower-case repositories. ECS hands it on to Docker (``ContainerDefinition``,
``image``, botocore), which takes latest where it names neither a tag nor a digest."""
IMAGE_TAG: Final = Text(
    pattern=r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|sha256:[0-9a-f]{64}",
    words="a tag or a digest of an image",
    example="1.0",
)
"""The same: ``tag`` and ``digest``."""
PRIVATE_IMAGE: Final = re.compile(
    r"(?P<account>[0-9]{12})\.(dkr\.ecr|dkr-ecr)(-fips)?\.(?P<region>[a-z0-9-]+)"
    r"\.(?P<domain>[a-z0-9.-]+)/(?P<repository>[^:@]+)([:@].*)?"
)
"""An image in a private registry of ECR (ECR user guide, "Amazon ECR registries" and "Amazon ECR endpoints"): also of
both stacks, and in the domain of every partition."""
LINE: Final = Text(
    pattern=rf"{_NO_REFERENCE}[^\x00-\x1f\x7f-\x9f\u2028\u2029]*",
    words="one line without '${' and '{{resolve:', which CloudFormation and shells take for references",
    example="some words",
    shortest=0,
)
"""Free text that reaches a template."""
VARIABLE: Final = Text(pattern=r"[A-Za-z_][A-Za-z0-9_]*", words="the name of an environment variable", example="LEVEL")

TOKENS: Final = {
    "hf_": "(?:[A-Za-z]{34}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{30,})(?![A-Za-z0-9_-])",
    **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{30,}"),
    "github_pat_": "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}",
    "glpat-": "(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",
    **dict.fromkeys(("xoxb-", "xoxp-", "xapp-"), "[0-9][A-Za-z0-9-]{19,}"),
}
"""Beginnings of tokens, as their makers document them, and patterns of what follows: Hugging Face ("User access
tokens"), GitHub ("About authentication to GitHub"), GitLab ("Token prefixes"), Slack ("Tokens"); read 2026-11. Names
and placeholders begin so too: what follows must have a digit. By the rules of gitleaks (read 2026-11), Slack's begin
with one, and Hugging Face's may be 34 letters without any."""


@dataclass(frozen=True, slots=True)
class HttpsUrl:
    """An HTTPS URL that a service is told, without a user and a password."""

    def problem(self, value: Any, _environment: Environment) -> str | None:
        """Match it; what may hold a password is not shown."""
        fits, example = re.fullmatch(_HTTPS, value) is not None, "as https://issuer.example.com/pool"
        port = value.removeprefix("https://").partition("/")[0].partition(":")[2]
        if not fits and "@" in value:
            return f"must be an https URL without user and password, {example}; take out what stands before '@'"
        if not fits:
            return f"must be an https URL, {example}, got {shown(value)}"
        if port and not 1 <= int(port) <= _LAST_PORT:
            return f"must have a port of 1 to {_LAST_PORT}, or none for 443, got {shown(value)}"
        if len(value) > _LONGEST_URL:
            return f"must have 1 to {_LONGEST_URL} characters, got {len(value)}"
        return None

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {
            "pattern": f"^(?:{_HTTPS})$",
            "patternErrorMessage": "must be an https URL",
            "examples": ["https://issuer.example.com/pool"],
            "maxLength": _LONGEST_URL,
        }


HTTPS_URL: Final = HttpsUrl()
_HTTPS: Final = rf"https://{_LABEL}(\.{_LABEL})*(:[0-9]{{1,5}})?(/[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*)?"
_LONGEST_URL: Final = 256
"""Of Elastic Load Balancing (``JwtValidationActionConfig``), the smallest that any service has."""
_LAST_PORT: Final = 65535


_PAGES: Final = (
    (r"https://github\.com/([^/?#]+/[^/?#]+)/blob/([^?#]+)(#.*)?", r"https://raw.githubusercontent.com/\1/\2"),
    (r"https://gitlab\.com/([^?#]+)/-/blob/([^?#]+)(#.*)?", r"https://gitlab.com/\1/-/raw/\2"),
    (r"https://([a-z0-9-]+\.)*console\.(aws\.amazon\.com|amazonaws-us-gov\.com|amazonaws\.cn)([/?#].*)?", ""),
)
"""Pages that show a file, and where the file itself is (GitHub Docs, "Viewing and understanding files"; GitLab's
"Repository files"; AWS Management Console, which asks everybody to sign in)."""


def page_problem(url: str) -> str | None:
    """Return what is wrong with an address that answers a web page in place of a file, or None.

    Args:
        url: The address.
    """
    for page, raw in _PAGES:
        if found := re.fullmatch(page, url):
            remedy = f"use {shown(found.expand(raw))}" if raw else "give that of the file itself"
            return f"must be the address of a file, got a web page that shows it, {shown(url)}; {remedy}"
    return None


@dataclass(frozen=True, slots=True)
class FetchedUrl:
    """An HTTPS URL that nodes fetch from and whoever reads the template may see: no password, no query."""

    def problem(self, value: Any, _environment: Environment) -> str | None:
        """Match it; it is not shown where it may hold a password."""
        if re.fullmatch(_FETCHED, value):
            return page_problem(value)
        got = "" if re.search("[@?]", value) else f", got {shown(value)}"
        return f"must begin with https:// and hold no password, blank or query, as https://mirror.example/simple{got}"

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {"pattern": f"^(?:{_FETCHED})$", "examples": ["https://mirror.example/simple"]}


_FETCHED: Final = r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/([A-Za-z0-9._~!&*+,;=:@()/-]|%[0-9A-Fa-f]{2})*)?"
