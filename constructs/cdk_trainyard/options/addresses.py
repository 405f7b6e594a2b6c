"""Addresses over HTTPS: one form for all, and what each kind of them may have beside it."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any, Final
from urllib.parse import quote

from cdk_trainyard.options.kinds import NOBODYS, ONE_EACH, Environment
from cdk_trainyard.problems import Flaw, shown

LABEL: Final = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
"""RFC 1123, section 2.1."""
OCTET: Final = r"(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
PORT: Final = r"0*([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
"""A port of TCP that can be asked (RFC 9293, section 3.1: 16 bits; RFC 6335, section 6: 0 is reserved)."""
SECOND_ADDRESS: Final = r"[,;\s](https?|s3)://"
"""Where another one begins in a text with more than one."""
PORTS: Final = "must have a port of 1 to 65535, or none for 443"
_LONGEST_NAME: Final = 253
_PARTS: Final = re.compile(r"https://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>.*)", re.DOTALL)
_SIGNS: Final = r"A-Za-z0-9._~:/?#@!&()*+,;="
_QUOTES: Final = r"$'"
_BRACKETS: Final = r"\[\]"
"""RFC 3986, section 2: reserved and unreserved characters without brackets; quotes and dollars are the shell's too. In
queries brackets are common, and sent as they are (URL Standard, "query percent-encode set")."""
_REFERENCE: Final = re.compile(r"\$\{|\{\{resolve:")
_NOT_PUBLIC: Final = (".alt", ".home.arpa", ".internal", ".invalid", ".local", ".localhost", ".onion", ".test")
"""IANA, "Special-Use Domain Names", and ICANN's resolution 2024.07.29.06 on ``internal``."""
_OF_HOSTS: Final = {"ip6-localhost", "ip6-loopback"}
"""Names of the loopback interface beside ``localhost`` in ``/etc/hosts`` of Ubuntu."""
_PAGES: Final = (
    (r"https://github\.com/([^/?#]+/[^/?#]+)/blob/([^?#]+)(#.*)?", r"https://raw.githubusercontent.com/\1/\2"),
    (r"https://gitlab\.com/([^?#]+)/-/blob/([^?#]+)(#.*)?", r"https://gitlab.com/\1/-/raw/\2"),
    (r"https://([a-z0-9-]+\.)*console\.(aws\.amazon\.com|amazonaws-us-gov\.com|amazonaws\.cn)([/?#].*)?", ""),
)
"""Pages that show a file, and where the file itself is (GitHub Docs, "Viewing and understanding files"; GitLab's
"Repository files"; AWS Management Console, which asks everybody to sign in)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Url:
    """An HTTPS URL without a user and a password; what may hold a secret is not shown.

    Attributes:
        form: What else will do, after "must be". Default - nothing.
        example: One that fits.
        longest: Characters at most. Default - any number.
        query: Whether it may have a query or a fragment, and the shell's quotes: whoever reads the template sees it.
        file: Whether it must have a path.
        public: Which service of AWS fetches what over the internet. Default - nodes, which reach private hosts too.
    """

    form: str = ""
    example: str = "https://mirror.example/simple"
    longest: int | None = None
    query: bool = False
    file: bool = False
    public: str = ""

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Look at its parts, one after the other."""
        parts = _PARTS.fullmatch(value)
        host, colon, port = parts["authority"].partition(":") if parts else ("", "", "")
        fits = parts is not None and _is_host(host) and (not colon or re.fullmatch(PORT, port, re.ASCII))
        if not fits and _has_password(value):
            remedy = "; take out what stands before '@'"
            return Flaw(f"must be a URL without user and password, as {self.example}", remedy=remedy)
        got = "" if "?" in value or (not fits and "@" in value) else shown(value)
        if re.search(SECOND_ADDRESS, value.partition("?")[0]):
            return Flaw("must be one address alone", got=got, remedy=ONE_EACH)
        if parts is None:
            words = self.form or f"an https URL, as {self.example}"
            small = "; write https:// in small letters" if value.lower().startswith("https://") else ""
            return Flaw(f"must be {words}", got=got, remedy=small)
        if _REFERENCE.search(value):
            return Flaw("must be without '${' and '{{resolve:', in whose place nothing is put", got=got)
        fault = _host_fault(host, got) or (None if fits else Flaw(PORTS, got=got))
        return fault or self._sign_fault(parts["path"], parts["query"], got) or self._use_fault(host, parts)

    def _sign_fault(self, path: str, query: str, got: str) -> Flaw | None:
        if query and not self.query:
            return Flaw("must be without a query and a fragment, which begin with '?' and '#'", got=got)
        other = rf"[^{self._signs()}%s%%-]|%%(?![0-9A-Fa-f]{{2}})"
        if wrong := re.search(other % "", path) or re.search(other % _BRACKETS, query):
            sign = wrong[0]
            return Flaw(
                f"must have {sign!r} as {quote(sign)}" if sign.isprintable() else f"must have no {sign!r}", got=got
            )
        return None

    def _use_fault(self, host: str, parts: re.Match[str]) -> Flaw | None:
        value, name, got = parts[0], host.removesuffix(".").lower(), shown(parts[0].partition("?")[0])
        if self.public and (not _is_global(name) or name.endswith(_NOT_PUBLIC)):
            return Flaw("must be at a domain of the internet", got=f"{got}: {self.public} from there")
        if is_own(name):
            return Flaw("must be at an address that another host has", got=got)
        if self.file and parts["path"] in {"", "/"}:
            return Flaw("must have the path of a file", got=got)
        if self.longest is not None and len(value) > self.longest:
            return Flaw(f"must have 1 to {self.longest} characters", got=str(len(value)))
        return _page_fault(value)

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        longest = {} if self.longest is None else {"maxLength": self.longest}
        path, query = (rf"([{self._signs()}{more}-]|%[0-9A-Fa-f]{{2}})*" for more in ("", _BRACKETS))
        rest = rf"(/{path})?([?#]{query})?"
        return {
            "pattern": rf"^(?:https://{LABEL}(\.{LABEL})*\.?(:{PORT})?{rest})$",
            "patternErrorMessage": f"must be {self.form or 'an https URL'}",
            "examples": [self.example],
            **longest,
        }

    def _signs(self) -> str:
        return f"{_SIGNS}{_QUOTES if self.query else ''}"


