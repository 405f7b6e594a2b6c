"""Deployment files with ``orchestrator: fleet``."""
