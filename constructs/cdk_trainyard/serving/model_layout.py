"""What an engine reads of a model's folder: hosts compare it before their agent starts, and builds before they upload.

Sources: optimum-neuron v0.3.0 and v0.4.5, ``models/inference/backend/pretrained_model.py`` (``save``,
``_load_weights_from_path``) and ``commands/neuron/serve.py``; TGI v3.3.7, ``backends/neuron/server``; NxD Inference,
"Weights sharding guide" (``save_sharded_checkpoint``).
"""

from collections.abc import Mapping

from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.serving.catalogue import EngineImage, Server
from cdk_trainyard.serving.engine_settings import COMPILED_FOLDER
from cdk_trainyard.serving.spec_model import NeuronDtype, NeuronModel

WEIGHTS = "*.safetensors"
TOKENIZER = ("tokenizer.[jm]*", "tokenizer_config.json")
"""``tokenizer.json`` or ``tokenizer.model``."""
EXPORTED: Mapping[str, JsonValue] = {
    "files": ["config.json", *TOKENIZER, WEIGHTS],
    "pieces": "",
    "ranks": 0,
    "config": {},
}
"""Weights as Hugging Face lays them out: what a compilation begins with."""
_PIECES = "weights/tp*_sharded_checkpoint.safetensors"
_DTYPES = {NeuronDtype.BF16: "bfloat16", NeuronDtype.FP16: "float16"}
"""What optimum-neuron's neuron_config.json calls them."""


def layout(model: NeuronModel, image: EngineImage) -> Mapping[str, JsonValue]:
    """Return what an engine reads of the folder of ``model``: files, pieces of weights by rank, and their settings.

    Args:
        model: The model.
        image: The engine's image; of one that the catalogue does not know, only the manifest is compared.
    """
    if not image.known:
        return {**EXPORTED, "files": ["config.json"]}
    if not model.precompiled:
        return EXPORTED
    nxd = image.server is Server.NEURON_VLLM
    graphs = [f"{COMPILED_FOLDER}/{name}" if nxd else name for name in ("neuron_config.json", "model.pt")]
    return {
        "files": ["config.json", *TOKENIZER, *graphs, *([] if model.presharded else [WEIGHTS])],
        "pieces": f"{COMPILED_FOLDER if nxd else 'checkpoint'}/{_PIECES}",
        "ranks": model.tensor_parallel if model.presharded else 0,
        "config": {} if nxd else _settings(model, image.server),
    }


def _settings(model: NeuronModel, server: Server) -> Mapping[str, JsonValue]:
    """What optimum-neuron wrote beside the graphs; its vLLM also refuses graphs for another chip (inf2 is trn1)."""
    dtype = _DTYPES.get(model.dtype)
    return {
        "batch_size": model.batch,
        "sequence_length": model.tokens,
        "tp_degree": model.tensor_parallel,
        **({"torch_dtype": dtype} if dtype else {}),
        **({"target": "trn1"} if server is Server.HF_VLLM else {}),
    }
