"""One good file, small edits of it, and what is said about the result."""

import re
from itertools import zip_longest
from pathlib import Path

import pytest

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

GOOD_PARALLELCLUSTER = """\
name: demo
region: us-east-1
network:
  zone: us-east-1a
storage:
  lustre:
    capacity_gib: 1200
orchestrator: parallelcluster
cluster:
  operating_system: alinux2023
  head_node:
    instance_type: c5.xlarge
    public: true
  queues:
    - name: cpu
      compute:
        - instance_type: c5.xlarge
          max_count: 8
    - name: training
      placement: cluster
      compute:
        - instance_type: trn1.32xlarge
          min_count: 0
          max_count: 16
  shared_storage:
    ebs:
      - at: /shared
"""
"""A ParallelCluster with nodes of two kinds, a shared volume and a file system."""

GOOD_FLEET = """\
name: demo
region: us-west-2
network:
  zone: usw2-az2
storage:
  lustre:
    capacity_gib: 1200
orchestrator: fleet
cluster:
  instance_type: p4d.24xlarge
  count: 8
  image:
    dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04
  master:
    instance_type: c5n.18xlarge
"""
"""A fleet with a master and a file system."""

GOOD_SERVING = """\
name: demo
region: us-west-2
network:
  zone: usw2-az4
  service_zones: [usw2-az1, usw2-az2]
serving:
  model:
    name: llama
    preset: llama-3.2-3b
    prefix: models/llama/
    tensor_parallel: 2
    batch: 4
  engine:
    kind: tgi
  hosts:
    instance_type: inf2.xlarge
    tasks: 2
  load_balancer:
    certificate_arn: arn:aws:acm:us-west-2:111111111111:certificate/01234567-89ab-cdef-0123-456789abcdef
    authentication:
      kind: api-key
      secret_arn: arn:aws:secretsmanager:us-west-2:111111111111:secret:key-AbCdEf
"""
"""A model behind an internal door, without a cluster."""

Edit = tuple[str, str]
"""A text that stands in the file once, and what stands there instead."""


MORE = " […]"
"""How a sentence ends whose every word stands in the tests of the room whose rule says it."""


def row(name: str, edits: list[Edit], *says: str) -> pytest.ParameterSet:
    """Return one row of bad input: edits of a good file, and what is said about the result, `MORE` for known words."""
    return pytest.param(edits, list(says), id=name)


def edited(*edits: Edit, good: str = GOOD) -> str:
    """Return the good file with some of its text replaced."""
    text = good
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


def assert_refused(path: Path, says: list[str]) -> None:
    """Assert that a file is refused with these sentences, in the words of who writes YAML."""

    def cut(text: str, says: str) -> str:
        return says if says.endswith(MORE) and text.startswith(says.removesuffix(MORE)) else text

    found = problems_of(path)
    assert [cut(text, sentence) for text, sentence in zip_longest(found, says, fillvalue="")] == says
    assert [name for problem in found for name in python_names(problem)] == []


def python_names(text: str) -> list[str]:
    """Return the names of the library's classes in a text; nobody who writes YAML knows them."""
    names = {name for name in cdk_trainyard.__all__ if re.search("[a-z][A-Z]", name)} - {"ParallelCluster"}  # a product
    return sorted(names.intersection(re.findall(r"\w+", text)))
