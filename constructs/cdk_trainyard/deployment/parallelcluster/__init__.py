"""Deployment files with ``orchestrator: parallelcluster``."""
