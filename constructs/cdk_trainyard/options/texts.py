"""Kinds of texts that several rooms have: names of hosts, images, and free text that reaches a template."""

import re
from dataclasses import replace
from typing import Any, Final

from cdk_trainyard.options.addresses import LABEL, OCTET, PORT, PORTS, is_loopback, is_own
from cdk_trainyard.options.kinds import REGION, Environment, Text, region_flaw, resource_id
from cdk_trainyard.partitions import DOMAINS
from cdk_trainyard.problems import Flaw, shown

_NO_REFERENCE: Final = r"(?!.*(\{\{resolve:|\$\{))"
REPOSITORY: Final = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
"""``path-component`` of distribution/reference, and a part of ``RepositoryName`` of botocore's ECR model."""
_REGISTRY: Final = rf"{LABEL}([.]{LABEL})*(:{PORT})?"
_TAG: Final = r"(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?"
_DIGEST: Final = r"@sha256:[0-9a-f]{64}"

DNS_NAME: Final = Text(
    pattern=rf"({LABEL}\.)+(?![0-9]){LABEL}",
    words="a domain name alone, without scheme, port, path or wildcard",
    example="models.example.com",
    longest=253,
)
"""RFC 1123, section 2.1; a last label of digits would be an address."""

RESERVATION_ID: Final = resource_id("cr", "a capacity reservation or a capacity block")


class HostText(Text):
    """A host that a node asks, which may be the node itself."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match it, and look whether an address is one that hosts have."""
        wrong, host = Text.problem(self, value, environment), value.lower().removesuffix(".")
        if wrong or not is_own(host) or is_loopback(host):
            return wrong
        return Flaw("must be at an address that hosts have", got=shown(value))


_DATABASE_LABEL: Final = LABEL.replace("0-9", "0-9_")
DATABASE_HOST: Final = HostText(
    pattern=rf"(({_DATABASE_LABEL}\.)*(?![0-9]+\.?$){_DATABASE_LABEL}\.?|{OCTET}(\.{OCTET}){{3}})",
    words="a host name or an IPv4 address, and no more",
    example="slurm.example.internal",
    longest=254,
)
"""Where Slurm's accounting is kept: a name of one label or more, or an IPv4 address, which alone ends in a number (URL
Standard, "ends in a number"). ``StorageHost`` goes to the client library as it is, which takes either
(``mysql_real_connect`` of MySQL's C API; Slurm, src/database/mysql_common.c). A zone of one's own may have ``_`` in
its names (RFC 2181, section 11), and a dot at the end of a name is the root's (RFC 1034, section 3.1)."""
DATABASE_USER: Final = Text(
    pattern=rf"""{_NO_REFERENCE}[^\s"'`#=\\\x00-\x1f\x7f-\x9f]+""",
    words="the name of a MySQL user without blanks, quotes, '#', '=' and '\\', which slurmdbd.conf cannot have there",
    example="slurm",
    longest=32,
)
"""MySQL reference manual, "Account User Names and Passwords": 32 characters, of any alphabet. Slurm reads a line of
slurmdbd.conf as ``key=value`` up to a blank, a quote or ``#``, and ``\\`` as an escape (src/common/parse_config.c)."""

BUCKET_FOLDER: Final = r"(?!\.{1,2}(/|$))[A-Za-z0-9!_.()=-]+"
"""A part of a key between slashes: what is safe in keys (S3 user guide, "Naming Amazon S3 objects") and stands unquoted
in a line of /etc/fstab, a unit of systemd and a policy, so neither ``*`` nor ``'``; and ``=``, as tables have it."""
OBJECT_KEY: Final = Text(
    pattern=rf"(?!\s|\.\./|.*[\s/]$){_NO_REFERENCE}[\x20-\x7e\xa0-\xff]+",
    words="the key of an object, in signs of ISO 8859-1 as IAM's policies are, without '${', '{{resolve:', blanks "
    "at its ends, a first '../' or a last slash",
    example="tools/enroot.deb",
    longest=1024,
)
"""A key of S3 (S3 user guide, "Naming Amazon S3 objects", read 2026-11) that stands in a policy, too
(``policyDocumentType`` of botocore's IAM model: U+0020 to U+00FF)."""


