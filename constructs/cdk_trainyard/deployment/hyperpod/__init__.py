"""Deployment files with ``orchestrator: hyperpod``."""
