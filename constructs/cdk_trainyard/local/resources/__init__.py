"""The resource types of CloudFormation, one table file per service."""
