"""Kinds of texts that several rooms have."""

import pytest

from cdk_trainyard.options.kinds import NOWHERE, Environment, Kind
from cdk_trainyard.options.texts import (
    DATABASE_HOST,
    DATABASE_USER,
    DNS_NAME,
    EXACT,
    IMAGE_BY_DIGEST,
    IMAGE_REFERENCE,
    IMAGE_TAG,
    LINE,
    VARIABLE,
)

UNSEEN = " \u00a0\u3000\u200b\u202e\u2060\ufeff\n"
RIGHT: list[tuple[Kind, list[str]]] = [
    (DNS_NAME, ["models.example.com", "xn--bcher-kva.example", "a-b.c"]),
    (
        DATABASE_HOST,
        [
            "db",
            "db.example.com",
            "1.example",
            "slurm_db.corp.internal",
            "_db",
            "db.corp.",
            "localhost.",
            "10.0.0.5",
            "localhost",
            "127.0.0.1",
        ],
    ),
    (DATABASE_USER, ["slurm", "s$", "slurm@corp", "größe", "x" * 32]),
    (IMAGE_REFERENCE, ["ghcr.io/a/b_c:3.3.5-neuron", "registry:5000/x", f"public.ecr.aws/a/b@sha256:{'0' * 64}"]),
    (
        IMAGE_BY_DIGEST,
        [
            f"{name}@sha256:{'0' * 64}"
            for name in (
                "x",
                "a/x",
                "nvcr.io/nvidia/k8s/x",
                "localhost:5000/x",
                "127.0.0.1:5000/a/x",
                "nvcr.io/a/x:4.2-ubuntu22.04",
                "Reg.example:65535/a__b/c--d",
            )
        ],
    ),
    (
        IMAGE_REFERENCE,
        [
            "111111111111.dkr.ecr.us-east-1.amazonaws.com/x:1",
            "111111111111.dkr.ecr-fips.us-east-1.amazonaws.com/x:1",
            "111111111111.dkr-ecr.us-east-1.on.aws/x:1",
            "my-ecr.elb.us-east-1.amazonaws.com/x:1",
            "vpce-1.dkr.ecr.us-east-1.vpce.amazonaws.com/x:1",
        ],
    ),
    (IMAGE_TAG, ["latest", "3.3.7-neuron", f"sha256:{'0' * 64}"]),
    (LINE, ["", "WARNING", "{{ message }}", "costs $5"]),
    (
        EXACT,
        [
            "chat",
            "Platform Engineers",
            "Équipe\u00a0: IA",
            "\u0645\u06cc\u200c\u062e",
            "https://issuer.example/pool",
            "x" * 256,
        ],
    ),
    (VARIABLE, ["VLLM_LOGGING_LEVEL", "_x"]),
]
WRONG: list[tuple[Kind, list[str]]] = [
    (DATABASE_HOST, ["", "db:3306", "10.0.0", "10.0.0.256", "a..b", "a-", "10.0.0.5.", "7.", ".", "::1", "tcp://db"]),
    (DATABASE_USER, ["", "a b", "a'b", '"a"', "a#b", "a=b", "a\\b", "a\n", "x" * 33, "a{{resolve:ssm:x}}", "${x}"]),
    (DATABASE_HOST, ["0.0.0.0", "169.254.169.254", "224.0.0.1", "255.255.255.255"]),  # noqa: S104
    (DNS_NAME, ["https://a.b", "*.example.com", "10.0.0.1", "a.b:80", "a.b\n", "a b.c", "localhost", "a..b", ""]),
    (
        IMAGE_REFERENCE,
        ["tgi-3.3.8", "a.b/c d", "https://a.b/c", "a.b/C:1", "a.b/c:", "a.b/c\n", "a.b/c..d"],
    ),
    (
        IMAGE_REFERENCE,
        ["a.b:99999/c", "a.b:0/c", "localhost/x", "LOCALHOST:5000/x", "127.0.0.1:5000/x", "169.254.1.1/x"],
    ),
    (
        IMAGE_BY_DIGEST,
        [
            f"{name}@sha256:{'0' * 64}"
            for name in (
                *("http://nvcr.io/x", "nvcr.io//x", "nvcr.io/NVIDIA/x", "nvcr.io/x:", "nvcr.io/x/", "nvcr..io/x/y"),
                *("nvcr.io/x/-y", "nvcr.io:99999/x", "nvcr.io:/x", "localhost/x", "x-", "a_-b"),
                *("localhost:99999/x", "169.254.1.1:5000/x"),
            )
        ],
    ),
    (IMAGE_TAG, ["", "-x", "a b", "sha256:0", "a/b"]),
    (LINE, ["a\nb", "${x}", "a {{resolve:ssm:x}}", "\x00"]),
    (EXACT, ["", "x" * 257, *(f"x{each}" for each in UNSEEN), *(f"{each}x" for each in UNSEEN), "a\u200bb", "${x}"]),
    (VARIABLE, ["", "1x", "a-b", "a=b"]),
]


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in RIGHT for value in values])
def test_takes_what_is_right(kind: Kind, value: str) -> None:
    assert kind.problem(value, NOWHERE) is None


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in WRONG for value in values])
def test_fails_what_is_not(kind: Kind, value: str) -> None:
    assert str(kind.problem(value, NOWHERE)).startswith("must ")


