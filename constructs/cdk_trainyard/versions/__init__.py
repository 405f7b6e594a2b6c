"""Versions that belong together: one matrix as data, and what it says of a combination. Pure; no CDK."""

from cdk_trainyard.versions.images import ImageFacts, image_facts
from cdk_trainyard.versions.judgement import Judgement
from cdk_trainyard.versions.kernels import (
    default_efa_installer,
    efa_key,
    judge_efa,
    judge_file_system,
    judge_lustre,
    judge_nvidia,
)
from cdk_trainyard.versions.matrix import row_problems, rows
from cdk_trainyard.versions.neuron import (
    NEURON_INDEX,
    NeuronRelease,
    driver_conflicts,
    driver_of,
    driver_window,
    judge_packages,
    neuron_releases,
    pinned_packages,
    pinned_release,
    python_versions,
)

__all__ = [
    "NEURON_INDEX",
    "ImageFacts",
    "Judgement",
    "NeuronRelease",
    "default_efa_installer",
    "driver_conflicts",
    "driver_of",
    "driver_window",
    "efa_key",
    "image_facts",
    "judge_efa",
    "judge_file_system",
    "judge_lustre",
    "judge_nvidia",
    "judge_packages",
    "neuron_releases",
    "pinned_packages",
    "pinned_release",
    "python_versions",
    "row_problems",
    "rows",
]
