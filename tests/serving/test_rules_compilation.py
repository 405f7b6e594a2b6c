# ruff: noqa: E501  the messages are the point, each on its line
"""What a build must not compile: another model than the one that is served, or its own result."""

from typing import Any

import pytest

from cdk_trainyard.options.stand_ins import Secret
from cdk_trainyard.problems import sentence
from cdk_trainyard.serving import TextGenerationEngine
from cdk_trainyard.serving.findings import Findings
from cdk_trainyard.serving.rules_compilation import (
    compilation_problems,
    compilation_warnings,
    known_compilation_problems,
)
from cdk_trainyard.serving.spec_service import CompilationSpec
from tests.serving.parts import model

SECRET: Any = Secret("arn:aws:secretsmanager:us-west-2:111111111111:secret:hub-AbCdEf")
COMMIT = "40c069824f4251a91eefaf281ebe4c544efd3e18"


@pytest.mark.parametrize(
    ("source", "of_model", "says"),
    [
        (
            {"source": "Qwen/Qwen3-14B", "revision": COMMIT},
            {},
            [
                "'source' must be the model of 'preset' llama-3.2-3b in 'model', got 'Qwen/Qwen3-14B', which is qwen3-14b; give one of both as the other says"
            ],
        ),
        ({"source": "meta-llama/Llama-3.1-8B-Instruct", "revision": COMMIT}, {}, ["'source' must be the model of"]),
        ({"source": "meta-llama/Llama-3.2-3B-Instruct", "revision": COMMIT}, {}, []),
        (
            {"source": "meta-llama/Llama-3.2-1B", "revision": COMMIT},
            {},
            [
                "'source' must be the model of 'preset' llama-3.2-3b in 'model', got 'meta-llama/Llama-3.2-1B', which is a model of 1B; give one of both as the other says"
            ],
        ),
        ({"source": "meta-llama/Meta-Llama-3-8B", "revision": COMMIT}, {}, ["'source' must be the model of"]),
        ({"source": "meta-llama/Meta-Llama-3-8B-Instruct", "revision": COMMIT}, {"preset": "llama-3.1-8b"}, []),
        ({"source": "Qwen/Qwen3-14B-Base", "revision": COMMIT}, {"preset": "qwen3-14b", "tensor_parallel": 8}, []),
        ({"source": "acme/llama-70b-distilled", "revision": COMMIT}, {}, []),
        ({"source": "acme/our-llama", "revision": COMMIT}, {}, []),
        ({"source": "Qwen/Qwen3-14B", "revision": COMMIT}, {"preset": None}, []),
        (
            {"exported": "models/llama/7"},
            {"build": "7"},
            [
                "'exported' must be a folder with an export, got 'models/llama/7', which is where the build of 'model' is; name what jobs/export-for-serving wrote"
            ],
        ),
        ({"exported": "models/llama/8"}, {"build": "7"}, []),
    ],
)
def test_what_is_compiled_is_what_is_served(source: Any, of_model: dict[str, Any], says: list[str]) -> None:
    engine = TextGenerationEngine.hf_vllm()
    parts = CompilationSpec(**source), model(**of_model), engine
    found = [sentence(each) for each in (*compilation_problems(*parts), *known_compilation_problems(*parts))]
    assert [text[: len(wanted)] for text, wanted in zip(found, says, strict=True)] == says


@pytest.mark.parametrize(
    ("source", "of_model", "image"),
    [
        ("Qwen/Qwen3-14B", {}, None),
        ("Qwen/Qwen3-32B", {"preset": "qwen3-32b", "tensor_parallel": 8}, None),
        ("meta-llama/Llama-3.2-3B", {}, "registry.example.com/vllm:1"),
    ],
    ids=["another model", "a model that no build host holds", "an image of yours"],
)
def test_unchecked_takes_what_only_the_catalogue_speaks_against(
    source: str, of_model: dict[str, Any], image: str | None
) -> None:
    engine = TextGenerationEngine.hf_vllm(image=image, unchecked=True)
    parts = CompilationSpec(source=source, revision=COMMIT), model(**of_model), engine
    found = Findings.of(engine, compilation_problems(*parts), known_compilation_problems(*parts))
    assert (found.problems, [each.slug for each in found.warnings]) == ((), ["@cdk-trainyard/serving:unchecked"])


@pytest.mark.parametrize(
    ("said", "slugs"),
    [
        ({"source": "meta-llama/Llama-3.2-3B", "revision": COMMIT}, ["gated"]),
        ({"source": "google/gemma-3-4b-it", "revision": COMMIT}, ["gated"]),
        ({"source": "meta-llama/Llama-3.2-3B", "revision": COMMIT, "hub_token": SECRET}, []),
        ({"source": "Qwen/Qwen3-14B", "revision": COMMIT}, []),
        ({"source": "acme/meta-llama", "revision": COMMIT}, []),
        ({"exported": "models/llama/8"}, []),
    ],
)
def test_warns_of_a_source_that_the_hub_gives_to_nobody_without_a_token(said: Any, slugs: list[str]) -> None:
    assert [each.slug.partition(":")[2] for each in compilation_warnings(CompilationSpec(**said))] == slugs