def test_an_example_fits_its_kind() -> None:
    examples = [(kind, example) for kind, _ in RIGHT for example in kind.schema()["examples"]]
    assert [example for kind, example in examples if "<" not in example and kind.problem(example, NOWHERE)] == []


def test_a_port_of_a_registry_is_one_of_tcp() -> None:
    text = "must have a port of 1 to 65535, or none for 443, got 'registry.example:99999/a/b:1'"
    assert str(IMAGE_REFERENCE.problem("registry.example:99999/a/b:1", NOWHERE)) == text


@pytest.mark.parametrize(
    "registry",
    [
        "11111111111.dkr.ecr.us-west-2.amazonaws.com",
        "my-account.dkr.ecr.us-west-2.amazonaws.com",
        "111111111111.dkr.ecr.us-west-2a.amazonaws.com",
        "111111111111.dkr.ecr.amazonaws.com",
        "111111111111.ecr.us-west-2.amazonaws.com",
        "dkr.ecr.us-west-2.amazonaws.com",
        "x.dkr.ecr.cn-north-1.amazonaws.com.cn",
    ],
)
@pytest.mark.parametrize(("kind", "end"), [(IMAGE_REFERENCE, ":1"), (IMAGE_BY_DIGEST, f"@sha256:{'0' * 64}")])
def test_half_an_address_of_ecr_is_answered_with_its_form(kind: Kind, end: str, registry: str) -> None:
    form = "must be <account of 12 digits>.dkr.ecr.<region>.amazonaws.com/<repository> in ECR, got "
    assert str(kind.problem(f"{registry}/x{end}", NOWHERE)).startswith(form)


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (
            "public.ecr.aws/x:1",
            "must be public.ecr.aws/<alias>/<repository>, with a tag or a digest unless it is latest",
        ),
        ("github.com/x/y:1", "must be in a registry, which a web page is not"),
        ("hub.docker.com/r/x/y:1", "must be in a registry, which a web page is not"),
    ],
)
def test_an_image_is_in_a_registry(image: str, says: str) -> None:
    wrong = IMAGE_REFERENCE.problem(image, NOWHERE)
    assert wrong is not None
    assert (wrong.must, wrong.got) == (says, repr(image))


def test_a_web_page_of_images_is_answered_with_the_registry_that_has_them() -> None:
    wrong = IMAGE_REFERENCE.problem("gallery.ecr.aws/x/y:1", NOWHERE)
    assert wrong is not None
    assert wrong.remedy == "; gallery.ecr.aws shows those of public.ecr.aws"


def test_an_image_of_ecr_is_in_a_region_that_there_is() -> None:
    here, image = (
        Environment(region="us-east-1", regions=frozenset({"us-east-1"})),
        "111111111111.dkr.ecr.{}.amazonaws.com/x:1",
    )
    assert IMAGE_REFERENCE.problem(image.format("us-east-1"), here) is None
    wrong = IMAGE_REFERENCE.problem(image.format("us-east-9"), here)
    assert wrong is not None
    assert (wrong.must, wrong.remedy) == ("must be of a Region that there is", "; did you mean 'us-east-1'?")


@pytest.mark.parametrize(
    ("region", "domain", "instead"),
    [
        ("us-east-1", "amazonaws.com", None),
        ("us-gov-west-1", "amazonaws.com", None),
        ("eusc-de-east-1", "amazonaws.eu", None),
        ("us-iso-east-1", "c2s.ic.gov", None),
        ("us-isob-east-1", "sc2s.sgov.gov", None),
        ("us-east-1", "on.aws", None),
        ("eusc-de-east-1", "amazonaws.com", "amazonaws.eu"),
        ("us-iso-east-1", "sc2s.sgov.gov", "c2s.ic.gov"),
        ("eu-west-1", "amazonaws.eu", "amazonaws.com"),
        ("cn-north-1", "amazonaws.com", "amazonaws.com.cn"),
    ],
)
def test_an_image_of_ecr_has_the_domain_of_its_partition(region: str, domain: str, instead: str | None) -> None:
    here, form = Environment(region=region), "dkr-ecr" if domain == "on.aws" else "dkr.ecr"
    image = f"111111111111.{form}.{region}.{domain}/x:1"
    text = f"must have the domain of partition {here.partition}, where {region} is, got {image!r}"
    remedy = f"; use {instead} in place of {domain}"
    assert str(IMAGE_REFERENCE.problem(image, here)) == str(instead and f"{text}{remedy}")
