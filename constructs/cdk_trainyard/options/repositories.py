"""What repositories of ECR are called in a file: by their ARN, or by their name."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.options.kinds import NOWHERE, Arn, Environment
from cdk_trainyard.options.texts import DNS_NAME, PRIVATE_IMAGE, REPOSITORY
from cdk_trainyard.problems import Flaw, shown
from cdk_trainyard.tokens import unresolved

_NAME: Final = rf"(?=.{{2,256}}$){REPOSITORY}(/{REPOSITORY})*"
"""``RepositoryName`` of botocore's ECR model."""


def _arn_of(name: str) -> Arn:
    """Return the kind of ARNs of repositories with such names."""
    return Arn(
        service="ecr",
        resource=f"repository/{name}",
        form="repository/<name>",
        what="a repository of Amazon ECR, whose name has 2 to 256 small letters, digits and any of . _ - /",
        any_region=True,
    )


REPOSITORY_ARN: Final = _arn_of(_NAME)
"""The ARN of one repository."""
_UPSTREAM: Final = re.compile(r".+\.[a-z]{2,}")
"""What may be a host of the internet: its last label has letters alone, as in ``docker.io``; ``v1.0`` is a version."""
_ANY_ARN: Final = _arn_of(rf"({_NAME}|\*)")


def other_registries(arns: Iterable[str]) -> Iterator[str]:
    """Say of names that begin as addresses of other registries do what they are taken for.

    Source: ``PullThroughCacheRuleRepositoryPrefix`` of botocore's ECR model, 1.44.5: names of its repositories begin
    with a prefix of yours, which may have dots.

    Args:
        arns: ARNs and names of repositories.
    """
    for name in (arn.rpartition(":repository/")[2] for arn in arns):
        host, slash, _ = name.partition("/")
        if slash and not unresolved(name) and DNS_NAME.problem(host, NOWHERE) is None and _UPSTREAM.fullmatch(host):
            yield (
                f"'image_repositories' has {shown(name)}, a repository of ECR that is called so, as a rule for pull "
                f"through cache makes them; leave it out where nodes pull from {host} itself, which asks for no right"
            )


def all_around(name: str, names: Collection[str]) -> str | None:
    """Return which of names is all repositories of the registry that a repository is in; None where none is.

    Args:
        name: The ARN or the name of a repository.
        names: All ARNs and names of a list.
    """
    registry, sign, _ = name.rpartition(":repository/")
    every = f"{registry}{sign}*"
    return every if every != name and every in names else None


@dataclass(frozen=True, slots=True)
class RepositoryName:
    """The name of a repository of ECR in the account and the Region, its ARN, or ``*``, alone or in an ARN.

    A name may begin like an address, as ``docker.io/library/ubuntu``: a rule for pull through cache has such prefixes.
    """

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match the name, or judge the ARN as one."""
        if registry := PRIVATE_IMAGE.fullmatch(value) or PRIVATE_IMAGE.fullmatch(f"{value.removesuffix('/')}/*"):
            partition = Environment(region=registry["region"]).partition
            arn = f"arn:{partition}:ecr:{registry['region']}:{registry['account']}:repository/{registry['repository']}"
            is_all = registry["repository"] == "*"
            got = f"the address {shown(value)} of {'a registry' if is_all else 'one'}"
            remedy = f"; use {shown(arn)}{' for all that it has, or the name of each' if is_all else ''}"
            return Flaw("must be the name or the ARN of an ECR repository", got=got, remedy=remedy)
        if value == "*" or re.fullmatch(_NAME, value):
            return None
        if value.startswith("arn:"):
            return _ANY_ARN.problem(value, environment)
        if re.fullmatch(rf"{REPOSITORY}(/{REPOSITORY})*", value):
            return Flaw("must have 2 to 256 characters", got=str(len(value)))
        form = "in lowercase letters, digits, '.', '_' and '-' between slashes, or its ARN, or '*', as training/nemo"
        return Flaw(f"must be the name of an ECR repository {form}", got=shown(value))

    def known_by(self, value: str, environment: Environment) -> str:
        """Return the ARN of a name, where it is known."""
        region, account = environment.region, environment.account
        known = region and account and not value.startswith("arn:")
        return f"arn:{environment.partition}:ecr:{region}:{account}:repository/{value}" if known else value

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        arn = rf"arn:[a-z0-9-]+:ecr:[a-z0-9-]+:[0-9]{{12}}:repository/({_NAME}|\*)"
        return {
            "pattern": rf"^(\*|{_NAME}|{arn})$",
            "examples": ["arn:<partition>:ecr:<region>:<account>:repository/<name>"],
        }
