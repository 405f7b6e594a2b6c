"""One good file, small edits of it, and what is said about the result."""

import re
from pathlib import Path

import cdk_trainyard
from cdk_trainyard import ConfigurationError
from cdk_trainyard.deployment import Deployment

GOOD = """\
name: demo
region: us-east-1
network:
  zone: use1-az4
storage:
  lustre:
    capacity_gib: 1200
orchestrator: hyperpod
cluster:
  groups:
    head:
      role: controller
      instance_type: ml.m5.large
      count: 1
    workers:
      role: compute
      instance_type: ml.trn1.32xlarge
      count: 4
"""
"""Everything that a deployment must have, and a file system."""

Edit = tuple[str, str]
"""A text that stands in the file once, and what stands there instead."""


def edited(*edits: Edit) -> str:
    """Return the good file with some of its text replaced."""
    text = GOOD
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the good file"
        text = text.replace(old, new)
    return text


def problems_of(path: Path) -> list[str]:
    """Return what is said about a file, each problem without the file's name."""
    try:
        Deployment.load(path)
    except ConfigurationError as error:
        return [problem.removeprefix(f"{path}:") for problem in error.problems]
    return []


def python_names(text: str) -> list[str]:
    """Return the names of the library's classes in a text; nobody who writes YAML knows them."""
    return [
        name for name in cdk_trainyard.__all__ if re.search("[a-z][A-Z]", name) and name in re.findall(r"\w+", text)
    ]
