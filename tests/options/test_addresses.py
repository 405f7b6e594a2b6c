"""Addresses over HTTPS: their parts, and who fetches from them."""

import re

import pytest

from cdk_trainyard.options.addresses import Url
from cdk_trainyard.options.kinds import NOWHERE

INDEX = Url()
FILE = Url(example="https://files.example/a.deb", file=True)
SCRIPT = Url(form="an address", query=True, file=True)
KEYS = Url(example="https://issuer.example/pool", longest=256, query=True, public="a service fetches the keys")
PORT = "must have a port of 1 to 65535, or none for 443"
HOST = "must have a domain name or an IPv4 address as its host"
QUERY = "must be without a query and a fragment, which begin with '?' and '#'"
OTHER = "must be at an address that another host has"
PUBLIC = "must be at a domain of the internet"
REFERENCE = "must be without '${' and '{{resolve:', in whose place nothing is put"
PAGE = "must be the address of a file, got a web page that shows it"


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        (INDEX, "https://mirror.example"),
        (INDEX, "https://mirror.example/simple/"),
        (INDEX, "https://Mirror-1.example.:65535/a%20b/(c)@d"),
        (INDEX, "https://10.0.0.5:8443/simple"),
        (INDEX, "https://mirror/simple"),
        (INDEX, "https://xn--msli-0ra.example/simple"),
        (FILE, "https://github.com/a/b/releases/download/v1/blob/x.sh"),
        (FILE, "https://raw.githubusercontent.com/a/b/main/x.sh"),
        (FILE, "https://gitlab.com/a/b/c/-/raw/main/x.sh"),
        (FILE, "https://console.example/x.sh"),
        (SCRIPT, "https://b.s3.us-west-2.amazonaws.com/x.sh?versionId=a"),
        (SCRIPT, "https://files.example/x.sh?token=a"),
        (SCRIPT, "https://b.s3.us-west-2.amazonaws.com/x.sh?AWSAccessKeyId=a&Expires=2000000000&Signature=a"),
        (KEYS, "https://issuer.example/pool/.well-known/jwks.json"),
        (KEYS, "https://i.example:8443"),
        (KEYS, "https://i.example:8443/@me?a=$b#c[]"),
        (KEYS, "https://8.8.8.8/keys"),
    ],
)
def test_takes_what_is_right(kind: Url, url: str) -> None:
    assert kind.problem(url, NOWHERE) is None
    assert re.search(kind.schema()["pattern"], url)


@pytest.mark.parametrize(
    ("kind", "url", "text"),
    [
        (INDEX, "http://i.example", "must be an https URL, as https://mirror.example/simple, got 'http://i.example'"),
        (SCRIPT, "http://i.example/x", "must be an address, got 'http://i.example/x'"),
        (SCRIPT, "HTTPS://i.x/x", "must be an address, got 'HTTPS://i.x/x'; write https:// in small letters"),
        (SCRIPT, "https://i.example:99999/@a/x.sh", PORT),
        (SCRIPT, "https://my_i.example:8443/@a/x.sh", HOST),
        (SCRIPT, "https://[fd00::1]:8443/@a/x.sh", f"{HOST}; an IPv6 address is not taken here"),
        (INDEX, "https://i.example/a[]", "must have '[' as %5B, got 'https://i.example/a[]'"),
        (KEYS, "https://", f"{HOST}, got 'https://'"),
        *(
            (INDEX, f"https://i.x:{port}/a", f"{PORT}, got 'https://i.x:{port}/a'")
            for port in ("0", "99999", "abc", "")
        ),
        *(
            (INDEX, f"https://{host}/x", f"{HOST}, got 'https://{host}/x'")
            for host in ("a..b", "-a.b", "a-.b", f"{'a' * 64}.b", "1.2.3", "999.1.1.1", "a b")
        ),
        *(
            (INDEX, f"https://{host}/x", f"{HOST}, got 'https://{host}/x'; an IPv6 address is not taken here")
            for host in ("[::1]", "[::1", "[zz]")
        ),
        (
            FILE,
            "https://müsli.example/x",
            f"{HOST}, got 'https://müsli.example/x'; write an international name as DNS has it, with xn--",
        ),
        (KEYS, "https://i.example/${x}", f"{REFERENCE}, got 'https://i.example/${{x}}'"),
        (INDEX, "https://i.example/a b", "must have ' ' as %20, got 'https://i.example/a b'"),
        (FILE, "https://i.example/%zz", "must have '%' as %25, got 'https://i.example/%zz'"),
        (KEYS, "https://i.example/a\n", "must have no '\\n', got 'https://i.example/a\\n'"),
        (FILE, "https://i.example/x#y", f"{QUERY}, got 'https://i.example/x#y'"),
        (FILE, "https://i.example/x?token=y", QUERY),
        (FILE, "https://i.example/", "must have the path of a file, got 'https://i.example/'"),
        (SCRIPT, "https://i.example?a/b", "must have the path of a file, got 'https://i.example'"),
        *(
            (INDEX, f"https://{host}/x", f"{OTHER}, got 'https://{host}/x'")
            for host in ("localhost", "a.LOCALHOST.", "127.0.0.1", "169.254.169.254", "0.0.0.0")  # noqa: S104
        ),
        *(
            (INDEX, f"https://{host}/x", f"{OTHER}, got 'https://{host}/x'")
            for host in ("localhost.localdomain", "ip6-localhost")
        ),
        *(
            (KEYS, f"https://{host}/x", f"{PUBLIC}, got 'https://{host}/x': a service fetches the keys from there")
            for host in ("idp", "localhost", "10.1.1.1", "100.64.0.1", "169.254.1.1", "idp.corp.internal")
        ),
        *(
            (INDEX, text, f"must be one address alone, got {text!r}; write one, and in a list one item each")
            for text in ("https://a.b/x,https://c.d/x", "https://a.b;https://c.d", "https://a.b/x, https://c.d/x")
        ),
        (KEYS, f"https://i.example/{'a' * 256}", "must have 1 to 256 characters, got 274"),
        (
            FILE,
            "https://github.com/a/b/blob/main/x.sh",
            f"{PAGE}, 'https://github.com/a/b/blob/main/x.sh'; use 'https://raw.githubusercontent.com/a/b/main/x.sh'",
        ),
        (
            FILE,
            "https://gitlab.com/a/b/c/-/blob/main/x.sh",
            f"{PAGE}, 'https://gitlab.com/a/b/c/-/blob/main/x.sh'; use 'https://gitlab.com/a/b/c/-/raw/main/x.sh'",
        ),
        *(
            (FILE, f"https://{host}/s3/b", f"{PAGE}, 'https://{host}/s3/b'; give that of the file itself")
            for host in ("us-east-1.console.aws.amazon.com", "s3.console.aws.amazon.com")
        ),
    ],
)
def test_says_which_part_is_wrong(kind: Url, url: str, text: str) -> None:
    assert str(kind.problem(url, NOWHERE)) == text


@pytest.mark.parametrize(
    "url",
    [
        *("https://me:pass@i.example/keys", "http://me:p/s@i.example", "me:pass@i.example", "s3://key:pass@bucket/x"),
        *("https://pass@i.example", "https://me:p/s@i.example", "https://me:p?s@i.example"),
    ],
)
def test_a_password_is_not_shown(url: str) -> None:
    text = "must be a URL without user and password, as https://issuer.example/pool; take out what stands before '@'"
    assert str(KEYS.problem(url, NOWHERE)) == text
