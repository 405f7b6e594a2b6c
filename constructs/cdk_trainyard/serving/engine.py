"""The engine: which server, in which image, with which settings of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_secretsmanager as secretsmanager

from cdk_trainyard.serving.catalogue import EngineImage, Server, engine_image


class _Settings(TypedDict, total=False):
    """What :meth:`TextGenerationEngine.of` takes beside the server."""

    image: str | None
    repository: ecr.IRepository | None
    tag: str | None
    environment: Mapping[str, str] | None
    hub_token: secretsmanager.ISecret | None
    unchecked: bool


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
    def of(
        cls,
        server: Server,
        *,
        image: str | None = None,
        repository: ecr.IRepository | None = None,
        tag: str | None = None,
        environment: Mapping[str, str] | None = None,
        hub_token: secretsmanager.ISecret | None = None,
        unchecked: bool = False,
    ) -> "TextGenerationEngine":
        """Return the engine of a server.

        Args:
            server: The server.
            image: A key of the catalogue, or a reference of yours. Default - the catalogue's for this server.
            repository: An ECR repository of yours that has a copy of it. Default - where it is published.
            tag: The tag or digest (``sha256:…``) there. Default: latest.
            environment: Further environment variables. Default - none.
            hub_token: A secret with a token of the Hub. Default - none.
            unchecked: Warn instead of refusing what the catalogue or the arithmetic speaks against. Default: False.
        """
        return cls(
            image=engine_image(image, server),
            repository=repository,
            tag=tag,
            environment=dict(environment or {}),
            hub_token=hub_token,
            unchecked=unchecked,
        )

    @classmethod
    def hf_vllm(cls, **settings: Unpack[_Settings]) -> "TextGenerationEngine":
        """Return vLLM as Hugging Face's optimum-neuron serves it: the broadest choice of models on inf2.

        Args:
            settings: The keywords of :meth:`of`. Default - the catalogue's image: vLLM 0.11.0 with SDK 2.26.1.
        """
        return cls.of(Server.HF_VLLM, **settings)

    @classmethod
    def neuron_vllm(cls, **settings: Unpack[_Settings]) -> "TextGenerationEngine":
        """Return vLLM of AWS's Neuron containers (NxD Inference).

        Args:
            settings: The keywords of :meth:`of`.
                Default - the catalogue's image: vLLM 0.13.0 with SDK 2.28.0, the last that supports inf2.
        """
        return cls.of(Server.NEURON_VLLM, **settings)

    @classmethod
    def tgi(cls, **settings: Unpack[_Settings]) -> "TextGenerationEngine":
        """Return Text Generation Inference, for those who have it: it is in maintenance since 2025-12-11.

        Args:
            settings: The keywords of :meth:`of`. Default - the catalogue's image: TGI 3.3.7 with SDK 2.24.
        """
        return cls.of(Server.TGI, **settings)
