"""Custom resources: Python functions run, CDK's own Node helpers are done in Python."""
