"""The stacks of a deployment file, built in this process and without checks."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Template

from cdk_trainyard.deployment import Deployment
from stacks import build_stacks

Build = Callable[[Path], dict[str, Stack]]


@pytest.fixture(scope="session")
def build() -> Build:
    """Builds the stacks of a file, once: tests look at them and change nothing."""

    @cache
    def build(path: Path) -> dict[str, Stack]:
        return {stack.node.id: stack for stack in build_stacks(App(), Deployment.load(path))}

    return build


@pytest.fixture(scope="session")
def templates(build: Build) -> Callable[[Path], dict[str, Template]]:
    @cache
    def templates(path: Path) -> dict[str, Template]:
        return {name: Template.from_stack(stack) for name, stack in build(path).items()}

    return templates
