"""The engine: which server, in which image, with which settings of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_secretsmanager as secretsmanager

from cdk_trainyard.serving.catalogue import EngineImage, Server, engine_image


@dataclass(frozen=True, kw_only=True, slots=True)
class TextGenerationEngine:
    """A server of OpenAI's protocol on Neuron devices. Make one with ``hf_vllm``, ``neuron_vllm`` or ``tgi``.

    What it serves is said once, in the ``NeuronModel``; here is only what is the engine's own.

    Attributes:
        image: Its container image, with what the catalogue knows of it.
        repository: Your own repository that the image is pulled from. None: from where it is published.
        tag: The tag or digest there.
        environment: Further environment variables; they win over those that follow from the model.
        hub_token: A secret with a token of the Hugging Face Hub, for a gated model that is not precompiled.
        unchecked: Whether an image that the catalogue speaks against, or a model that does not fit by the arithmetic,
            is a warning instead of an error.
    """

    image: EngineImage
    repository: ecr.IRepository | None = None
    tag: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    hub_token: secretsmanager.ISecret | None = None
    unchecked: bool = False

    @property
    def server(self) -> Server:
        """The server."""
        return self.image.server

    @classmethod
    def hf_vllm(
        cls,
        *,
        image: str | None = None,
        repository: ecr.IRepository | None = None,
        tag: str | None = None,
        environment: Mapping[str, str] | None = None,
        hub_token: secretsmanager.ISecret | None = None,
        unchecked: bool = False,
    ) -> "TextGenerationEngine":
        """Return vLLM as Hugging Face's optimum-neuron serves it: the broadest choice of models on inf2.

        Args:
            image: A key of the catalogue, or a reference of yours.
                Default - the catalogue's: vLLM 0.11.0 with SDK 2.26.1.
            repository: An ECR repository of yours that has a copy of it. Default - where it is published.
            tag: The tag or digest (``sha256:…``) there. Default: latest.
            environment: Further environment variables. Default - none.
            hub_token: A secret with a token of the Hub. Default - none.
            unchecked: Warn instead of refusing what the catalogue or the arithmetic speaks against. Default: False.
        """
        return cls(
            image=engine_image(image, Server.HF_VLLM),
            repository=repository,
            tag=tag,
            environment=dict(environment or {}),
            hub_token=hub_token,
            unchecked=unchecked,
        )

    @classmethod
    def neuron_vllm(
        cls,
        *,
        image: str | None = None,
        repository: ecr.IRepository | None = None,
        tag: str | None = None,
        environment: Mapping[str, str] | None = None,
        hub_token: secretsmanager.ISecret | None = None,
        unchecked: bool = False,
    ) -> "TextGenerationEngine":
        """Return vLLM of AWS's Neuron containers (NxD Inference).

        Args:
            image: A key of the catalogue, or a reference of yours.
                Default - the catalogue's: vLLM 0.13.0 with SDK 2.28.0, the last that supports inf2.
            repository: An ECR repository of yours that has a copy of it. Default - where it is published.
            tag: The tag or digest (``sha256:…``) there. Default: latest.
            environment: Further environment variables. Default - none.
            hub_token: A secret with a token of the Hub. Default - none.
            unchecked: Warn instead of refusing what the catalogue or the arithmetic speaks against. Default: False.
        """
        return cls(
            image=engine_image(image, Server.NEURON_VLLM),
            repository=repository,
            tag=tag,
            environment=dict(environment or {}),
            hub_token=hub_token,
            unchecked=unchecked,
        )

    @classmethod
    def tgi(
        cls,
        *,
        image: str | None = None,
        repository: ecr.IRepository | None = None,
        tag: str | None = None,
        environment: Mapping[str, str] | None = None,
        hub_token: secretsmanager.ISecret | None = None,
        unchecked: bool = False,
    ) -> "TextGenerationEngine":
        """Return Text Generation Inference, for those who have it: it is in maintenance since 2025-12-11.

        Args:
            image: A key of the catalogue, or a reference of yours.
                Default - the catalogue's: TGI 3.3.7 with SDK 2.24.
            repository: An ECR repository of yours that has a copy of it. Default - where it is published.
            tag: The tag or digest (``sha256:…``) there. Default: latest.
            environment: Further environment variables. Default - none.
            hub_token: A secret with a token of the Hub. Default - none.
            unchecked: Warn instead of refusing what the catalogue or the arithmetic speaks against. Default: False.
        """
        return cls(
            image=engine_image(image, Server.TGI),
            repository=repository,
            tag=tag,
            environment=dict(environment or {}),
            hub_token=hub_token,
            unchecked=unchecked,
        )
