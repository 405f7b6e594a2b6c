"""Llama on Trainium: what can be checked without a device is in modules that import the standard library only."""
