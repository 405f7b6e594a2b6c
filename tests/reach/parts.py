"""What the tests of reach share."""

from cdk_trainyard.instances._data import load
from cdk_trainyard.reach import Region

REGIONS = sorted(load("zones")["regions"])
"""Every Region that the library knows."""
US = Region(name="us-west-2")
EAST = Region(name="us-east-1")