class ImageText(Text):
    """An image that a host pulls: of another machine than itself, and of its own partition."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match it, and look at its registry."""
        registry, slash, _ = value.partition("/")
        host, _, port = registry.partition(":")
        if slash and port.isdigit() and not re.fullmatch(PORT, port):
            return Flaw(PORTS, got=shown(value))
        if wrong := Text.problem(self, value, environment):
            return wrong
        if slash and is_own(host.lower()):
            return Flaw("must be in a registry at an address that another host has", got=shown(value))
        return _registry_flaw(registry.lower(), value) or _elsewhere(value, environment)


class NodeImage(ImageText):
    """An image that a node pulls, also from a mirror on itself, which has a port."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Take a mirror's image by its form alone."""
        host, colon, _ = value.partition("/")[0].partition(":")
        is_mirror = colon and is_loopback(host.lower())
        return (Text if is_mirror else ImageText).problem(self, value, environment)


def _registry_flaw(registry: str, value: str) -> Flaw | None:
    """Return what is wrong with an image whose registry is a web page that shows images, or half an address of ECR."""
    if instead := _PAGES.get(registry):
        must, remedy = "must be in a registry, which a web page is not", f"; {registry} shows those of {instead}"
        return Flaw(must, got=shown(value), remedy=remedy)
    if registry == _PUBLIC and value.count("/") == 1:
        form = f"must be {_PUBLIC}/<alias>/<repository>, with a tag or a digest unless it is latest"
        return Flaw(form, got=shown(value))
    if _ECR.fullmatch(registry) and not PRIVATE_IMAGE.fullmatch(value):
        form = "must be <account of 12 digits>.dkr.ecr.<region>.amazonaws.com/<repository> in ECR"
        return Flaw(form, got=shown(value))
    return None


def _elsewhere(value: str, environment: Environment) -> Flaw | None:
    """Return what is wrong with an image that is in ECR of another partition, or in a domain of none."""
    found, wanted = PRIVATE_IMAGE.fullmatch(value), environment.partition
    if found is None:
        return None
    if wanted is None:
        return region_flaw(found["region"], environment, value)
    place = Environment(region=found["region"])
    there, domain = place.partition, found["domain"]
    if domain in DOMAINS - {place.suffix} or domain.endswith(".cn") != (there == "aws-cn"):
        remedy = f"; use {place.suffix} in place of {domain}" if domain in DOMAINS else ""
        must = f"must have the domain of partition {there}, where {found['region']} is"
        return Flaw(must, got=shown(value), remedy=remedy)
    if there == wanted:
        return region_flaw(found["region"], environment, value)
    got, remedy = f"{shown(value)} of {there}", "; copy it to one there"
    return Flaw(f"must be in a registry of partition {wanted}", got=got, remedy=remedy)


