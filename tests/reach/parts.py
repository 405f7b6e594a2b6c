"""What the tests of reach share."""

from cdk_trainyard.data_files import load
from cdk_trainyard.reach import Region

REGIONS = sorted(load("instances", "zones")["regions"])
"""Every Region that the library knows."""
US = Region(name="us-west-2")
EAST = Region(name="us-east-1")