def _has_password(url: str) -> bool:
    """Whether something before '@' may be a password, which may have slashes, in what is not right before its path."""
    _, scheme, rest = url.partition("://")
    user = r"[^/?#@]*@|(?!\[)[^/?#@:]*:(?![0-9]*/)[^@]*@" if scheme else "[^/?#@]*:[^@]*@"
    return re.match(user, rest if scheme else url) is not None


def _is_host(host: str) -> bool:
    """Whether it is a domain name, or four numbers where it ends in a number (URL Standard, "ends in a number")."""
    labels = host.removesuffix(".").split(".")
    if len(host) > _LONGEST_NAME or not all(re.fullmatch(LABEL, label) for label in labels):
        return False
    return not labels[-1].isdigit() or _ipv4(host) is not None


def _host_fault(host: str, got: str) -> Flaw | None:
    if _is_host(host):
        return None
    remedy = "" if host.isascii() else "; write an international name as DNS has it, with xn--"
    remedy = "; an IPv6 address is not taken here" if host.startswith("[") else remedy
    return Flaw("must have a domain name or an IPv4 address as its host", got=got, remedy=remedy)


def _ipv4(host: str) -> IPv4Address | None:
    try:
        return IPv4Address(host.removesuffix("."))
    except ValueError:
        return None


def is_own(host: str) -> bool:
    """Whether a name in small letters, or an address, is each host's own, or nobody's (RFC 6761, section 6.3).

    Args:
        host: The name, without a dot at its end.
    """
    address = _ipv4(host)
    return is_loopback(host) if address is None else any(address in block for block in NOBODYS)


def is_loopback(host: str) -> bool:
    """Whether a name in small letters, or an address, is each host's own.

    Args:
        host: The name, without a dot at its end.
    """
    address = _ipv4(host)
    if address is not None:
        return address.is_loopback
    return f".{host}".endswith((".localhost", ".localhost.localdomain")) or host in _OF_HOSTS


def _is_global(host: str) -> bool:
    address = _ipv4(host)
    return "." in host if address is None else address.is_global


def _page_fault(url: str) -> Flaw | None:
    """Return what is wrong with an address that answers a web page in place of a file, or None."""
    for page, raw in _PAGES:
        if found := re.fullmatch(page, url):
            remedy = f"use {shown(found.expand(raw))}" if raw else "give that of the file itself"
            got = f"a web page that shows it, {shown(url)}"
            return Flaw("must be the address of a file", got=got, remedy=f"; {remedy}")
    return None