IMAGE_REFERENCE: Final = ImageText(
    pattern=rf"{_REGISTRY}(/{REPOSITORY})+{_TAG}({_DIGEST})?",
    words="an image with its registry, and a tag or a digest unless it is latest",
    example="registry.example.com/team/image:1.0",
    longest=512,
)
"""``reference`` of distribution/reference, lower-case repositories. ECS hands it on to Docker (``ContainerDefinition``,
``image``, botocore), which takes latest where it names neither a tag nor a digest."""
IMAGE_BY_DIGEST: Final = NodeImage(
    pattern=rf"({_REGISTRY}/)?{REPOSITORY}(/{REPOSITORY})*{_TAG}{_DIGEST}",
    words="an image by its digest",
    example="registry/name@sha256:<digest>",
)
"""The same, with a digest; without a registry it is one of Docker Hub."""
IMAGE_TAG: Final = Text(
    pattern=r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|sha256:[0-9a-f]{64}",
    words="a tag or a digest of an image",
    example="1.0",
)
"""The same: ``tag`` and ``digest``."""
PRIVATE_IMAGE: Final = re.compile(
    rf"(?P<account>[0-9]{{12}})\.(dkr\.ecr|dkr-ecr)(-fips)?\.(?P<region>{REGION})"
    r"\.(?P<domain>[a-z0-9.-]+)/(?P<repository>[^:@]+)([:@].*)?"
)
"""An image in a private registry of ECR (ECR user guide, "Amazon ECR registries" and "Amazon ECR endpoints"): also of
both stacks, and in the domain of every partition."""
_ECR: Final = re.compile(r"([^/]+\.)?(dkr[.-])?ecr(-fips)?\.([^/.]+\.)?amazonaws\.com(\.cn)?(:[0-9]+)?")
"""What has the name of ECR as a part of a host of AWS's."""
_PUBLIC: Final = "public.ecr.aws"
"""Amazon ECR Public API reference, ``Registry``: an address has a universal prefix and the registry's alias."""
_PAGES: Final = {
    "gallery.ecr.aws": _PUBLIC,
    "hub.docker.com": "docker.io",
    "github.com": "ghcr.io",
    "catalog.ngc.nvidia.com": "nvcr.io",
}
"""Hosts of web pages about images, and the registries that the commands on these pages pull from."""
LINE: Final = Text(
    pattern=rf"{_NO_REFERENCE}[^\x00-\x1f\x7f-\x9f\u2028\u2029]*",
    words="one line without '${' and '{{resolve:', which CloudFormation and shells take for references",
    example="some words",
    shortest=0,
)
"""Free text that reaches a template."""
ARGUMENT: Final = replace(
    LINE,
    pattern=LINE.pattern.replace(_NO_REFERENCE, r"(?!.*(\{\{resolve:|\$\{AWS::))"),
    words="one line without '${AWS::' and '{{resolve:', which are references of CloudFormation",
    example="--verbose",
)
"""The same where no shell reads it, and a script may read ``${``: it is run with its arguments as a list
(aws-parallelcluster-cookbook, ``custom_action_executor.py``, read 2026-11)."""
_UNSEEN: Final = r"\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff"
EXACT: Final = replace(
    LINE,
    pattern=rf"(?![\s\S]*[{_UNSEEN}])(?!\s|[\s\S]*\s$){LINE.pattern}",
    words="one line to the letter, without blanks at its ends, invisible characters, '${' and '{{resolve:'",
    example="chat",
    shortest=1,
    longest=256,
)
"""Free text that somebody else's must be equal to. Unicode Standard, "Layout Controls": zero-width spaces, and what
changes the direction of text, have no shape; joiners are letters' own."""
VARIABLE: Final = Text(pattern=r"[A-Za-z_][A-Za-z0-9_]*", words="the name of an environment variable", example="LEVEL")

_PATH_SIGNS: Final = r"""[A-Za-z0-9_.$/~"'@:+&*?-]"""
"""ELB user guide, "Condition types for listener rules", read 2026-11."""


class PathPattern(Text):
    """A pattern of paths that a load balancer compares."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Say which sign is none of a pattern."""
        odd = re.sub(_PATH_SIGNS, "", value)
        if not odd or not value.startswith("/"):
            return Text.problem(self, value, environment)
        signs = """letters, digits and _ . $ / ~ " ' @ : + & * ? -"""
        must = f"must be a path pattern without {shown(odd[0])}, as {self.example}"
        return Flaw(must, got=shown(value), remedy=f"; use {signs}")


PATH_PATTERN: Final = PathPattern(
    pattern=rf"/{_PATH_SIGNS}*", words="a path pattern that begins with '/'", example="/v1/*", longest=128
)
