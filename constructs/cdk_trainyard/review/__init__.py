"""Checks of what an app synthesizes: rule packs, template validation, and acknowledgments that must match."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.review.acknowledged import unmatched_acknowledgments
    from cdk_trainyard.review.checks import attach_checks
    from cdk_trainyard.review.template_validation import TemplateValidation
else:
    __getattr__ = lazily(__name__)

__all__ = ["TemplateValidation", "attach_checks", "unmatched_acknowledgments"]
