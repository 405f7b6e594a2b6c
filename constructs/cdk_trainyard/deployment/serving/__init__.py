"""Deployment files that serve a model, with a cluster or without."""
