"""Certificate Manager: certificates; nobody has to validate them."""

from cdk_trainyard.local.resources.model import ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, identity, tagger

ACM = Api("acm")

TYPES = (
    ResourceType(
        name="AWS::CertificateManager::Certificate",
        create=ACM.apply("request_certificate"),
        identity=answer("CertificateArn"),
        retag=tagger(
            "acm",
            "add_tags_to_certificate",
            "remove_tags_from_certificate",
            lambda it: {"CertificateArn": it.id},
            keys="Tags",
            keys_as_tags=True,
        ),
        delete=ACM.forget("delete_certificate", lambda it: {"CertificateArn": it.id}),
        read=ACM.read("describe_certificate", lambda it: {"CertificateArn": it.id}),
        attributes={"CertificateArn": identity},
    ),
)
