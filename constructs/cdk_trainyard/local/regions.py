"""The Regions that moto knows, asked of one session of boto3: moto makes three, and each reads all that EC2 is."""

from importlib import import_module

import boto3
from moto.core.base_backend import AccountSpecificBackend

_session = boto3.Session
boto3.Session = AccountSpecificBackend.get_session
try:
    import_module("moto.ec2.models.availability_zones_and_regions")
finally:
    boto3.Session = _session
