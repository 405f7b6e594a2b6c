"""Warnings of rules, said on constructs: a synthesis shows them, and an acknowledgment of their id takes them."""

from collections.abc import Iterable

from aws_cdk import Annotations
from constructs import IConstruct

from cdk_trainyard.problems import Warned


def say_warnings(scope: IConstruct, warnings: Iterable[Warned]) -> None:
    """Say on a construct what is taken, and may surprise.

    Args:
        scope: The construct.
        warnings: The warnings.
    """
    annotations = Annotations.of(scope)
    for each in warnings:
        annotations.add_warning_v2(each.slug, each.text)
