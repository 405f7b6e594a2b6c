"""What all models of the deployment file have in common, and the field types that several of them use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import core_schema

from cdk_trainyard.storage.spec import MOUNT_PATH


class Section(BaseModel):
    """One mapping of the deployment file: unknown keys, wrong types and later changes are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def text(pattern: str, words: str, *, example: str) -> Any:
    """Constrain text by a pattern that has a name in words, which editors and messages show.

    Args:
        pattern: The regular expression, anchored.
        words: What it stands for, after "must be".
        example: A value that fits.
    """
    return Field(pattern=pattern, examples=[example], json_schema_extra={"patternErrorMessage": words})


def shown(**keywords: Any) -> Any:
    """Tell editors what is allowed where a rule of another room decides: the schema shows it, the rule says it."""
    return Field(json_schema_extra=keywords)


NEVER_KEY: Final = "x-never"
"""A section's schema may hold, under this, keys that people look for and that it will never have, with the reason."""


def never(**reasons: str) -> ConfigDict:
    """Give a section the keys that it will never have: its ``model_config``.

    Args:
        reasons: Why there is no such key, and what to do instead, by key.
    """
    return ConfigDict(json_schema_extra={NEVER_KEY: dict(reasons)})


LAX: Final = Field(strict=False)
"""For enumerations: the file has the member's value."""

TagKey = Annotated[str, Field(min_length=1, max_length=128)]
TagValue = Annotated[str, Field(max_length=256)]
BucketName = Annotated[
    str,
    text(
        r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$",
        "the name of a bucket (3 to 63 lowercase letters, digits, '.' and '-')",
        example="my-datasets",
    ),
]
MountPath = Annotated[
    str,
    text(
        rf"^{MOUNT_PATH.pattern}$",
        "an absolute path of letters, digits, '.', '_' and '-' without a slash at the end",
        example="/fsx",
    ),
]


def arn(service: str, resource: str, *, region: str = "<region>") -> Any:
    """Constrain text to the ARN of one kind of resource, in any partition."""
    example = f"arn:<partition>:{service}:{region}:<account>:{resource}<name>"
    return text(rf"^arn:[a-z-]+:{service}:[a-z0-9-]*:[0-9]{{12}}:{resource}.+$", f"an ARN, {example}", example=example)


KeyArn = Annotated[
    str,
    text(
        r"^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32})$",
        "the ARN of a KMS key (not of an alias), arn:<partition>:kms:<region>:<account>:key/<id>",
        example="arn:<partition>:kms:<region>:<account>:key/<id>",
    ),
]
RoleArn = Annotated[str, arn("iam", "role/", region="")]
SecretArn = Annotated[str, arn("secretsmanager", "secret:")]
TopicArn = Annotated[str, arn("sns", "")]
AlarmArn = Annotated[str, arn("cloudwatch", "alarm:")]


def resource_id(prefix: str) -> Any:
    """Constrain text to an id of EC2 or FSx."""
    return text(rf"^{prefix}-[0-9a-f]{{8,17}}$", f"an id ({prefix}-…)", example=f"{prefix}-0123456789abcdef0")


VpcId = Annotated[str, resource_id("vpc")]
SubnetId = Annotated[str, resource_id("subnet")]
RouteTableId = Annotated[str, resource_id("rtb")]
SecurityGroupId = Annotated[str, resource_id("sg")]
ReservationId = Annotated[str, resource_id("cr")]
ResourceGroupArn = Annotated[str, arn("resource-groups", "group/")]
Cidr = Annotated[str, shown(pattern=r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$", examples=["10.1.0.0/16"])]
Zone = Annotated[str, shown(examples=["use1-az4", "us-east-1a"])]


@dataclass(frozen=True, slots=True)
class OrExisting:
    """Annotates ``New | Existing``: a section with this key describes something that exists already."""

    key: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Let the key choose the model; its name stands in the location of what is found in it."""
        new, existing = get_args(source)

        def choose(value: Any) -> str:
            chosen = self.key in value if isinstance(value, Mapping) else isinstance(value, existing)
            return str((existing if chosen else new).__name__)

        choices = {model.__name__: handler.generate_schema(model) for model in (new, existing)}
        return core_schema.tagged_union_schema(choices, discriminator=choose, metadata={"key": self.key})


RetentionDays = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653
]  # fmt: skip
"""What CloudWatch Logs takes."""
