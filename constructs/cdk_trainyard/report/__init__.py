"""What a synthesized app is, for a person: facts of CloudFormation templates, and one offline page about them."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.report.assembly import Assembly, read_assembly
    from cdk_trainyard.report.document import review
    from cdk_trainyard.report.findings import Finding
    from cdk_trainyard.report.write import write_review
else:
    __getattr__ = lazily(__name__)

__all__ = ["Assembly", "Finding", "read_assembly", "review", "write_review"]
