"""From a checkpoint of neuronx-distributed to a model that can be served.

Only ``checkpoint`` and ``convert`` need torch, and the latter safetensors.
"""


class ExportError(RuntimeError):
    """The model cannot be exported; the message says why."""


class TemporaryError(ExportError):
    """The model was not exported, and trying again may help."""
