"""A CloudFormation: templates in, calls of the services' APIs out."""
