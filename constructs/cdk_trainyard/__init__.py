"""AWS CDK constructs for the machines that train and serve large models."""

from cdk_trainyard.errors import ConfigurationError

__all__ = ["ConfigurationError"]
